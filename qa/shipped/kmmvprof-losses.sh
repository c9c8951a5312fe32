#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# beside: yes
#
# What kmmvprof says was lost: in the ring, before it, and what is no sample.

cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/shipped/prof
. qa/shipped/prof

{
	echo "state 0 500 5 0 997 backoff timer"
	kernel 100 7 0 $schedule x
	echo "cut 0 0"
	echo "cut 1 50"
	echo "sample 1 0 1 0 0 0 0 0 1 1 3 0 -1 x default"
	kernel 1 18446744073709551615 0 $schedule x
	echo "sample 1 0 2500000000 0 0 0 0 0 1 1 0 0 $schedule x my-clock"
	echo "time 0"
	echo "sample 1 0 2 0 0 0 0 0 1 1 0 0 $schedule x cpu-clock"
	echo "time 1"
	echo "state 0 630 8 1 499 recover timer"
	kernel 1 7 0 $schedule x
} >"$work/lines"
serve "$dir" <"$work/lines"
$prof report -D "$dir" | tidy >"$work/report"
# Two are too short, one is of no mode, one has an impossible period.
is "malformed samples are counted, not shown" "$(cat "$work/report")" \
'event cpu-clock: 1 samples, 2 counted
percent samples count image symbol
 100.00 1 2 [kernel] schedule

event default (source timer): 101 samples, 0.000 s
percent samples seconds image symbol
 100.00 101 0.000 [kernel] schedule

event my-clock: 1 samples, 2.500 s
percent samples seconds image symbol
 100.00 1 2.500 [kernel] schedule

read 103 samples, of which 0 were not asked for; 4 malformed
lost in the ring: 0 overwritten, 0 dropped
between its first and last state here the profiler took 130 = 102 read + 4 malformed + 3 lost before the ring + 0 overwritten + 0 dropped + 21 inside
and missed 1 that were due: backed off, throttled or late'
is "folded: events come first if there are several" \
	"$($prof folded -D "$dir")" 'cpu-clock;x;[kernel];schedule 1
default;x;[kernel];schedule 101
my-clock;x;[kernel];schedule 1'
is "JSON: the unit is in the samples, not in the name" "$(query '
	{e["event"]: e["unit"] for e in d["events"]}' $prof report -j -D "$dir")" \
	"{'cpu-clock': 'count', 'default': 'ns', 'my-clock': 'ns'}"
$prof record -D "$dir" -o "$work/recording" || bail "no recording"
is "a recording has the units" "$($prof report -i "$work/recording" -b symbol)" \
	"$($prof report -D "$dir" -b symbol)"
{
	echo "state 0 9000 900 90 997 stop timer"
	echo "state 0 10 1 0 997 start timer"
	kernel 5 7 0 $schedule x
	echo "state 0 15 1 0 997 stop timer"
} >"$work/lines"
serve "$dir" <"$work/lines"
like "losses count from where the module was loaded again" \
	"$($prof report -D "$dir")" 'took 5 = 5 read .* 0 lost .* 0 inside$'
# 2 pages of 36 events at most are left.
{
	kernel 100000 7 0 $schedule x
	user 20 7 $pie x pie burn_one
} >"$work/lines"
serve "$dir" 2 <"$work/lines"
like "losses are unknown in a ring that was overwritten" "$($prof report -D "$dir")" \
	'^lost before the ring: unknown'
# What was overwritten before a CPU's first record may be younger than a state of
# another CPU: 200 taken, and fewer left, say nothing of what is inside.
other_cpu="1 7 0 0 0 0 0 201 200 $schedule 0 -1 x default"
{
	echo "state 0 0 0 0 997 start timer"
	echo "sample 200 $other_cpu"
	echo "state 0 200 0 0 997 stop timer"
} >"$work/lines"
serve "$dir" 2 <"$work/lines"
like "losses are unknown where another CPU's part was overwritten" \
	"$($prof report -D "$dir")" \
	'^lost before the ring: unknown'
{
	cat "$work/lines"
	echo "sample 5 $other_cpu"
	echo "state 0 205 0 0 997 stop timer"
} >"$work/more"
serve "$dir" 2 <"$work/more"
like "losses are known of what follows an overwritten part" "$($prof report -D "$dir")" \
	'took 5 = 5 read .* 0 lost .* 0 inside$'
# Thousands of pages, with other percentages than whole ones.
for i in 1 2 3 4 5 6 7; do
	kernel $((5000 * i)) $((i * 13)) 0 $schedule "c$i"
done >"$work/lines"
serve "$dir" 6000 <"$work/lines"
is "many samples are all counted" "$(query 'd["accounts"]["read"],
	d["events"][0]["samples"], d["events"][0]["period"],
	round(sum(r["percent"] for r in d["events"][0]["rows"]), 9)' \
	$prof report -j -b command -D "$dir")" \
	"140000 140000 9100000 100.0"

# While it reads, drops are told with the next event. It is ended when it has read all:
# a reader that is late may know of more drops than of events, or of less.
kernel 10 1 0 $schedule x >"$work/lines"
serve "$dir" <"$work/lines"
$prof report -j -d 36000 -D "$dir" >"$work/live" &
live_pid=$!
naps()
{
	sed -n 's/^voluntary_ctxt_switches:\t//p' /proc/$live_pid/status
}
# shellcheck disable=SC2317 # called by wait_for
naps_are()
{
	! kill -0 $live_pid 2>/dev/null || [ "$(naps)" -ge "$1" ]
}
# shellcheck disable=SC2317 # called by wait_for
all_is_served()
{
	[ "$(grep -c ready "$work/ready")" -ge 2 ]
}
# It sleeps once it waits for the ring.
wait_for 60 naps_are 20 || fail "report waits for the ring"
for ((i = 0; i < 40; i++)); do
	echo "drop 0 5" >&8
	kernel 1 1 0 $schedule x >&8
	sleep 0.05
done
echo ready >&8
wait_for 60 all_is_served || fail "all events are in the ring"
wait_for 60 naps_are $(($(naps) + 20)) || fail "report reads all that was written"
kill -INT $live_pid
wait $live_pid
is "five events are dropped for each that is read" "$(query '
	abs(int(d["accounts"]["dropped"]) - 5 * int(d["accounts"]["read"])) <= 5 and
	int(d["accounts"]["read"]) > 0' cat "$work/live")" True
finish
