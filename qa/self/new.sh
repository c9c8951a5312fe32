#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# qa/new makes a failing test of each kind, and overwrites none.

# shellcheck source=qa/tap.sh
. qa/tap.sh

dir=$(mktemp -d) || bail "no directory"
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/qa/vm/tests" "$dir/qa/unit/core" "$dir/qa/unit/lib" \
	"$dir/qa/agent" "$dir/qa/shipped" "$dir/qa/source"
cp qa/new qa/tap.sh "$dir/qa"

for kind in shipped source; do
	"$dir/qa/new" $kind thing >/dev/null
	said=$(cd "$dir" && bash qa/$kind/thing.sh 2>&1)
	is "$kind: it fails" $? 1
	like "$kind: in TAP" "$said" "^not ok 1 - what holds"
done
"$dir/qa/new" agent thing >/dev/null
"$dir/qa/new" vm 17-thing >/dev/null
if command -v shellcheck >/dev/null; then
	is "shellcheck has nothing against a script of any kind" \
		"$(cd "$dir" && shellcheck -e SC1091 qa/agent/thing.sh \
			qa/shipped/thing.sh qa/vm/tests/17-thing.sh 2>&1)" ""
else
	skip "shellcheck" "no shellcheck"
fi
# shellcheck disable=SC2317 # called by ok
compiles()
{
	"$dir/qa/new" "$1" thing >/dev/null &&
		gcc -fsyntax-only -std=gnu11 -Wall -Werror -D_GNU_SOURCE -Iqa/shim \
			-Iqa/unit "-Iqa/$1" "${@:2}" "$dir/qa/$1/thing.c"
}
ok "unit/core: it compiles" compiles unit/core -Ikmod/core -Ikmod/include
rm "$dir/qa/unit/core/thing.c"
ok "unit/lib: it compiles" compiles unit/lib -Ilib -Ikmod/include/uapi
"$dir/qa/new" source thing >/dev/null 2>&1
is "none is overwritten" $? 1
"$dir/qa/new" vm thing >/dev/null 2>&1
is "in the machine, it needs its number" $? 2
finish
