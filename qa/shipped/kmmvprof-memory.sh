#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
#
# kmmvprof with little memory, and with none. As it is built: sanitizers have memory of
# their own.

cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
make -s -C lib >&2 || bail "does not build"
KMMV_AS_BUILT=1
# shellcheck source=qa/shipped/prof
. qa/shipped/prof

# ---- little memory

# 200 kB of symbols that get 1.2 GB, in a file that anyone can run: dynamic symbols are
# still read.
head -c 1200M /dev/zero | xz -0 --check=crc32 >"$work/zeros.xz"
objcopy --add-section .gnu_debugdata="$work/zeros.xz" "$work/lib.so.stripped" ||
	bail "no such section"
user 4 100 $stripped x lib.so.stripped burn_two 0 "$work/lib.so.full" >"$work/lines"
serve "$dir" <"$work/lines"
python3 - "$prof" report -D "$dir" -b symbol >"$work/little" <<'E2'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print("little" if most < 800000 else f"{most} kB")
E2
is "compressed symbols do not take all memory" "$(tail -n 1 "$work/little")" little
like "symbols beside compressed ones are read" \
	"$(tr -s ' ' <"$work/little")" 'lib.so.stripped burn_two$'

# ---- no memory

# shellcheck source=qa/shipped/nomemory
. qa/shipped/nomemory
# Names of functions for which there is no memory are unknown, and the rest is of use.
# shellcheck disable=SC2034 # each_fails reads it
tolerated='\[unknown\]'
{
	echo "state 0 1000 0 0 997 start cpu-clock"
	user 4 1000000 $pie one pie burn_one
	kernel 3 1000000 0 $schedule one 'schedule;do_nanosleep'
	echo "state 0 1007 0 0 997 stop cpu-clock"
} >"$work/lines"
serve "$dir" <"$work/lines"
each_fails "report" true $prof report -D "$dir"
each_fails "report -j" true $prof report -j -b command,symbol -D "$dir"
each_fails "folded" true $prof folded -D "$dir"
# shellcheck disable=SC2317 # called by each_fails
record_poor()
{
	$prof record -o "$work/poor" -D "$dir" &&
		LD_PRELOAD='' $prof report -i "$work/poor"
}
# shellcheck disable=SC2317 # called by each_fails
no_recording()
{
	rm -f "$work/poor"
	[ -z "$(find "$work" -maxdepth 1 -name 'poor*')" ]
}
each_fails "record" no_recording record_poor
ok "record succeeds with memory" $prof record -o "$work/poor" -D "$dir"
each_fails "report of a recording" true $prof report -i "$work/poor"
# shellcheck disable=SC2034 # each_fails reads it
tolerated='- out of memory$'
pmu "$work/pmu"
each_fails "events" true $prof events -S "$work/pmu"
finish
