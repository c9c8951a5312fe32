#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
#
# Counters of a module's tracepoints and functions, while the module comes and goes;
# other tracers beside; functions that the handlers call.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/trace.sh
. qa/vm/trace.sh

counts_values || skip_all "machine: of 32 bits, it counts hits alone"

tracing=/sys/kernel/tracing
max=/sys/module/kmmv_trace/parameters/max_functions
ftrace=/proc/sys/kernel/ftrace_enabled
held=/sys/module/kmmv_linger/parameters/held
restrict=/proc/sys/kernel/kptr_restrict
restricted=$(cat $restrict)

# shellcheck disable=SC2317 # called by the trap
clean_up()
{
	echo 0 >$tracing/events/enable
	echo nop >$tracing/current_tracer
	echo >$tracing/set_ftrace_filter
	echo 1 >$ftrace
	echo "$restricted" >$restrict
	[ ! -e $held ] || echo >$held
	rmmod kmmv_burn1 kmmv_burn2 kmmv_linger 2>/dev/null
	unload
}
trap clean_up EXIT

module()
{
	insmod qa/client/kmmv_traced.ko
}

states()
{
	local name

	for name; do
		get "$name" state
	done | xargs
}

load || bail "does not load"

# ---- before it is loaded

ok "a tracepoint of a module that is not loaded" define tp \
	tracepoint=kmmv_qa/kmmv_traced
is "waits" "$(states tp) $(get tp enable)" "waiting 1"
is "with its instance" "$(build/kmmvdump -f trace.tp | tail -n 1)" \
	'trace.tp["kmmv_traced"] 0'
ok "the module" module
is "it is counted" "$(states tp)" on
hit tp 10
is "from its first hit" "$(values tp)" "kmmv_traced 10"
ok "a sum" define sum tracepoint=kmmv_traced value=number=arg1:8
ok "functions" define fn 'function=kmmv_traced_t*'
ok "one of them" define two function=kmmv_traced_two value=number=arg1:8
ok "functions of several modules" define many 'function=*_traced_one'
hit two 10 5
is "nobody holds the module" "$(cat /sys/module/kmmv_traced/refcnt)" 0

# ---- it goes, and comes back

ok "the module goes" rmmod kmmv_traced
is "counters wait" "$(states tp sum fn two many)" \
	"waiting waiting waiting waiting waiting"
is "no function is traced" "$(handlers)" 0
is "counts stay" "$(values tp) $(values fn)" \
	"kmmv_traced 10 kmmv_traced_two 10"
ok "another module comes, perhaps where it was" insmod qa/client/kmmv_irqs.ko
is "no function is traced" "$(handlers)" 0
rmmod kmmv_irqs
ok "the module comes back" module
is "hits are counted again, values may be elsewhere" \
	"$(states tp sum fn two many)" "on stale on stale on"
like "which is said" "$(get sum error) $(get two error)" \
	'resolved again.*resolved again'
hit tp 5
hit two 5
hit one 6
is "hits go on" "$(values tp) $(values fn | xargs) $(values many)" \
	"kmmv_traced 15 kmmv_traced_two 15 kmmv_traced_one 6"
is "values do not" "$(values sum) $(values two)" " kmmv_traced_two 50"
refused sum enable 1 "Stale file handle" 'resolved again'
is "is stale" "$(states sum)" stale
for name in sum two; do
	put $name enable 0
	ok "until $name is enabled again" put $name enable 1
done
is "are on" "$(states sum two)" "on on"
hit tp 1 7
hit two 1 7
is "values go on" "$(values sum) $(values two)" \
	"kmmv_traced 7 kmmv_traced_two 57"
is "their hits, too" "$(get tp hits) $(get sum hits) $(get fn hits)" "16 1 16"
for _ in 1 2 3; do
	rmmod kmmv_traced
	module
	hit tp 1
	hit three 1
done
is "again and again" "$(values tp) $(values fn | xargs)" \
	"kmmv_traced 19 kmmv_traced_three 3 kmmv_traced_two 16"
rmmod kmmv_traced
ok "rmdir while they wait" end tp sum fn two many
ok "the module" module
is "nobody watches" "$(handlers)" 0

# ---- one name in the systems of two modules

third()
{
	insmod qa/client/kmmv_traced3.ko
}
third_hit()
{
	echo "$1" >/sys/module/kmmv_traced3/parameters/call
}

