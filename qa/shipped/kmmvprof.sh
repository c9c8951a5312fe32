#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kmmvprof on simulated rings, files made here, and recordings.

cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C
# shellcheck source=qa/tap.sh
. qa/tap.sh
# shellcheck source=qa/shipped/dies
. qa/shipped/dies

make -s -f qa/GNUmakefile build/qa/bench/kmmvsim \
		build/qa/bench/kmmvprofsim >&2 || bail "does not build"
work=$(mktemp -d build/prof.XXXXXX) || exit 2
work=$PWD/$work
sim_pid=''
# shellcheck disable=SC2317 # called by the trap
stop()
{
	if [ -n "$sim_pid" ]; then
		exec 8>&-
		wait "$sim_pid"
	fi
	rm -rf "$work"
}
trap stop EXIT

# The command, with sanitizers, or as built: with gcov's counters, or by
# qa/proof/mutate.py, which limits memory.
version=$(cat VERSION)
prof=$PWD/build/kmmvprof
if [ -z "${KMMV_AS_BUILT-}" ]; then
	prof=$work/kmmvprof
	gcc -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -O1 -g -Wall -Wextra -Werror \
		-fsanitize=address,undefined -fno-sanitize-recover=all \
		-DKMMV_VERSION="\"$version\"" -Ikmod/include/uapi -Ilib \
		-o "$prof" lib/*.c lib/kmmvprof/*.c -ljansson -ldw -lelf \
		-lncursesw -ltinfo || bail "does not build"
fi

# ---- what is sampled

cat >"$work/program.c" <<'E2'
__attribute__((noinline)) int burn_one(int x) { return x * 3 + 1; }
__attribute__((noinline)) int burn_two(int x) { return x * 5 + 2; }
static __attribute__((noinline)) int inner(int x) { return x * 7 + 3; }
/* Aliases: the name with fewer underscores is shown. */
int __burn_one(int x) __attribute__((alias("burn_one")));
__asm__(".text\n.type sizeless,@function\nsizeless: nop\nnop\nnop\nnop\n"
	".globl after\n.type after,@function\nafter: nop\n.size after,1\n");
int main(int argc, char **argv)
{
	(void)argv;
	return burn_one(argc) + burn_two(argc) + inner(argc);
}
E2
cd "$work" || exit 2
gcc -O1 -o pie -fPIE -pie program.c
gcc -O1 -o fixed -no-pie program.c
# The offset of the code in the file differs from its address.
gcc -O1 -o far -no-pie -Wl,-Ttext-segment=0x10000000 -Wl,-z,noseparate-code program.c
gcc -O1 -o lib.so -shared -fPIC program.c
gcc -O1 -o debug -Wl,--build-id=0x0123456789abcdef0123456789abcdef01234567 program.c
for file in pie lib.so debug; do
	cp $file $file.full
	strip -o $file.stripped $file
done
mv debug.stripped debug
mkdir -p debug-dir/.build-id/01
objcopy --only-keep-debug debug.full debug-dir/.build-id/01/23456789abcdef0123456789abcdef01234567.debug
cd - >/dev/null || exit 2

# where FILE SYMBOL [MORE [SYMBOLS-OF]]: "major minor inode offset" of a symbol,
# from nm and readelf, which share no code with libdw
where()
{
	python3 - "$@" <<'E2'
import os, re, subprocess, sys
file, symbol = sys.argv[1:3]
more = int(sys.argv[3]) if len(sys.argv) > 3 else 0
full = sys.argv[4] if len(sys.argv) > 4 else file
run = lambda *a: subprocess.run(a, capture_output=True, text=True).stdout
address = int(next(l.split()[0] for l in run("nm", full).splitlines()
                   if l.split()[-1] == symbol), 16) + more
for o, v, p, size in re.findall(r"LOAD +0x(\w+) 0x(\w+) 0x(\w+) 0x(\w+)",
                                run("readelf", "-lW", full)):
    if int(v, 16) <= address < int(v, 16) + int(size, 16):
        offset = address - int(v, 16) + int(o, 16)
st = os.stat(file)
print(os.major(st.st_dev), os.minor(st.st_dev), st.st_ino, offset)
E2
}

