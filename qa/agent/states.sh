#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A device that is absent, unreadable, foreign, of another ABI, truncated or let go:
# the agent stays, reports the fault, answers, and attaches by itself.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/agent/env
. qa/agent/env

good()
{
	area <<E
family 0 counter count counter Counters
inst 0 0 0 active 1,2,3,4 one
E
}

# after WHAT: make the agent look again, which it does once a second at most
look()
{
	sleep 1.1
	db_values kmmv.control.state
}

# expect WHAT STATE ANSWER: the state, and the answer of kmmv.value.counter
expect()
{
	is "$1: the state is $2" "$(look)" "\"$2\""
	is "$1: control.attached is 0" "$(db_values kmmv.control.attached)" 0
	is "$1: values are answered with an error" \
		"$(db_values kmmv.value.counter kmmv.percpu.counter \
		kmmv.all.counter | sort -u)" "$3"
	is "$1: the domains answer, with nothing in them" \
		"$(db "instance $domain.16"; db "instance $domain.17")" \
		"pmInDom: $domain.16
Instance domain is empty
pmInDom: $domain.17
Instance domain is empty"
	is "$1: control has values all the same" \
		"$(db_values kmmv.control.attach kmmv.control.instances \
			kmmv.control.mapped | tr '\n' ' ')" "1 0 0 "
}

rmdir "$work/dev"
db_start dso
is "absent at the start: the state says so" "$(db_values kmmv.control.state)" '"absent"'
is "absent at the start: there are no families" \
	"$(db "children kmmv" | grep -c counter)" 0
like "absent at the start: the error says why" \
	"$(db_values kmmv.control.error)" "^\"$work/dev.*: "
is "absent at the start: a family's metric is unknown" \
	"$(db_values "$domain.16.0")" \
	"DSO desc() failed: Unknown or illegal metric identifier"

# A round of a second or more proves nothing: the agent may look again then. What takes
# long is done before it.
hundredths()
{
	local up

	read -r up _ </proc/uptime
	echo "${up/./}"
}
good
for ((round = 0; round < 1000; round++)); do
	mv "$work/dev" "$work/away"
	db_stop
	since=$(hundredths)
	db_start dso
	before=$(db_values kmmv.control.state)
	mv "$work/away" "$work/dev"
	state=$(db_values kmmv.control.state)
	[ $(($(hundredths) - since)) -ge 99 ] || break
done
[ $round -lt 1000 ] || bail "no round took less than a second"
is "the device is not looked for all the time" "$before $state" '"absent" "absent"'
is "a device that appears is attached" "$(look)" '"attached"'
is "control.attached is 1 when a device has appeared" \
	"$(db_values kmmv.control.attached)" 1
is "a device that appeared has values" "$(db_values kmmv.value.counter)" "one 10"
is "a device that appeared ends the error" "$(db_values kmmv.control.error)" '""'
grant

# After each of these, a good area must bring all values back.
again()
{
	good
	is "$1: a good area brings values back" \
		"$(look; db_values kmmv.value.counter)" '"attached"
one 10'
}
detach()
{
	db 'store kmmv.control.attach "0"' >/dev/null
}
attach()
{
	db 'store kmmv.control.attach "1"' >/dev/null
}

detach
is "let go: the state is detached" "$(db_values kmmv.control.state)" '"detached"'
is "let go: values are not available" "$(db_values kmmv.value.counter)" \
	"Try again. Information not currently available"
is "let go: the state stays detached" "$(look)" '"detached"'
is "let go: control.attached is 0" "$(db_values kmmv.control.attached)" 0
is "let go: control.attach is 0" "$(db_values kmmv.control.attach)" 0
rm -r "${work:?}/dev"
attach
expect "absent" absent "No such device"
again "absent"

detach
rm "$work/dev/names"
attach
expect "no names" absent "No such device"
again "no names"

detach
{ echo "set major 2"; echo "family 0 counter count counter x"; } | area
attach
expect "another major version" unsupported \
	"Metric not supported by this version of monitored application"
like "another major version: the error says which" "$(db_values kmmv.control.error)" \
	"ABI 2\.[0-9]*, this library reads"
again "another major version"

detach
{ echo "set incompat 4"; echo "family 0 counter count counter x"; } | area
attach
expect "an unknown incompatible feature" unsupported \
	"Metric not supported by this version of monitored application"
again "an unknown incompatible feature"

detach
head -c 8192 /dev/zero >"$work/dev/counters"
attach
expect "not a kmmv file" invalid "Bad message"
again "not a kmmv file"

detach
truncate -s 5000 "$work/dev/counters"
attach
expect "cut off" invalid "Bad message"
again "cut off"

detach
sed -i 's/^instance.*/instance rubbish/' "$work/dev/names"
attach
expect "names of no sense" invalid "Bad message"
again "names of no sense"
db_stops "dbpmda ends well"

# A device that an ordinary user cannot read.
good
live
db_start pipe
db "fetch kmmv.value.counter" >/dev/null
db_stop
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	wrap=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	chmod 0777 "$work/var/config/pmda"
elif [ "$(id -u)" -eq 0 ]; then
	skip "denied: the state says so" "machine: cannot be another user"
	finish
fi
good
chmod 0 "$work/dev/counters"
is "denied: the state says so" "$(values kmmv.control.state)" '"denied"'
db_start dso
is "denied: a domain that was known is empty" \
	"$(db "instance $domain.16" | tail -n 1)" "Instance domain is empty"
db_stop
finish
