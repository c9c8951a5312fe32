#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kmmvctl when its module or another one was loaded again, and after a reboot: what
# `apply --if-running` changes, and what it leaves as the user has it.

cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/shipped/ctl
. qa/shipped/ctl

mkdir -p "$counters"
cat >"$root/etc/kmmv/trace.d/more.conf" <<'F'
[third]
function = qa_other
key = thing->sign
F
cat >"$work/all.conf" <<'F'
[first]
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
key = thing->sign
F
ctl apply "$work/all.conf" || bail "they are not made"

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
finish
