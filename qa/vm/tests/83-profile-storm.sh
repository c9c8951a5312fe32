#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# machine: CLOCK=unstable
#
# kmmv_profile loses nothing that it does not count: buffers that are full, a ring that
# does not record, CPUs and modules that come and go, starts and stops, and a ceiling.

# shellcheck disable=SC2317 # functions called by wait_for
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/clock.sh
. qa/vm/clock.sh
# shellcheck source=qa/vm/profile.sh
. qa/vm/profile.sh

clock unstable
ok "the modules load" load freq=97

# ---- overflow: nobody empties the buffer

echo 10000 >/sys/module/kmmv_profile/parameters/drain_ms
echo 32 >$config/buffer_size
echo 1000000 >$config/buffer_watershed
echo 1 >$config/idle
start
not_ok "buffer_size is fixed during sampling" sh -c "echo 64 >$config/buffer_size"
overflown()
{
	[ "$(stat sample_lost_overflow)" -gt 20 ]
}
ok "the buffers overflow" wait_for 10 overflown
full()
{
	[ "$(stat sample_inside)" -gt 32 ]
}
ok "the buffers are full" wait_for 10 full
stop
accounted "after an overflow"
is "no sample is inside after a stop" "$(stat sample_inside)" 0
is "lost samples of all CPUs are the lost samples" \
	"$(cat $config/stats/cpu*/sample_lost_overflow |
	awk '{ sum += $1 } END { print sum }')" "$(stat sample_lost_overflow)"
is "samples of all CPUs are the samples" "$(cat $config/stats/cpu*/sample_received |
	awk '{ sum += $1 } END { print sum }')" "$(stat sample_received)"
not_ok "buffer_size cannot be 0" sh -c "echo 0 >$config/buffer_size"
echo 256 >$config/buffer_size
echo 0 >$config/idle

# ---- a watershed has the worker run

drains=$(value work drains)
echo 4 >$config/buffer_watershed
echo 1 >$config/idle
start
drained()
{
	[ "$(value work drains)" -gt $((drains + 5)) ]
}
ok "the worker is woken by a watershed" wait_for 10 drained
stop
echo 0 >$config/idle
echo 64 >$config/buffer_watershed
echo 100 >/sys/module/kmmv_profile/parameters/drain_ms
accounted "after watersheds"

# ---- a ring that does not record

ring=/sys/kernel/config/kmmv/rings/profile
echo 0 >$ring/enable
before=$(sum command.samples)
start
start_loop $burn 500
counted()
{
	[ "$(sum command.samples)" -gt $((before + 30)) ]
}
ok "samples are counted without a ring" wait_for 10 counted
stop_loops
stop
ok "samples are lost for the ring: $(stat event_lost_disabled)" \
	test "$(stat event_lost_disabled)" -ge 30
accounted "without a ring"
echo 1 >$ring/enable
not_ok "the directory of the profiler's ring stays" rmdir $ring

# ---- an event whose number is known

mkdir $config/events/qafault
echo page-faults >$config/events/qafault/event
echo 1 >$config/events/qafault/count
echo 0 >$config/events/default/enabled
ok "an event of perf's can be enabled" sh -c "echo 1 >$config/events/qafault/enabled"
before=$(value command.samples touch4096)
# Perf stops an event that has too many in a tick, and the buffer has to hold them.
rate=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
echo 1000000 >/proc/sys/kernel/perf_event_max_sample_rate
echo 8192 >$config/buffer_size
start
is "the period of an event with a count is the count" "$(value period qafault)" 1
lost=$(stat sample_lost_overflow)
throttled=$(stat sample_throttled)
ln -s "$PWD/build/qa/vm/burn" "$WORK/touch4096"
"$WORK/touch4096" 0 3000 >/dev/null
stop
echo "$rate" >/proc/sys/kernel/perf_event_max_sample_rate
is "no page fault is lost or left out" \
	"$(stat sample_lost_overflow) $(stat sample_throttled)" \
	"$lost $throttled"
faults=$(($(value command.samples touch4096) - ${before:-0}))
ok "samples are 3000 faults and those of a start: $faults" test "$faults" -ge 3000
ok "samples are fewer than 3600" test "$faults" -lt 3600
accounted "page faults"

# ---- more samples than the worker can deliver

echo 10 >/sys/module/kmmv_profile/parameters/max_overhead
echo 1000000 >/proc/sys/kernel/perf_event_max_sample_rate
backoffs=$(stat backoffs) drains=$(value work drains)
start
start_loop "$WORK/touch4096" 0 100000
off()
{
	[ "$(stat backoffs)" -gt "$backoffs" ]
}
ok "the rate is lowered when samples are too many" wait_for 60 off
ok "drains have an end: $(value work drains)" test "$(value work drains)" -gt "$drains"
insmod qa/client/kmmv_burn1.ko &
inserted()
{
	[ -e /sys/module/kmmv_burn1/parameters/burn ]
}
ok "a module loads when samples are too many" wait_for 60 inserted
wait $!
ok "a module unloads when samples are too many" rmmod kmmv_burn1
stop_loops
stop
echo "$rate" >/proc/sys/kernel/perf_event_max_sample_rate
echo 1000 >/sys/module/kmmv_profile/parameters/max_overhead
accounted "more than the worker can deliver"

# ---- limits of a count

is "a count that times the greatest factor is too long" \
	"$( (echo 9223372036854775808 >$config/events/qafault/count) 2>&1 |
	sed 's/.*: //')" "Numerical result out of range"
not_ok "a clock by its name cannot have a count of 1" \
	sh -c "echo cpu-clock >$config/events/qafault/event"
not_ok "a clock by its number cannot have a count of 1" \
	sh -c "echo 1:0 >$config/events/qafault/event"
