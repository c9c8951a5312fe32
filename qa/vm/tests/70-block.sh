#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# machine: DISK=64
# kmmv.block on real disks: what is counted is what /proc/diskstats counts, the names
# are the kernel's, a name keeps its number and goes on, and no device is held.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/block.sh
. qa/vm/block.sh

# shellcheck disable=SC2317 # called by the trap
clean_up()
{
	[ ! -e /dev/mapper/qa ] || dmsetup remove qa
	[ -z "${loop-}" ] || losetup -d "$loop" 2>/dev/null
	end_md md7
	end_null qa0
	end_null qa1
	for name in zram raid0 md_mod scsi_debug sd_mod null_blk dm_mod virtio_blk; do
		modprobe -r "$name" 2>/dev/null
	done
	rmmod kmmv_probes 2>/dev/null
	unload
}
trap clean_up EXIT

insmod qa/client/kmmv_probes.ko || bail "kmmv_probes does not load"
modprobe -a virtio_blk sd_mod loop
modprobe null_blk nr_devices=0
is "no probe is on the block layer before the modules load" "$(probes)" ""
ok "the modules load" load
watched=$(probes)
like "kmmv_block watches the ends of requests" "$watched" "block_rq_complete"
is "the disks that are there are instances" \
	"$(instances block.dev.read)" "$(disks)"

# ---- disks with requests

ok "a disk of null_blk is made" new_null qa0 discard=1
disk=$(null_disk qa0)
ok "a disk of null_blk is an instance" wait_for 5 is_there block.dev.read "$disk"
before "$disk"
io "$disk"
agrees "null_blk" "$disk"
for what in read write discard write_merge; do
	ok "the disk of null_blk counts $what" test "$(gain "$disk" $what)" -gt 0
done
rawactive=$(gain "$disk" write_rawactive)
ok "writes take time, $rawactive ns" test "$rawactive" -gt 0

# What that costs: of so many reads on four CPUs, one has been timed at least.
hits=$(value block.work hits) took=$(value block.took hits)
reads=$(($(nproc) * 1024 + 1))
dd if="/dev/$disk" of=/dev/null bs=512 count=$reads iflag=direct 2>/dev/null
hits=$(($(value block.work hits) - hits))
took=$(($(value block.took hits) - took))
# Where the end of a request has a tracepoint, that is one more.
times=1
[ ! -e /sys/kernel/tracing/events/block/block_io_done ] || times=2
ok "each of $reads hits $times times: $hits" test $hits -ge $((times * reads))
ok "hits take time: $took ns" test $took -gt 0
is "one hit in 1024 is timed" $((took % 1024)) 0

before vda
io vda
agrees "virtio" vda
ok "flushes of vda are counted" test "$(gain vda flush)" -gt 0

# Its slot is emptied while it works, and filled again.
slot=$(realpath /sys/block/vda/device/..)
first=$(number block.dev.read vda)
dd if=/dev/vda of=/dev/null bs=4k iflag=direct 2>/dev/null &
wait_for 5 eval '! idle vda'
echo 1 >"$slot/remove"
wait $!
ok "a disk whose slot is empty is inactive" wait_for 5 is_gone block.dev.read vda
count=$(build/kmmvdump -a -r 0 -f block.dev.read |
	sed -n 's,^[^ ]*\["vda"\] \([0-9]*\).*,\1,p')
ok "a disk has counted reads until its slot is empty: $count" test "$count" -gt 0
echo 1 >/sys/bus/pci/rescan
ok "a disk is an instance again when its slot is filled" \
	wait_for 20 is_there block.dev.read vda
is "a disk whose slot is filled has its number" "$(number block.dev.read vda)" "$first"
ok "a disk whose slot is filled goes on with its count" \
	test "$(value block.dev.read vda)" -ge "$count"
wait_for 10 idle vda
before vda
io vda
agrees "virtio that came back" vda

truncate -s 16M "$WORK/file"
loop=$(losetup --show -f "$WORK/file")
ok "a loop device is an instance" wait_for 5 is_there block.dev.read \
	"${loop#/dev/}"
before "${loop#/dev/}"
io "${loop#/dev/}"
agrees "loop" "${loop#/dev/}"

# ---- SCSI: partitions, errors, what passes through

modprobe scsi_debug dev_size_mb=32 num_parts=2 lbpu=1 delay=0 opts=2
ok "the second partition of a SCSI disk is an instance" \
	wait_for 20 is_there block.partitions.read sda2
is "both partitions of a SCSI disk are instances" \
	"$(instances block.partitions.read | xargs)" "sda1 sda2"
is "partitions are no instances of disks" \
	"$(instances block.dev.read | grep -c '^sda')" 1
ok "sda has a count of requests that passed through" \
	test "$(value block.dev.passthrough sda)" -ge 0
# The disk's own sectors 4660 to 4669 are bad.
before sda sda1 sda2
io sda2
agrees "partition" sda2
agrees "partition's disk" sda
is "the other partition counts nothing" "$(gains sda1 | awk '$3 > 0')" ""
is "the disk and its partition have no errors" \
	"$(gain sda errors) $(gain sda2 errors)" "0 0"
