#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Who may store what: root and group pcp, on this machine, what can be stored.

# shellcheck source=qa/tap.sh
. qa/tap.sh
# shellcheck source=qa/pmda/env
. qa/pmda/env

area <<E
family 0 counter count counter Counters
inst 0 0 0 active 1,2,3,4 one
E
group=$(getent group "${PCP_GROUP:-pcp}" | cut -d: -f3)
denied="No permission to perform requested operation"

# store METRIC VALUE: the error, or nothing
store()
{
	db "store $1 \"$2\"" | sed -n 's/^Error: .*failed: //p
		s/^Error PDU: //p'
}
client()
{
	db "attr \"userid\" \"$1\"" >/dev/null
	db "attr \"groupid\" \"$2\"" >/dev/null
}

for how in dso pipe; do
	db_start $how
	is "$how: a client of whom nothing is known" \
		"$(store kmmv.control.max_age 7)" "$denied"
	client 0 0
	is "$how: root on another machine" \
		"$(store kmmv.control.max_age 7)" "$denied"
	db 'attr "processid" "1"' >/dev/null
	is "$how: root" "$(store kmmv.control.max_age 7)" ""
	is "$how: it is set" "$(db_values kmmv.control.max_age)" 7
	client 65534 65534
	is "$how: somebody else" "$(store kmmv.control.max_age 8)" "$denied"
	is "$how: it is not" "$(db_values kmmv.control.max_age)" 7
	is "$how: nor may he detach" "$(store kmmv.control.attach 0)" "$denied"
	if [ -n "$group" ]; then
		client 65534 "$group"
		is "$how: somebody of group pcp" \
			"$(store kmmv.control.max_age 9)" ""
	else
		skip "$how: somebody of group pcp" "no such group"
	fi
	client x 0
	is "$how: an odd uid changes nothing" \
		"$(client 65534 65534; client x y
		store kmmv.control.max_age 10)" "$denied"
	client 0 0
	# Only 32-bit ones: dbpmda frees others twice.
	for metric in families instances capacity slots_free; do
		is "$how: kmmv.control.$metric cannot be stored" \
			"$(store kmmv.control.$metric 1)" "$denied"
	done
	is "$how: nor another value" "$(store kmmv.control.attach 2)" \
		"Bad input to pmstore"
	is "$how: limit" "$(store kmmv.control.percpu.limit 2
		db_values kmmv.control.percpu.limit)" 2
	is "$how: let go" "$(store kmmv.control.attach 0
		db_values kmmv.control.state)" '"detached"'
	is "$how: and attach" "$(store kmmv.control.attach 1
		db_values kmmv.control.state kmmv.counter | tr '\n' ',')" \
		'"attached",one 10,'
	ok "$how: dbpmda ends well" db_stop
done
finish
