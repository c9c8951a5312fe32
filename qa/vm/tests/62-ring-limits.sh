#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
#
# Many rings, many readers, and hostile readers: the limits, and that others are not
# affected.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/client/client.sh
. qa/client/client.sh

rings=/sys/kernel/config/kmmv/rings

# shellcheck disable=SC2317 # called by the trap
clean_up()
{
	rmdir $rings/[!d]* 2>/dev/null
	rmmod kmmv_hold 2>/dev/null
	rmmod vsock 2>/dev/null
	unload
}
trap clean_up EXIT

load_core && load_client || bail "the modules do not load"

# ---- more rings than there are minor numbers

seq -f "$rings/many%g" 1000 >"$WORK/many"
misc=$(wc -l </proc/misc)
ok "a thousand rings can be made" xargs mkdir <"$WORK/many"
is "a thousand rings have a thousand devices" \
	"$(find /dev/kmmv/ring -name 'many*' -type c \
	-perm 0440 | wc -l)" 1000
is "no ring takes a minor number of misc devices" "$(wc -l </proc/misc)" "$misc"
modprobe -r vsock 2>/dev/null
ok "another driver finds a minor number" modprobe vsock
ok "another driver's minor number is in /proc/misc" grep -q vsock /proc/misc
echo 1 >$rings/many777/enable
ok "a ring among a thousand that is enabled can be opened" \
	dd if=/dev/kmmv/ring/many777 of=/dev/null bs=64k \
	count=1 status=none
is "a ring among a thousand that is not enabled cannot be opened" \
	"$(cat /dev/kmmv/ring/many776 2>&1 | sed 's/.*: //')" \
	"No such device"
ok "a thousand rings can be removed" xargs rmdir <"$WORK/many"
is "no device but default is left" "$(ls /dev/kmmv/ring)" default
mkdir $rings/many1
is "names and numbers can be used again" "$(stat -c %a /dev/kmmv/ring/many1)" 440
# An old node, or a number in a cache, does not lead to a new ring.
before=$(stat -c %T /dev/kmmv/ring/many1)
rmdir $rings/many1
mkdir $rings/many2
after=$(stat -c %T /dev/kmmv/ring/many2)
not_ok "a number that was given back is not the next one's" \
	test "$after" = "$before"
rmdir $rings/many2
mkdir $rings/many1
mknod "$WORK/stale" c "0x$(stat -c %t /dev/kmmv/ring/many1)" 999
is "a number of no ring leads nowhere" \
	"$(cat "$WORK/stale" 2>&1 | sed 's/.*: //')" "No such device"
rmdir $rings/many1
is "the log has no duplicate of a device" \
	"$(dmesg | grep -c 'cannot create duplicate')" 0

# ---- making a large ring keeps no caller waiting

mkdir $rings/large
found=0 tries=0
while [ $found = 0 ] && [ $((tries++)) -lt 20 ]; do
	echo 8001 >$rings/large/pages
	echo 8000 >$rings/large/pages
	free=$(awk '/^MemFree/ { print $2 }' /proc/meminfo)
	# A busy CPU makes it last.
	taskset -c 1 sh -c 'while :; do :; done' &
	burner=$!
	taskset -c 1 nice -n 19 sh -c "echo 1 >$rings/large/enable" &
	enabler=$!
	until [ "$(awk '/^MemFree/ { print $2 }' /proc/meminfo)" -lt \
		$((free - 10000)) ] || ! kill -0 $enabler 2>/dev/null; do
		:
	done
	dd if=/dev/kmmv/ring/default of=/dev/null bs=64k count=1 status=none &&
		[ "$(cat $rings/large/enable)" = 0 ] && found=1
	kill $burner
	wait
	echo 0 >$rings/large/enable
done
is "a ring can be opened while a large one is made (try $tries)" $found 1
rmdir $rings/large

# ---- hostile readers

mkdir $rings/hostile
echo 1 >$rings/hostile/enable
chmod 444 /dev/kmmv/ring/hostile
program build/qa/vm/ring-hostile hostile

# ---- a consumer that is stopped

hold=qa/client/kmmv_hold.ko
mkdir $rings/held
echo 1 >$rings/held/enable
insmod $hold ring=held cpu=1 || bail "no $hold"
ok "accounts do not wait for a consumer that is stopped" \
	timeout 600 build/qa/vm/ring-hostile held stats
echo consume >$rings/held/mode &
ok "another mode does not wait for a consumer that is stopped" \
	wait_for 20 grep -q consume $rings/held/mode
rmmod kmmv_hold
wait $!
rmdir $rings/held
rmmod kmmv_client
ok "the ring of the hostile readers can be removed" rmdir $rings/hostile
ok "the modules unload" unload
finish
