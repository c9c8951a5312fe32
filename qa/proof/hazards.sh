#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# qa/proof/hazards.md agrees with the tests that it names: each hazard, 1 to 25, has
# some; each is in its file, outside comments; and each file is a test that qa/check
# runs, or is run by one.
#
# qa/proof/hazards.sh -c DIR: only check the tree below DIR.

cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh

# has FILE NAME: whether a line of code has it, in the form of that kind of file
has()
{
	local string="^[^/*]*\".*\""

	# One word is a test of Check; other names are messages.
	[[ $1 != qa/unit/* || $2 = *[!a-z_]* ]] || string="START_TEST\\($2\\)"
	case $1 in
	*.litmus)	grep -qF "$2" "$1" ;;
	qa/proof/mutants/*)	grep -qxF "mutant: $2" "$1" ;;
	*.c)		grep -F -- "$2" "$1" | grep -qE "$string" ;;
	*)		grep -vE '^[[:blank:]]*#' "$1" | grep -qF -- "$2" ;;
	esac
}

# runs FILE: whether it is a test, or part of a program that a test runs
runs()
{
	local base=${1##*/}

	base=${base%.*}
	case $1 in
	qa/vm/tests/[0-9]*.sh | qa/proof/litmus/*.litmus | qa/proof/mutants/* | \
	qa/[a-z]*/[a-z]*.sh)
		;;
	qa/vm/progs/ring-read.c | qa/vm/progs/rules-*.c)
		grep -v '^#' qa/vm/*.mk | grep -q "\b$base\b" ;;
	qa/vm/progs/*.c)
		grep -q "^vm-programs.* $base\\b" qa/vm/*.mk &&
			grep -q "build/qa/vm/$base\\b" qa/vm/tests/*.sh ;;
	qa/unit/*/*.c)
		grep -v '^#' qa/unit/*/*.mk | grep -q "\b$base\b" ;;
	qa/unit/ring/*.h)
		grep -q "^#include \"$base.h\"" qa/unit/ring/ring-search.c ;;
	*)
		false ;;
	esac
}

# check DIR: a line for each fault, and "N hazards, N tests" last
check()
(
	cd "$1" || exit 2
	local line hazard=0 tests=0 all=0 file name

	while IFS= read -r line; do
		case $line in
		[0-9]*.\ *)
			[ $hazard = 0 ] || [ $tests -gt 0 ] ||
				echo "hazard $hazard: no test"
			[ "${line%%.*}" = $((hazard + 1)) ] ||
				echo "hazard ${line%%.*} after $hazard"
			hazard=${line%%.*} tests=0
			;;
		*-\ \`*\`:\ *)
			file=${line#*\`}
			name=${file#*\`: }
			file=${file%%\`*}
			tests=$((tests + 1)) all=$((all + 1))
			if [ ! -e "$file" ]; then
				echo "hazard $hazard: no $file"
			elif ! has "$file" "$name"; then
				echo "hazard $hazard: $file has no '$name'"
			elif ! runs "$file"; then
				echo "hazard $hazard: nobody runs $file"
			fi
			;;
		esac
	done <qa/proof/hazards.md
	[ $tests -gt 0 ] || echo "hazard $hazard: no test"
	echo "$hazard hazards, $all tests"
)

if [ "${1-}" = -c ]; then
	check "$2"
	exit
fi

said=$(check .)
is "each hazard has tests that are there" "$(sed '$d' <<<"$said")" ""
like "there are 25 hazards" "$(tail -n 1 <<<"$said")" '^25 hazards, [1-9][0-9]* tests$'
note "$(tail -n 1 <<<"$said")"

# A checker that finds nothing must be shown to find something.
mkdir -p build
copy=$(mktemp -d build/hazards.XXXXXX) || exit 2
trap 'rm -rf "$copy"' EXIT
mkdir -p "$copy/qa/proof"
cp -r qa/unit qa/vm "$copy/qa"
cp -r qa/proof/hazards.md qa/proof/model.sh qa/proof/litmus qa/proof/mutants "$copy/qa/proof"
is "a copy has the same hazards and tests" "$(check "$copy")" "$said"

# spoils NAME FILE SED MESSAGE
spoils()
{
	cp "$2" "$copy/$2"
	sed -i "$3" "$copy/$2"
	like "noticed: $1" "$(check "$copy")" "$4"
	cp "$2" "$copy/$2"
}

spoils "a hazard without a test" qa/proof/hazards.md '/^1\. /,/^2\. /{/- `/d}' \
	'^hazard 1: no test$'
spoils "a hazard that is gone" qa/proof/hazards.md '/^7\. /d' '^hazard 8 after 6$'
spoils "a test that is gone" qa/vm/progs/ring-wake.c \
	's/a wake-up does not feed itself/&, any more/;s/does not feed itself, any/feeds itself no/' \
	"^hazard 25: qa/vm/progs/ring-wake.c has no 'a wake-up does not"
spoils "a test that is in a comment only" qa/unit/lib/libring.c \
	's/^START_TEST(malformed)/\/* START_TES malformed *\//' \
	"^hazard 15: qa/unit/lib/libring.c has no 'malformed'"
spoils "a program that nobody runs" qa/vm/tests/56-ring-storm.sh \
	's/ring-storm/another/' '^hazard 1: nobody runs qa/vm/progs/ring-storm.c$'
rm "$copy/qa/proof/litmus/ringbuffers-A+ringwriter-A.litmus"
like "noticed: a file that is gone" "$(check "$copy")" \
	'^hazard 24: no qa/proof/litmus/ringbuffers-A\+ringwriter-A.litmus$'
finish
