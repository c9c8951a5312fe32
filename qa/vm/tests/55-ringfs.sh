#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# machine: MAXCPUS=6
#
# Rings as objects: configfs and what it refuses, lifetime, modes, the device,
# events of followed counters, CPUs that come later.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/client/client.sh
. qa/client/client.sh

rings=/sys/kernel/config/kmmv/rings

# shellcheck disable=SC2317 # called by the trap
clean_up()
{
	exec 5<&-
	kill %% 2>/dev/null
	wait
	rmdir $rings/[!d]* 2>/dev/null
	unload
}
trap clean_up EXIT

# put RING ATTRIBUTE VALUE: print the error, if any
put()
{
	{ echo "$3" >"$rings/$1/$2"; } 2>&1 | sed 's/.*: //'
}

# make NAME: the same
make()
{
	mkdir "$rings/$1" 2>&1 | sed 's/.*: //'
}

remove()
{
	rmdir "$rings/$1" 2>&1 | sed 's/.*: //'
}

refused()
{
	build/kmmvdump -a -f core.refused |
		sed -n 's/.*"bad_number"\] \([0-9]*\).*/\1/p'
}

busy="Device or resource busy"
range="Numerical result out of range"
invalid="Invalid argument"

# ---- names

load_core && load_client || bail "the modules do not load"
is "default is there, and records" "$(head $rings/default/* 2>&1 | tr '\n' ' ')" \
	"==> $rings/default/enable <== 1  ==> $rings/default/mode <== overwrite  ==> $rings/default/pages <== 64  ==> $rings/default/spares <== 8  ==> $rings/default/trace <== "
is "the ring default cannot be removed" "$(remove default)" "Operation not permitted"
is "the ring default cannot be made" "$(make default)" "File exists"
for name in 'a b' 'a:b' $'a\nb' 'ä' 'a+'; do
	is "no ring is called '$name'" "$(make "$name")" "$invalid"
done
long=1234567890123456789012345678901
is "no ring has a name of 32 bytes" "$(make ${long}2)" "File name too long"
is "a ring may have a name of 31 bytes" "$(make $long)" ""
is "a ring with a name of 31 bytes has its device" \
	"$(stat -c %a:%F /dev/kmmv/ring/$long)" \
	"440:character special file"
is "a ring with a name of 31 bytes can be removed" "$(remove $long)" ""
not_ok "the device of a removed ring is gone" test -e /dev/kmmv/ring/$long
is "a ring's name may have letters, digits, _, - and ." \
	"$(make A_z-0.9)$(remove A_z-0.9)" ""

# ---- attributes

is "a ring can be made" "$(make r)" ""
is "a new ring is not enabled" "$(cat $rings/r/enable)" 0
is "a ring cannot be opened before it is enabled" \
	"$(cat /dev/kmmv/ring/r 2>&1 | sed 's/.*: //')" \
	"No such device"
for value in 0 1 1048577 99999999999999999999; do
	is "a ring cannot have $value pages" "$(put r pages $value)" "$range"
done
for value in -1 +8 x '' 4x 0x8 1e3 '8 16'; do
	is "pages cannot be '$value'" "$(put r pages "$value")" "$invalid"
done
is "a ring cannot have 1025 spares" "$(put r spares 1025)" "$range"
is "spares cannot be 'x'" "$(put r spares x)" "$invalid"
is "spares cannot be 0x2" "$(put r spares 0x2)" "$invalid"
for value in x y on true 2 -1 +1 1e3 010 1000000 '1 0' ''; do
	is "enable cannot be '$value'" "$(put r enable "$value")" "$invalid"
done
is "values that are refused do not enable a ring" "$(cat $rings/r/enable)" 0
is "mode cannot be 'x'" "$(put r mode x)" "$invalid"
is "010 pages are ten" "$(put r pages 010)$(cat $rings/r/pages)" 10
is "a ring can have 4 pages" "$(put r pages 4)" ""
is "a ring can have 2 spares" "$(put r spares 2)" ""
is "pages and spares are as set" "$(cat $rings/r/pages) $(cat $rings/r/spares)" "4 2"
is "a ring can be enabled" "$(put r enable 1)" ""
is "an enabled ring can be enabled again" "$(put r enable 1)" ""
is "pages cannot change while a ring records" "$(put r pages 8)" "$busy"
is "spares cannot change while a ring records" "$(put r spares 3)" "$busy"
put r enable 0
is "pages can change while a ring does not record" "$(put r pages 8)" ""
is "kmmvdump says that a resized ring has no buffers" \
	"$(build/kmmvdump -L | sed -n 's/^r  *//p')" \
	"has no buffers: not enabled yet, or not since it was resized"
