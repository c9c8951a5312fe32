#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# machine: SMP=2
#
# Each call of kmmv_trace that can fail fails once: while it is loaded, while a counter of
# each kind is made, enabled, hit and removed, and while the module of a tracepoint comes
# and goes. What is refused says so; what is enabled counts each hit.

# shellcheck disable=SC2317 # functions called by fail_each
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/trace.sh
. qa/vm/trace.sh
# shellcheck source=qa/vm/faults.sh
. qa/vm/faults.sh

counts_values || skip_all "machine: of 32 bits, it counts hits alone"

faults_trace_end()
{
	[ ! -d "$trace" ] || rmdir "$trace"/* 2>/dev/null
	rmmod kmmv_trace 2>/dev/null
	faults_end
	unload
}
trap faults_trace_end EXIT

load_fault kmmv_trace
insmod qa/client/kmmv_traced.ko || bail "no kmmv_traced"
loaded()
{
	insmod kmod/kmmv_trace.ko ring_pages=16
}
unloaded()
{
	rmmod kmmv_trace
}
fail_each "load" loaded unloaded
loaded || bail "kmmv_trace does not load"

# ---- counters; $try is fail_each()'s: each name is a new one, and its family is

# counter CALL ATTRIBUTE=TEXT...: it is made, counts 7 calls, and is removed
counter()
{
	local call=$1 name=$kind$try status

	shift
	define "$name" "$@"
	status=$?
	if [ "$status" -eq 0 ]; then
		hit "$call" 7 3 1
		[ "$(get "$name" hits)" = 7 ] || {
			echo "$name: $(get "$name" hits) hits of 7"
			status=1
		}
		put "$name" enable 0 || status=1
	fi
	[ ! -d "$trace/$name" ] || end "$name" || status=1
	return "$status"
}
a_tracepoint()
{
	counter tp tracepoint=kmmv_qa/kmmv_traced
}
a_function()
{
	counter one function=kmmv_traced_one
}
a_glob()
{
	counter two 'function=kmmv_traced_*'
}
a_sum()
{
	counter tp tracepoint=kmmv_traced value=number=arg1:8
}
a_histogram()
{
	counter tp tracepoint=kmmv_traced 'value=log2 number=arg1:8'
}
a_key()
{
	counter tp tracepoint=kmmv_traced key=number=arg1:8
}
an_event()
{
	counter tp tracepoint=kmmv_traced 'event=default number=arg1:8'
}
for kind in a_tracepoint a_function a_glob a_sum a_histogram a_key an_event; do
	fail_each "${kind//_/ }" $kind
done
# Where a function is not hooked, it is asked whether ftrace is dead: two calls in a row.
fail_times 2
kind=refused
for ((try = 1; try < 100; try++)); do
	echo $try >$fault/nth
	text=$(a_function 2>&1)
	where="$(cat $fault/nth) $(cat $fault/site)"
	echo 0 >$fault/nth
	[[ $where != "0 ftrace_set_filter_ip "@(kmmv_trace_function_hook|is_dead)+* ]] ||
		break
done
ok "two calls in a row fail when a function is refused" test $try -lt 100
like "a function that is not hooked is refused" "$text" "Cannot allocate memory"
echo "${where#* }" >>"$sites"
fail_times 1
is "no counter is left" "$(ls "$trace")" ""
is "no function is traced" "$(handlers)" 0

# ---- a module goes and comes back: what is not counted then says so

# returns NAME CALL: kmmv_traced comes back; then 5 calls are counted, or `error' says that
# they may not be
returns()
{
	local name=$1 call=$2 hits

	# So that the text is this time's.
	[ -z "$(get "$name" error)" ] || [ "$(get "$name" state)" != on ] ||
		again "$name" || return
	rmmod kmmv_traced && insmod qa/client/kmmv_traced.ko || return
	hits=$(get "$name" hits)
	hit "$call" 5
	[ "$(get "$name" hits)" -ne $((hits + 5)) ] || return 0
	[[ "$(get "$name" error)" == *"error -12"* ]] || {
		echo "$name is $(get "$name" state): '$(get "$name" error)'"
		return 1
	}
	# The text for fail_each(): it is refused.
	echo "Cannot allocate memory"
	return 1
}
again()
{
	put "$1" enable 0 && put "$1" enable 1
}
# recovers NAME CALL: the next load is without faults
recovers()
{
	is "$1: the next load is counted" "$(returns "$@" 2>&1)" ""
	is "$1: the counter is on without an error" \
		"$(get "$1" state) $(get "$1" error)" "on "
}
tracepoint_returns()
{
	returns back tp
}
function_returns()
{
	returns one one
}
glob_returns()
{
	returns glob two
}
ok "a counter of a module's tracepoint is enabled" \
	define back tracepoint=kmmv_qa/kmmv_traced
ok "a counter of a module's function is enabled" define one function=kmmv_traced_one
# Of two modules: when one goes, its functions are taken out of the filter.
ok "another module with functions loads" insmod qa/client/kmmv_traced2.ko
ok "a counter of a glob of both modules is enabled" \
	define glob 'function=kmmv*_traced_*'
fail_each "the module of a tracepoint comes back" tracepoint_returns
recovers back tp
fail_each "the module of a function comes back" function_returns
recovers one one
fail_each "the module of a glob comes back" glob_returns
recovers glob two

# Another module comes: whether what is counted is still there is not known without memory.
other_comes()
{
	insmod qa/client/kmmv_burn1.ko && rmmod kmmv_burn1 && [ "$(get kernel state)" = on ]
}
ok "a counter of a kernel's function is enabled" define kernel function=vfs_fsync
fail_each "another module comes" other_comes : never
end kernel

# What is behind arguments may be elsewhere when a module comes back.
# stale NAME VALUE: it is enabled, and its module goes and comes back, once more if `error'
# asks for it
stale()
{
	put "$1" enable 0 && put "$1" value "$2" && put "$1" enable 1 || return
	rmmod kmmv_traced && insmod qa/client/kmmv_traced.ko || return
	if [[ "$(get "$1" state) $(get "$1" error)" == "failed "*"load it again" ]]; then
		rmmod kmmv_traced && insmod qa/client/kmmv_traced.ko || return
	fi
	[ "$(get "$1" state)" = stale ] || {
		echo "$1 is $(get "$1" state): '$(get "$1" error)'"
		return 1
	}
}
tracepoint_stale()
{
	stale sum number=arg1:8
}
function_stale()
{
	stale last last=arg5:8
}
ok "a counter that sums a tracepoint's argument is enabled" \
	define sum tracepoint=kmmv_qa/kmmv_traced \
	value=number=arg1:8
ok "a counter that sums a function's argument is enabled" \
	define last function=kmmv_traced_two value=last=arg5:8
fail_each "a tracepoint's values are stale" tracepoint_stale
fail_each "a function's values are stale" function_stale

# Its key has no instance before the last copy. What that cannot show, a later one does.
ok "a counter with a key is enabled" \
	define keyed tracepoint=kmmv_qa/kmmv_traced "key=text=$object_text"
stopped()
{
	hit tp 1 1 0 0 "k$try" && put keyed enable 0 && wait_for 20 shown
}
# shellcheck disable=SC2317 # called by wait_for
shown()
{
	[ "$(values keyed | grep "^k$try ")" = "k$try 1" ]
}
# shellcheck disable=SC2317 # called by wait_for
shown_both()
{
	[ "$(values keyed | grep '^both ')" = "both 1" ]
}
started()
{
	put keyed enable 1
}
fail_each "the last copy" stopped started never
# Neither that nor the next start works, and what counted is shown.
started || bail "not enabled"
hit tp 1 1 0 0 both
echo 1 >$fault/nth
put keyed enable 0
echo 1 >$fault/nth
not_ok "a counter cannot be enabled without memory" started
ok "the last copy's rest is still shown" wait_for 20 shown_both
end keyed

looked()
{
	[ "$(values back | grep -c '^kmmv_traced ')" -eq 1 ]
}
fail_each "a copy is made" looked : none
end back one glob sum last

ok "kmmv_trace unloads" unloaded
all_failed
ok "all modules unload" faults_trace_end
is "no module of kmmv is left" "$(grep -c ^kmmv /proc/modules)" 0
finish
