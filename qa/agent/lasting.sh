#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Lasting numbers: metrics and instances keep theirs across restarts, another order
# of registration, deletion and reuse. Counters go on across reloads.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/agent/env
. qa/agent/env

numbers=$work/var/config/pmda/$domain.numbers

# start <SPEC: the daemon, on a device with that area
start()
{
	area
	live
	db_start pipe
}
# ids METRIC: "NAME ID" of its instances; pmid NAME...: "NAME PMID"
ids()
{
	db "fetch $1" | sed -n 's/^ *inst \[\([0-9]*\) or "\(.*\)"\].*/\2 \1/p' |
		sort | tr '\n' ','
}
pmid()
{
	db "pmid kmmv.$1" | sed -n 's/.*PMID: //p;s/.*[^0-9]\('"$domain"'\.[0-9.]*\).*/\1/p' |
		tail -n 1
}

start <<E
family 0 counter count counter Counters
family 1 drv.time microsec counter Time
inst 0 0 0 active 1 one
inst 1 0 0 active 2 a b
inst 2 0 0 active 3 a_b
inst 3 0 0 active 4 a_b#2
inst 4 1 0 active 5 user
E
first=$(ids kmmv.value.counter)
cpus=$(ids kmmv.percpu.counter)
is "the first numbers of instances count up" "$first" "a_b 1,a_b#2 2,a_b#2#2 3,one 0,"
is "kmmv's own families have fixed numbers" "$(pmid value.counter)" "$domain.16.0"
is "other families' numbers begin behind the fixed ones" \
	"$(pmid value.drv.time)" "$domain.256.0"
db_stop

# Another boot: the reverse order, and a new family first.
start <<E
set epoch 78
family 0 aaa count counter New
family 1 drv.time microsec counter Time
family 2 counter count counter Counters
family 3 stat.irq count counter,since=boot Interrupts
inst 0 1 0 active 5 user
inst 1 2 0 active 4 a_b#2
inst 2 2 0 active 3 a_b
inst 3 2 0 active 2 a b
inst 4 2 0 active 9 new
inst 5 2 0 active 1 one
E
is "instances keep their numbers in another order" "$(ids kmmv.value.counter)" \
	"a_b 1,a_b#2 2,a_b#2#2 3,new 4,one 0,"
is "values are with their instances in another order" \
	"$(db_values kmmv.value.counter | sort | tr '\n' ',')" \
	"a_b 2,a_b#2 3,a_b#2#2 4,new 9,one 1,"
is "instances on each CPU keep their numbers in another order" \
	"$(ids kmmv.percpu.counter | tr ',' '\n' | grep -v new | tr '\n' ',')" \
	"$cpus"
is "families keep their numbers in another order" \
	"$(pmid value.counter) $(pmid value.drv.time)" \
	"$domain.16.0 $domain.256.0"
is "a new family has a number of its own" "$(pmid value.aaa)" "$domain.257.0"
is "a family with a fixed number has that, whenever it comes" "$(pmid value.stat.irq)" \
	"$domain.20.0"
is "families that are as before are not reported" "$(db_values kmmv.control.error)" '""'
db_stop
is "a local context has the same numbers of instances" "$(info -f kmmv.value.counter |
	sed -n 's/^ *inst \[\([0-9]*\) or "\(.*\)"\].*/\2 \1/p' | sort |
	tr '\n' ',')" "a_b 1,a_b#2 2,a_b#2#2 3,new 4,one 0,"

# With other units or semantics the same name is another metric.
start <<E
set epoch 79
family 0 drv.time nanosec counter Time
family 1 counter count instant Levels
family 2 aaa count counter,total=no New
inst 0 0 0 active 1000000 user
inst 1 1 0 active 7 one
inst 2 2 0 active 8 x
E
is "a family in other units has another number" "$(pmid value.drv.time)" "$domain.258.0"
is "a family in other units carries nothing over" \
	"$(db_values kmmv.value.drv.time kmmv.all.drv.time |
	tr '\n' ' ')" "user 1000000 1000000 "
is "a family of other semantics has another number" \
	"$(pmid value.counter)" "$domain.259.0"
