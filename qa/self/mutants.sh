#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# The run of the mutants counts each of them once, and no survivor is a pass.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh

unset KMMV_UNTIL
mkdir -p build
dir=$(mktemp -d "$PWD/build/self.XXXXXX") || bail "no directory"
trap 'rm -rf "$dir"' EXIT

git ls-files -z kmod lib pmda qa GNUmakefile | grep -zv '^qa/proof/mutants/' |
	xargs -0 cp --parents -t "$dir" || bail "no copy"
mkdir "$dir/qa/proof/mutants"
list=$dir/qa/proof/mutants/list
killed='mutant: a full table of max_bytes is too big
file: kmod/core/geom.c
kill: plain/geom
-	if (kmmv_geom_bytes(capacity, nr_possible) > max_bytes)
+	if (kmmv_geom_bytes(capacity, nr_possible) >= max_bytes)
'
survives='mutant: nothing changes
file: kmod/core/geom.c
kill: plain/geom
-	if (kmmv_geom_bytes(capacity, nr_possible) > max_bytes)
+	if (max_bytes < kmmv_geom_bytes(capacity, nr_possible))
'
broken='mutant: no parenthesis
file: kmod/core/geom.c
kill: plain/geom
-	if (kmmv_geom_bytes(capacity, nr_possible) > max_bytes)
+	if (kmmv_geom_bytes(capacity, nr_possible) > max_bytes
'

# judged NAME STATUS PLAN MUTANT...: a run of these ends so
judged()
{
	local name=$1 status=$2 planned=$3

	shift 3
	printf '%s\n' "$@" >"$list"
	# shellcheck disable=SC2086 # a pattern or none
	said=$("$dir/qa/proof/mutants.sh" $pattern 2>&1)
	is "$name: the status is $status" $? "$status"
	is "$name: the plan is $planned" "$(tail -n 1 <<<"$said")" "$planned"
}

pattern=
judged "a mutant that is killed" 0 1..3 "$killed"
like "the test that kills a mutant is named" \
	"$said" '^ok 3 - .*max_bytes.*: killed by plain/geom$'
judged "a survivor" 1 1..4 "$killed" "$survives"
like "a survivor is named" "$said" '^not ok . - nothing changes'
like "the test that a survivor survives is named" "$said" '^# survives plain/geom'
pattern=full
judged "a pattern chooses" 0 1..2 "$killed" "$survives"
pattern=
judged "a mutant that does not compile" 1 1..3 "$broken"
like "the check that each mutant compiles fails" \
	"$said" '^not ok 1 - each of 1 mutants compiles'
export KMMV_UNTIL=1
judged "no time for tests" 0 1..1 "$killed"
like "the output says how many are not run" \
	"$said" '^# not run: 2 of 2 mutants and controls'
judged "no time, and a mutant that does not compile" 1 1..1 "$killed" "$broken"
KMMV_UNTIL=$(($(date +%s) + 3600))
judged "time enough for two mutants" 0 1..4 "$killed" "${killed/max_bytes is/that is}"

finish
