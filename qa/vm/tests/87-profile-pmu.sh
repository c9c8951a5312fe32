#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
#
# Events of a processor's counters: what is refused has a clear errno and a line of
# text, and the rest goes on. By kmmv_pmu, which has few counters and refuses what it
# is told to, on any machine; and by the machine's own, where perf has some.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/profile.sh
. qa/vm/profile.sh

profile_pmu_end()
{
	profile_end
	[ ! -e /sys/module/kmmv_pmu ] || rmmod kmmv_pmu
}
trap profile_pmu_end EXIT

# event NAME EVENT [COUNT]: make it, not enabled
event()
{
	mkdir "$config/events/qa_$1"
	echo "$2" >"$config/events/qa_$1/event"
	echo "${3:-1999993}" >"$config/events/qa_$1/count"
}
# put NAME FILE VALUE: print the error, if any
put()
{
	local text

	text=$( (echo "$3" >"$config/events/qa_$1/$2") 2>&1) || echo "${text##*: }"
}
# error_of NAME
error_of()
{
	cat "$config/events/qa_$1/error"
}
# period NAME: in nanoseconds, 0 while it is not sampled
period()
{
	value period "qa_$1"
}
# shellcheck disable=SC2317 # called by wait_for
taken_more()
{
	[ "$(stat "${2:-.}/sample_received")" -gt "$1" ]
}
# goes_on NAME [CPU]: samples are taken
goes_on()
{
	ok "$1" wait_for 10 taken_more "$(stat "${2:-.}/sample_received")" "${2:-.}"
}
# both: the samples in each of the two functions, at the same time
both()
{
	build/kmmvdump -a -f profile.symbol.samples | awk -F '"' '
		$2 == "burn1_first [kmmv_burn1]" { first = $3 }
		$2 == "burn1_second [kmmv_burn1]" { second = $3 }
		END { sub("]", "", first); sub("]", "", second); print first + 0, second + 0 }'
}
# three_quarters NAME: of the samples in two functions are in the first of them. Until a
# name is shown it counts among the others, so both are shown at first.
three_quarters()
{
	local first second now i

	read -r first second < <(both)
	for ((i = 0; i < 100; i++)); do
		read -r -a now < <(both)
		[ "${now[0]}" = "$first" ] || [ "${now[1]}" = "$second" ] || break
		burn_kernel 1 2000
	done
	read -r first second < <(both)
	for ((i = 0; i < 100; i++)); do
		read -r -a now < <(both)
		[ $((now[0] + now[1])) -lt $((first + second + 400)) ] || break
		burn_kernel 1 2000
	done
	share "$1" $((now[0] - first)) $((now[0] + now[1] - first - second)) 750
}
# opens TYPE CONFIG: the errno with which perf opens an event of CPU 0, 0 if it does
opens()
{
	python3 - "$@" <<-'E2'
	import ctypes, os, platform, struct, sys
	number = {"x86_64": 298, "i686": 336, "aarch64": 241}[platform.machine()]
	# perf_event_attr: type, size, config, sample_period, ..., pinned
	attr = struct.pack("<IIQQQQQ", int(sys.argv[1]), 64, int(sys.argv[2], 0),
	                   1000000, 0, 0, 1 << 2).ljust(64, b"\0")
	libc = ctypes.CDLL(None, use_errno=True)
	fd = libc.syscall(number, attr, -1, 0, -1, 0)
	print(0 if fd >= 0 else ctypes.get_errno())
	E2
}
in_use="all counters that could count it are in use \\(errno 16\\)"

# ---- counters that are all in use

insmod qa/client/kmmv_pmu.ko counters=2 || bail "no kmmv_pmu"
type=$(cat /sys/bus/event_source/devices/kmmv_qa/type)
ok "loads" load freq=197
insmod qa/client/kmmv_burn1.ko || bail "no kmmv_burn1"
echo 0 >$config/events/default/enabled
for name in one two three; do
	event $name "$type:0"
done
ok "starts without an event" start
for name in one two; do
	is "$name: the event can be enabled" "$(put $name enabled 1)" ""
	is "$name: the period is the event's count" "$(period $name)" 1999993
	is "$name: the event has no error" "$(error_of $name)" ""
done
is "a third event finds no counter" "$(put three enabled 1)" "Device or resource busy"
like "error of a third event says that counters are in use" \
	"$(error_of three)" "^$in_use\$"
like "error of all events names the third" "$(cat $config/error)" "^qa_three: $in_use\$"
is "a third event is not enabled and has no period" \
	"$(cat $config/events/qa_three/enabled) $(period three)" "0 0"
is "the first two events have their periods" \
	"$(period one) $(period two)" "1999993 1999993"
