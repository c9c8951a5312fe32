#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 600
#
# The model of the ring buffer, qa/model/ring.pml, by Spin: no assertion fails in
# any order of steps, and with any one of its mechanisms taken out one does. Each
# line says how large the search was.
#
# KMMV_SOAK=1: larger searches, to the end of what 9 GiB hold, and progress: the
# steps that a writer makes while nobody else makes any are bounded.

cd "$(dirname "$0")/.." || exit 2
export LC_ALL=C
# shellcheck source=qa/tap.sh
. qa/tap.sh

command -v spin >/dev/null || skip_all "no spin here: qa/setup check"

dir=build/model
mkdir -p $dir
dir=$(realpath "$(mktemp -d $dir/run.XXXXXX)") || exit 2
trap 'rm -rf "$dir"' EXIT
export MODEL_SECONDS=120 MODEL_MIB=2900
[ "${KMMV_SOAK:-0}" = 0 ] || export MODEL_SECONDS=3600 MODEL_MIB=9000

# NAME|DEFINITIONS
holds()
{
	cat <<-'END'
	two levels, consumer at will|-DEVENTS=2 -DTAKES=255
	three levels, overwrite|-DLEVELS=3 -DEVENTS=3 -DTAKES=1
	three levels, overwrite, two takes|-DLEVELS=3 -DEVENTS=3 -DTAKES=2 -DDISCARDS=0 -DSIZES=1
	three levels, producer/consumer|-DLEVELS=3 -DEVENTS=3 -DTAKES=1 -DOVERWRITE=0
	two levels, producer/consumer, two takes|-DEVENTS=3 -DTAKES=2 -DOVERWRITE=0
	three pages|-DPAGES=3 -DEVENTS=2 -DTAKES=2
	three pages, three levels, no consumer meanwhile|-DPAGES=3 -DLEVELS=3 -DEVENTS=3 -DTAKES=0
	a second spare page|-DSPARES=1 -DEVENTS=2 -DTAKES=3
	END
	[ "${KMMV_SOAK:-0}" != 0 ] || return
	cat <<-'END'
	progress: two levels, consumer at will|-DPROGRESS -DEVENTS=2 -DTAKES=255
	progress: three levels, overwrite|-DPROGRESS -DLEVELS=3 -DEVENTS=3 -DTAKES=1
	progress: three levels, producer/consumer|-DPROGRESS -DLEVELS=3 -DEVENTS=3 -DTAKES=2 -DOVERWRITE=0
	progress: three pages|-DPROGRESS -DPAGES=3 -DEVENTS=3 -DTAKES=1
	soak: two levels, three takes|-DEVENTS=3 -DTAKES=3
	soak: three levels, overwrite, two takes|-DLEVELS=3 -DEVENTS=3 -DTAKES=2
	soak: three levels, producer/consumer, three takes|-DLEVELS=3 -DEVENTS=3 -DTAKES=3 -DOVERWRITE=0
	soak: three pages, two takes|-DPAGES=3 -DEVENTS=3 -DTAKES=2
	soak: three pages, three levels, no consumer meanwhile|-DPAGES=3 -DLEVELS=3 -DEVENTS=4 -DTAKES=0
	soak: a second spare page|-DSPARES=1 -DEVENTS=3 -DTAKES=3
	END
}

mutants()
{
	cat <<-'END'
	links without a version|-DNO_VERSION -DPAGES=3 -DEVENTS=3 -DTAKES=0
	no look at the tail after next's link|-DNO_TAIL_CHECK
	pages are not closed|-DNO_CLOSED
	no parity|-DNO_PARITY -DEVENTS=4 -DTAKES=0
	the commit page may be overwritten|-DSEQ_LE
	a nested writer commits|-DCOMMIT_NESTED
	no look at the word after depth is 0|-DNO_WORD_CHECK
	no look at the tail after depth is 0|-DNO_TAIL_AGAIN
	HEAD without UPDATE before|-DNO_UPDATE
	helpers take the link as it is now|-DNO_BEHIND
	a page that is just begun is in the way|-DNO_BEGUN
	a page that is open is begun again|-DBEGIN_OPEN -DLEVELS=3 -DTAKES=0
	no look at the tail before a page is begun|-DNO_BEGIN_CHECK
	swaps while the commit page is the front|-DFRONT_OPEN
	commit is read before whether it is final|-DCOMMIT_FIRST
	no second look at the link of an empty head|-DNO_EMPTY_CHECK
	END
}

# ---- two at a time

holds >"$dir/holds"
mutants >"$dir/mutants"
plan $(($(cat "$dir/holds" "$dir/mutants" | wc -l) + 1))

search()
{
	# shellcheck disable=SC2086 # definitions
	qa/model/run "$dir/$1" $2 >"$dir/$1.out" 2>&1
}

n=0
while IFS='|' read -r name definitions; do
	n=$((n + 1))
	while [ "$(jobs -rp | wc -l)" -ge 2 ]; do
		wait -n
	done
	search $n "-DEVENTS=3 -DTAKES=2 $definitions" &
done < <(cat "$dir/holds" "$dir/mutants")
wait

n=0
while IFS='|' read -r name definitions; do
	n=$((n + 1))
	read -r text <"$dir/$n.out"
	note "$name: ${text#*; }"
	if ! is "$name: holds" "${text%%;*}" holds &&
	   [ -e "$dir/$n/ring.pml.trail" ]; then
		note "qa/model/run DIR $definitions; then with -t"
	fi
done <"$dir/holds"
while IFS='|' read -r name definitions; do
	n=$((n + 1))
	read -r text <"$dir/$n.out"
	note "$name: ${text#*; }"
	like "mutant: $name" "$text" '^assertion violated '
done <"$dir/mutants"

# It costs a page that others could need, and nothing else.
search empty "-DEVENTS=2 -DTAKES=2 -DSWAP_EMPTY"
read -r text <"$dir/empty.out"
is "an empty head may be swapped, for safety's sake" "${text%%;*}" holds
finish
