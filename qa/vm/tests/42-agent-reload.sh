#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# timeout: 6000
#
# The modules are loaded anew in several orders, with the agent attached, detached,
# stopped or restarted, and pmlogger running: kmmv.value.stat stays between /proc
# before and after, and the archive shows no CPU busy for longer than there was
# time. A soak (KMMV_SOAK=1) takes every order, otherwise four.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/udev.sh
. qa/vm/udev.sh

# shellcheck disable=SC2317 # called by the trap
clean_up()
{
	end_log
	/etc/init.d/pmcd start >/dev/null 2>&1
	grep -q '^kmmv' /etc/pcp/pmcd/pmcd.conf &&
		./Remove --purge </dev/null >/dev/null 2>&1
	/etc/init.d/pmcd stop >/dev/null 2>&1
	gone
	stop_udev
}
trap clean_up EXIT

gone()
{
	local name

	for name in kmmv_stat kmmv; do
		[ ! -e "/sys/module/$name" ] || rmmod "$name" || return
	done
}

come()
{
	modprobe kmmv && modprobe kmmv_stat && open_nodes
}

# shellcheck disable=SC2317 # called by wait_for
has_values()
{
	pminfo -f kmmv.control.state | grep -q '"attached"' &&
		pminfo -f kmmv.value.stat.cpu | grep -q '"user"'
}

# Each agent has its own setting; these values have to be as young as possible.
# shellcheck disable=SC2317 # called by wait_for
youngest()
{
	pmstore kmmv.control.max_age 0 >/dev/null
}

within()
{
	ok "$1: the agent has values" wait_for 120 has_values
	wait_for 20 youngest
	ok "$1: values are within /proc" qa/vm/pcp-bracket now
	note "$tap_text"
}

detach()
{
	pmstore kmmv.control.attach 0 >/dev/null
}

attach()
{
	pmstore kmmv.control.attach 1 >/dev/null
}

# shellcheck disable=SC2317 # called by wait_for
answers()
{
	pminfo -f pmcd.numagents >/dev/null 2>&1
}

stop_pmcd()
{
	/etc/init.d/pmcd stop >/dev/null 2>&1
}

start_pmcd()
{
	/etc/init.d/pmcd start >/dev/null 2>&1
	wait_for 120 answers
}

# Keep a pmlogger running; one that ends with pmcd is replaced.
log()
{
	local n=100

	cat >"$WORK/config" <<-EOT
		log mandatory on 500 msec {
			kmmv.value.stat.copied
			kmmv.value.stat.cpu
			kmmv.value.stat.softirq
		}
	EOT
	: >"$WORK/log"
	while [ -e "$WORK/log" ]; do
		if answers; then
			pmlogger -c "$WORK/config" -l "$WORK/log.$n" \
				"$WORK/archive.$n" </dev/null >/dev/null 2>&1 &
			echo $! >"$WORK/pmlogger"
			wait $!
			n=$((n + 1))
		fi
		sleep 0.2
	done
}

end_log()
{
	[ -e "$WORK/log" ] || return
	rm "$WORK/log"
	kill "$(cat "$WORK/pmlogger")" 2>/dev/null
	wait $logger
}

start_udev
ok "./Install succeeds" sh -c './Install </dev/null'
log &
logger=$!
within "installed"

detach
ok "both modules unload with the agent detached" gone
ok "both modules load with the agent detached" come
attach
within "both, with the agent detached"

ok "kmmv_stat unloads with the agent attached" rmmod kmmv_stat
ok "kmmv_stat loads with the agent attached" modprobe kmmv_stat
within "kmmv_stat alone, with the agent attached"

if [ "${KMMV_SOAK:-0}" != 0 ]; then
	detach
	ok "kmmv_stat unloads with the agent detached" rmmod kmmv_stat
	attach
	ok "kmmv_stat loads with the agent back" modprobe kmmv_stat
	within "kmmv_stat alone, with the agent detached and back"

	detach
	for i in 1 2 3; do
		ok "both modules unload, $i of 3" gone
		ok "both modules load, $i of 3" come
	done
	attach
	within "both three times, with the agent detached"

	detach
	ok "both modules unload, kmmv_stat to come later" gone
	modprobe kmmv && open_nodes
	attach
	ok "the agent reads kmmv without kmmv_stat" wait_for 120 sh -c \
		"pminfo -f kmmv.control.state | grep -q '\"attached\"'"
	ok "kmmv_stat loads later, with the agent attached" modprobe kmmv_stat
	within "kmmv_stat later, with the agent attached"

	stop_pmcd
	start_pmcd
	within "the agent restarted"

	stop_pmcd
	ok "kmmv_stat unloads with no agent" rmmod kmmv_stat
	ok "kmmv_stat loads with no agent" modprobe kmmv_stat
	start_pmcd
	within "kmmv_stat alone, with no agent"
fi

stop_pmcd
ok "both modules unload with no agent" gone
ok "both modules load with no agent" come
start_pmcd
within "both, with no agent"

if [ "${KMMV_SOAK:-0}" != 0 ]; then
	detach
	ok "both modules unload before the agent restarts" gone
	stop_pmcd
	start_pmcd
	ok "both modules load after the agent" come
	within "both, with an agent that waited for them"

	detach
	ok "both modules unload before the agent stops" gone
	stop_pmcd
	ok "both modules load before the agent starts" come
	start_pmcd
	within "both, and the agent, one after the other"
fi

agent=$(pgrep -x pmdakmmv)
kill -9 "$agent"
rmmod kmmv_stat
modprobe kmmv_stat
within "kmmv_stat while the agent was dead"

end_log
archives=()
for file in "$WORK"/archive.*.meta; do
	archives+=("${file%.meta}")
done
ok "the archive: no value falls, no CPU is busy for too long" \
	qa/vm/pcp-bracket archive "${archives[@]}"
note "${#archives[@]} archives" "$tap_text"
finish
