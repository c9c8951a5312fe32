#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kmmvctl on a directory that behaves as that of kmmv_trace.ko (kmmvctl-kernel.c), with
# types that libbpf made (qa/unit/ctl/ctlbtf.c).

cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C
# shellcheck source=qa/tap.sh
. qa/tap.sh

make -s -f qa/GNUmakefile build/qa/bench/kmmvbtf >&2 && make -s -C lib >&2 ||
	bail "does not build"
work=$(mktemp -d "$PWD/build/ctl.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
gcc -shared -fPIC -O1 -Wall -Wextra -D_GNU_SOURCE -o "$work/kernel.so" \
	qa/shipped/kmmvctl-kernel.c || bail "does not build"

root=$work/root
counters=$root/sys/kernel/config/kmmv/trace
build/qa/bench/kmmvbtf "$root" || bail "no types"
mkdir -p "$root/sys/kernel/config" "$root/run" "$root/etc/kmmv/trace.d" \
	"$root/sys/kernel/tracing/events/qa/qa_hit"
printf '\tfield:int shown;\toffset:8;\tsize:4;\tsigned:1;\n' \
	>"$root/sys/kernel/tracing/events/qa/qa_hit/format"
printf 'qa_call\nqa_other\nqa_mod_call [qa_mod]\n' \
	>"$root/sys/kernel/tracing/available_filter_functions"

ctl()
{
	KERNEL=$root LD_PRELOAD=$work/kernel.so:${LD_PRELOAD-} \
		build/kmmvctl -r "$root" "$@"
}

# by_hand COMMAND ARGUMENT...: as a program that is not kmmvctl
by_hand()
{
	KERNEL=$root LD_PRELOAD=$work/kernel.so "$@"
}

# says NAME PATTERN ARGUMENT...: fails with one line on standard error
says()
{
	local name=$1 pattern=$2 text status

	shift 2
	text=$(ctl "$@" 2>&1 >/dev/null)
	status=$?
	is "$name" "$status $(printf '%s\n' "$text" | wc -l)" "1 1"
	like "$name: why" "$text" "$pattern"
}

# What the kernel was told since the last call.
log()
{
	cat "$root/log" 2>/dev/null
	rm -f "$root/log"
}

get()
{
	cat "$counters/$1/$2"
}

# The marks of the counters that kmmvctl left disabled.
left()
{
	find "$root/run/kmmvctl" -name '.off*' -printf '%f\n' | sort
}

# ---- where there is nothing

says "no module" 'modprobe kmmv_trace' list
says "nor to add to" 'modprobe kmmv_trace' add one tracepoint=qa_hit
mv "$root/sys/kernel/config" "$work/config"
says "no configfs" 'mount -t configfs' list
mv "$work/config" "$root/sys/kernel/config"
ok "nothing to apply needs no module" ctl apply
mkdir -p "$counters"
is "no counters" "$(ctl list)" ""
is "in JSON" "$(ctl list -j)" "[]"
ctl frobnicate >/dev/null 2>&1
is "an unknown command" $? 2
ctl add >/dev/null 2>&1
is "a command without arguments" $? 2
ctl --frobnicate list >/dev/null 2>&1
is "an unknown option" $? 2
# What is not understood is not left out: remove -n would remove.
for command in list add remove enable disable describe apply check export; do
	case $command in
	list)	takes=jvr ;;
	add)	takes=nr ;;
	apply)	takes=inpvr ;;
	check)	takes=vr ;;
	*)	takes=r ;;
	esac
	taken=
	for option in i j n p v r; do
		argument=
		[ $option != r ] || argument=$root
		text=$(ctl -$option $argument $command qa_none 'a=b' 2>&1)
		[ $? -eq 2 ] || taken=$taken$option
	done
	is "the options of $command" "$(fold -w 1 <<<"$taken" | sort | xargs)" \
		"$(fold -w 1 <<<"$takes" | sort | xargs)"
