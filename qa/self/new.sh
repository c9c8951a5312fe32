#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# qa/new makes a failing test of each kind, and overwrites none.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh

dir=$(mktemp -d) || bail "no directory"
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir"/qa/{harness,vm/tests,agent,shipped,source}
cp qa/new "$dir/qa" && cp qa/harness/tap.sh "$dir/qa/harness"

for kind in shipped source; do
	"$dir/qa/new" $kind thing >/dev/null
	said=$(cd "$dir" && bash qa/$kind/thing.sh 2>&1)
	is "$kind: a new script fails" $? 1
	like "$kind: a new script prints TAP" "$said" "^not ok 1 - what holds"
done
"$dir/qa/new" agent thing >/dev/null
"$dir/qa/new" vm 17-thing >/dev/null
if command -v shellcheck >/dev/null; then
	is "shellcheck has nothing against a script of any kind" \
		"$(cd "$dir" && shellcheck -e SC1091 qa/agent/thing.sh \
			qa/shipped/thing.sh qa/vm/tests/17-thing.sh 2>&1)" ""
else
	skip "shellcheck has nothing against a script of any kind" "no shellcheck"
fi
cp -r --parents qa/GNUmakefile qa/unit qa/shim kmod lib "$dir"
for kind in unit unit/lib; do
	"$dir/qa/new" $kind "new-${kind#*/}" >/dev/null
	ok "$kind: a new program is built" make -s -C "$dir" -f qa/GNUmakefile \
		"build/qa/plain/new-${kind#*/}"
	said=$("$dir/build/qa/plain/new-${kind#*/}" 2>&1)
	is "$kind: a new program fails" $? 1
	like "$kind: a new program fails by its one test" \
		"$said" "new-${kind#*/}:what_holds"
	like "$kind: qa/check knows a new program" \
		"$(make -s -C "$dir" -f qa/GNUmakefile list)" \
		"asan new-${kind#*/} "
done
"$dir/qa/new" source thing >/dev/null 2>&1
is "a test that is there is not overwritten" $? 1
"$dir/qa/new" vm thing >/dev/null 2>&1
is "a test in the machine needs its number" $? 2
finish
