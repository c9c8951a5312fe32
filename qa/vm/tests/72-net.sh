#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kmmv_net against /proc/net/dev, with traffic; and devices that come, go and return.
# Each frame is counted once.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/net.sh
. qa/vm/net.sh

net_begin

# shellcheck disable=SC2317 # called by wait_for
has()
{
	[ "$(total "$1" "$2")" = "$3" ]
}

# ---- values

pair veth0 veth1
dummy dummy1
busybox ping -q -c 5 -i 0.01 127.0.0.1 >/dev/null
send veth0 21 100
ok "the modules load" load
ok "what was counted before agrees with /proc" $check bracket 1
is "loopback's packets before the load agree with /proc" \
	"$(total in.packets lo)" "$(awk '$1 == "lo:" { print $3 }' \
	/proc/net/dev)"
send veth0 100 60 1
send veth0 50 1000 2
send dummy1 7 80 3
ok "all columns agree with /proc" $check bracket 3
is "what a driver counts per CPU is on the CPU's page" "$(values out.packets veth0 |
	awk '{ print $4 >= 100, $5 >= 50, $3 + $4 + $5 + $6 }')" "1 1 171"
is "a veth's bytes are what was sent" \
	"$(total out.bytes veth0)" $((21 * 100 + 100 * 60 + 50 * 1000))
is "packets that a veth got from its peer are counted as its own" \
	"$(total in.packets veth1)" 171
# That is some time after it was sent.
wait_for 20 has in.drops veth1 171
is "what nobody understands is dropped" "$(total in.drops veth1)" 171
is "what only a total is known of is on the first CPU" \
	"$(values in.drops veth1 | cut -d' ' -f3-)" "171 0 0 0"

start_loop send veth0 100 60
start_loop send veth1 100 900
start_loop busybox ping -q -c 20 -i 0.01 127.0.0.1
start_loop send dummy1 50 60
ok "each value is between /proc before and after, with traffic" $check bracket 20
note "$tap_text"
stop_loops
ok "each value is equal to /proc after traffic" $check bracket 1
is "no value goes back under traffic" "$(total resets values)" 0

# ---- gone and back

was=$(number dummy1)
before=$(total out.packets dummy1)
send dummy1 11 60
ip link delete dummy1
is "what was counted last before a device went is not lost" \
	"$(total out.packets dummy1)" $((before + 11))
is "the name of a device that is gone is inactive" "$(state dummy1)" inactive
dummy dummy1
is "a name that comes back is active" "$(state dummy1)" active
is "a name that comes back has its number" "$(number dummy1)" "$was"
send dummy1 3 60
is "a name that comes back goes on with its count" \
	"$(total out.packets dummy1)" $((before + 14))
ip link delete dummy1
dummy dummy1
send dummy1 2 60
ip link delete dummy1
dummy dummy1
send dummy1 1 60
is "a life that no copy has seen counts" "$(total out.packets dummy1)" $((before + 17))
ip link delete dummy1
pair dummy1 other1
send dummy1 5 60 2
is "another device of a name goes on with the name's count" \
	"$(total out.packets dummy1)" \
	$((before + 22))
is "another device of a name has the name's number" "$(number dummy1)" "$was"
sent=$(total out.packets veth0) got=$(total in.packets veth0)
send veth0 13 60
send veth1 17 60
ip link delete veth0
is "the last frames that a veth sent are counted" \
	"$(total out.packets veth0)" $((sent + 13))
is "the last frames that a veth got are counted" \
	"$(total in.packets veth0)" $((got + 17))
is "the last frames that a veth got are counted as its peer's" \
	"$(total out.packets veth1)" $((got + 17))
is "no value goes back when devices go" "$(total resets values)" 0

wait_for 20 has in.drops other1 5
all=$($check sum out.packets) in=$($check sum in.packets) drops=$($check sum in.drops)
ok "500 veths come and go" $check churn many 0 250 2 dropped
is "each frame that the veths sent is counted" \
	"$($check sum out.packets)" $((all + 500))
is "each frame that the veths got or dropped is counted" \
	"$($check sum in.packets) $($check sum in.drops)" \
	"$((in + 500)) $((drops + 500))"
ok "the modules unload" unload
finish