done
text=$(ctl -n -v remove nobody 2>&1)
is "an option of another command" "$? $text" "2 kmmvctl: remove has no option -n (--dry-run)
usage: kmmvctl [-r DIR] remove NAME..."
text=$(ctl apply --json 2>&1)
is "after the command" "$? $text" "2 kmmvctl: apply has no option -j (--json)
usage: kmmvctl [-r DIR] apply [-i] [-n] [-p] [-v] [FILE...]"
text=$(ctl add 2>&1)
is "too few arguments" "$? $text" "2 usage: kmmvctl [-r DIR] add [-n] NAME ATTRIBUTE=TEXT..."
is "--help has them, too" "$(ctl -h | head -n 1)" "usage: kmmvctl [-r DIR] list [-j] [-v] [NAME...]"

# ---- add

ok "add" ctl add io.read tracepoint=qa/qa_hit 'value=log2 number' \
	'key=thing->next->level' 'event=default thing->text, n=number' max_keys=7 \
	units=count 'oneline=What is read' 'help=Some words.'
is "value" "$(get io.read value)" "log2 number=arg1:8u"
is "key" "$(get io.read key)" "thing->next->level=arg0@40@8:4s"
is "event" "$(get io.read event)" "default text=arg0@16:16t n=arg1:8u"
is "the rest" "$(for a in tracepoint max_keys units oneline help enable state; do
	get io.read $a; done | xargs)" \
	"qa/qa_hit 7 count What is read Some words. 1 on"
is "enable is last" "$(log | tail -n 1)" "write io.read/enable 1"
says "one that is there" 'there is a counter io.read' add io.read function=qa_call
is "which is left alone" "$(log)" ""
says "the module's own name" "module's own" add stat function=qa_call
says "a bad name" 'a name has letters' add ../x function=qa_call
says "what the module refuses" 'units: not units' add two function=qa_call \
	value=count units=apples
says "units of hits" 'units are those of a value' add two function=qa_call units=byte
says "units of a histogram" 'units are those of a value' add two function=qa_call \
	'value=log2 count' units=byte
is "is not left behind" "$(ls "$counters")" io.read
says "a comment" "';' after a blank begins a comment" add two function=qa_call \
	'help=Calls ; and more'
says "a word that no file can have" 'put a blank into it' add two function=qa_call \
	"help=See https://$(printf 'x%.0s' {1..200})"
fields=$(printf ',f%d=thing->next->next->level' {1..15})
ok "an event without blanks" ctl add two tracepoint=qa/qa_hit \
	"event=default f0=thing->next->next->level$fields"
ok "disable" ctl disable two
ok "what was saved is read again" ctl enable two
is "export, too" "$(ctl export two | sed -n '2,3{s/->.*//; p}')" "tracepoint = qa/qa_hit
event = default f0=thing"
ok "remove" ctl remove two
says "what cannot be enabled" 'more functions than' add two 'function=qa_*'
is "is not left behind either" "$(ls "$counters")" io.read
says "a function that is inlined" 'no such function; it is not among' \
	add two function=qa_inlined
says "a typo" 'struct thing \*thing' add two tracepoint=qa_hit key=thnig
says "a field of the event" 'shown is a field of the trace event' \
	add two tracepoint=qa_hit key=shown
says "another system" 'there is qa/qa_hit$' add two tracepoint=qq/qa_hit
says "a wrong attribute" 'no attribute keey; near: key' add two function=qa_call keey=x
says "no attribute" 'not ATTRIBUTE=TEXT' add two function
log >/dev/null
is "what would be added" "$(ctl add -n two function=qa_call value=count)" \
	"two: function: qa_call
two: value: count=arg1:8u"
is "is not" "$(log)" ""
text=$(ctl add far tracepoint=qa/absent 2>&1)
is "one that waits" "$? $(get far state)" "0 waiting"
like "is said" "$text" 'far waits: no module'

# ---- list, enable, disable, remove

is "list" "$(ctl list | awk '{ print $1, $2, $3, $4 }')" \
	"far waiting 0 qa/absent