is "a resized ring can be resized again and enabled" \
	"$(put r pages 4)$(put r enable 1)" ""
exec 5</dev/kmmv/ring/r
put r enable 0
is "pages cannot change while a ring is open" "$(put r pages 8)" "$busy"
is "a ring cannot be removed while it is open" "$(remove r)" "$busy"
put r enable 1
exec 5<&-

make huge >/dev/null
put huge pages 1048576
is "a ring of more than an eighth of the memory is refused" "$(put huge enable 1)" \
	"Argument list too long"
like "the log says how many pages rings may have" "$(dmesg | tail -n 5)" \
	'ring huge needs 41943[0-9]* pages on 4 CPUs, all rings may have [0-9]* and have [0-9]*$'
is "a ring that is too large is not enabled" "$(cat $rings/huge/enable)" 0
has=$(dmesg | sed -n 's/.*ring huge needs .* and have \([0-9]*\)$/\1/p')

# Every page counts: the pages that enabling a ring allocates, and whether each was
# freed since, by any task.
tracing=/sys/kernel/tracing
pages_watch()
{
	echo global >$tracing/trace_clock
	echo 8192 >$tracing/buffer_size_kb
	echo "common_pid == $$" >$tracing/events/kmem/mm_page_alloc/filter
	echo 1 | tee $tracing/events/kmem/mm_page_{alloc,free}/enable >/dev/null
}
# Those of the ring are zeroed, and no others are allocated in this way.
pages_left()
{
	awk '/ mm_page_alloc: .* gfp_flags=GFP_KERNEL\|__GFP_ZERO$/ { left[$7] }
	/ mm_page_free: / { delete left[$7] }
	END { print length(left) }' $tracing/trace
}
pages_end()
{
	echo 0 | tee $tracing/events/kmem/mm_page_{alloc,free}/enable >/dev/null
	echo 0 >$tracing/events/kmem/mm_page_alloc/filter
	echo >$tracing/trace
}

put huge pages 2000
pages_watch
echo 1 >$rings/huge/enable
# Of each CPU: the ring, 8 spares, one page more, two for its accounts.
is "a smaller ring is enabled with its pages and a header's" "$(pages_left)" \
	$((4 * (2000 + 8 + 1 + 2) + 1))
is "a ring can be removed while it records" "$(remove huge)" ""
is "each page of a removed ring is freed" "$(pages_left)" 0
pages_end
make huge >/dev/null
put huge pages 1048576
put huge enable 1 >/dev/null
is "pages of a removed ring are not counted any more" "$(dmesg |
	sed -n 's/.*ring huge needs .* and have \([0-9]*\)$/\1/p' | xargs)" "$has $has"
remove huge

# ---- counters that are followed

number=$(call "add followed")
other=$(call "add other")
is "a number of no counter cannot be followed" "$(put r trace 99999)" \
	"No such file or directory"
for value in 0 1; do
	is "number $value, the module's own, cannot be followed" \
		"$(put r trace $value)" \
		"Operation not permitted"
done
is "number 4294967295 cannot be followed" \
	"$(put r trace 4294967295)" "No such file or directory"
for value in x '' - +1 --1 0x1; do
	is "trace cannot be '$value'" "$(put r trace "$value")" "$invalid"
done
# Each write is one number; echo would write each line apart.
printf '%s\n%s\n' "$number" "$other" >"$WORK/numbers"
is "trace cannot be two numbers in one write" \
	"$(dd if="$WORK/numbers" of=$rings/r/trace \
	conv=notrunc status=none 2>&1 | sed 's/.*: //')$(cat $rings/r/trace)" \
	"$invalid"
is "a counter that is not followed cannot be taken out" "$(put r trace "-$number")" \
	"No such file or directory"
is "a counter can be followed" "$(put r trace "$number")" ""
is "a second counter can be followed" "$(put r trace "$other")" ""
is "trace lists the counters that are followed" \
	"$(cat $rings/r/trace)" "$number"$'\n'"$other"
is "a counter can move to another ring" "$(put default trace "$other")" ""
is "a counter that moved is in the other ring alone" \
	"$(cat $rings/r/trace) $(cat $rings/default/trace)" \
	"$number $other"
is "a counter that moved can be taken out" \
	"$(put default trace "-$other")$(cat $rings/default/trace)" ""
before=$(call "read $number")
for context in task softirq hardirq; do
	call "adjust $context 2 $number 7" >/dev/null
	call "adjust $context 2 $other 7" >/dev/null
done
is "each update of followed counters counts" \
	"$(call "read $number") $(call "read $other")" \
	"$((before + 21)) 21"
