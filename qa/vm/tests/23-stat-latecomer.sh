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

is "all CPUs but the last are online" "$(cat /sys/devices/system/cpu/online)" 0-2
dawdle=qa/client/kmmv_dawdle.ko
insmod $dawdle || bail "no $dawdle"
ok "the modules load" load
ok "values agree with /proc without the last CPU" $check bracket 3
is "the last CPU has counted no interrupt" "$($check dump stat.irq | awk '{ sum += $6 }
	END { print sum }')" 0
echo 1 >/sys/devices/system/cpu/cpu3/online
ok "values agree with /proc once the last CPU is online" $check bracket 10
note "$tap_text"
ok "the last CPU counts interrupts of the timer" \
	test "$(value stat.irq "$timer_line" 3)" -gt 0
ok "the last CPU has idle time" test "$(value stat.cpu idle 3)" -gt 0
ok "the modules unload" unload
rmmod kmmv_dawdle
# Leave the machine as it was.
ok "the last CPU goes offline" sh -c "echo 0 >/sys/devices/system/cpu/cpu3/online"
finish
