#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# beside: yes
# Instances on each CPU: values, names, identifiers, the limit, offline CPUs; a
# request for one instance reads one.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/agent/env
. qa/agent/env

area <<E
set cpus 8
set possible 0x3f
set online 0x0b
family 0 counter count counter Counters
family 1 other count counter Others
inst 0 0 0 active 1,2,3,4,5,6 a b
inst 1 0 0 active 10,20,30,40,50,60 x::cpu7
inst 2 0 0 inactive 7,7,7,7 gone
inst 3 1 0 active 9 z
E
listed()
{
	db "instance $domain.17" | sed -n 's/.*name: "\(.*\)".*/\1/p' | sort |
		xargs
}
db_start dso
is "CPUs that are online have values" "$(db_values kmmv.percpu.counter | tr '\n' ',')" \
	"a_b::cpu0 1,a_b::cpu1 2,a_b::cpu3 4,x::cpu7::cpu0 10,x::cpu7::cpu1 20,\
x::cpu7::cpu3 40,"
id=$(db "instance $domain.17 \"x::cpu7::cpu4\"" |
	sed -n 's/.*inst: \([0-9]*\).*/\1/p')
is "an offline CPU's instance can be asked for by name" "$id" "$((own + (1 << 6) + 4))"
like "an offline CPU's instance has the name asked for" \
	"$(db "instance $domain.17 $id")" \
	'name: "x::cpu7::cpu4"'
for name in a_b a_b::cpu a_b::cpu6 a_b::cpu01 a_b::cpu-1 a_b::cpu1x \
	"a b::cpu1" gone::cpu0 z::cpu0 ::cpu1 a_b::cpu99999999999; do
	like "there is no instance: $name" "$(db "instance $domain.17 \"$name\"")" \
		"Unknown or illegal instance identifier"
done
for id in 6 7 $((own + 6)) $((own + 63)) $((own + (2 << 6))) \
	$((own + (3 << 6))) 2147483647; do
	like "there is no instance with the number $id" \
		"$(db "instance $domain.17 $id")" \
		"Unknown or illegal instance identifier"
done

db "profile $domain.17 none" >/dev/null
is "a profile of none has no values" "$(db_values kmmv.percpu.counter)" none
db "profile $domain.17 add $((own + (1 << 6) + 5))" >/dev/null
db "profile $domain.17 add $((own + 2))" >/dev/null
db "profile $domain.17 add $((own + 7))" >/dev/null
is "a profile of some has values of possible CPUs" \
	"$(db_values kmmv.percpu.counter | tr '\n' ',')" \
	"a_b::cpu2 3,x::cpu7::cpu5 60,"
is "a profile does not concern another family" "$(db_values kmmv.percpu.other |
	tr '\n' ',')" "z::cpu0 9,z::cpu1 0,z::cpu3 0,"
db "profile $domain.17 all" >/dev/null
db "profile $domain.17 delete $((own + 1))" >/dev/null
is "a profile of all but one has all other values" \
	"$(db_values kmmv.percpu.counter | tr '\n' ',')" \
	"a_b::cpu0 1,a_b::cpu3 4,x::cpu7::cpu0 10,x::cpu7::cpu1 20,\
x::cpu7::cpu3 40,"
db_stops "dbpmda ends well after profiles"

# Another client: it has fetched none by name.
db_start dso
grant
is "all instances have values without a low limit" \
	"$(db_values kmmv.percpu.counter | wc -l)" 6
db 'store kmmv.control.percpu.limit "4"' >/dev/null
is "a limit of 4 leaves four instances" "$(db_values kmmv.percpu.counter | tr '\n' ',')" \
	"a_b::cpu0 1,a_b::cpu1 2,a_b::cpu3 4,x::cpu7::cpu0 10,"
is "the number of instances left out is reported" \
	"$(db_values kmmv.control.percpu.omitted)" 2
db "profile $domain.17 all" >/dev/null
db_values kmmv.percpu.counter kmmv.percpu.other >/dev/null
is "the number left out is right if another metric has all" \
	"$(db_values kmmv.control.percpu.omitted)" 2
db "instance $domain.19" >/dev/null
db "label instances $domain.19" >/dev/null
db_values kmmv.percpu.other >/dev/null
is "the number left out stays when another family is read" \
	"$(db_values kmmv.control.percpu.omitted)" 2
