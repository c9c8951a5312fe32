#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
#
# A network device whose driver reports nothing while the device is down: what it has
# counted is shown once, whatever happens to it meanwhile. And names of an earlier load
# that no device has.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/net.sh
. qa/vm/net.sh

nic=/sys/module/kmmv_nic/parameters

# shellcheck disable=SC2317 # called by the trap
clean_up()
{
	[ ! -e /sys/module/kmmv_nic ] || rmmod kmmv_nic
	net_end
}
trap clean_up EXIT

# has WHAT NAME PACKETS
has()
{
	is "$1" "$(total out.packets "$2") $(total out.drops "$2")" "$3 5"
}

# Each device has one, and there are the others.
# shellcheck disable=SC2317 # called by wait_for
settled()
{
	local devices=(/sys/class/net/*/)

	[ "$($check count | cut -d' ' -f1)" -eq $((${#devices[@]} + 1)) ]
}

net_begin
ok "the modules load with room for no name" load names=0
ok "a device comes where there is room for no name" insmod qa/client/kmmv_nic.ko drops=5
$check count >/dev/null
before=$(total out.drops others)
rmmod kmmv_nic
ok "the modules unload where they had room for no name" unload
ok "a device comes before the modules" insmod qa/client/kmmv_nic.ko drops=5
ok "the modules load while the device is down" load names=0
for what in first second; do
	is "drops of a device that is down are shown once, $what time" \
		"$(total out.drops others)" "$before"
done
ok "the modules unload while the device is down" unload
rmmod kmmv_nic
ok "the modules load" load forget_s=1000
ok "a device with packets and drops comes" \
	insmod qa/client/kmmv_nic.ko packets=1000 drops=5
has "a device that was never up tells of drops" kmmvnic 0
ip link set dev kmmvnic up
has "a device that is up tells of packets" kmmvnic 1000
ip link set dev kmmvnic down
has "a device that is down keeps its packets" kmmvnic 1000
ip link set dev kmmvnic up
has "a device that is up again has its packets once" kmmvnic 1000
echo 1010 >$nic/packets
has "a device that is up again counts on" kmmvnic 1010
echo 1020 >$nic/packets
ip link set dev kmmvnic down
has "packets counted last before a device went down are shown" kmmvnic 1020
is "no value goes back" "$(total resets values)" 0

# ---- its name, and its namespace

ip link set dev kmmvnic name nic2
has "packets counted under a name stay there after a rename" kmmvnic 1020
is "the new name has nothing while the device is down" \
	"$(total out.packets nic2) $(total out.drops nic2)" "0 0"
ip link set dev nic2 up
is "the new name has nothing when the device is up" \
	"$(total out.packets nic2) $(total out.drops nic2)" "0 0"
echo 1025 >$nic/packets
is "the new name has what the device counts since" "$(total out.packets nic2)" 5
ok "a namespace is made" space there
ip link set dev nic2 netns there
ip netns exec there ip link set dev nic2 up
echo 1030 >$nic/packets
is "packets in another namespace are not shown" "$(total out.packets nic2)" 5
ip netns exec there ip link set dev nic2 netns 1
is "packets elsewhere are not shown while the device is down" \
	"$(total out.packets nic2)" 5
ip link set dev nic2 up
is "packets elsewhere are shown when the device is back and up" \
	"$(total out.packets nic2)" 10

# ---- other lives of the module

ip link set dev nic2 down
ok "kmmv_net unloads while the device is down" rmmod kmmv_net
ok "kmmv_net loads while the device is down" insmod kmod/kmmv_net.ko forget_s=1000
is "packets that were shown are shown after a load" "$(total out.packets nic2)" 10
ip link set dev nic2 up
is "packets before a load are shown when the device is up" \
	"$(total out.packets nic2)" 1030
echo 1031 >$nic/packets
is "packets since the load are shown" "$(total out.packets nic2)" 1031
ip link set dev nic2 down
for what in first second; do
	ok "kmmv_net unloads, the device down, for the $what time" rmmod kmmv_net
	ok "kmmv_net loads, the device down, for the $what time" \
		insmod kmod/kmmv_net.ko forget_s=1000
	is "packets stay as they are after the $what load" \
		"$(total out.packets nic2)" 1031
done
ip link set dev nic2 up
is "no packet counts twice when the device is up after two loads" \
	"$(total out.packets nic2)" 1031
ip link set dev nic2 down
ok "kmmv_net unloads before the device goes elsewhere" rmmod kmmv_net
ip link set dev nic2 netns there
ok "kmmv_net loads while the device is elsewhere, down" \
	insmod kmod/kmmv_net.ko forget_s=1000
ip netns exec there ip link set dev nic2 netns 1
ip link set dev nic2 up
is "no packet counts twice when the device is back" "$(total out.packets nic2)" 1031
ip link set dev nic2 down
ok "kmmv_net unloads while the device is back and down" rmmod kmmv_net
ok "kmmv_net loads while the device is back and down" \
	insmod kmod/kmmv_net.ko forget_s=1000
ip link set dev nic2 netns there
ip netns exec there ip link set dev nic2 netns 1
is "no packet counts twice when the device goes and comes" \
	"$(total out.packets nic2)" 1031
echo 1 >$nic/opens
ip link set dev nic2 up
is "no packet counts twice when the device is set up" "$(total out.packets nic2)" 1031
echo 0 >$nic/opens
is "no packet counts twice when the device tells again" "$(total out.packets nic2)" 1031

# ---- it starts again

reset=$(total resets values)
ip link set dev nic2 down
is "packets stay what they are when the device is down again" \
	"$(total out.packets nic2)" 1031
echo 3 >$nic/packets
ip link set dev nic2 up
is "packets add up when the driver starts again" "$(total out.packets nic2)" 1034
is "a driver that starts again counts as a reset" \
	"$(total resets values)" $((reset + 1))
echo 9 >$nic/packets
ok "the driver unloads" rmmod kmmv_nic
is "packets that nobody had read are shown when the driver unloads" \
	"$(total out.packets nic2)" 1040

# ---- names that an earlier load has left

dummy left1
dummy stays1
is "the name of a new device is active" "$(state left1)" active
ok "kmmv_net unloads before a name is left" rmmod kmmv_net
ip link delete left1
ip link property add dev stays1 altname left1
ok "kmmv_net loads where a name is left" insmod kmod/kmmv_net.ko forget_s=0
is "another device's alternative name is not shown" "$(values out.packets left1)" ""
# One is left, and others go while the module is loaded.
for round in 1 2 3; do
	dummy left2
	is "$round: the name of a new device is active" "$(state left2)" active
	rmmod kmmv_net
	ip link delete left2
	for ((i = 0; i < 100; i++)); do
		echo "link add name many$i group 7 type dummy"
	done | ip -batch -
	insmod kmod/kmmv_net.ko forget_s=1000 &
	loading=$!
	ip link delete group 7
	wait $loading
	is "$round: kmmv_net loads while devices go" $? 0
	ok "$round: no name is active without a device" wait_for 10 settled
	note "names active, inactive, numbers: $($check count)"
	echo 0 >/sys/module/kmmv_net/parameters/forget_s
done
ip link delete stays1
ok "the modules unload" unload
finish
