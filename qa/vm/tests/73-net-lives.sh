#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
#
# The lives of devices' names: devices are renamed, go to other namespaces, return, or
# do not and are forgotten. Each frame is counted once, under the name that the device
# had.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/net.sh
. qa/vm/net.sh

net_begin
forget=/sys/module/kmmv_net/parameters/forget_s

pair dummy1 other1
ok "the modules load" load
send dummy1 3 60

# ---- loaded again with less room

all=$($check sum out.packets)
ok "kmmv_net unloads" rmmod kmmv_net
ok "kmmv_net loads with room for one name" insmod kmod/kmmv_net.ko names=1
is "no packet is counted again with room for one name" \
	"$($check sum out.packets)" "$all"
ok "kmmv_net unloads where it had room for one name" rmmod kmmv_net
ok "kmmv_net loads with room for all names" insmod kmod/kmmv_net.ko
is "no packet is counted again with room for all names" \
	"$($check sum out.packets)" "$all"

# ---- renamed

dummy old1
send old1 10 60
ip link set dev old1 down
ip link set dev old1 name new1
ip link set dev new1 up
send new1 4 60
ip link set dev new1 down
ip link set dev new1 name newer1
is "packets counted under a name stay there after a rename" \
	"$(total out.packets old1)" 10
is "packets after a rename count under the new name" "$(total out.packets new1)" 4
is "a new name that was renamed again is inactive" "$(state new1)" inactive
is "the newest name has counted nothing" \
	"$(values out.packets newer1 | cut -d' ' -f1,3-)" \
	"active 0 0 0 0"
dummy old1
send old1 1 60
is "another device with an old name goes on with its count" \
	"$(total out.packets old1)" 11
dummy swap1
send swap1 3 60
for _ in 1 2; do
	ip link set dev swap1 down
	ip link set dev old1 down
	ip link set dev swap1 name tmp1
	ip link set dev old1 name swap1
	ip link set dev tmp1 name old1
	ip link set dev swap1 up
	ip link set dev old1 up
	send swap1 100 60
	send old1 1000 60
done
is "two devices that swap names count under the names" \
	"$(total out.packets swap1) $(total out.packets old1)" "203 2011"
ip link delete swap1
ip link delete old1
ip link delete newer1

# ---- other namespaces

ok "a namespace is made" space there
dummy away1
send away1 6 60
number=$(number away1)
ip link set dev away1 netns there
is "a device in another namespace is inactive" "$(state away1)" inactive
is "a device in another namespace keeps its count" "$(total out.packets away1)" 6
ip netns exec there ip link set dev away1 up
ip netns exec there $check send away1 30 60
is "packets in another namespace are not shown" "$(total out.packets away1)" 6
ip netns exec there ip link set dev away1 netns 1
is "packets in another namespace are shown on the return" \
	"$(total out.packets away1)" 36
is "a device that returns has its number" "$(number away1)" "$number"
ok "values agree with /proc after a return" $check bracket 1 dummy1 other1
ip link set dev away1 netns there
ip netns exec there ip link set dev away1 name back1
ip netns exec there ip link set dev back1 netns 1
is "a device can return under another name" \
	"$(total out.packets away1) $(total out.packets back1)" "36 0"
ip link set dev back1 up
send back1 2 60
is "a device that returns under another name counts under that" \
	"$(total out.packets away1) $(total out.packets back1)" "36 2"
ip link delete back1
ip netns exec there ip link add name born1 type dummy
ip netns exec there ip link set dev born1 up
ip netns exec there $check send born1 9 60
is "a device made in another namespace is not shown" "$(values out.packets born1)" ""
ip netns exec there ip link set dev born1 netns 1
is "a device made in another namespace comes with its count" \
	"$(total out.packets born1)" 9
ip link delete born1

