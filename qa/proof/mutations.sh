#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# partial: yes
# timeout: 14400
#
# Generated mutations: a part of all that qa/proof/mutate.py can make, each of
# which a test has to notice. qa/proof/mutations.sh [FILE...] for all of these files.
#
# Which they are depends on the text of their functions alone. One that no test
# notices is a failure, unless qa/proof/survivors says why it makes no difference; and
# so is an entry there that is no mutation, or is noticed after all. In a soak there
# are eight times as many; the failures are then the folders of which less than 95 %
# are noticed, with the others as comments.
#
# Unit programs judge. Of the commands in lib/, which the unit programs do not have or
# only in part, their scripts in qa/shipped/ do, too. The agent's scripts do not: all of
# them take four minutes for each mutation that the unit programs do not notice.
#
# With a time limit (KMMV_UNTIL) the order depends on the last commit, so that each has
# its turn.

cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

# FOLDER PARTS: one of so many parts of its mutations, in a soak of an eighth as many
folders='kmod/core 160
lib 400
pmda 240'

command -v clang >/dev/null || skip_all "no clang: qa/setup check"

said=$(python3 qa/proof/mutate.py -c 2>&1) ||
	bail "qa/proof/survivors cannot be read" "$said"
total=${said##*$'\n'}
is "each of $total survivors is a mutation" "${said%"$total"}" ""

soak=$((${KMMV_SOAK:-0} != 0))

# judge WHERE K/M: a result for each, and one for all of them
judge()
{
	local where=$1 verdict by listed what made=0 same=0 noticed=0 hung=0
	local survived=0 left=0 untried=0 equal=0 ended=0 percent

	while IFS=$'\t' read -r verdict by listed what; do
		made=$((made + 1))
		case $verdict in
		"did not compile" | "same code")
			same=$((same + 1)) ;;
		killed | hung)
			noticed=$((noticed + 1))
			[ "$verdict" = killed ] || hung=$((hung + 1))
			if [ "$listed" = yes ]; then
				fail "$what" "qa/proof/survivors has it, but" \
					"it is $verdict by $by"
			else
				pass "$what: $verdict by $by"
			fi ;;
		listed)
			equal=$((equal + 1))
			pass "$what: survives, as listed" ;;
		survived)
			survived=$((survived + 1))
			if [ $soak = 1 ]; then
				note "survived: $what"
			else
				fail "$what" "no test notices it: add one, or" \
					"say in qa/proof/survivors why it" \
					"makes no difference"
			fi ;;
		"not run")	left=$((left + 1)) ;;
		"no test has it") untried=$((untried + 1)) ;;
		end)		made=$((made - 1)) ended=1 ;;
		*)		fail "$where: a verdict" "$verdict $by $listed $what"
		esac
	done < <(python3 qa/proof/mutate.py -pu -t 3000 -k "$2" "$where" 2>&1)

	not_run=$((not_run + left)) all=$((all + made))
	percent=$((noticed + survived > 0 ?
		noticed * 100 / (noticed + survived) : 100))
	said="$where: $made made, $same same code, $((noticed - hung)) killed"
	said+=", $hung hung, $equal listed, $survived survived, $untried untried"
	is "$where: the judge comes to its end" "$ended" 1
	[ $made -gt 0 ] || fail "$where: there are mutations"
	[ $ended = 0 ] || [ $left -gt 0 ] ||
		[ $((noticed + equal + survived)) -gt 0 ] ||
		fail "$where: a mutation was judged"
	[ $made -eq $left ] || note "$said: $percent % noticed"
	[ $made -eq $left ] ||
		ok "$where: 95 % or more are noticed" test $percent -ge 95
}

not_run=0 all=0
if [ $# -gt 0 ]; then
	for where; do
		judge "$where" 0/1
	done
else
	while read -r where parts; do
		judge "$where" "0/$((soak ? parts / 8 : parts))"
	done <<<"$folders"
fi
[ $not_run -eq 0 ] || note "not run: $not_run of $all mutations, the time was over"
finish
