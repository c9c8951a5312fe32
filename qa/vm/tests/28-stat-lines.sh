#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
#
# What a copy leaves out is nothing that has changed: interrupts that are new,
# that have another name at the same place, another life or no total; on any CPU,
# while others are counted.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/stat.sh
. qa/vm/stat.sh

call=/sys/module/kmmv_irqs/parameters/call

# shellcheck disable=SC2317 # called by the trap
clean_up()
{
	touch "$WORK/stop"
	wait
	unload
	[ ! -e /sys/module/kmmv_irqs ] || rmmod kmmv_irqs
}

irqs()
{
	echo "$*" >$call
}

insert()
{
	insmod qa/client/kmmv_irqs.ko "$@" || bail "kmmv_irqs is not there"
	first=$(cat /sys/module/kmmv_irqs/parameters/first)
}

label()
{
	values stat.irq "$1" | awk '{ print $NF }'
}

ok "the modules load" load
$check dump stat.irq >/dev/null
insert nr=40
sleep 1
is "after a second the next copy has all new lines" \
	"$($check dump stat.irq | grep -c ' dummy[0-9]*$')" 40
for ((line = 0; line < 40; line++)); do
	irqs hit $line $((line % 4)) $((line + 1))
done
$check dump stat.irq >"$WORK/hit"
is "hits on each CPU are counted" "$(awk -v first="$first" '$NF ~ /^dummy/ {
		line = $1 - first
		for (cpu = 0; cpu < 4; cpu++)
			if ($(cpu + 3) != (cpu == line % 4 ? line + 1 : 0))
				print
	}' "$WORK/hit")" ""
for i in 1 2 3; do
	irqs hit 7 0 1
	irqs hit 7 2 1
	is "hits on two CPUs at once are both counted ($i)" \
		"$(values stat.irq $((first + 7)) | awk '{ print $2, $3, $4, $5 }')" \
		"$i 0 $i 8"
done

irqs name 3 dumm33
is "a name of the same length at the same place is shown" \
	"$(label $((first + 3)))" dumm33
irqs name 3 dumm3
is "a shorter name at the same place is shown" "$(label $((first + 3)))" dumm3
irqs name 3 dumm3-and-more
is "a longer name at the same place is shown" "$(label $((first + 3)))" dumm3-and-more
before=$(total stat.irq $((first + 3)))
irqs free 3
# Newer kernels' /proc shows no such line, others show that it has counted.
shown=inactive label=dumm3-and-more
! grep -q "^ *$((first + 3)):" /proc/interrupts || shown=active label=-
is "an interrupt without an action is there if /proc has it" \
	"$(state stat.irq $((first + 3)))" $shown
is "an interrupt that /proc has without an action has no label" \
	"$(label $((first + 3)))" $label
is "an interrupt without an action keeps its count" \
	"$(total stat.irq $((first + 3)))" "$before"
ok "values agree with /proc while an interrupt has no action" $check bracket 1
irqs take 3
is "an interrupt taken again has its label back" \
	"$(label $((first + 3)))" dumm3-and-more
is "an interrupt taken again keeps its count" \
	"$(total stat.irq $((first + 3)))" "$before"
ok "values agree with /proc after an interrupt is taken again" $check bracket 3
note "$tap_text"

# The same number, name and often address; counts begin at 0.
renewed=$(total stat.work renewed)
for i in 1 2 3 4 5; do
	irqs renew 5
	irqs hit 5 1 6
	is "life $i of an interrupt adds to those before" \
		"$(total stat.irq $((first + 5)))" $((6 + i * 6))
done
irqs hit 5 1 1
irqs renew 5
is "the last count of a life is not lost" "$(total stat.irq $((first + 5)))" 37
is "lives of interrupts that are renewed are counted" \
	$(($(total stat.work renewed) - renewed)) 6

# Hits, while the others are watched; not line 5, of which /proc has one life.
# shellcheck disable=SC2317 # called below
storm()
{
	while [ ! -e "$WORK/stop" ]; do
		irqs hit $((RANDOM % 5)) $((RANDOM % 4)) $((RANDOM % 9))
		irqs hit $((6 + RANDOM % 34)) $((RANDOM % 4)) $((RANDOM % 9))
	done
}
rmmod kmmv_stat
ok "kmmv_stat loads again" insmod kmod/kmmv_stat.ko
rmmod kmmv_irqs
insert nr=40
storm &
other=$!
rmmod kmmv_stat kmmv
ok "the modules load while interrupts are hit" load
rounds=20
[ "${KMMV_SOAK:-0}" = 0 ] || rounds=1000
ok "each value is between /proc before and after, during hits" $check bracket $rounds
note "$tap_text"
ok "no value falls while interrupts are hit" $check watch 3
touch "$WORK/stop"
wait $other
ok "values agree with /proc after the hits" $check bracket 2
is "no count of an interrupt goes back" "$(total stat.resets irq)" 0
ok "the modules unload after the hits" unload
rmmod kmmv_irqs

# The kernel keeps no total of these: it stands at 0.
insert nr=6 per_cpu=1
ok "the modules load with lines without a total" load
irqs hit 0 1 5
irqs hit 5 3 1
is "a line without a total is read" "$(total stat.irq "$first")" 5
irqs hit 0 1 5
irqs hit 0 2 5
is "a line without a total is read again" "$(total stat.irq "$first")" 15
ok "values agree with /proc with lines without a total" $check bracket 3
ok "the modules unload with lines without a total" unload
rmmod kmmv_irqs

# Nor of these, which only their handler tells; one has counted before.
insert nr=6 untotalled=1
irqs hit 3 1 1
ok "the modules load with handlers that keep no total" load
$check dump stat.irq >/dev/null
irqs hit 0 1 5
is "a line whose handler keeps no total is read" "$(total stat.irq "$first")" 5
irqs hit 0 2 5
is "a line whose handler keeps no total is read again" "$(total stat.irq "$first")" 10
irqs hide 3
is "a hidden line is inactive" "$(state stat.irq $((first + 3)))" inactive
is "a hidden line keeps its count" "$(total stat.irq $((first + 3)))" 1
# From 7.2 on, /proc does not read the CPUs' counts of a line whose total is 0.
proc=$(awk -v line="$first:" '$1 == line { print $3 }' /proc/interrupts)
if [ "$proc" = 0 ]; then
	skip "values agree with /proc with handlers that keep no total" \
		"machine: its /proc has 0 for a line without a total"
else
	ok "values agree with /proc with handlers that keep no total" $check bracket 1
fi
irqs renew 0
irqs hit 0 1 2
is "the second life of a line without a total is counted" \
	"$(total stat.irq "$first")" 12
irqs hit 0 3 2
is "the second life of a line is counted on another CPU" "$(total stat.irq "$first")" 14
ok "the modules unload with handlers that keep no total" unload
rmmod kmmv_irqs

# Counts wrap, and so does their sum.
insert nr=2 start=4294967290
ok "the modules load with a count about to wrap" load
is "a count about to wrap is the kernel's" "$(total stat.irq "$first")" 4294967290
irqs hit 0 0 20
irqs hit 0 1 3
is "a count goes on where the kernel's and its total wrap" \
	"$(total stat.irq "$first")" 4294967313
irqs hit 0 1 3
is "a count goes on after the kernel's has wrapped" \
	"$(total stat.irq "$first")" 4294967316
ok "the modules unload with a count that has wrapped" unload
rmmod kmmv_irqs
finish
