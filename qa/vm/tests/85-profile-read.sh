#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
#
# /dev/kmmv/profile gives every sample once, waits for a watershed's worth and for
# nothing else, and has an end when sampling stops.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/profile.sh
. qa/vm/profile.sh

device=/dev/kmmv/profile
not_ok "kmmv_profile does not load with a queue of nothing" load read_entries=0
rmmod kmmv
ok "the modules load" load freq=197 read_entries=200
is "the device is root's, of mode 440" \
	"$(command stat -c '%U:%G %a' $device)" "root:root 440"
echo 1 >$config/idle
# So that nothing is lost before it is an entry, whatever the machine does.
buffer=65536
echo $buffer >$config/buffer_size

program=$(build/qa/vm/profile-read)
status=$?
planned=
while IFS= read -r line; do
	case $line in
	"ok "*) pass "${line#ok * - }" ;;
	"not ok "*) fail "${line#not ok * - }" ;;
	"1.."*) planned=${line#1..} ;;
	*) echo "$line" ;;
	esac
done <<<"$program"
is "all tests that are planned are run" "$status $planned" \
	"0 $(printf '%s\n' "$program" | grep -cE '^(not )?ok ')"
accounted "after all readers"

# What a program's samples say, by the tools of a shell. The queue is as long as a
# reader may be late.
ok "the modules unload" unload
ok "the modules load with a long queue" load freq=197 read_entries=65536
echo $buffer >$config/buffer_size
echo 0 >$config/idle
echo 100 >/sys/module/kmmv_profile/parameters/drain_ms
# Page faults, by the numbers of sysfs.
mkdir $config/events/qafault
ok "an event by numbers is accepted" sh -c "echo \$(cat \
	/sys/bus/event_source/devices/software/type):2 >$config/events/qafault/event"
echo 1 >$config/events/qafault/count
echo 1 >$config/events/qafault/enabled
exec 7<$device
start
# It ends when sampling does.
dd bs=65536 <&7 2>/dev/null >"$WORK/entries" &
reader=$!
kill -STOP $reader
# A program that ends before the worker has found its file is [unknown].
burn_until 50 $burn 3000 100 >/dev/null
kill -CONT $reader
not_ok "kmmv_profile does not unload while the device is open" rmmod kmmv_profile
stop
wait $reader
is "a reader comes to its end" $? 0
exec 7<&-
is "a reader gets whole entries" $(($(command stat -c %s "$WORK/entries") % 256)) 0
is "no sample is lost before an entry" "$(python3 -c 'import struct, sys
entries = sys.stdin.buffer.read()
print(sum(struct.unpack_from("<Q", entries, at + 32)[0]
          for at in range(0, len(entries), 256)))' <"$WORK/entries")" 0
tr '\0' '\n' <"$WORK/entries" | sort | uniq -c >"$WORK/words"
for word in burn default qafault "/.*/burn"; do
	like "entries have $word" "$(cat "$WORK/words")" "^ *[0-9]+ $word\$"
done
rmdir $config/events/qafault
# Numbers have no eight printable bytes in a row.
is "no address is in the text of entries" \
	"$(strings -n 8 "$WORK/entries" | grep -ciE '0x|ffffffff[0-9a-f]{4}')" 0
no_address "no address is in the bytes of entries" "$WORK/entries"
ok "everything unloads" unload
not_ok "the device is gone" test -e $device
finish