is "a family of other semantics carries nothing over" \
	"$(db_values kmmv.value.counter)" "one 7"
like "the number in the old units keeps its descriptor" \
	"$(db "desc $domain.256.0")" "microsec"
error=$(db_values kmmv.control.error)
other="has other units or semantics than before: restart pmlogger"
like "a family in other units is reported" "$error" \
	"family drv.time $other"
like "a family of other semantics is reported" "$error" "family counter $other"
not_ok "a family that only loses its total is not reported" grep -q aaa <<<"$error"
db_stop
step()
{
	area
	reattach
}
start <<E
set epoch 80
family 0 drv.time microsec counter Time
inst 0 0 0 active 1000 user
E
grant
is "a family back in its old units has its number and value" \
	"$(pmid value.drv.time) $(db_values kmmv.value.drv.time)" \
	"$domain.256.0 user 1000"
like "a family back in its old units is reported" \
	"$(db_values kmmv.control.error)" "family drv.time $other"
area <<E
set epoch 81
family 0 drv.time nanosec counter Time
inst 0 0 0 active 1000000 user
E
live
reattach
is "a family that changes units in a reload has their number" \
	"$(pmid value.drv.time) $(db_values kmmv.value.drv.time)" \
	"$domain.258.0 user 1000000"
is "a name with two numbers is listed once" "$(db "children kmmv.value" | grep -c drv)" 1
is "a detach by a client ends the reports" "$(db_values kmmv.control.error)" '""'
db_stop
start <<E
set epoch 94
family 0 drv.time nanosec counter Time
inst 0 0 0 active 1000000 user
E
is "a family that is as it was last is not reported" \
	"$(db_values kmmv.control.error)" '""'
area <<E
set epoch 96
family 0 drv.time nanosec counter Time
inst 0 0 0 active 1000000 user
E
live
is "a family that comes back in a reload is not reported" \
	"$(db_values kmmv.control.epoch kmmv.control.error | xargs)" "96 "
db_stop

# After a restart without the device, names and descriptors are as before.
rm -f "$work/dev/counters" "$work/dev/names"
db_start pipe
is "a family whose device is away is a metric after a restart" \
	"$(pmid value.aaa) $(pmid value.drv.time)" "$domain.257.0 $domain.258.0"
like "a family whose device is away has its units" "$(db "desc $domain.258.0")" "nanosec"
like "a family whose device is away has its semantics" \
	"$(db "desc $domain.16.0")" "Semantics: counter"
like "a family whose device is away has no value" \
	"$(db_values kmmv.value.aaa)" "No such device"
like "the domain of a family whose device is away is empty" \
	"$(db "instance $domain.16")" "Instance domain is empty"
db_stop

# So is a field of events: pmlogger ends without the name of what it records.
start <<E
set epoch 90
family 0 counter count counter Counters
type 16 drv.io
field 16 0 8 unsigned microsec took
field 16 8 4 signed none result
field 16 12 4 text none tag
type 17 drv.one
field 17 0 8 unsigned microsec took
inst 0 0 0 active 1 one
E
fields()
{
	local field

	for field in took result tag; do
		pmid "ring.event.drv.io.$field"
		db "desc kmmv.ring.event.drv.io.$field" |
			sed -n 's/^ *Data Type: \(.*\)  InDom.*/\1/p;s/^ *Semantics:.*Units: *//p'
	done | xargs
}
first=$(fields)
u64="64-bit unsigned int"
is "an event's fields are metrics" "$first" \
	"$domain.8.0 $u64 microsec $domain.8.1 64-bit int none $domain.8.2 string none"
db_stop
rm -f "$work/dev/counters" "$work/dev/names"
db_start pipe
is "a field whose device is away is a metric after a restart" "$(fields)" "$first"
is "a field whose device is away has no value" \
	"$(db_values kmmv.ring.event.drv.io.took)" none
db_stop
start <<E
set epoch 91
family 0 counter count counter Counters
type 16 drv.io
field 16 0 8 unsigned nanosec took
type 17 drv.one
field 17 0 8 unsigned microsec took
inst 0 0 0 active 1 one
E
is "a field in other units is another metric" "$(fields)" \
	"$domain.8.4 $u64 nanosec $domain.8.1 64-bit int none $domain.8.2 string none"
