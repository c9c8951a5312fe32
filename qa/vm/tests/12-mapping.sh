#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# machine: MAXCPUS=6
# The rules of the mapping, and what keeps the module loaded.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/client/client.sh
. qa/client/client.sh

loop=
# shellcheck disable=SC2317 # called by the trap
clean_up()
{
	[ -z "$loop" ] || losetup -d "$loop"
	kill %% 2>/dev/null
	unload
}
trap clean_up EXIT

load_core && load_client || bail "the modules do not load"

# Direct writes need a device that supports them.
modprobe loop
dd if=/dev/zero of="$WORK/disk" bs=1M count=1 status=none
loop=$(losetup -f --show "$WORK/disk")
program build/qa/vm/mapping "$loop"

# ---- a reader with the mapping, and no file

mkfifo "$WORK/go"
build/qa/vm/mapping hold <"$WORK/go" >"$WORK/said" &
holder=$!
exec 4>"$WORK/go"
wait_for 20 grep -q mapped "$WORK/said" || bail "nobody holds the mapping"

kill -STOP $holder
number=$(call "add stopped")
for cpu in 0 1 2 3; do
	for context in task softirq hardirq; do
		call "adjust $context $cpu $number 1" >/dev/null
	done
done
is "a stopped reader hinders no updater" "$(call "read $number")" 12
is "a stopped reader hinders no adder" \
	"$(call "addmany 0 2000 s." | cut -d ' ' -f 2)" 2000
cpu3=/sys/devices/system/cpu/cpu3/online
ok "a stopped reader hinders no CPU that goes offline" \
	sh -c "echo 0 >$cpu3; grep -qx 0 $cpu3"
ok "a stopped reader hinders no CPU that comes online" \
	sh -c "echo 1 >$cpu3; grep -qx 1 $cpu3"
is "a CPU that came back online counts" "$(call "adjust task 3 $number 1") $(call \
	"read $number")" "0 13"
rmmod kmmv_client
not_ok "kmmv does not unload while mapped, though no file is open" rmmod kmmv
kill -CONT $holder
not_ok "kmmv does not unload while mapped by a reader that runs again" rmmod kmmv
exec 4>&-
wait $holder
is "the reader of the mapping ends with status 0" $? 0

exec 4</dev/kmmv/names
not_ok "kmmv does not unload while the names are open" rmmod kmmv
exec 4<&-
exec 4</dev/kmmv/counters
not_ok "kmmv does not unload while the counters are open" rmmod kmmv
exec 4<&-
ok "kmmv unloads when nothing is open or mapped" rmmod kmmv
finish
