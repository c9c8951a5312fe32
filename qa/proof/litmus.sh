#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 4000
#
# The litmus tests of qa/proof/litmus, one for each pair of ordered accesses, by
# herd7 on the kernel's memory model: the forbidden outcome is never seen; with any
# one access of the test weakened it is seen, so each access is necessary.
#
# Weakening turns a release or an acquire into WRITE_ONCE() or READ_ONCE(), removes
# the order of a cmpxchg and removes a barrier; a full barrier also becomes
# smp_wmb(). User space is modelled by kernel primitives: an acquire load by
# smp_load_acquire(), an acquire fence between loads by smp_rmb(), which is weaker,
# and a relaxed load of a shared word by READ_ONCE(). qa/proof/barriers.sh compares
# the labelled lines with the code.
#
# qa/proof/litmus.sh -w LABEL PRIMITIVE: print the tests that see a forbidden
# outcome if the access with this label has that primitive; status 1 if there are
# none.

cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh

dir=build/litmus
mkdir -p $dir
dir=$(mktemp -d $dir/run.XXXXXX) || exit 2
trap 'rm -rf "$dir"' EXIT

# weaken FILE LINE PRIMITIVE NAME >FILE: the test with that line's access weakened
weaken()
{
	awk -v at="$2" -v primitive="$3" -v name="$4" '
	NR == 1 { print "C " name; next }
	NR != at { print; next }
	primitive == "WRITE_ONCE" { sub(/smp_store_release\(/, "WRITE_ONCE(*") }
	primitive == "READ_ONCE" { sub(/smp_load_acquire\(/, "READ_ONCE(*") }
	primitive == "nothing" { sub(/(smp_[a-z]+|synchronize_rcu)\(\);/, "") }
	primitive == "cmpxchg_relaxed" { sub(/cmpxchg_release\(/, "cmpxchg_relaxed(") }
	primitive ~ /^smp_/ { sub(/smp_[a-z]+\(/, primitive "(") }
	{ print }' "$1"
}

# lines FILE: "LINE LABEL PRIMITIVE" of each labelled access
lines()
{
	sed -n 's/.*\(smp_[a-z_]*\|synchronize_rcu\|cmpxchg_release\)(.*\/\* \([a-z0-9_]*:[A-Z]\) \*\/$/\2 \1/;t p
		b;:p;=;p' "$1" | paste -d ' ' - -
}

weaker_than()
{
	case $1 in
	smp_store_release) echo WRITE_ONCE ;;
	smp_load_acquire) echo READ_ONCE ;;
	cmpxchg_release) echo cmpxchg_relaxed ;;
	smp_mb) echo nothing; echo smp_wmb ;;
	*) echo nothing ;;
	esac
}

# ---- one question

if [ "${1-}" = -w ]; then
	unit=${2%:*} letter=${2#*:}
	grep -l "/\* $unit:$letter \*/" qa/proof/litmus/*.litmus |
	while read -r file; do
		lines "$file" | while read -r at label _; do
			[ "$label" = "$2" ] || continue
			name=$(basename "$file" .litmus)
			weaken "$file" "$at" "$3" "$name" >"$dir/weak.litmus"
			! cmp -s "$file" "$dir/weak.litmus" || continue
			qa/proof/litmus/herd "$dir/weak.litmus" 2>&1 |
				grep -q '^Observation .* Sometimes' && echo "$name"
		done
	done | sort -u >"$dir/answer"
	cat "$dir/answer"
	[ -s "$dir/answer" ]
	exit
fi

# ---- all of them

why=$(qa/proof/litmus/herd -a 2>&1)
available=$?
if [ $available -ne 0 ] && [ $available -ne 77 ]; then
	bail "qa/proof/litmus/herd: $why"
fi
why=$(printf '%s\n' "$why" | tail -n 1)

tests=0
for file in qa/proof/litmus/*.litmus; do
	[ -e "$file" ] || bail "no litmus tests"
	name=$(basename "$file" .litmus)
	cp "$file" "$dir/$name.litmus"
	sed -n "s/^(\* Expected: \([A-Za-z]*\) \*)\$/$name \1/p" "$file"
	lines "$file" | while read -r at label primitive; do
		for weaker in $(weaker_than "$primitive"); do
			weak="$name.$at.$weaker"
			weaken "$file" "$at" "$weaker" "$weak" \
				>"$dir/$weak.litmus"
			echo "$weak Sometimes $label $weaker"
		done
	done
done >"$dir/expected"
tests=$(wc -l <"$dir/expected")
plan "$tests"

if [ $available -eq 0 ]; then
	note "herd7 $(qa/proof/litmus/herd -v)"
	timeout 3600 qa/proof/litmus/herd "$dir"/*.litmus >"$dir/out" 2>"$dir/err"
	sed -n 's/^Observation \([^ ]*\) \([A-Z][a-z]*\) .*/\1 \2/p' \
		"$dir/out" >"$dir/seen"
	sed 's/^/# /' "$dir/err"
fi

while read -r name verdict label weaker; do
	title=$name
	[ -z "$label" ] || title=${name#*.}
	[ -z "$label" ] || title="${name%%.*}, line ${title%%.*}: $label needed, not $weaker"
	if [ $available -ne 0 ]; then
		skip "$title" "$why"
		continue
	fi
	is "$title" "$(sed -n "s/^$name //p" "$dir/seen")" "$verdict"
done <"$dir/expected"
finish