is "a field in the same units is the same metric" \
	"$(pmid ring.event.drv.one.took)" "$domain.8.3"
db_stop
start <<E
set epoch 92
family 0 counter count counter Counters
inst 0 0 0 active 1 one
E
is "a field whose type is gone is the metric of its last units" "$(fields)" \
	"$domain.8.4 $u64 nanosec $domain.8.1 64-bit int none $domain.8.2 string none"
db_stop
start <<E
set epoch 93
family 0 counter count counter Counters
type 16 drv.io
field 16 0 8 unsigned microsec took
inst 0 0 0 active 1 one
E
is "a field back in its old units is the old metric" "$(fields)" "$first"
db_stop
rm -f "$work/dev/counters" "$work/dev/names"
db_start pipe
is "a field back in its old units remains so after a restart" "$(fields)" "$first"
db_stop

start <<E
set epoch 82
family 0 counter count counter Counters
inst 0 0 0 active 1 later
inst 1 0 0 active 1 one
E
is "no number is given out again" "$(ids kmmv.value.counter)" "later 5,one 0,"
db_stop

# The file of numbers: what it has, and what becomes of a damaged one.
like "the file of numbers has a name that PCP cannot take" "$(cat "$numbers")" \
	"^\+ 16 1 a_b a b$"
printf '+ 16 6 cut' >>"$numbers"
start <<E
set epoch 83
family 0 counter count counter Counters
inst 0 0 0 active 1 newer
inst 1 0 0 active 1 one
E
is "a line that a crash cut has no effect" "$(ids kmmv.value.counter)" "newer 6,one 0,"
like "the number after a cut line is written whole" "$(cat "$numbers")" "^\+ 16 6 newer$"
not_ok "a line that a crash cut is gone" grep -q cut "$numbers"
db_stop
sed -i 's/^+ 16 5 .*/rubbish/' "$numbers"
start <<E
set epoch 84
family 0 counter count counter Counters
inst 0 0 0 active 1 later
inst 1 0 0 active 1 one
E
is "numbers go on far behind where a line is damaged" "$(ids kmmv.value.counter)" \
	"later $((7 + 65536)),one 0,"
like "a damaged line is reported" "$(cat "$work/tmp/kmmv.log")" "is damaged"
not_ok "the new file has no damaged line" grep -q rubbish "$numbers"
ok "the file with the damaged line is kept" grep -q rubbish "$numbers.damaged"
db_stop

# A damaged file, for families: one is known by its instances only, and of counter
# only the fixed number is left.
cp "$numbers" "$work/numbers"
printf '%s\n' "kmmv numbers 1" "+ 0 240 aaa:counter:0,0,1,0,0,0" \
	"+ 0 24# bbb:counter:0,0,1,0,0,0" "+ 1 0 evt.size:u" "+ 500 0 old" \
	"#0000000000000000000000000000" >"$numbers"
start <<E
set epoch 85
family 0 ccc count counter Counters
family 1 aaa count counter Counters
family 2 counter count counter Counters
inst 0 0 0 active 1 new
inst 1 2 0 active 1 one
E
is "a family keeps its number in a damaged file" "$(pmid value.aaa)" "$domain.256.0"
# 500 is the family with number 242; the damaged lines were 62 bytes.
is "a new family's number is behind those that may be lost" "$(pmid value.ccc)" \
	"$domain.$((16 + 243 + 62 / 8 + 1)).0"
is "numbers of instances are far behind where all were lost" \
	"$(ids kmmv.value.counter)" "one 65536,"
like "fields' numbers are behind those that may be lost" "$(cat "$numbers")" "^= 1 9$"
db_stop
mv "$work/numbers" "$numbers"

sed -i 's/^= 16 .*/= 16 2147483647/' "$numbers"
start <<E
set epoch 86
family 0 counter count counter Counters
inst 0 0 0 active 1 last
inst 1 0 0 active 1 one
E
is "an instance is not shown when numbers have run out" \
	"$(ids kmmv.value.counter)" "one 0,"
