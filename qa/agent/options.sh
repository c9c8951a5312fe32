#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# beside: yes
# The options of pmdakmmv: what they set, and numbers that they refuse.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/agent/env
. qa/agent/env

area <<E
family 0 counter count counter Counters
inst 0 0 0 active 1 a
E

# refused OPTION NUMBER MOST: it names the limit, and does not start
refused()
{
	local status

	timeout 1200 "$pmda_daemon" -d "$domain" -U "$(id -un)" \
		-l "$work/tmp/kmmv.log" "$1" "$2" >"$work/said" 2>&1 </dev/null
	status=$?
	is "$1 '$2': the status is 1" "$status" 1
	like "$1 '$2': the message says the limit" "$(cat "$work/said")" \
		"$1 takes a number up to $3\$"
}

for number in '' x -1 +1 ' 1' 1x 0x10 1.5 4294967296 99999999999999999999; do
	refused --max-age "$number" 4294967295
done
for number in '' -1 4k 262145; do
	refused --queue "$number" 262144
done
refused --percpu-limit 1048577 1048576
refused --keep-days 0 36500
refused --keep-days 36501 36500
refused --keep-names 4294967296 4294967295

db_start pipe
is "the maximum age is 100 without the option" "$(db_values kmmv.control.max_age)" 100
db_stops "dbpmda ends well"
for number in 0 70 4294967295; do
	db_start pipe "--max-age $number"
	is "--max-age $number is in force" "$(db_values kmmv.control.max_age)" "$number"
	db_stop
done
db_start pipe -a 80 -q 262144 -c 1048576 -k 36500 -n 4294967295
is "options as great as they may be are in force" "$(db_values kmmv.control.max_age \
	kmmv.control.percpu.limit kmmv.ring.queue.limit | xargs)" \
	"80 1048576 268435456"
db_stop
for number in 0 4 262144; do
	db_start pipe "--queue=$number"
	is "--queue=$number is in force" \
		"$(db_values kmmv.ring.queue.limit)" $((number * 1024))
	db_stop
done
db_start pipe
is "the limit of a queue is 4 MiB without the option" \
	"$(db_values kmmv.ring.queue.limit)" 4194304
db_stop

# wrong ERE ARGUMENT...: it says so, with its options, and does not start
wrong()
{
	local why=$1 status

	shift
	timeout 1200 "$pmda_daemon" -d "$domain" -U "$(id -un)" \
		-l "$work/tmp/kmmv.log" "$@" >"$work/said" 2>&1 </dev/null
	status=$?
	is "$*: the status is 1" "$status" 1
	like "$*: the message says why" "$(cat "$work/said")" "$why"
	like "$*: the message lists the options" "$(cat "$work/said")" \
		'-r NAME,\.\.\., --rings=NAME,\.\.\.'
}

wrong 'unrecognized option .--queues' --queues=4
wrong 'option requires an argument|requires an argument' -q
wrong 'requires an argument' --rings
wrong 'Usage:' -q 4 default

timeout 1200 "$pmda_daemon" -d "$domain" -U "$(id -un)" \
	-l "$work/tmp/kmmv.log" >/dev/null </dev/null
is "the daemon ends well when nobody asks" $? 0
finish