io.read on 0 qa/qa_hit"
like "list -v" "$(ctl list -v io.read)" 'value +log2 number=arg1:8u'
is "list of one" "$(ctl list far | wc -l)" 1
says "list of none" 'no counter nobody' list nobody
is "JSON" "$(ctl list -j | python3 -c '
import json, sys
for c in json.load(sys.stdin):
    print(c["name"], c["state"], c["hits"], c["max_keys"], c.get("key", "-"))')" \
	"far waiting 0 64 -
io.read on 0 7 thing->next->level=arg0@40@8:4s"
ok "disable" ctl disable far io.read
is "off" "$(get far state) $(get io.read state)" "off off"
ok "enable" ctl enable io.read
is "on" "$(get io.read state)" on
says "one that is not there" 'no counter nobody' disable nobody
says "nor elsewhere" 'no counter \.\./trace' remove ../trace
ok "disable" ctl disable io.read
# A module that was replaced meanwhile has it elsewhere.
build/qa/bench/kmmvbtf "$root" moved
ok "enable" ctl enable io.read
is "with today's offsets" "$(get io.read key) $(get io.read state)" \
	"thing->next->level=arg0@40@296:4s on"
build/qa/bench/kmmvbtf "$root"
echo stale >"$counters/io.read/state"
ok "enable one that is stale" ctl enable io.read
is "with today's offsets, too" "$(get io.read key) $(get io.read state)" \
	"thing->next->level=arg0@40@8:4s on"
ok "disable" ctl disable io.read
cp "$root/run/kmmvctl/io.read" "$work/io.read"
sed -i '/^# as /d' "$root/run/kmmvctl/io.read"
build/qa/bench/kmmvbtf "$root" moved
ok "enable one whose file does not say of what it is" ctl enable io.read
is "as configfs has it" "$(get io.read key) $(get io.read state)" \
	"thing->next->level=arg0@40@8:4s on"
like "export has no names for it" "$(ctl export io.read)" \
	'^# key = thing->next->level=arg0@40@8:4s'
build/qa/bench/kmmvbtf "$root"
cp "$work/io.read" "$root/run/kmmvctl/io.read"
ok "disable" ctl disable io.read
ok "enable" ctl enable io.read
log >/dev/null
ok "enable" ctl enable io.read
is "what is on is left alone" "$(log)" ""
echo stale >"$counters/io.read/state"
ok "enable one that is stale" ctl enable io.read
is "is on" "$(get io.read state)" on
is "without another directory" "$(log | grep -v write)" ""
ok "disable" ctl disable io.read
echo 'n=arg1:8u' >"$counters/io.read/key"
ok "enable what was changed by hand" ctl enable io.read
is "as it was changed" "$(get io.read key) $(get io.read state)" "n=arg1:8u on"
like "export has no names for it" "$(ctl export io.read)" '^# key = n=arg1:8u'
by_hand mkdir "$counters/hand"
echo qa_hit >"$counters/hand/tracepoint"
printf '1\n' >"$counters/hand/enable"
echo stale >"$counters/hand/state"
says "one that was made by hand" 'hand: enable: the module is back' enable hand
ok "remove" ctl remove hand
# What it was made of is still there.
ok "one that goes by hand" ctl add hand function=qa_call key=count
by_hand rmdir "$counters/hand"
by_hand mkdir "$counters/hand"
echo qa_call >"$counters/hand/function"
echo 'n=arg0:4u' >"$counters/hand/key"
log >/dev/null
ok "another one of its name" ctl enable hand
is "is left as it is" "$(log) $(get hand key)" "write hand/enable 1 n=arg0:4u"
ok "remove" ctl remove hand
ok "remove" ctl remove far
is "is gone" "$(ls "$counters")" io.read
ctl remove nobody io.read 2>/dev/null
is "others are removed after a failure" "$? $(ls "$counters")" "1 "

# ---- apply

cat >"$root/etc/kmmv/trace.conf" <<'F'
# A comment.
[first]
tracepoint = qa/qa_hit
key = thing->text

[second]
function = qa_call
value = count
help = Words that
	go on
enable = no
F
log >/dev/null
is "what would be applied" "$(ctl apply -n)" "make first
make second"
is "is not" "$(log)" ""
is "apply" "$(ctl apply -v)" "make first
make second"
is "is as it was written" "$(get first key) $(get second value)" \
	"thing->text=arg0@16:16t count=arg1:8u"
