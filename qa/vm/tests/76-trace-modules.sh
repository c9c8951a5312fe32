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

ok "a counter of a module that is not loaded is enabled" define tp \
	tracepoint=kmmv_qa/kmmv_traced
is "a counter of a module that is not loaded waits" \
	"$(states tp) $(get tp enable)" "waiting 1"
is "a counter that waits has its instance" "$(build/kmmvdump -f trace.tp | tail -n 1)" \
	'trace.tp["kmmv_traced"] 0'
ok "the module with the tracepoint loads" module
is "a counter that waited is on" "$(states tp)" on
hit tp 10
is "hits are counted from the module's first one" "$(values tp)" "kmmv_traced 10"
ok "a counter of a sum is enabled" define sum tracepoint=kmmv_traced value=number=arg1:8
ok "a counter of functions is enabled" define fn 'function=kmmv_traced_t*'
ok "a counter of one of the functions is enabled" \
	define two function=kmmv_traced_two value=number=arg1:8
ok "a counter of functions of several modules is enabled" \
	define many 'function=*_traced_one'
hit two 10 5
is "no counter holds the module" "$(cat /sys/module/kmmv_traced/refcnt)" 0

# ---- it goes, and comes back

ok "the module unloads" rmmod kmmv_traced
is "counters wait when the module is gone" "$(states tp sum fn two many)" \
	"waiting waiting waiting waiting waiting"
is "no function is traced when the module is gone" "$(handlers)" 0
is "counts stay when the module is gone" "$(values tp) $(values fn)" \
	"kmmv_traced 10 kmmv_traced_two 10"
ok "another module loads, perhaps in the same place" insmod qa/client/kmmv_irqs.ko
is "no function is traced with another module there" "$(handlers)" 0
rmmod kmmv_irqs
ok "the module loads again" module
is "hits are on and values stale when the module is back" \
	"$(states tp sum fn two many)" "on stale on stale on"
like "error says that values have to be resolved again" \
	"$(get sum error) $(get two error)" \
	'resolved again.*resolved again'
hit tp 5
hit two 5
hit one 6
is "hits go on when the module is back" \
	"$(values tp) $(values fn | xargs) $(values many)" \
	"kmmv_traced 15 kmmv_traced_two 15 kmmv_traced_one 6"
is "values do not go on when the module is back" \
	"$(values sum) $(values two)" " kmmv_traced_two 50"
refused sum enable 1 "Stale file handle" 'resolved again'
is "a stale counter stays stale when enable is refused" "$(states sum)" stale
for name in sum two; do
	put $name enable 0
	ok "a stale counter, $name, is enabled again after disabling" put $name enable 1
done
is "stale counters that are enabled again are on" "$(states sum two)" "on on"
hit tp 1 7
hit two 1 7
is "values go on in counters that are enabled again" "$(values sum) $(values two)" \
	"kmmv_traced 7 kmmv_traced_two 57"
is "hits go on in counters that are enabled again" \
	"$(get tp hits) $(get sum hits) $(get fn hits)" "16 1 16"
for _ in 1 2 3; do
	rmmod kmmv_traced
	module
	hit tp 1
	hit three 1
done
is "hits go on when the module comes again and again" \
	"$(values tp) $(values fn | xargs)" \
	"kmmv_traced 19 kmmv_traced_three 3 kmmv_traced_two 16"
rmmod kmmv_traced
ok "counters that wait can be removed" end tp sum fn two many
ok "the module loads without a counter" module
is "no function is traced without a counter" "$(handlers)" 0

# ---- one name in the systems of two modules

third()
{
	insmod qa/client/kmmv_traced3.ko
}
third_hit()
{
	echo "$1" >/sys/module/kmmv_traced3/parameters/call
}

ok "a counter of a loaded module's tracepoint is enabled" \
	define here tracepoint=kmmv_qa/kmmv_traced
ok "a counter of the same name in another system is enabled" \
	define there tracepoint=kmmv_qa3/kmmv_traced
is "a counter of a system that is not there waits" "$(states here there)" "on waiting"
ok "the module with the other system loads" third
is "counters of both systems are on" "$(states here there)" "on on"
hit tp 3
third_hit 4
is "counters of both systems count their own hits" \
	"$(values here) $(values there)" "kmmv_traced 3 kmmv_traced 4"
rmmod kmmv_traced
is "the counter of the first system alone waits" "$(states here there)" "waiting on"
third_hit 1
rmmod kmmv_traced3
is "counters of both systems wait" "$(states here there)" "waiting waiting"
ok "the module with the other system loads first" third
is "the counter of the other system alone is on" "$(states here there)" "waiting on"
ok "the module with the first system loads second" module
hit tp 1
third_hit 1
is "counters of both systems count on in the other order" \
	"$(values here) $(values there)" "kmmv_traced 4 kmmv_traced 6"
