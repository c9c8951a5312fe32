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

says "list fails without the module" 'modprobe kmmv_trace' list
says "add fails without the module" 'modprobe kmmv_trace' add one tracepoint=qa_hit
says "remove fails without the module" 'modprobe kmmv_trace' remove one
printf '[one]\nfunction = qa_call\n' >"$work/one.conf"
says "apply fails without the module" 'modprobe kmmv_trace' apply "$work/one.conf"
is "--version prints the version" "$(ctl --version)" "kmmvctl $(cat VERSION)"
mv "$root/sys/kernel/config" "$work/config"
says "list fails without configfs" 'mount -t configfs' list
mv "$work/config" "$root/sys/kernel/config"
ok "apply of nothing needs no module" ctl apply
mkdir -p "$counters"
is "list prints nothing without counters" "$(ctl list)" ""
is "list -j prints an empty list without counters" "$(ctl list -j)" "[]"
ctl frobnicate >/dev/null 2>&1
is "an unknown command has status 2" $? 2
ctl add >/dev/null 2>&1
is "a command without arguments has status 2" $? 2
ctl --frobnicate list >/dev/null 2>&1
is "an unknown option has status 2" $? 2
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
	is "the options of $command are those that it takes" \
		"$(fold -w 1 <<<"$taken" | sort | xargs)" \
		"$(fold -w 1 <<<"$takes" | sort | xargs)"
done
text=$(ctl -n -v remove nobody 2>&1)
is "an option of another command is refused" \
	"$? $text" "2 kmmvctl: remove has no option -n (--dry-run)
usage: kmmvctl [-r DIR] remove NAME..."
text=$(ctl apply --json 2>&1)
is "an option of another command is refused after the command" \
	"$? $text" "2 kmmvctl: apply has no option -j (--json)
usage: kmmvctl [-r DIR] apply [-i] [-n] [-p] [-v] [FILE...]"
text=$(ctl add 2>&1)
is "too few arguments are answered with the usage" \
	"$? $text" "2 usage: kmmvctl [-r DIR] add [-n] NAME ATTRIBUTE=TEXT..."
is "--help has the options of list" \
	"$(ctl -h | head -n 1)" "usage: kmmvctl [-r DIR] list [-j] [-v] [NAME...]"

# ---- add

ok "add succeeds" ctl add io.read tracepoint=qa/qa_hit 'value=log2 number' \
	'key=thing->next->level' 'event=default thing->text, n=number' max_keys=7 \
	units=count 'oneline=What is read' 'help=Some words.'
is "add writes the value" "$(get io.read value)" "log2 number=arg1:8u"
is "add writes the key" "$(get io.read key)" "thing->next->level=arg0@40@8:4s"
is "add writes the event" "$(get io.read event)" "default text=arg0@16:16t n=arg1:8u"
is "add writes all other attributes" \
	"$(for a in tracepoint max_keys units oneline help enable state; do
	get io.read $a; done | xargs)" \
	"qa/qa_hit 7 count What is read Some words. 1 on"
is "add writes enable last" "$(log | tail -n 1)" "write io.read/enable 1"
says "add of a counter that is there fails" \
	'there is a counter io.read' add io.read function=qa_call
is "add leaves a counter that is there alone" "$(log)" ""
says "add of the module's own name fails" "module's own" add stat function=qa_call
says "add of a bad name fails" 'a name has letters' add ../x function=qa_call
says "add of what the module refuses fails" 'units: not units' add two function=qa_call \
	value=count units=apples
says "add of units of hits fails" \
	'units are those of a value' add two function=qa_call units=byte
says "add of units of a histogram fails" \
	'units are those of a value' add two function=qa_call \
	'value=log2 count' units=byte
is "add leaves no counter behind that is refused" "$(ls "$counters")" io.read
says "add of a comment fails" \
	"';' after a blank begins a comment" add two function=qa_call \
	'help=Calls ; and more'
says "add of a word that no file can have fails" \
	'put a blank into it' add two function=qa_call \
	"help=See https://$(printf 'x%.0s' {1..200})"
fields=$(printf ',f%d=thing->next->next->level' {1..15})
ok "add takes an event without blanks" ctl add two tracepoint=qa/qa_hit \
	"event=default f0=thing->next->next->level$fields"
