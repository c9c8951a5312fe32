#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The Python module: its structures are the header's, its types hold, and it reads
# simulated values and events.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
export PATH=/usr/bin:$PATH
work=$(mktemp -d) || bail "no directory"
follower=''
# The simulated ring ends with its input.
# shellcheck disable=SC2317 # called by the trap
end()
{
	exec 9>&-
	[ -z "$follower" ] || kill "$follower" 2>/dev/null
	rm -rf "$work"
}
trap end EXIT
make -s lib >/dev/null || bail "does not build"
make_programs bench/kmmvsim bench/kmmvringsim
export LD_LIBRARY_PATH=$PWD/build PYTHONPATH=$PWD/lib/python PYTHONDONTWRITEBYTECODE=1

if command -v mypy >/dev/null; then
	ok "the module's types hold" \
		mypy --strict --cache-dir="$work/mypy" lib/python/kmmv.py
else
	skip "the module's types hold" "no mypy"
fi

# Each structure: size, and offset and size of each member; both sides print the same.
python3 - >"$work/python" <<'E2'
import ctypes, kmmv
for name, kind in (("kmmv_record", kmmv._Record), ("kmmv_field_info", kmmv._Field),
                   ("kmmv_followed", kmmv._Followed), ("kmmv_info", kmmv._Info),
                   ("kmmv_family_info", kmmv._Family),
                   ("kmmv_instance_info", kmmv._Instance)):
    print(name, "-", ctypes.sizeof(kind), 0)
    for member, *_ in kind._fields_:
        field = getattr(kind, member)
        print(name, member, field.size, field.offset)
E2
{
	echo '#include <stdio.h>'
	echo '#include <stddef.h>'
	echo '#include <libkmmv.h>'
	echo 'int main(void) {'
	while read -r name member _; do
		if [ "$member" = - ]; then
			echo "puts(\"\"), printf(\"$name - %zu 0\", sizeof(struct $name));"
		else
			echo "puts(\"\"), printf(\"$name $member %zu %zu\"," \
				"sizeof(((struct $name *)0)->$member)," \
				"offsetof(struct $name, $member));"
		fi
	done <"$work/python"
	echo 'puts(""); return 0; }'
} >"$work/layout.c"
ok "the module's structures have members" test "$(wc -l <"$work/python")" -gt 50
ok "the header has the module's members" gcc -Ilib -o "$work/layout" "$work/layout.c"
is "the module's members are where the header has them" \
	"$(diff "$work/python" <("$work/layout" | tail -n +2))" ""
is "the module has as many members as the header" "$(grep -vc ' - ' "$work/python")" "$(
	gcc -E -Ilib lib/libkmmv.h | awk '
	/^struct kmmv_(record|field_info|followed|info|family_info|instance_info) \{/ { on = 1 }
	/^\}/ { on = 0 }
	on && /;/ { n += gsub(/,/, ",") + 1 }
	END { print n }')"
is "the module's enumerators are the header's" "$(printf '#include <libkmmv.h>\n%s\n' \
	'int a[] = { KMMV_SIGNED, KMMV_TEXT, KMMV_ACTIVE + 9, KMMV_SEM_COUNTER + 9 };' |
	gcc -Ilib -S -o - -x c - | awk '/\.(long|zero)/ { print $2 }' | xargs)" "1 3 9 9"

# ---- values

