#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# beside: yes
# Permissions: only root on this machine may store, and only into control metrics;
# events are for the users of a file, too, but never for the service's user.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/agent/env
. qa/agent/env

# What kmmv_profile has in configfs.
export KMMV_CONFIG_DIR=$work/config
profile=$work/config/profile
freq=$profile/events/default/freq

area <<E
family 0 counter count counter Counters
inst 0 0 0 active 1,2,3,4 one
E
service=$(id -u "${PCP_USER:-pcp}" 2>/dev/null)
group=$(getent group "${PCP_GROUP:-pcp}" | cut -d: -f3)
mkdir -p "$work/etc/kmmv"
export PCP_SYSCONF_DIR=$work/etc
denied="No permission to perform requested operation"

# store METRIC VALUE: print the error, if any
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
# Whether the client may have events
events()
{
	db_values kmmv.ring.records
}

for how in dso pipe; do
	db_start $how
	is "$how: a client of whom nothing is known may not store" \
		"$(store kmmv.control.max_age 7)" "$denied"
	client 0 0
	is "$how: root on another machine may not store" \
		"$(store kmmv.control.max_age 7)" "$denied"
	db 'attr "processid" "1"' >/dev/null
	is "$how: root may store" "$(store kmmv.control.max_age 7)" ""
	is "$how: the metric has what root stored" "$(db_values kmmv.control.max_age)" 7
	client 65534 65534
	is "$how: another user may not store" "$(store kmmv.control.max_age 8)" "$denied"
	is "$how: the metric is as it was" "$(db_values kmmv.control.max_age)" 7
	is "$how: another user may not detach" "$(store kmmv.control.attach 0)" "$denied"
	client 65534 "${group:-65534}"
	is "$how: a user of the service's group may not store" \
		"$(store kmmv.control.max_age 9)" "$denied"
	is "$how: a user of the service's group has no events" "$(events)" "$denied"
	printf '# a file\n\n  4711 # in numbers\ndaemon\nno.such.user\n%s\n' \
		"${service:-4712}" >"$work/etc/kmmv/users"
	client 4711 65534
	is "$how: a user of the file has events, from then on" \
		"$(events)" none
	is "$how: a user of the file may not store" "$(store kmmv.control.max_age 9)" \
		"$denied"
	client "$(id -u daemon)" 65534
	is "$how: a user of the file has events by his name" "$(events)" none
	client 65534 65534
	is "$how: a user not in the file has no events" "$(events)" "$denied"
	[ $how = dso ] || like "$how: an unknown user in the file is reported" \
		"$(cat "$work/tmp/kmmv.log")" "no user no.such.user"
	rm "$work/etc/kmmv/users"
	client 4711 65534
	is "$how: a user has no events once the file has gone" "$(events)" "$denied"
	is "$how: an odd uid changes nothing" \
		"$(client 65534 65534; client x y
		store kmmv.control.max_age 10)" "$denied"
	client 0 0
	# Only 32-bit metrics: dbpmda frees others twice.
	for metric in families instances capacity slots_free; do
		is "$how: kmmv.control.$metric cannot be stored" \
			"$(store kmmv.control.$metric 1)" "$denied"
	done
	is "$how: kmmv.control.attach cannot be 2" "$(store kmmv.control.attach 2)" \
		"Bad input to pmstore"
	is "$how: root may store a limit" "$(store kmmv.control.percpu.limit 2
		db_values kmmv.control.percpu.limit)" 2
	is "$how: root may detach" "$(store kmmv.control.attach 0
		db_values kmmv.control.state)" '"detached"'
	is "$how: root may attach" "$(store kmmv.control.attach 1
		db_values kmmv.control.state kmmv.value.counter | tr '\n' ',')" \
		'"attached",one 10,'
	is "$how: a limit cannot be too great" \
		"$(store kmmv.control.percpu.limit 1048577)" "Bad input to pmstore"
	is "$how: settings have no values without the profiler" "$(db_values \
		kmmv.control.profile.enable kmmv.control.profile.freq | xargs)" \
		"none none"
	mkdir -p "${freq%/*}"
	echo 0 >"$profile/enable"
	echo 19 >"$freq"
	is "$how: settings have the profiler's values" \
		"$(db_values kmmv.control.profile.enable \
		kmmv.control.profile.freq | xargs)" "0 19"
	is "$how: root may start the profiler" "$(store kmmv.control.profile.enable 1
		cat "$profile/enable")" 1
	is "$how: root may set the profiler's rate" "$(store kmmv.control.profile.freq 97
		cat "$freq")" 97
	is "$how: root may stop the profiler" "$(store kmmv.control.profile.enable 0
		cat "$profile/enable" "$freq" | xargs)" "0 97"
	is "$how: kmmv.control.profile.enable cannot be 2" \
		"$(store kmmv.control.profile.enable 2)" "Bad input to pmstore"
	client 65534 65534
	is "$how: another user may not start the profiler" \
		"$(store kmmv.control.profile.enable 1)" "$denied"
	is "$how: another user may not set the profiler's rate" \
		"$(store kmmv.control.profile.freq 7)" "$denied"
	is "$how: the profiler's settings are as root left them" \
		"$(cat "$profile/enable" "$freq" | xargs)" "0 97"
	client 0 0
	echo much >"$freq"
	is "$how: a rate that is no number has no value" \
		"$(db_values kmmv.control.profile.freq)" \
		"Missing metric value(s)"
	rm -r "$work/config"
	if [ -n "$service" ]; then
		echo "$service" >"$work/etc/kmmv/users"
		client "$service" "$group"
		is "$how: the service's user may not store" \
			"$(store kmmv.control.max_age 11)" "$denied"
		is "$how: the service's user has no events despite the file" \
			"$(events)" "$denied"
		client 0 0
		is "$how: a client that comes through the service may not store" \
			"$(store kmmv.control.max_age 11)" "$denied"
		rm "$work/etc/kmmv/users"
	else
		skip "$how: the service's user may not store" "there is none"
	fi
	db_stops "$how: dbpmda ends well"
done
finish
