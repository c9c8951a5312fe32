#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# beside: yes
#
# kmmvdump on simulated, captured, broken and live areas.

cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/shipped/dies
. qa/shipped/dies

make_programs bench/kmmvsim bench/kmmvringsim
flock build/programs.lock make -s -C lib >&2 || bail "does not build"
work=$(mktemp -d build/dump.XXXXXX) || exit 2
sim_pid='' ring_pid=''
# shellcheck disable=SC2317 # called by the trap
stop()
{
	[ -z "$sim_pid" ] || kill "$sim_pid"
	# kmmvringsim uses Check, whose handler for SIGTERM ends the whole process
	# group.
	[ -z "$ring_pid" ] || kill -KILL "$ring_pid"
	rm -rf "$work"
}
trap stop EXIT

sim=build/qa/bench/kmmvsim
dump=build/kmmvdump

# query DIR EXPRESSION [OPTION...]: print a Python expression; d is the JSON
query()
{
	local dir=$1 expression=$2

	shift 2
	$dump -d "$dir" -j "$@" | python3 -c "
import json, sys
d = json.load(sys.stdin)
print($expression)"
}

# Values are start + number, and 1 more on each next CPU.
area=$work/area
$sim --cpus 4 --instances 6 --families 2 --start 18446744073709551610 \
	--generation 18446744073709551615 --epoch 99 --capacity 100 "$area" ||
	bail "no simulated area"

dies "a family that is not there" 1 "no family nosuch$" $dump -d "$area" -f nosuch
like "--version prints a version" "$($dump --version)" "^kmmvdump [0-9]+\.[0-9]+\.[0-9]+$"

# A level may be negative, a counter not.
printf '%s\n' "family 0 a.level count instant Level" "family 1 a.count count counter X" \
	"inst 0 0 0 active 18446744073709551611,2 x" \
	"inst 1 1 0 active 18446744073709551611,2 x" | qa/agent/area.py "$work/levels"
is "a level below zero is negative" "$($dump -d "$work/levels" -f a.level | tail -n 1)" \
	'a.level["x"] -3'
is "a level below zero is negative on its CPU" \
	"$($dump -d "$work/levels" -c -f a.level | tail -n 1)" \
	'a.level["x"] -5 2 0 0'
is "a great counter is not negative" "$($dump -d "$work/levels" -f a.count | tail -n 1)" \
	'a.count["x"] 18446744073709551613'
like "a level below zero is negative in JSON" \
	"$($dump -d "$work/levels" -j -f a.level)" '"value": ?"-3"'

# ---- text

text=$($dump -d "$area")
like "header: the version is shown" "$text" '^abi +1\.0, 64-bit values$'
like "header: the epoch is shown" "$text" '^epoch +99$'
like "header: the generation is shown" "$text" '^generation +18446744073709551615$'
like "header: instances are counted" "$text" '^instances +6 of 100, 94 free$'
like "header: CPUs are listed" "$text" '^cpus +0-3$'
like "header: the source is shown" "$text" '^source +captured$'
sums=$($dump -d "$area" -a | sed -n 's/^.*\["\([^"]*\)"\] \([0-9]*\).*/\2/p' |
	sort -n | tr '\n' ' ')
# 4 * (2^64 - 6 + n) + 6, modulo 2^64
expected=$(python3 -c 'print(*sorted((4 * (2**64 - 6 + n) + 6) % 2**64
	for n in range(6)))')
is "sums wrap at 64 bits" "$sums" "$expected "
is "-H prints the header only" "$($dump -d "$area" -H | grep -c '^family\|\[')" 0
is "-n prints numbers, not values" "$($dump -d "$area" -n -a |
	grep -c '\] number [0-5]\.0')" 6
is "-c prints a value for each CPU" "$($dump -d "$area" -c -a |
	sed -n 's/^.*\] \([0-9]* [0-9]* [0-9]* [0-9]*\)$/\1/p' | wc -l)" 6

# ---- JSON

is "JSON: the header has its numbers" "$(query "$area" 'd["header"]["epoch"],
	d["header"]["generation"], d["header"]["possible"],
	d["header"]["live"]')" \
	"99 18446744073709551615 [0, 1, 2, 3] False"
is "JSON: values are the sums" "$(query "$area" \
	'*sorted(int(i["value"]) for i in d["instances"])' -a)" "$expected"