# names [SHIFT [LESS]]: the names stream, with the fields SHIFT bytes further;
# without the field LESS
names()
{
	local shift=${1-0} less=${2-none} n=0 name

	echo 'kmmv abi=1.0 epoch=99'
	echo 'family id=0 units=count semantics=counter name=profile.symbol.samples'
	echo 'family id=1 units=count semantics=counter name=profile.image.samples'
	for name in schedule 'e1000_xmit [e1000]' do_idle; do
		echo "instance number=$n family=0 incarnation=3 state=inactive name=$name"
		n=$((n + 1))
	done
	for name in pie fixed far lib.so debug lib.so.stripped gone text; do
		echo "instance number=$n family=1 incarnation=3 state=active name=$work/$name"
		n=$((n + 1))
	done
	echo "instance number=$n family=0 incarnation=4 state=active name=another"
	echo "instance number=$((n + 1)) family=1 incarnation=3 state=active name=[anonymous]"
	echo 'type id=20 name=profile.sample'
	while read -r name offset size kind; do
		[ "$name" = "$less" ] ||
			echo "field id=20 offset=$((offset + shift)) size=$size kind=$kind units=none name=$name"
	done <<-'E2'
	time 0 8 time
	period 8 8 unsigned
	inode 16 8 unsigned
	offset 24 8 unsigned
	major 32 4 unsigned
	minor 36 4 unsigned
	cpu 40 4 unsigned
	pid 44 4 unsigned
	tgid 48 4 unsigned
	mode 52 1 unsigned
	found 53 1 unsigned
	flags 54 2 unsigned
	command 56 16 text
	event 72 24 text
	stack 96 1024 text
	E2
	echo 'type id=21 name=profile.state'
	while read -r name offset size kind; do
		echo "field id=21 offset=$((offset + shift)) size=$size kind=$kind units=none name=$name"
	done <<-'E2'
	time 0 8 time
	taken 8 8 unsigned
	lost 16 8 unsigned
	missed 24 8 unsigned
	freq 32 4 unsigned
	what 40 16 text
	source 56 16 text
	E2
	echo 'type id=22 name=profile.future'
	echo 'end 18446744073709551615'
}
# Numbers of the instances above.
schedule=0 e1000=1 do_idle=2 pie=3 fixed=4 far=5 lib=6 debug=7 stripped=8 gone=9
text=10 again=11 anonymous=12

# serve DIR [PAGES [SHIFT]] <LINES: a ring with these events; the old one ends
serve()
{
	local dir=$1 pages=${2-16} shift=${3-0}

	if [ -n "$sim_pid" ]; then
		exec 8>&-
		wait "$sim_pid"
	fi
	rm -f "$work/in"
	mkfifo "$work/in"
	build/qa/bench/kmmvprofsim "$dir" "$pages" "$shift" <"$work/in" \
		>"$work/ready" 2>&1 &
	sim_pid=$!
	exec 8>"$work/in"
	{ cat; echo ready; } >&8
	wait_for 20 grep -q ready "$work/ready" ||
		bail "the simulated ring does not start: $(cat "$work/ready")"
}

# user N PERIOD INSTANCE COMMAND FILE SYMBOL [MORE [SYMBOLS-OF]]: a line
user()
{
	local n=$1 period=$2 instance=$3 command=$4 device

	shift 4
	device=$(cd "$work" && where "$@") || bail "no $*"
	echo "sample $n 1 $period $device 1 101 100 1 0 $instance $command default"
}

# kernel N PERIOD MODE INSTANCE COMMAND [STACK]
kernel()
{
	echo "sample $1 0 $2 0 0 0 0 0 201 200 $3 0 $4 $5 default ${6-}"
}

# area DIR: what kmmv_open() needs, beside the names
area()
{
	build/qa/bench/kmmvsim --cpus 2 --instances 13 --families 2 --epoch 99 \
		--generation 18446744073709551615 "$1"
}

# query EXPRESSION COMMAND...: a Python expression of the JSON d
query()
{
	local expression=$1

	shift
	"$@" | python3 -c "
import json, sys
d = json.load(sys.stdin)
print($expression)"
}

