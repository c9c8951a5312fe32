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
is "apply -n says what would be applied" "$(ctl apply -n)" "make first
make second"
is "apply -n changes nothing" "$(log)" ""
is "apply makes what the file has" "$(ctl apply -v)" "make first
make second"
is "apply writes attributes as they are in the file" \
	"$(get first key) $(get second value)" \
	"thing->text=arg0@16:16t count=arg1:8u"
is "apply enables counters as the file says" "$(get first enable)$(get second enable)" 10
log >/dev/null
ctl apply -v >&- 2>"$work/err"
is "apply fails if its output is closed" \
	"$? $(cat "$work/err" "$root/run/kmmvctl/.lock")" \
	"1 kmmvctl: standard output: Bad file descriptor"
ctl remove nosuch 2>&-
is "remove without standard error writes its message nowhere" \
	"$? $(cat "$root/run/kmmvctl/.lock")" "1 "
is "apply leaves what is as in the file" "$(ctl apply -v)" "leave first
leave second"
is "apply changes nothing of what is as in the file" "$(log)" ""
echo 0 >"$counters/first/enable"
is "apply enables a counter that was disabled" "$(ctl apply -v)" "enable first
leave second"
echo stale >"$counters/first/state"
is "apply resolves a counter whose module came back" "$(ctl apply -v)" "resolve first
leave second"
is "a counter whose module came back is on" "$(get first state)" on
sed -i 's/thing->text/thing->level/' "$root/etc/kmmv/trace.conf"
is "apply changes a counter whose section has changed" "$(ctl apply -v)" "change first
leave second"
is "apply writes the changed key" "$(get first key)" "thing->level=arg0@8:4s"
cat >"$root/etc/kmmv/trace.d/more.conf" <<'F'
[third]
function = qa_other
max_keys = 005
key = thing->sign
F
: >"$root/etc/kmmv/trace.d/no.conf.old"
is "apply makes what a file of trace.d has" "$(ctl apply -v)" "leave first
leave second
make third"
is "a number with zeros in front is that number" \
	"$(get third max_keys) $(ctl apply -v | tail -n 1)" "5 leave third"
sed -i '/max_keys/d' "$root/etc/kmmv/trace.d/more.conf"
is "apply returns to a default" "$(ctl apply -v | tail -n 1) $(get third max_keys)" \
	"change third 64"
sed -i 's/thing->sign/thing->sgin/' "$root/etc/kmmv/trace.d/more.conf"
says "apply fails with a section that is wrong" \
	'more.conf:1: third: .*no member sgin; near: sign' apply
is "apply leaves a counter whose section is wrong" \
	"$(get third key) $(get third enable)" \
	"thing->sign=arg0@80:4s 1"
sed -i 's/thing->sgin/thing->sign/; $a value = thing->sign\nunits = apples' \
	"$root/etc/kmmv/trace.d/more.conf"
says "apply fails with a section that the module refuses" \
	'not units.*; the previous counter was restored$' apply
is "apply restores a counter whose section was refused" \
	"$(get third key) $(get third enable) $(get third state)" \
	"thing->sign=arg0@80:4s 1 on"
sed -i '/units/d; s/^value = .*/value = thing->level/' "$root/etc/kmmv/trace.d/more.conf"
printf . >"$root/full"
says "apply fails without memory for the new or the old counter" \
	'no memory; the previous counter could not be restored: third: enable: no memory$' apply
sed -i '/^value/d' "$root/etc/kmmv/trace.d/more.conf"
is "apply makes a counter again that was lost" \
	"$(ctl apply -v | tail -n 1) $(get third state)" "make third on"
# The module keeps a metric's texts while kmmv.ko is loaded.
cat >"$work/text.conf" <<'F'
[text]
function = qa_other
oneline = Old
help = Old words
key = thing->sign
F
ok "apply makes a counter with texts" ctl apply "$work/text.conf"
sed -i 's/Old/New/; s/sign/text/' "$work/text.conf"
text=$(ctl apply -v "$work/text.conf" 2>&1)
is "apply leaves texts that have changed" \
	"$? $(get text oneline) $(get text help)" "0 Old Old words"
is "apply changes all but the texts" \
	"$(get text key) $(get text state)" "thing->text=arg0@16:16t on"
like "apply says that the texts stay" \
	"$text" 'keeps its old oneline and help until kmmv.ko is loaded anew'