before sda
not_ok "a read of a bad sector fails" \
	dd if=/dev/sda of=/dev/null bs=512 skip=4660 count=1 \
	iflag=direct
agrees "after an error" sda
ok "errors are counted: $(gain sda errors)" test "$(gain sda errors)" -ge 1
before sda
echo 1 >/sys/block/sda/device/rescan
ok "requests that pass through are counted" test "$(gain sda passthrough)" -gt 0
agrees "after requests that pass through" sda

start=$(cat /sys/class/block/sda2/start)
half=$(($(cat /sys/class/block/sda2/size) / 2))
first=$(number block.partitions.write sda2)
count=$(value block.partitions.write sda2)
ok "a partition can be deleted" delpart /dev/sda 2
ok "a deleted partition is inactive" wait_for 5 is_gone block.partitions.write sda2
ok "a deleted partition can be added again" addpart /dev/sda 2 "$start" $half
ok "a partition added again is an instance" \
	wait_for 5 is_there block.partitions.write sda2
is "a partition added again has its number" \
	"$(number block.partitions.write sda2)" "$first"
is "a partition added again has its count" \
	"$(value block.partitions.write sda2)" "$count"
before sda2
io sda2
agrees "the partition that came back" sda2
ok "another partition can be added" addpart /dev/sda 7 $((start + half)) $half
ok "another partition is an instance" wait_for 5 is_there block.partitions.write sda7

# ---- a name returns, and the device has no holder

first=$(number block.dev.write sda)
count=$(value block.dev.write sda)
is "nobody holds scsi_debug" "$(cat /sys/module/scsi_debug/refcnt)" 0
ok "scsi_debug unloads" modprobe -r scsi_debug
ok "the disk of a driver that is unloaded is inactive" \
	wait_for 5 is_gone block.dev.write sda
ok "partitions of a driver that is unloaded are inactive" \
	wait_for 5 is_gone block.partitions.write sda7
is "histograms of a driver that is unloaded are inactive" \
	"$(instances block.latency.write | grep -c '^sda/')" 0
modprobe scsi_debug dev_size_mb=32 num_parts=1 lbpu=1 delay=0
ok "the disk of scsi_debug comes back" wait_for 20 is_there block.partitions.write sda1
is "the disk of scsi_debug that comes back has its number" \
	"$(number block.dev.write sda)" "$first"
ok "the disk of scsi_debug that comes back goes on with its count" \
	test "$(value block.dev.write sda)" -ge "$count"
before sda sda1
io sda1
agrees "the disk that came back" sda
agrees "the SCSI partition that came back" sda1

# ---- what is in flight

end_null qa0
ok "a slow disk is made" new_null qa0 irqmode=2 completion_nsec=3000000000
disk=$(null_disk qa0)
wait_for 5 is_there block.dev.inflight "$disk"
wait_for 30 idle "$disk"

# Reads that took less than two seconds.
fast()
{
	build/kmmvdump -f block.latency.read | sed -n \
		"s,.*\"$disk/\\([0-9]*\\)us\"\\] \\([0-9]*\\).*,\\1 \\2,p" |
		awk '$1 < 2097152 { sum += $2 } END { print sum + 0 }'
}

