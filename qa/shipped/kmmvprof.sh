#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# beside: yes
#
# kmmvprof on simulated rings, files made here, and recordings: what it reports.

cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/shipped/prof
. qa/shipped/prof

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

is "report: rows are by symbol, with what was lost" "$($prof report -D "$dir" | tidy)" \
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
is "report: rows are by command" "$(rows -b command)" ' 64.00 64 0.064 one
 20.00 20 0.020 two
 10.00 10 0.010 three
 3.00 3 0.003 a;b
 3.00 3 0.003 swapper/1'
is "report: rows are by mode and CPU" "$(rows -b mode,cpu)" ' 85.00 85 0.085 user 1
 12.00 12 0.012 kernel 0
 3.00 3 0.003 idle 0'
is "report: rows are by process, with its command" "$(rows -b process -u)" \
' 64.71 55 0.055 100 one
 23.53 20 0.020 100 two
 11.76 10 0.010 100 three'
is "report: rows are by thread" "$(rows -b thread -k)" ' 75.00 9 0.009 201 one
 25.00 3 0.003 201 a;b'
is "report: rows are by image" "$(rows -b image -n 2)" ' 50.00 50 0.050 pie
 20.00 20 0.020 fixed
 30.00 30 0.030 (4 more)'
is "report: rows below a threshold are summed up" "$(rows -b symbol -t 9.5)" \
' 50.00 50 0.050 pie burn_one
 20.00 20 0.020 fixed burn_two
 10.00 10 0.010 far inner
 20.00 20 0.020 (4 more)'
is "report: -I shows idle CPUs" "$(rows -I)" ' 100.00 3 0.003 [kernel] do_idle'
like "report: what was not asked for is counted" \
	"$($prof report -D "$dir" -p 200)" '^read 100 samples, of which 85 were'
is "folded: stacks are outermost first, without semicolons in names" \
	"$($prof folded -D "$dir" | tidy)" 'one;pie;burn_one 50
two;fixed;burn_two 20
three;far;inner 10
one;[kernel];do_syscall_64;do_nanosleep;schedule 9
one;lib.so;burn_one 5
a:b;[e1000];e1000_xmit 3
swapper/1;[kernel];do_idle 3'
like "folded: stacks are weighed by time" "$($prof folded -D "$dir" -w period | tidy)" \
	'^three;far;inner 10000000$'
is "JSON: percentages add up" "$(query '
	round(sum(r["percent"] for r in d["events"][0]["rows"]), 9),
	d["events"][0]["unit"], d["events"][0]["samples"],
	d["accounts"]["between_states"]["inside"], d["source"]' \
	$prof report -j -D "$dir")" "100.0 ns 100 0 cpu-clock"
is "JSON: what is not shown is summed up" "$(query '
	len(d["events"][0]["rows"]), *d["events"][0]["more"].values()' \
	$prof report -j -n 2 -D "$dir")" "2 30.0 5 30 30000000"
ok "record succeeds" $prof record -D "$dir" -o "$work/recording"
is "a recording has the same report" \
	"$($prof report -i "$work/recording" -b symbol,mode)" \
	"$($prof report -D "$dir" -b symbol,mode)"
is "a recording has the same stacks" "$($prof folded -i "$work/recording" -k)" \
	"$($prof folded -D "$dir" -k)"
is "a recording of all has the report of a process" \
	"$($prof report -i "$work/recording" -p 200 -b command | head -6)" \
	"$($prof report -D "$dir" -p 200 -b command | head -6)"
like "a recording to a pipe comes to its end" \
	"$($prof record -D "$dir" -o /dev/stdout | tail -n 1)" \
	'^{"end":"7"}$'
ok "a recording leaves /dev/stdout a link" test -L /dev/stdout
ln -s /proc/self/fd/1 "$work/link"
$prof record -D "$dir" -o "$work/link" >"$work/linked"
is "a recording is written to what a link leads to" \
	"$? $(tail -n 1 "$work/linked")" '0 {"end":"7"}'
ok "a recording leaves a link" test -L "$work/link"
# A recording can say anything.
sed '2,3s/"image":"/&\\u001b]0;x\\u0007\\nmain;forged 1\\n/
	2s/"symbol":"/&\\u009b31m\\r/; s/"event":"[a-z]*/&\\u001b[2J/
	s/"command":"/&\\n/; 1s/"source":"/&\\u001b\\n/
	/"end"/s/"7"/"8"/; /"end"/i{"note":true,"image":"x\\u001b\\ny","symbol":"z\\u009b","samples":"1","period":"0"}' \
	"$work/recording" >"$work/forged"
ok "a forged recording is still a recording" $prof report -i "$work/forged"
is "a forged recording is shown without controls" \
	"$({ $prof report -i "$work/forged" -b symbol,command
	$prof folded -i "$work/forged"; } | grep -caP '[^\n -~]')" 0
