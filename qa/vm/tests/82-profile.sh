#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
#
# kmmv_profile finds where known programs and known kernel code spend their time, by
# each source that this machine has, and without showing where the kernel is.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/profile.sh
. qa/vm/profile.sh

echo 2 >/proc/sys/kernel/kptr_restrict
ok "the modules load" load freq=197 ring_pages=2048
insmod qa/client/kmmv_burn1.ko || bail "kmmv_burn1 does not load"
is "kmmv_profile does not sample by itself" "$(cat $config/enable)" 0
is "pointer_size is the size of a pointer" "$(cat $config/pointer_size)" \
	"$(($(getconf LONG_BIT) / 8))"
before=$(stat sample_received)
is "no sample is received before the start" "$before" 0

# ---- shares, user and kernel

ok "sampling starts" start
is "the source is perf's clock where there is no counter" \
	"$(cat $config/source)" cpu-clock
is "cpu_type is OProfile's name for a clock" "$(cat $config/cpu_type)" timer
is "the metric has cpu-clock as the source" \
	"$(value source cpu-clock) $(value source timer)" "1 0"
is "the metric has the period in nanoseconds" \
	"$(value period default)" $((1000000000 / 197))
burn_until 400 $burn 15000 >"$WORK/where"
burn_until 400 burn_kernel 1 15000
ok "sampling stops" stop
is "the source is none after the stop" "$(cat $config/source)" none
accounted "after a stop"
is "no sample is left inside after the stop" "$(stat sample_inside)" 0
events $(($(stat sample_delivered) + 2)) >"$WORK/events"
is "all samples are in the ring" "$(grep -c 'profile.sample' "$WORK/events")" \
	"$(stat sample_delivered)"
like "the first event is the start" "$(head -n 1 "$WORK/events")" \
	'profile.state .* what="start" source="cpu-clock"'
like "the last event is the stop" "$(tail -n 1 "$WORK/events")" \
	'profile.state .* what="stop" source="cpu-clock"'

# The samples in the program's functions, by offset.
awk '
	FNR == NR { begin[$1] = $2; end[$1] = $3; next }
	/image.samples\[".*\/burn"\]/ && match($0, / offset=[0-9]+/) {
		at = substr($0, RSTART + 8, RLENGTH - 8) + 0
		for (name in begin)
			if (at >= begin[name] && at < end[name])
				n[name]++
	}
	END { print n["first"] + 0, n["second"] + 0 }' \
	"$WORK/where" "$WORK/events" >"$WORK/user"
read -r first second <"$WORK/user"
share "a program's first function has three quarters" "$first" \
	$((first + second)) 750
first=$(grep -c 'symbol.samples\["burn1_first \[kmmv_burn1\]"\]' "$WORK/events")
second=$(grep -c 'symbol.samples\["burn1_second \[kmmv_burn1\]"\]' "$WORK/events")
share "a function of a kernel module has three quarters" \
	"$first" $((first + second)) 750
# While it is not among those that are shown, a name counts in others: no more often
# than profile.error says.
error=$(value error symbol)
for name in burn1_first:$first burn1_second:$second; do
	others=$((${name#*:} - $(value symbol.samples "${name%:*} [kmmv_burn1]")))
	ok "the metric of ${name%:*} has all but $others, at most $error" \
		test $others -ge 0 -a $others -le "$error"
done
like "the file of a sample is known" "$(grep '/burn"\]' "$WORK/events")" \
	" inode=$(command stat -c %i $burn) "
is "no address is in the ring" "$(grep -ciE '0x|ffffffff[0-9a-f]{4}' "$WORK/events")" 0
# Numbers are decimal in that: 2^64 - 2^47 and more, but for -1.
is "no number in the ring is an address" \
	"$(sed 's/=18446744073709551615//g' "$WORK/events" |
	grep -cE '=1844(66(0[3-9]|[1-9])|6[7-9]|[7-9])[0-9]*')" 0
no_address "no address is in the ring's pages" /dev/kmmv/ring/profile
is "no address is in a name" \
	"$(build/kmmvdump -a | grep profile | grep -ciE '0x|ffffffff')" 0

# ---- stacks

echo 1 >$config/stack
seen=$(($(stat sample_delivered) + 2))
start
burn_until 100 burn_kernel 1 5000
stop
events $(($(stat sample_delivered) + 4)) | tail -n +$((seen + 1)) >"$WORK/events"
like "a stack begins with the function, and goes on" "$(cat "$WORK/events")" \
	'stack="burn1_first \[kmmv_burn1\];burn_set \[kmmv_burn1\];.*(entry_(SYSCALL|SYSENTER|INT80)|el0t_64_sync)'
is "each sample of the kernel has a stack" "$(grep 'mode=0' "$WORK/events" |
	grep -c 'stack=""')" 0
echo 0 >$config/stack

# ---- a module goes, another one comes at its place

text_of()
{
	echo 1 >/proc/sys/kernel/kptr_restrict
	cat "/sys/module/$1/sections/.text"
	echo 2 >/proc/sys/kernel/kptr_restrict
}
start
# Until the place is the same: other memory may have come between.
for ((i = 0; i < 100; i++)); do
	burn_until 100 burn_kernel 1 5000
	text=$(text_of kmmv_burn1)
	before=$(value symbol.samples 'burn1_first [kmmv_burn1]')
	rmmod kmmv_burn1
	insmod qa/client/kmmv_burn2.ko
	after=$(value symbol.samples 'burn1_first [kmmv_burn1]')
	[ "$text" != "$(text_of kmmv_burn2)" ] || break
	rmmod kmmv_burn2
	insmod qa/client/kmmv_burn1.ko