not_ok "an event without a name cannot have a count of 1" \
	sh -c "echo >$config/events/qafault/event"
like "error says that the count is too short for a clock" \
	"$(cat $config/events/qafault/error)" 'shorter than max_freq.*errno 34'
is "the event is what it was when a clock is refused" \
	"$(cat $config/events/qafault/event)" page-faults
echo 0 >$config/events/qafault/count
echo 1:0 >$config/events/qafault/event
not_ok "a clock cannot be given a count of 1" \
	sh -c "echo 1 >$config/events/qafault/count"
echo page-faults >$config/events/qafault/event
not_ok "an unknown event is refused" sh -c "echo nosuch >$config/events/qafault/event &&
	echo 1 >$config/enable"
like "error says that there is no such event" \
	"$(cat $config/events/qafault/error)" 'no such event.*errno 22'
echo r01c2 >$config/events/qafault/event
not_ok "a raw code without a counter is refused" start
like "error says that there is no counter for a raw code" \
	"$(cat $config/events/qafault/error)" \
	'this machine has no counter for it'
rmdir $config/events/qafault
echo 1 >$config/events/default/enabled
not_ok "a rate above the limit is refused" \
	sh -c "echo 1001 >$config/events/default/freq"
# The reader finds the change, however late it begins: the ring's first pages are those of
# now, and are not overwritten soon.
ok "the ring can have long buffers" \
	sh -c "echo 0 >$ring/enable && echo 2048 >$ring/pages &&
	echo 1 >$ring/enable"
ok "the rate can change during sampling" sh -c "echo 1 >$config/enable &&
	echo 500 >$config/events/default/freq"
is "the period follows the rate" "$(value period default)" 2000000
like "the ring has the change of the rate" "$(timeout 300 build/kmmvdump -R profile |
	grep -m 1 'what="change"')" 'freq=500 what="change" source="cpu-clock"'
echo 97 >$config/events/default/freq

# ---- a sample excluded is not late

echo 0 >$config/enable
echo 0 >$config/events/default/user
late=$(stat sample_late)
start
$burn 3000 >"$WORK/where"
stop
is "samples that are not wanted are not late" "$(stat sample_late)" "$late"
echo 1 >$config/events/default/user

# ---- CPUs, starts and stops, modules

failed=$(value work failed)
start_loop $burn 300
start_loop sh -c "echo 0 >$cpu1; echo 1 >$cpu1"
start_loop sh -c "echo 0 >$config/enable; echo 1 >$config/enable || touch $WORK/refused"
start_loop sh -c "insmod qa/client/kmmv_burn1.ko
	echo 500 >/sys/module/kmmv_burn1/parameters/burn; rmmod kmmv_burn1"
start_loop build/kmmvdump -a
sleep 15
stop_loops
echo 1 >$cpu1
echo 1 >$config/enable
is "every start succeeds" "$(ls "$WORK/refused" 2>/dev/null)" ""
is "no CPU fails to be sampled" "$(value work failed)" "$failed"
seen=$(cat "$config/stats/cpu1/sample_received")
sampled()
{
	[ "$(cat "$config/stats/cpu1/sample_received")" -gt $((seen + 5)) ]
}
ok "a CPU that came back is sampled" wait_for 10 sampled
stop
accounted "after a storm"

# The rate changes while a CPU comes and goes.
start
start_loop sh -c "echo 0 >$cpu1; echo 1 >$cpu1"
start_loop sh -c "echo 0 >/sys/module/kmmv_profile/parameters/max_overhead; sleep 2
	echo 1000 >/sys/module/kmmv_profile/parameters/max_overhead; sleep 10"
backoffs=$(stat backoffs)
changed()
{
	[ "$(stat backoffs)" -ge $((backoffs + 4)) ]
}
ok "the rate changes while a CPU comes and goes" wait_for 120 changed
stop_loops
echo 1 >$cpu1
echo 1000 >/sys/module/kmmv_profile/parameters/max_overhead
is "sampling goes on when the rate has changed" \
	"$(cat $config/source) $(value source cpu-clock)" "cpu-clock 1"
is "sampling has no error when the rate has changed" \
	"$(value work failed) $(cat $config/events/default/error)" \
	"$failed "
stop

# ---- the ceiling

backoffs=$(stat backoffs)
start
echo 0 >/sys/module/kmmv_profile/parameters/max_overhead
backed_off()
{
	[ "$(stat backoffs)" -ge $((backoffs + 2)) ]
}
ok "above the ceiling the rate is halved, twice" wait_for 10 backed_off
ok "the period is longer above the ceiling: $(value period default)" \
	test "$(value period default)" -ge $((4 * (1000000000 / 97)))
start_loop $burn 500
counted_off()
{
	[ "$(stat sample_backed_off)" -gt 0 ]
}
ok "samples that are not taken are counted" wait_for 30 counted_off
stop_loops
# Before it can recover.
longest=$(value period default)
echo 1000 >/sys/module/kmmv_profile/parameters/max_overhead
shorter()
{
	[ "$(value period default)" -lt "$longest" ]
}
ok "below the ceiling the rate recovers" wait_for 60 shorter

# ---- unloaded while it samples

ok "kmmv_profile unloads during sampling" rmmod kmmv_profile
ok "the profiler's ring is there when kmmv_profile is unloaded" \
	test -c /dev/kmmv/ring/profile
ok "kmmv_profile loads again" \
	insmod kmod/kmmv_profile.ko enable=1 freq=97 max_overhead=1000
is "sampling is on after a load with enable=1" "$(cat $config/enable)" 1
accounted_now()
{
	[ "$(stat sample_received)" -gt 0 ]
}
ok "samples are received after a load with enable=1" wait_for 10 accounted_now
stop
accounted "after a second load"
ok "everything unloads" unload
finish
