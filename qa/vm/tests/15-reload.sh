#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# Loading and unloading the module leaves nothing.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/client/client.sh
. qa/client/client.sh
# shellcheck source=qa/vm/faults.sh
. qa/vm/faults.sh
reload_end()
{
	unload
	faults_end
}
trap reload_end EXIT

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

# no_more NAME KB: the item is KB at most, once workers have given back what they have
# shellcheck disable=SC2317 # called by wait_for
no_more()
{
	[ "$(memory "$1")" -le "$2" ]
}

epochs='' stale=0 wrong=0
# once INSTANCES: load kmmv, use it, and unload it
once()
{
	load_core && load_client || bail "load $i fails"
	epochs+=$(build/qa/vm/header epoch)$'\n'
	[ -z "$(instance 0 leak.0)" ] || stale=$((stale + 1))
	[ "$(call "addmany 0 $1 leak.")" = "$(($1 + 2)) $1" ] ||
		wrong=$((wrong + 1))
	call "label 5 key|text" >/dev/null
	call "adjust hardirq 1 $1 5" >/dev/null
	[ "$(call "read $1")" = 5 ] || wrong=$((wrong + 1))
	call "delmany 3 $(($1 / 20))" >/dev/null
	call "forgetmany 3 $(($1 / 40))" >/dev/null
	build/qa/vm/growth 1000 >/dev/null || wrong=$((wrong + 1))
	head -c 1000 /dev/kmmv/names >/dev/null
	unload || bail "unload $i fails"
}

for ((i = 1; i <= loads; i++)); do
	once $instances
	if [ $i -eq 5 ]; then
		settle
		percpu=$(memory Percpu) slab=$(memory SUnreclaim)
		free=$(free)
	fi
done
settle
is "each of $loads loads counts" $wrong 0
is "no load has a name of an earlier one" $stale 0
is "each load is an epoch of its own" "$(printf %s "$epochs" | sort -u |
	grep -c '^[1-9]')" $loads
note "Percpu $percpu -> $(memory Percpu), SUnreclaim $slab ->" \
	"$(memory SUnreclaim), free $free -> $(free) kB"
ok "no per-CPU memory is lost" wait_for 20 no_more Percpu $((percpu + 300))
ok "no slab memory is lost" wait_for 20 no_more SUnreclaim $((slab + 3000))
ok "no free memory is lost" test "$(free)" -ge $((free - 3000 - loads * 50))
# The caller of what is still mapped has no name any more, only an address.
is "vmallocinfo has no area whose caller is gone" \
	"$(awk '$3 ~ /^0x/' /proc/vmallocinfo)" ""
is "no hotplug state of kmmv is left" \
	"$(grep -c kmmv /sys/devices/system/cpu/hotplug/states)" 0
is "no node of kmmv is left" "$(find /dev /sys/class/misc -name '*kmmv*')" ""
is "no file system of kmmv is left" "$(grep -c kmmv /proc/filesystems)" 0

# Those show what the kernel allocates for it, and only if it is much. What the module
# itself allocates is counted, to the last piece; there is room for 4096 of them.
load_fault kmmv
for ((i = 1; i <= 3; i++)); do
	load_core || bail "load $i fails"
	ok "load $i under kmmv_fault has memory" test "$(kept)" -gt 0
	unload || bail "unload $i fails"
	is "load $i under kmmv_fault frees its memory" \
		"$(kept)" 0 || note "$(cat $fault/kept)"
	once 1100
	is "load $i under kmmv_fault that counts frees its memory" "$(kept)" 0 ||
		note "$(cat $fault/kept)"
done
is "each load under kmmv_fault counts" $wrong 0
finish
