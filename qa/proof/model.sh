#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# timeout: 6000
#
# Spin checks the models of the ring buffer, qa/proof/model/ring.pml, and of waiting
# for its events, qa/proof/model/wake.pml: no assertion fails in any order of steps,
# and without any one of their mechanisms an assertion fails. Each line has the size
# of the search.
#
# KMMV_SOAK=1: larger searches, as far as 9 GiB allow; and progress: the steps that
# a writer makes alone are bounded.

cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh

command -v spin >/dev/null || skip_all "no spin here: qa/setup check"

dir=build/model
mkdir -p $dir
dir=$(realpath "$(mktemp -d $dir/run.XXXXXX)") || exit 2
trap 'rm -rf "$dir"' EXIT
export MODEL_SECONDS=1200 MODEL_MIB=2900
[ "${KMMV_SOAK:-0}" = 0 ] || export MODEL_SECONDS=36000 MODEL_MIB=9000

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

wake_holds()
{
	cat <<-'END'
	wake: level|-DCLIENT=LEVEL -DEVENTS=2 -DMORE=0
	wake: edge|-DCLIENT=EDGE -DEVENTS=2 -DMORE=0
	wake: one-shot|-DCLIENT=ONESHOT -DEVENTS=2 -DMORE=0
	wake: multishot|-DCLIENT=MULTI -DEVENTS=2 -DMORE=0
	wake: multishot, two CPUs|-DCLIENT=MULTI -DEVENTS=1
	wake: a watermark falls, level|-DCLIENT=LEVEL -DEVENTS=1 -DMORE=0 -DMARK=2
	wake: a watermark falls, edge|-DCLIENT=EDGE -DEVENTS=1 -DMORE=0 -DMARK=2
	wake: another one asks|-DCLIENT=MULTI -DEVENTS=1 -DMORE=0 -DPEEKS=1
	wake: another file waits|-DCLIENT=LEVEL -DEVENTS=1 -DMORE=0 -DOTHER
	wake: wake-ups leave files, level|-DCLIENT=LEVEL -DEVENTS=2 -DMORE=0 -DLEAVES
	wake: wake-ups leave files, edge|-DCLIENT=EDGE -DEVENTS=2 -DMORE=0 -DLEAVES
	wake: locks sleep, level|-DTHREADED -DCLIENT=LEVEL -DEVENTS=2 -DMORE=0
	wake: locks sleep, edge|-DTHREADED -DCLIENT=EDGE -DEVENTS=2 -DMORE=0
	wake: locks sleep, multishot, two CPUs|-DTHREADED -DCLIENT=MULTI -DEVENTS=1
	END
	[ "${KMMV_SOAK:-0}" != 0 ] || return
	cat <<-'END'
	wake: soak: level, two CPUs|-DCLIENT=LEVEL -DEVENTS=2
	wake: soak: edge, two CPUs|-DCLIENT=EDGE -DEVENTS=2
	wake: soak: multishot, two CPUs|-DCLIENT=MULTI -DEVENTS=2
	wake: soak: another one asks, level|-DCLIENT=LEVEL -DEVENTS=1 -DPEEKS=1
	wake: soak: another one asks, edge|-DCLIENT=EDGE -DEVENTS=1 -DPEEKS=1
	wake: soak: a watermark falls|-DCLIENT=LEVEL -DEVENTS=2 -DMORE=0 -DMARK=2
	wake: soak: another file waits|-DCLIENT=EDGE -DEVENTS=2 -DMORE=0 -DOTHER
	END
}

wake_mutants()
{
	cat <<-'END'
	wake: waits only if there was nothing|-DCLIENT=EDGE -DMORE=0 -DONLY_IF_NOTHING -DWAKE_ENDS
	wake: waiting ends with the wake-up|-DCLIENT=MULTI -DMORE=0 -DWAKE_ENDS
	wake: looks, and notes how far writers are then|-DMORE=0 -DLOOK_FIRST
	wake: no grace period|-DMORE=0 -DNO_GRACE
	wake: none for who arms while there is one|-DMORE=0 -DNO_GRACE_AGAIN
	wake: none if nobody waits just then|-DMORE=0 -DNOBODY_WAITS
	wake: no look after the grace period|-DMORE=0 -DNO_LOOK_AFTER
	wake: no look once a file waits|-DEVENTS=1 -DMORE=0 -DOTHER -DNO_LOOK_AGAIN
	wake: the timer of a quiet ring is not started|-DCLIENT=EDGE -DMORE=0 -DNO_TIMER
	wake: notes after the wake-up how far writers are|-DCLIENT=MULTI -DMORE=0 -DSEEN_AFTER
	wake: who asks and has something knows for all|-DCLIENT=MULTI -DEVENTS=1 -DMORE=0 -DREADY_KNOWS -DPEEKS=1
	wake: armed as often as somebody asks|-DMORE=0 -DARM_AT_WILL
	wake: a watermark is not told of|-DEVENTS=1 -DMORE=0 -DMARK=2 -DNOT_AGAIN
	wake: a file that is left counts as woken|-DCLIENT=EDGE -DEVENTS=1 -DMORE=0 -DLEAVES -DLEFT_KNOWS
	wake: who is refused does not tell|-DEVENTS=1 -DMORE=0 -DREFUSED_SILENT
	wake: locks sleep, waiting is cleared once the timer may run|-DTHREADED -DCLIENT=EDGE -DMORE=0 -DCLEAR_LATE
	wake: locks sleep, each commit queues the work again|-DTHREADED -DCLIENT=EDGE -DMORE=0 -DNO_CLEAR
	wake: locks sleep, the timer does not look at an armed ring|-DTHREADED -DCLIENT=EDGE -DMORE=0 -DNOT_ARMED
	END
}

# ---- two at a time

{ holds; wake_holds; } >"$dir/holds"
{ mutants; wake_mutants; } >"$dir/mutants"
plan $(($(cat "$dir/holds" "$dir/mutants" | wc -l) + 1))

# search N NAME DEFINITIONS
search()
{
	local model=ring definitions="-DEVENTS=3 -DTAKES=2 $3"

	[[ $2 = "wake: "* ]] && model=wake definitions=$3
	# shellcheck disable=SC2086 # definitions
	MODEL=$model qa/proof/model/run "$dir/$1" $definitions >"$dir/$1.out" 2>&1
}

n=0
while IFS='|' read -r name definitions; do
	n=$((n + 1))
	while [ "$(jobs -rp | wc -l)" -ge 2 ]; do
		wait -n
	done
	search $n "$name" "$definitions" &
done < <(cat "$dir/holds" "$dir/mutants")
wait

n=0
while IFS='|' read -r name definitions; do
	n=$((n + 1))
	read -r text <"$dir/$n.out"
	note "$name: ${text#*; }"
	if ! is "$name: holds" "${text%%;*}" holds &&
	   compgen -G "$dir/$n/*.trail" >/dev/null; then
		note "MODEL=ring or wake qa/proof/model/run DIR $definitions; then with -t"
	fi
done <"$dir/holds"
while IFS='|' read -r name definitions; do
	n=$((n + 1))
	read -r text <"$dir/$n.out"
	note "$name: ${text#*; }"
	like "mutant: $name" "$text" '^assertion violated '
done <"$dir/mutants"

# Swapping an empty head only takes a page that others could use.
search empty '' "-DEVENTS=2 -DTAKES=2 -DSWAP_EMPTY"
read -r text <"$dir/empty.out"
is "an empty head may be swapped without harm" "${text%%;*}" holds
finish
