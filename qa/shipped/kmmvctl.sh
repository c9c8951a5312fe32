#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kmmvctl: usage, counters that are added, listed, switched and removed, and what it
# describes.

cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/shipped/ctl
. qa/shipped/ctl

# ---- where there is nothing

says "no module" 'modprobe kmmv_trace' list
says "nor to add to" 'modprobe kmmv_trace' add one tracepoint=qa_hit
says "nor to remove from" 'modprobe kmmv_trace' remove one
printf '[one]\nfunction = qa_call\n' >"$work/one.conf"
says "nor to apply to" 'modprobe kmmv_trace' apply "$work/one.conf"
is "--version" "$(ctl --version)" "kmmvctl $(cat VERSION)"
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
echo qa_inlined >>"$root/sys/kernel/tracing/available_filter_functions"
says "one that the kernel refuses all the same" 'no such function$' \
	add two function=qa_inlined
sed -i '$d' "$root/sys/kernel/tracing/available_filter_functions"
says "a typo" 'struct thing \*thing' add two tracepoint=qa_hit key=thnig
says "a field of the event" 'shown is a field of the trace event' \
	add two tracepoint=qa_hit key=shown
says "what is no field of it either" 'no argument nothing[^;]*; it has: [^;]*$' \
	add two tracepoint=qa_hit key=nothing
says "another system" 'there is qa/qa_hit$' add two tracepoint=qq/qa_hit
cp -r "$root/sys/kernel/tracing/events/qa" "$root/sys/kernel/tracing/events/qb"
says "two other systems" 'there is qa/qa_hit and qb/qa_hit$' add two tracepoint=qq/qa_hit
rm -r "$root/sys/kernel/tracing/events/qb"
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
echo 'Words of the module' >"$counters/far/error"
like "list has what the module says" "$(ctl list far)" '^.error +Words of the module$'
: >"$counters/far/error"
# A module of another version.
mv "$counters/far/help" "$work/help"
says "an attribute that is missing" 'far/help: No such file' list
says "also in JSON" 'far/help: No such file' list -j
says "and when it is enabled" 'far/help: No such file' enable far
mv "$work/help" "$counters/far/help"
# It goes meanwhile.
mv "$counters/far" "$work/far"
mkdir "$counters/far"
is "one that is being removed is not listed" \
	"$(ctl list | awk '{ print $1 }') $? $(ctl list -j | grep -c '"name"')" "io.read 0 1"
is "nor exported" "$(ctl export | grep -c '^\[')" 1
rmdir "$counters/far"
mv "$work/far" "$counters/far"
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
ok "disable" ctl disable far
: >"$root/busy"
says "one that cannot be removed" 'io.read: Device or resource busy' remove io.read
says "nor another" 'far: Device or resource busy' remove far
is "is as it was" "$(get io.read state) $(get far state)" "on off"
rm "$root/busy"
: >"$root/dead"
says "where ftrace has failed" 'io.read: enable: ftrace has failed' remove io.read
is "it stays" "$(get io.read state)" on
says "one that counts until the next boot" 'the removed counter removed continues to count' \
	add removed function=qa_call
says "one that is refused then" 'not units.*it stays, and may count, until the next boot' \
	add two function=qa_call value=count units=apples
rm "$root/dead"
ok "remove" ctl remove two
ok "remove" ctl remove far
is "is gone" "$(ls "$counters")" io.read
ctl remove nobody io.read 2>/dev/null
is "others are removed after a failure" "$? $(ls "$counters")" "1 "

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
says "no path" "a name is missing where a value was expected" describe qa_call '.level'
says "more than a path" '"x" is not expected' describe qa_call 'thing->level x'
says "a path that leads nowhere" 'no member levle; near: level' describe qa_call 'thing->levle'
like "arguments without names" "$(ctl describe qa_old)" '^arg1 +unsigned long long +arg1:8u$'
says "its path" 'thing is arg8: this machine passes 6' describe qa_wide_call 'thing->level'
like "describe a tracepoint's" "$(ctl describe qa/qa_wide)" '\(f is arg5: .* passes 5 '
printf '[wide]\nfunction = qa_wide_call\nvalue = g\n' >"$work/wide.conf"
printf '[a]\nfunction = x\nvalu = y\n' >"$work/a.conf"
says "check says what is wrong with a section" 'a.conf:3: .*near: value' check "$work/a.conf"
says "check looks, too" 'wide: g is arg6: this machine passes 6' check "$work/wide.conf"
like "a machine that tells none" "$(MACHINE=i686 ctl describe qa_other)" \
	'^thing +struct thing \* +\(value, key and event are not supported on this machine: count hits alone\)$'
says "describe what is not there" 'no function qa_clal.*near: qa_call' describe qa_clal
is "the examples are ten sets" "$(grep -cE '^# [0-9]+\. ' lib/kmmvctl/trace.conf)" 10
if [ -r /sys/kernel/btf/vmlinux ]; then
	# sched_stat_wait is not in every kernel (CONFIG_SCHEDSTATS).
	text=$(build/kmmvctl check lib/kmmvctl/trace.conf 2>&1 | grep -v sched_stat_wait)
	if grep -q 'not supported on this machine' <<<"$text"; then
		skip "the running kernel has them" "machine: its arguments are not in registers"
	else
		is "the running kernel has them" "$text" ""
	fi
else
	skip "the running kernel has them" "machine: no BTF"
fi
finish
