#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# Two hosts, recorded by a third one: pmcd and the agent in network namespaces, two
# pmloggers that pmlogger_check starts, and a pmproxy that loads what they write into
# Redis. pmseries tells the hosts apart.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh

# shellcheck source=qa/agent/proxy
. qa/agent/proxy
# shellcheck source=qa/agent/serve
. qa/agent/serve

command -v pmseries >/dev/null || skip_all "no pmseries"
command -v redis-server >/dev/null || skip_all "no redis-server"
machine_apart "$0" "$@"
PATH=$PATH:/usr/sbin:/sbin
rm -rf /var/log/pcp/pmlogger/* /etc/pcp/pmlogger/control.d/*
install -d -o pcp -g pcp -m 775 /var/log/pcp/pmlogger /run/pcp/pmlogger
sed "/^root {/,/^}/s/pmcd\$/&\nkmmv $domain:*:*/" /usr/lib/pcp/pmns/root_pmcd >/mnt/pmns

# ---- the hosts

# at HOST SECONDS: its machine as it is then
at()
{
	local where=/mnt/$1 live=/mnt/$1/dev

	[ ! -e "$where/area.in" ] || live=$where/next
	mkdir -p "$live"
	qa/agent/machine.py area "$2" counter/"$1"=1,0,0,0 | sed "1iset gen $2" |
		qa/agent/area.py "$live" || bail "no area"
	[ "$live" = "$where/dev" ] || serve_next "$where"
}

# host NAME NET SECONDS: a host NAME at 10.9.NET.2
host()
{
	local where=/mnt/$1 live

	mkdir -p "$where/numbers"
	at "$1" "$3"
	serve "$where"
	cat >"$where/pmcd.conf" <<-E2
	pmcd 2 dso pmcd_init /var/lib/pcp/pmdas/pmcd/pmda_pmcd.so
	kmmv $domain pipe binary $PWD/build/pmdakmmv -d $domain -U root -f $where/dev -l $where/kmmv.log
	E2
	echo "10.9.$2.2 $1" >>/etc/hosts
	# shellcheck disable=SC2016 # the other shell's
	unshare --uts --net --mount bash -c '
		hostname "$1"
		mount --bind "/mnt/$1/numbers" /var/lib/pcp/config/pmda
		ip link set lo up
		echo 50000 60999 >/proc/sys/net/ipv4/ip_local_port_range
		echo ready >"/mnt/$1/ready"
		until ip link show eth0; do sleep 0.1; done
		ip addr add "10.9.$2.2/24" dev eth0
		ip link set eth0 up
		exec pmcd -f -A -t 600 -q 600 -U root -n /mnt/pmns \
			-c "/mnt/$1/pmcd.conf" -s "/mnt/$1/pmcd.socket" -l "/mnt/$1/pmcd.log"
	' bash "$1" "$2" >"$where/out" 2>&1 &
	live=$!
	wait_for 60 test -e "$where/ready" || bail "no host $1"
	ip link add "$1" type veth peer name eth0 netns $live 2>"$where/link" ||
		skip_all "machine: no veth: $(cat "$where/link")"
	ip addr add "10.9.$2.1/24" dev "$1"
	ip link set "$1" up
	ok "$1 answers" wait_for 60 pminfo -h "$1" -f kmmv.control.state ||
		bail "$(cat "$where/out" "$where/pmcd.log")"
}

host north 1 1000
host south 2 5000

# ---- the farm

redis-server --bind 127.0.0.1 --save '' --dir /mnt >/mnt/redis.log 2>&1 &
# shellcheck disable=SC2317 # called by wait_for
redis_answers()
{
	[ "$(redis-cli ping 2>/dev/null)" = PONG ]
}
wait_for 60 redis_answers || bail "$(cat /mnt/redis.log)"
cat >/etc/pcp/pmlogger/control.d/farm <<'E2'
$version=1.1
north n n PCP_ARCHIVE_DIR/north -c /mnt/pmlogger.conf
south n n PCP_ARCHIVE_DIR/south -c /mnt/pmlogger.conf
E2
echo 'log mandatory on 500 msec { kmmv.value kmmv.control kmmv.percpu.counter }' \
	>/mnt/pmlogger.conf
# As help/hosts.md has it.
sed -i 's/^\(exclude.metrics = .*\)/\1,kmmv.percpu.*/' /etc/pcp/pmproxy/pmproxy.conf
# pmproxy of PCP 6.0.3 may overlook the second of two directories that come later.
install -d -o pcp -g pcp /var/log/pcp/pmlogger/{north,south}
pmproxy -f -t -i 127.0.0.1 -s /mnt/pmproxy.socket -l /mnt/pmproxy.log \
	>/mnt/pmproxy.out 2>&1 &