mkdir "$work/dev"
# In a subshell: what the background has is the interpreter, which the end can kill.
python() { exec python3 -c "import kmmv, sys
d = '$work/dev'
$1" 2>&1; }
like "a device that is not there is a FileNotFoundError" "$(python '
try:
    kmmv.Reader(d).read("sim.f0", "i0.0")
except FileNotFoundError as error:
    print("none:", error)')" "^none: .*$work/dev/counters"
is "a ring that is not there has no events" "$(python '
print(list(kmmv.Reader(d).follow("none", timeout=0.1)))')" "[]"
build/qa/bench/kmmvsim --cpus 4 --instances 6 --start 100 "$work/dev"
is "read() returns a value" "$(python 'print(kmmv.Reader(d).read("sim.f0", "i2.0"))')" 414
is "values() returns all values" "$(python '
for family, instances in sorted(kmmv.values(d).items()):
    print(family, sorted(instances.items()))')" "$(build/kmmvdump -d "$work/dev" |
	sed -n 's/^\([a-z.0-9]*\)\["\(.*\)"\] \([0-9]*\).*/\1 \2 \3/p' | sort | awk '
	$1 != last { if (last) print "]"; printf "%s [", $1; comma = ""; last = $1 }
	{ printf "%s(\047%s\047, %s)", comma, $2, $3; comma = ", " }
	END { print "]" }')"
mkdir "$work/level"
qa/agent/area.py "$work/level" <<'E2'
set capacity 8
family 0 level count instant Level
family 1 count count counter Count
inst 0 0 0 active 18446744073709551611,2 x
inst 1 1 0 active 18446744073709551611,2 y
E2
is "a level may be below zero, a counter is not" "$(python '
d = "'"$work/level"'"
reader = kmmv.Reader(d)
print(reader.read("level", "x"), reader.read("count", "y"), sorted(kmmv.values(d).items()))')" \
	"-3 18446744073709551613 [('count', {'y': 18446744073709551613}), ('level', {'x': -3})]"
like "an instance that is not there is a FileNotFoundError" "$(python '
try:
    with kmmv.Reader(d) as reader:
        reader.read("sim.f0", "none")
except FileNotFoundError as error:
    print(error)')" 'no active instance "none" of the family sim.f0'
is "a closed Reader has no values and no events" "$(python '
reader = kmmv.Reader(d)
reader.close()
reader.detach()
for use in (lambda: reader.read("sim.f0", "i2.0"), lambda: next(reader.follow(timeout=0))):
    try:
        use()
    except ValueError as error:
        print(error)')" "this Reader is closed
this Reader is closed"
# ---- events

# A text may be shorter than its field: the event ends with it, or before it.
mkdir "$work/ring"
cp -r "$work/dev/counters" "$work/ring"
epoch=$(sed -n '1s/.*epoch=//p' "$work/dev/names")
printf '%s\n' "kmmv abi=1.0 epoch=$epoch" \
	'family id=0 units=count semantics=counter name=requests' \
	'instance number=0 family=0 incarnation=3 state=active name=web 1' \
	'instance number=1 family=0 incarnation=3 state=inactive name=db' \
	'type id=17 name=disk.done' 'about id=17 text=Done' \
	'field id=17 offset=0 size=8 kind=time units=nanosec name=began' \
	'field id=17 offset=8 size=2 kind=hex units=none name=flags' \
	'field id=17 offset=10 size=1024 kind=text units=none name=who' \
	'field id=17 offset=32 size=8 kind=text units=none name=why' \
	"$(tail -n 1 "$work/dev/names")" >"$work/ring/names"
mkfifo "$work/more"
build/qa/bench/kmmvringsim "$work/ring" <"$work/more" >"$work/ready" &
exec 9>"$work/more"
ready() { grep -q ready "$work/ready"; }
wait_for 20 ready || bail "no simulated ring"
python '
for event in kmmv.Reader("'"$work/ring"'").follow():
    print(event.cpu, event.type, event.family, event.instance,
          sorted(event.fields.items()), event.lost, event.dropped, event.time, flush=True)
' >"$work/events" 9>&- &
follower=$!
lines() { [ "$(wc -l <"$work/events")" -ge "$1" ]; }
ok "follow() returns the events of a ring" wait_for 20 lines 5
echo >&9
ok "follow() returns an event that comes" wait_for 20 lines 6
echo 12 >&9
ok "follow() returns drops that no event follows" wait_for 20 lines 7
is "events have their fields, losses and drops" "$(cat "$work/events")" "\
0 hit requests web 1 [('delta', -5)] 0 0 None
1 mark   [('text', 'a \"mark\"\\nof two lines')] 0 0 None
1 disk.done requests db [('began', 1234567890123), ('flags', 48879), ('who', 'someone'), ('why', '')] 0 0 None
1    [] 0 0 None
1 disk.done requests db [] 0 0 None
0 hit requests web 1 [('delta', 7)] 0 0 None
0    [] 0 12 None"
# The last one, a loss, is held back for some time.
is "another reader follows events, and ends after its timeout" "$(python '
import itertools
reader = kmmv.Reader("'"$work/ring"'")
print(len(list(itertools.islice(reader.follow(timeout=600), 7))))
print(len(list(reader.follow(timeout=0.5))))' | xargs)" "7 0"
finish
