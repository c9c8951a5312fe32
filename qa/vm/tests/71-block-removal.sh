#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# machine: DISK=32
# Disks are removed while they work, and while a reader that has the counters mapped
# sits in a read that does not end: no removal waits for it, and nothing holds a disk
# that is gone, or its driver.
#
# It has a boot of its own: 7.2 fails to load scsi_debug after two unloads (a work queue
# scsi_tmf_0 of a host that is gone is still there), which vm/70-block has by then.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/block.sh
. qa/vm/block.sh

tracing=/sys/kernel/tracing
stuck=/sys/module/kmmv_stuck/parameters
workers=

# shellcheck disable=SC2317 # called by the trap
clean_up()
{
	[ ! -e "$stuck/hold" ] || echo 0 >"$stuck/hold"
	exec 8<&-
	[ -z "${loop-}" ] || losetup -d "$loop" 2>/dev/null
	touch "$WORK/end"
	end_null qa0
	# shellcheck disable=SC2086 # a list
	wait $workers
	for name in scsi_debug sd_mod null_blk virtio_blk; do
		modprobe -r "$name" 2>/dev/null
	done
	echo 1 >/sys/bus/pci/rescan
	echo 0 >"$tracing/events/qa/released/enable"
	echo >"$tracing/kprobe_events"
	[ ! -e "$stuck" ] || rmmod kmmv_stuck
	unload
}

# reads DEVICE: how many there were, by the kernel
# shellcheck disable=SC2317 # called by wait_for
reads()
{
	awk '{ print $1 }' "/sys/class/block/$1/stat"
}

# work_on DEVICE: it is read until it is gone, or until the end
work_on()
{
	local before

	before=$(reads "$1")
	while [ -b "/dev/$1" ] && [ ! -e "$WORK/end" ]; do
		dd if="/dev/$1" of=/dev/null bs=4k count=500 iflag=direct || return
	done 2>/dev/null &
	workers="$workers $!"
	ok "$1 works" wait_for 10 eval "[ \$(reads $1) -gt $before ]"
}

# How many disks the kernel has released, as the last reference was dropped.
released()
{
	awk '$1 == "released" { print $2 }' "$tracing/kprobe_profile"
}

# state FAMILY NAME: in the names. kmmvdump would ask for fresh values.
# shellcheck disable=SC2317 # called by wait_for
state()
{
	awk -v family="$1" -v name="$2" '
	/^family / { sub(/^id=/, "", $2); sub(/^name=/, "", $NF); id[$2] = $NF }
	/^instance / && $NF == "name=" name {
		sub(/^family=/, "", $3)
		sub(/^state=/, "", $5)
		if (id[$3] == family)
			state = $5
	}
	END { print state }' /dev/kmmv/names
}

# How many references the drivers have: of configfs, of files.
holders()
{
	local name

	for name in null_blk virtio_blk scsi_debug sd_mod loop; do
		echo "$name $(cat /sys/module/$name/refcnt)"
	done
}

# removed NAME NUMBER COMMAND...: the command ends, with NUMBER disks released
removed()
{
	local name=$1 before nr=$2

	shift 2
	before=$(released)
	rm -f "$WORK/status"
	{ "$@"; echo $? >"$WORK/status"; } &
	workers="$workers $!"
	ok "$name: the removal ends" wait_for 20 [ -e "$WORK/status" ] || return
	is "$name: the removal succeeds" "$(cat "$WORK/status")" 0
	ok "$name: disks released by the removal: $nr" \
		wait_for 20 eval "[ \$((\$(released) - $before)) -eq $nr ]"
}

# is_inactive FAMILY NAME: while the reader sits
is_inactive()
{
	ok "$2 is inactive" wait_for 10 eval "[ \"\$(state $1 $2)\" = inactive ]"
	is "the reader still sits when $2 is inactive" "$(cat "$stuck/readers")" 1
}

# shellcheck disable=SC2317 # called by removed
write_1()
{
	echo 1 >"$1"
}

watch()
{
	echo 'p:qa/released disk_release' >"$tracing/kprobe_events" &&
		echo 1 >"$tracing/events/qa/released/enable"
}

watch || bail "no probe"
trap clean_up EXIT
modprobe -a virtio_blk sd_mod loop
modprobe null_blk nr_devices=0
new_null qa0 || bail "no null_blk"
disk=$(null_disk qa0)
ok "a partition is made" addpart "/dev/$disk" 1 2048 8192
modprobe scsi_debug dev_size_mb=32 delay=0
truncate -s 16M "$WORK/file"
loop=$(losetup --show -f "$WORK/file")
loop_disk=${loop#/dev/}
wait_for 20 [ -e /sys/block/sda ]
before=$(holders)
ok "the modules load" load
insmod qa/client/kmmv_stuck.ko || bail "kmmv_stuck does not load"
for name in "$disk" vda sda "$loop_disk"; do
	ok "$name is an instance" wait_for 20 is_there block.dev.read "$name"
done
ok "the partition is an instance" wait_for 20 is_there block.partitions.read "${disk}p1"
is "no driver is held that was not before" "$(holders)" "$before"

# ---- the reader

echo 1 >"$stuck/hold"
build/kmmvdump -a -r 0 >"$WORK/dump" &
reader=$!
ok "a reader sits in a read" wait_for 10 grep -qx 1 "$stuck/readers"
ok "the reader has mapped the counters" grep -q /dev/kmmv/counters /proc/$reader/maps
exec 8</dev/kmmv/names
read -r line <&8
like "another reader has read a part of the names" "$line" '^kmmv '

# ---- the removals

work_on "$disk"
work_on "${disk}p1"
removed null_blk 1 rmdir "$configfs/qa0"
is_inactive block.dev.read "$disk"
is_inactive block.partitions.read "${disk}p1"
removed "null_blk's driver" 0 modprobe -r null_blk

work_on vda
removed virtio 1 write_1 "$(realpath /sys/block/vda/device/..)/remove"
is_inactive block.dev.read vda
removed "virtio's driver" 0 modprobe -r virtio_blk

work_on sda
removed SCSI 1 write_1 /sys/block/sda/device/delete
is_inactive block.dev.read sda
removed "SCSI's driver" 0 modprobe -r scsi_debug

work_on "$loop_disk"
removed loop 0 losetup -d "$loop"
touch "$WORK/end"
ok "the file of the loop device is free" \
	wait_for 20 [ ! -e "/sys/block/$loop_disk/loop" ]
loop=
is "nobody holds the driver of the loop device" "$(cat /sys/module/loop/refcnt)" 0
disks=$(find /sys/block -name 'loop*' | wc -l)
removed "loop's driver" "$disks" modprobe -r loop
is_inactive block.dev.read "$loop_disk"

# ---- the reader goes on

echo 0 >"$stuck/hold"
wait $reader
is "the reader succeeds" $? 0
ok "the reader has a disk that is gone" grep -q "\"$disk\"" "$WORK/dump"
exec 8<&-
ok "the modules unload" eval "rmmod kmmv_stuck && unload"
finish