is "JSON: sums are those per CPU" "$(query "$area" \
	'*sorted(sum(map(int, i["values"])) % 2**64 for i in d["instances"])' \
	-a -c)" "$expected"
is "JSON: instances are of the families" "$(query "$area" 'len(d["families"]),
	set(i["family"] for i in d["instances"]) ==
	set(f["name"] for f in d["families"])' -a)" "2 True"
is "JSON: -H has the header only" "$(query "$area" '*d.keys()' -H)" "header"
is "JSON: -n has no values" "$(query "$area" '"value" in d["instances"][0]' -n)" "False"
$sim --cpus 7 --sparse --pair --instances 3 "$work/sparse" || bail "no area"
is "JSON: a CPU that is not possible is null" "$(query "$work/sparse" \
	'[v is None for v in d["instances"][0]["values"]].count(True) ==
	7 - len(d["header"]["possible"]) > 0' -c)" "True"
like "text: values are in two halves" "$($dump -d "$work/sparse" -H)" \
	'^abi .*, values in two halves$'

# Names and labels that need escapes.
cp -r "$area" "$work/odd"
printf '%s\n' 'kmmv abi=1.0 epoch=99' \
	'family id=0 units=count semantics=counter name=a' \
	'oneline id=0 text="quoted" \\ text' 'help id=0 text=one\ntwo' \
	'instance number=0 family=0 incarnation=0 state=active name=x "y" \\z' \
	'label number=0 incarnation=0 key=name text=of a label' \
	"instance number=1 family=0 incarnation=0 state=active name=$(
		printf 'ok \303\244 bad \377')" \
	"instance number=2 family=0 incarnation=0 state=active name=$(
		printf 'c1 \302\233 \303\233 \302\240')" \
	'end 18446744073709551615' >"$work/odd/names"
is "JSON: a label has a place of its own" "$(query "$work/odd" \
	'[(i["name"], i.get("label")) for i in d["instances"]][0]')" \
	"('x \"y\" \\\\z', {'key': 'name', 'text': 'of a label'})"
is "JSON: what is not UTF-8 is U+FFFD" "$(query "$work/odd" \
	'ascii(d["instances"][1]["name"])')" \
	"'ok \\xe4 bad \\ufffd'"
is "JSON: a family has its texts" "$(query "$work/odd" 'd["families"][0]["oneline"],
	d["families"][0]["help"].split("\n")')" \
	"\"quoted\" \\ text ['one', 'two']"
like "text: what a terminal would obey is escaped, and nothing else" \
	"$($dump -d "$work/odd")" "$(printf 'c1 \\\\xc2\\\\x9b \303\233 \302\240')"
like "text: a label is shown" "$($dump -d "$work/odd")" ' name="of a label"$'

# ---- copies

ok "-C: writes a copy" $dump -d "$area" -C "$work/copy"
ok "-C: writes a copy of the copy" $dump -d "$work/copy" -C "$work/again"
for options in "-a" "-a -c" "-a -n" "-j -a -c"; do
	# shellcheck disable=SC2086 # words
	is "-C: the copy is the same ($options)" \
		"$($dump -d "$work/again" $options | grep -v 'capacity\|slots_free' |
			sed 's/ of .* free//')" \
		"$($dump -d "$area" $options | grep -v 'capacity\|slots_free' |
			sed 's/ of .* free//')"
done
like "-C: the copy has no room" \
	"$($dump -d "$work/again" -H)" '^instances +6 of 6, 0 free$'
ok "-C: replaces a copy" $dump -d "$work/sparse" -C "$work/copy"
is "-C: the copy is replaced by the new one" "$($dump -d "$work/copy" -c)" "$(
	$dump -d "$work/sparse" -c | sed 's/, values in two.*/, 64-bit values/')"

# The counters have room, the names have not: 500 names, after a limit of 24 kB.
$sim --cpus 1 --instances 500 "$work/long" || bail "no simulated area"
dies "-C: the names have no room" 1 '^kmmvdump: .*/limited/names: File too large$' \
	bash -c "trap '' XFSZ; ulimit -f 24; $dump -d $work/long -C $work/limited"
is "-C: a file that is whole stays" "$(ls -A "$work/limited")" counters

# ---- little memory

