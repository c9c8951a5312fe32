#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
#
# CPUs go and come under load: no value falls, and each stays with its CPU. PCP's
# linux agent is compared, which goes by the position of columns.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/stat.sh
. qa/vm/stat.sh

cpus=/sys/devices/system/cpu

set_cpu()
{
	echo "$2" >$cpus/cpu"$1"/online
}

# The linux agent's values, "NAME::cpuN VALUE" lines.
pcp_interrupts()
{
	mkdir -p "$WORK/pmns"
	printf '%s\n' 'root {' kernel '}' 'kernel {' percpu '}' \
		'kernel.percpu {' 'interrupts 60:4:1' '}' >"$WORK/pmns/root"
	pminfo -L -n "$WORK/pmns/root" -f kernel.percpu.interrupts |
		sed -n 's/.*or "\(.*\)"\] value \(.*\)/\1 \2/p'
}

# proc_interrupts LINE CPU: the count in the CPU's column
proc_interrupts()
{
	awk -v line="$1:" -v cpu="CPU$2" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == cpu) at = i + 1 }
		$1 == line { print at ? $at : "offline" }' "$WORK/proc"
}

# Some lines on every CPU: kmmv before and after PCP's reading, PCP, and /proc.
side_by_side()
{
	local line cpu name before proc pcp

	$check dump stat.irq >"$WORK/side1"
	cp /proc/interrupts "$WORK/proc"
	pcp_interrupts >"$WORK/pcp"
	$check dump stat.irq >"$WORK/side2"
	printf '%-5s %3s %16s %10s %16s\n' line CPU "kmmv" "PCP agent" /proc
	for line in "$timer_line" RES CAL; do
		for ((cpu = 0; cpu < $(possible_cpus); cpu++)); do
			name="$line::cpu$cpu"
			before=$(awk -v n="$line" -v at=$((cpu + 3)) \
				'$1 == n { print $at }' "$WORK/side1")
			proc=$(proc_interrupts "$line" $cpu)
			pcp=$(awk -v n="$name" '$1 == n { print $2 }' "$WORK/pcp")
			printf '%-5s %3d %16s %10s %16s\n' "$line" "$cpu" \
				"$before..$(awk -v n="$line" -v at=$((cpu + 3)) \
				'$1 == n { print $at }' "$WORK/side2")" \
				"${pcp:-none}" "$proc"
		done
	done
}

ok "the modules load" load
start_load
ok "values agree with /proc before hotplug" $check bracket 5

$check dump stat.cpu >"$WORK/before"
set_cpu 1 0
note "CPU 1 is offline"
note "$(side_by_side)"
ok "values agree with /proc with CPU 1 offline" $check bracket 10
note "$tap_text"
$check dump stat.cpu >"$WORK/off1"
$check dump stat.irq >"$WORK/irq1"
sleep 2
$check dump stat.cpu >"$WORK/off2"
$check dump stat.irq >"$WORK/irq2"
is "times of an offline CPU stand" "$(awk '{ print $1, $4 }' "$WORK/off2")" \
	"$(awk '{ print $1, $4 }' "$WORK/off1")"
is "interrupts of an offline CPU stand" \
	"$(awk '{ print $1, $4 }' "$WORK/irq2")" \
	"$(awk '{ print $1, $4 }' "$WORK/irq1")"
not_ok "interrupts of other CPUs do not stand" cmp -s "$WORK/irq1" "$WORK/irq2"
idle_off=$(awk '$1 == "idle" { print $4 }' "$WORK/off2")
off=$(value stat.copied monotonic 0)
set_cpu 1 1
ok "values agree with /proc with CPU 1 back" $check bracket 10 1
idle_on=$(value stat.cpu idle 1)
on=$(value stat.copied monotonic 0)
note "idle of CPU 1: $idle_off offline, $idle_on back, $((on - off)) ns later"
note "/proc/stat: $(grep 'cpu1 ' /proc/stat)"
ok "the time that CPU 1 is offline is not idle time" \
	test $((idle_on - idle_off)) -le $((on - off))

$check watch 20 "$WORK/often-enough" >"$WORK/watch" 2>&1 &
watcher=$!
times=0
while kill -0 $watcher 2>/dev/null; do
	cpu=$((times % 3 + 1))
	set_cpu $cpu 0
	sleep 0.3
	set_cpu $cpu 1
	times=$((times + 1))
	[ $times -lt 12 ] || touch "$WORK/often-enough"
done
wait $watcher
is "no value falls while CPUs go and come" $? 0
note "$times times; $(cat "$WORK/watch")"
ok "CPUs go and come at least 12 times" test $times -ge 12
ok "values agree with /proc after hotplug" $check bracket 10 1 2 3
note "went back: $($check dump stat.resets | awk '{ print $1, $3 }' | xargs)"
stop_load

# CPUs that are offline while no reader is active.
set_cpu 2 0
$check dump stat.cpu >"$WORK/before"
ok "kmmv_stat unloads with a CPU offline" rmmod kmmv_stat
set_cpu 3 0
sleep 2
set_cpu 3 1
ok "kmmv_stat loads with a CPU offline" insmod kmod/kmmv_stat.ko
ok "values agree with /proc after a load with a CPU offline" $check bracket 3 1 2 3
$check dump stat.cpu >"$WORK/after"
is "idle times of an offline CPU stand across a load" \
	"$(awk '/^(idle|iowait)/ { print $1, $5 }' "$WORK/after")" \
	"$(awk '/^(idle|iowait)/ { print $1, $5 }' "$WORK/before")"
is "no CPU time falls across a load" "$(awk '
	NR == FNR { for (i = 3; i < NF; i++) was[$1, i] = $i; next }
	{ for (i = 3; i < NF; i++) if ($i < was[$1, i]) print $1, i }' \
	"$WORK/before" "$WORK/after")" ""
set_cpu 2 1
ok "values agree with /proc with CPU 2 back" $check bracket 3 1 2 3
ok "no value falls with CPU 2 back" $check watch 2
ok "the modules unload" unload
finish
