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
is "apply makes all counters after a reboot without /run" "$(rm -r "$root/run/kmmvctl"
	ctl apply -v "$work/all.conf" | sort | uniq -c | awk '{ print $1, $2 }' |
	sort -u | xargs)" "1 make"
rm -r "${counters:?}"/*
is "apply makes all counters when the module is loaded anew" \
	"$(ctl apply -v "$work/all.conf" | grep -c make)" 4
is "apply --if-running does nothing before the service" \
	"$(ctl apply -v --if-running)" ""
ok "apply succeeds as the service" ctl apply
echo stale >"$counters/third/state"
is "apply --if-running resolves a counter after the service" \
	"$(ctl apply -v --if-running)" "resolve third"
sed -i 's/thing->sign/thing->text/' "$root/etc/kmmv/trace.d/more.conf"
log >/dev/null
is "apply --if-running leaves what counts" "$(ctl apply -v --if-running)" "leave third"
is "apply --if-running changes nothing of what counts" "$(log)" ""
echo stale >"$counters/third/state"
is "apply --if-running changes what does not count" \
	"$(ctl apply -v --if-running)" "change third"
is "apply --if-running writes what the file has" "$(get third key) $(get third state)" \
	"thing->text=arg0@16:16t on"
# A module is built anew, with a member elsewhere.
printf '[moved]\ntracepoint = qa/qa_hit\nkey = thing->level\n' >"$root/etc/kmmv/trace.d/moved.conf"
ok "apply makes a counter of a member" ctl apply
build/qa/bench/kmmvbtf "$root" moved
echo stale >"$counters/moved/state"
: >"$root/full"
says "apply fails if the module refuses a member that moved" \
	'moved: enable: no memory; the previous counter was restored, disabled, as it was not counting$' apply
is "a member that moved is not counted where it was" \
	"$(get moved key) $(get moved enable) $(get moved state)" \
	"thing->level=arg0@8:4s 0 off"
is "apply --if-running changes a member that moved" \
	"$(ctl apply -v --if-running | grep -v leave)" "change moved"
is "a member that moved is counted where it is" \
	"$(get moved key) $(get moved state)" "thing->level=arg0@296:4s on"
is "no mark is left of a member that is counted" "$(left)" ""
# Each of these ends what was left disabled by kmmvctl: it is the user's then.
build/qa/bench/kmmvbtf "$root"
leave_moved()
{
	build/qa/bench/kmmvbtf "$root" $1
	echo stale >"$counters/moved/state"
	: >"$root/full"
	ctl apply >/dev/null 2>&1
	is "apply leaves a counter disabled that is refused" \
		"$(get moved enable) $(left)" "0 .off.moved"
}
leave_moved
ok "disable of a counter that was left disabled succeeds" ctl disable moved
is "apply --if-running leaves what the user disabled" \
	"$(ctl apply -v --if-running | grep moved) $(left)" "leave moved "
ok "enable of what the user disabled succeeds" ctl enable moved
leave_moved moved
: >"$root/full"
is "apply --if-running tries a counter again" \
	"$(ctl apply -v --if-running | grep moved) $(get moved enable)" \
	"change moved 0"
is "apply --if-running tries a counter until it is enabled" \
	"$(ctl apply -v --if-running | grep moved) $(get moved enable)" \
	"change moved 1"
leave_moved
ok "enable of a counter that was left disabled succeeds" ctl enable moved
is "no mark is left of what the user enabled" "$(left)" ""
leave_moved moved
ok "remove of a counter that was left disabled succeeds" ctl remove moved
is "no mark is left of what was removed" "$(left)" ""
ok "apply makes what was removed" ctl apply
leave_moved
echo 1 >"$counters/moved/enable"
is "apply --if-running leaves what counts by hand" \
	"$(ctl apply -v --if-running | grep moved)" "leave moved"
ok "enable of what counts by hand succeeds" ctl enable moved
is "no mark is left of what counts by hand" "$(left)" ""
# The same offsets as before: it is disabled and enabled.
build/qa/bench/kmmvbtf "$root"
ok "apply succeeds with the offsets of before" ctl apply
for command in "enable moved" apply; do
	echo stale >"$counters/moved/state"
	: >"$root/full"
	ctl $command >/dev/null 2>&1
	is "$command leaves a counter disabled that is refused" \
		"$(get moved enable) $(left)" "0 .off.moved"
	is "apply --if-running enables what $command left disabled" \
		"$(ctl apply -v --if-running | grep moved) $(
		get moved enable)$(left)" "enable moved 1"
done
leave_moved
echo 'thing->sign=arg0@80:4s' >"$counters/moved/key"
is "apply --if-running leaves what was changed by hand" \
	"$(ctl apply -v --if-running | grep moved) $(get moved enable)" "leave moved 0"
# The file says no, and the user has enabled it.
echo "enable = no" >>"$root/etc/kmmv/trace.d/moved.conf"
for offsets in "" moved; do
	build/qa/bench/kmmvbtf "$root"
	ok "apply succeeds with enable = no, then ${offsets:-where it was}" ctl apply
	ok "enable succeeds with enable = no, then ${offsets:-where it was}" \
		ctl enable moved
	build/qa/bench/kmmvbtf "$root" $offsets
	echo stale >"$counters/moved/state"
	: >"$root/full"
	is "a counter of the user's is refused, ${offsets:-where it was}" \
		"$(ctl apply -v --if-running | grep moved) $(get moved enable) $(left)" \
		"resolve moved 0 .off.moved"
	is "a counter of the user's is on later, ${offsets:-where it was}" \
		"$(ctl apply -v --if-running | grep moved) $(
		get moved enable)$(left)" "resolve moved 1"
done
rm "$root/etc/kmmv/trace.d/moved.conf"
ok "remove of a counter of the user's succeeds" ctl remove moved
# What the user switched is not switched back when a module is loaded.
printf '[foo]\nfunction = qa_call\n[bar]\nfunction = qa_other\nkey = thing->sign\nenable = no\n' \
	>"$root/etc/kmmv/trace.d/switch.conf"
ok "apply makes an enabled and a disabled counter" ctl apply
ok "disable of the enabled counter succeeds" ctl disable foo
ok "enable of the disabled counter succeeds" ctl enable bar
log >/dev/null
is "apply --if-running leaves what the user switched" \
	"$(ctl apply -v --if-running)" "leave third
leave foo
leave bar"
is "apply --if-running does not switch what the user switched" \
	"$(log)$(get foo enable)$(get bar enable)" 01
sed -i '/^enable/d' "$root/etc/kmmv/trace.d/switch.conf"
ok "disable succeeds after the file was edited" ctl disable bar
is "apply --if-running leaves what was switched after an edit" \
	"$(ctl apply -v --if-running | grep -v leave)" ""
sed -i '$a enable = no' "$root/etc/kmmv/trace.d/switch.conf"
ok "enable succeeds after the file was edited again" ctl enable bar
echo stale >"$counters/bar/state"
is "apply --if-running resolves a counter that came back" \
	"$(ctl apply -v --if-running | grep -v leave)" \
	"resolve bar"
is "a counter that came back is on, as the user has it" \
	"$(get bar enable) $(get bar state)" "1 on"
is "apply switches counters as the file says" \
	"$(ctl apply -v | grep -v third)" "enable foo
disable bar"
is "counters are enabled as the file says" "$(get foo enable)$(get bar enable)" 10
echo 0 >"$counters/foo/enable"
echo 1 >"$counters/bar/enable"
is "apply --if-running leaves what was switched by hand" \
	"$(ctl apply -v --if-running | grep -v leave)$(get foo enable)$(
	get bar enable)" 01
is "apply switches back what was switched by hand" \
	"$(ctl apply -v | grep -c able)$(get foo enable)$(get bar enable)" 210
rm "$root/etc/kmmv/trace.d/switch.conf"
ok "remove of both counters succeeds" ctl remove foo bar
sed -i 's/qa_other/qa_othr/' "$root/etc/kmmv/trace.d/more.conf"
is "apply --if-running says nothing of a missing function" \
	"$(ctl apply --if-running 2>&1; echo $?)" 0
finish
