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
is "the first ids count up" "$first" "a_b 1,a_b#2 2,a_b#2#2 3,one 0,"
is "kmmv's own families have fixed numbers" "$(pmid value.counter)" "$domain.16.0"
is "others begin behind them" "$(pmid value.drv.time)" "$domain.256.0"
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
is "instances keep theirs in another order" "$(ids kmmv.value.counter)" \
	"a_b 1,a_b#2 2,a_b#2#2 3,new 4,one 0,"
is "so do values" "$(db_values kmmv.value.counter | sort | tr '\n' ',')" \
	"a_b 2,a_b#2 3,a_b#2#2 4,new 9,one 1,"
is "so do instances on each CPU" \
	"$(ids kmmv.percpu.counter | tr ',' '\n' | grep -v new | tr '\n' ',')" \
	"$cpus"
is "so do families" "$(pmid value.counter) $(pmid value.drv.time)" \
	"$domain.16.0 $domain.256.0"
is "a new family has a number of its own" "$(pmid value.aaa)" "$domain.257.0"
is "a fixed one has that, whenever it comes" "$(pmid value.stat.irq)" \
	"$domain.20.0"
is "nothing is wrong with what is as before" "$(db_values kmmv.control.error)" '""'
db_stop
is "a local context has the same numbers" "$(info -f kmmv.value.counter |
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
is "other units, another number" "$(pmid value.drv.time)" "$domain.258.0"
is "nothing is carried over" "$(db_values kmmv.value.drv.time kmmv.all.drv.time |
	tr '\n' ' ')" "user 1000000 1000000 "
is "other semantics, another number" "$(pmid value.counter)" "$domain.259.0"
is "nor to there" "$(db_values kmmv.value.counter)" "one 7"
like "the old one keeps its descriptor" "$(db "desc $domain.256.0")" "microsec"
error=$(db_values kmmv.control.error)
other="has other units or semantics than before: restart pmlogger"
like "an archive cannot have both, which is told of other units" "$error" \
	"family drv.time $other"
like "and of other semantics" "$error" "family counter $other"
not_ok "and of no other family" grep -q aaa <<<"$error"
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
is "and is back with its units" "$(pmid value.drv.time) $(db_values kmmv.value.drv.time)" \
	"$domain.256.0 user 1000"
like "which is told as well" "$(db_values kmmv.control.error)" "family drv.time $other"
area <<E
set epoch 81
family 0 drv.time nanosec counter Time
inst 0 0 0 active 1000000 user
E
live
reattach
is "across a reload, too" "$(pmid value.drv.time) $(db_values kmmv.value.drv.time)" \
	"$domain.258.0 user 1000000"
is "the name has that one only" "$(db "children kmmv.value" | grep -c drv)" 1
is "a detach by a client ends what was told" "$(db_values kmmv.control.error)" '""'
db_stop
start <<E
set epoch 94
family 0 drv.time nanosec counter Time
inst 0 0 0 active 1000000 user
E
is "a family that is as it was last is not told of" "$(db_values kmmv.control.error)" '""'
area <<E
set epoch 96
family 0 drv.time nanosec counter Time
inst 0 0 0 active 1000000 user
E
live
is "nor when it comes back in a reload" \
	"$(db_values kmmv.control.epoch kmmv.control.error | xargs)" "96 "
db_stop

# After a restart without the device, names and descriptors are as before.
rm -f "$work/dev/counters" "$work/dev/names"
db_start pipe
is "a family whose device is away is a metric after a restart" \
	"$(pmid value.aaa) $(pmid value.drv.time)" "$domain.257.0 $domain.258.0"
like "with its units" "$(db "desc $domain.258.0")" "nanosec"
like "and semantics" "$(db "desc $domain.16.0")" "Semantics: counter"
like "and no value" "$(db_values kmmv.value.aaa)" "No such device"
like "its domain is empty" "$(db "instance $domain.16")" "Instance domain is empty"
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
is "fields are metrics" "$first" \
	"$domain.8.0 $u64 microsec $domain.8.1 64-bit int none $domain.8.2 string none"
db_stop
rm -f "$work/dev/counters" "$work/dev/names"
db_start pipe
is "an event's field whose device is away is one after a restart" "$(fields)" "$first"
is "without a value" "$(db_values kmmv.ring.event.drv.io.took)" none
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
is "in other units, it is another one" "$(fields)" \
	"$domain.8.4 $u64 nanosec $domain.8.1 64-bit int none $domain.8.2 string none"
is "one that is as before is not" "$(pmid ring.event.drv.one.took)" "$domain.8.3"
db_stop
start <<E
set epoch 92
family 0 counter count counter Counters
inst 0 0 0 active 1 one
E
is "which is the metric, too, once the type is gone" "$(fields)" \
	"$domain.8.4 $u64 nanosec $domain.8.1 64-bit int none $domain.8.2 string none"
