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
ok "loads with room for no name" load names=0
ok "a device" insmod qa/client/kmmv_nic.ko drops=5
$check count >/dev/null
before=$(total out.drops others)
rmmod kmmv_nic
ok "unloads" unload
ok "a device" insmod qa/client/kmmv_nic.ko drops=5
ok "loads while it is down" load names=0
for what in once "and not twice"; do
	is "what it tells is shown $what" "$(total out.drops others)" "$before"
done
ok "unloads" unload
rmmod kmmv_nic
ok "loads" load forget_s=1000
ok "a device" insmod qa/client/kmmv_nic.ko packets=1000 drops=5
has "one that was never up tells of drops" kmmvnic 0
ip link set dev kmmvnic up
has "it is up" kmmvnic 1000
ip link set dev kmmvnic down
has "down" kmmvnic 1000
ip link set dev kmmvnic up
has "up again" kmmvnic 1000
echo 1010 >$nic/packets
has "and counts" kmmvnic 1010
echo 1020 >$nic/packets
ip link set dev kmmvnic down
has "what it had counted when it went down is shown" kmmvnic 1020
is "nothing went back" "$(total resets values)" 0

# ---- its name, and its namespace

ip link set dev kmmvnic name nic2
has "renamed: what it counted under a name stays there" kmmvnic 1020
is "the other has nothing" "$(total out.packets nic2) $(total out.drops nic2)" "0 0"
ip link set dev nic2 up
is "nor has it when the device is up" \
	"$(total out.packets nic2) $(total out.drops nic2)" "0 0"
echo 1025 >$nic/packets
is "but for what it counts" "$(total out.packets nic2)" 5
ok "a namespace" space there
ip link set dev nic2 netns there
ip netns exec there ip link set dev nic2 up
echo 1030 >$nic/packets
is "what it counts elsewhere is not shown" "$(total out.packets nic2)" 5
ip netns exec there ip link set dev nic2 netns 1
is "not before it tells" "$(total out.packets nic2)" 5
ip link set dev nic2 up
is "when it is back and up" "$(total out.packets nic2)" 10

# ---- other lives of the module

ip link set dev nic2 down
ok "unloads" rmmod kmmv_net
ok "loads while it is down" insmod kmod/kmmv_net.ko forget_s=1000
is "what was shown is" "$(total out.packets nic2)" 10
ip link set dev nic2 up
is "once it tells of all, that is shown" "$(total out.packets nic2)" 1030
echo 1031 >$nic/packets
is "and what it counts" "$(total out.packets nic2)" 1031
ip link set dev nic2 down
for what in first second; do
	ok "unloads" rmmod kmmv_net
	ok "loads while it is down" insmod kmod/kmmv_net.ko forget_s=1000
	is "the $what time" "$(total out.packets nic2)" 1031
done
ip link set dev nic2 up
is "nothing counts twice" "$(total out.packets nic2)" 1031
ip link set dev nic2 down
ok "unloads" rmmod kmmv_net
ip link set dev nic2 netns there
ok "loads while it is elsewhere, down" insmod kmod/kmmv_net.ko forget_s=1000
ip netns exec there ip link set dev nic2 netns 1
ip link set dev nic2 up
is "nothing counts twice when it is back" "$(total out.packets nic2)" 1031
ip link set dev nic2 down
ok "unloads" rmmod kmmv_net
ok "loads while it is down" insmod kmod/kmmv_net.ko forget_s=1000
ip link set dev nic2 netns there
ip netns exec there ip link set dev nic2 netns 1
is "it goes and comes" "$(total out.packets nic2)" 1031
echo 1 >$nic/opens
ip link set dev nic2 up
is "is set up" "$(total out.packets nic2)" 1031
echo 0 >$nic/opens
is "and tells" "$(total out.packets nic2)" 1031

# ---- it starts again

reset=$(total resets values)
ip link set dev nic2 down
is "down" "$(total out.packets nic2)" 1031
echo 3 >$nic/packets
ip link set dev nic2 up
is "its driver starts again" "$(total out.packets nic2)" 1034
is "which is told" "$(total resets values)" $((reset + 1))
echo 9 >$nic/packets
ok "it goes" rmmod kmmv_nic
is "with what nobody had read" "$(total out.packets nic2)" 1040

# ---- names that an earlier load has left

dummy left1
dummy stays1
is "a name" "$(state left1)" active
ok "unloads" rmmod kmmv_net
ip link delete left1
ip link property add dev stays1 altname left1
ok "loads" insmod kmod/kmmv_net.ko forget_s=0
is "another device's alternative name is nobody's" "$(values out.packets left1)" ""
# One is left, and others go while the module is loaded.
for round in 1 2 3; do
	dummy left2
	is "$round: a name" "$(state left2)" active
	rmmod kmmv_net
	ip link delete left2
	for ((i = 0; i < 100; i++)); do
		echo "link add name many$i group 7 type dummy"
	done | ip -batch -
	insmod kmod/kmmv_net.ko forget_s=1000 &
	loading=$!
	ip link delete group 7
	wait $loading
	is "$round: loads" $? 0
	ok "$round: no name is active without a device" wait_for 10 settled
	note "names active, inactive, numbers: $($check count)"
	echo 0 >/sys/module/kmmv_net/parameters/forget_s
done
ip link delete stays1
ok "unloads" unload
finish