dir=$work/area
area "$dir" || bail "no simulated area"
names >"$dir/names"
{
	echo "state 0 1000 0 0 997 start cpu-clock"
	user 40 1000000 $pie one pie burn_one
	user 10 1000000 $pie one pie burn_one 2
	user 20 1000000 $fixed two fixed burn_two
	user 10 1000000 $far three far inner
	user 5 1000000 $lib one lib.so burn_one
	kernel 9 1000000 0 $schedule one 'schedule;do_nanosleep;do_syscall_64'
	kernel 3 1000000 0 $e1000 'a;b'
	kernel 3 1000000 2 $do_idle swapper/1
	echo "other 0"
	echo "state 0 1102 2 7 997 stop cpu-clock"
} >"$work/lines"
serve "$dir" <"$work/lines"

# ---- reports

# tidy: without this test's directory, single spaces
tidy()
{
	sed "s,$work/,," | tr -s ' '
}

is "report: by symbol, with what was lost" "$($prof report -D "$dir" | tidy)" \
'event default (source cpu-clock): 100 samples, 0.100 s
percent samples seconds image symbol
 50.00 50 0.050 pie burn_one
 20.00 20 0.020 fixed burn_two
 10.00 10 0.010 far inner
 9.00 9 0.009 [kernel] schedule
 5.00 5 0.005 lib.so burn_one
 3.00 3 0.003 [e1000] e1000_xmit
 3.00 3 0.003 [kernel] do_idle

read 100 samples, of which 0 were not asked for; 0 malformed
lost in the ring: 0 overwritten, 0 dropped
between its first and last state here the profiler took 102 = 100 read + 0 malformed + 2 lost before the ring + 0 overwritten + 0 dropped + 0 inside
and missed 7 that were due: backed off, throttled or late'
# rows OPTION...: the rows of a report
rows()
{
	$prof report -D "$dir" "$@" | tidy | sed -n '3,/^$/p'
}
is "report: by command" "$(rows -b command)" ' 64.00 64 0.064 one
 20.00 20 0.020 two
 10.00 10 0.010 three
 3.00 3 0.003 a;b
 3.00 3 0.003 swapper/1'
is "report: by mode and CPU" "$(rows -b mode,cpu)" ' 85.00 85 0.085 user 1
 12.00 12 0.012 kernel 0
 3.00 3 0.003 idle 0'
is "report: by process, with its command" "$(rows -b process -u)" \
' 64.71 55 0.055 100 one
 23.53 20 0.020 100 two
 11.76 10 0.010 100 three'
is "report: by thread" "$(rows -b thread -k)" ' 75.00 9 0.009 201 one
 25.00 3 0.003 201 a;b'
is "report: by image" "$(rows -b image -n 2)" ' 50.00 50 0.050 pie
 20.00 20 0.020 fixed
 30.00 30 0.030 (4 more)'
is "report: a threshold" "$(rows -b symbol -t 9.5)" \
' 50.00 50 0.050 pie burn_one
 20.00 20 0.020 fixed burn_two
 10.00 10 0.010 far inner
 20.00 20 0.020 (4 more)'
is "report: idle CPUs" "$(rows -I)" ' 100.00 3 0.003 [kernel] do_idle'
like "report: what was not asked for is counted" \
	"$($prof report -D "$dir" -p 200)" '^read 100 samples, of which 85 were'
is "folded: stacks outermost first, names without semicolons" \
	"$($prof folded -D "$dir" | tidy)" 'one;pie;burn_one 50
two;fixed;burn_two 20
three;far;inner 10
one;[kernel];do_syscall_64;do_nanosleep;schedule 9
one;lib.so;burn_one 5
a:b;[e1000];e1000_xmit 3
swapper/1;[kernel];do_idle 3'
like "folded: weighed by time" "$($prof folded -D "$dir" -w period | tidy)" \
	'^three;far;inner 10000000$'
is "JSON: percentages add up" "$(query '
	round(sum(r["percent"] for r in d["events"][0]["rows"]), 9),
	d["events"][0]["unit"], d["events"][0]["samples"],
	d["accounts"]["between_states"]["inside"], d["source"]' \
	$prof report -j -D "$dir")" "100.0 ns 100 0 cpu-clock"
ok "record" $prof record -D "$dir" -o "$work/recording"
is "a recording has the same report" \
	"$($prof report -i "$work/recording" -b symbol,mode)" \
	"$($prof report -D "$dir" -b symbol,mode)"
