#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
#
# Network devices by pmcd: metrics, values that are /proc's, help; devices that come,
# go and return, with pmlogger.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/agent.sh
. qa/vm/agent.sh

check=build/qa/vm/net-check
metric=kmmv.value.net.out.packets
churn=

modprobe -a dummy veth
ip link delete dummy0 2>/dev/null
echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6

# shellcheck disable=SC2317 # called by the trap
net_end()
{
	touch "$WORK/stop"
	[ -z "$churn" ] || wait "$churn"
	clean_up
	ip link delete pcp0 2>/dev/null
	rmmod veth dummy
}
trap net_end EXIT

# shows NAME VALUE: of $metric
# shellcheck disable=SC2317 # called by wait_for
shows()
{
	[ "$(value $metric "$1")" = "$2" ]
}

# Of a column of /proc/net/dev
proc()
{
	awk -v name="$1:" -v at="$2" '$1 == name { print $at }' /proc/net/dev
}

ip link add name pcp0 type veth peer name pcp1
ip link set dev pcp0 up
ip link set dev pcp1 up
$check send pcp0 12 100 1
install_agent
ok "./Install installs kmmv_net" modprobe kmmv_net
is "kmmv.value.net has all metrics" \
	"$(pminfo kmmv.value.net | sed 's/.*\.net\.//' | sort | xargs)" \
	"collisions failed in.bytes in.drops in.errors in.fifo in.frame in.mcasts in.packets\
 out.bytes out.carrier out.drops out.errors out.fifo out.packets resets took work"
is "kmmv.all.net has no metric of devices" \
	"$(pminfo kmmv.all.net | sed 's/.*\.net\.//' | sort |
	xargs)" "failed resets took"
like "bytes have their semantics and units" "$(pminfo -d kmmv.value.net.in.bytes)" \
	"Semantics: counter  Units: byte"
like "a metric has its fixed number" "$(pminfo -m $metric)" " 389\.$((16 + 48 + 8))\.0"
like "a metric has help" "$(pminfo -T $metric)" "as in /proc/net/dev"
is "a device's packets are what was sent" "$(value $metric pcp0)" 12
is "a device's packets are on the CPU that sent them" \
	"$(value kmmv.percpu.net.out.packets pcp0::cpu1)" 12
is "a peer's packets are what was sent" "$(value kmmv.value.net.in.packets pcp1)" 12
is "a device's bytes are those of /proc" \
	"$(value kmmv.value.net.out.bytes pcp0)" "$(proc pcp0 10)"
# That is some time after it was sent.
# shellcheck disable=SC2317 # called by wait_for
dropped()
{
	[ "$(proc pcp1 5)" = 12 ]
}
ok "what nobody understands is dropped" wait_for 20 dropped
is "drops are those of /proc" "$(value kmmv.value.net.in.drops pcp1)" "$(proc pcp1 5)"

id=$(id $metric pcp0)
# Few, as udev has work with each.
(
	i=0
	while [ ! -e "$WORK/stop" ]; do
		$check churn pcpm $i $((i + 1)) 1
		i=$((i + 1))
		sleep 1
	done
) >/dev/null 2>&1 &
churn=$!
cat >"$WORK/config" <<-EOF
log mandatory on 500 msec {
	kmmv.value.net
}
EOF
pmlogger -c "$WORK/config" -T 20sec "$WORK/archive" -l "$WORK/log" &
logger=$!
fell=
last=0
for i in 1 2 3 4 5 6 7 8 9 10; do
	$check send pcp0 10 60
	now=$(value $metric pcp0)
	[ "$now" -ge "$last" ] || fell="$fell $last->$now"
	last=$now
	sleep 0.5
done
is "a value does not fall while veths come and go" "$fell" ""
is "a value is what was sent while veths come and go" "$(value $metric pcp0)" 112
is "a device keeps its number while veths come and go" "$(id $metric pcp0)" "$id"
wait $logger
touch "$WORK/stop"
wait $churn
churn=
is "pmlogcheck has nothing to say" "$(pmlogcheck "$WORK/archive" 2>&1)" ""
is "no value falls in the archive" "$(falls "$WORK/archive" \
	kmmv.value.net.{in,out}.{bytes,packets,drops,errors})" ""
like "the archive has the device" \
	"$(pmdumplog "$WORK/archive" $metric)" '"pcp0"\] value [1-9]'

ip link delete pcp0
ok "a device that is gone is no instance" wait_for 10 shows pcp0 ""
ip link add name pcp0 type dummy
ip link set dev pcp0 up
$check send pcp0 5 60
ok "a device that comes back goes on" wait_for 10 shows pcp0 117
is "a device that comes back has its number" "$(id $metric pcp0)" "$id"
rmmod kmmv_net
modprobe kmmv_net
$check send pcp0 2 60
ok "a device goes on when kmmv_net is loaded again" wait_for 10 shows pcp0 119
is "a device has its number when kmmv_net is loaded again" "$(id $metric pcp0)" "$id"
finish