log >/dev/null
is "apply says once that the texts stay" \
	"$(ctl apply -v "$work/text.conf" 2>&1)" "leave text"
is "apply changes nothing where the texts stay" "$(log)" ""
is "export has the changed texts" "$(ctl export text | grep -c New)" 2
sed -i '/key/d; /New/d' "$work/text.conf"
says "apply fails with another kind of metric" \
	'registered with other.*; the previous counter was restored$' \
	apply "$work/text.conf"
is "apply leaves a counter whose other kind is refused" \
	"$(get text key) $(get text state)" "thing->text=arg0@16:16t on"
ok "remove of a counter with texts succeeds" ctl remove text
cat >"$work/bad.conf" <<'F'
[first]
tracepoint = qa/nothing
key = x

[fourth]
function = qa_other
F
text=$(ctl apply "$work/bad.conf" 2>&1)
is "apply of a missing tracepoint has status 3" $? 3
like "apply says which tracepoint is missing" "$text" 'bad.conf:1: first: no tracepoint'
printf '[first]\ntracepoint = qa/qa_hit\nkey = thnig\n[absent]\nfunction = qa_inlined\n' \
	>"$work/worse.conf"
ctl apply "$work/worse.conf" 2>/dev/null
is "apply of a wrong key has status 1" $? 1
is "apply applies the others beside a missing tracepoint" "$(get fourth state)" on
ok "add of a counter that no file has succeeds" ctl add mine function=qa_call
is "apply -p -n would remove what was in a file alone" "$(ctl apply -p -n)" "remove fourth
leave first
leave second
leave third"
is "apply -p removes what was in a file" \
	"$(ctl apply -p -v | grep remove)" "remove fourth"
printf '[fourth]\nfunction = qa_other\n' >"$work/fourth.conf"
ok "apply makes a counter of another file" ctl apply "$work/fourth.conf"
by_hand rmdir "$counters/fourth"
by_hand mkdir "$counters/fourth"
echo qa_call >"$counters/fourth/function"
is "apply -p leaves a counter that was made by hand" "$(ctl apply -p -v | grep remove)" ""
is "a counter that was made by hand stays disabled" \
	"$(get fourth function) $(get fourth enable)" "qa_call 0"
is "apply changes a counter made by hand that a file has" \
	"$(ctl apply -v "$work/fourth.conf" | xargs)" "change fourth"
is "apply -p removes a counter that a file had at last" \
	"$(ctl apply -p -v | grep remove)" "remove fourth"
is "apply -p leaves what was added by hand" "$(cd "$counters" && echo *)" \
	"first mine second third"
rm "$root/etc/kmmv/trace.conf"
log >/dev/null
for line in nonsense 'value thing->sign' "help = $(printf 'x%.0s' {1..200})"; do
	sed -i "\$a $line\nenable = no" "$root/etc/kmmv/trace.d/more.conf"
	says "apply -p fails with the line ${line::20}" \
		'more.conf:4: (neither a section|the line)' apply -p
	sed -i '4,$d' "$root/etc/kmmv/trace.d/more.conf"
done
is "apply -p with a wrong line changes nothing" "$(log)" ""
echo nonsense >"$root/etc/kmmv/trace.conf"
says "apply -p fails with a file that is wrong" 'trace.conf:1: neither a section' apply -p
is "apply applies the files beside a wrong one" \
	"$(ctl apply -v 2>/dev/null)" "leave third"
rm "$root/etc/kmmv/trace.conf"
is "apply -p with a wrong file prunes nothing" \
	"$(cd "$counters" && echo *)" "first mine second third"
echo nonsense >"$root/etc/kmmv/trace.d/a.conf"
ln -s nothing "$root/etc/kmmv/trace.d/b.conf"
says "apply -p fails with the first of two wrong files" \
	'a.conf:1: neither a section' apply -p
is "apply applies the files beside two wrong ones" \
	"$(ctl apply -v 2>/dev/null)" "leave third"
is "apply -p with two wrong files prunes nothing" \
	"$(cd "$counters" && echo *)" "first mine second third"