is "and the same stacks" "$($prof folded -i "$work/recording" -k)" \
	"$($prof folded -D "$dir" -k)"
is "a recording of all is one of a process" \
	"$($prof report -i "$work/recording" -p 200 -b command | head -6)" \
	"$($prof report -D "$dir" -p 200 -b command | head -6)"
like "a recording to a pipe" "$($prof record -D "$dir" -o /dev/stdout | tail -n 1)" \
	'^{"end":"7"}$'
ok "it is no new file" test -L /dev/stdout
ln -s /proc/self/fd/1 "$work/link"
$prof record -D "$dir" -o "$work/link" >"$work/linked"
is "a recording to what a link leads to" "$? $(tail -n 1 "$work/linked")" '0 {"end":"7"}'
ok "the link is still there" test -L "$work/link"
# A recording can say anything.
sed '2,3s/"image":"/&\\u001b]0;x\\u0007\\nmain;forged 1\\n/
	2s/"symbol":"/&\\u009b31m\\r/; s/"event":"[a-z]*/&\\u001b[2J/
	s/"command":"/&\\n/; 1s/"source":"/&\\u001b\\n/
	/"end"/s/"7"/"8"/; /"end"/i{"note":true,"image":"x\\u001b\\ny","symbol":"z\\u009b","samples":"1","period":"0"}' \
	"$work/recording" >"$work/forged"
ok "it is still a recording" $prof report -i "$work/forged"
is "what it says has no controls" "$({ $prof report -i "$work/forged" -b symbol,command
	$prof folded -i "$work/forged"; } | grep -caP '[^\n -~]')" 0
like "in the notes" "$($prof report -i "$work/forged")" '^ +1 in x[?][?]y: z[?][?]$'
is "and no lines of its own" "$($prof folded -i "$work/forged" | wc -l)" \
	"$($prof folded -i "$work/recording" | wc -l)"
sed '$d' "$work/recording" >"$work/cut"
dies "a recording that is cut off" 1 'cut: line 8: is cut off; record' \
	$prof report -i "$work/cut"
sed 3d "$work/recording" >"$work/cut"
dies "a recording with a line too few" 1 'line 8: lines are missing' \
	$prof report -i "$work/cut"
echo 'x' >"$work/cut"
dies "no recording" 1 'cut: line 1: is not JSON' $prof report -i "$work/cut"
dies "a recording that cannot be written" 1 'No such file' \
	$prof record -D "$dir" -o "$work/none/file"

# A signal while nobody reads what is printed: no line is made of parts of two.
cat >"$work/stall.py" <<'E2'
import array, fcntl, os, signal, subprocess, sys, termios, time
whole = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, check=True).stdout
ours, theirs = os.pipe()
size = fcntl.fcntl(ours, fcntl.F_SETPIPE_SZ, 4096)
child = subprocess.Popen(sys.argv[1:], stdout=theirs)
os.close(theirs)
held = array.array("i", [0])
while held[0] < size and child.poll() is None:
    fcntl.ioctl(ours, termios.FIONREAD, held)
    time.sleep(0.01)
# It waits in write(2).
while child.poll() is None and open(f"/proc/{child.pid}/stat").read().split()[2] != "S":
    time.sleep(0.01)
child.send_signal(signal.SIGINT)
got = open(ours, "rb").read()
child.wait()
print(len(whole) > 2 * size, whole.startswith(got), 0 < len(got) < len(whole))
E2
python3 - "$work/recording" >"$work/many" <<'E2'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
row = next(line for line in lines if "samples" in line and "note" not in line and line.get("stack"))
rows = [dict(row, command=f"command {i}") for i in range(8000)]
for line in lines[:1] + rows + [{"end": str(len(rows))}]:
    print(json.dumps(line))
E2
for command in report folded; do
	is "$command: a signal cuts it off" \
		"$(python3 "$work/stall.py" $prof $command -i "$work/many" -b command)" \
		"True True True"
done
mkfifo "$work/nobody"
# shellcheck disable=SC2317 # called by wait_for
waits_uncaught()
{
	awk '/^State:/ { sleeps = $2 == "S" }
		/^SigCgt:/ { caught = substr($2, 13, 1) ~ /[4-7c-f]/ }
		END { exit !(sleeps && !caught) }' "/proc/$waiting/status"
}
for command in "report -i" "record -D $dir -o"; do
	# shellcheck disable=SC2086 # words
	$prof $command "$work/nobody" 2>/dev/null &
	waiting=$!
	ok "it waits for another program: ${command%% *}" wait_for 60 waits_uncaught
	kill -TERM $waiting
	wait $waiting
	is "and one signal ends it" $? 143