# in_flight NAME FAMILY=SHOWN...: NAME is read, a block at a time, and these show it
in_flight()
{
	local shown

	rm -f "$WORK/seen"
	until [ -e "$WORK/seen" ]; do
		dd if="/dev/$1" of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null
	done &
	for shown in "${@:2}"; do
		ok "a read of $1 is in flight, $shown" wait_for 10 sh -c \
			"build/kmmvdump -r 0 -f block.${shown%=*}.inflight |
			grep -q '\"${shown#*=}\"\] 1'"
	done
	touch "$WORK/seen"
	wait $!
	for shown in "${@:2}"; do
		is "no read of $1 is in flight any longer, $shown" \
			"$(value "block.${shown%=*}.inflight" "${shown#*=}")" 0
	done
}

ok "the slow disk gets a partition" addpart "/dev/$disk" 1 2048 8192
part=${disk}p1
ok "the partition of the slow disk is an instance" \
	wait_for 5 is_there block.partitions.inflight "$part"
before "$disk"
fast=$(fast)
in_flight "$disk" "dev=$disk"
in_flight "$part" "partitions=$part" "dev=$disk"
agrees "slow disk" "$disk"
ok "reads of the slow disk are counted" test "$(gain "$disk" read)" -gt 0
is "no read of the slow disk is fast" "$(fast)" "$fast"
end_null qa0

# ---- others: bios, disks without iostats

modprobe zram
echo 16M >/sys/block/zram0/disksize
ok "a disk of zram is an instance" wait_for 5 is_there block.dev.write zram0
is "a disk of zram says that it counts bios" \
	"$(label block.dev.write zram0)" 'counts="bios"'
before zram0
dd if=/dev/zero of=/dev/zram0 bs=64k count=20 oflag=direct 2>/dev/null
is "writes to a disk of zram are counted" \
	"$(gain zram0 write) $(gain zram0 write_bytes)" "20 1310720"
is "a disk of zram has no times" \
	"$(gain zram0 write_rawactive) $(gain zram0 latency.write)" \
	"0 0"
modprobe dm_mod
if dmsetup create qa --table "0 32768 linear /dev/sda 2048" 2>/dev/null; then
	ok "a mapped disk is an instance" wait_for 5 is_there block.dev.write dm-0
	is "a mapped disk says that it counts bios" \
		"$(label block.dev.write dm-0)" 'counts="bios"'
	before dm-0 sda
	dd if=/dev/zero of=/dev/dm-0 bs=64k count=10 oflag=direct 2>/dev/null
	is "bytes of a mapped disk are counted" "$(gain dm-0 write_bytes)" 655360
	agrees "the disk below" sda
	dmsetup remove qa
	ok "a mapped disk that is removed is inactive" \
		wait_for 5 is_gone block.dev.write dm-0
else
	fail "dmsetup makes a mapped disk"
fi

# An array counts what it was asked for, and its disks what they got of it.
ok "two disks for an array are made" eval "new_null qa0 && new_null qa1"
disk=$(null_disk qa0) other=$(null_disk qa1)
wait_for 5 is_there block.dev.write "$other"
ok "an array is made" new_md md7 "$disk" "$other"
ok "an array is an instance" wait_for 5 is_there block.dev.write md7
is "an array says that it counts bios" "$(label block.dev.write md7)" 'counts="bios"'
# The first open() looks for partitions.
dd if=/dev/md7 of=/dev/null count=1 2>/dev/null
wait_for 10 idle md7
wait_for 10 idle "$disk"
wait_for 10 idle "$other"
before md7 "$disk" "$other"
dd if=/dev/zero of=/dev/md7 bs=64k count=20 oflag=direct 2>/dev/null
dd if=/dev/zero of=/dev/md7 bs=256k count=5 oflag=direct 2>/dev/null
dd if=/dev/md7 of=/dev/null bs=4k count=7 iflag=direct 2>/dev/null
is "bios of an array are counted, whatever they are split into" \
	"$(gain md7 write) $(gain md7 read)" "25 7"
is "bytes of an array are counted" "$(gain md7 write_bytes) $(gain md7 read_bytes)" \
	"2621440 28672"
is "an array has no times" "$(gain md7 write_rawactive) $(gain md7 latency.write)" "0 0"
agrees "a disk of the array" "$disk"
agrees "the other disk of the array" "$other"
is "the first disk of an array has half of the bytes" \
	"$(gain "$disk" write_bytes)" 1310720
is "the second disk of an array has half of the bytes" \
	"$(gain "$other" write_bytes)" 1310720
before md7
dd if=/dev/zero of=/dev/md7 bs=4k count=1 oflag=direct,sync 2>/dev/null
is "a write with a flush is one of each in an array" \
	"$(gain md7 write) $(gain md7 flush)" "1 1"
ok "an array can be ended" end_md md7
ok "an array that has ended is inactive" wait_for 5 is_gone block.dev.write md7
end_null qa0
end_null qa1

is "a disk with iostats has no label" "$(label block.dev.write vda)" ""
echo 0 >/sys/block/vda/queue/iostats
before vda
dd if=/dev/vda of=/dev/null bs=64k count=16 iflag=direct 2>/dev/null
is "without iostats /proc/diskstats counts nothing" \
	"$(gains vda | awk '$1 == "read" { print $2 }')" 0
is "without iostats kmmv counts reads and bytes" \
	"$(gain vda read) $(gain vda read_bytes)" "16 1048576"
is "without iostats kmmv has no times" \
	"$(gain vda read_rawactive) $(gain vda latency.read)" "0 0"
ok "a disk without iostats says that it is not timed" wait_for 5 sh -c \
	"build/kmmvdump -f block.dev.read | grep -q 'vda.*requests_untimed'"
echo 1 >/sys/block/vda/queue/iostats
before vda
io vda
agrees "with iostats again" vda

# ---- the end

losetup -d "$loop"
loop=
ok "kmmv_block unloads" rmmod kmmv_block
is "no probe is left when kmmv_block is unloaded" "$(probes)" ""
is "no disk is active when kmmv_block is unloaded" "$(instances block.dev.read)" ""
dd if=/dev/vda of=/dev/null bs=64k count=16 iflag=direct 2>/dev/null
count=$(build/kmmvdump -a -f block.dev.read | sed -n 's/.*"vda"\] \([0-9]*\).*/\1/p')
ok "kmmv_block loads again" insmod kmod/kmmv_block.ko
is "kmmv_block loaded again has the same probes" "$(probes)" "$watched"
is "counts go on when kmmv_block is loaded again" "$(value block.dev.read vda)" "$count"
before vda
io vda
agrees "loaded again" vda
ok "everything unloads" unload
is "no probe is left when everything is unloaded" "$(probes)" ""
finish
