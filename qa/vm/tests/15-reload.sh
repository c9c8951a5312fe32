#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# Loading and unloading the module leaves nothing.

# shellcheck source=qa/tap.sh
. qa/tap.sh
# shellcheck source=qa/client/client.sh
. qa/client/client.sh
trap unload EXIT

loads=20
[ "${KMMV_SOAK:-0}" = 0 ] || loads=400
# Each load takes about 5 MiB: a leak would add up to 75.
instances=20000

# kB of an item of /proc/meminfo
memory()
{
	awk -v name="$1:" '$1 == name { print $2 }' /proc/meminfo
}

# free memory in kB, including each CPU's lists of pages
free()
{
	awk '/^MemFree:/ { free = $2 }
		/^ *count:/ { pages += $2 }
		END { print free + pages * 4 }' /proc/meminfo /proc/zoneinfo
}

settle()
{
	sync
	echo 3 >/proc/sys/vm/drop_caches
	sleep 0.5
}

epochs='' stale=0 wrong=0
for ((i = 1; i <= loads; i++)); do
	load_core && load_client || bail "load $i fails"
	epochs+=$(build/qa/vm/header epoch)$'\n'
	[ -z "$(instance 0 leak.0)" ] || stale=$((stale + 1))
	[ "$(call "addmany 0 $instances leak.")" = \
		"$((instances + 2)) $instances" ] || wrong=$((wrong + 1))
	call "label 5 key|text" >/dev/null
	call "adjust hardirq 1 $instances 5" >/dev/null
	[ "$(call "read $instances")" = 5 ] || wrong=$((wrong + 1))
	call "delmany 3 1000" >/dev/null
	call "forgetmany 3 500" >/dev/null
	build/qa/vm/growth 1000 >/dev/null || wrong=$((wrong + 1))
	head -c 1000 /dev/kmmv/names >/dev/null
	unload || bail "unload $i fails"
	if [ $i -eq 5 ]; then
		settle
		percpu=$(memory Percpu) slab=$(memory SUnreclaim)
		free=$(free)
	fi
done
settle
is "each of $loads loads counts" $wrong 0
is "names are gone with a load" $stale 0
is "each load is an epoch of its own" "$(printf %s "$epochs" | sort -u |
	grep -c '^[1-9]')" $loads
note "Percpu $percpu -> $(memory Percpu), SUnreclaim $slab ->" \
	"$(memory SUnreclaim), free $free -> $(free) kB"
ok "no per-CPU memory is lost" test "$(memory Percpu)" -le $((percpu + 300))
ok "no slab memory is lost" test "$(memory SUnreclaim)" -le $((slab + 3000))
ok "no memory is lost" test "$(free)" -ge $((free - 3000 - loads * 50))
is "nothing of it is mapped" "$(grep -c '\[kmmv\]' /proc/vmallocinfo)" 0
is "no state of CPUs is left" \
	"$(grep -c kmmv /sys/devices/system/cpu/hotplug/states)" 0
is "no node is left" "$(find /dev /sys/class/misc -name '*kmmv*')" ""
is "no file system is left" "$(grep -c kmmv /proc/filesystems)" 0
finish