rm "$root/etc/kmmv/trace.d/a.conf"
says "apply fails with a link that leads nowhere" 'b.conf: No such file' apply
rm "$root/etc/kmmv/trace.d/b.conf"
ln -s nothing "$root/etc/kmmv/trace.conf"
says "apply -p fails if trace.conf leads nowhere" 'trace.conf: No such file' apply -p
says "check fails if trace.conf leads nowhere" 'trace.conf: No such file' check
rm "$root/etc/kmmv/trace.conf"
mv "$root/etc/kmmv/trace.d" "$work/trace.d"
ln -s nothing "$root/etc/kmmv/trace.d"
says "apply -p fails if trace.d leads nowhere" 'trace.d: No such file' apply -p
rm "$root/etc/kmmv/trace.d"
mv "$root/etc/kmmv" "$work/etc"
ln -s nothing "$root/etc/kmmv"
says "apply -p fails if the folder of both leads nowhere" \
	'/etc/kmmv: No such file' apply -p
rm "$root/etc/kmmv"
mv "$work/etc" "$root/etc/kmmv"
is "apply -p with links that lead nowhere prunes nothing" \
	"$(cd "$counters" && echo *)" "first mine second third"
: >"$root/etc/kmmv/trace.d"
says "apply -p fails if trace.d is no folder" 'trace.d: Not a directory' apply -p
rm "$root/etc/kmmv/trace.d"
mv "$work/trace.d" "$root/etc/kmmv/trace.d"

# ---- check, export

ok "check succeeds" ctl check
is "check -v shows what would be written" "$(ctl check -v | xargs)" \
	"third: function: qa_other third: key: thing->sign=arg0@80:4s"
says "check fails with what is wrong" 'bad.conf:1: first' check "$work/bad.conf"
says "check of no such file fails" 'No such file' check "$work/nothing.conf"
ctl export >"$work/all.conf"
is "export prints what counters were made of" "$(cat "$work/all.conf")" "[first]
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
is "apply leaves all that was exported" \
	"$(ctl apply -v "$work/all.conf" | grep -vc leave)" 0
mv "$root/sys/kernel/btf" "$work/btf"
is "export needs no types" "$(ctl export)" "$(cat "$work/all.conf")"
mv "$work/btf" "$root/sys/kernel/btf"
# enabled: each counter that was in a file, with what enable has
enabled()
{
	for counter in first second third; do
		printf '%s ' "$(get $counter enable)"
	done
}
ok "disable of a counter that the file enables succeeds" ctl disable first
ok "enable of a counter that the file disables succeeds" ctl enable second
is "export says which counter is disabled" "$(ctl export first second)" "[first]
tracepoint = qa/qa_hit
key = thing->level
enable = no

[second]
function = qa_call
help = Words that go on
value = count"
is "counters are enabled as they were switched" "$(enabled)" "0 1 1 "
ctl export >"$work/switched.conf"
for counter in first mine second third; do
	ctl remove $counter
done
ok "apply of what was exported succeeds" ctl apply "$work/switched.conf"
is "apply enables counters as they were exported" "$(enabled)" "0 1 1 "
is "export prints the same after an apply" "$(ctl export)" "$(cat "$work/switched.conf")"
printf '[spelt]\nfunction = qa_call\nenable = off\n[plain]\nfunction = qa_call\nenable = yes\n' \
	>"$work/spelt.conf"
ok "apply takes other words of enable" ctl apply "$work/spelt.conf"
is "export leaves the words of enable" \
	"$(ctl export spelt plain | grep enable | sort)" "enable = off
enable = yes"
ok "remove of two counters succeeds" ctl remove spelt plain
# What kmmvctl left disabled is not to be so after the next boot.
printf '[poor]\nfunction = qa_other\nkey = thing->level\n' >"$work/poor.conf"
ok "apply of one more counter succeeds" ctl apply "$work/poor.conf"
echo stale >"$counters/poor/state"
: >"$root/full"
ctl apply "$work/poor.conf" 2>/dev/null
is "export leaves out that kmmvctl disabled a counter" \
	"$(get poor enable) $(left) $(ctl export poor | grep -c enable)" \
	"0 .off.poor 0"
ok "disable of a counter that kmmvctl disabled succeeds" ctl disable poor
is "export says that the user disabled a counter" "$(ctl export poor | grep -c enable)" 1
ok "remove of a counter that was disabled twice succeeds" ctl remove poor

# ---- files of kmmvctl's own that are not what it wrote

