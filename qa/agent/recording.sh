#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# pmlogconf's groups, and archives that pmlogger makes of them: on a machine with all
# our families, which network devices and disks leave and join; in both versions;
# merged over days by pmlogger_daily.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/agent/env
. qa/agent/env
# shellcheck source=qa/agent/ring
. qa/agent/ring

# shellcheck disable=SC2317 # called by the trap
end_all()
{
	# shellcheck disable=SC2086 # none is none
	kill $live_pid $pmcd_pid $loggers 2>/dev/null
	rm -rf "$work"
}
trap end_all EXIT
loggers=

# at SECONDS [SET...]: the machine as it is then
at()
{
	mkdir -p "$work/next"
	qa/agent/machine.py area "$@" >"$work/machine" || bail "no machine"
	sed "s/^set epoch/set gen $1\n&/" "$work/machine" |
		qa/agent/area.py "$work/next"
	serve_next "$work"
}

qa/agent/machine.py area 1000 >"$work/machine" || bail "no machine"
area <"$work/machine"
# So long that each logger takes a value of each state of a change.
live 0.2
pmcd_start || bail "no pmcd"
host=unix:$work/pmcd.socket

# ---- groups

# As `make install` has them, and nothing of other agents.
mkdir -p "$work/groups/kmmv"
for file in pmda/site/pmlogconf.*; do
	cp "$file" "$work/groups/kmmv/${file##*.}"
done
config=$work/config
ok "pmlogconf makes the default configuration" \
	pmlogconf -c -d "$work/groups" -h "$host" "$config"
is "the groups summary and value are on" \
	"$(sed -n 's,^#+ groupdir .*,,; s,^#+ \(kmmv/[a-z]*\):y:.*,\1,p' \
	"$config" | sort | xargs)" "kmmv/summary kmmv/value"
is "all other groups are off" "$(sed -n 's,^#+ \(kmmv/[a-z]*\):n:.*,\1,p' "$config" |
	sort | xargs)" \
	"kmmv/block kmmv/events kmmv/net kmmv/percpu kmmv/profile kmmv/ring kmmv/stat kmmv/trace"
ok "pmlogger accepts the default configuration" pmlogger -C -h "$host" -c "$config"
sed 's,^#+ \(kmmv/[a-z]*\):[nx]:.*:,#+ \1:y:default:,' "$config" >"$work/all"
ok "pmlogconf makes a configuration of all groups" \
	pmlogconf -c -d "$work/groups" -h "$host" "$work/all"
ok "pmlogger accepts the configuration of all groups" \
	pmlogger -C -h "$host" -c "$work/all"
# A group must not name what the agent does not have.
for file in "$work"/groups/kmmv/*; do
	is "the agent has all of ${file##*/}" "$(sed -n 's/^	\(kmmv[^ ]*\)$/\1/p' \
		"$file" | while read -r metric; do
			pminfo -h "$host" "$metric" >/dev/null 2>&1 ||
				echo "$metric"
		done)" ""
done

# ---- archives

# The default intervals are a minute; this is what is recorded, faster.
sed -i 's/^log \(.*\) on default/log \1 on 100 msec/' "$config"
for version in 2 3; do
	pmlogger -h "$host" -V $version -c "$config" -l "$work/log.$version" \
		"$work/archive.$version" &
	loggers="$loggers $!"
done

# shellcheck disable=SC2317 # called by wait_for
logged()
{
	local version

	for version in 2 3; do
		pmdumplog "$work/archive.$version" "$1" 2>/dev/null |
			grep -q "$2" || return
	done
}

ok "a device that is there at the start is recorded" \
	wait_for 60 logged kmmv.value.net.in.packets \
	'"eth0"\] value 990000'
ok "the profiler's names are recorded" \
	wait_for 60 logged kmmv.value.profile.symbol.samples \
	'"nvme_irq_\[nvme\]"\] value 4000'
ok "the total of the profiler's names is recorded" \
	wait_for 60 logged kmmv.all.profile.command.samples 'value 81000'
ok "counters of tracepoints are recorded" wait_for 60 logged kmmv.value.trace.writes \
	'"512"\] value 80000'
at 1100 net.in.packets/veth0=7,0,0,0
ok "a device that comes is recorded" wait_for 60 logged kmmv.value.net.in.packets \
	'"veth0"\] value 7700'
at 1200 block.latency.read/sda/4194304us=1,0,0,0
ok "a disk's new bucket is recorded" wait_for 60 logged kmmv.value.block.latency.read \
	'"sda/4194304us"\] value 1200'
at 1300 net.in.packets/eth0=
ok "a device that stays is recorded when another goes" \
	wait_for 60 logged kmmv.value.net.in.packets \
	'"lo"\] value 130000'
at 1400 net.in.packets/eth0=990,0,0,0
ok "a device that returns is recorded" wait_for 60 logged kmmv.value.net.in.packets \
	'"eth0"\] value 1386000'
