#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 600
#
# The ring's encoding proved by CBMC, qa/cbmc/ring.c: for all lengths, deltas and
# clocks. That each proof comes to its end, and that the bounds are the ones that
# it needs, is seen by its failing otherwise.

cd "$(dirname "$0")/.." || exit 2
export LC_ALL=C
# shellcheck source=qa/tap.sh
. qa/tap.sh

why=$(qa/cbmc/cbmc -a 2>&1) || skip_all "${why##*$'\n'}"

# prove FUNCTION [OPTION...]
prove()
{
	local function=$1

	shift
	timeout 120 qa/cbmc/cbmc -Iqa/shim -Ikmod -Ikmod/include \
		-Ikmod/include/uapi --function "check_$function" --unwind 3 \
		"$@" qa/cbmc/ring.c 2>&1
}

# fails NAME ERE FUNCTION OPTION...: what ERE names does not hold
fails()
{
	local name=$1 words=$2

	shift 2
	like "$name" "$(prove "$@" | grep FAILURE)" "$words"
}

for function in event discard time nonsense; do
	ok "$function: holds" prove "$function"
	fails "$function: comes to its end" '!REACHED' "$function" -DREACHED=1
done
fails "a longer event is too long" 'KMMV_RING_PAGE_ROOM|4056' event \
	-D'SIZE_LIMIT=(KMMV_RING_PAYLOAD_MAX + 12)'
fails "a greater delta cannot be discarded" 'item_t' discard \
	-D'DELTA_LIMIT=(KMMV_DELTA_MAX + 1)'
finish