ok "a counter without a system is enabled" define any tracepoint=kmmv_traced
is "a counter without a system is on" "$(states any)" on
ok "a counter of a system of no module is enabled" \
	define none tracepoint=kmmv_qa4/kmmv_traced
is "a counter of a system of no module waits" "$(states none)" waiting
third_hit 2
hit tp 5
is "a counter without a system counts what came first" "$(values any)" "kmmv_traced 2"
rmmod kmmv_traced3
is "a counter without a system is on when the first is gone" "$(states any)" on
hit tp 3
is "a counter without a system counts what is there then" \
	"$(values any)" "kmmv_traced 5"
rmmod kmmv_traced
is "a counter without a system waits when both are gone" "$(states any)" waiting
ok "the module loads again after its tracepoints waited" module
ok "counters of tracepoints can be removed" end here there any none

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

ok "another module with functions loads" other
ok "a counter of functions of both modules is enabled" \
	define both 'function=*_traced_one'
hit one 3
other_hit 4
is "functions of both modules are counted" \
	"$(values both | xargs)" "kmmv2_traced_one 4 kmmv_traced_one 3"
ok "the first module unloads" rmmod kmmv_traced
other_hit 1
is "functions of the second module are counted on" \
	"$(states both) $(values both | xargs)" \
	"on kmmv2_traced_one 5 kmmv_traced_one 3"
ok "the second module unloads" rmmod kmmv_traced2
is "a counter of functions waits when both modules are gone" "$(states both)" waiting
is "no function is traced when both modules are gone" "$(handlers)" 0
ok "the first module loads again" module
is "a counter of functions is on with the first module" "$(states both)" on
ok "the second module loads again" other
hit one 1
other_hit 2
is "functions of both modules are counted again" \
	"$(values both | xargs)" "kmmv2_traced_one 7 kmmv_traced_one 4"
rmmod kmmv_traced
module
hit one 1
other_hit 1
is "functions are counted while one of the modules stays" "$(values both | xargs)" \
	"kmmv2_traced_one 8 kmmv_traced_one 5"
end both
rmmod kmmv_traced2
ok "a counter of a glob is enabled with one module" define both 'function=*_traced_one'
ok "a second module comes later" other
other_hit 2
hit one 1
is "functions of a module that comes later are counted" \
	"$(values both | xargs)" "kmmv2_traced_one 10 kmmv_traced_one 6"
rmmod kmmv_traced2
ok "max_functions can be less than there are" sh -c "echo 1 >$max"
other
is "the first module's function alone is traced at the limit" \
	"$(states both) $(handlers)" "on 1"
like "error says that the second module's are too many" \
	"$(get both error)" 'with module kmmv_traced2.*more than 1 functions'
hit one 1
is "hits of the first module are counted at the limit" \
	"$(values both | grep kmmv_)" "kmmv_traced_one 7"
refused both value x=arg0:8 "Device or resource busy" 'enabled: write 0'
ok "a counter that is on can be enabled again" put both enable 1
like "error still names the limit after the counter is enabled" \
	"$(get both error)" 'more than 1 functions'
rmmod kmmv_traced2
is "error is empty when the second module is gone" \
	"$(states both) $(get both error)" "on "
other
like "error names the limit when the second module is back" \
	"$(get both error)" 'more than 1 functions'
put both enable 0
is "error is empty when the counter is disabled" "$(get both error)" ""
echo 256 >$max
end both
rmmod kmmv_traced2

# ---- beside others

ok "a counter of a tracepoint's hits is enabled" define tp tracepoint=kmmv_traced
ok "a counter of a tracepoint's values is enabled" \
	define sum tracepoint=kmmv_traced value=number=arg1:8
ok "a counter of a function's hits is enabled" define call function=kmmv_traced_one
ok "a counter of a function's values is enabled" \
	define last function=kmmv_traced_one value=last=arg5:8
ok "the kernel's tracer traces the same" \
	sh -c "echo 1 >$tracing/events/kmmv_qa/kmmv_traced/enable &&
	echo kmmv_traced_one >$tracing/set_ftrace_filter &&
	echo function >$tracing/current_tracer"
hit tp 20 3
hit one 30 3
is "counters count beside the kernel's tracer" \
	"$(values tp) $(values sum | cut -d' ' -f2) $(values call) \
$(values last | cut -d' ' -f2)" "kmmv_traced 39 67 kmmv_traced_one 30 90"
ok "the kernel's tracer ends" \
	sh -c "echo 0 >$tracing/events/kmmv_qa/kmmv_traced/enable &&
	echo nop >$tracing/current_tracer && echo >$tracing/set_ftrace_filter"