is "enabled or not" "$(get first enable)$(get second enable)" 10
log >/dev/null
is "again" "$(ctl apply -v)" "leave first
leave second"
is "changes nothing" "$(log)" ""
echo 0 >"$counters/first/enable"
is "one that was disabled" "$(ctl apply -v)" "enable first
leave second"
echo stale >"$counters/first/state"
is "one whose module came back" "$(ctl apply -v)" "resolve first
leave second"
is "is on" "$(get first state)" on
sed -i 's/thing->text/thing->level/' "$root/etc/kmmv/trace.conf"
is "a change" "$(ctl apply -v)" "change first
leave second"
is "is made" "$(get first key)" "thing->level=arg0@8:4s"
cat >"$root/etc/kmmv/trace.d/more.conf" <<'F'
[third]
function = qa_other
max_keys = 5
key = thing->sign
F
: >"$root/etc/kmmv/trace.d/no.conf.old"
is "trace.d" "$(ctl apply -v)" "leave first
leave second
make third"
sed -i '/max_keys/d' "$root/etc/kmmv/trace.d/more.conf"
is "back to the default" "$(ctl apply -v | tail -n 1) $(get third max_keys)" \
	"change third 64"
sed -i 's/thing->sign/thing->sgin/' "$root/etc/kmmv/trace.d/more.conf"
says "one that is wrong" 'more.conf:1: third: .*no member sgin; near: sign' apply
is "is left as it was" "$(get third key) $(get third enable)" \
	"thing->sign=arg0@80:4s 1"
sed -i 's/thing->sgin/thing->sign/; $a value = thing->sign\nunits = apples' \
	"$root/etc/kmmv/trace.d/more.conf"
says "one that the module refuses" 'not units.*; the previous counter was restored$' apply
is "comes back" "$(get third key) $(get third enable) $(get third state)" \
	"thing->sign=arg0@80:4s 1 on"
sed -i '/units/d; s/^value = .*/value = thing->level/' "$root/etc/kmmv/trace.d/more.conf"
printf . >"$root/full"
says "one that there is no memory for, nor for the old one" \
	'no memory; the previous counter could not be restored: third: enable: no memory$' apply
sed -i '/^value/d' "$root/etc/kmmv/trace.d/more.conf"
is "is made again" "$(ctl apply -v | tail -n 1) $(get third state)" "make third on"
# The module keeps a metric's texts while kmmv.ko is loaded.
cat >"$work/text.conf" <<'F'
[text]
function = qa_other
oneline = Old
help = Old words
key = thing->sign
F
ok "one with texts" ctl apply "$work/text.conf"
sed -i 's/Old/New/; s/sign/text/' "$work/text.conf"
text=$(ctl apply -v "$work/text.conf" 2>&1)
is "other ones" "$? $(get text oneline) $(get text help)" "0 Old Old words"
is "all else is changed" "$(get text key) $(get text state)" "thing->text=arg0@16:16t on"
like "and it is said" "$text" 'keeps its old oneline and help until kmmv.ko is loaded anew'
log >/dev/null
is "once" "$(ctl apply -v "$work/text.conf" 2>&1)" "leave text"
is "without a gap" "$(log)" ""
is "export has the new ones" "$(ctl export text | grep -c New)" 2
sed -i '/key/d; /New/d' "$work/text.conf"
says "another kind of metric" 'registered with other.*; the previous counter was restored$' \
	apply "$work/text.conf"
is "is refused" "$(get text key) $(get text state)" "thing->text=arg0@16:16t on"
ok "the end of it" ctl remove text
cat >"$work/bad.conf" <<'F'
[first]
tracepoint = qa/nothing
key = x

[fourth]
function = qa_other
F
text=$(ctl apply "$work/bad.conf" 2>&1)
is "one that is not there: the others are applied" $? 3
like "which is said" "$text" 'bad.conf:1: first: no tracepoint'
printf '[first]\ntracepoint = qa/qa_hit\nkey = thnig\n[absent]\nfunction = qa_inlined\n' \
	>"$work/worse.conf"
