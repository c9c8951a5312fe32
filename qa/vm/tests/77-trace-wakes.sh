#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# machine: SMP=1
#
# What wakes a ring's readers is itself traced to this ring: each wake-up leaves events,
# of which none keeps the CPU from going on.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/trace.sh
. qa/vm/trace.sh

counts_values || skip_all "machine: of 32 bits, it counts hits alone"
readers=
# shellcheck disable=SC2317 # called by the trap
clean_up()
{
	# shellcheck disable=SC2086 # none is none
	kill $readers 2>/dev/null
	unload
}
trap clean_up EXIT

# read_by LINES: four readers begin, of which the consumer is woken
read_by()
{
	local i

	readers=
	for ((i = 0; i < 4; i++)); do
		# shellcheck disable=SC2046 # an option or none
		timeout 900 build/kmmvdump -R default $([ $i -gt 0 ] || echo -x) -N "$1" \
			>"$WORK/events.$i" &
		readers="$readers $!"
	done
}

# have NAME LINES: they end with so many
have()
{
	local i=0 pid

	for pid in $readers; do
		wait "$pid"
		is "$1: reader $i succeeds" $? 0
		ok "$1: reader $i has enough events" \
			test "$(wc -l <"$WORK/events.$i")" -ge "$2"
		i=$((i + 1))
	done
	readers=
}

load ring_pages=64 || bail "does not load"
insmod qa/client/kmmv_traced.ko || bail "nothing to count"
ok "a counter with events is enabled" \
	define tp tracepoint=kmmv_traced 'event=default number=arg1:8'
names="cancel function start tp wake"

# An event of the work's end finds the ring armed if the work has not cleared that. No
# other event disarms it.
work=irq_vectors/irq_work_exit
if [ -e /sys/kernel/tracing/events/$work ]; then
	ok "a counter of the end of work is enabled" \
		define work tracepoint=$work 'event=default vector=arg0:4'
	read_by 400
	until [ "$(wc -l <"$WORK/events.3")" -ge 400 ]; do
		hit tp 1
		sleep 0.02
	done
	have "work" 400
	names="$names work"
fi

# Then all that a wake-up does.
ok "a counter of tasks that are woken is enabled" \
	define wake tracepoint=sched/sched_waking 'event=default task=arg0:8x'
read_by 10000
ok "a counter of a function that starts timers is enabled" \
	define function function=hrtimer_start_range_ns \
	'event=default timer=arg0:8x'
ok "a counter of timers that start is enabled" \
	define start tracepoint=timer/hrtimer_start 'event=default timer=arg0:8x'
ok "a counter of timers that are cancelled is enabled" \
	define cancel tracepoint=timer/hrtimer_cancel \
	'event=default timer=arg0:8x'
have "all" 10000
kinds()
{
	sed -n 's/.*trace\.\([a-z]*\) .*/\1/p' "$WORK"/events.* | sort -u | xargs
}
# Readers may have had enough before the last of these was there, or have begun when the
# hits of before were overwritten.
for ((i = 0; i < 20; i++)); do
	[ "$(kinds)" != "$names" ] || break
	note "again: only $(kinds)"
	read_by 10000
	while kill -0 "${readers##* }" 2>/dev/null; do
		hit tp 1
		sleep 0.02
	done
	have "again" 10000
done
is "events of each kind are read" "$(kinds)" "$names"
note "$(for name in $names; do echo "$name $(get "$name" hits)"; done | xargs)"
# shellcheck disable=SC2086 # a list
ok "counters can be removed" end $names
ok "the modules unload" unload
finish
