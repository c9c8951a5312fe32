#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# How large archives are, on a machine with 4 CPUs, 2 disks, 2 network devices, 2
# counters of kmmv_trace, 6 names of each kind in the profiler (qa/agent/machine.py)
# and one ring, and how long it takes to read an hour of them again.
# Tab-separated: what, values of a sample, bytes of a sample, bytes of metadata,
# MB a day at intervals of 60 s and of 10 s; then reader, values, seconds of CPU time.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/agent/env
. qa/agent/env
# shellcheck source=qa/agent/ring
. qa/agent/ring

samples=51
trap 'kill $live_pid $pmcd_pid 2>/dev/null; rm -rf "$work"' EXIT
pmcd_pid=
qa/agent/machine.py area 1000 >"$work/machine" || bail "no machine"
area <"$work/machine"
live
new_ring default
for cpu in 0 1 2 3; do
	echo "$cpu 1 $(seq -s ' ' 1000 1040)"
done >"$work/dev/sim/default.stats"
pmcd_start || bail "no pmcd"
host=unix:$work/pmcd.socket

# record NAME CONFIG
record()
{
	local data meta values

	echo "$2" >"$work/config"
	pmlogger -h "$host" -s $samples -c "$work/config" -l "$work/log" \
		"$work/$1" || return
	data=$(stat -c %s "$work/$1.0")
	meta=$(stat -c %s "$work/$1.meta")
	# pmlogger's own metrics are in the prologue and the epilogue.
	values=$(pmdumplog "$work/$1" | awk '/^ .*value / { n++ } END { print n }')
	awk -v OFS='\t' -v what="$1" -v n=$((values / samples)) -v d="$data" \
		-v m="$meta" -v s=$samples 'BEGIN {
		each = d / s
		print what, n, int(each), m, sprintf("%.1f", (each * 1440 + m) / 1e6),
			sprintf("%.1f", (each * 8640 + m) / 1e6)
	}'
}

mkdir -p "$work/groups/kmmv"
for file in pmda/site/pmlogconf.*; do
	cp "$file" "$work/groups/kmmv/${file##*.}"
done
pmlogconf -c -d "$work/groups" -h "$host" "$work/default" >/dev/null ||
	bail "no configuration"
record default "$(sed 's/ on default/ on 50 msec/' "$work/default")"
for source in stat block net trace profile; do
	record $source "log mandatory on 50 msec {
		kmmv.value.$source kmmv.all.$source }"
done
record ring "log mandatory on 50 msec {
	$(grep '^	' pmda/site/pmlogconf.ring) }"
record percpu "log mandatory on 50 msec { kmmv.percpu }"

qa/agent/machine.py archive "$work/hour" -s 3600 -t 1 -p || bail "no archive"
# replay NAME VALUES COMMAND...
replay()
{
	local name=$1 values=$2 TIMEFORMAT=%U

	shift 2
	printf '%s\t%s\t' "$name" "$values"
	{ time "$@" >/dev/null 2>&1; } 2>&1
}
replay pmrep $((3600 * 24 * 4)) /usr/bin/python3 "$(command -v pmrep)" -a "$work/hour" \
	-z -t 1 kmmv.percpu.stat.cpu kmmv.percpu.stat.irq kmmv.percpu.stat.softirq
replay pcp-kmmv $((3600 * 8 * 4)) /usr/bin/python3 pmda/site/pcp-kmmv -a "$work/hour" \
	-z -t 1 cpu