ctl apply "$work/worse.conf" 2>/dev/null
is "one that is wrong, too" $? 1
is "all the same" "$(get fourth state)" on
ok "added by hand" ctl add mine function=qa_call
is "no more than asked" "$(ctl apply -p -n)" "remove fourth
leave first
leave second
leave third"
is "prune" "$(ctl apply -p -v | grep remove)" "remove fourth"
printf '[fourth]\nfunction = qa_other\n' >"$work/fourth.conf"
ok "one of a file" ctl apply "$work/fourth.conf"
by_hand rmdir "$counters/fourth"
by_hand mkdir "$counters/fourth"
echo qa_call >"$counters/fourth/function"
is "prune leaves one that was made by hand instead" "$(ctl apply -p -v | grep remove)" ""
is "also disabled" "$(get fourth function) $(get fourth enable)" "qa_call 0"
is "until a file has it" "$(ctl apply -v "$work/fourth.conf" | xargs)" "change fourth"
is "and then has not" "$(ctl apply -p -v | grep remove)" "remove fourth"
is "leaves what was added by hand" "$(cd "$counters" && echo *)" \
	"first mine second third"
rm "$root/etc/kmmv/trace.conf"
log >/dev/null
for line in nonsense 'value thing->sign' "help = $(printf 'x%.0s' {1..200})"; do
	sed -i "\$a $line\nenable = no" "$root/etc/kmmv/trace.d/more.conf"
	says "a section with ${line::20}" 'more.conf:4: (neither a section|the line)' apply -p
	sed -i '4,$d' "$root/etc/kmmv/trace.d/more.conf"
done
is "half of it is not applied, and nothing is pruned" "$(log)" ""
echo nonsense >"$root/etc/kmmv/trace.conf"
says "a file that is wrong" 'trace.conf:1: neither a section' apply -p
is "keeps nobody from the others" "$(ctl apply -v 2>/dev/null)" "leave third"
rm "$root/etc/kmmv/trace.conf"
is "nothing is pruned then" "$(cd "$counters" && echo *)" "first mine second third"

# ---- check, export

ok "check" ctl check
is "check -v" "$(ctl check -v | xargs)" \
	"third: function: qa_other third: key: thing->sign=arg0@80:4s"
says "what is wrong" 'bad.conf:1: first' check "$work/bad.conf"
says "no such file" 'No such file' check "$work/nothing.conf"
ctl export >"$work/all.conf"
is "export" "$(cat "$work/all.conf")" "[first]
tracepoint = qa/qa_hit
key = thing->level

[mine]
function = qa_call

[second]
function = qa_call
help = Words that go on
value = count
enable = no

[third]
function = qa_other
key = thing->sign"
is "is what is there" "$(ctl apply -v "$work/all.conf" | grep -vc leave)" 0
# enabled: each counter that was in a file, with what enable has
enabled()
{
	for counter in first second third; do
		printf '%s ' "$(get $counter enable)"
	done
}
ok "disable" ctl disable first
ok "enable" ctl enable second
is "export says so" "$(ctl export first second)" "[first]
tracepoint = qa/qa_hit
key = thing->level
enable = no

[second]
function = qa_call
help = Words that go on
value = count"
is "as it is now" "$(enabled)" "0 1 1 "
ctl export >"$work/switched.conf"
for counter in first mine second third; do
	ctl remove $counter
done
ok "what was exported" ctl apply "$work/switched.conf"
is "is enabled or not as it was" "$(enabled)" "0 1 1 "
is "and the same again" "$(ctl export)" "$(cat "$work/switched.conf")"
printf '[spelt]\nfunction = qa_call\nenable = off\n[plain]\nfunction = qa_call\nenable = yes\n' \
	>"$work/spelt.conf"
