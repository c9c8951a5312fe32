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
ok "./Install succeeds before pmcd has ever run" installs
note "$tap_text"
ok "the module is loaded" test -d /sys/module/kmmv
ok "kmmv_stat is loaded" test -d /sys/module/kmmv_stat
is "group pcp may read the nodes, nobody else" \
	"$(stat -c '%U:%G:%a' /dev/kmmv/counters /dev/kmmv/names | sort -u)" \
	"root:pcp:440"
ok "kmmv is to be loaded at the next boot" grep -rqx kmmv \
	/etc/modules-load.d
ok "the agent reads the device" wait_for 20 has_values
wait_for 20 agents 1
is "one agent runs" "$(pgrep -c -x pmdakmmv)" 1
is "the agent is not root's but pcp's" "$(ps -o user= -C pmdakmmv)" pcp

# ---- values through pmcd

load_client || bail "the client does not load"
make_sda
b=$(call "addin $id_of_family sd b")
call "label $a driver|floppy" >/dev/null
call "adjust task 2 $b 5" >/dev/null
is "pminfo shows the sum over CPUs of a new family's instance" \
	"$(value "$metric" sda)" 3003
is "an instance with a blank in its name has its value" "$(value "$metric" sd_b)" 5
is "kmmv.percpu has the values of each CPU" \
	"$(value "kmmv.percpu.$family" sda::cpu0) $(value \
	"kmmv.percpu.$family" sda::cpu1) $(value \
	"kmmv.percpu.$family" sda::cpu2)" "3000 3 0"
is "kmmv.all has the sum over instances" "$(value "kmmv.all.$family" "")" 3008
like "a metric is a 64-bit unsigned int" "$(pminfo -d "$metric")" \
	"Data Type: 64-bit unsigned int .*"
like "a metric has its family's semantics and units" "$(pminfo -d "$metric")" \
	"Semantics: counter  Units: byte"
like "a metric has its family's one-line help" \
	"$(pminfo -t "$metric")" "Bytes of the test"
like "a metric has its family's help" \
	"$(pminfo -T "$metric")" "How many bytes there were\\."
like "a metric of the agent's own has help" "$(pminfo -T kmmv.control.state)" \
	"^Whether|detached"
like "an instance has its label" "$(pminfo -l "$metric")" '"driver":"floppy"'
like "pmval shows the rate of an instance" \
	"$(pmval -t 0.2 -s 2 -i sda "$metric")" "^ +0"
like "kmmv.value.stat.softirq counts timers" "$(pminfo -f kmmv.value.stat.softirq)" \
	'"TIMER"\] value [1-9]'
like "kmmv.value.counter has an instance of perf_add" \
	"$(call "add plain" >/dev/null; pminfo -f kmmv.value.counter)" \
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
ok "a fetch of what is copied makes copies" test $(($(copies) - second)) -ge 3

# ---- an archive

start_logging 3
ok "pmlogger has a first value" wait_for 20 logged 3003 "$metric" sda
call "adjust hardirq 1 $a 7" >/dev/null
ok "pmlogger has the next value" wait_for 20 logged 3010 "$metric" sda
stop_logging
check_archive 3 "3003 3010 "

# ---- removal

rmmod kmmv_client
ok "./Remove succeeds" sh -c './Remove </dev/null'
note "$tap_text"
not_ok "the metrics are gone" pminfo kmmv
wait_for 20 agents 0
is "the agent is gone" "$(pgrep -c -x pmdakmmv)" 0
ok "the module is gone" test ! -d /sys/module/kmmv
ok "the file of numbers is kept" test -s /var/lib/pcp/config/pmda/389.numbers
rm -f /var/lib/pcp/config/pmda/389.*
is_as_before "$before"
ok "pmcd still answers" pminfo -f pmcd.numagents
finish
