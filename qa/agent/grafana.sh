#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# The dashboards for Grafana: what each of their panels asks of pmproxy, with values of
# all families, live (PCP Vector) and from what pmlogger recorded (PCP Valkey).

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh

# shellcheck source=qa/agent/proxy
. qa/agent/proxy

command -v redis-server >/dev/null || skip_all "no redis-server"
command -v jq >/dev/null || skip_all "no jq"
machine_apart "$0" "$@"

qa/agent/machine.py area 1000 >/mnt/machine || bail "no machine"
qa/agent/area.py /mnt/dev </mnt/machine || bail "no area"
proxy_start keys
host=$(pminfo -f pmcd.hostname | sed -n 's/.*value "\(.*\)"/\1/p')

cat >/mnt/pmlogger.conf <<'E2'
log mandatory on 1 sec { kmmv.value kmmv.percpu kmmv.all kmmv.ring kmmv.control }
E2
pmlogger -h localhost -c /mnt/pmlogger.conf -l /mnt/pmlogger.log \
	/var/log/pcp/pmlogger/here/20380119 >/mnt/pmlogger.out 2>&1 &
# Three samples, so that of the first one nothing is still under way.
# shellcheck disable=SC2317 # called by wait_for
loaded()
{
	local each id

	for each in kmmv.control.attached kmmv.ring.written \
		kmmv.value.profile.symbol.samples kmmv.percpu.stat.cpu; do
		id=$(web series/query "expr=$each" | grep -o '[0-9a-f]\{40\}')
		[ "$(redis-cli xlen "pcp:values:series:$id")" -ge 3 ] || return
	done
}
ok "pmproxy loads what pmlogger records" wait_for 60 loaded ||
	bail "$(cat /mnt/pmlogger.log /mnt/pmproxy.log)"

pminfo -dtT kmmv.value >/mnt/text
is "each metric has one series, with its type, units and few labels" \
	"$(/usr/bin/python3 qa/agent/restapi.py http://127.0.0.1:44322 kmmv.value /mnt/text \
		/mnt/machine series 2>&1)" ""

# judge FILE
judge()
{
	/usr/bin/python3 qa/agent/grafana.py "$1" http://127.0.0.1:44322 /mnt/machine \
		"$host" >/mnt/judged 2>&1
	grep -v '	' /mnt/judged
}

for kind in vector valkey; do
	board=pmda/site/grafana/kmmv-$kind.json
	is "$kind: every panel has values, units and legends" "$(judge $board)" ""
	cp /mnt/judged "/mnt/shown.$kind"
	like "$kind: an interrupt has its rate" "$(cat "/mnt/shown.$kind")" \
		"^Interrupts	24	cps	240000$"
	like "$kind: a latency has a rate" "$(cat "/mnt/shown.$kind")" \
		"^Reads by latency	sda/256us	iops	[0-9]+$"
	like "$kind: the agent's state names the host" \
		"$(cat "/mnt/shown.$kind")" "^Agents?	$host	none	1$"
	like "$kind: a ring's loss has a rate on a CPU" "$(cat "/mnt/shown.$kind")" \
		"^Events lost	full default::cpu2	cps	[0-9]+$"
	like "$kind: a symbol has its rate" "$(cat "/mnt/shown.$kind")" \
		"^Top symbols	clear_page_rep	cps	9000$"

	# broken WHAT CHANGE FAULT: what jq changes is noticed
	broken()
	{
		jq "$2" "$board" >/mnt/broken.json || bail "jq: $2"
		like "$kind: $1 is noticed" "$(judge /mnt/broken.json)" "$3"
	}
	at='.panels |= map(if .title == "Soft interrupts" then'
	broken "a metric that does not exist" \
		"$at .targets[0].expr |= sub(\"irq\"; \"orq\")
		else . end)" "^fault: Soft interrupts has nothing for"
	broken "a unit that is no rate" \
		"$at .fieldConfig.defaults.unit = \"short\" else . end)" \
		"^fault: Soft interrupts has the unit short which is no rate"
	broken "CPU time that is no part" '.panels |= map(if .title == "CPU time" then
		.fieldConfig.defaults.unit = "ns" else . end)' \
		"^fault: CPU time has the unit ns not percentunit"
	broken "a legend with an unknown label" \
		"$at .targets[0].legendFormat = \"\$nosuch\"
		else . end)" "^fault: Soft interrupts has a legend with \\\$nosuch"
	broken "a legend that all series share" \
		"$at .targets[0].legendFormat = \"all\" else . end)" \
		"^fault: Soft interrupts has the legend all 10 times"
	broken "an id that two panels have" \
		"$at .id = 3 else . end)" "^fault: the id 3 is there twice"
	broken "a panel over another" "$at .gridPos.x -= 1 else . end)" \
		"^fault: Soft interrupts is over Interrupts"
	broken "another data source" "$at .datasource.type = \"x\" else . end)" \
		"^fault: Soft interrupts has another data source"
	[ "$kind" = valkey ] || broken "an offline CPU that is busy" '.panels |= map(
		if .title == "Busy" then
			.targets[0].expr = "matchinst(/^idle::/, 1 - rate(kmmv.percpu.stat.cpu))"
		else . end)' "^fault: Busy shows the part 1 of a CPU that is offline"
done
broken "a filter that leaves nothing" '.panels |= map(if .title == "Busy" then
	.transformations[0].options.include.pattern |= sub("[(].*[)]"; "none")
	else . end)' "^fault: Busy shows nothing"
is "both boards have the same panels, but for the agents' state" \
	"$(diff <(cut -f1,3 /mnt/shown.vector | sort -u) \
		<(cut -f1,3 /mnt/shown.valkey | sort -u) | grep '^[<>]')" \
	"$(printf '%s\n' '< Agent	none' '> Agents	none')"
finish
