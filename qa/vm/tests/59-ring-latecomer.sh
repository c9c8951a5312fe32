#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# machine: APPEND=maxcpus=3
#
# A CPU comes online for the first time: it gets its buffer, and older readers find
# it. Another CPU, between online ones, is offline from the start.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/client/client.sh
. qa/client/client.sh

cpu1=/sys/devices/system/cpu/cpu1
cpu3=/sys/devices/system/cpu/cpu3
# shellcheck disable=SC2317 # called by the trap
clean_up()
{
	unload
	echo 1 >$cpu1/online
	echo "$was" >$cpu3/online
}
trap clean_up EXIT

was=$(cat $cpu3/online)
[ "$was" = 0 ] || echo 0 >$cpu3/online
echo 0 >$cpu1/online
load_core && load_client || bail "the modules do not load"
program build/qa/vm/ring-rules late
ok "the modules unload" unload
finish