ok "disable succeeds with an event without blanks" ctl disable two
ok "enable reads an event without blanks that was saved" ctl enable two
is "export reads an event without blanks that was saved" \
	"$(ctl export two | sed -n '2,3{s/->.*//; p}')" "tracepoint = qa/qa_hit
event = default f0=thing"
ok "remove succeeds with an event without blanks" ctl remove two
says "add of what cannot be enabled fails" 'more functions than' add two 'function=qa_*'
is "add leaves no counter behind that cannot be enabled" "$(ls "$counters")" io.read
says "add of a function that is inlined fails" 'no such function; it is not among' \
	add two function=qa_inlined
echo qa_inlined >>"$root/sys/kernel/tracing/available_filter_functions"
says "add of a function that the kernel refuses fails" 'no such function$' \
	add two function=qa_inlined
sed -i '$d' "$root/sys/kernel/tracing/available_filter_functions"
says "add of a typo fails" 'struct thing \*thing' add two tracepoint=qa_hit key=thnig
says "add of a field of the trace event fails" 'shown is a field of the trace event' \
	add two tracepoint=qa_hit key=shown
says "add of what is neither an argument nor a field fails" \
	'no argument nothing[^;]*; it has: [^;]*$' \
	add two tracepoint=qa_hit key=nothing
says "add of a tracepoint of another system fails" \
	'there is qa/qa_hit$' add two tracepoint=qq/qa_hit
cp -r "$root/sys/kernel/tracing/events/qa" "$root/sys/kernel/tracing/events/qb"
says "add of a tracepoint of two other systems fails" \
	'there is qa/qa_hit and qb/qa_hit$' add two tracepoint=qq/qa_hit
rm -r "$root/sys/kernel/tracing/events/qb"
says "add of a wrong attribute fails" \
	'no attribute keey; near: key' add two function=qa_call keey=x
says "add of an attribute without a text fails" 'not ATTRIBUTE=TEXT' add two function
log >/dev/null
is "add -n says what would be added" "$(ctl add -n two function=qa_call value=count)" \
	"two: function: qa_call
two: value: count=arg1:8u"
is "add -n changes nothing" "$(log)" ""
text=$(ctl add far tracepoint=qa/absent 2>&1)
is "add of a tracepoint of no module waits" "$? $(get far state)" "0 waiting"
like "add says that a counter waits" "$text" 'far waits: no module'

# ---- list, enable, disable, remove

is "list shows names, states, hits and hooks" \
	"$(ctl list | awk '{ print $1, $2, $3, $4 }')" \
	"far waiting 0 qa/absent
io.read on 0 qa/qa_hit"
like "list -v shows the value" "$(ctl list -v io.read)" 'value +log2 number=arg1:8u'
is "list of one counter shows one line" "$(ctl list far | wc -l)" 1
says "list of an unknown counter fails" 'no counter nobody' list nobody
echo 'Words of the module' >"$counters/far/error"
like "list shows what the module says" "$(ctl list far)" '^.error +Words of the module$'
: >"$counters/far/error"
# A module of another version.
mv "$counters/far/help" "$work/help"
says "list fails if an attribute is missing" 'far/help: No such file' list
says "list -j fails if an attribute is missing" 'far/help: No such file' list -j
says "enable fails if an attribute is missing" 'far/help: No such file' enable far
mv "$work/help" "$counters/far/help"
# It goes meanwhile.
mv "$counters/far" "$work/far"
mkdir "$counters/far"
is "list leaves out a counter that is being removed" \
	"$(ctl list | awk '{ print $1 }') $? $(ctl list -j | grep -c '"name"')" "io.read 0 1"
is "export leaves out a counter that is being removed" "$(ctl export | grep -c '^\[')" 1
rmdir "$counters/far"
mv "$work/far" "$counters/far"
is "list -j shows all counters" "$(ctl list -j | python3 -c '
import json, sys
for c in json.load(sys.stdin):
    print(c["name"], c["state"], c["hits"], c["max_keys"], c.get("key", "-"))')" \
	"far waiting 0 64 -