like "a forged recording's notes are shown without controls" \
	"$($prof report -i "$work/forged")" '^ +1 in x[?][?]y: z[?][?]$'
python3 - "$work/recording" >"$work/noted" <<'E2'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
notes = [{"note": True, "image": f"i{n:02}", "symbol": "why", "samples": str(20 - n),
          "period": "0"} for n in range(12)]
for line in lines[:-1] + notes + [{"end": str(len(lines) - 2 + len(notes))}]:
    print(json.dumps(line))
E2
is "ten notes are shown" "$($prof report -i "$work/noted" | grep -A 1 '^ *11 in')" \
"    11 in i09: why
    and in 2 more"
is "JSON has all notes" \
	"$(query 'len(d["functions_not_known"]), *d["functions_not_known"][0].values()' \
	$prof report -j -i "$work/noted")" "12 20 i00 why"
is "a forged recording has no lines of its own" \
	"$($prof folded -i "$work/forged" | wc -l)" \
	"$($prof folded -i "$work/recording" | wc -l)"
sed '$d' "$work/recording" >"$work/cut"
dies "a recording that is cut off" 1 'cut: line 8: is cut off; record' \
	$prof report -i "$work/cut"
sed 3d "$work/recording" >"$work/cut"
dies "a recording with a line too few" 1 'line 8: lines are missing' \
	$prof report -i "$work/cut"
echo 'x' >"$work/cut"
dies "no recording" 1 'cut: line 1: is not JSON' $prof report -i "$work/cut"
# altered SCRIPT REASON [OPTION]: what sed makes of the recording
altered()
{
	sed "$1" "$work/recording" >"$work/cut"
	# shellcheck disable=SC2086 # no word
	dies "a recording after $1${3:+ with $3}" 1 "cut: $2" $prof report ${3-} -i "$work/cut"
}
altered '1s/"kmmvprof":1/"kmmvprof":2/' "line 1: is no recording of this kmmvprof's format"
altered 1d "line 1: is no recording of this kmmvprof's format"
altered '1s/"others":"0"/"others":"-1"/' 'line 1: accounts are missing'
altered '1s/"source"/"sauce"/' 'line 1: accounts are missing'
altered '2s/"image"/"imago"/' 'line 2: invalid row'
altered '3s/"samples":"/&+/' 'line 3: invalid row'
altered '2,3s/"samples":"[0-9]*/"samples":"18446744073709551615/' \
	'line 3: the sum of its rows exceeds 64 bits'
altered '2,3s/"samples":"[0-9]*/"samples":"18446744073709551615/' \
	'line 3: the sum of its rows exceeds 64 bits' -k
cat "$work/recording" "$work/recording" >"$work/cut"
dies "two recordings" 1 'cut: line 10: data after the end record' $prof report -i "$work/cut"
altered '$p' 'line 10: data after the end record'
altered '1,$d' 'is cut off; record it again'
dies "no file" 1 'none: No such file' $prof report -i "$work/none"
dies "a folder" 1 'area: Is a directory' $prof report -i "$dir"
dies "a recording that cannot be written" 1 'No such file' \
	$prof record -D "$dir" -o "$work/none/file"

# A signal while the output has no reader: no line is made of parts of two.
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
for command in "report -b command" folded; do
	is "$command: a signal cuts the output off" \
		"$(python3 "$work/stall.py" $prof $command -i "$work/many")" \
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
	ok "${command%% *} waits for another program" wait_for 60 waits_uncaught
	kill -TERM $waiting
	wait $waiting
	is "${command%% *} ends at one signal" $? 143
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
is "functions that cannot be known are not named" \
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
strip -o "$work/far" "$work/fixed"
{
	user 7 100 $far x far burn_one 0 "$work/fixed"
	echo "sample 4 0 100 0 0 0 0 1 1 1 1 0 -1 x default"
	echo "sample 3 0 100 1 2 9 0 1 1 1 1 0 -1 x default"
} >"$work/lines"
serve "$dir" <"$work/lines"
is "each function that is not known has its reason" \
	"$($prof report -D "$dir" | tidy | grep '^ .* in ')" \
' 7 in far: is stripped; install its debugging information
 4 in [unknown]: the kernel did not find the mapping
 3 in [unknown]: the file'"'s name is not kept; increase the module's room for names"
finish
