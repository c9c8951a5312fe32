#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# timeout: 7200
#
# Ten thousand veths (three hundred on a kernel with checks, a hundred thousand in a soak)
# come and go, others are renamed and go to other namespaces, CPUs go offline, and the
# module is loaded and unloaded, while readers watch: no value falls, no number is another
# name's, every frame is counted once, and the names are bounded.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/net.sh
. qa/vm/net.sh

pairs=5000 beside_reload=300
# A kernel with checks takes ten times as long; it looks for faults, not for limits.
[ ! -e /sys/kernel/debug/kmemleak ] && [ ! -e /sys/kernel/debug/kcsan ] ||
	pairs=150 beside_reload=40
[ "${KMMV_SOAK:-0}" = 0 ] || pairs=50000
forget=/sys/module/kmmv_net/parameters/forget_s

# shellcheck disable=SC2317 # called below
rename()
{
	local name=$1 other=$2

	ip link set dev "$name" name "$other" && ip link set dev "$other" name "$name"
}

# shellcheck disable=SC2317 # called below
move()
{
	ip link set dev "$1" netns there &&
		ip netns exec there ip link set dev "$1" netns 1
}

# shellcheck disable=SC2317 # called below
hotplug()
{
	echo 0 >$cpu1
	echo 1 >$cpu1
}

# shellcheck disable=SC2317 # called below
reload()
{
	rmmod kmmv_net && insmod kmod/kmmv_net.ko names=200 forget_s=0
}

# start_watch NAME...: its output and status go to files
start_watch()
{
	rm -f "$WORK/end"
	($check watch "$WORK/end" "$@" >"$WORK/watched"
		echo $? >"$WORK/status") &
	watcher=$!
}

# Only kmmv_net's copy knows devices that are gone: as many as it has to.
stop_watch()
{
	touch "$WORK/end"
	wait $watcher
	is "$1" "$(cat "$WORK/status") $(grep -v ' rounds$' "$WORK/watched")" "0 "
	note "$(cat "$WORK/watched")"
}

net_begin
ok "a namespace is made" space there
dummy stays1
dummy moves1
ip link add name named1 type dummy
ok "the modules load" load names=200 forget_s=1
send stays1 10 60
send moves1 20 60
$check bracket 1 >/dev/null

# ---- everything at once, but for the module

before=$($check sum out.packets) in=$($check sum in.packets)
start_watch lo stays1
start_loop rename named1 named2
start_loop move moves1
start_loop hotplug
ok "$((2 * pairs)) veths come and go" $check churn many 0 $pairs 3
note "$tap_text"
stop_loops
stop_watch "no value and no sum falls, and names keep their numbers"
is "each frame is counted once" "$($check sum out.packets)" $((before + 3 * pairs))
is "each frame is counted once at the other end" \
	"$($check sum in.packets)" $((in + 3 * pairs))
sleep 1.1
count=$($check count)
note "names active, inactive, numbers: $count"
ok "names are bounded" test "$(cut -d' ' -f3 <<<"$count")" -le $((14 * 201 + 8))
echo 0 >$forget
is "no inactive name is left with forget_s=0" "$($check count | cut -d' ' -f2)" 0
ok "devices that are there agree with /proc" $check bracket 1 moves1 named1
ok "at least 200 names are forgotten" test "$(total work forgotten)" -ge 200
note "forgotten: $(total work forgotten), copies: $(total work copies)"
is "no device is missed" "$(total failed devices)" 0
is "no value goes back" "$(total resets values)" 0

# ---- more devices than names

ok "kmmv_net unloads" rmmod kmmv_net
ok "kmmv_net loads with room for four names" \
	insmod kmod/kmmv_net.ko names=4 forget_s=1000
for i in 1 2 3 4 5 6; do
	dummy "room$i"
	send "room$i" $i 60
done
sum=$($check sum out.packets)
is "no more than four names and the others are shown" \
	"$($check count | cut -d' ' -f1)" 5
ok "devices without a name are counted as failed" test "$(total failed names)" -ge 6
for i in 1 2 3 4 5 6; do
	send "room$i" 100 60
done
is "devices without a name count among the others" \
	"$($check sum out.packets)" $((sum + 600))
for i in 1 2 3 4 5 6; do
	ip link delete "room$i"
done
dummy room7
send room7 1 60
is "frames to the last device without a name are counted" \
	"$($check sum out.packets)" $((sum + 601))
rmmod kmmv_net
ok "kmmv_net loads again with room for four names" \
	insmod kmod/kmmv_net.ko names=4 forget_s=1000
is "no frame is counted twice by the next load" \
	"$($check sum out.packets)" $((sum + 601))
ip link delete room7

# ---- loaded and unloaded meanwhile

start_watch
start_loop reload
start_loop rename named1 named2
start_loop send stays1 100 60
start_loop hotplug
ok "veths come and go while kmmv_net is reloaded" $check churn many 0 $beside_reload 3
stop_loops
[ -e /sys/module/kmmv_net ] || insmod kmod/kmmv_net.ko
stop_watch "no value falls while kmmv_net is reloaded"
is "a device that stayed has all that it has counted" "$(total out.packets stays1)" \
	"$(awk '$1 == "stays1:" { print $11 }' /proc/net/dev)"
ok "no reader holds a device" ip link delete stays1
ip link delete moves1
ip link delete named1
ok "the modules unload" unload
finish