# A file says that it has 65536 CPUs. One is possible, and 500 instances have a value
# there: for each CPU they would take a quarter of a gigabyte.
mkdir "$work/wide"
python3 - "$work/wide" <<'E2'
import struct, sys
page, cpus, instances = 65536, 65536, 500
mask = cpus // 8
length = page * (2 + cpus)
with open(sys.argv[1] + "/counters", "wb") as file:
    file.write(struct.pack("=QHHIQQQQQIIIIQQQQQIIII", 0x6b6d6d7663747273, 1, 0,
                           struct.calcsize("=QHHIQQQQQIIIIQQQQQIIII8Q"), 1, 0, 77, 1, 1,
                           page, cpus, instances, instances, 2 * page, page, 0, page,
                           length, 512, 512 + mask, mask, 0))
    for at in 512, 512 + mask:
        file.seek(at)
        file.write(b"\1")
    file.seek(2 * page)
    file.write(struct.pack("=500Q", *range(instances)))
    file.truncate(length)
with open(sys.argv[1] + "/names", "w") as file:
    print("kmmv abi=1.0 epoch=77", file=file)
    print("family id=0 units=count semantics=counter name=many", file=file)
    for i in range(instances):
        print(f"instance number={i} family=0 incarnation=0 state=active name=n{i}",
              file=file)
    print("end 1", file=file)
E2
# little COMMAND...: it has 150 MB
little()
{
	(ulimit -v 150000 && "$@")
}
if [ "$(getconf LONG_BIT)" = 64 ]; then
	is "little memory: values by CPU are printed" \
		"$(little $dump -d "$work/wide" -c -f many |
		tail -n 1)" 'many["n499"] 499'
	is "little memory: JSON is printed" \
		"$(little $dump -d "$work/wide" -c -j | grep -c null)" \
		32767500
	ok "little memory: a copy is written" \
		little $dump -d "$work/wide" -C "$work/wide-copy"
	is "little memory: the copy is whole" "$($dump -d "$work/wide-copy" | cksum)" \
		"$($dump -d "$work/wide" | cksum)"
else
	dies "little memory: values by CPU" \
		1 'too long for this machine$' $dump -d "$work/wide" -c
fi

# ---- errors

dies "no area" 1 '^kmmvdump: /nonexistent/counters: No such file.*modprobe' \
	$dump -d /nonexistent
cp -r "$area" "$work/cut"
truncate -s 5000 "$work/cut/counters"
dies "a truncated area" 1 'truncated.*capture it again' $dump -d "$work/cut"
cp -r "$area" "$work/bad"
sed -i 's/^instance number=1 /instance number=0 /' "$work/bad/names"
dies "names that contradict themselves" 1 'names: line [0-9]+: ' \
	$dump -d "$work/bad"
dies "a copy that cannot be written" 1 "^kmmvdump: /dev/null.*Not a directory" \
	$dump -d "$area" -C /dev/null
dies "an unknown option" 2 'usage: kmmvdump' $dump --nonsense
dies "an argument too many" 2 'usage: kmmvdump' $dump -d "$area" more
dies "-r of a time that is no number" 2 '12x: not a number' $dump -d "$area" -r 12x
# The age that -r asks the kernel for; files have no copies.
cat >"$work/refresh.c" <<'C'
#include <inttypes.h>
#include <stdio.h>
#include "libkmmv.h"

int __wrap_kmmv_refresh(struct kmmv *k, uint64_t max_age_ns, uint64_t *age_ns);

