# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The common part of the tests of kmmv_block: `. qa/vm/block.sh`, after tap.sh.

check=build/qa/vm/block-check
configfs=/sys/kernel/config/nullb

load()
{
	insmod kmod/kmmv.ko "$@" && insmod kmod/kmmv_block.ko
}

unload()
{
	local name

	for name in kmmv_block kmmv_stat kmmv; do
		[ ! -e "/sys/module/$name" ] || rmmod "$name" || return
	done
}

# settle: have kmmv_block show all that was counted until now. What a histogram counts
# first has no instance before the module's work has run, and what is counted early is
# added to an instance only at the end of a run. Runs do not overlap. When a disk is shown,
# the run that was begun before may still go on, and the one that hides it may be the first
# to see all that was counted. The second time it is hidden by a later one.
settle()
{
	local disk i

	for i in 1 2; do
		new_null qa9 && disk=$(null_disk qa9) &&
			wait_for 20 is_there block.dev.read "$disk" &&
			end_null qa9 &&
			wait_for 20 is_gone block.dev.read "$disk" && continue
		note "what was counted may not be shown yet"
		end_null qa9
		return
	done
}

# note_counts NAME: for what is counted since
note_counts()
{
	$check counts "$1" >"$WORK/before.$1"
}

# before NAME...: note their counts, for agrees
before()
{
	local name

	settle
	for name; do
		note_counts "$name"
	done
}

# gains NAME: what it counted since: "WHAT THEIRS OURS", - for what is not there
gains()
{
	$check counts "$1" | awk '
		NR == FNR { theirs[$1] = $2; ours[$1] = $3; next }
		{ print $1, $2 == "-" ? "-" : $2 - theirs[$1],
			$3 == "-" ? "-" : $3 - ours[$1] }' "$WORK/before.$1" -
}

# gain NAME WHAT: what it counted of WHAT since, by kmmv
gain()
{
	gains "$1" | awk -v what="$2" '$1 == what { print $3 }'
}

# differences NAME: counts that do not agree; times are looked at by others
differences()
{
	gains "$1" | awk '$1 !~ /rawactive/ && $2 != "-" && $3 != "-" && $2 != $3'
}

# agrees TEXT NAME: its counts since before are those of /proc/diskstats
agrees()
{
	settle
	note "$2: $(gains "$2" | awk '$3 > 0 { print $1 "=" $3 }' | xargs)"
	is "$1: $2 is equal to /proc/diskstats" "$(differences "$2")" ""
}

# instances FAMILY: the names of those that are active
instances()
{
	build/kmmvdump -f "$1" | sed -n 's/^[^ ]*\["\(.*\)"\] .*/\1/p' | sort
}

# The disks that the kernel has, by name.
disks()
{
	find /sys/block -mindepth 1 -printf '%f\n' | sort
}

# number FAMILY NAME: its number, active or not
number()
{
	build/kmmvdump -n -a -f "$1" |
		sed -n "s,^[^ ]*\\[\"$2\"\\] number \\([0-9.]*\\).*,\\1,p"
}

# label FAMILY NAME
label()
{
	build/kmmvdump -f "$1" | sed -n "s,^[^ ]*\\[\"$2\"\\] [0-9]* *,,p"
}

value()
{
	build/kmmvdump -r 0 -f "$1" |
		sed -n "s,^[^ ]*\\[\"$2\"\\] \\([0-9]*\\).*,\\1,p"
}

# shellcheck disable=SC2317 # called by wait_for
is_there()
{
	instances "$1" | grep -qx "$2"
}

# shellcheck disable=SC2317 # called by wait_for
is_gone()
{
	! is_there "$1" "$2"
}

# The tracepoints of the block layer that have probes.
probes()
{
	xargs </sys/module/kmmv_probes/parameters/block
}

# addpart DISK N START LENGTH, delpart DISK N: in sectors; no table is read or written
addpart()
{
	$check addpart "$@"
}

delpart()
{
	$check delpart "$@"
}

# new_null NAME [ATTRIBUTE=VALUE...]: a disk of null_blk
new_null()
{
	local attribute dir=$configfs/$1

	shift
	mkdir "$dir" || return
	for attribute in memory_backed=1 size=64 "$@"; do
		echo "${attribute#*=}" >"$dir/${attribute%%=*}" || return
	done
	echo 1 >"$dir/power"
}

# null_disk NAME: the kernel's name of it, which was another one once
null_disk()
{
	if [ -e "/sys/block/$1" ]; then
		echo "$1"
	else
		echo "nullb$(cat "$configfs/$1/index")"
	fi
}

end_null()
{
	[ ! -d "$configfs/$1" ] || rmdir "$configfs/$1"
}

# new_md NAME DISK...: an array of stripes of 64 KiB; no metadata is written
new_md()
{
	local dir=/sys/block/$1/md i=0 disk

	modprobe md_mod && echo "$1" >/sys/module/md_mod/parameters/new_array &&
		echo raid0 >"$dir/level" && echo 65536 >"$dir/chunk_size" &&
		echo $(($# - 1)) >"$dir/raid_disks" || return
	for disk in "${@:2}"; do
		cat "/sys/block/$disk/dev" >"$dir/new_dev" &&
			echo $(($(cat "/sys/block/$disk/size") / 2)) \
				>"$dir/dev-$disk/size" &&
			echo $i >"$dir/dev-$disk/slot" || return
		i=$((i + 1))
	done
	echo active >"$dir/array_state"
}

end_md()
{
	[ ! -d "/sys/block/$1/md" ] || echo clear >"/sys/block/$1/md/array_state"
}

# io DISK: writes, reads, merges, flushes and discards, of which none is left when
# it returns
io()
{
	dd if=/dev/zero of="/dev/$1" bs=64k count=20 oflag=direct
	dd if=/dev/zero of="/dev/$1" bs=4k count=700 conv=fsync
	dd if=/dev/zero of="/dev/$1" bs=512 count=9 seek=77 oflag=direct,sync
	dd if="/dev/$1" of=/dev/null bs=128k count=10 iflag=direct
	blockdev --flushbufs "/dev/$1"
	dd if="/dev/$1" of=/dev/null bs=4k count=300
	blkdiscard -f -o 1048576 -l 2097152 "/dev/$1" || :
	sync "/dev/$1"
	# Read-ahead that no reader waits for.
	wait_for 10 idle "$1"
} 2>/dev/null

# shellcheck disable=SC2317 # called by wait_for
idle()
{
	awk '{ exit $1 + $2 != 0 }' "/sys/class/block/$1/inflight"
}

# come_and_go NAME: a disk comes, works, and goes, with one partition or two, $rounds
# times. Each time 20 times 4096 bytes are written.
# shellcheck disable=SC2154 # rounds
come_and_go()
{
	local name=$1 i other

	for ((i = 0; i < rounds; i++)); do
		new_null "$name" || return
		other=$(null_disk "$name")
		addpart "/dev/$other" 1 8 1024 2>/dev/null
		addpart "/dev/$other" 2 2048 1024 2>/dev/null
		dd if=/dev/zero of="/dev/$other" bs=4k count=20 oflag=direct
		[ ! -e "/dev/${other}p1" ] ||
			dd if="/dev/${other}p1" of=/dev/null bs=4k count=5 iflag=direct
		delpart "/dev/$other" 2 2>/dev/null
		# Work that is there when the disk goes.
		dd if="/dev/$other" of=/dev/null bs=4k count=1000 iflag=direct &
		end_null "$name"
		wait $!
	done 2>/dev/null
}
