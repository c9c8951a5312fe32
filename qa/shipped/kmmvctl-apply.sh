#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kmmvctl with files: apply, check, export.

cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/shipped/ctl
. qa/shipped/ctl

mkdir -p "$counters"

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
ctl apply -v >&- 2>"$work/err"
is "an output that is closed" "$? $(cat "$work/err" "$root/run/kmmvctl/.lock")" \
	"1 kmmvctl: standard output: Bad file descriptor"
ctl remove nosuch 2>&-
is "a message without standard error is nowhere" \
	"$? $(cat "$root/run/kmmvctl/.lock")" "1 "
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
max_keys = 005
key = thing->sign
F
: >"$root/etc/kmmv/trace.d/no.conf.old"
is "trace.d" "$(ctl apply -v)" "leave first
leave second
make third"
is "a number with zeros in front is that number" \
	"$(get third max_keys) $(ctl apply -v | tail -n 1)" "5 leave third"
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
echo nonsense >"$root/etc/kmmv/trace.d/a.conf"
ln -s nothing "$root/etc/kmmv/trace.d/b.conf"
says "the first of two that are wrong" 'a.conf:1: neither a section' apply -p
is "keeps nobody from the others either" "$(ctl apply -v 2>/dev/null)" "leave third"
is "nor are any pruned then" "$(cd "$counters" && echo *)" "first mine second third"
rm "$root/etc/kmmv/trace.d/a.conf"
says "one that leads nowhere" 'b.conf: No such file' apply
rm "$root/etc/kmmv/trace.d/b.conf"
ln -s nothing "$root/etc/kmmv/trace.conf"
says "the file itself leads nowhere" 'trace.conf: No such file' apply -p
says "as check says, too" 'trace.conf: No such file' check
rm "$root/etc/kmmv/trace.conf"
mv "$root/etc/kmmv/trace.d" "$work/trace.d"
ln -s nothing "$root/etc/kmmv/trace.d"
says "the folder leads nowhere" 'trace.d: No such file' apply -p
rm "$root/etc/kmmv/trace.d"
mv "$root/etc/kmmv" "$work/etc"
ln -s nothing "$root/etc/kmmv"
says "the folder of both leads nowhere" '/etc/kmmv: No such file' apply -p
rm "$root/etc/kmmv"
mv "$work/etc" "$root/etc/kmmv"
is "nothing is pruned then either" "$(cd "$counters" && echo *)" "first mine second third"
: >"$root/etc/kmmv/trace.d"
says "no folder" 'trace.d: Not a directory' apply -p
rm "$root/etc/kmmv/trace.d"
mv "$work/trace.d" "$root/etc/kmmv/trace.d"

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
mv "$root/sys/kernel/btf" "$work/btf"
is "export needs no types: their module may be gone" "$(ctl export)" "$(cat "$work/all.conf")"
mv "$work/btf" "$root/sys/kernel/btf"
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

# ---- files of kmmvctl's own that are not what it wrote

ok "one more" ctl apply "$work/poor.conf"
cp "$root/run/kmmvctl/poor" "$work/poor"
# is_raw NAME: without the user's words
is_raw()
{
	is "$1: no names are exported" "$(ctl export poor | sed -n 2p)" "# [poor]"
}
for lines in 0 1 2; do
	head -n $lines "$work/poor" >"$root/run/kmmvctl/poor"
	is_raw "$lines lines"
	ok "$lines lines: disable" ctl disable poor
	ok "$lines lines: enable" ctl enable poor
	is "$lines lines: is as it was" "$(get poor key) $(get poor enable)" \
		"thing->level=arg0@8:4s 1"
done
is "one line: it is not pruned" "$(head -n 1 "$work/poor" >"$root/run/kmmvctl/poor"
	ctl apply -p -n | grep poor)" ""