int __wrap_kmmv_refresh(struct kmmv *k, uint64_t max_age_ns, uint64_t *age_ns)
{
	(void)k;
	(void)age_ns;
	printf("asked %" PRIu64 "\n", max_age_ns);
	return 0;
}
C
# The library may have been built with gcov's counters; flags are words.
# shellcheck disable=SC2086
gcc -std=gnu11 -D_GNU_SOURCE -Ikmod/include/uapi -o "$work/asks" -Ilib \
	-DKMMV_VERSION='""' -Wl,--wrap=kmmv_refresh "$work/refresh.c" lib/kmmvdump/*.c \
	build/libkmmv.a -ljansson ${LDFLAGS-} || bail "does not build"
asked()
{
	"$work/asks" -d "$area" "$@" | sed -n 's/^asked //p'
}
is "-r is in milliseconds" "$(asked -r 20)" 20000000
is "-r takes as great a number as may be" "$(asked -r 4294967295)" 4294967295000000
is "-r 0 asks for copies that are as young as can be" "$(asked --max-age 0)" 0
is "-r 0 is the default" "$(asked)" 0
dies "-r of no time at all" 2 'not a number of mill' $dump -d "$area" -r ''
dies "-r of a time past its range" 2 'not a number' $dump -d "$area" -r 99999999999999
dies "a disk that is full" 1 'No space left' \
	sh -c "$dump -d $area -a -c >/dev/full"
dies "--help to a disk that is full" 1 '^kmmvdump: No space left' \
	sh -c "$dump -h >/dev/full"
# SIGPIPE is ignored, as in a service.
dies "a pipe whose reader has gone" 1 '^$' python3 -c '
import os, subprocess, sys
r, w = os.pipe()
os.close(r)
sys.exit(subprocess.call(sys.argv[1:], stdout=w, restore_signals=False))' \
	$dump -d "$area" -a
dies "an output that is closed" 1 '^kmmvdump: Bad file descriptor' \
	sh -c "$dump -d $area -a >&-"
ok "a capture needs no output" sh -c "$dump -d $area -C $work/silent >&-"
# By lines, the last flush has nothing to write.
dies "a disk that is full, by lines" 1 '^kmmvdump: No space left' \
	sh -c "stdbuf -oL $dump -d $area -a -c >/dev/full"
dies "JSON to a disk that is full" 1 '^kmmvdump: No space left' \
	sh -c "$dump -d $area -j >/dev/full"
dies "JSON to a disk that is full, by lines" 1 '^kmmvdump: No space left' \
	sh -c "stdbuf -oL $dump -d $area -j >/dev/full"
# Of each write, 100 bytes are written; write FAILS fails, and the ones after it do not.
cat >"$work/writes.c" <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

ssize_t write(int fd, const void *from, size_t size)
{
	static int calls;

	if (++calls == atoi(getenv("FAILS"))) {
		errno = ENOSPC;
		return -1;
	}
	return syscall(SYS_write, fd, from, size < 100 ? size : 100);
}
C
gcc -shared -fPIC -o "$work/writes.so" "$work/writes.c" || bail "does not build"
is "short writes: the output is whole" "$(FAILS=0 LD_PRELOAD=$work/writes.so \
	$dump -d "$area" -a -c -j | cksum)" "$($dump -d "$area" -a -c -j | cksum)"
FAILS=5 LD_PRELOAD=$work/writes.so stdbuf -oL $dump -d "$area" -a -c \
	>"$work/part" 2>"$work/err"
is "a disk that is full for a moment: the status is 1" $? 1
is "a disk that is full for a moment: the message has the reason" "$(cat "$work/err")" \
	"kmmvdump: No space left on device"
is "a disk that is full for a moment: nothing follows" "$(cat "$work/part")" \
	"$($dump -d "$area" -a -c | head -n 4)"
like "--help prints the usage" "$($dump --help)" '^usage: kmmvdump'

# ---- live

mkdir "$work/live"
$sim --cpus 4 --instances 40 --live --period-us 2000 "$work/live" \
	>"$work/ready" &
sim_pid=$!
ready()
{
	grep -q ready "$work/ready"
}
if wait_for 20 ready; then
	like "live: the area is mapped" "$($dump -d "$work/live" -H)" \
		'^mapped +[0-9]+ bytes$'
	# A try may fail while the table changes; a copy that it reports must be
	# whole.
	: >"$work/shots"
	for ((i = 0; i < 2000 && $(wc -l <"$work/shots") < 20; i++)); do
		$dump -d "$work/live" -C "$work/shot" 2>>"$work/err2" ||
			continue
		query "$work/shot" 'len(d["instances"]), len(set(
			(i["family"], i["name"]) for i in d["instances"]))' -a \
			>>"$work/shots" || echo "no document" >>"$work/shots"
	done
	is "live: 20 copies are made while the area changes" "$(wc -l <"$work/shots")" 20
	is "live: no copy is broken" "$(awk 'NF != 2 || $1 != $2 || $1 < 1' \
		"$work/shots")" ""
	note "in $i tries"
else
	fail "live: the simulated producer starts"
fi

# ---- events

cp -r "$area" "$work/events"
printf '%s\n' 'kmmv abi=1.0 epoch=99' \
	'family id=0 units=count semantics=counter name=requests' \
	'instance number=0 family=0 incarnation=3 state=active name=web 1' \
	'instance number=1 family=0 incarnation=3 state=inactive name=db' \
	'type id=17 name=disk.done' 'about id=17 text=Done' \
	'field id=17 offset=0 size=8 kind=time units=nanosec name=began' \
	'field id=17 offset=8 size=2 kind=hex units=none name=flags' \
	'field id=17 offset=10 size=20 kind=text units=none name=who' \
	'end 18446744073709551615' >"$work/events/names"
mkfifo "$work/more"
build/qa/bench/kmmvringsim "$work/events" <"$work/more" >"$work/ring-ready" &
ring_pid=$!
exec 9>"$work/more"
ring_ready()
{
	grep -q ready "$work/ring-ready"
}
# lines N: the output of --follow has so many
lines()
{
	[ "$(wc -l <"$work/followed")" -ge "$1" ]
}
if wait_for 20 ring_ready; then
	# Without a line no write fails.
	dies "a --follow whose output is closed" 1 '^kmmvdump: Bad file descriptor' \
		timeout 900 sh -c "$dump -d $work/events -F -i nosuch >&-"
	timeout 1200 $dump -d "$work/events" --follow >"$work/followed" &
	follow_pid=$!
	ok "--follow: what the ring holds is printed" wait_for 20 lines 5
	echo >&9
	ok "--follow: an event that comes is printed" wait_for 20 lines 6
	echo 12 >&9
	ok "--follow: a loss without an event is printed" wait_for 20 lines 7
	long=$(printf 'long%0600d' 0)
	echo "$long" >&9
	ok "--follow: a long text is printed" wait_for 20 lines 8
	kill -TERM $follow_pid
	wait $follow_pid
	is "--follow: a signal ends it well" $? 0
	# The time of a loss is when the reader found it.
	is "--follow: times, types, instances, fields, losses are right" "$(
		cat "$work/followed")" \
'0.000001000 cpu 0 default hit requests["web 1"] delta=-5
1.500000000 cpu 1 default mark - text="a \"mark\"\nof two lines"
1.500000001 cpu 1 default disk.done requests["db"] began=1234.567890123 flags=0xbeef who="someone"
1.500000002 cpu 1 default type-40 #9 bytes=010203ff
1.500000003 cpu 1 default disk.done requests["db"] began=? flags=? who=?
3.000000000 cpu 0 default hit requests["web 1"] delta=7
3.000000000 cpu 0 default lost 0 dropped 12
4.000000000 cpu 0 default mark - text="'"$long"'"'
	is "-N: so many lines are printed" "$($dump -d "$work/events" -F default -N 2 |
		wc -l)" 2
	is "-i: events of the instances are printed" \
		"$($dump -d "$work/events" -R default -i 'web*' \
		-N 2 | cut -d ' ' -f 6-)" 'requests["web 1"] delta=-5
requests["web 1"] delta=7'
	is "-f: events of the family are printed" \
		"$($dump -d "$work/events" -F -f requests -i 'd?' \
		-N 2 | grep -c 'requests."db"')" 2
	# A signal comes with the second record.
	# shellcheck disable=SC2086
	gcc -std=gnu11 -D_GNU_SOURCE -Ikmod/include/uapi -Ilib -DKMMV_VERSION='""' \
		-DSIGNALLED=2 -o "$work/signalled" \
		-Wl,--wrap=kmmv_ring_next,--wrap=kmmv_ring_claim,--wrap=kmmv_ring_close \
		qa/shipped/consumer.c lib/kmmvdump/*.c build/libkmmv.a -ljansson ${LDFLAGS-} ||
		bail "does not build"
	is "--consume: what was printed is consumed, and nothing else" "$(
		"$work/signalled" -d "$work/events" -F -x 2>&1 >"$work/printed") of $(
		wc -l <"$work/printed")" "consumed 2 of 2"
	is "-N --consume: what was printed is consumed, and nothing else" \
		"$("$work/signalled" -d "$work/events" -F -x -N 1 2>&1 \
		>"$work/printed") of $(wc -l <"$work/printed")" "consumed 1 of 1"
	# stalled FULL COMMAND...: it writes to a pipe without a reader, full from the
	# start if FULL is 1; a signal comes when it is full; prints the status and how
	# the output compares with whole
	stalled()
	{
		python3 - "$work/whole" "$@" <<'E3'
import fcntl, os, select, signal, subprocess, sys, time
whole = open(sys.argv[1], "rb").read()
r, w = os.pipe()
size = fcntl.fcntl(w, fcntl.F_SETPIPE_SZ, 4096)
full = size if sys.argv[2] == "1" else 0
os.write(w, b"-" * full)
p = subprocess.Popen(sys.argv[3:], stdout=w)
while select.select([], [w], [], 0)[1] and p.poll() is None:
    time.sleep(0.01)
os.close(w)
if not full:
    p.send_signal(signal.SIGINT)
try:
    status = p.wait(1200)
except subprocess.TimeoutExpired:
    p.kill()
    status = "hangs"
part = open(r, "rb").read()[full:]
print(status, len(whole) > 16384 and "begins so" if whole.startswith(part) else "differs")
E3
	}
	for ((i = 0; i < 400; i++)); do
		echo
	done >&9
	# Read while they come, their order could be another one.
	timeout 1200 $dump -d "$work/events" -F -N 408 >/dev/null
	timeout 1200 $dump -d "$work/events" -F -N 408 >"$work/whole"
	is "a signal ends a --follow that waits for a reader" "$(
		stalled 0 $dump -d "$work/events" -F)" "0 begins so"
	is "a signal that came before ends a --follow that waits" "$(
		stalled 1 "$work/signalled" -d "$work/events" -F 2>&1)" "consumed 2
0 begins so"
	# No event comes after those, so no write fails.
	dies "a --follow whose output has no reader any more" 1 '^$' timeout 900 sh -c \
		"{ $dump -d $work/events -F; echo \$? >$work/status; } |
		head -n 408 | cmp - $work/whole
		exit \$(cat $work/status)"
	# nohup(1): it goes on.
	(trap '' HUP; exec $dump -d "$work/events" -F >"$work/followed") &
	follow_pid=$!
	ok "a --follow without hang-ups prints what there is" wait_for 600 lines 408
	kill -HUP $follow_pid
	echo >&9
	ok "a hang-up that is ignored does not end a --follow" wait_for 600 lines 409
	kill -TERM $follow_pid
	wait $follow_pid
	is "another signal ends a --follow without hang-ups" $? 0
	dies "--consume where there is no kernel" 1 \
		'^kmmvdump: .*/ring/default: claim: ' \
		$dump -d "$work/events" --follow --consume
	like "--rings shows a ring" "$($dump -d "$work/events" --rings)" \
		'^default +overwrite +4 +1 +2 '