ok "other words" ctl apply "$work/spelt.conf"
is "are left as they are" "$(ctl export spelt plain | grep enable | sort)" "enable = off
enable = yes"
ok "the end of both" ctl remove spelt plain
# What kmmvctl left disabled is not to be so after the next boot.
printf '[poor]\nfunction = qa_other\nkey = thing->level\n' >"$work/poor.conf"
ok "one more" ctl apply "$work/poor.conf"
echo stale >"$counters/poor/state"
: >"$root/full"
ctl apply "$work/poor.conf" 2>/dev/null
is "is left disabled" "$(get poor enable) $(left) $(ctl export poor | grep -c enable)" \
	"0 .off.poor 0"
ok "disable" ctl disable poor
is "also by the user" "$(ctl export poor | grep -c enable)" 1
ok "the end of it" ctl remove poor
ok "as they were" ctl apply "$work/all.conf"
echo 'number=arg1:8u' >"$counters/first/key"
like "what was changed by hand is a comment" "$(ctl export first)" \
	'^# key = number=arg1:8u'

# ---- the second life

rm -r "${counters:?}"/* "${root:?}/families"
is "a reboot without /run" "$(rm -r "$root/run/kmmvctl"
	ctl apply -v "$work/all.conf" | sort | uniq -c | awk '{ print $1, $2 }' |
	sort -u | xargs)" "1 make"
rm -r "${counters:?}"/*
is "the module anew" "$(ctl apply -v "$work/all.conf" | grep -c make)" 4
is "--if-running does nothing before the service" \
	"$(ctl apply -v --if-running)" ""
ok "the service" ctl apply
echo stale >"$counters/third/state"
is "and then what is to be done" "$(ctl apply -v --if-running)" "resolve third"
sed -i 's/thing->sign/thing->text/' "$root/etc/kmmv/trace.d/more.conf"
log >/dev/null
is "what counts is left" "$(ctl apply -v --if-running)" "leave third"
is "as it is" "$(log)" ""
echo stale >"$counters/third/state"
is "what does not is changed" "$(ctl apply -v --if-running)" "change third"
is "as the file has it" "$(get third key) $(get third state)" \
	"thing->text=arg0@16:16t on"
# A module is built anew, with a member elsewhere.
printf '[moved]\ntracepoint = qa/qa_hit\nkey = thing->level\n' >"$root/etc/kmmv/trace.d/moved.conf"
ok "a member" ctl apply
build/qa/bench/kmmvbtf "$root" moved
echo stale >"$counters/moved/state"
: >"$root/full"
says "which moved, and the module refuses it" \
	'moved: enable: no memory; the previous counter was restored, disabled, as it was not counting$' apply
is "is not counted where it was" "$(get moved key) $(get moved enable) $(get moved state)" \
	"thing->level=arg0@8:4s 0 off"
is "but where it is, later" "$(ctl apply -v --if-running | grep -v leave)" "change moved"
is "on" "$(get moved key) $(get moved state)" "thing->level=arg0@296:4s on"
is "and no mark is left" "$(left)" ""
# Each of these ends what was left disabled by kmmvctl: it is the user's then.
build/qa/bench/kmmvbtf "$root"
leave_moved()
{
	build/qa/bench/kmmvbtf "$root" $1
	echo stale >"$counters/moved/state"
	: >"$root/full"
	ctl apply >/dev/null 2>&1
	is "left disabled by kmmvctl" "$(get moved enable) $(left)" "0 .off.moved"
}
leave_moved
ok "disabled" ctl disable moved
is "by the user" "$(ctl apply -v --if-running | grep moved) $(left)" "leave moved "
ok "enabled" ctl enable moved
leave_moved moved
: >"$root/full"
is "it is tried again" "$(ctl apply -v --if-running | grep moved) $(get moved enable)" \
	"change moved 0"
is "and again" "$(ctl apply -v --if-running | grep moved) $(get moved enable)" \
	"change moved 1"
leave_moved
ok "enabled" ctl enable moved
is "it is not left any more" "$(left)" ""
leave_moved moved
ok "removed" ctl remove moved
is "nor then" "$(left)" ""
ok "made" ctl apply
leave_moved
echo 1 >"$counters/moved/enable"
is "what counts again" "$(ctl apply -v --if-running | grep moved)" "leave moved"
ok "what is enabled by hand" ctl enable moved
is "is not left either" "$(left)" ""
# The same offsets as before: it is disabled and enabled.
build/qa/bench/kmmvbtf "$root"
ok "as it is now" ctl apply
for command in "enable moved" apply; do
	echo stale >"$counters/moved/state"
	: >"$root/full"
	ctl $command >/dev/null 2>&1
	is "it is left disabled by $command" "$(get moved enable) $(left)" "0 .off.moved"
	is "and enabled later" "$(ctl apply -v --if-running | grep moved) $(
		get moved enable)$(left)" "enable moved 1"
done
leave_moved
echo 'thing->sign=arg0@80:4s' >"$counters/moved/key"
is "what was changed by hand since is the user's" \
	"$(ctl apply -v --if-running | grep moved) $(get moved enable)" "leave moved 0"
# The file says no, and the user has enabled it.
echo "enable = no" >>"$root/etc/kmmv/trace.d/moved.conf"
for offsets in "" moved; do
	build/qa/bench/kmmvbtf "$root"
	ok "as the file says" ctl apply
	ok "enabled" ctl enable moved
	build/qa/bench/kmmvbtf "$root" $offsets
	echo stale >"$counters/moved/state"
	: >"$root/full"
	is "the module refuses it, ${offsets:-where it was}" \
		"$(ctl apply -v --if-running | grep moved) $(get moved enable) $(left)" \
		"resolve moved 0 .off.moved"
	is "and not later" "$(ctl apply -v --if-running | grep moved) $(
		get moved enable)$(left)" "resolve moved 1"
done
rm "$root/etc/kmmv/trace.d/moved.conf"
ok "the end of it" ctl remove moved
# What the user switched is not switched back when a module is loaded.
printf '[foo]\nfunction = qa_call\n[bar]\nfunction = qa_other\nkey = thing->sign\nenable = no\n' \
	>"$root/etc/kmmv/trace.d/switch.conf"
ok "one that is enabled, and one that is not" ctl apply
ok "the other way round" ctl disable foo
ok "and" ctl enable bar
log >/dev/null
is "are left" "$(ctl apply -v --if-running)" "leave third
leave foo
leave bar"
is "as they are" "$(log)$(get foo enable)$(get bar enable)" 01
sed -i '/^enable/d' "$root/etc/kmmv/trace.d/switch.conf"
ok "disable" ctl disable bar
is "also if the file was edited" "$(ctl apply -v --if-running | grep -v leave)" ""
sed -i '$a enable = no' "$root/etc/kmmv/trace.d/switch.conf"
ok "enable" ctl enable bar
echo stale >"$counters/bar/state"
is "one that came back is resolved" "$(ctl apply -v --if-running | grep -v leave)" \
	"resolve bar"
is "and is on, as it was" "$(get bar enable) $(get bar state)" "1 on"
is "apply does as the file says" "$(ctl apply -v | grep -v third)" "enable foo
disable bar"
is "for both" "$(get foo enable)$(get bar enable)" 10
echo 0 >"$counters/foo/enable"
echo 1 >"$counters/bar/enable"
is "by hand, too" "$(ctl apply -v --if-running | grep -v leave)$(get foo enable)$(
	get bar enable)" 01
is "until apply" "$(ctl apply -v | grep -c able)$(get foo enable)$(get bar enable)" 210
rm "$root/etc/kmmv/trace.d/switch.conf"
ok "the end of both" ctl remove foo bar
sed -i 's/qa_other/qa_othr/' "$root/etc/kmmv/trace.d/more.conf"
is "without a word of what is not there" "$(ctl apply --if-running 2>&1; echo $?)" 0

rm "$root/sys/kernel/btf/vmlinux"
says "no types" 'CONFIG_DEBUG_INFO_BTF' add typed function=qa_call value=count
ok "hits need none" ctl add untyped function=qa_call

# ---- the examples

like "describe" "$(build/qa/bench/kmmvbtf "$root"; ctl describe qa/qa_hit)" \
	'thing->sign +enum sign +arg0@80:4s'
like "describe a path" "$(ctl describe qa_call 'thing->next->inside')" \
	'thing->next->inside.y +unsigned short +arg0@40@92:2u'
like "describe a module's" "$(ctl describe qa_mod_hit)" 'of module qa_mod'
text=$(ctl describe qa_wide_call)
like "describe what is in a register" "$text" '^f +unsigned long long +arg5:8u$'
like "and what is not" "$text" \
	'^g +unsigned long long +\(g is arg6: this machine passes 6 in registers, arg0 to arg5\)$'
is "nor what it points to" "$(grep -c 'thing->' <<<"$text")" 0
says "its path" 'thing is arg8: this machine passes 6' describe qa_wide_call 'thing->level'
like "describe a tracepoint's" "$(ctl describe qa/qa_wide)" '\(f is arg5: .* passes 5 '
printf '[wide]\nfunction = qa_wide_call\nvalue = g\n' >"$work/wide.conf"
says "check looks, too" 'wide: g is arg6: this machine passes 6' check "$work/wide.conf"
like "a machine that tells none" "$(MACHINE=i686 ctl describe qa_other)" \
	'^thing +struct thing \* +\(value, key and event are not for this machine: count hits alone\)$'
says "describe what is not there" 'no function qa_clal.*near: qa_call' describe qa_clal
is "the examples are ten sets" "$(grep -cE '^# [0-9]+\. ' lib/kmmvctl/trace.conf)" 10
if [ -r /sys/kernel/btf/vmlinux ]; then
	# sched_stat_wait is not in every kernel (CONFIG_SCHEDSTATS).
	text=$(build/kmmvctl check lib/kmmvctl/trace.conf 2>&1 | grep -v sched_stat_wait)
	if grep -q 'not for this machine' <<<"$text"; then
		skip "the running kernel has them" "machine: its arguments are not in registers"
	else
		is "the running kernel has them" "$text" ""
	fi
else
	skip "the running kernel has them" "machine: no BTF"
fi

# ---- no memory

# shellcheck source=qa/shipped/nomemory
. qa/shipped/nomemory
rm -f "$root"/etc/kmmv/trace.d/*
for counter in "$counters"/*; do
	ctl remove "${counter##*/}"
