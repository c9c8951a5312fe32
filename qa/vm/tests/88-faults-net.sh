#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# machine: SMP=2
#
# Each call of kmmv_net that can fail fails once, while it is loaded, and while devices
# come, are renamed and go: loading says so, and what a device counts is in its
# name or among the others, from the next copy on.

# shellcheck disable=SC2317 # functions called by fail_each
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/net.sh
. qa/vm/net.sh
# shellcheck source=qa/vm/faults.sh
. qa/vm/faults.sh

faults_net_end()
{
	rmmod kmmv_net 2>/dev/null
	faults_end
	net_end
}
trap faults_net_end EXIT

net_begin
load_fault kmmv_net
dummy dummy1
pair veth0 veth1
send dummy1 5 100
loaded()
{
	insmod kmod/kmmv_net.ko
}
unloaded()
{
	rmmod kmmv_net
}
fail_each "load" loaded unloaded
loaded || bail "kmmv_net does not load"
# A device that was there before, of whose life an earlier load may have shown some.
ok "values agree with /proc after the faults of loads" $check bracket 1

# ---- devices that come and go; $try is fail_each()'s: each name is a new one

# By a copy that was begun after it was asked for.
sum()
{
	$check sum out.packets
}
# shellcheck disable=SC2317 # called by wait_for
sum_is()
{
	[ "$(sum)" -eq "$1" ]
}
lives()
{
	local before after

	before=$(sum)
	dummy "qa$try" && send "qa$try" 3 100 && wait_for 20 sum_is $((before + 3)) &&
		send "qa$try" 4 100 && ip link set dev "qa$try" down &&
		ip link set dev "qa$try" name "qb$try" && ip link set dev "qb$try" up &&
		send "qb$try" 5 100 && ip link delete "qb$try" || return
	after=$(sum)
	[ $((after - before)) -eq 12 ] || {
		echo "counted $((after - before)) of 12"
		return 1
	}
}
fail_each "a device comes, is renamed, and goes" lives : never
ok "values agree with /proc after the faults of devices" $check bracket 1
ok "kmmv_net unloads" rmmod kmmv_net
all_failed
ok "all modules unload" faults_net_end
is "no module of kmmv is left" "$(grep -c ^kmmv /proc/modules)" 0
finish