db_stop
sed -i 's/^kmmv numbers 1/kmmv numbers 2/' "$numbers"
sum=$(md5sum <"$numbers")
db_start pipe
is "no family is shown with a file of a later version" "$(db_values kmmv.value.counter)" \
	"Unknown metric name"
like "a file of a later version is reported" "$(db_values kmmv.control.error)" "numbers"
db_stop
is "a file of a later version is not written" "$(md5sum <"$numbers")" "$sum"
rm -f "$numbers"*

# One process, while the table changes under it.
db_start dso
grant
step <<E
family 0 counter count counter Counters
family 1 gauge byte instant Level
inst 0 0 0 active 100,1 one
inst 1 0 0 active 200 two
inst 2 1 0 active 50 level
E
is "values and totals are there before the table changes" \
	"$(db_values kmmv.value.counter kmmv.all.counter kmmv.value.gauge |
	tr '\n' ',')" "one 101,two 200,301,level 50,"
db_values kmmv.percpu.counter >/dev/null
step <<E
set gen 43
family 0 counter count counter Counters
family 1 gauge byte instant Level
inst 0 0 0 active 110,1 one
inst 1 0 0 inactive 205 two
inst 2 1 0 active 40 level
E
is "a count is not doubled when attached anew in its epoch" \
	"$(db_values kmmv.value.counter kmmv.value.gauge | tr '\n' ',')" "one 111,level 40,"
is "a deleted instance counts in the total" "$(db_values kmmv.all.counter)" 316
is "a deleted instance has left the domain" "$(db "instance $domain.16" | grep -c two)" 0
like "a deleted instance has no name" \
	"$(db "instance $domain.16 $((own + 2))")" "Unknown or illegal"
step <<E
set gen 44
family 0 counter count counter Counters
family 1 gauge byte instant Level
inst 0 0 0 active 110,1 one
inst 1 0 0 active 206 two
inst 2 1 0 active 40 level
E
is "an instance that comes back has its count" \
	"$(db_values kmmv.value.counter | tr '\n' ',')" \
	"one 111,two 206,"
like "an instance that comes back has its identifier" \
	"$(db "instance $domain.16 $((own + 2))")" 'name: "two"'
step <<E
set gen 45
family 0 counter count counter Counters
family 1 gauge byte instant Level
inst 0 0 0 active 110,1 one
inst 1 0 1 active 5 three
inst 2 1 0 active 40 level
E
is "a number whose instance is forgotten is another's" \
	"$(db_values kmmv.value.counter | tr '\n' ',')" "one 111,three 5,"
like "the next instance of a number has another identifier" \
	"$(db "instance $domain.16 $((own + 3))")" 'name: "three"'
is "a forgotten instance still counts in the total" "$(db_values kmmv.all.counter)" \
	"$((111 + 206 + 5))"
step <<E
set gen 46
family 0 counter count counter Counters
family 1 gauge byte instant Level
inst 0 0 0 active 110,1 one
inst 1 0 1 active 5 three
inst 2 1 0 active 40 level
inst 3 0 0 active 1 two
E
is "a forgotten name that is back goes on counting" \
	"$(db_values kmmv.value.counter kmmv.all.counter | tr '\n' ',')" \
	"one 111,two 207,three 5,323,"

# The module is loaded anew: counts begin at 0, with other numbers.
step <<E
set epoch 99
set gen 1
family 7 gauge byte instant Level
family 9 counter count counter Counters
inst 0 7 0 active 30 level
inst 4 9 0 active 1,2 one
E
is "counters go on across a reload, levels do not" \
	"$(db_values kmmv.value.counter kmmv.all.counter kmmv.value.gauge | tr '\n' ',')" \
	"one 114,326,level 30,"
is "counters on each CPU go on across a reload" \
	"$(db_values kmmv.percpu.counter | tr '\n' ',')" \
	"one::cpu0 101,one::cpu1 3,one::cpu2 0,one::cpu3 0,"
step <<E
set epoch 100
family 0 gauge byte instant Level
inst 0 0 0 active 30 level
E
is "a family without its source has no values" \
	"$(db_values kmmv.value.counter)" none
db_stops "dbpmda ends well"
finish