done
rm -f "$root"/run/kmmvctl/*
# shellcheck disable=SC2317 # called by each_fails
removed()
{
	[ ! -d "$counters/poor" ] || ctl remove poor || return
	[ -z "$(ls "$counters")$(ls "$root/run/kmmvctl")" ]
}
# done_to_poor ARGUMENT...: what there is of a counter afterwards
done_to_poor()
{
	local status

	ctl "$@"
	status=$?
	LD_PRELOAD='' cat "$counters"/poor/* 2>/dev/null
	return $status
}
poor=(poor tracepoint=qa/qa_hit 'value=log2 number' key='thing->next->level'
	'event=default thing->text, n=number' units=count help=Text)
each_fails "add" removed done_to_poor add "${poor[@]}"
ok "add" ctl add "${poor[@]}"
each_fails "list" true ctl list -v
each_fails "list -j" true ctl list -j
each_fails "export" true ctl export
ok "disable" ctl disable poor
each_fails "export of one that is disabled" true ctl export
# shellcheck disable=SC2317 # called by each_fails
disabled()
{
	ctl disable poor
}
each_fails "enable" disabled done_to_poor enable poor
ok "remove" ctl remove poor
cat >"$root/etc/kmmv/trace.d/poor.conf" <<'E2'
[poor]
tracepoint = qa/qa_hit
key = thing->next->level
value = log2 number
event = default thing->text, n=number
units = count
help = Text
[none]
function = qa_call
nothing = of the kind
E2
# shellcheck disable=SC2317 # called by each_fails
pruned()
{
	local status=0

	# A counter with a wrong attribute is never made.
	[ ! -e "$counters/none" ] || status=1
	removed || status=1
	return $status
}
each_fails "apply" pruned done_to_poor apply
rm "$root"/etc/kmmv/trace.d/*
each_fails "describe" true ctl describe qa/qa_hit
ctl list -j >/dev/full 2>"$work/err"
is "a disk that is full" "$? $(cat "$work/err")" \
	"1 kmmvctl: standard output: No space left on device"
finish
