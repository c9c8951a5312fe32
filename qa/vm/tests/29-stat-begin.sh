#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
#
# A reader that asks for a copy as soon as it sees an instance of kmmv_stat sees all
# that was counted since boot, and not what is there while the module begins.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/stat.sh
. qa/vm/stat.sh

rounds=20
[ "${KMMV_SOAK:-0}" = 0 ] || rounds=500

timers()
{
	awk '$1 == "TIMER:" { for (i = 2; i <= NF; i++) sum += $i; print sum }' \
		/proc/softirqs
}

short=
for ((i = 0; i < rounds; i++)); do
	insmod kmod/kmmv.ko || break
	build/qa/vm/stat-first stat.softirq TIMER >"$WORK/first" &
	reader=$!
	sleep 0.1
	low=$(timers)
	insmod kmod/kmmv_stat.ko || kill $reader
	wait $reader
	first=$(cat "$WORK/first")
	[ "${first:-0}" -ge "$low" ] || short="$short $first<$low"
	unload || break
done
is "all rounds are made" $i $rounds
is "no first value is less than /proc had before" "$short" ""
finish
