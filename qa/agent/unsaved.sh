#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Numbers that cannot be saved are not given out; instances that have one go on.
# Processes without the right to write do not write.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/agent/env
. qa/agent/env

dir=$work/var/config/pmda
numbers=$dir/$domain.numbers
names()
{
	db_values kmmv.value.counter | tr '\n' ','
}
number()
{
	db "fetch kmmv.value.counter" |
		sed -n "s/^ *inst \[\([0-9]*\) or \"$1\"\].*/\1/p"
}
device()
{
	{
		echo "set epoch $1"
		echo "family 0 counter count counter Counters"
		shift
		while [ $# -gt 0 ]; do
			echo "inst $(($# - 1)) 0 0 active 1 $1"
			shift
		done
	} | area
	live
}
again()
{
	[ "$(names)" = "$1" ]
}

# Captured files, and a process other than the daemon.
device 1 one
rm -f "$work/dev/counters"
printf '%s\n' "family 0 counter count counter Counters" \
	"inst 0 0 0 active 1 one" | area
db_start pipe
is "captured files have values" "$(names)" "one 1,"
is "captured files have numbers that do not last" "$(number one)" "$own"
db_stop
device 1 one
is "a local context sees the device" "$(values kmmv.value.counter)" "one 1"
is "captured files and a local context save no numbers" "$(ls "$dir")" ""

# No room on the disk, simulated by a limit of the file size.
db_start pipe
is "the daemon shows an instance of a device" "$(names)" "one 1,"
db_stop
cp "$numbers" "$work/saved"
device 2 one $(seq -f "a-name-that-takes-room-%04g" 1 200)
(
	trap '' XFSZ
	ulimit -f 4
	exec 2>/dev/null
	db_start pipe
	names
	db_values kmmv.control.error
	db_stop
) >"$work/full"
is "only known instances are shown without room on disk" \
	"$(head -n 1 "$work/full")" 'one 1,"new names wait, as their numbers cannot be saved: File too large"'
ok "the file of numbers is as it was without room on disk" cmp "$numbers" "$work/saved"

# The directory is a file, and then a directory again.
mv "$dir" "$dir.away"
: >"$dir"
device 3 one two
db_start pipe
is "no number is given out where none can be read" "$(names)" \
	"Unknown metric name,"
like "a directory that cannot be read is reported" \
	"$(db_values kmmv.control.error)" "Not a directory"
rm "$dir"
mv "$dir.away" "$dir"
ok "all instances are there once numbers can be read and saved" \
	wait_for 60 again "one 1,two 1,"
is "an instance has its number of before the failure" "$(number one)" 0

# A second agent beside the first one.
device 4 one two three
(
	db_start pipe
	names
	db_values kmmv.control.error
	db_stop
) >"$work/second" 2>&1
is "a second agent gives no numbers out" "$(cat "$work/second")" \
	'one 1,two 1,"new names wait, as their numbers cannot be saved: another agent is running"'
db_stop
db_start pipe
ok "an agent that is alone again gives numbers out" \
	wait_for 60 again "one 1,two 1,three 1,"
db_stop

# The file is removed, or replaced, while the agent runs.
# A counter goes on from what another area had.
has()
{
	[ "$(db_values kmmv.value.counter | cut -d' ' -f1 | sort | xargs)" = "$1" ]
}
stays()
{
	for name in one two three four five; do
		number "$name"
	done | xargs
}
db_start pipe
ok "the agent shows all instances of its file" has "one three two"
rm "$numbers"
device 5 one two three four
ok "a new name is shown after the file was removed" wait_for 60 has "four one three two"
cp "$work/saved" "$numbers.other"
mv "$numbers.other" "$numbers"
device 6 one two three four five
ok "a new name is shown after the file was replaced" \
	wait_for 60 has "five four one three two"
before=$(stays)
db_stop
device 7 two three four five one
db_start pipe
ok "the agent after a replacement shows all instances" \
	wait_for 60 has "five four one three two"
is "the agent after a replacement has their numbers" "$(stays)" "$before"
db_stop

# Without another new name, too: at the end at the latest.
db_start pipe
ok "the agent shows all instances before a removal" has "five four one three two"
rm "$numbers"
db_stop
ok "an agent that ends writes a file that was removed" wait_for 60 test -s "$numbers"
device 8 one five four three two
db_start pipe
ok "the agent after a removal shows all instances" \
	wait_for 60 has "five four one three two"
is "the agent after a removal has their numbers" "$(stays)" "$before"
db_stop
finish