before=$(refused)
call "adjust task 0 99999 1" >/dev/null
call "adjust task 0 1 1" >/dev/null
is "bad numbers are refused as ever" "$(refused)" $((before + 2))

# ---- as many rings that follow as there can be: r and default are two

is "the ring default follows a counter" "$(put default trace "$other")" ""
first=$(call "addmany 0 254 many.")
first=$((${first% *} - 253))
seq -f "$rings/many%g" 254 >"$WORK/many"
xargs mkdir <"$WORK/many"
for ((i = 1; i <= 254; i++)); do
	echo $((first + i - 1)) >"$rings/many$i/trace"
done 2>"$WORK/refused"
is "the 256th ring follows nothing" "$(sed 's/.*: //' "$WORK/refused")$(cat \
	$rings/many254/trace)" "No space left on device"
is "the other rings follow one counter each" \
	"$(cat $rings/many*/trace | sort -n | xargs)" \
	"$(seq -s ' ' $first $((first + 252)))"
is "the 256th ring cannot follow another ring's counter" \
	"$(put many254 trace "$number")" "No space left on device"
is "a counter that is refused stays with its ring" "$(cat $rings/r/trace)" "$number"
is "a ring that follows can follow a second counter" \
	"$(put many253 trace $((first + 253)))" ""
put many253 pages 4
put many253 enable 1
call "adjust task 2 $((first + 252)) 5" >/dev/null
call "adjust task 2 $((first + 253)) 6" >/dev/null
is "the last ring that follows gets the events" \
	"$(timeout 600 build/kmmvdump -R many253 -N 2 | cut -d' ' -f6- | xargs)" \
	"hit counter[many.252] delta=5 hit counter[many.253] delta=6"
remove many7
is "a ring that is removed leaves room for another to follow" \
	"$(put many254 trace $first)$(cat \
	$rings/many254/trace)" "$first"
put default trace "-$other"
make many255
is "a ring that follows nothing any more leaves room as well" \
	"$(put many255 trace $((first + 6)))$(cat $rings/many255/trace)" $((first + 6))
# many1 has lost its only one to many254.
is "a ring that followed nothing any more can follow again" \
	"$(put default trace "$other")" ""
make many256
is "a ring cannot follow when 255 others do" \
	"$(put many256 trace $((first + 6)))" "No space left on device"
ok "rings that follow can be removed" sh -c "ls -d $rings/many* | xargs rmdir"

# ---- modes

is "mode cannot change while a ring has events" "$(put r mode consume)" "$busy"
is "mode can be set to what it is while a ring has events" "$(put r mode overwrite)" ""
put r enable 0
is "mode cannot change in a ring with events that is not enabled" \
	"$(put r mode consume)" "$busy"
put r pages 5
put r pages 4
is "mode can change in an empty ring" \
	"$(put r mode consume)$(cat $rings/r/mode)" consume
put r enable 1
is "mode can change in an empty ring while it records" \
	"$(put r mode overwrite)$(cat $rings/r/mode)" overwrite

# ---- the device

put r enable 0
put r pages 5
put r pages 4
put r enable 1
program build/qa/vm/ring-device r "$number"

# ---- as many spares as there can be, and programs of 32 bits

call "ring type qa.record" >/dev/null
# answers PROGRAM PAGES SPARES ARGUMENT: what it says of a new ring
answers()
{
	make big
	put big pages "$2"
	put big spares "$3"
	put big trace "$number"
	put big enable 1
	[ "$(call "ring get big")" = 0 ] || echo "not ring 0"
	"build/qa/vm/$1" big "$4"
	call "ring put 0" >/dev/null
	remove big
}

all_spares="CLAIM: 0
TAKE: 0, 1024
TAKE: 0, 1
TAKE: EAGAIN, 0
1025 pages, 1024 spares, not their own or in order: 0
taken 1025, inside 75
RELEASE: 0
then there is the rest: 1"
is "a consumer has one page and 1024 spares" "$(answers ioctls 1100 1024 spares)" \
	"$all_spares"
answers ioctls 4 2 "$number" >"$WORK/answers"
note "$(cat "$WORK/answers")"
is "all ioctls answer" "$(wc -l <"$WORK/answers")" 43
if [ "$(getconf LONG_BIT)" = 32 ] ||
   ! grep -qx CONFIG_IA32_EMULATION=y "/boot/config-$KVER"; then
	skip "all ioctls answer a program of 32 bits the same" \
		"machine: it runs none beside others"