for cpu in "$config"/stats/cpu*; do
	goes_on "sampling with two events goes on: ${cpu##*/}" "${cpu##*/}"
done
is "a change for which there is a counter is made" "$(put two count 3000000)" ""
is "a change for which there is no counter is refused" \
	"$(put two event "$type:16")" "Device or resource busy"
is "an event whose change is refused is as before" \
	"$(cat $config/events/qa_two/event) $(period two)" \
	"$type:0 3000000"
rmdir $config/events/qa_one
is "a third event can be enabled when one is removed" "$(put three enabled 1)" ""
is "a third event has no error when one is removed" "$(error_of three)" ""
stop
accounted "with two counters"

# ---- at the start

event one "$type:0"
is "a third event can be enabled while sampling is off" "$(put one enabled 1)" ""
text=$(start 2>&1)
like "sampling does not start with a third event" \
	"${text##*: }" "^Device or resource busy\$"
like "error names the event that finds no counter at the start" \
	"$(cat $config/error)" "^qa_one: $in_use\$"
like "the log names the event that finds no counter at the start" \
	"$(dmesg | grep kmmv_profile | tail -n 1)" \
	"kmmv_profile: event qa_one: $in_use\$"
is "no event is sampled when the start has failed" \
	"$(cat $config/enable) $(period one) $(period two) $(period three)" "0 0 0 0"
put one enabled 0
ok "sampling starts without the third event" start
goes_on "samples are received without the third event"

# ---- a CPU that comes, without a counter

failed=$(value work failed)
echo 0 >$cpu1
echo 1 >/sys/module/kmmv_pmu/parameters/counters
echo 1 >$cpu1
# shellcheck disable=SC2317 # called by wait_for
says_busy()
{
	grep -qE "$in_use" "$config/error"
}
ok "a CPU that comes with one counter gives an error" wait_for 60 says_busy
like "the error is that of one event when a CPU comes" \
	"$(cat $config/error)" "^qa_three: $in_use\$"
is "the error is counted once when a CPU comes" "$(value work failed)" $((failed + 1))
goes_on "the CPU that comes with one counter is sampled" cpu1
goes_on "another CPU is sampled when one comes with one counter" cpu0
echo 2 >/sys/module/kmmv_pmu/parameters/counters
# shellcheck disable=SC2317 # called by wait_for
says_nothing()
{
	[ -z "$(cat $config/error)" ]
}
ok "the error goes by itself when the counter is back" wait_for 60 says_nothing
is "no more errors are counted when the counter is back" \
	"$(value work failed)" $((failed + 1))

# ---- a counter that is taken away later

# perf places the pinned events anew when another one comes: the last one gets none.
echo 1 >/sys/module/kmmv_pmu/parameters/counters
opens "$type" 0 >/dev/null
ok "a counter that is taken away gives an error" wait_for 60 says_busy
like "the error is that of one event when a counter is taken away" \
	"$(cat $config/error)" "^qa_(two|three): $in_use\$"
is "the error is counted once when a counter is taken away" \
	"$(value work failed)" $((failed + 2))
goes_on "the CPU whose counter is taken away is sampled" cpu0
echo 2 >/sys/module/kmmv_pmu/parameters/counters
ok "the error goes by itself when the counter taken away is back" \
	wait_for 60 says_nothing
for name in two three; do
	put $name enabled 0
	goes_on "the CPU is sampled without $name" cpu0
	put $name enabled 1
done
is "no more errors are counted when the events were enabled anew" \
	"$(value work failed)" $((failed + 2))
stop
accounted "over a CPU that came"
rmdir $config/events/qa_two $config/events/qa_three

# ---- whatever perf refuses: errno and text

start
# errno NUMBER TEXT: of an event that perf refuses so
errno()
{
	echo "$type:$1" >$config/events/qa_one/event
	is "errno $1: the event is refused" "$(put one enabled 1)" \
		"$(python3 -c "import os; print(os.strerror($1))")"
	is "errno $1: error has the text" "$(error_of one)" "$2 (errno $1)"
}
errno 1 "the kernel does not allow it"
errno 2 "this machine has no counter for it"
errno 5 "perf refuses it"
errno 6 "this machine has no counter for it"
errno 11 "all counters that could count it are in use"
errno 12 "no memory for it, or for a buffer of buffer_size samples"
errno 13 "the kernel does not allow it"
errno 16 "all counters that could count it are in use"
errno 19 "this machine has no counter for it"
errno 22 "no such event, or not with this unit_mask, count or freq"
errno 28 "all counters that could count it are in use"
errno 95 "the counter cannot be sampled, or not by kernel and user apart"

# ---- counters that cannot do all

