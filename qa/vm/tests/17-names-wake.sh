#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Names that change all the time are told of once in a while: what wakes the
# readers rests after each time, also when something changed while it was at it.
# The trace's clock is the one that the rests are measured with.

# shellcheck source=qa/tap.sh
. qa/tap.sh
# shellcheck source=qa/client/client.sh
. qa/client/client.sh

tracing=/sys/kernel/tracing
event=$tracing/events/workqueue/workqueue_execute_start/enable
# shellcheck disable=SC2317 # called by the trap
clean_up()
{
	echo 0 >"$event"
	echo local >$tracing/trace_clock
	echo >$tracing/trace
	unload
}
trap clean_up EXIT

load_core && load_client || bail "the modules do not load"
echo uptime >$tracing/trace_clock || bail "no such clock"
echo 1 >"$event"
# As long as it takes to be woken often; each batch is of new names.
batch=0
woken()
{
	grep -c 'function names_wake' $tracing/trace
}
until [ "$(woken)" -ge 40 ]; do
	call "addmany 0 500 wake$((batch++))_" >/dev/null
done
echo 0 >"$event"
# A time is in seconds of ticks, the rest is a 25th of a second, begun within one.
gaps=$(awk '/function names_wake/ {
	for (i = 1; i <= NF; i++)
		if ($i ~ /^[0-9]+\.[0-9]+:$/) { at = $i + 0; break }
	if (last && at - last < 0.035) n++
	last = at
} END { print n + 0 }' $tracing/trace)
note "$(woken) times, $batch batches of names"
is "none of them without a rest before it" "$gaps" 0
unload
finish