done

# Fields are where the names say.
names 12 >"$dir/names"
serve "$dir" 16 12 <"$work/lines"
is "fields are found by name" "$(rows -b command | head -n 2)" \
	' 64.00 64 0.064 one
 20.00 20 0.020 two'

# ---- files that are not what they were

names >"$dir/names"
cp "$work/pie" "$work/gone"
{
	echo "time 0"
	user 8 100 $lib x lib.so.full burn_one | sed "s/^sample 8/sample 1/"
	user 4 100 $stripped x lib.so.stripped burn_two 0 "$work/lib.so.full"
	user 4 100 $stripped x lib.so.stripped inner 0 "$work/lib.so.full"
	user 2 100 $debug x debug inner 0 "$work/debug.full"
	user 3 100 $gone x gone burn_one
	user 1 100 $pie x pie sizeless 2
	user 1 100 $pie x pie after
	echo "sample 5 0 100 0 0 0 0 1 1 1 1 1 -1 x default"
	echo "sample 6 0 100 0 0 0 0 1 1 1 1 2 $anonymous x default"
	echo "sample 1 0 100 0 0 0 0 1 1 1 0 3 -1 x default"
	# The number's incarnation is another by now.
	echo "sample 1 0 100 0 0 0 0 1 1 1 0 0 $again x default"
	# An image in the place of a symbol.
	echo "sample 1 0 100 0 0 0 0 1 1 1 0 0 $pie x default"
	echo "sample 1 0 100 1 2 3 9 1 1 1 1 0 $text x default"
} >"$work/lines"
echo "no ELF" >"$work/text"
text_is=$(stat -c '%Hd %Ld %i' "$work/text")
echo "sample 1 0 100 $text_is 0 1 1 1 1 0 $text x default" >>"$work/lines"
# Another file at the path.
mv "$work/gone" "$work/was"
cp "$work/fixed" "$work/gone"
serve "$dir" <"$work/lines"
# Lines whose order does not matter here.
is "honest about functions that cannot be known" \
	"$($prof report -D "$dir" -g "$work/debug-dir" -b symbol -w samples |
		tidy | sed '1,2d;/^lost/,$d' | sort)" "$(sort <<'E2'
 18.75 6 600 [anonymous] [unknown]
 15.63 5 500 [unknown] [unknown]
 12.50 4 400 lib.so.stripped [unknown]
 12.50 4 400 lib.so.stripped burn_two
 9.38 3 300 gone [unknown]
 9.38 3 300 [kernel] [unknown]
 6.25 2 200 debug inner
 6.25 2 200 text [unknown]
 3.12 1 100 lib.so [unknown]
 3.12 1 100 pie after
 3.12 1 100 pie sizeless

functions not known:
 6 in [anonymous]: no file is mapped there: code made at run time, or the kernel's vdso
 5 in [unknown]: the process was gone before its mappings were read
 4 in lib.so.stripped: has no symbol there; install its debugging information, if there is any
 3 in gone: is another file than the one that was mapped; run this as root while the process lives
 1 in lib.so: is another file than the one that was mapped; run this as root while the process lives
 1 in text: is another file than the one that was mapped; run this as root while the process lives
 1 in text: is not an ELF file with code
read 32 samples, of which 0 were not asked for; 0 malformed
E2
)"

# ---- losses, and what is no sample

{
	echo "state 0 500 5 0 997 backoff timer"
	kernel 100 7 0 $schedule x
	echo "cut 0 0"
	echo "cut 1 50"
	echo "sample 1 0 1 0 0 0 0 0 1 1 3 0 -1 x default"
	kernel 1 18446744073709551615 0 $schedule x
	echo "sample 1 0 2500000000 0 0 0 0 0 1 1 0 0 $schedule x my-clock"
	echo "time 0"
	echo "sample 1 0 2 0 0 0 0 0 1 1 0 0 $schedule x cpu-clock"
	echo "time 1"
	echo "state 0 630 8 1 499 recover timer"
	kernel 1 7 0 $schedule x
} >"$work/lines"
serve "$dir" <"$work/lines"
$prof report -D "$dir" | tidy >"$work/report"
# Two are too short, one is of no mode, one has an impossible period.
is "malformed samples are counted, not shown" "$(cat "$work/report")" \
'event cpu-clock: 1 samples, 2 counted
percent samples count image symbol
 100.00 1 2 [kernel] schedule