ok "disable" ctl disable poor
sed 's/^key.*/nonsense/' "$work/poor" >"$root/run/kmmvctl/poor"
is_raw "nonsense"
says "nonsense" 'kmmvctl/poor:5: neither a section' enable poor
sed 's/^\[.*/nonsense/' "$work/poor" >"$root/run/kmmvctl/poor"
is_raw "no section"
says "no section" 'kmmvctl/poor:3: neither a section' enable poor
rm "$root/run/kmmvctl/poor"
mkdir "$root/run/kmmvctl/poor"
for command in "enable poor" "export poor" "apply -p -n"; do
	# shellcheck disable=SC2086 # words
	says "a folder: $command" 'kmmvctl/poor: Is a directory' $command
done
rmdir "$root/run/kmmvctl/poor"
ln -s poor "$root/run/kmmvctl/poor"
says "a circle" 'kmmvctl/poor: Too many levels' enable poor
cp --remove-destination "$work/poor" "$root/run/kmmvctl/poor"
ok "as it was: enable" ctl enable poor
is "as it was: export" "$(ctl export poor)" "$(sed 1,2d "$work/poor")"
ok "the end of it" ctl remove poor
for file in .new poor; do
	mkdir "$root/run/kmmvctl/$file"
	text=$(ctl apply "$work/poor.conf" 2>&1)
	is "one that cannot be saved is made, and it is said" \
		"$? $(get poor state) ${text//$root/}" \
		"0 on kmmvctl: /run/kmmvctl/$file: Is a directory"
	rmdir "$root/run/kmmvctl/$file"
	is_raw "$file"
	ok "$file: the end of it" ctl remove poor
done
rm "$root/run/kmmvctl/.lock"
mkdir "$root/run/kmmvctl/.lock"
says "no lock" '/.lock: Is a directory' add poor function=qa_call
says "no lock, either" '/.lock: Is a directory' apply "$work/poor.conf"
rmdir "$root/run/kmmvctl/.lock"
mv "$root/run" "$work/run"
says "no folder for them" '/run/kmmvctl: No such file' remove first
mv "$work/run" "$root/run"
is "nothing is changed without" "$(cd "$counters" && echo *)" "first mine second third"
mv "$root/run/kmmvctl/.system" "$work/system"
mkdir "$root/run/kmmvctl/.system"
says "no mark" '/.system: Is a directory' apply
rmdir "$root/run/kmmvctl/.system"
mv "$work/system" "$root/run/kmmvctl/.system"

ok "as they were" ctl apply "$work/all.conf"
echo 'number=arg1:8u' >"$counters/first/key"
like "what was changed by hand is a comment" "$(ctl export first)" \
	'^# key = number=arg1:8u'

# ---- a tracepoint that no module has, or whose name is wrong

printf '[far]\ntracepoint = qa/absent\n' >"$work/far.conf"
waits="kmmvctl: far waits: no module that is loaded has qa/absent"
text=$(ctl apply "$work/far.conf" 2>&1)
is "one that waits is said" "$? $text" "0 $waits"
is "also if it did before" "$(ctl apply "$work/far.conf" 2>&1)" "$waits"
sed -i '1a enable = no' "$work/far.conf"
is "not if it is off" "$(ctl apply "$work/far.conf" 2>&1)" ""

# ---- when the service starts

# begins: whether its conditions hold, with $work/unit for /etc/kmmv
begins()
{
	local conditions

	mapfile -t conditions < <(sed -n "s|/etc/kmmv|$work/unit|; /^Condition/p" \
		lib/kmmvctl/kmmv-trace.service.in)
	systemd-analyze condition "${conditions[@]}" >/dev/null 2>&1
}

if command -v systemd-analyze >/dev/null; then
	not_ok "the service does not start without a folder" begins
	mkdir -p "$work/unit/trace.d"
	not_ok "the service does not start without a file" begins
	: >"$work/unit/trace.conf"
	ok "the service starts with a file" begins
	rm "$work/unit/trace.conf"
	: >"$work/unit/trace.d/a.conf"
	ok "the service starts with a file in the folder" begins
	rm "$work/unit/trace.d/a.conf"
	for name in /trace.conf /trace.d ''; do
		rm -rf "$work/unit$name"
		ln -s nothing "$work/unit$name"
		ok "the service starts if ${name:-the folder} leads nowhere" begins
		rm "$work/unit$name"
		mkdir -p "$work/unit"
	done
else
	skip "when the service starts" "machine: no systemd-analyze"
fi
finish
