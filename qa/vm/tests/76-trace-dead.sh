#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# machine: SMP=2 APPEND=kmmv_qa=dead
# leaves: kmmv_trace, whose handlers ftrace calls for good
#
# The kernel's ftrace fails as a function is unhooked, until the next boot: it keeps
# calling what is hooked, and unhooks nothing. What is counted is counted on, and what is
# removed is kept.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/trace.sh
. qa/vm/trace.sh

counts_values || skip_all "machine: of 32 bits, it counts hits alone"
load ring_pages=16 || bail "does not load"
insmod qa/client/kmmv_traced.ko || bail "nothing to count"
insmod qa/client/kmmv_traced2.ko || bail "nothing else to count"
failed='the kernel.s ftrace has failed, error -19: what it calls is counted until the next boot'
not_counted='the kernel.s ftrace has failed, error -19: functions of modules that are loaded are not counted until the next boot'

# states NAME...: and what is wrong with each
states()
{
	local name

	for name; do
		echo "$name $(get "$name" state) $(get "$name" error)"
	done | sed 's/ $//'
}

# counts: the values of one and sum, and the hits of keys
counts()
{
	values one
	values sum
	values keys | awk '{ n += $2 } END { print n }'
}

ok "a function" define one function=kmmv_traced_one
ok "a glob, also of another module" define glob 'function=kmmv*_traced_*'
ok "a value" define sum function=kmmv_traced_two value=number=arg1:8
ok "keys, with events" define keys function=kmmv_traced_two key=number=arg1:8 \
	'event=default number=arg1:8'
ok "the other module's alone" define other function=kmmv2_traced_one
ok "a tracepoint" define tp tracepoint=kmmv_traced
ok "a function that is unhooked" define last function=kmmv_traced_three
hit one 5
hit two 3 7
is "they count" "$(counts)" "kmmv_traced_one 5
kmmv_traced_two 21
3"

insmod qa/client/kmmv_dead.ko || bail "ftrace does not fail"
refused last enable 0 "No such device" "$failed"
is "it is on" "$(get last state) $(get last enable)" "on 1"
hit one 5
hit two 3 7
is "all count on" "$(counts)" "kmmv_traced_one 10
kmmv_traced_two 42
6"
not_ok "no other is counted" define new function=kmmv_traced_one
like "which says why" "$(get new error)" "the kernel's ftrace is off, error -19"
end new

# ---- modules come and go

ok "a module that has nothing to do with it" insmod qa/client/kmmv_burn1.ko
ok "goes" rmmod kmmv_burn1
is "what is counted is not stale" "$(states one sum keys tp)" "one on
sum on
keys on
tp on"
ok "a module with functions that are counted goes" rmmod kmmv_traced2
is "the others are counted" "$(states glob other | cut -d' ' -f1,2)" "glob on
other failed"
ok "it comes back" insmod qa/client/kmmv_traced2.ko
is "its functions are not" "$(get other state)" failed
like "and that is said" "$(get other error)" "$not_counted"
like "of the glob, too" "$(get glob state) $(get glob error)" "on $not_counted"
hits=$(get other hits)
echo 3 >/sys/module/kmmv_traced2/parameters/call
is "it has no hit" "$(get other hits)" "$hits"
hit one 1
is "the glob counts the others" "$(values glob | grep '^kmmv_traced_one ')" \
	"kmmv_traced_one 11"

# ---- they cannot be disabled, and are kept

for name in one sum keys other; do
	refused $name enable 0 "No such device" "$failed"
done
is "they are on" "$(get one state) $(get sum state)" "on on"
is "as they are shown" "$(get one enable)$(get sum enable)" 11
is "and nothing can be changed" \
	"$(put sum value number=arg2:8 2>&1 | sed 's/.*: //')" \
	"Device or resource busy"
like "kmmvctl does not remove one" "$(build/kmmvctl remove one 2>&1)" "$failed"
hit one 5
hit two 3 7
is "they count" "$(counts)" "kmmv_traced_one 16
kmmv_traced_two 63
9"
is "so do their hits" "$(get one hits) $(get sum hits)" "16 9"
ok "their directories go" end one glob sum keys other last
hit one 5
hit two 3 7
is "and what is counted is shown" "$(counts)" "kmmv_traced_one 21
kmmv_traced_two 84
12"
is "and each as a hit" "$(stat_of hits one) $(stat_of hits sum)" "21 12"
like "their names stay theirs" "$(mkdir $trace/sum 2>&1)" "Device or resource busy"
like "which kmmvctl says" "$(build/kmmvctl add sum function=kmmv_traced_one 2>&1)" \
	'the removed counter sum continues to count'
like "so does the ring" "$(timeout 300 build/kmmvdump -R default -N 12 |
	tail -n 1)" 'trace.keys.* number=7'
ok "a tracepoint ends" put tp enable 0
ok "and goes" end tp
like "the module stays" "$(rmmod kmmv_trace 2>&1)" "in use"
ok "modules with functions go" rmmod kmmv_traced kmmv_traced2
# To the end of the list, where ftrace's trampolines are.
ok "addresses have names" test "$(grep -c kmmv_trace /proc/kallsyms)" -gt 0
finish
