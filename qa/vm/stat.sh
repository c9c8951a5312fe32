# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The common part of the tests of kmmv_stat: `. qa/vm/stat.sh`, after tap.sh.

check=build/qa/vm/stat-check
# This x86 kernel has all lines in an array, whose address modules know.
! grep -qs IRQ_COUNT_MCE_POLL \
	"/lib/modules/$KVER/source/arch/x86/include/asm/hardirq.h" ||
	export KMMV_IRQ_COUNTS=1
# The timer's interrupt, which each CPU counts. It has a number on arm64.
# shellcheck disable=SC2034 # for the tests
timer_line=LOC
# shellcheck disable=SC2034
[ "$(uname -m)" != aarch64 ] || timer_line=$(awk '$NF == "arch_timer" {
	sub(":", "", $1); print $1; exit }' /proc/interrupts)

load()
{
	insmod kmod/kmmv.ko && insmod kmod/kmmv_stat.ko "$@"
}

unload()
{
	local name

	for name in kmmv_stat kmmv; do
		[ ! -e /sys/module/$name ] || rmmod $name || return
	done
}

# Load on every CPU: forks, page faults, system calls, timers, packets.
start_load()
{
	(
		while :; do
			find /sys/kernel -maxdepth 2 >/dev/null
			dd if=/dev/zero of=/dev/null bs=4k count=2000 2>/dev/null
		done
	) &
	load_pids=$!
	busybox ping -q -i 0.01 127.0.0.1 >/dev/null &
	load_pids="$load_pids $!"
}

stop_load()
{
	# shellcheck disable=SC2086 # a list
	kill $load_pids 2>/dev/null
	# shellcheck disable=SC2086
	wait $load_pids 2>/dev/null
	load_pids=
}

# shellcheck disable=SC2317 # called by the trap
clean_up()
{
	stop_load
	unload
}
load_pids=
trap clean_up EXIT

# values FAMILY INSTANCE [AGE]: "active|inactive V0 V1 ... LABEL"
values()
{
	$check dump "$1" "${3:-0}" |
		awk -v name="$2" '$1 == name { $1 = ""; print substr($0, 2) }'
}

# value FAMILY INSTANCE CPU [AGE]
value()
{
	values "$1" "$2" "${4:-0}" | awk -v cpu="$3" '{ print $(cpu + 2) }'
}

# total FAMILY INSTANCE [AGE]
total()
{
	values "$1" "$2" "${3:-0}" | awk -v cpus="$(possible_cpus)" '
		{ for (i = 0; i < cpus; i++) sum += $(i + 2); print sum }'
}

possible_cpus()
{
	awk 'NR == 1 { print NF }' /proc/softirqs
}

state()
{
	values "$1" "$2" | awk '{ print $1 }'
}
