#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# beside: yes
# The agent on a mapped area that counts, adds, deletes, forgets and reuses
# instances: no value falls, and no identifier changes its name.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/agent/env
. qa/agent/env

sim=build/qa/bench/kmmvsim
make_programs bench/kmmvsim

start_sim()
{
	# Not in the background: the last one's `ready' must not be taken for its own.
	: >"$work/sim"
	$sim --live --period-us 2000 --families 2 "$@" "$work/dev" \
		>"$work/sim" &
	sim_pid=$!
	wait_for 20 grep -q ready "$work/sim" || bail "kmmvsim does not begin"
}
stop_sim()
{
	kill $sim_pid
	wait $sim_pid 2>/dev/null
}
trap 'kill $sim_pid 2>/dev/null; rm -rf "$work"' EXIT

# judge: values that fell and identifiers that had two names, in a log of fetches
judge()
{
	sed -n -e 's/^ *inst \[\([0-9]*\) or "\(.*\)"\] value \(.*\)$/\1 \2 \3/p' \
		"$1" | awk '
	$1 in name && name[$1] != $2 { print "renamed: " $0 }
	$1 in last && $3 < last[$1] { print "fell: " $0 " from " last[$1] }
	{ name[$1] = $2; last[$1] = $3; seen++ }
	END { if (seen < 1000) print "only " seen + 0 " values" }'
}

# The agent tries again if the table changes as often as it looks.
# shellcheck disable=SC2317 # both are called by wait_for
attached()
{
	[ "$(db_values kmmv.control.state)" = '"attached"' ]
}
# shellcheck disable=SC2317
is_of_epoch()
{
	[ "$(db_values kmmv.control.epoch)" = "$1" ]
}
# seen_enough: totals that differ, and names that were read again. How many there are in
# as many fetches depends on who runs when.
seen_enough()
{
	[ "$(sort -u "$work/totals" | wc -l)" -gt 30 ] &&
		[ "$(db_values kmmv.control.rereads)" -gt 1 ]
}

for how in dso pipe; do
	start_sim --instances 64
	db_start $how
	ok "$how: the agent attaches to a live area" wait_for 60 attached
	is "$how: the agent maps the live area" \
		"$(db_values kmmv.control.state kmmv.control.mapped |
			sed 's/^[1-9][0-9]*$/bytes/' | tr '\n' ' ')" \
		'"attached" bytes '
	: >"$work/fetches"
	: >"$work/totals"
	end=$((SECONDS + 1200))
	for ((round = 0; round < 120 || SECONDS < end; round++)); do
		[ $round -lt 120 ] || ! seen_enough || break
		db "fetch kmmv.value.sim.f0" >>"$work/fetches"
		db_values kmmv.all.sim.f0 >>"$work/totals"
	done
	is "$how: no value falls, no identifier changes its name" \
		"$(judge "$work/fetches")" ""
	is "$how: no total falls" "$(sort -n -c "$work/totals" 2>&1)" ""
	ok "$how: more than 30 different totals are seen" \
		test "$(sort -u "$work/totals" | wc -l)" -gt 30
	is "$how: names are read again" "$(db_values kmmv.control.rereads |
		awk '{ print ($1 > 1) }')" 1
	before=$(db_values kmmv.value.sim.f1 | sed -n 's/^i1\.0 //p')
	all=$(db_values kmmv.all.sim.f1)

	# The module is loaded anew: the old mapping ends, and counts go on.
	stop_sim
	start_sim --epoch 2 --instances 64
	grant
	reattach
	ok "$how: the agent attaches to another epoch" wait_for 60 is_of_epoch 2
	after=$(db_values kmmv.value.sim.f1 | sed -n 's/^i1\.0 //p')
	ok "$how: a counter goes on from $before" \
		test "$after" -ge "$before"
	ok "$how: a total goes on across a reload" \
		test "$(db_values kmmv.all.sim.f1)" -ge "$all"
	db_stops "$how: dbpmda ends well"
	stop_sim
done
finish
