#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# timeout: 4000
#
# CBMC proves the ring's encoding, qa/proof/cbmc/ring.c, for all lengths, deltas and
# clocks. Each proof is shown to reach its end, and to need its bounds, by failing
# otherwise.

cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh

why=$(qa/proof/cbmc/cbmc -a 2>&1) || skip_all "${why##*$'\n'}"

note "cbmc $(qa/proof/cbmc/cbmc -v)"

mkdir -p build
copy=$(mktemp -d build/cbmc.XXXXXX) || exit 2
trap 'rm -rf "$copy"' EXIT
tree=.

# prove FUNCTION [OPTION...]
prove()
{
	local function=$1

	shift
	prlimit --cpu=1200 qa/proof/cbmc/cbmc -Iqa/shim "-I$tree/kmod/core" \
		"-I$tree/kmod/include" "-I$tree/kmod/include/uapi" \
		--function "check_$function" --unwind 3 \
		"$@" "$tree/qa/proof/cbmc/ring.c" 2>&1
}

# fails NAME ERE FUNCTION OPTION...: the property that matches ERE does not hold
fails()
{
	local name=$1 words=$2

	shift 2
	like "$name" "$(prove "$@" | grep FAILURE)" "$words"
}

for function in event discard time nonsense; do
	ok "$function: the assertions hold" prove "$function"
	fails "$function: the check comes to its end" '!REACHED' "$function" -DREACHED=1
done
# broken NAME SED-SCRIPT FUNCTION: with kmod/core/ring_page.h edited, it fails
broken()
{
	rm -rf "${copy:?}"/*
	mkdir -p "$copy/qa/proof"
	cp -r kmod "$copy"
	cp -r qa/proof/cbmc "$copy/qa/proof"
	sed -i "$2" "$copy/kmod/core/ring_page.h"
	if cmp -s kmod/core/ring_page.h "$copy/kmod/core/ring_page.h"; then
		fail "$1" "nothing to edit: $2"
		return
	fi
	tree=$copy fails "$1" 'assertion.*FAILURE' "$3"
}

broken "a reader that leaves the page is found" 's/|| array > room - 4)/)/' nonsense
broken "a reader that stops at an event up to the end is found" \
	's/array > room - 4/array >= room - 4/' nonsense
broken "a reader that goes on by no multiple of 4 is found" 's/ || array % 4//' nonsense
broken "a reader that takes no length for one is found" 's/array < 4 || //' nonsense
broken "a reader that goes on by 4 behind a time is found" \
	's/if (!type || type == KMMV_RING_PADDING)$/if (1)/' nonsense
fails "a longer event is too long" 'KMMV_RING_PAGE_ROOM|4056' event \
	-D'SIZE_LIMIT=(KMMV_RING_PAYLOAD_MAX + 12)'
fails "a greater delta cannot be discarded" 'item_t' discard \
	-D'DELTA_LIMIT=(KMMV_DELTA_MAX + 1)'
finish
