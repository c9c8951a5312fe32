#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# beside: yes
# pmlogger's archives while instances come and go, and the agent is detached and
# attached: each value in them has a name.

# shellcheck source=qa/tap.sh
. qa/tap.sh
# shellcheck source=qa/agent/env
. qa/agent/env
# shellcheck source=qa/agent/ring
. qa/agent/ring

sim=build/qa/bench/kmmvsim
make_programs bench/kmmvsim
$sim --live --period-us 500 --families 2 --instances 64 "$work/dev" \
	>"$work/sim" &
sim_pid=$!
trap 'kill $sim_pid $pmcd_pid 2>/dev/null; rm -rf "$work"' EXIT
wait_for 60 grep -q ready "$work/sim" || bail "kmmvsim does not begin"
pmcd_start || bail "no pmcd"
loggers=
host=unix:$work/pmcd.socket

echo "log mandatory on 20 msec { kmmv.value.sim kmmv.percpu.sim.f0 }" \
	>"$work/config"
for version in 2 3; do
	pmlogger -h "$host" -V $version -s 300 -c "$work/config" \
		-l "$work/log.$version" "$work/archive.$version" &
	loggers="$loggers $!"
done
# The loggers end after so many samples.
while kill -0 $loggers 2>/dev/null; do
	pmstore -h "$host" kmmv.control.attach 0 >/dev/null
	pmstore -h "$host" kmmv.control.attach 1 >/dev/null
	sleep 0.3
done
# shellcheck disable=SC2086 # a list
wait $loggers

for version in 2 3; do
	pmdumplog "$work/archive.$version" >"$work/dump" 2>"$work/errors"
	ok "version $version: there are values" \
		test "$(grep -c 'inst \[' "$work/dump")" -gt 5000
	ok "version $version: of instances that went" \
		test "$(sed -n 's/.*inst \[[0-9]* or "\(.*\)"\].*/\1/p' \
			"$work/dump" | sort -u | wc -l)" -gt 100
	is "version $version: none is without a name" \
		"$(grep -c 'or ???\]' "$work/dump")" 0
	is "version $version: pmlogcheck" \
		"$(pmlogcheck "$work/archive.$version" 2>&1)" ""
	is "version $version: nor had libpcp to complain" \
		"$(cat "$work/errors"; grep -i botch "$work/log.$version")" ""
done
finish
