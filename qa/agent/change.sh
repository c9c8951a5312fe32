#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# beside: yes
# A table that changes under the agent's mapping, step by step: instances, labels,
# families, CPUs, and finally the epoch. The agent has to notice by itself.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/agent/env
. qa/agent/env

next="$work/next"
# change GENERATION <SPEC: turn the mapped area into that
change()
{
	{
		echo "set gen $1"
		echo "set capacity 64"
		cat
	} | qa/agent/area.py "$next"
	echo "$next" >&6
	read -r -t 1200 said <&7 && [ "$said" = "done" ] ||
		bail "the area does not change"
}
trap 'exec 6>&- 7<&-; rm -rf "$work"' EXIT

{
	echo "set capacity 64"
	cat <<E
set gen 1
set online 0x3
family 0 counter count counter Counters
inst 0 0 0 active 1,2,3,4 one
E
} | area
mkfifo "$work/to" "$work/from"
qa/agent/live.py "$work/dev" <"$work/to" >"$work/from" &
exec 6>"$work/to" 7<"$work/from"
read -r -t 1200 said <&7 && [ "$said" = "done" ] || bail "no live area"

flags()
{
	db "fetch kmmv.control.state" |
		sed -n 's/.*timestamp: \([0-9]*\)\.000000.*/\1/p'
}

db_start dso
is "the first fetch says that there are names and labels" "$(flags)" 24
is "the second fetch has nothing to say" "$(flags)" 0
is "the mapped size is not zero" "$(db_values kmmv.control.mapped | grep -c '^[1-9]')" 1
is "an instance's value is the sum of its CPUs" "$(db_values kmmv.value.counter)" "one 10"
rereads=$(db_values kmmv.control.rereads)
db "fetch kmmv.value.counter" >/dev/null
is "names are not read without need" "$(db_values kmmv.control.rereads)" \
	"$rereads"

change 2 <<E
set online 0x7
family 0 counter count counter Counters
inst 0 0 0 active 2,2,3,4 one
inst 1 0 0 active 9 two
label 1 driver floppy
E
is "a new instance appears with its value" \
	"$(db_values kmmv.value.counter | tr '\n' ',')" \
	"one 11,two 9,"
like "a new instance has its label" "$(db "label instances $domain.16")" 'driver="floppy"'
is "a CPU that comes online has a value" "$(db_values kmmv.percpu.counter | head -n 3 |
	tr '\n' ',')" "one::cpu0 2,one::cpu1 2,one::cpu2 3,"
is "a new instance is no news for pmcd" "$(flags)" 0

change 3 <<E
family 0 counter count counter Counters
family 1 late count counter Late
inst 0 0 0 inactive 5,2,3,4 one
inst 1 0 0 active 9 two
label 1 driver tape
inst 2 1 0 active 1 x
E
is "a new family has pmcd told of names and labels" "$(flags)" 24
is "a new family has values" "$(db_values kmmv.value.late)" "x 1"
is "an instance that went has no value" "$(db_values kmmv.value.counter)" "two 9"
is "the count of an instance that went stays in the total" \
	"$(db_values kmmv.all.counter)" 23

change 4 <<E
family 0 counter count counter Counters
family 1 late count counter Late
inst 0 0 0 active 5,2,3,4 one
inst 1 0 0 active 9 two
label 1 driver disk
inst 2 1 0 active 1 x
E
is "a label that changes has pmcd told of labels" "$(flags)" 8
is "an instance that is back has its count" \
	"$(db_values kmmv.value.counter | tr '\n' ',')" \
	"one 14,two 9,"

# Names move: number 0 gets the name two, which was 1's, and 1 another one.
change 5 <<E
family 0 counter count counter Counters
family 1 late count counter Late
inst 0 0 1 active 1 two
inst 1 0 1 active 2 three
inst 2 1 0 active 1 x
E
is "a name that moved to another number goes on" \
	"$(db_values kmmv.value.counter | sort | tr '\n' ',')" "three 2,two 10,"
is "the total loses nothing when names move" "$(db_values kmmv.all.counter)" 26

change 1 <<E
set epoch 78
family 0 late count counter Late
family 1 counter count counter Counters
inst 0 0 0 active 1 x
inst 1 1 0 active 3 one
inst 2 1 0 active 4 two
E
is "values go on in another epoch from where they were" \
	"$(db_values kmmv.value.counter kmmv.value.late kmmv.all.counter | tr '\n' ',')" \
	"one 17,two 14,x 2,33,"
is "the agent is attached to the new epoch" \
	"$(db_values kmmv.control.state kmmv.control.epoch | tr '\n' ',')" \
	'"attached",78,'
# Epochs that follow each other too fast are read a second later.
shows()
{
	[ "$(db_values "$1")" = "$2" ]
}

# A metric's name becomes that of a branch, and again a metric's.
change 1 <<E
set epoch 79
family 0 tree count counter Tree
inst 0 0 0 active 7 x
E
ok "a family of the next epoch appears" wait_for 60 shows kmmv.value.tree "x 7"
change 1 <<E
set epoch 80
family 0 tree.leaf count counter Leaf
inst 0 0 0 active 8 x
E
ok "a metric's name becomes a branch's" wait_for 60 shows kmmv.value.tree.leaf "x 8"
advice="restart pmlogger; archives of both need pmlogrewrite"
told="family tree.leaf takes the place of tree: $advice"
is "a branch in a metric's place is reported" "$(db_values kmmv.control.error)" \
	"\"$told\""
change 1 <<E
set epoch 81
family 0 tree count counter Tree
inst 0 0 0 active 9 x
E
ok "a branch's name becomes a metric's again" wait_for 60 shows kmmv.value.tree "x 16"
is "a metric in a branch's place is reported" "$(db_values kmmv.control.error)" \
	"\"family tree takes the place of tree.leaf: $advice; $told\""
grant
reattach
is "a detach by a client ends the reports" "$(db_values kmmv.control.error)" '""'

# A family's sum becomes meaningless, and means something again.
names_of_all()
{
	[ "$(db "children kmmv.all" | grep -c " tree\>")" -eq "$1" ] &&
		[ "$(db "desc kmmv.all.tree" | grep -c "PMID: $domain")" -eq "$1" ]
}
ok "a family that has a total is below kmmv.all" names_of_all 1
change 1 <<E
set epoch 90
family 0 tree count counter,total=no Tree
inst 0 0 0 active 9 x
E
ok "a family that has lost its total is not below kmmv.all" wait_for 60 names_of_all 0
change 1 <<E
set epoch 91
family 0 tree count counter Tree
inst 0 0 0 active 9 x
E
ok "a family whose total is back is below kmmv.all" wait_for 60 names_of_all 1

change 1 <<E
set epoch 82
family 0 odd furlongs counter Odd
inst 0 0 0 active 1 x
E
ok "an error of a family is reported" wait_for 60 shows kmmv.control.error \
	'"family odd: invalid units "furlongs""'
change 2 <<E
set epoch 82
E
ok "an error of a family that is gone is not reported" \
	wait_for 60 shows kmmv.control.error '""'
db_stops "dbpmda ends well"
finish
