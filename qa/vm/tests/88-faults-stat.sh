#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# machine: SMP=2
#
# Each call of kmmv_stat that can fail fails, while it is loaded and when interrupts are
# new: loading says so, and a line is shown by a later copy.

# shellcheck disable=SC2317 # functions called by fail_each
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/stat.sh
. qa/vm/stat.sh
# shellcheck source=qa/vm/faults.sh
. qa/vm/faults.sh

faults_stat_end()
{
	[ ! -e /sys/module/kmmv_irqs ] || rmmod kmmv_irqs
	rmmod kmmv_stat 2>/dev/null
	faults_end
	unload
}
trap faults_stat_end EXIT

load_fault kmmv_stat
loaded()
{
	insmod kmod/kmmv_stat.ko
}
unloaded()
{
	rmmod kmmv_stat
}
fail_some "load" loaded unloaded
loaded || bail "kmmv_stat does not load"

# ---- lines that are new; the one before has another number

failures()
{
	$check dump stat.failed | awk '{ n += $3 + $4 } END { print n + 0 }'
}
# shellcheck disable=SC2317 # called by wait_for
all_are_there()
{
	[ "$($check dump stat.irq | grep -c ' active .* dummy[0-9]*$')" = "$nr" ]
}
before=$(failures)
new_line()
{
	nr=$try
	insmod qa/client/kmmv_irqs.ko nr="$nr" && wait_for 20 all_are_there
}
forgotten()
{
	rmmod kmmv_irqs
}
fail_each "a line is new" new_line forgotten never
# Numbers that the kernel did not have: those are the first call of the next copy.
new_numbers()
{
	nr=500
	insmod qa/client/kmmv_irqs.ko nr="$nr" && wait_for 20 all_are_there
}
fail_each "numbers are new" new_numbers forgotten never 1
ok "failures are counted" test "$(failures)" -gt "$before"
insmod qa/client/kmmv_irqs.ko nr=2
first=$(cat /sys/module/kmmv_irqs/parameters/first)
echo "hit 0 1 7" >/sys/module/kmmv_irqs/parameters/call
# shellcheck disable=SC2317 # called by wait_for
counted()
{
	$check dump stat.irq | grep -q "^$first active 0 7 dummy"
}
ok "a line counts after the faults" wait_for 20 counted

# shellcheck disable=SC2317 # called by wait_for
second_is()
{
	[ "$(state stat.irq $((first + 1)))" = "$1" ]
}
returns()
{
	echo "take 1" >/sys/module/kmmv_irqs/parameters/call && wait_for 20 second_is active
}
goes()
{
	echo "free 1" >/sys/module/kmmv_irqs/parameters/call && wait_for 20 second_is inactive
}
ok "the second line becomes inactive" goes
fail_each "the second line returns" returns goes never
rmmod kmmv_irqs
ok "kmmv_stat unloads" rmmod kmmv_stat
all_failed
ok "all modules unload" faults_stat_end
is "no module of kmmv is left" "$(grep -c ^kmmv /proc/modules)" 0
finish
