#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The memory of each allocator on a machine with many possible and few online CPUs,
# in the virtual machine. Tab-separated: allocator, counters, kB.

set -u
export LC_ALL=C
cd "$(dirname "$0")/../.." || exit 2
counters=51200

free_kb()
{
	sync
	echo 3 >/proc/sys/vm/drop_caches
	awk '/^MemFree:/ { kb += $2 }
		END { print kb }' /proc/meminfo
}

guest()
{
	local allocator in before after

	for allocator in flexible fixed; do
		in=.
		[ $allocator = fixed ] || in=build/flexible
		insmod $in/kmod/kmmv.ko capacity=65536 max_bytes=268435456 ||
			return
		before=$(free_kb)
		insmod $in/qa/client/kmmv_statctr.ko updates=0 \
			hold=$counters || return
		after=$(free_kb)
		printf '%s\t%d\t%d\t%s\t%s\n' $allocator $counters \
			$((before - after)) \
			"$(cat /sys/devices/system/cpu/possible)" \
			"$(cat /sys/devices/system/cpu/online)"
		rmmod kmmv_statctr kmmv || return
	done
}

if [ "${1-}" = guest ]; then
	guest
	exit
fi
SMP=4 MAXCPUS=240 qa/vm/run -t 300 qa/bench/memory.sh guest
