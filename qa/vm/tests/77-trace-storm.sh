#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# timeout: 7200
#
# Tracepoints and functions are hit on all CPUs, which go offline and come back, while
# counters are made and removed, their module is loaded and unloaded, and readers
# watch: no value falls, no name has another one's count, and no hit is lost.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/trace.sh
. qa/vm/trace.sh

cpu1=/sys/devices/system/cpu/cpu1/online
rounds=15
# A kernel with checks takes ten times as long; it looks for faults in each of them.
[ ! -e /sys/kernel/debug/kmemleak ] && [ ! -e /sys/kernel/debug/kcsan ] || rounds=2
[ "${KMMV_SOAK:-0}" = 0 ] || rounds=300
workers=

# shellcheck disable=SC2317 # called by the trap
clean_up()
{
	touch "$WORK/end"
	# shellcheck disable=SC2086 # a list
	[ -z "$workers" ] || wait $workers
	echo 1 >$cpu1
	rm -f "$WORK/end"
	unload
}
trap clean_up EXIT

until_end()
{
	while [ ! -e "$WORK/end" ]; do
		"$@" || return
	done >/dev/null 2>&1
}

# start COMMAND...: again and again, until stop
start()
{
	until_end "$@" &
	workers="$workers $!"
}

stop()
{
	touch "$WORK/end"
	# shellcheck disable=SC2086 # a list
	wait $workers
	workers=
	rm -f "$WORK/end"
}

# shellcheck disable=SC2317 # called by start
hotplug()
{
	echo 0 >$cpu1
	echo 1 >$cpu1
}

# shellcheck disable=SC2317 # called by start
storm()
{
	hit tp 2000 1 1 0 "$1"
	hit one 500 1 1
	hit two 500 1 1
}

# shellcheck disable=SC2317 # called by start
flicker()
{
	define_most flicker tracepoint=kmmv_traced value=number=arg1:8 && end flicker
}

# watch: "NAME VALUE" of all counters that are to stay; a value that falls is told
# shellcheck disable=SC2317 # called by start
watch()
{
	build/kmmvdump -r 0 -a | grep -E '^trace\.(stay|stat)' |
		sed 's/^\(.*"\]\) \([0-9]*\).*/\2 \1/' >"$WORK/now"
	if [ -e "$WORK/before" ]; then
		awk 'NR == FNR { was[substr($0, index($0, " "))] = $1; next }
			$1 < was[substr($0, index($0, " "))] {
				print was[substr($0, index($0, " "))] " -> " $0
			}' "$WORK/before" "$WORK/now" >>"$WORK/fell"
	fi
	mv "$WORK/now" "$WORK/before"
	echo >>"$WORK/watched"
}

load ring_pages=16 || bail "does not load"
insmod qa/client/kmmv_traced.ko || bail "nothing to count"

# ---- counts, with hotplug and readers

stay="tp fn"
define stay.tp tracepoint=kmmv_traced
define stay.fn 'function=kmmv_traced_*'
if counts_values; then
	stay="tp fn sum log key event last"
	define stay.sum tracepoint=kmmv_traced value=number=arg1:8
	define stay.log tracepoint=kmmv_traced 'value=log2 number=arg1:8'
	define stay.key tracepoint=kmmv_traced "key=text=$object_text"
	define stay.event tracepoint=kmmv_traced 'event=default number=arg1:8'
	define stay.last function=kmmv_traced_two value=last=arg5:8
fi
: >"$WORK/fell"
start hotplug
start watch
start flicker
# It has looked before the first hits, and looks again.
wait_for 60 test -s "$WORK/watched"
for ((i = 0; i < rounds; i++)); do
	pids=
	for name in a b c d; do
		storm $name &
		pids="$pids $!"
	done
	mkdir $trace/more
	put more tracepoint sched/sched_switch
	put more enable 1
	# shellcheck disable=SC2086 # a list
	wait $pids
	put more enable 0
	end more
	# Rounds are slow in a busy machine, and silence ends it.
	note "round $i of hits"
done
stop
is "no value falls" "$(cat "$WORK/fell")" ""
ok "values are watched, rounds: $(wc -l <"$WORK/watched")" test -s "$WORK/watched"
hits=$((4 * rounds * 2000))
calls=$((4 * rounds * 500))
is "every hit is counted" "$(values stay.tp)" "kmmv_traced $hits"
is "every call is counted" "$(values stay.fn | xargs)" \
	"kmmv_traced_one $calls kmmv_traced_two $calls"
all="$hits $((2 * calls))"
if counts_values; then
	is "every hit is added up" "$(values stay.sum)" \
		"kmmv_traced $((4 * rounds * 2000 * 2001 / 2))"
	is "every hit has a bucket" \
		"$(values stay.log | awk '{ n += $2 } END { print n }')" \
		$hits
	is "every hit of 1024 and more is in the bucket of 1024" \
		"$(values stay.log | sort -n | tail -n 1)" \
		"1024 $((4 * rounds * 977))"
	is "every hit has a key" "$(values stay.key | xargs)" \
		"a $((hits / 4)) b $((hits / 4)) c $((hits / 4)) d $((hits / 4))"
	is "every hit with an event is counted" \
		"$(values stay.event)" "kmmv_traced $hits"
	is "every call has its value added up" "$(values stay.last)" \
		"kmmv_traced_two $((4 * rounds * 500 * 501 / 2))"
	all="$all $hits $hits $hits $hits $calls"
fi
is "every counter has its hits" \
	"$(for name in $stay; do get "stay.$name" hits; done | xargs)" "$all"
for name in $stay; do
	end "stay.$name"
done

# ---- the module comes and goes

# shellcheck disable=SC2317 # called by start
strike()
{
	storm x || :
}

# shellcheck disable=SC2317 # called by start
sample()
{
	build/kmmvdump -r 0
}

# shellcheck disable=SC2317 # called by start
makes()
{
	mkdir $trace/made
	rmdir $trace/made
	:
}

start strike
start strike
start hotplug
start sample
start makes
failed=
for ((i = 0; i < rounds; i++)); do
	define a tracepoint=kmmv_traced || failed="$failed define"
	define_most b tracepoint=sched_switch 'key=prev=arg1:8x' || failed="$failed b"
	define c 'function=kmmv_traced_*' || failed="$failed c"
	define_most d function=vfs_read 'value=log2 count=arg2:8' \
		'event=default count=arg2:8' || failed="$failed d"
	end a b c d || failed="$failed end"
	# The directory that is made meanwhile holds it.
	wait_for 20 rmmod kmmv_trace 2>/dev/null || {
		failed="$failed rmmod: $(cat /sys/module/kmmv_trace/refcnt) references"
		break
	}
	insmod kmod/kmmv_trace.ko || failed="$failed insmod"
	note "round $i of loads"
done
is "kmmv_trace loads and unloads under load" "$failed" ""
for ((i = 0; i < rounds; i++)); do
	define a tracepoint=kmmv_qa/kmmv_traced || failed="$failed define"
	# Its parameter is in use while a loop hits.
	until rmmod kmmv_traced 2>/dev/null; do :; done
	insmod qa/client/kmmv_traced.ko || failed="$failed traced"
	[ "$(get a state)" = on ] || failed="$failed $(get a state)"
	end a || failed="$failed end"
	note "round $i of another module's loads"
done
is "a module with what is counted loads and unloads under load" "$failed" ""
stop
is "no function is traced" "$(handlers)" 0
ok "the modules unload" unload
finish
