#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What pmlogger pays for a sample of one metric, by its instances. Tab-separated:
# instances, milliseconds of pmlogger's CPU time a sample, the first one apart.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/agent/env
. qa/agent/env
# shellcheck source=qa/agent/ring
. qa/agent/ring

trap 'kill $pmcd_pid 2>/dev/null; rm -rf "$work"' EXIT
pmcd_pid=
host=unix:$work/pmcd.socket
echo 'log mandatory on 200 msec { kmmv.value.sim }' >"$work/config"

# ran SAMPLES: pmlogger's CPU time in milliseconds
ran()
{
	local TIMEFORMAT='%U %S'

	rm -f "$work"/archive*
	{ time pmlogger -h "$host" -s "$1" -c "$work/config" -l "$work/log" \
		"$work/archive"; } 2>&1 | tail -n 1 |
		awk '{ printf "%d", ($1 + $2) * 1000 }'
	[ -s "$work/archive.0" ]
}

make -s -f qa/GNUmakefile build/qa/bench/kmmvsim >&2 || bail "no simulator"
for nr in 1024 2048 4096 16384; do
	rm -rf "${work:?}/dev"
	build/qa/bench/kmmvsim --cpus 4 --families 1 --instances $nr "$work/dev" \
		>/dev/null || bail "no area"
	pmcd_start || bail "no pmcd"
	samples=50
	[ $nr -lt 16384 ] || samples=10
	first=$(ran 1) || bail "no archive"
	all=$(ran $((samples + 1))) || bail "no archive"
	printf '%d\t%s\n' $nr "$(awk -v all="$all" -v first="$first" \
		-v n=$samples 'BEGIN { printf "%.2f", (all - first) / n }')"
	kill $pmcd_pid
	wait $pmcd_pid 2>/dev/null
	pmcd_pid=
done