else
	fail "--follow: the simulated ring starts"
fi
dies "no such ring" 1 '^kmmvdump: .*/ring/none: No such file' \
	$dump -d "$work/events" --ring none
dies "no rings" 1 '^kmmvdump: .*/ring: No such file.*modprobe' \
	$dump -d "$area" --rings
cp "$area/counters" "$work/events/ring/file"
dies "a ring that is a file" 1 'neither a device nor a sealed memfd' \
	$dump -d "$work/events" --follow file
$dump -d "$work/events" --rings >"$work/out" 2>"$work/err"
is "--rings with a ring that is a file: the status is 1" $? 1
like "--rings with a ring that is a file: the message has the reason" \
	"$(cat "$work/err")" \
	'^kmmvdump: .*/ring/file: neither a device nor a sealed memfd'
is "--rings with a ring that is a file: the lines are there" \
	"$(cut -d ' ' -f 1 "$work/out" | xargs)" "ring default file"
rm "$work/events/ring/file"
ok "--rings without a ring that is a file succeeds" $dump -d "$work/events" --rings
dies "a pipe that nobody reads" 1 '^$' sh -c \
	"{ $dump -d $work/events -F; echo \$? >$work/status; } | true
	exit \$(cat $work/status)"
if [ -d /sys/kernel/config/kmmv ]; then
	skip "--own without the module" "machine: the module is loaded"
