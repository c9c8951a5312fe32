#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# machine: SMP=2
#
# Each allocation in loading, adding, opening, reading and making rings fails once:
# the call fails with ENOMEM, all is undone, and it succeeds the next time. Needs a
# kernel that injects faults: make check KERNEL=debug T=17-faults.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/client/client.sh
. qa/client/client.sh

debug=/sys/kernel/debug
rings=/sys/kernel/config/kmmv/rings
fault=build/qa/vm/fault

[ -d $debug/failslab ] || skip_all "machine: this kernel injects no faults"

# shellcheck disable=SC2317 # called by the trap
clean_up()
{
	rmdir $rings/[!d]* 2>/dev/null
	unload
}
trap clean_up EXIT

# Sleeping allocations of any size fail, without a message for each.
for kind in failslab fail_page_alloc; do
	echo 0 >$debug/$kind/verbose
	echo N >$debug/$kind/ignore-gfp-wait
done
echo N >$debug/fail_page_alloc/ignore-gfp-highmem
echo 0 >$debug/fail_page_alloc/min-order
# Expected messages of vmalloc(), the module loader and kmemleak, and the lines of their
# call traces. A fault of our own begins with another line.
printf '%s\n' 'vmalloc error' 'allocation failure' 'allocation failed' 'percpu: ' \
	'Call Trace:' 'RIP: 0033:' '  \? lockdep_[a-z_]*\+0x' 'kobject: can not set name' \
	'kobject_add_internal failed' 'kobject_add error: -12' \
	'kmemleak: Cannot allocate a scan area' >>"$KMSG_EXPECT"

# refused NAME LEAST OPERATION...: at least so many faults, and no error
refused()
{
	local name=$1 least=$2 text faults

	shift 2
	text=$($fault "$@" 2>&1)
	if [ $? -ne 0 ]; then
		fail "$name: each fault is refused or done without" "$text"
		return
	fi
	pass "$name: each fault is refused or done without: $text"
	faults=${text%% faults*}
	ok "$name: there are at least $least faults" test "$faults" -ge "$least"
}

# Each load takes seconds; the pages of a buffer are all alike.
refused "kmmv.ko" 20 load kmod/kmmv.ko ring_pages=4
load_core || bail "kmmv.ko does not load"
refused "kmmv_stat.ko" 20 load kmod/kmmv_stat.ko
insmod kmod/kmmv_stat.ko || bail "kmmv_stat.ko does not load"
load_client || bail "the client does not load"

family=$(call "family 0|byte|qa.first|First|")
before=$(names | grep -c 'state=active')
refused "kmmv_register_family()" 2 call "family 0|byte|qa.family%d|One|"
refused "perf_add()" 1 call "add one%d" "del %d" "forget %d"
refused "kmmv_add()" 1 call "addin $family two%d" "del %d" "forget %d"
n=$(call "addin $family three")
refused "kmmv_set_label()" 1 call "label $n colour|red%d"
is "an instance has one label after the faults" \
	"$(names | grep -c "^label number=$n ")" 1
call "del $n" >/dev/null
is "a labelled instance can be forgotten" "$(call "forget $n")" 0
is "no instance that was refused is active" \
	"$(names | grep -c 'state=active')" "$before"

refused "a ring" 5 mkdir $rings/ring
mkdir $rings/ring || bail "no ring"
refused "a ring's buffers" 5 write $rings/ring/enable 1 0
echo 1 >$rings/ring/enable || bail "the ring is not enabled"
refused "kmmv_ring_register_type()" 2 call "ring type qa.event%d"

for file in counters names ring/ring; do
	refused "open of $file" 1 open /dev/kmmv/$file
done
refused "mmap of counters" 1 map /dev/kmmv/counters
refused "read of names" 1 read /dev/kmmv/names

# Everything still works.
a=$(call "addin $family four")
call "adjust task 0 $a 7" >/dev/null
is "counters count after the faults" "$(call "read $a")" 7
ring=$(call "ring get ring")
is "rings take events after the faults" "$(call "ring write $ring task 0 100 10")" 0
call "ring put $ring" >/dev/null
echo 0 >$rings/ring/enable
ok "the ring can be removed" rmdir $rings/ring
ok "the modules unload" unload
finish