done
like "the place of a module is known" "$text" '^0x[0-9a-f]*[1-9a-f]'
is "the place of a module is another one's" "$(text_of kmmv_burn2)" "$text"
burn_until 100 burn_kernel 2 5000
stop
ok "samples of a module that goes keep its names: $before, $after" \
	test "$after" -ge "$before"
is "a module that is gone gets no more samples" \
	"$(value symbol.samples 'burn1_first [kmmv_burn1]')" \
	"$after"
ok "samples of the other module in the place have names" test \
	"$(value symbol.samples 'burn2_first [kmmv_burn2]')" -gt 0
accounted "over modules"

# ---- an event by the numbers that sysfs has

mkdir $config/events/qa_sysfs
echo 0 >$config/events/default/enabled
# The PMU "software" has no names for its events; 0 is cpu-clock.
build/kmmvprof events software/config=0/ >$config/events/qa_sysfs/event
echo 1 >$config/events/qa_sysfs/enabled
is "kmmvprof prints an event by the numbers of sysfs" \
	"$(cat $config/events/qa_sysfs/event)" "1:0x0"
count=$(value symbol.samples 'burn2_first [kmmv_burn2]')
start
is "a default event that is disabled has no source" "$(cat $config/source)" none
is "a default event that is disabled has no metric of a source" \
	"$(value source cpu-clock)" 0
burn_until 100 burn_kernel 2 2000
stop
ok "an event by numbers is sampled" \
	test "$(value symbol.samples 'burn2_first [kmmv_burn2]')" -gt "$count"
rmdir $config/events/qa_sysfs
echo 1 >$config/events/default/enabled

# ---- the default event, by a name

# source_of EVENT: what it says of an event
source_of()
{
	echo "$1" >$config/events/default/event
	start
	echo "$(cat $config/source) $(cat $config/cpu_type) $(value source pmu)\
$(value source cpu-clock)$(value source timer)"
	stop
}
is "a clock by its name is the clock" "$(source_of cpu-clock)" "cpu-clock timer 010"
is "a clock by its number is the clock" "$(source_of 1:1)" "cpu-clock timer 010"
is "another event is none of the sources" "$(source_of page-faults)" "event perf 000"
is "an event without a name is the clock" "$(source_of '')" "cpu-clock timer 010"

# ---- a path longer than a page, which file_path() does not make

each_fault
folder=$(printf 'd%.0s' {1..200})
start
python3 - "$WORK" "$PWD/$burn" "$folder" >/dev/null <<-'E2' &
	import os, shutil, sys
	os.chdir(sys.argv[1])
	for _ in range(25):
	    os.mkdir(sys.argv[3])
	    os.chdir(sys.argv[3])
	shutil.copy(sys.argv[2], "burn")
	# It lives until the worker has looked, and is killed then.
	os.execv("./burn", ["burn", "1000000000", "2000"])
E2
long=$folder/$folder/burn
# shellcheck disable=SC2317 # called by wait_for
has_long()
{
	local count

	count=$(value image.samples "${long: -255}")
	[ "${count:-0}" -gt 0 ]
}
ok "a path longer than a page has its last bytes as name" wait_for 60 has_long
kill $!
wait $! 2>/dev/null
stop
rmdir $config/events/qafault
echo 1 >$config/events/default/enabled

# ---- again, by a timer

count=$(value symbol.samples 'burn2_first [kmmv_burn2]')
ok "kmmv_profile unloads" rmmod kmmv_profile
ok "kmmv_profile loads again, for a timer" \
	insmod kmod/kmmv_profile.ko source=timer freq=197 \
	max_overhead=1000
is "a name has its count after a load" \
	"$(value symbol.samples 'burn2_first [kmmv_burn2]')" "$count"
second=$(value symbol.samples 'burn2_second [kmmv_burn2]')
start
is "the source is a timer" "$(cat $config/source)" timer
burn_until 400 burn_kernel 2 15000
stop
count=$(($(value symbol.samples 'burn2_first [kmmv_burn2]') - count))
second=$(($(value symbol.samples 'burn2_second [kmmv_burn2]') - second))
share "a function has three quarters by a timer" $count $((count + second)) 750
# A timer cannot leave the kernel out.
echo 0 >$config/events/default/kernel
not_ok "a timer does not start for users alone" start
like "error says why a timer does not start for users alone" \
	"$(cat $config/events/default/error)" \
	'not by kernel and user apart \(errno 95\)'
echo 1 >$config/events/default/kernel
ok "a timer starts for the kernel and users" start
stop
ok "kmmv_profile unloads after a timer" rmmod kmmv_profile
ok "kmmv_profile loads for a counter that is not there" \
	insmod kmod/kmmv_profile.ko source=pmu
not_ok "sampling does not start without a counter" start
like "error says that there is no counter" "$(cat $config/events/default/error)" \
	'this machine has no counter for it \(errno 2\)'
is "sampling is off without a counter" \
	"$(cat $config/enable) $(cat $config/source)" "0 none"
ok "everything unloads" unload
finish
