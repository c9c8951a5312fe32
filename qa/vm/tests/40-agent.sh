#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# From a kernel counter to an archive: ./Install, pminfo, pmval, pmlogger, ./Remove.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/agent.sh
. qa/vm/agent.sh

# ---- installation

before=$(files)
start_udev
ok "./Install, before pmcd has ever run" installs
note "$tap_text"
ok "the module is loaded" test -d /sys/module/kmmv
ok "so is its source" test -d /sys/module/kmmv_stat
is "group pcp may read the nodes, nobody else" \
	"$(stat -c '%U:%G:%a' /dev/kmmv/counters /dev/kmmv/names | sort -u)" \
	"root:pcp:440"
ok "they will be loaded at the next boot" grep -rqx kmmv \
	/etc/modules-load.d
ok "the agent reads the device" wait_for 20 has_values
wait_for 20 agents 1
is "there is one" "$(pgrep -c -x pmdakmmv)" 1
is "that is not root's" "$(ps -o user= -C pmdakmmv)" pcp

# ---- values through pmcd

load_client || bail "the client does not load"
make_sda
b=$(call "addin $id_of_family sd b")
call "label $a driver|floppy" >/dev/null
call "adjust task 2 $b 5" >/dev/null
is "pminfo: a new family's value, summed" "$(value "$metric" sda)" 3003
is "a name with a blank" "$(value "$metric" sd_b)" 5
is "per CPU" "$(value "kmmv.percpu.$family" sda::cpu0) $(value \
	"kmmv.percpu.$family" sda::cpu1) $(value \
	"kmmv.percpu.$family" sda::cpu2)" "3000 3 0"
is "over all" "$(value "kmmv.all.$family" "")" 3008
like "its description" "$(pminfo -d "$metric")" \
	"Data Type: 64-bit unsigned int .*"
like "its semantics and units" "$(pminfo -d "$metric")" \
	"Semantics: counter  Units: byte"
like "its one-line help" "$(pminfo -t "$metric")" "Bytes of the test"
like "its help" "$(pminfo -T "$metric")" "How many bytes there were\\."
like "help of the agent's own" "$(pminfo -T kmmv.control.state)" \
	"^Whether|detached"
like "a label" "$(pminfo -l "$metric")" '"driver":"floppy"'
like "pmval" "$(pmval -t 0.2 -s 2 -i sda "$metric")" "^ +0"
like "the kernel's own statistics" "$(pminfo -f kmmv.value.stat.softirq)" \
	'"TIMER"\] value [1-9]'
like "perf_add's" "$(call "add plain" >/dev/null; pminfo -f kmmv.value.counter)" \
	'"plain"\] value 0'

# Copies that were made, without another one. One a minute is made unasked.
copies()
{
	build/kmmvdump -r 3600000 -j -f stat.work | python3 -c '
import json, sys
print([i["value"] for i in json.load(sys.stdin)["instances"]
       if i["name"] == "copies"][0])'
}
begun=$SECONDS
first=$(copies)
pmval -t 0.15 -s 10 kmmv.value.counter >/dev/null
second=$(copies)
ok "a fetch of what kernel code counts copies nothing" \
	test $((second - first)) -le $(((SECONDS - begun) / 60 + 1))
pmval -t 0.15 -s 10 kmmv.value.stat.vm >/dev/null
note "copies: $first, $second, $(copies)"
ok "one of what is copied does" test $(($(copies) - second)) -ge 3

# ---- an archive

start_logging 3
ok "pmlogger has a first value" wait_for 20 logged 3003 "$metric" sda
call "adjust hardirq 1 $a 7" >/dev/null
ok "and the next one" wait_for 20 logged 3010 "$metric" sda
stop_logging
check_archive 3 "3003 3010 "

# ---- removal

rmmod kmmv_client
ok "./Remove" sh -c './Remove </dev/null'
note "$tap_text"
not_ok "the metrics are gone" pminfo kmmv
wait_for 20 agents 0
is "the agent is gone" "$(pgrep -c -x pmdakmmv)" 0
ok "the module is gone" test ! -d /sys/module/kmmv
ok "numbers are kept" test -s /var/lib/pcp/config/pmda/389.numbers
rm -f /var/lib/pcp/config/pmda/389.*
is_as_before "$before"
ok "pmcd still answers" pminfo -f pmcd.numagents
finish
