#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# beside: yes
# The agent and kmmvdump agree, on simulated areas of all kinds.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/agent/env
. qa/agent/env

sim=build/qa/bench/kmmvsim
make_programs bench/kmmvsim

# same NAME TEXT TEXT: like is(), but shows only the differences
same()
{
	is "$1" "$(diff <(echo "$2") <(echo "$3") | head -n 20)" ""
}

# compare WHAT OPTION...
compare()
{
	local what=$1 family sums cells

	shift
	rm -rf "${work:?}/dev"
	$sim --families 3 "$@" "$work/dev" || bail "kmmvsim: $*"
	family=sim.f1
	sums=$(build/kmmvdump -d "$work/dev" -f $family |
		sed -n "s/^$family\\[\"\\(.*\\)\"\\] /\\1 /p" | sort)
	ok "$what: kmmvdump prints values" test "$(wc -l <<<"$sums")" -gt 4
	same "$what: sums are those of kmmvdump" \
		"$(values kmmv.value.$family | sort)" "$sums"
	cells=$({
		build/kmmvdump -H -d "$work/dev"
		build/kmmvdump -c -d "$work/dev" -f $family
	} | awk '
	$1 == "online" {
		# "0,2-3" to a list
		n = split($2, range, ",")
		for (i = 1; i <= n; i++) {
			split(range[i] "-" range[i], end, "-")
			for (cpu = end[1]; cpu <= end[2]; cpu++)
				list[++cpus] = cpu
		}
	}
	/^sim/ {
		split($1, part, "\"")
		for (i = 1; i <= cpus; i++)
			print part[2] "::cpu" list[i], $(i + 1)
	}' | sort)
	same "$what: values on each CPU are those of kmmvdump" \
		"$(values kmmv.percpu.$family | sort)" "$cells"
}

compare "a plain area" --instances 30
compare "great numbers" --instances 30 --start 18446744073709551000
compare "CPUs that are not possible" --instances 30 --cpus 11 --sparse
compare "no 64-bit accesses" --instances 30 --pair --start 4294967290
compare "many CPUs" --instances 30 --cpus 200
compare "greater pages" --instances 30 --page-size 65536
compare "room to grow" --instances 30 --capacity 100000
compare "generations next to their wrap" --instances 30 \
	--generation 18446744073709551615
finish
