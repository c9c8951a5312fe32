#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the agent's own code costs: instructions in user space, counted by
# callgrind, and the thread's CPU time with the system's part of it (the sync of
# the file of numbers, where there is one). Tab-separated: what, instances,
# instructions, microseconds; or "memory", instances, "-", kB.
#
#	qa/bench/agentcost.sh

set -u
cd "$(dirname "$0")/../.." || exit 1
export LC_ALL=C PATH=/usr/bin:/bin:/usr/sbin:/sbin PCP_DERIVED_CONFIG=
rounds=5
# Not in memory: there a sync costs nothing.
work=$(mktemp -d -p /var/tmp) || exit 1
trap 'rm -rf "$work"' EXIT

# run WHAT INSTANCES ROUNDS [COMMAND...]: what agentchange prints
run()
{
	local what=$1 count=$2 times=$3

	shift 3
	rm -rf "$work/dir"
	mkdir "$work/dir" || exit
	"$@" build/qa/bench/agentchange "$work/dir" "$what" "$count" "$times" \
		2>"$work/log" || {
		cat "$work/log" >&2
		exit 1
	}
}

# cost WHAT INSTANCES
cost()
{
	local counted=- took

	took=$(run "$1" "$2" 51) || exit
	if command -v valgrind >/dev/null; then
		run "$1" "$2" $rounds valgrind --tool=callgrind \
			--callgrind-out-file=/dev/null \
			--toggle-collect=measured >/dev/null || exit
		counted=$(sed -n 's/.*Collected : //p' "$work/log")
		counted=$((counted / rounds))
	fi
	awk -v what="$1" -v n="$2" -v i="$counted" -v ns="$took" \
		'BEGIN { printf "%s\t%d\t%s\t%.1f\n", what, n, i, ns / 1000 }'
}

for count in 1000 10000 100000; do
	cost old $count
	cost new $count
done
for count in 1024 16384 65536; do
	cost fetch $count
done
for count in 1000 16384 262144; do
	printf 'memory\t%d\t-\t%s\n' $count "$(run memory $count 1)"
done
