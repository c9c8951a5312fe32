#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Each table that the benchmarks print has a name, and none has another's: it is the
# CSV file's, and table() stops without one.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh

work=$(mktemp -d) || bail "no directory"
trap 'rm -rf "$work"' EXIT

# calls FILE...: the ends of pipes into table(), one a line, with their comments left out
calls()
{
	sed 's/^[[:space:]]*#.*//' "$@" | grep -oE '\| *table([[:space:]].*)?$' |
		sed 's/^| *//; s/[[:space:]]*$//'
}

nameless()
{
	calls "$@" | grep -cvE '^table [a-z][a-z-]*$'
}

doubled()
{
	calls "$@" | sort | uniq -d
}

files=(qa/bench/run qa/bench/*.sh)
ok "there are 20 tables or more" test "$(calls "${files[@]}" | wc -l)" -ge 20
is "each table has a name" "$(nameless "${files[@]}")" 0
is "no table has another's name" "$(doubled "${files[@]}")" ""
printf 'a | table one\n\t} | table\nb | table one\n# | table\n' >"$work/bad.sh"
is "a table without a name is found" "$(nameless "$work/bad.sh")" 1
is "a name of two tables is found" "$(doubled "$work/bad.sh")" "table one"
finish