hit tp 1 0
hit one 1 0
is "counters go on without the kernel's tracer" \
	"$(values tp) $(values call)" "kmmv_traced 40 kmmv_traced_one 31"
end tp sum call last

# ---- what handlers call

ok "a counter of a function that handlers call is enabled" \
	define self function=copy_from_kernel_nofault \
	'key=first=arg1@0:1' max_keys=256
ok "a counter whose handler calls the function is enabled" \
	define far tracepoint=kmmv_traced \
	"value=number=$inner_number"
ok "a counter whose events call the function is enabled" \
	define event tracepoint=kmmv_traced \
	"event=default number=$inner_number"
hit tp 100 1
is "a counter whose handler calls the function has its values" \
	"$(values far)" "kmmv_traced 100"
put self enable 0
hits=$(get self hits)
ok "the function that handlers call has hits: $hits" test "$hits" -ge 200
is "each hit of the function is in an instance" \
	"$(values self | awk '{ n += $2 } END { print n }')" "$hits"
ok "hits of the function are counted as lost" test "$(stat_of lost self)" -ge 200
ok "a counter of a tracepoint in each interrupt is enabled" define irq \
	tracepoint=local_timer_entry 'key=vector=arg0:4'
ok "a counter of each switch of tasks is enabled" \
	define switch tracepoint=sched_switch 'key=prev=arg1:8x'
ok "a counter of reads of the clock is enabled" \
	define clock function=ktime_get 'value=log2 x=arg0:8'
hit tp 1000 1
# shellcheck disable=SC2317 # called by wait_for
some()
{
	[ "$(get "$1" hits)" -gt 0 ]
}
for name in irq switch clock; do
	ok "$name: there are hits" wait_for 20 some $name
	put $name enable 0
	is "$name: each hit is in an instance" "$(values $name |
		awk '{ n += $2 } END { print n }')" \
		"$(get $name hits)"
done
end self far event irq switch clock
is "no function is traced when its counters are removed" "$(handlers)" 0

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
ok "a module loads that holds up another's unloading" \
	insmod qa/client/kmmv_linger.ko module=kmmv_burn1
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
like "the place of a module is known" "$text" '^0x[0-9a-f]*[1-9a-f]'
is "the place of a module is another one's" "$(text_of kmmv_burn2)" "$text"
echo "$restricted" >$restrict
echo 3 >/sys/module/kmmv_burn2/parameters/burn
is "functions of another module in the place are not counted" \
	"$(states late) $(get late hits)" "waiting 0"
ok "the other module in the place unloads" rmmod kmmv_burn2
ok "the first module in the place loads again" insmod qa/client/kmmv_burn1.ko
echo 3 >/sys/module/kmmv_burn1/parameters/burn
is "functions of the first module in the place are counted" \
	"$(states late) $(values late)" "on burn1_first 3"
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
ok "a counter is enabled while its module goes" late other
# It may take the place, so that the first one comes back elsewhere.
ok "another module loads while the place is free" insmod qa/client/kmmv_traced3.ko
ok "the module of the counter loads, perhaps elsewhere" insmod qa/client/kmmv_burn1.ko
echo 3 >/sys/module/kmmv_burn1/parameters/burn
is "functions of the module are counted, perhaps elsewhere" \
	"$(states other) $(get other hits)" "on 3"
end other
rmmod kmmv_linger kmmv_traced3
ok "the module of the counter unloads" rmmod kmmv_burn1

# ---- a module that comes back while the kernel traces no functions

ok "a counter of functions is enabled while ftrace is on" \
	define fn 'function=kmmv_traced_t*'
rmmod kmmv_traced
ok "the kernel's ftrace can be switched off" sh -c "echo 0 >$ftrace"
ok "the module loads while ftrace is off" module
is "a counter of functions fails while ftrace is off" "$(states fn)" failed
like "error names kernel.ftrace_enabled" "$(get fn error)" 'kernel\.ftrace_enabled'
ok "the module unloads while ftrace is off" rmmod kmmv_traced
ok "the module loads again while ftrace is off" module
refused fn enable 1 "Device or resource busy" 'kernel\.ftrace_enabled'
echo 1 >$ftrace
ok "a counter can be enabled when ftrace is on again" put fn enable 1
hit two 1
is "functions are counted when ftrace is on again" \
	"$(states fn) $(values fn | grep -c two)" "on 1"
not_ok "ftrace stays on while functions are counted" sh -c "echo 0 >$ftrace"
is "ftrace_enabled is 1 while functions are counted" "$(cat $ftrace)" 1
end fn
ok "the modules unload" unload
finish
