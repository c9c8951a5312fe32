#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# The rules for pmie, on archives of a machine: none holds while all is well, each
# holds when what it is about happens, and no other does.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh

export LC_ALL=C PATH=/usr/bin:/bin:/usr/sbin:/sbin:/usr/lib/pcp/bin PCP_DERIVED_CONFIG=
command -v pmieconf >/dev/null || skip_all "no PCP: qa/setup check"
work=$(mktemp -d) || bail "no directory"
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/rules/kmmv"
# The actions, of which all but the one that prints are disabled.
cp -r /etc/pcp/pmieconf/global "$work/rules" || bail "no actions"
for file in pmda/site/pmieconf.*; do
	cp "$file" "$work/rules/kmmv/${file##*.}"
done
configure()
{
	pmieconf -c -r "$work/rules" -f "$work/config" "$@"
}
ok "pmieconf enables the rules" configure enable kmmv
ok "pmieconf sets an action that prints" configure modify global user_action yes
configure modify global syslog_action no
is "each rule is enabled when it is installed" "$(sed -n \
	's,^// 1 kmmv\.\([a-z_]*\) enabled = yes,\1,p' "$work/config" | sort | xargs)" \
	"$(cd "$work/rules/kmmv" && printf '%s\n' * | sort | xargs)"

# held [SET...]: the rules that hold on such a machine
held()
{
	rm -f "$work"/archive.*
	qa/agent/machine.py archive "$work/archive" -s 1200 -t 30 -p "$@" ||
		bail "no archive"
	timeout 600 pmie -q -z -a "$work/archive" -c "$work/config" \
		>"$work/out" 2>&1
	for file in "$work"/rules/kmmv/*; do
		summary=$(sed -n '/^string	rule/{n;s/.*= "\(.*\)"$/\1/p}' "$file")
		! grep -q "echo $summary " "$work/out" || echo "${file##*/}"
	done | xargs
}

is "no rule holds when all is well" "$(held)" ""
note "$(head -n 3 "$work/out")"
is "attached holds when the agent is not attached" "$(held control.attached=0)" "attached"
is "slots holds when few slots are free" "$(held control.slots_free=10000)" "slots"
is "ring_lost holds when nobody reads a ring in time" \
	"$(held ring.lost=0,0,3,0)" "ring_lost"
for cause in full commit nested too_large nmi; do
	is "ring_lost holds when a ring drops: $cause" \
		"$(held ring.dropped.$cause=0,0,0,1)" "ring_lost"
done
is "no rule holds when what nobody reads is overwritten" \
	"$(held ring.overwritten=100,100,100,100)" ""
is "refused holds when instances are refused" \
	"$(held core.refused/instances=1,0,0,0)" "refused"
for source in stat.failed/irq block.failed/instances net.failed/names; do
	is "failed_${source%%.*} holds with $source" \
		"$(held $source=0,1,0,0)" "failed_${source%%.*}"
done
is "failed_stat holds where no other source is loaded" "$(held stat.failed/irq=1,0,0,0 \
	block.failed/instances= net.failed/devices= net.failed/names=)" "failed_stat"
is "resets holds with resets" "$(held control.resets=2)" "resets"
is "resets_net holds with resets of network devices" \
	"$(held net.resets/devices=2,0,0,0)" "resets_net"
is "omitted holds when instances are left out" \
	"$(held control.percpu.omitted=7)" "omitted"
is "backoff holds when the profiler backs off" \
	"$(held profile.missed/backoff=19,0,0,0)" "backoff"
is "no rule holds when the profiler's ticks miss samples" \
	"$(held profile.missed/late=50,0,0,0 \
	profile.missed/throttled=50,0,0,0)" ""
is "no rule holds with a profiler's ring that is disabled" \
	"$(held profile.lost/disabled=0,5,0,0)" ""
for cause in overflow ring; do
	is "lost_profile holds when samples are lost: $cause" \
		"$(held profile.lost/$cause=0,0,1,0)" \
		"lost_profile"
done
is "failed_profile holds when the profiler fails" \
	"$(held profile.work/failed=1,0,0,0)" "failed_profile"
is "no rule holds with samples without a symbol" \
	"$(held profile.work/no_symbol=9,0,0,0)" ""
is "lost_trace holds with hits without a value" \
	"$(held trace.stat.lost/writes=1,0,0,0)" "lost_trace"
like "lost_trace names the counter" "$(cat "$work/out")" "\[writes\]"
is "faults_trace holds with values that cannot be read" \
	"$(held trace.stat.faults/writes=2,0,0,0)" \
	"faults_trace"
is "no rule holds with one value a second that cannot be read" \
	"$(held trace.stat.faults/writes=1,0,0,0)" ""
# In nanoseconds a second.
is "irq holds with interrupts on one CPU" \
	"$(held stat.cpu/irq=300000000,10000000,0,0)" "irq"
like "irq names the CPU" "$(cat "$work/out")" "irq::cpu0"
is "no rule holds with interrupts on all CPUs" \
	"$(held stat.cpu/irq=300000000,300000000,300000000,300000000)" ""
is "softirq holds with soft interrupts on one CPU" \
	"$(held stat.cpu/softirq=0,0,500000000,0)" "softirq"
like "softirq names the CPU" "$(cat "$work/out")" "softirq::cpu2"
is "no rule holds with soft interrupts on all CPUs" \
	"$(held stat.cpu/softirq=500000000,500000000,500000000,500000000)" ""
# All counters of a CPU that is offline stand still.
offline=(control.cpus.online=3)
for what in user nice system idle iowait irq softirq steal; do
	offline+=("stat.cpu/$what=100000000,100000000,100000000,0")
done
for what in irq softirq; do
	is "no rule holds with $what on all CPUs that are online" \
		"$(held "${offline[@]}" \
		"stat.cpu/$what=600000000,600000000,600000000,0")" ""
	is "$what holds with one CPU where another is offline" "$(held "${offline[@]}" \
		"stat.cpu/$what=600000000,10000000,600000000,0")" "$what"
	is "no rule holds with $what on the only CPU online" "$(held "${offline[@]}" \
		control.cpus.online=1 "stat.cpu/$what=600000000,0,0,0")" ""
done
finish
