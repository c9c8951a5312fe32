#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
#
# What wakes a ring's reader is itself traced to this ring: each wake-up leaves events,
# of which none keeps the machine from going on.

# shellcheck source=qa/tap.sh
. qa/tap.sh
# shellcheck source=qa/vm/trace.sh
. qa/vm/trace.sh

counts_values || skip_all "machine: of 32 bits, it counts hits alone"
trap unload EXIT

load ring_pages=64 || bail "does not load"
ok "a timer starts" define start tracepoint=timer/hrtimer_start 'event=default timer=arg0:8x'
ok "a timer is cancelled" define cancel tracepoint=timer/hrtimer_cancel \
	'event=default timer=arg0:8x'
ok "its function" define function function=hrtimer_start_range_ns \
	'event=default timer=arg0:8x'
ok "a task is woken" define wake tracepoint=sched/sched_waking 'event=default task=arg0:8x'
names="start cancel function wake"
# Not on each architecture.
if [ -e /sys/kernel/tracing/events/irq_vectors/irq_work_exit ]; then
	ok "a work ends" define work tracepoint=irq_vectors/irq_work_exit \
		'event=default vector=arg0:4'
	names="$names work"
fi

# Each of them polls whenever it has read.
pids=
for ((i = 0; i < 4; i++)); do
	timeout 900 build/kmmvdump -R default -N 3000 >"$WORK/events.$i" &
	pids="$pids $!"
done
for pid in $pids; do
	ok "a reader gets its events" wait "$pid"
done
for ((i = 0; i < 4; i++)); do
	is "as many as it asked for" "$(wc -l <"$WORK/events.$i")" 3000
done
is "of each kind" "$(sed -n 's/.*trace\.\([a-z]*\).*/\1/p' "$WORK"/events.* | sort -u |
	xargs)" "$(xargs -n 1 <<<"$names" | sort | xargs)"
# shellcheck disable=SC2086 # a list
ok "they end" end $names
ok "unloads" unload
finish
