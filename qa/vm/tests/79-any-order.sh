#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
#
# The sources are loaded and unloaded in any order, while disks, network devices and
# functions are busy, a reader looks, and a CPU goes offline and comes back: each order
# works, each source counts, and none leaves a probe or a handler.
#
# Four of the 24 orders are drawn, and a soak takes all. KMMV_ORDERS="3 17" takes these,
# KMMV_ORDERS=all does not need a soak.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/trace.sh
. qa/vm/trace.sh

cpu1=/sys/devices/system/cpu/cpu1/online
check=build/qa/vm/net-check
workers=

# shellcheck disable=SC2317 # called by the trap
clean_up()
{
	touch "$WORK/end"
	# shellcheck disable=SC2086 # a list
	[ -z "$workers" ] || wait $workers
	echo 1 >"$cpu1"
	[ ! -d "$trace" ] || rmdir "$trace"/* 2>/dev/null
	for name in kmmv_block kmmv_net; do
		[ ! -e "/sys/module/$name" ] || rmmod "$name"
	done
	unload
	modprobe -r null_blk
}
trap clean_up EXIT

# shellcheck disable=SC2317 # called by start
until_end()
{
	while [ ! -e "$WORK/end" ]; do
		"$@" >"$WORK/$1.said" 2>&1 || {
			echo "$*: status $?: $(tail -n 1 "$WORK/$1.said")" \
				>>"$WORK/stopped"
			return
		}
	done
}

# start COMMAND...: again and again, until the end; it has to succeed each time
start()
{
	until_end "$@" &
	workers="$workers $!"
}

# shellcheck disable=SC2317 # called by start
disk()
{
	dd if=/dev/zero of=/dev/nullb0 bs=16k count=50 oflag=direct &&
		dd if=/dev/nullb0 of=/dev/null bs=4k count=50
}

# shellcheck disable=SC2317 # called by start
packets()
{
	$check send lo 100 100
}

# shellcheck disable=SC2317 # called by start
hotplug()
{
	echo 0 >"$cpu1" && echo 1 >"$cpu1"
}

# shellcheck disable=SC2317 # called by start
sample()
{
	local said

	# It gives up while a CPU that changes the table is kept from going on.
	said=$(build/kmmvdump -r 0 2>&1 >/dev/null) || {
		echo "$said"
		[[ $said = *"try again" ]]
	}
}

# shellcheck disable=SC2317 # called by start
calls()
{
	hit tp 500 1 1 && hit one 500 1 1
}

# orders WORD...: each order of the words, one a line
orders()
{
	local word other rest

	if [ $# -eq 1 ]; then
		echo "$1"
		return
	fi
	for word; do
		rest=()
		for other; do
			[ "$other" = "$word" ] || rest+=("$other")
		done
		orders "${rest[@]}" | sed "s/^/$word /"
	done
}

# load_one SOURCE: with counters, if it is kmmv_trace
load_one()
{
	insmod "kmod/kmmv_$1.ko" || return
	[ "$1" = trace ] || return 0
	define_most switch tracepoint=sched_switch 'key=prev=arg1:8x' &&
		define_most tp tracepoint=kmmv_traced value=number=arg1:8 &&
		define fn 'function=kmmv_traced_*' &&
		define_most read function=vfs_read 'value=log2 count=arg2:8'
}

unload_one()
{
	[ "$1" != trace ] || end switch tp fn read || return
	rmmod "kmmv_$1"
}

# counts: "NAME COUNT" of one count of each source
counts()
{
	build/kmmvdump -r 0 | sed -n \
		's/^\(block.dev.write\["nullb0"]\|net.out.packets\["lo"]\) \([0-9]*\).*/\1 \2/p
		s/^\(stat.softirq\["TIMER"]\|trace.tp\["kmmv_traced"]\) \([0-9]*\).*/\1 \2/p' |
		LC_ALL=C sort
}

# has_counts: they can be read
# shellcheck disable=SC2317 # called by wait_for
has_counts()
{
	counts >"$WORK/was"
	[ -s "$WORK/was" ]
}

# grown: whether each of them has been counted since
# shellcheck disable=SC2317 # called by wait_for
grown()
{
	counts >"$WORK/now"
	[ "$(awk 'NR == FNR { was[$1] = $2; next } $2 > was[$1]' \
		"$WORK/was" "$WORK/now" | wc -l)" = 4 ]
}

insmod qa/client/kmmv_probes.ko || bail "kmmv_probes does not load"
modprobe null_blk nr_devices=1 || bail "no null_blk"
insmod kmod/kmmv.ko || bail "does not load"
insmod qa/client/kmmv_traced.ko || bail "nothing to count"
probes=$(probes)
mapfile -t order < <(orders block net trace stat)
is "there are 24 orders" "$(printf '%s\n' "${order[@]}" | sort -u | wc -l)" 24
chosen=${KMMV_ORDERS:-$(shuf -i 0-23 -n 4 | xargs)}
[ "${KMMV_SOAK:-0}" = 0 ] || chosen=all
note "KMMV_ORDERS='$chosen' takes the same ones"
[ "$chosen" != all ] || chosen=$(seq -s ' ' 0 23)
: >"$WORK/stopped"
start disk
start packets
start hotplug
start sample
start calls
for i in $chosen; do
	begin=$SECONDS failed=
	for name in ${order[i]}; do
		load_one "$name" || failed="$failed $name"
	done
	ok "${order[i]}: there are probes" test "$(probes)" != "$probes"
	wait_for 20 has_counts
	ok "${order[i]}: each source counts" \
		wait_for 20 grown || note "$(cat "$WORK/was" "$WORK/now")"
	# 7 has no divisor with 24: each order is also one of an unload.
	for name in ${order[(i * 7 + 5) % ${#order[@]}]}; do
		unload_one "$name" || failed="$failed -$name"
	done
	is "${order[i]}: each source loads and unloads" "$failed" ""
	is "${order[i]}: no probe is left" "$(probes) $(handlers)" "$probes 0"
	note "order $i: $((SECONDS - begin)) s"
done
touch "$WORK/end"
# shellcheck disable=SC2086 # a list
wait $workers
workers=
is "no work in the background has stopped" "$(cat "$WORK/stopped")" ""
ok "the modules unload" unload
finish