event default (source timer): 101 samples, 0.000 s
percent samples seconds image symbol
 100.00 101 0.000 [kernel] schedule

event my-clock: 1 samples, 2.500 s
percent samples seconds image symbol
 100.00 1 2.500 [kernel] schedule

read 103 samples, of which 0 were not asked for; 4 malformed
lost in the ring: 0 overwritten, 0 dropped
between its first and last state here the profiler took 130 = 102 read + 4 malformed + 3 lost before the ring + 0 overwritten + 0 dropped + 21 inside
and missed 1 that were due: backed off, throttled or late'
is "folded: events come first if there are several" \
	"$($prof folded -D "$dir")" 'cpu-clock;x;[kernel];schedule 1
default;x;[kernel];schedule 101
my-clock;x;[kernel];schedule 1'
is "JSON: the unit is in the samples, not in the name" "$(query '
	{e["event"]: e["unit"] for e in d["events"]}' $prof report -j -D "$dir")" \
	"{'cpu-clock': 'count', 'default': 'ns', 'my-clock': 'ns'}"
$prof record -D "$dir" -o "$work/recording" || bail "no recording"
is "a recording has the units" "$($prof report -i "$work/recording" -b symbol)" \
	"$($prof report -D "$dir" -b symbol)"
{
	echo "state 0 9000 900 90 997 stop timer"
	echo "state 0 10 1 0 997 start timer"
	kernel 5 7 0 $schedule x
	echo "state 0 15 1 0 997 stop timer"
} >"$work/lines"
serve "$dir" <"$work/lines"
like "the module was loaded again: counted from there" \
	"$($prof report -D "$dir")" 'took 5 = 5 read .* 0 lost .* 0 inside$'
# 2 pages of 36 events at most are left.
{
	kernel 100000 7 0 $schedule x
	user 20 7 $pie x pie burn_one
} >"$work/lines"
serve "$dir" 2 <"$work/lines"
like "a ring that was overwritten" "$($prof report -D "$dir")" \
	'^lost before the ring: unknown'
# What was overwritten before a CPU's first record may be younger than a state of
# another CPU: 200 taken, and fewer left, say nothing of what is inside.
other_cpu="1 7 0 0 0 0 0 201 200 $schedule 0 -1 x default"
{
	echo "state 0 0 0 0 997 start timer"
	echo "sample 200 $other_cpu"
	echo "state 0 200 0 0 997 stop timer"
} >"$work/lines"
serve "$dir" 2 <"$work/lines"
like "another CPU's was" "$($prof report -D "$dir")" \
	'^lost before the ring: unknown'
{
	cat "$work/lines"
	echo "sample 5 $other_cpu"
	echo "state 0 205 0 0 997 stop timer"
} >"$work/more"
serve "$dir" 2 <"$work/more"
like "and is known of what follows" "$($prof report -D "$dir")" \
	'took 5 = 5 read .* 0 lost .* 0 inside$'
# Thousands of pages, with other percentages than whole ones.
for i in 1 2 3 4 5 6 7; do
	kernel $((5000 * i)) $((i * 13)) 0 $schedule "c$i"
done >"$work/lines"
serve "$dir" 6000 <"$work/lines"
is "many samples" "$(query 'd["accounts"]["read"],
	d["events"][0]["samples"], d["events"][0]["period"],
	round(sum(r["percent"] for r in d["events"][0]["rows"]), 9)' \
	$prof report -j -b command -D "$dir")" \
	"140000 140000 9100000 100.0"

