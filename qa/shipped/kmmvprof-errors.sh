#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# beside: yes
#
# The errors of kmmvprof, which say what to do; wrong usage; events of sysfs.

cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/shipped/prof
. qa/shipped/prof

dies "no module" 1 '/counters: No such file.*modprobe kmmv' \
	$prof report -D "$work/none"
area "$work/other" || bail "no area"
dies "no profiler" 1 'no event type profile.sample; .*modprobe kmmv_profile' \
	$prof report -D "$work/other"
names >"$work/other/names"
dies "no ring" 1 'ring/profile: No such file.*; load the profiler: modprobe' \
	$prof report -D "$work/other"
names 0 period >"$work/other/names"
dies "a field that is missing" 1 'has no field period .*of one release' \
	$prof report -D "$work/other"
echo "other 0" >"$work/lines"
serve "$dir" <"$work/lines"
dies "no samples" 1 'is the profiler on .echo 1 >' $prof report -D "$dir"
dies "no samples, in a while" 1 'wait longer' $prof report -D "$dir" -d 0.1
kernel 10 1 0 $schedule x >"$work/lines"
serve "$dir" <"$work/lines"
dies "no samples of what was asked for" 1 'none of 10 samples' \
	$prof folded -u -D "$dir"
# A signal comes with the third record.
gcc -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DKMMV_VERSION="\"$version\"" \
	-DSIGNALLED=3 -Wl,--wrap=kmmv_ring_next,--wrap=kmmv_ring_claim \
	-Wl,--wrap=kmmv_ring_close -Ikmod/include/uapi -Ilib -o "$work/signalled" \
	qa/shipped/consumer.c lib/*.c lib/kmmvprof/*.c -ljansson -ldw -lelf \
	-lncursesw -ltinfo || bail "does not build"
is "an interrupted consumer has consumed what it counted" "$(
	"$work/signalled" report -x -D "$dir" 2>&1 | grep -E '^consumed|^read' | cut -c 1-14)" \
'consumed 3
read 3 samples'
dies "a consumer where there is no kernel" 1 'without --consume' \
	$prof report -x -D "$dir"
dies "a disk that is full" 1 'No space left' \
	sh -c "$prof report -D $dir >/dev/full"
dies "--help to a disk that is full" \
	1 '^kmmvprof: No space left' sh -c "$prof -h >/dev/full"
dies "a recording to a disk that is full" 1 'No space left|full' \
	$prof record -D "$dir" -o /dev/full
ok "a recording leaves /dev/full a device" test -c /dev/full
# limited ARGUMENT...: files have no room
# shellcheck disable=SC2317 # called by dies
limited()
(
	set -o pipefail
	{
		trap '' XFSZ
		ulimit -f 0
		"$prof" "$@"
	} 2>&1 >/dev/null | cat >&2
)
case ${LDFLAGS-} in
*--coverage*)
	skip "a file that has no room" "machine: what gcov counts has none either"
	;;
*)
	echo "an old one" >"$work/kept"
	dies "a file that has no room" 1 'kept: File too large' \
		limited record -D "$dir" -o "$work/kept"
	is "a recording that has no room leaves the old file" \
		"$(cat "$work/kept")" "an old one"
	is "a recording that has no room leaves nothing beside the file" \
		"$(cd "$work" && echo kept*)" kept
	;;
esac
dies "an output that is closed" 1 '^kmmvprof: Bad file descriptor' \
	sh -c "$prof report -D $dir >&-"
ok "a recording without standard descriptors succeeds" \
	sh -c "$prof record -D $dir -o $work/closed.rec <&- >&- 2>&-"
like "a recording without standard descriptors can be read" \
	"$($prof report -i "$work/closed.rec" 2>&1)" \
	'^event default: 10 samples'
for arguments in "report -b nothing" "report -d x" "report -d 0" "report -n -1" \
		"report -t 101" "report -p 0" "report -w many" "report -g here" \
		"record" "report -o file" "top -i file" "report -i file -d 1" \
		"folded -j" "report -B" "folded -n 5" "folded -b command" "folded -t 1" \
		"record -o $work/out.rec -w samples" "report -N 3" "top -j" "nothing"; do
	# shellcheck disable=SC2086 # words
	dies "usage: $arguments" 2 '^kmmvprof: .*(needs|must|not|is|are) ' \
		$prof $arguments -D "$dir"
done

# ---- events of sysfs

pmu "$work/pmu"
is "events prints all events" \
	"$($prof events -S "$work/pmu" | tr -s ' ')" "cpu/misses/ 4:0x2e"
is "events prints one event" "$($prof events -S "$work/pmu" cpu/misses/)" 4:0x2e
dies "an unknown event" \
	1 'cpu/hits/: cpu has neither' $prof events -S "$work/pmu" cpu/hits/
is "events prints the others beside an unknown one" \
	"$($prof events -S "$work/pmu" cpu/hits/ cpu/event=1/ \
	2>/dev/null)" 4:0x1
dies "no sysfs" 1 'none: No such file' $prof events -S "$work/none"
dies "events of a process" 2 'process: is not for events' \
	$prof events -S "$work/pmu" -p 1

dies "usage: no command" 2 '^usage: kmmvprof' "$prof"
is "--version prints the version" "$($prof -V)" "kmmvprof $version"
like "--help prints the usage" "$($prof --help)" '^usage: kmmvprof'
# A name comes only once names have been read as often as its number says.
cat >"$work/late.c" <<'E2'
#include <libkmmv.h>
int __real_kmmv_update(struct kmmv *k);
int __wrap_kmmv_update(struct kmmv *k);
const struct kmmv_instance_info *
__real_kmmv_record_instance(struct kmmv *k, const struct kmmv_record *record);
const struct kmmv_instance_info *
__wrap_kmmv_record_instance(struct kmmv *k, const struct kmmv_record *record);
static unsigned int updates;
int __wrap_kmmv_update(struct kmmv *k)
{
	updates++;
	return __real_kmmv_update(k);
}
const struct kmmv_instance_info *
__wrap_kmmv_record_instance(struct kmmv *k, const struct kmmv_record *record)
{
	return record->instance < updates ? __real_kmmv_record_instance(k, record) : 0;
}
E2
# The first record comes again and again, one at a time, and is of now.
cat >"$work/endless.c" <<'E2'
#include <stdint.h>
#include <libkmmv.h>
int __real_kmmv_ring_next(struct kmmv_ring *r, struct kmmv_record *record);
int __wrap_kmmv_ring_next(struct kmmv_ring *r, struct kmmv_record *record);
int __wrap_kmmv_ring_wait(struct kmmv_ring *r, int timeout_ms);
int __wrap_kmmv_ring_realtime(struct kmmv_ring *r, uint64_t time, uint64_t *realtime);
int __wrap_kmmv_ring_next(struct kmmv_ring *r, struct kmmv_record *record)
{
	static struct kmmv_record first;
	static unsigned int calls;
	int n;

	if (calls++ % 2)
		return 0;
	if (!first.type) {
		n = __real_kmmv_ring_next(r, &first);
		if (n != 1)
			return n;
	}
	*record = first;
	return 1;
}
int __wrap_kmmv_ring_wait(struct kmmv_ring *r, int timeout_ms)
{
	(void)r;
	(void)timeout_ms;
	return 1;
}
int __wrap_kmmv_ring_realtime(struct kmmv_ring *r, uint64_t time, uint64_t *realtime)
{
	(void)r;
	(void)time;
	*realtime = INT64_MAX;
	return 0;
}
E2
# built NAME OPTION: the command, with the functions that NAME.c wraps
built()
{
	gcc -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 \
		-DKMMV_VERSION="\"$version\"" "$2" -Ikmod/include/uapi -Ilib \
		-o "$work/$1" "$work/$1.c" lib/*.c lib/kmmvprof/*.c -ljansson -ldw -lelf \
		-lncursesw -ltinfo || bail "does not build"
}
built late -Wl,--wrap=kmmv_update,--wrap=kmmv_record_instance
for instance in $schedule $e1000 $do_idle; do
	kernel 1 1 0 "$instance" x
done >"$work/lines"
serve "$dir" <"$work/lines"
is "names that come while samples are read are shown" \
	"$("$work/late" folded -D "$dir")" "x;[e1000];e1000_xmit 1
x;[kernel];do_idle 1
x;[kernel];schedule 1"
built endless -Wl,--wrap=kmmv_ring_next,--wrap=kmmv_ring_wait,--wrap=kmmv_ring_realtime
like "report ends at samples that are younger than it is" \
	"$(timeout 600 "$work/endless" report -D "$dir" || echo "status $?")" \
	'^read 256 samples'
finish
