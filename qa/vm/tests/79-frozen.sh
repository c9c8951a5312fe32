#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# machine: SMP=2
#
# Counters and rings are removed where memory must not wait for I/O: in the scope of
# memalloc_nofs_save(), with a disk's queue frozen and I/O that waits for it. A removal
# must not wait for an allocation: so memory is never allocated under the locks that it
# takes, whatever is done with kmmv.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/block.sh
. qa/vm/block.sh
# shellcheck source=qa/client/client.sh
. qa/client/client.sh

frozen=/sys/module/kmmv_frozen/parameters
rings=/sys/kernel/config/kmmv/rings
cpu1=/sys/devices/system/cpu/cpu1/online
rounds=5
[ "${KMMV_SOAK:-0}" = 0 ] || rounds=100

# shellcheck disable=SC2317 # called by the trap
clean_up()
{
	touch "$WORK/end"
	[ ! -e $frozen/call ] || tell thaw
	wait
	echo 1 >$cpu1
	rmdir $rings/[!d]* 2>/dev/null
	[ ! -e $frozen ] || rmmod kmmv_frozen
	[ ! -e /sys/module/kmmv_statctr ] || rmmod kmmv_statctr
	end_null qa0
	modprobe -r null_blk
	unload
}
trap clean_up EXIT

# tell COMMAND: qa/client/frozen.c's answer, "" for success
tell()
{
	{ echo "$1" >$frozen/call; } 2>&1 | sed 's/.*: //'
}

# address NAME: of data of kmmv.ko, which not every kernel's kallsyms has
address()
{
	local offset section

	read -r offset section < <(objdump -t kmod/kmmv.ko |
		awk -v name="$1" '$NF == name { print $1, $(NF - 2) }')
	printf '0x%x\n' $((16#$offset + $(cat "/sys/module/kmmv/sections/$section")))
}

# waits PID: whether the task sleeps and no signal wakes it, as for I/O
waits()
{
	[ "$(sed -n 's/^State:\t\(.\).*/\1/p' "/proc/$1/status")" = D ]
}

# All that changes the table, its memory, or the rings, while others do, too. What it
# deletes it has added itself, by a name of its own.
change()
{
	local i j number ring

	ring=$(call "ring get default")
	for ((i = 0; i < rounds; i++)); do
		call "family 0|count|qa.frozen.f$i|one line|help" >/dev/null
		# Numbers and names that need memory.
		call "addmany 0 2000 storm$i." >/dev/null
		for ((j = 0; j < 20; j++)); do
			number=$(call "add change$i.$j")
			call "label $number key|text" >/dev/null
			call "ring trace $ring $number" >/dev/null
			call "adjust task -1 $number 1" >/dev/null
			call "label $number (null)" >/dev/null
			call "del $number" >/dev/null
			[ "$(call "forget $number")" = 0 ] || return
		done
		call "ring type qa.frozen.t$i" >/dev/null
		mkdir $rings/qa$i && echo 1 >$rings/qa$i/enable &&
			echo 0 >$rings/qa$i/enable && rmdir $rings/qa$i || return
		echo 0 >$cpu1
		echo 1 >$cpu1
	done
	call "ring put $ring"
}

look()
{
	until [ -e "$WORK/end" ]; do
		build/kmmvdump -r 0
		build/kmmvdump -a -n
	done >/dev/null 2>&1
}

load_core && load_client || bail "the modules do not load"
modprobe null_blk nr_devices=0 && new_null qa0 || bail "no null_blk"
disk=$(null_disk qa0)
insmod qa/client/kmmv_frozen.ko table="$(address kmmv_table)" \
	hold="$(address hold_lock)" || bail "kmmv_frozen does not load"

# ---- with a frozen queue

is "a disk is frozen, with a counter made" "$(tell "freeze /dev/$disk")" ""
like "the counter made with a frozen disk is active" "$(instance 0 qa.frozen)" "active"
dd if="/dev/$disk" of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null &
reader=$!
ok "a read of a frozen disk waits" wait_for 5 waits $reader
is "counters and rings are removed while a disk is frozen" "$(tell remove)" ""
ok "the read still waits after the removal" waits $reader
is "the counter that was removed is gone" "$(instance 0 qa.frozen)" ""
is "the disk can be thawed" "$(tell thaw)" ""
wait $reader
is "the read succeeds when the disk is thawed" $? 0

# While others need memory, time and again.
call "addmany 0 3000 many" >/dev/null
look &
change >"$WORK/change" &
changes=$!
for ((i = 0; i < rounds * 4; i++)); do
	answer=$(tell "freeze /dev/$disk" && tell remove && tell thaw)
	[ -z "$answer" ] || break
done
is "removals succeed while others change the table" "$answer" ""
wait $changes
is "changes of the table succeed" $? 0
is "changes of the table come to the end" "$(cat "$WORK/change")" 0
insmod qa/client/kmmv_statctr.ko updates=100 hold=2000 && rmmod kmmv_statctr
touch "$WORK/end"
wait

# ---- who allocates

note "$(cat $frozen/seen) allocations seen"
ok "allocations are seen" test "$(cat $frozen/seen)" -gt 1000
is "no allocation is under a lock that removals take" "$(cat $frozen/under)" 0
tell own
is "an allocation under a lock, made on purpose, is noticed" \
	"$(($(cat $frozen/under) > 0))" 1

ok "kmmv_frozen unloads" rmmod kmmv_frozen
finish