pmstore -h "$host" kmmv.control.attach 0 >/dev/null
ok "a detach is recorded" wait_for 60 logged kmmv.control.attached 'value 0'
pmstore -h "$host" kmmv.control.attach 1 >/dev/null
at 1500
ok "values are recorded after an attach" wait_for 60 logged kmmv.value.net.in.packets \
	'"eth0"\] value 1485000'
# shellcheck disable=SC2086 # a list
kill $loggers
# shellcheck disable=SC2086
wait $loggers
loggers=

# pmlogger records a domain at its first value, and again when it changes.
for version in 2 3; do
	archive=$work/archive.$version
	is "version $version: pmlogcheck finds no fault" \
		"$(pmlogcheck "$archive" 2>&1)" ""
	is "version $version: every value has a name" \
		"$(pmdumplog "$archive" 2>&1 | grep -c 'or ???\]')" 0
	is "version $version: a device that returns has its number" \
		"$(pmdumplog "$archive" kmmv.value.net.in.packets |
			sed -n 's/.*inst \[\([0-9]*\) or "eth0"\].*/\1/p' |
			sort -u | wc -l)" 1
	is "version $version: recorded values are what was counted" \
		"$(pmdumplog "$archive" kmmv.value.net.in.packets |
			sed -n 's/.*or "eth0"\] value //p' | sort -un | xargs)" \
		"990000 1089000 1188000 1386000 1485000"
	is "version $version: nothing per CPU is recorded" \
		"$(pminfo -a "$archive" | grep -c '^kmmv\.percpu')" 0
	like "version $version: pmlogsummary shows an instance" \
		"$(pmlogsummary -l "$archive" kmmv.value.stat.cpu 2>&1)" \
		'kmmv.value.stat.cpu \["user"\]'
	like "version $version: pmval shows an instance" \
		"$(pmval -U "$archive" -z -r -s 3 \
		-i eth0 kmmv.value.net.in.packets 2>&1)" "^ *eth0"
	like "version $version: pmrep shows an instance" \
		"$(/usr/bin/python3 "$(command -v pmrep)" \
		-a "$archive" -z -t 0.1 -s 3 -i eth0 kmmv.value.net.in.packets 2>&1)" \
		"eth0"
done

# ---- renaming, and days

# What a site does when it renames a driver's family.
printf 'metric kmmv.value.counter {\n\tname -> kmmv.value.requests\n}\n' \
	>"$work/rules"
ok "pmlogrewrite succeeds" pmlogrewrite -c "$work/rules" "$work/archive.2" \
	"$work/renamed"
is "pmlogrewrite renames a metric" "$(pmdumplog "$work/renamed" kmmv.value.requests |
	grep -c 'or "requests"')" "$(pmdumplog "$work/archive.2" kmmv.value.counter |
	grep -c 'or "requests"')"
is "pmlogcheck finds no fault in the renamed archive" \
	"$(pmlogcheck "$work/renamed" 2>&1)" ""

# Four days of archives, three each day, with a device that is there each afternoon
# only. pmlogger_daily makes one of each day, and would tell of metadata that does not
# agree. (pmlogrewrite of 6.0.3 shifts instance domains twice as far as values.)
days=$work/logs/box
mkdir -p "$days" "$work/run/pmlogger" "$work/tmp/pmlogger" \
	"$work/var/config/pmlogrewrite"
midnight=$(date -d "$(date +%F)" +%s)
for day in 4 3 2 1; do
	for hour in 3 9 15; do
		begin=$((midnight - day * 86400 + hour * 3600))
		sets=
		[ $hour -lt 15 ] || sets=net.in.packets/veth0=7,0,0,0
		# shellcheck disable=SC2086 # none is none
		qa/agent/machine.py archive \
			"$days/$(date -d "@$begin" +%Y%m%d.%H.%M)" \
			-b $begin -s 3600 -t 60 $sets || bail "no archive"
	done
done
# shellcheck disable=SC2016 # the file's own variable
printf '$version=1.1\nbox n n %s -c nothing\n' "$days" >"$work/control"
PCP_RUN_DIR=$work/run pmlogger_daily -z -D -x never -c "$work/control" \
	-l "$work/daily.log"
is "pmlogger_daily has nothing to say but that no pmlogger runs" "$(grep -v -e 'control:2\]$' \
	-e 'no pmlogger instance running' -e 'logging for host "box" unchanged' \
	-e "don't know which pmlogger" "$work/daily.log")" ""
is "pmlogger_daily makes an archive of each day" \
	"$(find "$days" -name '*.meta*' | wc -l)" 4
for meta in "$days"/*.meta*; do
	name=${meta%.meta*}
	is "${name##*/}: pmlogcheck finds no fault" "$(pmlogcheck "$name" 2>&1)" ""
	is "${name##*/}: every value has a name" \
		"$(pmdumplog "$name" 2>&1 | grep -c 'or ???\]')" 0
	is "${name##*/}: the afternoon's device has 60 values" \
		"$(pmdumplog "$name" kmmv.value.net.in.packets |
			grep -c '"veth0"')" 60
done
finish
