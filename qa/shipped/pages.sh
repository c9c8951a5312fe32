#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the pages show of archives, run as it is printed, on archives of simulated
# machines; vm/80-examples and vm/81-pages run what needs the modules.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/harness/shown
. qa/harness/shown

for tool in mandoc pmchart; do
	command -v $tool >/dev/null || skip_all "no $tool: qa/setup check"
done
work=$(mktemp -d) || bail "no directory"
trap 'rm -rf "$work"' EXIT
chmod 700 "$work"
export LC_ALL=C PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=$work XDG_RUNTIME_DIR=$work
export QT_QPA_PLATFORM=offscreen PCP_DERIVED_CONFIG=

for page in $pages; do
	ok "$page has examples" test "$(examples "$page" | commands | wc -l)" -gt 0
done
examples pcp-kmmv.1 | commands >"$work/commands"
is "examples of archives are found" "$(on_archive <"$work/commands" | wc -l)" \
	"$(wc -l <"$work/commands")"

# ---- pcp-kmmv(1): a day of a machine

mkdir -p "$work/.pcp/bin" "$work/log/pmlogger/box"
cp pmda/site/pcp-kmmv "$work/.pcp/bin"
qa/agent/machine.py archive "$work/log/pmlogger/box/20261122" -b 1795305600 -s 86400 \
	-t 600 || bail "no archive"
while read -r command; do
	# shellcheck disable=SC2034 # of the command
	PCP_LOG_DIR=$work/log
	ok "$command" eval "timeout 600 $command"
	is "$command: each ten minutes of the day are shown" \
		"$(grep -c '^box  [0-9:]*  every 600s$' <<<"$tap_text")" 143
	like "$command: the disks are shown" \
		"$tap_text" '^sda +100 +409\.6k +0\.50 +40 +655\.4k +2\.00 '
done <"$work/commands"

# ---- the tutorial: what it recorded

blocks help/tutorial.md >"$work/tutorial"
/usr/bin/python3 - "$work/hello" <<'P' || bail "no archive"
import sys
from pcp import pmi
import cpmapi as c
log = pmi.pmiLogImport(sys.argv[1])
log.pmiSetHostname("box")
log.pmiSetTimezone("UTC")
domain = log.pmiInDom(389, 100)
log.pmiAddMetric("kmmv.value.hello.pings", log.pmiID(389, 58, 0), c.PM_TYPE_U64, domain,
                 c.PM_SEM_COUNTER, log.pmiUnits(0, 0, 1, 0, 0, 0))
log.pmiAddInstance(domain, "parameter", 0)
for t in range(21):
    log.pmiPutValue("kmmv.value.hello.pings", "parameter", str(9 * t))
    log.pmiWrite(1700000000 + t, 0)
log.pmiEnd()
P
cd "$work" || bail "no directory"
for name in Hello hello.pmie; do
	shown_by "cat $name" <tutorial >$name
	ok "the tutorial has the file $name" test -s $name
done
command=$(commands <tutorial | on_archive)
# The pmtime that pmchart starts does not end with it.
ok "$command" setsid -w sh -c "echo \$\$ >session; exec timeout 600 $command"
pkill -s "$(cat session)"
like "pmchart draws a picture of the tutorial's archive" \
	"$(head -c 8 hello.png | tr -d '\r\n')" PNG
is "much of the picture has the colour of the first plot" \
	"$(/usr/bin/python3 - hello.png <<'P'
import struct
import sys
import zlib
data, at, packed = open(sys.argv[1], "rb").read(), 8, b""
while at < len(data):
    length, kind = struct.unpack(">I4s", data[at:at + 8])
    if kind == b"IHDR":
        width, height = struct.unpack(">II", data[at + 8:at + 16])
    if kind == b"IDAT":
        packed += data[at + 8:at + 8 + length]
    at += length + 12
raw = zlib.decompress(packed)
size = len(raw) // height - 1
depth = size // width
above, yellow = bytearray(size), 0
for y in range(height):
    how, *line = raw[y * (size + 1):(y + 1) * (size + 1)]
    for i in range(size):
        a = line[i - depth] if i >= depth else 0
        b, c = above[i], above[i - depth] if i >= depth else 0
        nearest = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))
        line[i] = (line[i] + (0, a, b, (a + b) // 2, nearest[2])[how]) % 256
    above = line
    yellow += sum(line[i:i + 3] == [255, 255, 0] for i in range(0, size, depth))
print("yes" if yellow > width * height // 5 else yellow)
P
)" yes
command=$(commands <tutorial | grep '^pmie ')
ok "$command" eval "$command"
is "pmie prints what the tutorial shows" "$(alike <<<"$tap_text")" \
	"$(shown_by "$command" <tutorial | alike)"
sed -i 's/> 0/> 10/' hello.pmie
is "pmie prints nothing if the rule is false" "$(eval "$command")" ""
finish