io.read on 0 7 thing->next->level=arg0@40@8:4s"
ok "disable of two counters succeeds" ctl disable far io.read
is "both disabled counters are off" "$(get far state) $(get io.read state)" "off off"
ok "enable of one of them succeeds" ctl enable io.read
is "the enabled counter is on" "$(get io.read state)" on
says "disable of an unknown counter fails" 'no counter nobody' disable nobody
says "remove of what is elsewhere fails" 'no counter \.\./trace' remove ../trace
ok "disable succeeds before the offsets change" ctl disable io.read
# A module that was replaced meanwhile has it elsewhere.
build/qa/bench/kmmvbtf "$root" moved
ok "enable succeeds with other offsets" ctl enable io.read
is "enable writes today's offsets" "$(get io.read key) $(get io.read state)" \
	"thing->next->level=arg0@40@296:4s on"
build/qa/bench/kmmvbtf "$root"
echo stale >"$counters/io.read/state"
ok "enable of a stale counter succeeds" ctl enable io.read
is "enable writes today's offsets of a stale counter" \
	"$(get io.read key) $(get io.read state)" \
	"thing->next->level=arg0@40@8:4s on"
ok "disable succeeds before the file is edited" ctl disable io.read
cp "$root/run/kmmvctl/io.read" "$work/io.read"
sed -i '/^# as /d' "$root/run/kmmvctl/io.read"
build/qa/bench/kmmvbtf "$root" moved
ok "enable succeeds if the file does not say of what it is" ctl enable io.read
is "enable leaves a key of which the file does not say more" \
	"$(get io.read key) $(get io.read state)" \
	"thing->next->level=arg0@40@8:4s on"
like "export has no names if the file does not say of what it is" \
	"$(ctl export io.read)" \
	'^# key = thing->next->level=arg0@40@8:4s'
build/qa/bench/kmmvbtf "$root"
cp "$work/io.read" "$root/run/kmmvctl/io.read"
ok "disable succeeds with the file of before" ctl disable io.read
ok "enable succeeds with the file of before" ctl enable io.read
log >/dev/null
ok "enable of a counter that is on succeeds" ctl enable io.read
is "enable leaves a counter that is on alone" "$(log)" ""
echo stale >"$counters/io.read/state"
ok "enable of a stale counter whose offsets hold succeeds" ctl enable io.read
is "a stale counter whose offsets hold is on" "$(get io.read state)" on
is "enable makes no other directory where the offsets hold" "$(log | grep -v write)" ""
ok "disable succeeds before a change by hand" ctl disable io.read
echo 'n=arg1:8u' >"$counters/io.read/key"
ok "enable of a counter that was changed by hand succeeds" ctl enable io.read
is "enable leaves a key that was changed by hand" \
	"$(get io.read key) $(get io.read state)" "n=arg1:8u on"
like "export has no names of a key that was changed by hand" \
	"$(ctl export io.read)" '^# key = n=arg1:8u'
by_hand mkdir "$counters/hand"
echo qa_hit >"$counters/hand/tracepoint"
printf '1\n' >"$counters/hand/enable"
echo stale >"$counters/hand/state"
says "enable of a stale counter that was made by hand fails" \
	'hand: enable: the module is back' enable hand
ok "remove of a counter that was made by hand succeeds" ctl remove hand
# What it was made of is still there.
ok "add of a counter that goes by hand succeeds" ctl add hand function=qa_call key=count
by_hand rmdir "$counters/hand"
by_hand mkdir "$counters/hand"
echo qa_call >"$counters/hand/function"
echo 'n=arg0:4u' >"$counters/hand/key"
log >/dev/null
ok "enable of another counter of the same name succeeds" ctl enable hand
is "enable leaves another counter of the same name as it is" \
	"$(log) $(get hand key)" "write hand/enable 1 n=arg0:4u"
ok "remove of another counter of the same name succeeds" ctl remove hand
ok "disable of a waiting counter succeeds" ctl disable far
: >"$root/busy"
says "remove of a busy counter that is on fails" \
	'io.read: Device or resource busy' remove io.read
says "remove of a busy counter that is off fails" \
	'far: Device or resource busy' remove far
is "remove leaves busy counters as they were" \
	"$(get io.read state) $(get far state)" "on off"
