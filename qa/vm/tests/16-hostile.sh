#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# machine: ICOUNT=1 APPEND=preempt=full
# Hostile readers: what they are refused, and what the kernel's calls cost beside
# 200 of them. The times are counted instructions, on one CPU with full preemption.
# They are a table without a verdict: qa/unit/core/cost.c counts the steps for which
# a call can be made to wait. Of 500000 calls one or two take milliseconds: each
# 512th needs memory of each CPU, and waits in pcpu_alloc() for a kernel worker that
# waits for CPU time beside the readers.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/client/client.sh
. qa/client/client.sh
trap unload EXIT

readers=200
# KMMV_LATENCY_CALLS=500000: a million names in all.
count=${KMMV_LATENCY_CALLS:-5000}
[ "${KMMV_SOAK:-0}" = 0 ] || count=100000

load_core capacity=$((2 * count + 4096)) max_bytes=$((1 << 30)) &&
	load_client && insmod kmod/kmmv_stat.ko ||
	bail "the modules do not load"
chmod a+r /dev/kmmv/counters /dev/kmmv/names /dev/kmmv/ring/default

limits=$(build/qa/vm/hostile limits)
while IFS= read -r line; do
	case $line in
	"ok "*)		pass "${line#ok * - }" ;;
	"not ok "*)	fail "${line#not ok * - }" ;;
	esac
done <<<"$limits"
is "all 15 limits are checked" "$(grep -c '^ok\|^not ok' <<<"$limits")" 15

number=$(call "add latency")

# row WHEN: a line for each call; every call must have been made
row()
{
	local what result longest all

	for what in "add $count $1" "adjust $count $number" "ring $count"; do
		result=$(call "latency $what")
		read -r longest all <<<"$result"
		note "$(printf '%-8s %-7s longest %9d ns: %s' "$1" \
			"${what%% *}" "$longest" "$all")"
		# shellcheck disable=SC2086 # words
		is "$1, ${what%% *}: every call comes back" \
			"$(printf '%s+' $all)0=$(($(printf '%s+' $all)0))" \
			"$(printf '%s+' $all)0=$count"
	done
}

note "how many calls took less than 512, 1024, ... ns"
row quiet
coproc hostile { build/qa/vm/hostile $readers; }
read -r line <&"${hostile[0]}"
is "$readers readers are there" "$line" ready
# With real-time priority the calls are measured, not the wait for the CPU.
chrt -f -p 1 $$
row hostile
chrt -o -p 0 $$
eval "exec ${hostile[1]}>&-"
while read -r kind n; do
	note "$kind: $n"
	ok "the hostile readers have a count of $kind" test "$n" -gt 0
done <&"${hostile[0]}"
wait
is "all names that were added are there" \
	"$(grep -c 'name=\(quiet\|hostile\)[0-9]*$' /dev/kmmv/names)" $((2 * count))
ok "kmmv_stat unloads after the hostile readers" rmmod kmmv_stat
finish