for config_of in 256 512 768; do
	echo "$type:$config_of" >$config/events/qa_one/event
	is "an event that cannot leave out guests is enabled ($config_of)" \
		"$(put one enabled 1)" ""
	goes_on "an event that cannot leave out guests is sampled ($config_of)"
	put one enabled 0
done
echo "$type:1024" >$config/events/qa_one/event
is "an event of kernel and programs together is enabled" "$(put one enabled 1)" ""
is "user cannot be 0 for kernel and programs together" \
	"$(put one user 0)" "Operation not supported"
like "error says that kernel and programs are not apart" \
	"$(error_of one)" "not by kernel and user apart \\(errno 95\\)"
is "an event goes on when user cannot be 0" \
	"$(cat $config/events/qa_one/user) $(period one)" "1 1999993"
put one enabled 0
echo "$type:2048" >$config/events/qa_one/event
is "an event that every second CPU lacks is enabled" "$(put one enabled 1)" ""
before=$(stat cpu1/sample_received)
goes_on "an event is sampled on a CPU that has it" cpu0
is "an event is not sampled on a CPU that lacks it" \
	"$(stat cpu1/sample_received)" "$before"
is "an event that a CPU lacks has no error" "$(error_of one)" ""
put one enabled 0

# ---- shares

echo "$type:0" >$config/events/qa_one/event
put one enabled 1
three_quarters "a function has its three quarters"
stop
accounted "by kmmv_pmu"
rmdir $config/events/qa_one
ok "kmmv_pmu unloads" rmmod kmmv_pmu

# A counter interrupts by NMI, so it needs a machine whose atomic operations bear that.
insmod qa/client/kmmv_pmu.ko hardware=1
event one "$(cat /sys/bus/event_source/devices/kmmv_qa/type):0"
start
if [ "$(getconf LONG_BIT)" = 64 ]; then
	is "a processor's counter can be enabled" "$(put one enabled 1)" ""
	goes_on "a processor's counter is sampled"
else
	is "a processor's counter is refused" "$(put one enabled 1)" \
		"Operation not supported"
fi
stop
rmdir $config/events/qa_one
rmmod kmmv_pmu
echo 1 >$config/events/default/enabled

# ---- the machine's own counters

# has NAME TYPE CONFIG: the profiler has this event if perf has it
has()
{
	local errno text=''

	errno=$(opens "$2" "$3")
	[ "$errno" = 0 ] || text="(errno $errno)"
	event perf "$1" 1000000
	put perf enabled 1 >/dev/null
	is "$1: as perf says, errno $errno" "$(error_of perf | grep -o '(errno .*)')" \
		"$text"
	rmdir $config/events/qa_perf
}

start
source=$(cat $config/source)
stop
note "perf has $(ls /sys/bus/event_source/devices); the source is $source"
if [ "$(opens 0 0)" = 0 ]; then
	is "the source is a counter where cycles have one" "$source" pmu
else
	is "the source is perf's clock where cycles have no counter" "$source" cpu-clock
fi
echo 0 >$config/events/default/enabled
start
n=0
for name in cycles instructions cache-references cache-misses branches branch-misses \
	bus-cycles stalled-cycles-frontend stalled-cycles-backend ref-cycles; do
	has $name 0 $((n++))
done
has r11 4 0x11
has rffff 4 0xffff
stop
echo 1 >$config/events/default/enabled
if [ "$source" != pmu ]; then
	ok "everything unloads" unload
	finish
	exit
fi

# Cycles: of the machine's own, shares as of any source.
rmmod kmmv_profile
ok "kmmv_profile loads again, for a counter" \
	insmod kmod/kmmv_profile.ko source=pmu freq=197 \
	max_overhead=1000 ring_pages=2048
start
is "the source is a counter" "$(cat $config/source) $(cat $config/cpu_type)" "pmu perf"
is "the metric has a counter as the source" \
	"$(value source pmu) $(value source cpu-clock)" "1 0"
three_quarters "a function has three quarters by cycles"
stop
accounted "by cycles"

# As many as there are, and one more.
echo 0 >$config/events/default/enabled
start
for ((n = 0; n < 64; n++)); do
	event "cycles$n" cycles 10000000
	text=$(put "cycles$n" enabled 1)
	[ -z "$text" ] || break
done
note "$n events of cycles at the same time"
ok "there is more than one counter" test $n -gt 1
is "an event is refused when all counters are in use" "$text" "Device or resource busy"
like "error says that all counters are in use" "$(error_of "cycles$n")" "^$in_use\$"
goes_on "sampling goes on when all counters are in use"
stop
accounted "with all counters"
for dir in "$config"/events/qa_cycles*; do
	rmdir "$dir"
done
ok "everything unloads after cycles" unload
finish
