#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# Disks and partitions come and go while they work, CPUs go offline, modules are
# loaded and unloaded in any order, and a reader looks all the time: no value falls,
# no number changes its name, nothing is lost, no probe is left.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/block.sh
. qa/vm/block.sh

cpu1=/sys/devices/system/cpu/cpu1/online
rounds=10
[ "${KMMV_SOAK:-0}" = 0 ] || rounds=300

# shellcheck disable=SC2317 # called by the trap
clean_up()
{
	touch "$WORK/end"
	# shellcheck disable=SC2086 # a list
	wait $jobs
	echo 1 >$cpu1
	for name in qa0 qa1 qa2 qa3; do
		end_null "$name"
	done
	modprobe -r null_blk
	modprobe -r scsi_debug 2>/dev/null
	modprobe -r sd_mod
	rmmod kmmv_probes
	unload
}
trap clean_up EXIT
jobs=

# Work on a disk that always is there, until the end.
steady()
{
	while [ ! -e "$WORK/end" ]; do
		dd if=/dev/zero of="/dev/$disk" bs=16k count=50 oflag=direct
		dd if="/dev/$disk" of=/dev/null bs=4k count=50 iflag=direct
		dd if=/dev/zero of="/dev/$disk" bs=4k count=200 conv=fsync
	done 2>/dev/null
}

# written DISK: bytes by the kernel since boot
written()
{
	awk -v name="$1" '$3 == name { print $10 * 512 }' /proc/diskstats
}

insmod qa/client/kmmv_probes.ko || bail "kmmv_probes does not load"
modprobe null_blk nr_devices=0
ok "the modules load" load
watched=$(probes)
new_null qa0 || bail "no null_blk"
disk=$(null_disk qa0)
wait_for 5 is_there block.dev.write "$disk"

# ---- many at once, of many sizes

if command -v fio >/dev/null; then
	before "$disk"
	ok "fio succeeds" \
		fio --name=qa --filename="/dev/$disk" --rw=randrw --numjobs=4 \
		--ioengine=libaio --iodepth=16 --direct=1 --size=64M \
		--bssplit=512/25:4k/50:64k/25 --io_size=4M --fsync=64 \
		--thread --group_reporting --output="$WORK/fio" --output-format=json
	wait_for 10 idle "$disk"
	agrees "fio" "$disk"
	# What fio says of itself, in bytes and operations.
	is "kmmv_block counts what fio did" "$(/usr/bin/python3 -c '
import json, sys
job = json.load(open(sys.argv[1]))["jobs"][0]
for way in "read", "write":
    print(job[way]["total_ios"], job[way]["io_bytes"])' "$WORK/fio" | xargs)" \
		"$(for way in read write; do
			echo "$(($(gain "$disk" $way) + $(gain "$disk" ${way}_merge)))" \
				"$(gain "$disk" ${way}_bytes)"
		done | xargs)"
else
	skip "fio succeeds" "no fio: qa/setup check"
fi

# ---- hotplug of disks, partitions and CPUs, with a reader

# /proc/diskstats and kmmv begin together.
before "$disk"
$check watch "$WORK/watched" >"$WORK/watch" 2>&1 &
watcher=$!
steady &
jobs=$!
storms=
for name in qa1 qa2; do
	come_and_go $name &
	storms="$storms $!"
done
for ((i = 0; i < rounds; i++)); do
	echo 0 >$cpu1
	echo 1 >$cpu1
done
# shellcheck disable=SC2086 # a list
wait $storms
touch "$WORK/end"
wait $jobs
jobs=
wait_for 10 idle "$disk"
agrees "hotplug of disks and CPUs beside it" "$disk"
touch "$WORK/watched"
wait $watcher
is "no value falls, no number changes its name" \
	"$? $(grep -v ' rounds, ' "$WORK/watch")" "0 "
note "$(cat "$WORK/watch")"
# shellcheck disable=SC2317 # called by wait_for
all_shown()
{
	[ "$(instances block.dev.read)" = "$(disks)" ]
}
wait_for 20 all_shown
is "the disks that are there are instances" "$(instances block.dev.read)" \
	"$(disks)"
is "no instance has failed" "$(value block.failed instances)" 0
is "all that disks wrote that were there for a moment is counted" \
	"$(build/kmmvdump -a -f block.dev.write_bytes |
	awk '/inactive/ { sum += $2 } END { print sum }')" $((2 * rounds * 20 * 4096))

# ---- modules, in any order, under load

rm "$WORK/end"
steady &
jobs=$!
low=$(written "$disk")
start=$(value block.dev.write_bytes "$disk")
for order in "block stat" "stat block"; do
	ok "$order: kmmv_stat loads" insmod kmod/kmmv_stat.ko
	for name in $order; do
		ok "$order: kmmv_$name unloads" rmmod kmmv_$name
	done
	is "$order: no probe is left" "$(probes)" ""
	ok "$order: kmmv_block loads" insmod kmod/kmmv_block.ko
	is "$order: probes are back" "$(probes)" "$watched"
done
for ((i = 0; i < rounds; i++)); do
	rmmod kmmv_block || break
	insmod kmod/kmmv_block.ko || break
done
is "kmmv_block unloads and loads again and again" "$i" "$rounds"
grown=$(($(value block.dev.write_bytes "$disk") - start))
high=$(($(written "$disk") - low))
ok "kmmv_block counts no more than there was, $grown <= $high" test $grown -le $high
ok "kmmv_block counts while it is loaded again and again" test $grown -gt 0
echo 0 >$cpu1
ok "kmmv_block unloads with a CPU offline" rmmod kmmv_block
ok "kmmv_block loads with a CPU offline" insmod kmod/kmmv_block.ko
touch "$WORK/end"
wait $jobs
jobs=
wait_for 10 idle "$disk"
before "$disk"
io "$disk"
echo 1 >$cpu1
agrees "with a CPU offline" "$disk"
before "$disk"
io "$disk"
agrees "with the CPU back" "$disk"

# ---- no numbers left

end_null qa0
ok "the modules unload" unload
ok "the modules load with few numbers" load capacity=20
new_null qa3
disk=$(null_disk qa3)
io "$disk"
# shellcheck disable=SC2317 # called by wait_for
has_failed()
{
	[ "$(value block.failed instances)" -gt 0 ]
}
ok "instances without a number are counted as failed" wait_for 10 has_failed
ok "the modules unload where numbers were few" unload
is "no probe is left" "$(probes)" ""
finish