else
	dies "--own without the module" 1 \
		'kmmv/rings: .*is the kmmv module loaded' \
		$dump -d "$area" --own=consume,8 --instance '*'
fi
# Agents and archives keep names of rings, so kmmvdump takes the lowest free one. A
# directory without a ring's attributes shows which one it tries.
mkdir "$work/config"
# shellcheck disable=SC2086
gcc -std=gnu11 -D_GNU_SOURCE -DCONFIG_DIR="\"$work/config\"" \
	-DKMMV_VERSION='""' -Ikmod/include/uapi -o "$work/kmmvdump" -Ilib lib/kmmvdump/*.c \
	build/libkmmv.a -ljansson ${LDFLAGS-} || bail "does not build"
own=("$work/kmmvdump" -d "$area" --own -i x)
dies "--own: the first is number 0" 1 '/config/kmmvdump-0/enable: ' "${own[@]}"
dies "--own: the next is number 0, when the first has gone" 1 '/kmmvdump-0/enable: ' \
	"${own[@]}"
is "--own: nothing is left behind" "$(ls "$work/config")" ""
mkdir -p "$work/config/kmmvdump-0/in-use" "$work/config/kmmvdump-1/in-use"
dies "--own: beside 0 and 1 there is number 2" 1 '/kmmvdump-2/enable: ' "${own[@]}"
rmdir "$work/config/kmmvdump-1/in-use"
dies "--own: what one that died has left is taken over" 1 \
	'/kmmvdump-1/enable: ' "${own[@]}"
dies "--own: another one at the same time" 1 '/config: .*temporarily unavailable' \
	flock "$work/config" timeout 1200 "${own[@]}"
is "--own: what others have stays" "$(ls "$work/config")" kmmvdump-0
dies "--own of nothing" 2 '^kmmvdump: --own needs --instance' \
	$dump -d "$area" --own
dies "--own with another mode" 2 "^kmmvdump: often: mode must be overwrite or consume" \
	$dump -d "$area" --own=often -i x
dies "--own with odd pages" 2 '^kmmvdump: 4x: not a number of pages' \
	$dump -d "$area" --own=consume,4x -i x
dies "--count of odd lines" 2 '^kmmvdump: -1: not a number of lines' \
	$dump -d "$area" -F -N -1
dies "--count of no lines" 2 '^kmmvdump: 0: not a number of lines' \
	$dump -d "$area" -F -N 0
dies "--own of no pages" 2 '^kmmvdump: 0: not a number of pages' \
	$dump -d "$area" --own=0 -i x
# An option that would be ignored is refused: what kmmvdump does has options of its own.
while read -r options; do
	# shellcheck disable=SC2086 # words
	dies "wrong usage: $options" 2 '^usage: kmmvdump' $dump -d "$area" $options
done <<E4
-H -f x
-i x
-N 1
-x
-F -j
-F -c
-F -a
-F -H
-F -n
-F -r 5
-F one two
-R one two
-R one -F two
one
-o -i x one
-o -i x -R one
-o -i x -r 5
-o -i x -j
-L -F
-L -R one
-L -x
-L -o
-L -i x
-L -N 1
-L -f requests
-L -c
-L -a
-L -H
-L -n
-L -j
-L -r 5
-L one
-L -C $work/refused
-C $work/refused -f requests
-C $work/refused -c
-C $work/refused -a
-C $work/refused -H
-C $work/refused -n
-C $work/refused -j
-C $work/refused -F
-C $work/refused -R one
-C $work/refused -x
-C $work/refused -o -i x
-C $work/refused -N 1
-C $work/refused one
E4
not_ok "wrong usage: nothing is copied" test -e "$work/refused"
# These get as far as the area, which is not there.
while read -r options; do
	# shellcheck disable=SC2086 # words
	dies "right usage: $options" 1 '^kmmvdump: /nonexistent/' \
		$dump -d /nonexistent $options
done <<E5
-f x -c -a -H -n -j -r 5
-C $work/refused -r 5
-L
-F -x -f x -i x -N 1 one
-R one -x -f x -i x -N 1
-F -R one
-o -F -x -f x -i x -N 1
-oconsume,4 -i x
E5

# ---- no memory

# shellcheck source=qa/shipped/nomemory
. qa/shipped/nomemory
each_fails "text" true $dump -d "$area"
each_fails "values per CPU" true $dump -d "$area" -a -r 0
each_fails "JSON" true $dump -d "$area" -j
each_fails "--follow" true $dump -d "$work/events" --follow -N 7
# shellcheck disable=SC2317 # called by each_fails
not_left()
{
	[ "$(ls "$work/config")" = kmmvdump-0 ]
}
each_fails "--own" not_left "${own[@]}"
each_fails "--rings" true $dump -d "$work/events" --rings
finish
