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
	ok "$what: agrees with /proc" $check bracket 3 "$@"
	low=$(proc_sum /proc/softirqs TIMER)
	wait_for 10 fresh
	now=$(dumped stat.softirq TIMER)
	high=$(proc_sum /proc/softirqs TIMER)
	ok "$what: kmmvdump does, $low <= $now <= $high" \
		test "$low" -le "$now" -a "$now" -le "$high"
	is "$what: since boot is" "$(names | sed -n \
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

# shellcheck disable=SC2317 # called by ok
five_times()
{
	for _ in 1 2 3 4 5; do
		rmmod kmmv_stat && insmod kmod/kmmv_stat.ko || return
	done
}

rng=
for dev in /sys/bus/virtio/drivers/virtio_rng/virtio*; do
	dev=$(readlink -f "$dev")
	rng=$(basename "${dev%/virtio*}")
done

ok "loads" load
start_load
agrees "loaded"
first=$(epoch)

ok "kmmv_stat goes" rmmod kmmv_stat
busy
$check dump stat.softirq 3600000000000 >"$WORK/kept"
ok "and comes" insmod kmod/kmmv_stat.ko
agrees "kmmv_stat alone"
is "in the same epoch" "$(epoch)" "$first"
$check dump stat.softirq >"$WORK/now"
is "nothing has fallen" "$(awk '
	NR == FNR { for (i = 3; i < NF; i++) was[$1, i] = $i; next }
	{ for (i = 3; i < NF; i++) if ($i < was[$1, i]) print $1, i }' \
	"$WORK/kept" "$WORK/now")" ""
ok "at once, again and again" five_times
agrees "kmmv_stat, five times"

ok "both go" unload
busy
ok "and come" load
agrees "both"
not_ok "in another epoch" test "$(epoch)" = "$first"

ok "both go" unload
ok "kmmv comes" insmod kmod/kmmv.ko
ok "another module is there first" insmod qa/client/kmmv_client.ko
call "addmany 0 700 first." >/dev/null
busy
ok "then kmmv_stat" insmod kmod/kmmv_stat.ko
agrees "after another module"
ok "kmmv_stat goes" rmmod kmmv_stat
call "addmany 0 700 second." >/dev/null
ok "and comes" insmod kmod/kmmv_stat.ko
agrees "kmmv_stat, with another module there"
ok "the other module goes" rmmod kmmv_client
agrees "without it"

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
ok "two lives are shown as one, $both" \
	test "$both" -ge "$(proc_sum /proc/interrupts "$irq")"
rmmod kmmv_stat
ok "kmmv_stat comes" insmod kmod/kmmv_stat.ko
ok "and still does" test "$(total stat.irq "$irq")" -ge "$both"
ok "both go" unload
ok "and come" load
agrees "after an interrupt's several lives"

# A CPU is offline while they are loaded; its idle time is not checked.
echo 0 >$cpu1
ok "both go, with a CPU offline" unload
ok "and come" load
agrees "with a CPU offline" 1
echo 1 >$cpu1
agrees "with it back" 1
ok "both go, with it back" unload
ok "and come" load
agrees "with it back at load"

ok "both go" unload
echo 0 >$cpu1
mount --bind build/flexible/kmod kmod
ok "with the other allocator and a CPU offline they come" load
agrees "with the other allocator" 1
rmmod kmmv_stat
echo 1 >$cpu1
ok "kmmv_stat comes again" insmod kmod/kmmv_stat.ko
agrees "kmmv_stat again, with the CPU back" 1
ok "both go" unload
umount kmod
ok "and come with the first one" load
agrees "with the first allocator" 1
stop_load
ok "unloads" unload
finish