ok "a tracepoint of a module that is there" define here tracepoint=kmmv_qa/kmmv_traced
ok "one of its name, of another" define there tracepoint=kmmv_qa3/kmmv_traced
is "waits for that" "$(states here there)" "on waiting"
ok "which comes" third
is "both are counted" "$(states here there)" "on on"
hit tp 3
third_hit 4
is "each under its name" "$(values here) $(values there)" "kmmv_traced 3 kmmv_traced 4"
rmmod kmmv_traced
is "one goes" "$(states here there)" "waiting on"
third_hit 1
rmmod kmmv_traced3
is "and the other" "$(states here there)" "waiting waiting"
ok "they come in the other order" third
is "only one is there" "$(states here there)" "waiting on"
ok "and the other one" module
hit tp 1
third_hit 1
is "each counts on" "$(values here) $(values there)" "kmmv_traced 4 kmmv_traced 6"
ok "without a system, one of them" define any tracepoint=kmmv_traced
is "is counted" "$(states any)" on
ok "no system of any" define none tracepoint=kmmv_qa4/kmmv_traced
is "is waited for" "$(states none)" waiting
third_hit 2
hit tp 5
is "it counts the one that came first" "$(values any)" "kmmv_traced 2"
rmmod kmmv_traced3
is "when that goes" "$(states any)" on
hit tp 3
is "it counts the other one" "$(values any)" "kmmv_traced 5"
rmmod kmmv_traced
is "until that goes" "$(states any)" waiting
ok "the module" module
ok "rmdir" end here there any none

# ---- functions of two modules

other()
{
	insmod qa/client/kmmv_traced2.ko
}

# other_hit TIMES
other_hit()
{
	echo "$1" >/sys/module/kmmv_traced2/parameters/call
}

ok "another module" other
ok "functions of both" define both 'function=*_traced_one'
hit one 3
other_hit 4
is "each counts" "$(values both | xargs)" "kmmv2_traced_one 4 kmmv_traced_one 3"
ok "the first one goes" rmmod kmmv_traced
other_hit 1
is "the other one counts on" "$(states both) $(values both | xargs)" \
	"on kmmv2_traced_one 5 kmmv_traced_one 3"
ok "it goes, too" rmmod kmmv_traced2
is "the counter waits" "$(states both)" waiting
is "nothing else is traced" "$(handlers)" 0
ok "the first one comes back" module
is "is counted" "$(states both)" on
ok "and the other one" other
hit one 1
other_hit 2
is "is, too" "$(values both | xargs)" "kmmv2_traced_one 7 kmmv_traced_one 4"
rmmod kmmv_traced
module
hit one 1
other_hit 1
is "while one stays" "$(values both | xargs)" \
	"kmmv2_traced_one 8 kmmv_traced_one 5"
end both
rmmod kmmv_traced2
ok "one of them" define both 'function=*_traced_one'
ok "and what comes later" other
other_hit 2
hit one 1
is "is counted" "$(values both | xargs)" "kmmv2_traced_one 10 kmmv_traced_one 6"
rmmod kmmv_traced2
ok "but not if it is too much" sh -c "echo 1 >$max"
other
is "the others are counted on" "$(states both) $(handlers)" "on 1"
like "which is said" "$(get both error)" 'with module kmmv_traced2.*more than 1 functions'
hit one 1
is "with their hits" "$(values both | grep kmmv_)" "kmmv_traced_one 7"
refused both value x=arg0:8 "Device or resource busy" 'enabled: write 0'
ok "to enable it again changes nothing" put both enable 1
like "and it is still said" "$(get both error)" 'more than 1 functions'
rmmod kmmv_traced2
is "until the module goes" "$(states both) $(get both error)" "on "
other
like "and when it is back" "$(get both error)" 'more than 1 functions'
put both enable 0
is "until it is disabled" "$(get both error)" ""
echo 256 >$max
end both
rmmod kmmv_traced2

# ---- beside others

ok "a counter" define tp tracepoint=kmmv_traced
ok "values" define sum tracepoint=kmmv_traced value=number=arg1:8
ok "a function" define call function=kmmv_traced_one
ok "its values" define last function=kmmv_traced_one value=last=arg5:8
ok "the kernel's tracer" sh -c "echo 1 >$tracing/events/kmmv_qa/kmmv_traced/enable &&
	echo kmmv_traced_one >$tracing/set_ftrace_filter &&
	echo function >$tracing/current_tracer"
hit tp 20 3
hit one 30 3
is "all count" "$(values tp) $(values sum | cut -d' ' -f2) $(values call) \
$(values last | cut -d' ' -f2)" "kmmv_traced 39 67 kmmv_traced_one 30 90"
ok "it ends" sh -c "echo 0 >$tracing/events/kmmv_qa/kmmv_traced/enable &&
	echo nop >$tracing/current_tracer && echo >$tracing/set_ftrace_filter"
hit tp 1 0
hit one 1 0
is "they go on" "$(values tp) $(values call)" "kmmv_traced 40 kmmv_traced_one 31"
end tp sum call last

