#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# needs: flexible
#
# kmmv.stat counts since the kernel's boot. The modules are unloaded and loaded in
# every order, while counts go on, an interrupt goes, a CPU is offline, another
# module was first, or with the other allocator: all values lie between readings of
# /proc before and after.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/client/client.sh
. qa/client/client.sh
# shellcheck source=qa/vm/stat.sh
. qa/vm/stat.sh

[ -e build/flexible/kmod/kmmv.ko ] || bail "build/flexible is not there: qa/harness/flexible"

cpu1=/sys/devices/system/cpu/cpu1/online
driver=/sys/bus/pci/drivers/virtio-pci
since_boot="stat.cpu stat.guest stat.irq stat.paged stat.softirq stat.vm"

# shellcheck disable=SC2317 # called by the trap
clean_up()
{
	echo 1 >$cpu1
	stop_load
	rmmod kmmv_client 2>/dev/null
	unload
}

# shellcheck disable=SC2317 # called by the trap
unload()
{
	local name

	for name in kmmv_stat kmmv_client kmmv; do
		[ ! -e "/sys/module/$name" ] || rmmod "$name" || return
	done
}

# The count of a line or softirq on all CPUs
proc_sum()
{
	awk -v row="$2:" '$1 == row {
		for (i = 2; $i ~ /^[0-9]+$/; i++) sum += $i; print sum }' "$1"
}

# The sum of an instance by kmmvdump
dumped()
{
	build/kmmvdump -j -f "$1" | python3 -c '
import json, sys
for i in json.load(sys.stdin)["instances"]:
    if i["name"] == sys.argv[1]:
        print(i["value"])' "$2"
}

# agrees WHAT [CPU...]: with /proc; these CPUs' idle time began anew
agrees()
{
	local what=$1 low now high

	shift
	ok "$what: values agree with /proc" $check bracket 3 "$@"
	low=$(proc_sum /proc/softirqs TIMER)
	wait_for 10 fresh
	now=$(dumped stat.softirq TIMER)
	high=$(proc_sum /proc/softirqs TIMER)
	ok "$what: kmmvdump agrees with /proc, $low <= $now <= $high" \
		test "$low" -le "$now" -a "$now" -le "$high"
	is "$what: the families of stat that count since boot say so" \
		"$(names | sed -n \
		's/^family .* since=boot .*name=\(stat[^ ]*\)$/\1/p' |
		sort | xargs)" "$since_boot"
}

# A copy that was begun after this call.
# shellcheck disable=SC2317 # called by wait_for
fresh()
{
	$check dump stat.copied >/dev/null
}

epoch()
{
	build/kmmvdump -j -H | python3 -c '
import json, sys
print(json.load(sys.stdin)["header"]["epoch"])'
}

# busy: wait until a hundred more softirqs have run
busy()
{
	local from

	from=$(proc_sum /proc/softirqs TIMER)
	until [ "$(proc_sum /proc/softirqs TIMER)" -gt $((from + 100)) ]; do
		find /sys/kernel -maxdepth 2 >/dev/null
	done
}

# anew TIMES: kmmv_stat is loaded so often
# shellcheck disable=SC2317 # called by ok
anew()
{
	local i

	for ((i = 0; i < $1; i++)); do
		rmmod kmmv_stat && insmod kmod/kmmv_stat.ko || return
	done
}

rng=
for dev in /sys/bus/virtio/drivers/virtio_rng/virtio*; do
	dev=$(readlink -f "$dev")
	rng=$(basename "${dev%/virtio*}")
done

ok "the modules load" load
start_load
agrees "the first load"
first=$(epoch)

