#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What pmproxy's /metrics and its REST API have of a machine with all our families, and
# with instances whose names and labels have every odd byte that the API allows.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh

# shellcheck source=qa/agent/proxy
. qa/agent/proxy

/usr/bin/python3 -c "import prometheus_client.parser" 2>/dev/null ||
	skip_all "no python3-prometheus-client"
machine_apart "$0" "$@"

# The bytes of a name are all but control characters, and up to 127. The backslashes
# below are area.py's.
qa/agent/machine.py area 1000 >/mnt/machine || bail "no machine"
family=$(sed -n 's/^family \([0-9]*\) counter .*/\1/p' /mnt/machine)
/usr/bin/python3 - "$family" >>/mnt/machine <<'E2' || bail "no odd names"
import sys

names = [bytes(range(first, first + 32)) for first in range(32, 127, 32)]
names = [name.replace(b"\x7f", b"") for name in names]
names += [bytes(range(first, first + 64)) for first in (128, 192)]
names += ["grün-中文-🐄".encode(), b"24 nvme0q0", b"a b", b"a_b", b'quote"s"',
          b"back\\slash", b"\\", b'"', b'\\"', b"\\n", b"{x}", b"a=b,c", b"#", b"[0]",
          b"x" * 127, b"'", b"%s%n", b"\xe2\x80\xa8", b"\xed\xa0\x80"]
# Those that a driver may set, and those that would make a series another's.
keys = ("action", "device", "name", "cpu", "family", "hostname", "machineid",
        "domainname", "agent", "indom_name", "instname", "instid")
for number, name in enumerate(names, 900):
    text = "".join("\\x%02x" % byte for byte in name)
    print("inst", number, sys.argv[1], 0, "active", number, text)
    print("label", number, keys[number % len(keys)], text)
E2
mkdir -p /mnt/dev
qa/agent/area.py /mnt/dev </mnt/machine || bail "no area"
proxy_start

for part in kmmv kmmv.value kmmv.percpu kmmv.all kmmv.ring kmmv.control; do
	web metrics "names=$part" polltimeout=600 >/mnt/metrics
	# What has a value: fields of events have none of their own.
	pminfo -f "$part" | awk '/^kmmv/ { name = $1 } / value / && name {
		print name; name = "" }' >/mnt/names
	xargs pminfo -dt </mnt/names >/mnt/info 2>&1
	/usr/bin/python3 qa/agent/exposition.py "$part" /mnt/info /mnt/machine \
		</mnt/metrics >/mnt/judged 2>&1
	is "$part: a strict reader has nothing to say" "$(cat /mnt/judged)" ""
done

# rest PART: what is wrong with the answers of the REST API
rest()
{
	/usr/bin/python3 qa/agent/restapi.py http://127.0.0.1:44322 "$1" /mnt/text \
		/mnt/machine 2>&1
}
for part in kmmv.value kmmv.percpu kmmv.all kmmv.ring kmmv.control; do
	pminfo -dtT "$part" >/mnt/text
	is "$part: types, units, help, labels and values by the REST API" \
		"$(rest "$part")" ""
done
pminfo -dtT kmmv.all >/mnt/text
sed -i '/^kmmv.all.stat.cpu /,/Units/s/nanosec/count/' /mnt/text
is "other units are noticed" "$(rest kmmv.all)" \
	"kmmv.all.stat.cpu has the units 'nanosec' not 'count'"
pminfo -dtT kmmv.all >/mnt/text
sed -i '/^kmmv.all.stat.irq /,/^$/d' /mnt/text
is "a metric that pminfo does not show is noticed" "$(rest kmmv.all)" \
	"kmmv.all.stat.irq is not there for pminfo"
pminfo -dtT kmmv.all >/mnt/text
awk '$1 == "inst" && $NF == "requests" { $6 = "1" } { print }' /mnt/machine >/mnt/other
mv /mnt/other /mnt/machine
like "another value is noticed" "$(rest kmmv.all)" \
	"^kmmv.all.counter None is [0-9]+ not [0-9]+$"
finish