# ---- what handlers call

ok "a function of the handlers" define self function=copy_from_kernel_nofault \
	'key=first=arg1@0:1' max_keys=256
ok "that others call" define far tracepoint=kmmv_traced \
	"value=number=$inner_number"
ok "and with events" define event tracepoint=kmmv_traced \
	"event=default number=$inner_number"
hit tp 100 1
is "has no values there" "$(values far)" "kmmv_traced 100"
put self enable 0
hits=$(get self hits)
ok "but its hits: $hits" test "$hits" -ge 200
is "which all are in an instance" \
	"$(values self | awk '{ n += $2 } END { print n }')" "$hits"
ok "and are lost" test "$(stat_of lost self)" -ge 200
ok "a tracepoint in each interrupt" define irq \
	tracepoint=local_timer_entry 'key=vector=arg0:4'
ok "every switch" define switch tracepoint=sched_switch 'key=prev=arg1:8x'
ok "reads of the clock" define clock function=ktime_get 'value=log2 x=arg0:8'
hit tp 1000 1
# shellcheck disable=SC2317 # called by wait_for
some()
{
	[ "$(get "$1" hits)" -gt 0 ]
}
for name in irq switch clock; do
	ok "there were some: $name" wait_for 20 some $name
	put $name enable 0
	is "$name: all of them are in an instance" "$(values $name |
		awk '{ n += $2 } END { print n }')" \
		"$(get $name hits)"
done
end self far event irq switch clock
is "no function is traced" "$(handlers)" 0

# ---- enabled while its module goes, whose place is another one's then

text_of()
{
	cat "/sys/module/$1/sections/.text"
}
# shellcheck disable=SC2317 # called by wait_for
is_held()
{
	[ "$(cat $held)" = 1 ]
}
ok "modules that go are held up" insmod qa/client/kmmv_linger.ko module=kmmv_burn1
echo 1 >$restrict
# Until the place is the same: other memory may have come between.
for ((i = 0; i < 100; i++)); do
	insmod qa/client/kmmv_burn1.ko
	text=$(text_of kmmv_burn1)
	rmmod kmmv_burn1 &
	wait_for 60 is_held || break
	define late function=burn1_first
	echo >$held
	wait $!
	insmod qa/client/kmmv_burn2.ko
	[ "$text" != "$(text_of kmmv_burn2)" ] || break
	rmmod kmmv_burn2
	end late
done
like "the place of a module" "$text" '^0x[0-9a-f]*[1-9a-f]'
is "is another one's" "$(text_of kmmv_burn2)" "$text"
echo "$restricted" >$restrict
echo 3 >/sys/module/kmmv_burn2/parameters/burn
is "whose functions are not counted" "$(states late) $(get late hits)" "waiting 0"
ok "it goes" rmmod kmmv_burn2
ok "the first one comes back" insmod qa/client/kmmv_burn1.ko
echo 3 >/sys/module/kmmv_burn1/parameters/burn
is "and is counted" "$(states late) $(values late)" "on burn1_first 3"
end late

# late NAME: it is enabled while kmmv_burn1 goes
late()
{
	rmmod kmmv_burn1 &
	wait_for 60 is_held
	define "$1" function=burn1_first
	echo >$held
	wait $!
}
ok "one is enabled so" late other
# It may take the place, so that the first one comes back elsewhere.
ok "another module" insmod qa/client/kmmv_traced3.ko
ok "the first one comes back, perhaps elsewhere" insmod qa/client/kmmv_burn1.ko
echo 3 >/sys/module/kmmv_burn1/parameters/burn
is "and is counted" "$(states other) $(get other hits)" "on 3"
end other
rmmod kmmv_linger kmmv_traced3
ok "it goes" rmmod kmmv_burn1

# ---- a module that comes back while the kernel traces no functions

ok "functions" define fn 'function=kmmv_traced_t*'
rmmod kmmv_traced
ok "the kernel's ftrace is off" sh -c "echo 0 >$ftrace"
ok "the module comes back" module
is "cannot be counted" "$(states fn)" failed
like "which is said" "$(get fn error)" 'kernel\.ftrace_enabled'
ok "it goes" rmmod kmmv_traced
ok "and comes back" module
refused fn enable 1 "Device or resource busy" 'kernel\.ftrace_enabled'
echo 1 >$ftrace
ok "the kernel's ftrace is on" put fn enable 1
hit two 1
is "it is counted" "$(states fn) $(values fn | grep -c two)" "on 1"
not_ok "ftrace stays on while functions are counted" sh -c "echo 0 >$ftrace"
is "as it says" "$(cat $ftrace)" 1
end fn
ok "unloads" unload
finish
