#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Cost of a fetch in the agent and in PCP's mmv agent: one 64-bit metric, by the
# number of instances. Both are DSOs in a local context, so that the figures include
# neither pmcd nor a socket. Tab-separated: instances, the median of each in
# microseconds, and their ratio.
#
#	qa/bench/agent.sh [INSTANCES...]

set -u
cd "$(dirname "$0")/../.." || exit 1
export LC_ALL=C PATH=/usr/bin:/bin:/usr/sbin:/sbin PCP_DERIVED_CONFIG=
[ $# -gt 0 ] || set -- 1024 4096 16384 65536

domain=$(sed -n 's/^#define KMMV //p' pmda/domain.h)
mmv=$(sed -n 's/^PCP_PMDASADM_DIR=//p' /etc/pcp.conf)/mmv/pmda_mmv.so
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/var/pmns" "$work/var/config/pmda" "$work/tmp/mmv" "$work/pmdas"
printf 'root {\n\tkmmv\t%d:*:*\n\tmmv\t70:*:*\n}\n' "$domain" \
	>"$work/var/pmns/root"
export PCP_VAR_DIR=$work/var PCP_TMP_DIR=$work/tmp PCP_PMDAS_DIR=$work/pmdas
export KMMV_DEVICE_DIR=$work/dev

# median DOMAIN DSO INIT METRIC ROUNDS: nanoseconds
median()
{
	build/qa/bench/agentfetch "$@" 2>>"$work/log" | cut -d' ' -f3
}

printf 'instances\tkmmv, us\tmmv, us\tmmv / kmmv\n'
for count; do
	rm -rf "${work:?}/dev" "$work/var/config/pmda/"* "$work/tmp/mmv/"*
	build/qa/bench/kmmvsim --cpus "${CPUS:-4}" --families 1 \
		--instances "$count" "$work/dev"
	ours=$(median "$domain" "$PWD/build/pmda_kmmv.so" kmmv_init \
		kmmv.value.sim.f0 101)
	qa/bench/mmvfile.py bench "$count" 2>>"$work/log"
	# The mmv agent is quadratic: a fetch of many instances takes seconds.
	rounds=$((60000 / count))
	[ $rounds -le 101 ] || rounds=101
	[ $rounds -gt 0 ] || rounds=1
	theirs=$(median 70 "$mmv" mmv_init mmv.bench.count $rounds)
	if [ -z "$ours" ] || [ -z "$theirs" ]; then
		cat "$work/log" >&2
		exit 1
	fi
	awk -v n="$count" -v a="$ours" -v b="$theirs" 'BEGIN {
		printf "%d\t%.1f\t%.1f\t%.0f\n", n, a / 1e3, b / 1e3, b / a
	}'
done
