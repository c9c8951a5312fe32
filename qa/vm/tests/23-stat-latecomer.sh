#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# machine: APPEND=maxcpus=3
#
# A CPU comes online for the first time: it counts from its first moment, well
# before the modules are told of it.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/stat.sh
. qa/vm/stat.sh

is "the last CPU was never online" "$(cat /sys/devices/system/cpu/online)" 0-2
dawdle=qa/client/kmmv_dawdle.ko
insmod $dawdle || bail "no $dawdle"
ok "loads" load
ok "agrees with /proc" $check bracket 3
is "it has counted nothing" "$($check dump stat.irq | awk '{ sum += $6 }
	END { print sum }')" 0
echo 1 >/sys/devices/system/cpu/cpu3/online
ok "agrees with /proc once it is there" $check bracket 10
note "$tap_text"
ok "it counts" test "$(value stat.irq "$timer_line" 3)" -gt 0
ok "its time is its own" test "$(value stat.cpu idle 3)" -gt 0
ok "unloads" unload
rmmod kmmv_dawdle
# Leave the machine as it was.
ok "it goes" sh -c "echo 0 >/sys/devices/system/cpu/cpu3/online"
finish