# While it reads, drops are told with the next event. It is ended when it has read all:
# a reader that is late may know of more drops than of events, or of less.
kernel 10 1 0 $schedule x >"$work/lines"
serve "$dir" <"$work/lines"
$prof report -j -d 36000 -D "$dir" >"$work/live" &
live_pid=$!
naps()
{
	sed -n 's/^voluntary_ctxt_switches:\t//p' /proc/$live_pid/status
}
# shellcheck disable=SC2317 # called by wait_for
naps_are()
{
	! kill -0 $live_pid 2>/dev/null || [ "$(naps)" -ge "$1" ]
}
# shellcheck disable=SC2317 # called by wait_for
all_is_served()
{
	[ "$(grep -c ready "$work/ready")" -ge 2 ]
}
# It sleeps once it waits for the ring.
wait_for 60 naps_are 20 || fail "it waits"
for ((i = 0; i < 40; i++)); do
	echo "drop 0 5" >&8
	kernel 1 1 0 $schedule x >&8
	sleep 0.05
done
echo ready >&8
wait_for 60 all_is_served || fail "all is in the ring"
wait_for 60 naps_are $(($(naps) + 20)) || fail "it reads all that was written"
kill -INT $live_pid
wait $live_pid
is "five dropped for each that is read" "$(query '
	abs(int(d["accounts"]["dropped"]) - 5 * int(d["accounts"]["read"])) <= 5 and
	int(d["accounts"]["read"]) > 0' cat "$work/live")" True

# ---- top

kernel 10 1000000 0 $schedule x >"$work/lines"
serve "$dir" <"$work/lines"
: >"$work/top"
$prof top -B -N 3 -d 1 -b command -D "$dir" >"$work/top" &
top_pid=$!
shows()
{
	grep -q ' 100.00 .* later$' "$work/top"
}
# Samples come until they are seen, or the frames are over.
for ((i = 0; i < 3000; i++)); do
	shows && break
	kill -0 $top_pid 2>/dev/null || break
	kernel 3 1000000 0 $schedule later >&8
	sleep 0.1
done
wait $top_pid
is "top: ends after its frames" $? 0
is "top: so many" "$(grep -c '^kmmvprof: 1.0 s, ' "$work/top")" 3
ok "top: what comes" shows
not_ok "top: not what was there" grep -q ' x$' "$work/top"
is "top: 80 columns" "$(awk 'length > 80' "$work/top")" ""
python3 - "$prof" "$dir" >"$work/drawn" 2>&1 <<'E2'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(TERM="vt100", LINES="24", COLUMNS="80")
    os.execv(sys.argv[1], [sys.argv[1], "top", "-d", "0.5", "-D", sys.argv[2]])
seen = b""
while b"to quit" not in seen:
    seen += os.read(fd, 4096)
os.write(fd, b"q")
try:
    while os.read(fd, 4096):
        pass
except OSError:
    pass
