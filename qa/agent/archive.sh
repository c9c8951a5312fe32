#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# beside: yes
# pmlogger's archives while instances come and go, and the agent is detached and
# attached: each value in them has a name.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/agent/env
. qa/agent/env
# shellcheck source=qa/agent/ring
. qa/agent/ring

sim=build/qa/bench/kmmvsim
make_programs bench/kmmvsim
$sim --live --period-us 500 --families 2 --instances 64 "$work/dev" \
	>"$work/sim" &
sim_pid=$! loggers=
trap 'kill $loggers $sim_pid $pmcd_pid 2>/dev/null; rm -rf "$work"' EXIT
wait_for 60 grep -q ready "$work/sim" || bail "kmmvsim does not begin"
pmcd_start || bail "no pmcd"
host=unix:$work/pmcd.socket

echo "log mandatory on 20 msec { kmmv.value.sim kmmv.percpu.sim.f0 }" \
	>"$work/config"
for version in 2 3; do
	pmlogger -h "$host" -V $version -c "$work/config" \
		-l "$work/log.$version" "$work/archive.$version" &
	loggers="$loggers $!"
done

# seen, later: how many are in $work/dump. The names of later incarnations, i5.1 and so on, are of
# numbers whose instances went.
seen()
{
	grep -c 'inst \[' "$work/dump"
}
later()
{
	sed -n 's/.*inst \[[0-9]* or "\(i[0-9]*\.[1-9].*\)"\].*/\1/p' "$work/dump" |
		sort -u | wc -l
}
enough()
{
	local version

	for version in 2 3; do
		pmdumplog "$work/archive.$version" >"$work/dump" 2>/dev/null
		[ "$(seen)" -gt 26000 ] && [ "$(later)" -gt 100 ] || return
	done
}
# shellcheck disable=SC2086 # a list
until enough; do
	kill -0 $loggers || bail "a logger ended" "$(tail -n 5 "$work"/log.?)"
	pmstore -h "$host" kmmv.control.attach 0 >/dev/null
	pmstore -h "$host" kmmv.control.attach 1 >/dev/null
	sleep 0.3
done
# shellcheck disable=SC2086 # a list
kill $loggers
# shellcheck disable=SC2086
wait $loggers

for version in 2 3; do
	pmdumplog "$work/archive.$version" >"$work/dump" 2>"$work/errors"
	ok "version $version: the archive has values" \
		test "$(seen)" -gt 5000
	ok "version $version: the archive has later incarnations" \
		test "$(later)" -gt 100
	is "version $version: each instance has a name" \
		"$(grep -c 'or ???\]' "$work/dump")" 0
	is "version $version: pmlogcheck finds no fault" \
		"$(pmlogcheck "$work/archive.$version" 2>&1)" ""
	is "version $version: pmdumplog has no errors, the log no botch" \
		"$(cat "$work/errors"; grep -i botch "$work/log.$version")" ""
done
finish
