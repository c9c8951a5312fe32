#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
#
# An init that fails, early and late, while processes open and map all nodes: none
# of them gets a file of a module that is about to be freed.

# shellcheck disable=SC2317 # functions called by wait_for
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/client/client.sh
. qa/client/client.sh

squat=qa/client/kmmv_squat.ko
trap 'rm -f "$WORK/go"; wait; rmmod kmmv_squat 2>/dev/null; unload' EXIT

# under_fire COMMAND...: run it while others open nodes, which sets their counts
under_fire()
{
	: >"$WORK/go"
	build/qa/vm/early-open "$WORK/go" >"$WORK/tally" &
	"$@"
	rm -f "$WORK/go"
	wait
	read -r tally <"$WORK/tally"
	note "$*: $tally, $SECONDS s"
	eval "$tally"
}

# fails COUNT PARAM...: count the loads that did not fail, in $loaded
fails()
{
	local i

	loaded=0
	for ((i = 0; i < $1; i++)); do
		load_core "${@:2}" 2>"$WORK/why" || continue
		loaded=$((loaded + 1))
		unload
	done
}

# What a fault could leave: nodes, classes, vmallocs, states of CPUs, directories.
left()
{
	find /dev /sys/class/misc -name '*kmmv*'
	grep '\[kmmv\]' /proc/vmallocinfo
	grep kmmv /sys/devices/system/cpu/hotplug/states
	find /sys/kernel/config -mindepth 1 -name '*kmmv*'
	[ ! -e /sys/module/kmmv ] || echo module
}

refused=0 opened=0 other=0
under_fire fails 10 ring_pages=1
is "ring_pages=1 is refused each time" $loaded 0
like "the log says which ring_pages there may be" \
	"$(dmesg | tail -n 3)" 'ring_pages=1 is out of range: 2 to '
is "no file is opened of a load with ring_pages=1" "$opened $other" "0 0"
is "nothing is left of loads with ring_pages=1" "$(left)" ""

pages=$(($(awk '/^MemTotal:/ { print $2 }' /proc/meminfo) / 4 / 4))
under_fire fails 4 ring_pages=$pages
is "more memory than rings may have is refused each time" $loaded 0
is "no file is opened of a load with too much memory" "$opened $other" "0 0"
is "nothing is left of loads with too much memory" "$(left)" ""

insmod $squat || bail "no $squat"
# Who opens them may begin when all is over: again, until one has found a node.
all_loaded=0 all_opened=0 all_other=0 end=$((SECONDS + 600))
while :; do
	under_fire fails 10
	all_loaded=$((all_loaded + loaded))
	all_opened=$((all_opened + opened)) all_other=$((all_other + other))
	[ "$refused" -eq 0 ] && [ $SECONDS -lt $end ] || break
done
is "a load whose configfs directory is taken fails each time" $all_loaded 0
is "no file is opened of a load whose directory is taken" "$all_opened $all_other" "0 0"
ok "nodes of a load whose directory is taken refuse an open" test "$refused" -gt 0
rmmod kmmv_squat
is "nothing is left of loads whose directory is taken" "$(left)" ""

# An init that succeeds can be opened, even while it runs. A slow machine always has it
# open: it goes when no process does any longer.
in_use()
{
	[ "$(cat /sys/module/kmmv/refcnt)" -gt 0 ]
}
load_unload()
{
	local i

	load_core || return
	loads=$((loads + 1))
	wait_for 60 in_use
	for ((i = 0; i < 100; i++)); do
		! rmmod kmmv 2>/dev/null || return 0
	done
	busy=$((busy + 1))
}
all_opened=0 all_other=0 busy=0 loads=0
for ((round = 0; round < 4; round++)); do
	under_fire load_unload
	all_opened=$((all_opened + opened)) all_other=$((all_other + other))
	unload
done
note "$busy of $round did not go under fire"
is "each load while nodes are opened succeeds" $loads $round
ok "nodes of a load that succeeds can be opened" test $all_opened -gt 0
is "no open of a load that succeeds fails otherwise" $all_other 0
is "nothing is left of loads that succeed" "$(left)" ""
finish
