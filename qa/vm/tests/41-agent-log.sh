#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# Archives of both versions, while instances come and go and a CPU is offline.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/agent.sh
. qa/vm/agent.sh

install_agent
make_sda
call "adjust task 2 $(call "addin $id_of_family sd b") 5" >/dev/null

start_logging 2 3
ok "pmlogger has a first value" wait_for 20 logged 3003 "$metric" sda
call "adjust hardirq 1 $a 7" >/dev/null
ok "pmlogger has the next value" wait_for 20 logged 3010 "$metric" sda
c=$(call "addin $id_of_family comes")
call "adjust task 3 $c 11" >/dev/null
ok "pmlogger sees an instance that comes" wait_for 20 logged 11 "$metric" comes
echo 0 >$cpu1
call "adjust task 2 $a 90" >/dev/null
ok "pmlogger goes on with CPU 1 offline" wait_for 20 logged 3100 "$metric" sda
is "a value loses nothing with CPU 1 offline" "$(value "$metric" sda)" 3100
is "CPU 1 keeps its count while offline" "$(value "kmmv.percpu.$family" sda::cpu1)" 10
ok "the total is logged" wait_for 20 logged 3116 "kmmv.all.$family"
call "del $c" >/dev/null
is "a deleted instance has no value" "$(value "$metric" comes)" ""
is "a deleted instance is in the total" "$(value "kmmv.all.$family" "")" 3116
echo 1 >$cpu1
call "addin $id_of_family comes" >/dev/null
call "adjust task 1 $c 1" >/dev/null
ok "an instance added again is logged" wait_for 20 logged 12 "$metric" comes
is "an instance added again goes on with its count" "$(value "$metric" comes)" 12
stop_logging
for version in 2 3; do
	archive=$WORK/archive.$version
	check_archive $version "3003 3010 3100 "
	# It may be logged before it counts.
	like "archive $version: an instance that comes back goes on" \
		"$(series $version "$metric" comes)" "^(0 )?11 12 \$"
	like "archive $version: pmval replays" \
		"$(pmval -r -a "$archive" -i sda -t 0.5 "$metric")" "3100"
	like "archive $version: the total is in it" \
		"$(pmdumplog "$archive" "kmmv.all.$family")" "value 3116"
	is "archive $version: the total never falls" "$(pmdumplog "$archive" \
		"kmmv.all.$family" | sed -n 's/.*value \([0-9][0-9]*\)$/\1/p' |
		sort -n -c 2>&1)" ""
done
finish