# A container: its end is made there, and goes with it.
ip link add name host1 type veth peer name eth7 netns there
ip link set dev host1 up
ip netns exec there ip link set dev eth7 up
ip netns exec there $check send eth7 40 60
send host1 30 60
ip netns delete there
wait_for 10 test ! -e /sys/class/net/host1
is "the last frames of a namespace with a veth are counted" \
	"$(total in.packets host1) $(total out.packets host1)" "40 30"
is "no value goes back" "$(total resets values)" 0

# ---- forgotten

all=$($check sum out.packets)
before=$(total out.packets others)
gone=$(total out.packets host1)
was=$($check count)
echo 1 >$forget
sleep 1.5
is "after a time a name that is gone is forgotten" "$(values out.packets host1)" ""
is "other counts of a forgotten name are gone" "$(values collisions host1)" ""
ok "the count of a forgotten name goes on among the others" \
	test "$(total out.packets others)" -ge \
	$((before + gone))
is "no sum changes when names are forgotten" "$($check sum out.packets)" "$all"
note "names active, inactive, numbers: $was, then $($check count)"
is "no name is inactive when all are forgotten" "$($check count | cut -d' ' -f2)" 0
echo 1000 >$forget
before=$(total out.packets others)
dummy host1
is "a forgotten name that comes back begins at 0" "$(values out.packets host1 |
	cut -d' ' -f1,3-)" "active 0 0 0 0"
is "the others keep the count of a forgotten name" \
	"$(total out.packets others)" "$before"
ip link delete host1
ok "veths come and go" $check churn many 0 25 20
ok "names of veths that are gone are kept" test "$($check count | cut -d' ' -f2)" -ge 50
echo 0 >$forget
is "names of veths that are gone are forgotten" "$($check count | cut -d' ' -f2)" 0
is "the sum has the packets of forgotten veths" \
	"$($check sum out.packets)" $((all + 500))
is "the others have the packets of forgotten veths" \
	"$(total out.packets others)" $((before + 500))

# ---- loaded again

echo 1000 >$forget
dummy stays1
send stays1 8 60
dummy leaves1
send leaves1 5 60
number=$(number stays1)
all=$($check sum out.packets)
ip link delete leaves1
ok "kmmv_net unloads with a device gone" rmmod kmmv_net
is "the last packets before an unload are counted" "$($check sum out.packets)" "$all"
is "a name that is gone is forgotten at an unload" "$(values out.packets leaves1)" ""
send stays1 4 60
ok "kmmv_net loads again" insmod kmod/kmmv_net.ko
is "a device that stayed has its number and all it has counted" \
	"$(number stays1) $(total out.packets stays1)" "$number 12"
is "no packet is counted twice after a load" "$($check sum out.packets)" $((all + 4))
ok "values agree with /proc after a load" $check bracket 1 dummy1 other1

# Names whose devices go while the module is not loaded are forgotten, too.
for n in 1 2 3 4 5 6; do
	dummy left$n
	send left$n 1 60
done
ok "kmmv_net unloads before devices go" rmmod kmmv_net
for n in 1 2 3 4 5 6; do
	ip link delete left$n
done
all=$($check sum out.packets)
is "names of devices that go while unloaded are left" \
	"$(for n in 1 2 3 4 5 6; do state left$n; done | sort | uniq -c | xargs)" \
	"6 inactive"
ok "kmmv_net loads where names are left" insmod kmod/kmmv_net.ko forget_s=1000
is "a name that was left has its count" "$(total out.packets left3)" 1
echo 2 >$forget
# shellcheck disable=SC2317 # called by wait_for
none_is_left()
{
	[ "$($check count | cut -d' ' -f2)" -eq 0 ]
}
ok "names that were left are forgotten" wait_for 20 none_is_left
is "the sum has the packets of names that were left" "$($check sum out.packets)" "$all"
ok "values agree with /proc after names were left" $check bracket 1 dummy1 other1
ip link delete stays1
ip link delete dummy1
ok "the modules unload" unload
finish