# web PATH?NAME=VALUE
web()
{
	curl -s -m 600 -G --data-urlencode "${1#*\?}" "http://127.0.0.1:44322/${1%%\?*}"
}
# shellcheck disable=SC2317 # called by wait_for
proxy_answers()
{
	web 'series/sources?match=*' | grep -q '^\['
}
wait_for 60 proxy_answers || bail "$(web 'series/sources?match=*')" "$(cat /mnt/pmproxy.log)"
ok "pmlogger_check starts the loggers" pmlogger_check -l /mnt/check.log ||
	bail "$(cat /mnt/check.log)"
# shellcheck disable=SC2009 # pgrep shows no arguments
is "each host has one logger" "$(ps ax -o args | grep -o '^[^ ]*pmlogger -h [a-z]*' |
	sed 's/.* //' | sort | xargs)" "north south"

# series HOST: of a metric with two instances; latest HOST: their names and values
series()
{
	pmseries "kmmv.value.counter{hostname==\"$1\"}"
}
latest()
{
	local id

	id=$(series "$1")
	[ -n "$id" ] || return
	{
		pmseries -i "$id"
		pmseries "kmmv.value.counter{hostname==\"$1\"}[count:1]"
	} | awk '
		/inst \[/ { split($0, word, "\""); name[$NF] = word[2] }
		/^ *\[.*:.*\] / { print name[$NF], $(NF - 1) }' | sort | xargs
}
# shellcheck disable=SC2317 # called by wait_for
has()
{
	[ "$(latest "$1")" = "$2" ]
}
wait_for 60 has north "north 1000 requests 10000"
wait_for 60 has south "requests 50000 south 5000"
is "the series of north has its values" "$(latest north)" "north 1000 requests 10000"
is "the series of south has its values" "$(latest south)" "requests 50000 south 5000"
is "a metric has a series for each host" "$(pmseries kmmv.value.counter | sort -u)" \
	"$(printf '%s\n' "$(series north)" "$(series south)" | sort)"
not_ok "the series of two hosts differ" test "$(series north)" = "$(series south)"
is "a name has the same number on each host" "$(for host in north south; do
		pmseries -i "$(series "$host")" |
			sed -n 's/.*inst \[\([0-9]*\) or "requests".*/\1/p'
	done | sort -u | wc -l)" 1

is "an excluded metric has no series" "$(pmseries kmmv.percpu.counter)" ""

# What it takes per instance: PCP's labels of the host, the agent, the domain.
is "an instance of a series has PCP's labels" \
	"$(pmseries -l "$(series south)" | sed 's/}$/,/' |
	sed -n 's/.*"requests"\] labels {//p' | grep -o '"[a-z_]*":' | sort | xargs)" \
	"agent: domainname: hostname: indom_name: machineid:"
# Those of PCP 6.0.3's Redis are without the kernel's label, the archive is not.
archive=$(echo /var/log/pcp/pmlogger/south/2*.index)
archive=${archive%.index}
like "the label of an interrupt's action is in the archive" \
	"$(pminfo -a "$archive" -l kmmv.value.stat.irq)" \
	'"24"\] labels .*"action":"nvme0q1"'

like "an excluded metric is in the archive" \
	"$(pminfo -a "$archive" -f kmmv.percpu.counter)" \
	'"requests::cpu0"\] value 20000'

at north 1100
at south 5200
wait_for 60 has south "requests 52000 south 5200"
wait_for 60 has north "north 1100 requests 11000"
is "the series of north goes on" "$(latest north)" "north 1100 requests 11000"
is "the series of south goes on" "$(latest south)" "requests 52000 south 5200"
is "the web has series of both hosts" "$(web "series/query?expr=kmmv.value.counter" |
	grep -o '"[0-9a-f]\{40\}"' | sort -u | wc -l)" 2
like "the web has a host's value" "$(web "series/values?series=$(series south)")" \
	'"value":"52000"'
not_ok "the web has no value of the other host in a series" grep -q '"value":"11000"' \
	<<<"$(web "series/values?series=$(series south)")"
is "the web has the hosts' names" "$(web "series/labels?names=hostname" |
	grep -o -e north -e south -e '"[a-z]*":' | sort | xargs)" "hostname: north south"
# pmlogger_check sends KILL right after TERM, which leaves a slow logger no time: that of
# the archive that is looked at ends before.
# logs HOST: it has a logger
logs()
{
	pgrep -r R,S,D -f "^[^ ]*pmlogger -h $1 " >/dev/null
}
# shellcheck disable=SC2317 # called by wait_for
logs_no_more()
{
	! logs "$1"
}
ok "south's logger runs" logs south
pkill -f '^[^ ]*pmlogger -h south '
ok "south's logger ends when it is told to" wait_for 20 logs_no_more south
ok "north's logger still runs" logs north
ok "pmlogger_check stops the loggers" pmlogger_check -s -l /mnt/stop.log
ok "no logger is left" wait_for 20 logs_no_more '[a-z]*'
is "pmlogcheck finds no fault in the archive" "$(pmlogcheck "$archive" 2>&1)" ""
finish