else
	answers ioctls32 4 2 "$number" >"$WORK/answers32"
	is "all ioctls answer a program of 32 bits the same" \
		"$(diff "$WORK/answers" "$WORK/answers32" 2>&1)" ""
	is "a consumer of 32 bits has one page and 1024 spares" \
		"$(answers ioctls32 1100 1024 spares)" \
		"$all_spares"
fi

# ---- kmmvdump on them

# Of each event: CPU, ring, type, instance, fields.
said()
{
	cut -d' ' -f4- "$1"
}
# hits FIRST LAST: that CPU 1 had, of ring k
hits()
{
	seq -f '1 k hit counter["followed"] delta=%g' "$@"
}
# listed RING: all but its name
listed()
{
	build/kmmvdump -L | sed -n "s/^$1  *//p" | xargs
}
make k
put k pages 4
put k spares 2
put k trace "$number"
put k enable 1
call "adjust task 1 $number 1" >/dev/null
call "adjust task 1 $number 2" >/dev/null
build/kmmvdump -F k >"$WORK/dump" &
follows=$!
ok "--follow prints what is there" wait_for 20 grep -q delta=2 "$WORK/dump"
call "adjust task 1 $number 3" >/dev/null
ok "--follow prints what comes" wait_for 20 grep -q delta=3 "$WORK/dump"
is "--follow prints each event once" "$(said "$WORK/dump")" "$(hits 1 3)"
kill -INT $follows
wait $follows
is "--follow succeeds when it is interrupted" $? 0
is "--rings: all is inside" "$(listed k)" "overwrite 4 2 4 on 3 3 0 0 0 0"
build/kmmvdump -x -R k >"$WORK/dump" &
follows=$!
ok "--consume prints what is there" wait_for 20 grep -q delta=3 "$WORK/dump"
is "--consume is refused where there is a consumer" \
	"$(timeout 600 build/kmmvdump -x -R k 2>&1 |
	grep -o "already has a consumer")" "already has a consumer"
call "adjust task 1 $number 4" >/dev/null
ok "--consume prints what comes" wait_for 20 grep -q delta=4 "$WORK/dump"
kill -INT $follows
wait $follows
is "--consume prints each event once" "$? $(said "$WORK/dump")" "0 $(hits 1 4)"
is "--rings: all was released" "$(listed k)" "overwrite 4 2 4 on 4 0 0 4 0 0"

timeout 600 build/kmmvdump -oconsume,16 -i followed -N 3 >"$WORK/dump" &
own=$!
# shellcheck disable=SC2317 # called by wait_for
owned()
{
	grep -qsx "$number" $rings/kmmvdump-0/trace
}
ok "--own makes a ring, which follows" wait_for 20 owned
is "--own makes a ring with the mode and pages asked for" \
	"$(cat $rings/kmmvdump-0/{mode,pages,enable} | xargs)" \
	"consume 16 1"
is "--own takes a counter out of the ring that followed it" "$(cat $rings/k/trace)" ""
for delta in 5 6 7; do
	call "adjust task 1 $number $delta" >/dev/null
done
wait $own
is "--own prints its ring's events" \
	"$? $(said "$WORK/dump")" "0 $(hits 5 7 | sed 's/ k / kmmvdump-0 /')"
not_ok "--own removes its ring" test -e $rings/kmmvdump-0
{
	timeout 600 build/kmmvdump -o -i followed
	echo $? >"$WORK/status"
} | true
is "--own ends when the reader of its output has gone" "$(cat "$WORK/status")" 1
not_ok "--own removes its ring when the reader of its output has gone" \
	test -e $rings/kmmvdump-0
build/kmmvdump -o -i followed >"$WORK/dump" &
own=$!
ok "--own without an end makes a ring, which follows" wait_for 20 owned
kill -KILL $own
wait $own 2>/dev/null
ok "--own that is killed leaves its ring" test -e $rings/kmmvdump-0
left=$(stat -c %i $rings/kmmvdump-0)
timeout 600 build/kmmvdump -o -i followed -N 1 >"$WORK/dump" &
own=$!
# shellcheck disable=SC2317 # called by wait_for
renewed()
{
	owned && [ "$(stat -c %i $rings/kmmvdump-0)" != "$left" ]
}
ok "--own makes a ring of the name that a killed one left" wait_for 20 renewed
call "adjust task 1 $number 8" >/dev/null
wait $own
is "--own removes a ring of the name that a killed one left" \
	"$? $(said "$WORK/dump") $(find $rings -name "kmmvdump-*" | wc -l)" \
	"0 $(hits 8 8 | sed 's/ k / kmmvdump-0 /') 0"
