#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# The run of the generated mutations: a survivor is a failure, unless it is listed with
# a reason, and the list has nothing else. A small core with one unit program.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh

unset KMMV_UNTIL KMMV_SOAK
command -v clang >/dev/null || skip_all "no clang: qa/setup check"
mkdir -p build
dir=$(mktemp -d "$PWD/build/self.XXXXXX") || bail "no directory"
trap 'rm -rf "$dir"' EXIT

mkdir -p "$dir"/{lib,pmda,help,kmod/core,qa/harness,qa/proof,qa/unit/core}
cp qa/GNUmakefile "$dir/qa" && cp qa/harness/tap.sh "$dir/qa/harness"
cp qa/proof/mutate.py qa/proof/mutation.py qa/proof/mutations.sh "$dir/qa/proof"
core=$dir/kmod/core/small.c
cat >"$core" <<'E2'
// SPDX-License-Identifier: GPL-2.0-only
int sum(int a, int b);
int larger(int a, int b);
int last;

int sum(int a, int b)
{
	return a + b;
}

int larger(int a, int b)
{
	last = a;
	return a > b ? a : b;
}
E2
cat >"$dir/qa/unit/core/small.mk" <<'E2'
unit-programs += small
small-sources := kmod/core/small.c qa/unit/core/small.c
# What scripts run is no test.
script-programs += command
command-sources := kmod/core/small.c qa/unit/core/command.c
E2
echo 'int main(void) { return 2; }' >"$dir/qa/unit/core/command.c"

# tested CONDITION: what the unit program requires
tested()
{
	cat >"$dir/qa/unit/core/small.c" <<-E2
	int sum(int a, int b);
	int larger(int a, int b);
	int main(void) { return !($1); }
	E2
}

# judged NAME STATUS PLAN: a run ends so
judged()
{
	said=$("$dir/qa/proof/mutations.sh" kmod/core/small.c 2>&1)
	is "$1: the status is $2" $? "$2"
	is "$1: the plan is $3" "$(tail -n 1 <<<"$said")" "$3"
}

listed()
{
	printf '%s\n' "$@" >"$dir/qa/proof/survivors"
}

equal='file: kmod/core/small.c
function: larger
change: a statement left out: last = a;
equivalent: nobody reads it
'
all='sum(2, 1) == 3 && larger(2, 1) == 2 && larger(1, 2) == 2'
tested "$all"

# Three mutations; a > b or a >= b is the same code.
listed "$equal"
judged "all mutations are noticed but one, which is listed" 0 1..5
like "the test that notices a mutation is named" \
	"$said" '^ok . - .*a \+ b; => return a - b;: killed by small$'
like "a listed mutation survives" "$said" '^ok . - .*last = a;: survives, as listed$'
like "the figures are printed" \
	"$said" ' 1 killed, 0 hung, 1 listed, 0 survived, .*: 100 % noticed$'

listed ''
judged "a survivor that is not listed" 1 1..5
like "a survivor that is not listed is named" \
	"$said" '^not ok . - kmod/core/small.c:[0-9]*: larger\(\): a statement left out: last = a;$'
like "a share below 95 % is a failure" \
	"$said" '^not ok . - kmod/core/small.c: 95 % or more'

listed "$equal"
tested 'larger(2, 1) == 2 && larger(1, 2) == 2'
judged "a test is missing" 1 1..5
like "what a missing test would have noticed is named" "$said" '^not ok . - .*a - b;$'

tested "$all"
listed "$equal" "${equal//larger/sum}"
judged "an entry that is no mutation" 1 1..5
like "an entry that is no mutation is shown" \
	"$said" '^# got: .*no mutation is kmod/core/small.c in sum\(\): a stat'
listed "$equal" 'file: kmod/core/small.c
function: sum
change: an operator: return a + b; => return a - b;
equivalent: nobody adds
'
judged "an entry that is noticed" 1 1..5
like "the test that notices an entry is named" "$said" '^# it is killed by small'
listed "${equal/equivalent:*/equivalent:}"
said=$("$dir/qa/proof/mutations.sh" 2>&1)
is "an entry without a reason is a failure" $? 1
like "an entry without a reason ends the run" \
	"$said" '^Bail out! qa/proof/survivors cannot be read'

listed "$equal"
tested 'sum(2, 1) == 4'
judged "a test that fails unmutated" 1 1..4
like "a test that fails unmutated is named" "$said" '^# .*unmutated, small failed'

tested "$all"
echo 'small-libs := build/none.a' >>"$dir/qa/unit/core/small.mk"
judged "a program that make cannot make" 1 1..4
like "programs are not known if make cannot make one" "$said" \
	"^# .*unmutated, the unit programs are not known:"
sed -i '/small-libs/d' "$dir/qa/unit/core/small.mk"
cp "$dir/qa/unit/core/small.mk" "$dir/small.mk"
sed -i 's, kmod/core/small.c,,' "$dir/qa/unit/core/small.mk"
judged "no program has the file" 1 1..4
like "a file that no program has is not judged" \
	"$said" '^not ok . - .*: a mutation was judged'
mv "$dir/small.mk" "$dir/qa/unit/core/small.mk"

KMMV_UNTIL=1 judged "no time for any mutation" 0 1..2
like "the output says how many are not run" "$said" '^# not run: 3 of 3 mutations, '

# What is drawn in a function depends on that function.
drawn()
{
	(cd "$dir" && python3 qa/proof/mutate.py -l -k "$1" "${core#"$dir/"}") |
		sed 's/:[0-9]*:/:/'
}
is "the parts together are all mutations" \
	"$(for k in 0 1 2 3 4; do drawn $k/5; done | sort)" \
	"$(drawn 0/1 | sort)"
is "one of four parts is three of twelve" \
	"$(for k in 1 5 9; do drawn $k/12; done | sort)" "$(drawn 1/4 | sort)"
before=$(for k in 0 1 2 3 4; do drawn $k/5 | grep 'last' | sed "s/^/$k /"; done)
sed -i 's/return a + b;/a += 1;\n\treturn a - 1 + b;/' "$core"
after=$(for k in 0 1 2 3 4; do drawn $k/5 | grep 'last' | sed "s/^/$k /"; done)
is "an edit of one function changes no other's" "$after" "$before"
finish
