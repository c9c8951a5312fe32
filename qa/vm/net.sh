# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The common part of the tests of kmmv_net: `. qa/vm/net.sh`, after tap.sh. Devices
# that a test makes get no address, so that only the test sends on them.

# shellcheck source=qa/vm/loops.sh
. qa/vm/loops.sh

check=build/qa/vm/net-check
# shellcheck disable=SC2034 # for the tests
cpu1=/sys/devices/system/cpu/cpu1/online

load()
{
	insmod kmod/kmmv.ko && insmod kmod/kmmv_net.ko "$@"
}

unload()
{
	local name

	for name in kmmv_net kmmv_stat kmmv; do
		[ ! -e /sys/module/$name ] || rmmod $name || return
	done
}

net_begin()
{
	modprobe -a dummy veth
	ip link delete dummy0 2>/dev/null
	echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
}

# space NAME: make a network namespace; `ip netns exec NAME`
space()
{
	ip netns add "$1" &&
		ip netns exec "$1" sh -c \
			'echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6'
}

# pair ONE OTHER: a veth with both ends up
pair()
{
	ip link add name "$1" type veth peer name "$2" &&
		ip link set dev "$2" up && ip link set dev "$1" up
}

# dummy NAME
dummy()
{
	ip link add name "$1" type dummy && ip link set dev "$1" up
}

# send DEVICE COUNT SIZE [CPU]
send()
{
	$check send "$@"
}

# values FAMILY NAME: "active|inactive NUMBER V0 V1 ..."
values()
{
	$check dump "$1" | awk -v name="$2" '$1 == name { $1 = ""
		print substr($0, 2) }'
}

# total FAMILY NAME
total()
{
	values "$1" "$2" | awk '{ for (i = 3; i <= NF; i++) sum += $i; print sum }'
}

state()
{
	values in.bytes "$1" | awk '{ print $1 }'
}

number()
{
	values in.bytes "$1" | awk '{ print $2 }'
}

# shellcheck disable=SC2317 # called by the trap
net_end()
{
	local name

	stop_loops
	echo 1 >$cpu1
	for name in $(ip netns list | cut -d" " -f1); do
		ip netns delete "$name"
	done
	umount /run/netns 2>/dev/null
	unload
	for name in veth dummy; do
		[ ! -e /sys/module/$name ] || rmmod $name
	done
}
trap net_end EXIT