ok "kmmv_stat unloads alone" rmmod kmmv_stat
busy
$check dump stat.softirq 3600000000000 >"$WORK/kept"
ok "kmmv_stat loads alone" insmod kmod/kmmv_stat.ko
agrees "kmmv_stat alone"
is "kmmv_stat loaded anew is in the same epoch" "$(epoch)" "$first"
$check dump stat.softirq >"$WORK/now"
is "no softirq value falls when kmmv_stat is loaded anew" "$(awk '
	NR == FNR { for (i = 3; i < NF; i++) was[$1, i] = $i; next }
	{ for (i = 3; i < NF; i++) if ($i < was[$1, i]) print $1, i }' \
	"$WORK/kept" "$WORK/now")" ""
ok "kmmv_stat is loaded anew five times in a row" anew 5
agrees "kmmv_stat, five times"

# Some kernels count an idle CPU by ticks: it may have counted more than the time that
# passed, by a tick.
stop_load
ok "kmmv_stat is loaded anew 20 times on idle CPUs" anew 20
start_load
agrees "kmmv_stat, 20 times on idle CPUs"

ok "both modules unload" unload
busy
ok "both modules load again" load
agrees "both"
not_ok "both modules loaded again are in another epoch" test "$(epoch)" = "$first"

ok "both modules unload before another is first" unload
ok "kmmv loads alone" insmod kmod/kmmv.ko
ok "another module loads before kmmv_stat" insmod qa/client/kmmv_client.ko
call "addmany 0 700 first." >/dev/null
busy
ok "kmmv_stat loads after another module" insmod kmod/kmmv_stat.ko
agrees "after another module"
ok "kmmv_stat unloads beside another module" rmmod kmmv_stat
call "addmany 0 700 second." >/dev/null
ok "kmmv_stat loads beside another module" insmod kmod/kmmv_stat.ko
agrees "kmmv_stat, with another module there"
ok "the other module unloads" rmmod kmmv_client
agrees "without the other module"

# An interrupt had several lives: /proc shows only the last one's count.
virtio=$(basename "$(readlink -f "$driver/$rng"/virtio*)")
dd if=/dev/hwrng of=/dev/null bs=64 count=20 2>/dev/null
fresh
echo "$rng" >$driver/unbind
echo "$rng" >$driver/bind
dd if=/dev/hwrng of=/dev/null bs=64 count=2 2>/dev/null
irq=$(awk -v action="$virtio-input" '$NF == action { sub(":", "", $1)
	print $1 }' /proc/interrupts)
both=$(total stat.irq "$irq")
ok "two lives of an interrupt are shown as one, $both" \
	test "$both" -ge "$(proc_sum /proc/interrupts "$irq")"
rmmod kmmv_stat
ok "kmmv_stat loads after an interrupt's two lives" insmod kmod/kmmv_stat.ko
ok "two lives of an interrupt are shown as one after a load" \
	test "$(total stat.irq "$irq")" -ge "$both"
ok "both modules unload after an interrupt's two lives" unload
ok "both modules load after an interrupt's two lives" load
agrees "after an interrupt's several lives"

# A CPU is offline while they are loaded; its idle time is not checked.
echo 0 >$cpu1
ok "both modules unload with a CPU offline" unload
ok "both modules load with a CPU offline" load
agrees "with a CPU offline" 1
echo 1 >$cpu1
agrees "with the CPU back" 1
ok "both modules unload with the CPU back" unload
ok "both modules load with the CPU back" load
agrees "with the CPU back at load"

ok "both modules unload for the other allocator" unload
echo 0 >$cpu1
mount --bind build/flexible/kmod kmod
ok "both modules load with the other allocator, a CPU offline" load
agrees "with the other allocator" 1
rmmod kmmv_stat
echo 1 >$cpu1
ok "kmmv_stat of the other allocator loads again" insmod kmod/kmmv_stat.ko
agrees "kmmv_stat again, with the CPU back" 1
ok "both modules of the other allocator unload" unload
umount kmod
ok "both modules of the first allocator load" load
agrees "with the first allocator" 1
stop_load
ok "both modules of the first allocator unload" unload
finish