ok "apply makes a counter whose file is to be damaged" ctl apply "$work/poor.conf"
cp "$root/run/kmmvctl/poor" "$work/poor"
# is_raw NAME: without the user's words
is_raw()
{
	is "$1: export has no names" "$(ctl export poor | sed -n 2p)" "# [poor]"
}
for lines in 0 1 2; do
	head -n $lines "$work/poor" >"$root/run/kmmvctl/poor"
	is_raw "$lines lines"
	ok "$lines lines: disable succeeds" ctl disable poor
	ok "$lines lines: enable succeeds" ctl enable poor
	is "$lines lines: the counter is as it was" "$(get poor key) $(get poor enable)" \
		"thing->level=arg0@8:4s 1"
done
is "one line: apply -p does not remove the counter" \
	"$(head -n 1 "$work/poor" >"$root/run/kmmvctl/poor"
	ctl apply -p -n | grep poor)" ""
ok "disable succeeds before the file has nonsense" ctl disable poor
sed 's/^key.*/nonsense/' "$work/poor" >"$root/run/kmmvctl/poor"
is_raw "nonsense"
says "nonsense: enable fails" 'kmmvctl/poor:5: neither a section' enable poor
sed 's/^\[.*/nonsense/' "$work/poor" >"$root/run/kmmvctl/poor"
is_raw "no section"
says "no section: enable fails" 'kmmvctl/poor:3: neither a section' enable poor
rm "$root/run/kmmvctl/poor"
mkdir "$root/run/kmmvctl/poor"
for command in "enable poor" "export poor" "apply -p -n"; do
	# shellcheck disable=SC2086 # words
	says "a folder: $command fails" 'kmmvctl/poor: Is a directory' $command
done
rmdir "$root/run/kmmvctl/poor"
ln -s poor "$root/run/kmmvctl/poor"
says "a circle: enable fails" 'kmmvctl/poor: Too many levels' enable poor
cp --remove-destination "$work/poor" "$root/run/kmmvctl/poor"
ok "a file as it was: enable succeeds" ctl enable poor
is "a file as it was: export prints it" "$(ctl export poor)" "$(sed 1,2d "$work/poor")"
ok "a file as it was: remove succeeds" ctl remove poor
for file in .new poor; do
	mkdir "$root/run/kmmvctl/$file"
	text=$(ctl apply "$work/poor.conf" 2>&1)
	is "$file: a counter that cannot be saved is made, with a message" \
		"$? $(get poor state) ${text//$root/}" \
		"0 on kmmvctl: /run/kmmvctl/$file: Is a directory"
	rmdir "$root/run/kmmvctl/$file"
	is_raw "$file"
	ok "$file: remove succeeds" ctl remove poor
done
rm "$root/run/kmmvctl/.lock"
mkdir "$root/run/kmmvctl/.lock"
says "add fails without a lock" '/.lock: Is a directory' add poor function=qa_call
says "apply fails without a lock" '/.lock: Is a directory' apply "$work/poor.conf"
rmdir "$root/run/kmmvctl/.lock"
mv "$root/run" "$work/run"
says "remove fails without a folder of files" '/run/kmmvctl: No such file' remove first
mv "$work/run" "$root/run"
is "counters are as they were without a lock or a folder" \
	"$(cd "$counters" && echo *)" "first mine second third"
mv "$root/run/kmmvctl/.system" "$work/system"
mkdir "$root/run/kmmvctl/.system"
says "apply fails without the mark of the system" '/.system: Is a directory' apply
rmdir "$root/run/kmmvctl/.system"
mv "$work/system" "$root/run/kmmvctl/.system"

ok "apply makes counters as they were exported" ctl apply "$work/all.conf"
echo 'number=arg1:8u' >"$counters/first/key"
like "export has what was changed by hand as a comment" "$(ctl export first)" \
	'^# key = number=arg1:8u'

# ---- a tracepoint that no module has, or whose name is wrong

printf '[far]\ntracepoint = qa/absent\n' >"$work/far.conf"
waits="kmmvctl: far waits: no module that is loaded has qa/absent"
text=$(ctl apply "$work/far.conf" 2>&1)
is "apply says that a counter waits" "$? $text" "0 $waits"
is "apply says that a counter still waits" "$(ctl apply "$work/far.conf" 2>&1)" "$waits"
sed -i '1a enable = no' "$work/far.conf"
is "apply does not say that a counter that is off waits" \
	"$(ctl apply "$work/far.conf" 2>&1)" ""

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
