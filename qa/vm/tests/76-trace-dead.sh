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

ok "a counter of a function is enabled" define one function=kmmv_traced_one
ok "a counter of a glob, also of another module, is enabled" \
	define glob 'function=kmmv*_traced_*'
ok "a counter of a value is enabled" \
	define sum function=kmmv_traced_two value=number=arg1:8
ok "a counter of keys with events is enabled" \
	define keys function=kmmv_traced_two key=number=arg1:8 \
	'event=default number=arg1:8'
ok "a counter of the other module alone is enabled" \
	define other function=kmmv2_traced_one
ok "a counter of a tracepoint is enabled" define tp tracepoint=kmmv_traced
ok "a counter of a function that is unhooked is enabled" \
	define last function=kmmv_traced_three
hit one 5
hit two 3 7
is "functions, values and keys are counted" "$(counts)" "kmmv_traced_one 5
kmmv_traced_two 21
3"

insmod qa/client/kmmv_dead.ko || bail "ftrace does not fail"
refused last enable 0 "No such device" "$failed"
is "a counter that cannot be disabled is on" \
	"$(get last state) $(get last enable)" "on 1"
hit one 5
hit two 3 7
is "counters count on when ftrace has failed" "$(counts)" "kmmv_traced_one 10
kmmv_traced_two 42
6"
not_ok "no other counter is enabled when ftrace has failed" \
	define new function=kmmv_traced_one
like "error says why no other counter is enabled" \
	"$(get new error)" "the kernel's ftrace is off, error -19"
end new

# ---- modules come and go

ok "a module without functions that are counted loads" insmod qa/client/kmmv_burn1.ko
ok "a module without functions that are counted unloads" rmmod kmmv_burn1
is "counters are on, not stale, after another module has gone" \
	"$(states one sum keys tp)" "one on
sum on
keys on
tp on"
ok "a module with functions that are counted unloads" rmmod kmmv_traced2
is "the glob is on and the other module's counter failed" \
	"$(states glob other | cut -d' ' -f1,2)" "glob on
other failed"
ok "a module with functions that are counted loads again" \
	insmod qa/client/kmmv_traced2.ko
is "the counter of the module that came back is failed" "$(get other state)" failed
like "error says that functions of the module are not counted" \
	"$(get other error)" "$not_counted"
like "the glob is on with an error for the module's functions" \
	"$(get glob state) $(get glob error)" "on $not_counted"
hits=$(get other hits)
echo 3 >/sys/module/kmmv_traced2/parameters/call
is "the counter of the module that came back has no hit" "$(get other hits)" "$hits"
hit one 1
is "the glob counts functions of the first module" \
	"$(values glob | grep '^kmmv_traced_one ')" \
	"kmmv_traced_one 11"

# ---- they cannot be disabled, and are kept

for name in one sum keys other; do
	refused $name enable 0 "No such device" "$failed"
done
is "counters that cannot be disabled are on" "$(get one state) $(get sum state)" "on on"
is "enable is 1 in counters that cannot be disabled" \
	"$(get one enable)$(get sum enable)" 11
is "attributes of a counter that is on cannot be changed" \
	"$(put sum value number=arg2:8 2>&1 | sed 's/.*: //')" \
	"Device or resource busy"
like "kmmvctl remove says that ftrace has failed" \
	"$(build/kmmvctl remove one 2>&1)" "$failed"
hit one 5
hit two 3 7
is "counters that cannot be disabled count" "$(counts)" "kmmv_traced_one 16
kmmv_traced_two 63
9"
is "counters that cannot be disabled count their hits" \
	"$(get one hits) $(get sum hits)" "16 9"
ok "directories of counters that are on can be removed" end one glob sum keys other last
hit one 5
hit two 3 7
is "counters that are removed are shown and count" "$(counts)" "kmmv_traced_one 21
kmmv_traced_two 84
12"
is "counters that are removed count their hits" \
	"$(stat_of hits one) $(stat_of hits sum)" "21 12"
like "the name of a counter that is removed cannot be used" \
	"$(mkdir $trace/sum 2>&1)" "Device or resource busy"
like "kmmvctl add says that a removed counter continues to count" \
	"$(build/kmmvctl add sum function=kmmv_traced_one 2>&1)" \
	'the removed counter sum continues to count'
like "the ring has events of a counter that is removed" \
	"$(timeout 300 build/kmmvdump -R default -N 12 |
	tail -n 1)" 'trace.keys.* number=7'
ok "a counter of a tracepoint can be disabled" put tp enable 0
ok "a counter of a tracepoint can be removed" end tp
like "kmmv_trace does not unload" "$(rmmod kmmv_trace 2>&1)" "in use"
ok "modules with functions that are counted unload" rmmod kmmv_traced kmmv_traced2
# To the end of the list, where ftrace's trampolines are.
ok "addresses of kmmv_trace have names" \
	test "$(grep -c kmmv_trace /proc/kallsyms)" -gt 0
finish
