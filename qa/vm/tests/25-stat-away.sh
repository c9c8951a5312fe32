#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# needs: flexible
# machine: APPEND=cpu0_hotplug VENDOR=GenuineIntel
#
# CPUs that counted and went offline before the modules were loaded: their counts
# are there at once. One of them is the first CPU, which shows the totals. With both
# allocators.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/stat.sh
. qa/vm/stat.sh

cpus=/sys/devices/system/cpu
sides="fixed flexible"
[ -e build/flexible/kmod/kmmv.ko ] || bail "build/flexible is not there: qa/harness/flexible"

set_cpu()
{
	echo "$2" >$cpus/cpu"$1"/online
}

# proc_line LINE CPU: the count of /proc/interrupts in the CPU's column
proc_line()
{
	awk -v line="$1:" -v cpu="CPU$2" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == cpu) at = i + 1 }
		$1 == line { print at ? $at : "offline" }' /proc/interrupts
}

# ticks N: field N of the first line of /proc/stat, of all CPUs, offline or not
ticks()
{
	awk -v n="$1" '$1 == "cpu" { print $(n + 1) }' /proc/stat
}

away=1 others=0,2-3
if [ -e $cpus/cpu0/online ]; then
	away="0 1" others=2-3
else
	note "CPU 0 cannot be taken offline here"
fi
hz=$(getconf CLK_TCK)

for side in $sides; do
	kmod=kmod
	[ "$side" = fixed ] || kmod=build/flexible/kmod
	start_load
	# Load of all kinds, on each.
	for cpu in 0 1 2 3; do
		taskset -c $cpu find /sys/kernel -maxdepth 2 >/dev/null
	done
	for cpu in $away; do
		eval "loc_$cpu=$(proc_line "$timer_line" "$cpu")"
		set_cpu "$cpu" 0
	done
	is "$side: only CPUs $others are online" "$(cat $cpus/online)" "$others"
	declare -A ticks=([user]=$(ticks 1) [system]=$(ticks 3))
	ok "$side: the modules load" eval \
		"insmod $kmod/kmmv.ko && insmod $kmod/kmmv_stat.ko"
	ok "$side: values agree with /proc with CPUs offline" \
		$check bracket 5
	note "$tap_text"
	for cpu in $away; do
		eval "loc=\$loc_$cpu"
		now=$(value stat.irq "$timer_line" "$cpu")
		eval "loc_$cpu=$now"
		# shellcheck disable=SC2154 # by eval
		ok "$side: interrupts of CPU $cpu, offline, are there" \
			test "$now" -ge "$loc" -a "$now" -gt 0
	done
	for name in user system; do
		field=1
		[ $name = user ] || field=3
		sum=$(($(total stat.cpu $name) / (1000000000 / hz)))
		now=$(ticks "$field")
		note "$name: ${ticks[$name]} <= $sum <= $now"
		# The current tick may be included.
		ok "$side: the sum of $name is /proc's" \
			test $((sum + 1)) -ge "${ticks[$name]}" -a "$sum" -le "$now"
	done
	ok "$side: page faults have a total" test "$(total stat.vm pgfault)" -gt 0
	$check dump stat.softirq >"$WORK/before"
	$check watch 20 >"$WORK/watch" 2>&1 &
	watcher=$!
	for cpu in $away; do
		set_cpu "$cpu" 1
		low=$(eval "echo \$loc_$cpu")
		now=$(value stat.irq "$timer_line" "$cpu")
		high=$(proc_line "$timer_line" "$cpu")
		note "$timer_line of CPU $cpu: $low offline, $now back, /proc $high"
		ok "$side: CPU $cpu, back online, counts on" \
			test "$low" -le "$now" -a "$now" -le "$high"
	done
	# shellcheck disable=SC2086 # a list
	ok "$side: values agree with /proc with all CPUs back" $check bracket 5 $away
	set_cpu 1 0
	ok "$side: values agree with /proc with CPU 1 offline again" $check bracket 3 0
	set_cpu 1 1
	wait $watcher
	is "$side: no value falls while CPUs come and go" $? 0
	note "$(cat "$WORK/watch")"
	is "$side: no interrupt is left out" "$(total stat.failed irq)" 0
	stop_load
	ok "$side: the modules unload" unload
done
finish