rm "$root/busy"
: >"$root/dead"
says "remove fails where ftrace has failed" \
	'io.read: enable: ftrace has failed' remove io.read
is "a counter stays on where ftrace has failed" "$(get io.read state)" on
says "add fails if its counter continues to count" \
	'the removed counter removed continues to count' \
	add removed function=qa_call
says "add fails if its counter is refused and stays" \
	'not units.*it stays, and may count, until the next boot' \
	add two function=qa_call value=count units=apples
rm "$root/dead"
ok "remove of a refused counter that stayed succeeds" ctl remove two
ok "remove of a counter that is off succeeds" ctl remove far
is "remove removes counters" "$(ls "$counters")" io.read
ctl remove nobody io.read 2>/dev/null
is "remove goes on to others after a failure" "$? $(ls "$counters")" "1 "

rm "$root/sys/kernel/btf/vmlinux"
says "add of a value fails without types" \
	'CONFIG_DEBUG_INFO_BTF' add typed function=qa_call value=count
ok "add of hits needs no types" ctl add untyped function=qa_call

# ---- the examples

like "describe shows an enumeration" \
	"$(build/qa/bench/kmmvbtf "$root"; ctl describe qa/qa_hit)" \
	'thing->sign +enum sign +arg0@80:4s'
like "describe shows what a path leads to" \
	"$(ctl describe qa_call 'thing->next->inside')" \
	'thing->next->inside.y +unsigned short +arg0@40@92:2u'
like "describe shows of which module a tracepoint is" \
	"$(ctl describe qa_mod_hit)" 'of module qa_mod'
text=$(ctl describe qa_wide_call)
like "describe shows what is in a register" "$text" '^f +unsigned long long +arg5:8u$'
like "describe shows what is not in a register" "$text" \
	'^g +unsigned long long +\(g is arg6: this machine passes 6 in registers, arg0 to arg5\)$'
is "describe does not follow what is not in a register" \
	"$(grep -c 'thing->' <<<"$text")" 0
says "describe of no path fails" \
	"a name is missing where a value was expected" describe qa_call '.level'
says "describe of more than a path fails" \
	'"x" is not expected' describe qa_call 'thing->level x'
says "describe of a path that leads nowhere fails" \
	'no member levle; near: level' describe qa_call 'thing->levle'
like "describe shows arguments without names" \
	"$(ctl describe qa_old)" '^arg1 +unsigned long long +arg1:8u$'
says "describe of a path from no register fails" \
	'thing is arg8: this machine passes 6' describe qa_wide_call 'thing->level'
like "describe shows what a tracepoint does not pass" \
	"$(ctl describe qa/qa_wide)" '\(f is arg5: .* passes 5 '
printf '[wide]\nfunction = qa_wide_call\nvalue = g\n' >"$work/wide.conf"
printf '[a]\nfunction = x\nvalu = y\n' >"$work/a.conf"
says "check fails with what is wrong in a section" \
	'a.conf:3: .*near: value' check "$work/a.conf"
says "check fails with a value that is not in a register" \
	'wide: g is arg6: this machine passes 6' check "$work/wide.conf"
like "describe says that a machine supports hits alone" \
	"$(MACHINE=i686 ctl describe qa_other)" \
	'^thing +struct thing \* +\(value, key and event are not supported on this machine: count hits alone\)$'
says "describe of an unknown function fails" \
	'no function qa_clal.*near: qa_call' describe qa_clal
is "the examples are ten sets" "$(grep -cE '^# [0-9]+\. ' lib/kmmvctl/trace.conf)" 10
if [ -r /sys/kernel/btf/vmlinux ]; then
	# sched_stat_wait is not in every kernel (CONFIG_SCHEDSTATS).
	text=$(build/kmmvctl check lib/kmmvctl/trace.conf 2>&1 | grep -v sched_stat_wait)
	if grep -q 'not supported on this machine' <<<"$text"; then
		skip "the running kernel has what the examples count" \
			"machine: its arguments are not in registers"
	else
		is "the running kernel has what the examples count" "$text" ""
	fi
else
	skip "the running kernel has what the examples count" "machine: no BTF"
fi
finish