print("status", os.waitpid(pid, 0)[1])
E2
is "top: draws, and ends with q" "$(cat "$work/drawn")" "status 0"
# The ring fails while it is drawn; xterm has another screen, on which that happens.
cat >"$work/fails.c" <<'E2'
#include <unistd.h>
struct kmmv_ring;
struct kmmv_record;
int __real_kmmv_ring_next(struct kmmv_ring *ring, struct kmmv_record *record);
int __wrap_kmmv_ring_next(struct kmmv_ring *ring, struct kmmv_record *record);
int __wrap_kmmv_ring_next(struct kmmv_ring *ring, struct kmmv_record *record)
{
	return access(FAILS, F_OK) ? __real_kmmv_ring_next(ring, record) : -74;
}
E2
gcc -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DKMMV_VERSION="\"$version\"" \
	-DFAILS="\"$work/fails\"" -Wl,--wrap=kmmv_ring_next -Ikmod/include/uapi -Ilib \
	-o "$work/failing" "$work/fails.c" lib/*.c lib/kmmvprof/*.c -ljansson -ldw -lelf \
	-lncursesw -ltinfo || bail "does not build"
timeout 600 python3 - "$work/failing" "$dir" "$work/fails" >"$work/drawn" 2>&1 <<'E2'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(TERM="xterm", LINES="24", COLUMNS="80")
    os.execv(sys.argv[1], [sys.argv[1], "top", "-d", "0.5", "-D", sys.argv[2]])
seen = b""
while b"to quit" not in seen:
    seen += os.read(fd, 4096)
open(sys.argv[3], "w").close()
try:
    while more := os.read(fd, 4096):
        seen += more
except OSError:
    pass
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
# The message has no more than the command's name, as the ring knows of no error.
there, left, after = seen.rpartition(b"\x1b[?1049l")
print(status, len(left) > 0, there.count(b"kmmvprof: \r\n"),
      after.count(b"kmmvprof: \r\n"))
E2
is "top: an error is told when it has left the screen" "$(cat "$work/drawn")" \
	"1 True 0 1"
dies "top: no such terminal" 1 'set TERM, or use --batch' \
	env TERM=nonsense "$prof" top -D "$dir"

# ---- little memory

# 200 kB of symbols that get 1.2 GB, in a file that anyone can run: dynamic symbols are
# still read. Without sanitizers, whose memory is their own.
head -c 1200M /dev/zero | xz -0 --check=crc32 >"$work/zeros.xz"
objcopy --add-section .gnu_debugdata="$work/zeros.xz" "$work/lib.so.stripped" ||
	bail "no such section"
rm "$work/fails"
user 4 100 $stripped x lib.so.stripped burn_two 0 "$work/lib.so.full" >"$work/lines"
serve "$dir" <"$work/lines"
python3 - "$work/failing" report -D "$dir" -b symbol >"$work/little" <<'E2'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print("little" if most < 800000 else f"{most} kB")
E2
is "compressed symbols do not take all memory" "$(tail -n 1 "$work/little")" little
like "and the others are read" "$(tr -s ' ' <"$work/little")" 'lib.so.stripped burn_two$'

# ---- errors say what to do

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
dies "a recording to a disk that is full" 1 'No space left|full' \
	$prof record -D "$dir" -o /dev/full
ok "and that is still a device" test -c /dev/full
for arguments in "report -b nothing" "report -d x" "report -d 0" "report -n -1" \
		"report -t 101" "report -p 0" "report -w many" "report -g here" \
		"record" "report -o file" "top -i file" "report -i file -d 1" \
		"folded -j" "report -B" "nothing"; do
	# shellcheck disable=SC2086 # words
	dies "usage: $arguments" 2 '^kmmvprof: .*(needs|must|not|is|are) ' \
		$prof $arguments -D "$dir"
done
# ---- events of sysfs

mkdir -p "$work/pmu/cpu/format" "$work/pmu/cpu/events"
echo 4 >"$work/pmu/cpu/type"
echo config:0-7 >"$work/pmu/cpu/format/event"
echo event=0x2e >"$work/pmu/cpu/events/misses"
is "events" "$($prof events -S "$work/pmu" | tr -s ' ')" "cpu/misses/ 4:0x2e"
is "one event" "$($prof events -S "$work/pmu" cpu/misses/)" 4:0x2e
dies "no such event" 1 'cpu/hits/: cpu has neither' $prof events -S "$work/pmu" cpu/hits/
is "the others are there" "$($prof events -S "$work/pmu" cpu/hits/ cpu/event=1/ \
	2>/dev/null)" 4:0x1
dies "no sysfs" 1 'none: No such file' $prof events -S "$work/none"

dies "usage: no command" 2 '^usage: kmmvprof' "$prof"
is "--version" "$($prof -V)" "kmmvprof $version"
like "--help" "$($prof --help)" '^usage: kmmvprof'

# ---- no memory

make -s -C lib >&2 || bail "does not build"
# shellcheck source=qa/shipped/nomemory
. qa/shipped/nomemory
built=build/kmmvprof
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
each_fails "report" true $built report -D "$dir"
each_fails "report -j" true $built report -j -b command,symbol -D "$dir"
each_fails "folded" true $built folded -D "$dir"
# shellcheck disable=SC2317 # called by each_fails
record_poor()
{
	$built record -o "$work/poor" -D "$dir" &&
		LD_PRELOAD='' $built report -i "$work/poor"
}
# shellcheck disable=SC2317 # called by each_fails
no_recording()
{
	rm -f "$work/poor"
	[ -z "$(find "$work" -maxdepth 1 -name 'poor*')" ]
}
each_fails "record" no_recording record_poor
ok "record" $built record -o "$work/poor" -D "$dir"
each_fails "report of a recording" true $built report -i "$work/poor"
# shellcheck disable=SC2034 # each_fails reads it
tolerated='- out of memory$'
each_fails "events" true $built events -S "$work/pmu"
finish