db 'store kmmv.control.percpu.limit "2"' >/dev/null
is "a new limit has left nothing out before a fetch" \
	"$(db_values kmmv.control.percpu.omitted)" 0
db "instance $domain.17" >/dev/null
db "label instances $domain.17" >/dev/null
is "listing a domain leaves out no values" "$(db_values kmmv.control.percpu.omitted)" 0
db_values kmmv.percpu.counter kmmv.percpu.other >/dev/null
is "the number left out adds up over metrics of a fetch" \
	"$(db_values kmmv.control.percpu.omitted)" 5
db "profile $domain.17 none" >/dev/null
db_values kmmv.percpu.counter >/dev/null
is "a client that asks for less misses less" "$(db_values kmmv.control.percpu.omitted)" 1
db "profile $domain.17 all" >/dev/null
db 'store kmmv.control.percpu.limit "4"' >/dev/null
is "a domain lists as many instances as the limit" "$(listed)" \
	"a_b::cpu0 a_b::cpu1 a_b::cpu3 x::cpu7::cpu0"
db "profile $domain.17 none" >/dev/null
db "profile $domain.17 add $((own + (1 << 6) + 3))" >/dev/null
is "an instance beyond the limit can be asked for" "$(db_values kmmv.percpu.counter)" \
	"x::cpu7::cpu3 40"
is "an instance asked for beyond the limit is listed" "$(listed)" \
	"a_b::cpu0 a_b::cpu1 a_b::cpu3 x::cpu7::cpu0 x::cpu7::cpu3"
db 'store kmmv.control.percpu.limit "0"' >/dev/null
is "a limit of 0 leaves no instances" "$(db_values kmmv.percpu.counter)" none
db_stops "dbpmda ends well after limits"

db_start pipe --percpu-limit=1
is "--percpu-limit is in force" "$(db_values kmmv.percpu.counter)" "a_b::cpu0 1"
db_stop

# What a client has fetched by name is listed, so that an archive has its name.
restarted()
{
	area <<-E
	set cpus 8
	set possible 0x3f
	set online 0x07
	family 0 counter count counter Counters
	inst 0 0 0 active 1,2,3,4,5,6 a b
	E
	live
	db_start pipe
}
restarted
id=$(db "instance $domain.17 \"a_b::cpu3\"" |
	sed -n 's/.*inst: \([0-9]*\).*/\1/p')
is "a CPU that is not online is not listed" "$(listed)" \
	"a_b::cpu0 a_b::cpu1 a_b::cpu2"
db_stops "dbpmda ends well before a restart"
restarted
db "profile $domain.17 none" >/dev/null
db "profile $domain.17 add $id" >/dev/null
is "a CPU that is not online has a value after a restart" \
	"$(db_values kmmv.percpu.counter)" \
	"a_b::cpu3 4"
is "an instance that was fetched by itself is listed" \
	"$(listed)" "a_b::cpu0 a_b::cpu1 a_b::cpu2 a_b::cpu3"
db "profile $domain.17 all" >/dev/null
is "a profile of all has the CPUs that are online" \
	"$(db_values kmmv.percpu.counter | tr '\n' ',')" \
	"a_b::cpu0 1,a_b::cpu1 2,a_b::cpu2 3,"
db_stops "dbpmda ends well after a restart"

# CPUs come and go: one that was online once stays listed.
area <<E
set online 0x1
family 0 counter count counter Counters
inst 0 0 0 active 1,2,3,4 one
E
db_start dso
grant
is "the only CPU that is online has a value" \
	"$(db_values kmmv.percpu.counter)" "one::cpu0 1"
area <<E
set online 0x5
family 0 counter count counter Counters
inst 0 0 0 active 1,2,3,4 one
E
reattach
is "a CPU that came online has a value" "$(db_values kmmv.percpu.counter | tr '\n' ',')" \
	"one::cpu0 1,one::cpu2 3,"
area <<E
set online 0x1
family 0 counter count counter Counters
inst 0 0 0 active 1,2,5,4 one
E
reattach
is "a CPU that went offline still has its count" \
	"$(db_values kmmv.percpu.counter | tr '\n' ',')" \
	"one::cpu0 1,one::cpu2 5,"
db_stop
finish