db_stop
start <<E
set epoch 93
family 0 counter count counter Counters
type 16 drv.io
field 16 0 8 unsigned microsec took
inst 0 0 0 active 1 one
E
is "until the old one is back" "$(fields)" "$first"
db_stop
rm -f "$work/dev/counters" "$work/dev/names"
db_start pipe
is "which remains after another restart" "$(fields)" "$first"
db_stop

start <<E
set epoch 82
family 0 counter count counter Counters
inst 0 0 0 active 1 later
inst 1 0 0 active 1 one
E
is "nothing is given out again" "$(ids kmmv.value.counter)" "later 5,one 0,"
db_stop

# The file of numbers: what it has, and what becomes of a damaged one.
like "a name that PCP cannot take rides along" "$(cat "$numbers")" \
	"^\+ 16 1 a_b a b$"
printf '+ 16 6 cut' >>"$numbers"
start <<E
set epoch 83
family 0 counter count counter Counters
inst 0 0 0 active 1 newer
inst 1 0 0 active 1 one
E
is "a line that a crash cut has no effect" "$(ids kmmv.value.counter)" "newer 6,one 0,"
like "the next number is written whole" "$(cat "$numbers")" "^\+ 16 6 newer$"
not_ok "the cut line is gone" grep -q cut "$numbers"
db_stop
sed -i 's/^+ 16 5 .*/rubbish/' "$numbers"
start <<E
set epoch 84
family 0 counter count counter Counters
inst 0 0 0 active 1 later
inst 1 0 0 active 1 one
E
is "behind a damaged line numbers go on far behind" "$(ids kmmv.value.counter)" \
	"later $((7 + 65536)),one 0,"
like "which is reported" "$(cat "$work/tmp/kmmv.log")" "is damaged"
not_ok "the new file is not" grep -q rubbish "$numbers"
ok "the old one is kept" grep -q rubbish "$numbers.damaged"
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
is "a new one is behind those that may be lost" "$(pmid value.ccc)" \
	"$domain.$((16 + 243 + 62 / 8 + 1)).0"
is "instances of a family that lost all are far behind" \
	"$(ids kmmv.value.counter)" "one 65536,"
like "fields are, too" "$(cat "$numbers")" "^= 1 9$"
db_stop
mv "$work/numbers" "$numbers"

sed -i 's/^= 16 .*/= 16 2147483647/' "$numbers"
start <<E
set epoch 86
family 0 counter count counter Counters
inst 0 0 0 active 1 last
inst 1 0 0 active 1 one
E
is "numbers that have run out" "$(ids kmmv.value.counter)" "one 0,"
db_stop
sed -i 's/^kmmv numbers 1/kmmv numbers 2/' "$numbers"
sum=$(md5sum <"$numbers")
db_start pipe
is "a file of tomorrow is not written" "$(db_values kmmv.value.counter)" \
	"Unknown metric name"
like "which is reported, too" "$(db_values kmmv.control.error)" "numbers"
db_stop
is "indeed" "$(md5sum <"$numbers")" "$sum"
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
is "before" "$(db_values kmmv.value.counter kmmv.all.counter kmmv.value.gauge |
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
is "attached anew in the same epoch: no count twice" \
	"$(db_values kmmv.value.counter kmmv.value.gauge | tr '\n' ',')" "one 111,level 40,"
is "a deleted instance counts in all" "$(db_values kmmv.all.counter)" 316
is "it has left the domain" "$(db "instance $domain.16" | grep -c two)" 0
like "and has no name" "$(db "instance $domain.16 $((own + 2))")" "Unknown or illegal"
step <<E
set gen 44
family 0 counter count counter Counters
family 1 gauge byte instant Level
inst 0 0 0 active 110,1 one
inst 1 0 0 active 206 two
inst 2 1 0 active 40 level
E
is "it comes back with its count" "$(db_values kmmv.value.counter | tr '\n' ',')" \
	"one 111,two 206,"
like "and its id" "$(db "instance $domain.16 $((own + 2))")" 'name: "two"'
step <<E
set gen 45
family 0 counter count counter Counters
family 1 gauge byte instant Level
inst 0 0 0 active 110,1 one
inst 1 0 1 active 5 three
inst 2 1 0 active 40 level
E
is "a number that was forgotten is another's now" \
	"$(db_values kmmv.value.counter | tr '\n' ',')" "one 111,three 5,"
like "with another id" "$(db "instance $domain.16 $((own + 3))")" 'name: "three"'
is "what was forgotten still counts in all" "$(db_values kmmv.all.counter)" \
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
is "on each CPU, too" "$(db_values kmmv.percpu.counter | tr '\n' ',')" \
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
