#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Numbers last: metrics and instances keep theirs across restarts, another order
# of registration, deletion and reuse. Counters go on across reloads.

# shellcheck source=qa/tap.sh
. qa/tap.sh
# shellcheck source=qa/pmda/env
. qa/pmda/env

# "name id" of a metric's instances, "name pmid" of all families
ids()
{
	info -f "$1" | sed -n 's/^ *inst \[\([0-9]*\) or "\(.*\)"\].*/\2 \1/p' |
		sort | tr '\n' ','
}
pmids()
{
	info -m kmmv | grep -v control | sed 's/ = .*//; s/ PMID://' | sort |
		tr '\n' ','
}

area <<E
family 0 counter count counter Counters
family 1 stat.cpu nanosecond counter CPU time
inst 0 0 0 active 1 one
inst 1 0 0 active 2 a b
inst 2 0 0 active 3 a_b
inst 3 0 0 active 4 a_b#2
inst 4 1 0 active 5 user
E
first=$(ids kmmv.counter)
metrics=$(pmids)
cpus=$(ids kmmv.percpu.counter)
is "the first ids count up" "$first" "a_b 1,a_b#2 2,a_b#2#2 3,one 0,"

# Another boot: the other order, and a family before all others.
area <<E
set epoch 78
family 0 aaa count counter New
family 1 stat.cpu nanosecond counter CPU time
family 2 counter count counter Counters
inst 0 1 0 active 5 user
inst 1 2 0 active 4 a_b#2
inst 2 2 0 active 3 a_b
inst 3 2 0 active 2 a b
inst 4 2 0 active 9 new
inst 5 2 0 active 1 one
E
is "instances keep theirs in another order" "$(ids kmmv.counter)" \
	"a_b 1,a_b#2 2,a_b#2#2 3,new 4,one 0,"
is "so do values" "$(values kmmv.counter | sort | tr '\n' ',')" \
	"a_b 2,a_b#2 3,a_b#2#2 4,new 9,one 1,"
is "so do instances on each CPU" \
	"$(ids kmmv.percpu.counter | tr ',' '\n' | grep -v new | tr '\n' ',')" \
	"$cpus"
is "so do families" "$(pmids | tr ',' '\n' | grep -v aaa | tr '\n' ',')" \
	"$metrics"
like "a new family has a number of its own" "$(pmids)" \
	"kmmv.aaa $domain.18.0,"

# Not there for a while, then there again.
area <<E
set epoch 79
family 0 aaa count counter New
inst 0 0 0 active 1 x
E
is "a family that is away is no metric after a restart" \
	"$(info kmmv.counter)" ""
area <<E
set epoch 80
family 0 counter count counter Counters
inst 0 0 0 active 1 later
inst 1 0 0 active 1 one
E
is "nothing is given out again" "$(ids kmmv.counter)" "later 5,one 0,"

# The file says what is whose; a damaged one costs numbers, not the agent.
cache=$work/var/config/pmda/$domain
like "a name that PCP cannot take rides along" "$(cat "$cache.16")" \
	"^1 [0-9]+ a_b a b$"
printf 'rubbish\n' >"$cache.16"
is "a damaged file" "$(values kmmv.counter | tr '\n' ',')" "later 1,one 1,"
printf '2 0 2147483647\n3 1 one\n2147483647 1 last\n' >"$cache.16"
is "numbers that have run out" "$(values kmmv.counter | tr '\n' ',')" "one 1,"
rm -f "$cache".*

# One process, while things change under it.
step()
{
	area
	reattach
}
db_start dso	# "later" and "one" have 0 and 1
grant
step <<E
family 0 counter count counter Counters
family 1 gauge byte instant Level
inst 0 0 0 active 100,1 one
inst 1 0 0 active 200 two
inst 2 1 0 active 50 level
E
is "before" "$(db_values kmmv.counter kmmv.all.counter kmmv.gauge |
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
	"$(db_values kmmv.counter kmmv.gauge | tr '\n' ',')" "one 111,level 40,"
is "a deleted instance counts in all" "$(db_values kmmv.all.counter)" 316
is "it has left the domain" "$(db "instance $domain.16" | grep -c two)" 0
like "and has no name" "$(db "instance $domain.16 2")" "Unknown or illegal"
step <<E
set gen 44
family 0 counter count counter Counters
family 1 gauge byte instant Level
inst 0 0 0 active 110,1 one
inst 1 0 0 active 206 two
inst 2 1 0 active 40 level
E
is "it comes back with its count" "$(db_values kmmv.counter | tr '\n' ',')" \
	"one 111,two 206,"
like "and its id" "$(db "instance $domain.16 2")" 'name: "two"'
step <<E
set gen 45
family 0 counter count counter Counters
family 1 gauge byte instant Level
inst 0 0 0 active 110,1 one
inst 1 0 1 active 5 three
inst 2 1 0 active 40 level
E
is "a number that was forgotten is another's now" \
	"$(db_values kmmv.counter | tr '\n' ',')" "one 111,three 5,"
like "with another id" "$(db "instance $domain.16 3")" 'name: "three"'
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
	"$(db_values kmmv.counter kmmv.all.counter | tr '\n' ',')" \
	"one 111,two 207,three 5,323,"

# The module is loaded anew: everything from zero, other numbers.
step <<E
set epoch 99
set gen 1
family 7 gauge byte instant Level
family 9 counter count counter Counters
inst 0 7 0 active 30 level
inst 4 9 0 active 1,2 one
E
is "counters go on across a reload, levels do not" \
	"$(db_values kmmv.counter kmmv.all.counter kmmv.gauge | tr '\n' ',')" \
	"one 114,326,level 30,"
is "on each CPU, too" "$(db_values kmmv.percpu.counter | tr '\n' ',')" \
	"one::cpu0 101,one::cpu1 3,one::cpu2 0,one::cpu3 0,"
step <<E
set epoch 100
family 0 gauge byte instant Level
inst 0 0 0 active 30 level
E
is "a family without its source has no values" \
	"$(db_values kmmv.counter)" none
ok "dbpmda ends well" db_stop
finish
