#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# machine: DISK=64 SMP=2
#
# Each call of kmmv_block that can fail fails once, while it is loaded, and while disks
# come, work and go: loading says so. A device that is missed is looked for again, and
# shown, by the module itself.

# shellcheck disable=SC2317 # functions called by fail_each
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/block.sh
. qa/vm/block.sh
# shellcheck source=qa/vm/faults.sh
. qa/vm/faults.sh

faults_block_end()
{
	local dir

	for dir in "$configfs"/qa*; do
		[ ! -d "$dir" ] || rmdir "$dir"
	done
	modprobe -r null_blk 2>/dev/null
	rmmod kmmv_block 2>/dev/null
	faults_end
	unload
}
trap faults_block_end EXIT

modprobe virtio_blk || bail "no virtio_blk"
modprobe null_blk nr_devices=0 || bail "no null_blk"
load_fault kmmv_block
ok "a disk is made before the load" new_null qa0
disk=$(null_disk qa0)
addpart "/dev/$disk" 1 8 1024
loaded()
{
	insmod kmod/kmmv_block.ko
}
unloaded()
{
	rmmod kmmv_block
}
# shows_all: the disks and the partition are shown
shows_all()
{
	[ "$(instances block.dev.read)" = "$(disks)" ] &&
		[ "$(instances block.partitions.read)" = "${disk}p1" ]
}
# What fails after the load is done without, so each load is looked at until it shows all.
loads_all()
{
	loaded && wait_for 30 shows_all
}
fail_each "load" loads_all unloaded
loaded || bail "kmmv_block does not load"
ok "all devices are shown" wait_for 30 shows_all
before vda
io vda
agrees "after the faults of loads" vda

# ---- disks that come and go; $try is fail_each()'s: each name is a new one

# agree DISK: it counts 20 writes as /proc/diskstats does. A histogram may have its instance
# after the disk has, and then what it counted before: another try follows.
agree()
{
	note_counts "$1"
	dd if=/dev/zero of="/dev/$1" bs=4k count=20 oflag=direct 2>/dev/null
	[ -z "$(differences "$1")" ]
}
# lives: a disk comes, is shown, with its partition, works, and goes
lives()
{
	local name=qa$try other

	new_null "$name" || return
	other=$(null_disk "$name")
	addpart "/dev/$other" 1 8 1024 || return
	if ! wait_for 30 is_there block.dev.read "$other" ||
		! wait_for 30 is_there block.partitions.read "${other}p1"; then
		echo "$other is not shown: $(instances block.dev.read | xargs)"
		return 1
	fi
	wait_for 30 agree "$other" || {
		echo "$other: $(differences "$other")"
		return 1
	}
	end_null "$name" && wait_for 30 is_gone block.dev.read "$other"
}
fail_each "a disk comes, works, and goes" lives : never

# Its latencies are shown with the first that it has: of a disk that is shown, this is the
# only call.
fresh=0
prepare()
{
	fresh=$((fresh + 1))
	new_null "fresh$fresh" || return
	other=$(null_disk "fresh$fresh")
	wait_for 30 is_there block.dev.read "$other"
}
works()
{
	wait_for 30 agree "$other"
}
renew()
{
	end_null "fresh$fresh" && wait_for 30 is_gone block.dev.read "$other" && prepare
}
prepare || bail "no disk without work"
fail_each "a new disk works" works renew never
end_null "fresh$fresh"

# Of a disk that is missed, so are the first two tries to find it.
fail_times 3
fail_each "a disk is missed, and two tries fail" lives : never 3
fail_times 1
like "the tries were the driver core's" "$(tail -n 3 "$sites" | xargs)" \
	"class_interface_register kmmv_block_device_again"

before vda
io vda
agrees "after all faults" vda
ok "failures are counted" test "$(value block.failed instances)" -gt 0
ok "kmmv_block unloads" unloaded
all_failed
ok "all modules unload" faults_block_end
is "no module of kmmv is left" "$(grep -c ^kmmv /proc/modules)" 0
finish
