#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Statctrs: a storm in three contexts with CPU hotplug, after which every total is
# exact; names, which keep their counts; and no memory is left.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/client/client.sh
. qa/client/client.sh

modules=${KMMV_MODULES:-.}
parameters=/sys/module/kmmv_statctr/parameters
updates=${UPDATES:-8000}

percpu_kb()
{
	awk '/^Percpu:/ { print $2 }' /proc/meminfo
}

# Memory is given back, and some had ready, by a worker that may be late: wait until it
# stays what it is.
settled()
{
	local last='' now i=0

	while [ $i -lt 5 ]; do
		now=$(percpu_kb)
		i=$((i + 1))
		[ "$now" = "$last" ] || i=0
		last=$now
		sleep 1
	done
	echo "$now"
}

# shellcheck disable=SC2317 # called by wait_for
none_left()
{
	after=$(percpu_kb)
	[ "$after" -le "$before" ]
}

hotplug()
{
	while [ ! -e /tmp/storm-over ]; do
		for cpu in 1 2; do
			echo 0 >/sys/devices/system/cpu/cpu$cpu/online
			sleep 0.1
			echo 1 >/sys/devices/system/cpu/cpu$cpu/online
		done
	done
}

value()
{
	build/kmmvdump -a -f "$1" | sed -n "s/^$1\\[\"$2\"\\] \([0-9]*\).*/\1/p"
}

unload
insmod "$modules/kmod/kmmv.ko"
rmmod kmmv
before=$(settled)
ok "kmmv loads" insmod "$modules/kmod/kmmv.ko"
note "$(modinfo -F parm "$modules/kmod/kmmv.ko" | wc -l) parameters, $modules"

rm -f /tmp/storm-over
hotplug 2>/dev/null &
ok "all totals are exact" insmod "$modules/qa/client/kmmv_statctr.ko" \
	updates="$updates" named=1
touch /tmp/storm-over
wait
note "$(dmesg | grep 'kmmv_statctr:' | tail -n 3)"
ok "the paper's own increment loses some updates" test "$(cat $parameters/lost)" -gt 0
is "no read falls" "$(cat $parameters/read_fell)" 0

# Their values in PCP: the agent as a DSO, without pmcd.
pcp()
{
	(
		# shellcheck disable=SC2034 # no daemon: see qa/agent/link
		impatient=yes
		# shellcheck source=qa/agent/env
		. qa/agent/env
		export KMMV_DEVICE_DIR=/dev/kmmv
		values "$1"
	)
}

is "a named level is there" "$(value statctr.level level)" 41
is "a named count is there" "$(value counter statctr:count)" 101
is "a named level is in PCP" "$(pcp kmmv.value.statctr.level)" "level 41"
is "a named count is in PCP" "$(pcp kmmv.value.counter)" "statctr:count 101"
ok "the module with the names unloads" rmmod kmmv_statctr
is "an inactive count leaves PCP" "$(pcp kmmv.value.counter)" none
like "the name of a count is inactive without its module" \
	"$(names)" 'state=inactive name=statctr:count$'
is "an inactive count stays" "$(value counter statctr:count)" 101
ok "the module with the names loads again" insmod "$modules/qa/client/kmmv_statctr.ko" \
	updates=0 named=1
is "a named count goes on after a load" "$(value counter statctr:count)" 102
is "a named count goes on in PCP after a load" \
	"$(pcp kmmv.value.counter)" "statctr:count 102"
is "a named level is as set after a load" "$(value statctr.level level)" 41
not_ok "kmmv does not unload while kmmv_statctr is loaded" rmmod kmmv
ok "kmmv_statctr unloads" rmmod kmmv_statctr
ok "kmmv unloads" rmmod kmmv
wait_for 20 none_left
ok "no per-CPU memory is left over ($before, $after kB)" \
	test "$after" -le "$before"
finish