# kmmv's own instances leave no events.
timeout 600 build/kmmvdump -o -i '*' -N 1 >"$WORK/dump" &
own=$!
ok "--own for all instances follows the counter" wait_for 20 owned
call "adjust task 1 $number 9" >/dev/null
wait $own
is "--own for all instances prints their events" "$? $(said "$WORK/dump")" \
	"0 $(hits 9 9 | sed 's/ k / kmmvdump-0 /')"
is "--own for kmmv's own instances alone fails" \
	"$(timeout 600 build/kmmvdump -o -i bad_number 2>&1; echo $?)" \
	"kmmvdump: $rings/kmmvdump-0/trace: Operation not permitted
1"
remove k
put r trace "$number"

# ---- what holds it

mkfifo "$WORK/go"
build/qa/vm/ring-device r hold <"$WORK/go" >"$WORK/said" &
exec 4>"$WORK/go"
wait_for 20 grep -q mapped "$WORK/said" || bail "nobody holds the mapping"
is "a ring cannot be removed while mapped, with no file open" "$(remove r)" "$busy"
put r enable 0
is "pages cannot change while a ring is mapped" "$(put r pages 8)" "$busy"
put r enable 1

# ---- CPUs that come up later, and go

call "adjust task 3 $number 7" >/dev/null
echo 0 >/sys/devices/system/cpu/cpu3/online
echo read >&4
wait_for 20 grep -q '^3 ' "$WORK/said"
like "what an offline CPU wrote can be read" "$(cat "$WORK/said")" '^3 7 f$'
echo 1 >/sys/devices/system/cpu/cpu3/online
call "adjust task 3 $number 9" >/dev/null
echo read >&4
# shellcheck disable=SC2317 # called by wait_for
reads() { [ "$(grep -c '^3 ' "$WORK/said")" -ge "$1" ]; }
wait_for 20 reads 2
is "a CPU that comes again writes" "$(sed -n '$p' "$WORK/said")" "3 9 f"
exec 4>&-
wait %1
is "the reader of a mapped ring ends with status 0" $? 0

# ---- rings of modules

is "a module's ring without a name is refused" "$(call "ring make 4")" -22
is "a module's ring with a name that is not valid is refused" \
	"$(call "ring make 4 a:b")$(call "ring make 4 ..")" -22-22
is "a module's ring with a name of 32 bytes is refused" \
	"$(call "ring make 4 ${long}2")" -36
is "a module's ring of one page is refused" "$(call "ring make 1 own")" -34
not_ok "a module's ring that is refused has no device" test -e /dev/kmmv/ring/own

# A module and a user make a ring of one name at once: there is one, of one of the two.
strange=''
for ((i = 0; i < 16; i++)); do
	make own$i >"$WORK/said" &
	ring=$(call "ring make 2 own$i")
	wait $!
	said=$(<"$WORK/said")
	case $ring:$said in
	[0-9]:"File exists") enabled=1 ;;	# the module's
	[0-9]: | -2:) enabled=0 ;;		# the user's, found or not complete
	*) enabled=none ;;
	esac
	found=$(cat $rings/own$i/enable):$(find /dev/kmmv/ring -name own$i | wc -l)
	[ "$found" = $enabled:1 ] || strange+=" $ring:$said:$found"
	[[ $ring != [0-9] ]] || call "ring put $ring" >/dev/null
	[ $enabled = 1 ] || remove own$i >/dev/null
done
is "of two that make a ring of one name, one does" "$strange" ""

rmmod kmmv_client
not_ok "kmmv stays while there is a ring" rmmod kmmv
is "the last ring can be removed" "$(remove r)" ""
exec 5</dev/kmmv/ring/default
not_ok "kmmv stays while default is open" rmmod kmmv
exec 5<&-
ok "kmmv unloads when default is closed" rmmod kmmv

# ---- the parameter

ok "kmmv loads with ring_pages=0" load_core ring_pages=0
is "default is not enabled with ring_pages=0" "$(cat $rings/default/enable)" 0
is "default can be enabled with ring_pages=0" "$(put default enable 1)" ""
unload
ok "kmmv loads with ring_pages=16" load_core ring_pages=16
is "default is enabled and has 16 pages with ring_pages=16" \
	"$(cat $rings/default/pages) $(cat $rings/default/enable)" \
	"16 1"
unload
for value in 1 1048577; do
	not_ok "kmmv does not load with ring_pages=$value" load_core ring_pages=$value
done
like "the log says which ring_pages there may be" "$(dmesg | tail -n 3)" \
	'ring_pages=1048577 is out of range: 2 to 1048576, or 0$'
not_ok "no node is left of a load that is refused" test -e /dev/kmmv
finish
