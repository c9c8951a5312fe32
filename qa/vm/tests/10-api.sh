#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every call of the kernel API, its errors, and that an error changes nothing.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/client/client.sh
. qa/client/client.sh
trap unload EXIT

# repeat COUNT TEXT
repeat()
{
	local i text=

	for ((i = 0; i < $1; i++)); do
		text+=$2
	done
	printf '%s' "$text"
}

# refuses WHAT COMMAND ERRNO: and neither the names nor the generation change
refuses()
{
	local before after got

	before=$(names)
	got=$(call "$2")
	after=$(names)
	is "refused: $1 ($3)" "$got" "$(errno "$3")" || return
	[ "$before" = "$after" ] ||
		fail "refused: $1: the names are unchanged" "$(diff <(echo "$before") \
			<(echo "$after"))"
}

everything()
{
	names
	build/qa/vm/header
}

refused_count()
{
	call "read $1"
}

# ---- loading

ok "a client built without kmmv loads without it" \
	insmod qa/client/kmmv_noop.ko
is "a client built without kmmv depends on no module" \
	"$(modinfo -F depends qa/client/kmmv_noop.ko)" ""
rmmod kmmv_noop
not_ok "a client built with kmmv does not load without it" load_client
load_core || bail "kmmv.ko does not load"
other=${KMMV_OTHER_CLIENT-build/flexible/qa/client}
not_ok "a client of the other allocator's does not load" \
	insmod "$other/kmmv_client.ko"
like "the other allocator's client lacks kmmv_get_slot" "$(dmesg | tail -n 20)" \
	'kmmv_client: Unknown symbol kmmv_get_slot'
not_ok "a client of the other allocator's with statctrs does not load" \
	insmod "$other/kmmv_statctr.ko" updates=0
like "the other allocator's client with statctrs lacks statctr_ninit" \
	"$(dmesg | tail -n 20)" \
	'kmmv_statctr: Unknown symbol statctr_ninit'
load_client || bail "the client does not load"
ok "a client built without kmmv loads beside one built with it" \
	insmod qa/client/kmmv_noop.ko
rmmod kmmv_noop
not_ok "kmmv does not unload while a client is there" rmmod kmmv
ok "/dev/kmmv/counters is there after rmmod has failed" test -c /dev/kmmv/counters
is "the device has three nodes, of mode 440" \
	"$(find /dev/kmmv -type c -printf '%m %P\n' |
	sort)" "440 counters
440 names
440 ring/default"

# ---- names

first=$(call "add first")
is "the first number is not the module's own" "$first" 3
is "adding a name again gives the same number" "$(call "add first")" "$first"
is "adding a name again in its family gives the same number" \
	"$(call "addin 0 first")" "$first"
second=$(call "add second")
is "the next name gets the next number" "$second" $((first + 1))
refuses "no name" "add (null)" EINVAL
refuses "an empty name" "add " EINVAL
refuses "no name, in a family" "addin 0 (null)" EINVAL
everything=$(everything)
for what in "(null)" "" "$(repeat 256 x)" $'a\x7f'; do
	call "add $what" >/dev/null
	call "addin 4000 $what" >/dev/null
	call "family 0|count|control|One|" >/dev/null
done
is "errors leave names and header as they are" "$(everything)" "$everything"
is "a name of 255 bytes is accepted" "$(call "add $(repeat 255 x)")" $((second + 1))
refuses "a name of 256 bytes" "add $(repeat 256 x)" ENAMETOOLONG
refuses "a name of 5000 bytes" "add $(repeat 5000 x)" ENAMETOOLONG
for byte in 01 09 0a 0d 1b 1f 7f; do
	refuses "a name with byte 0x$byte" "add a$(printf '%b' "\\x$byte."  )b" EILSEQ
done
refuses "a name with a newline at the end" $'add a\n' EILSEQ
refuses "a family that is an error" "addin -17 name" EEXIST
refuses "a family that is nothing" "addin -2147483648 name" ENOENT
refuses "a family that is not there" "addin 4000 name" ENOENT

# echoed NAME [AS]: the stream has it as it is, or escaped
echoed()
{
	local number

	number=$(call "add $1")
	is "name: ${3-$1}" "$(instance 0 "${2-$1}")" \
		"number=$number incarnation=0 state=active"
}
echoed "/dev/ide/host0/bus0/target0/lun0/part5"
echoed "with  two blanks and one behind "
echoed " one in front"
echoed "a=b state=free name=x"
echoed "Zähler für größere Brüche ∑"
echoed $'\x80\xff\xc3(' $'\x80\xff\xc3(' "bytes that are no UTF-8"
echoed 'back\slash\n' 'back\\slash\\n' "backslashes"
echoed '\' '\\' "one backslash"
echoed "(" "("
all=
for ((i = 0x20; i <= 0xff; i++)); do
	[ $i -eq $((0x7f)) ] || all+=$(printf '%b' "\\x$(printf %x $i).")
	[ $i -eq $((0x7f)) ] || all=${all%.}
done
echoed "$all" "${all/\\/\\\\}" "every byte that is allowed"

# ---- counting

# counts_in CONTEXT: whether updates count there; else they are refused
counts_in()
{
	[ "$1" != nmi ] || [ "$(getconf LONG_BIT)" = 64 ]
}

number=$(call "add counting")
sum=0 refused=$(refused_count 2)
for context in task softirq hardirq nmi; do
	for cpu in 0 1 2 3; do
		for how in adjust slot; do
			result=$(call "$how $context $cpu $number 7")
			if counts_in $context; then
				sum=$((sum + 7))
			else
				refused=$((refused + 1))
			fi
			[ "$result" = 0 ] || note "$context $cpu: $result"
		done
	done
	is "an update in $context counts on every CPU, or is refused" \
		"$(call "read $number")" $sum
done
call "adjust task 1 $number -100" >/dev/null
is "a negative delta is subtracted" "$(call "read $number")" $((sum - 100))
is "what is refused in nmi is counted, once something else counts" \
	"$(refused_count 2)" $refused
call "adjust task 2 $number 100" >/dev/null
is "a negative delta is made good on another CPU" "$(call "read $number")" $sum
call "adjust task 0 $number 9223372036854775807" >/dev/null
call "adjust task 0 $number 9223372036854775807" >/dev/null
call "adjust task 0 $number 2" >/dev/null
is "a counter counts modulo 2^64" "$(call "read $number")" $sum
is "a store to a mirror succeeds" "$(call "store $second 2 12345")" 0
is "the value stored in a mirror is there" "$(call "read $second")" 12345
refuses "a store on CPU -1" "store $second -1 1" EINVAL
refuses "a store on a CPU that is not possible" "store $second 4095 1" EINVAL

# ---- bad numbers: harmless, and counted

nr=$(build/qa/vm/header nr_instances)
before=$(refused_count 0)
everything=$(everything)
bad="0 1 2 -1 $nr 511 512 262143 262144 2147483647 -2147483648"
n=0
for number in $bad; do
	for context in task softirq hardirq nmi; do
		[ "$(call "adjust $context 1 $number 5")" = 0 ] ||
			note "$context $number"
		if counts_in $context; then
			n=$((n + 1))
		else
			refused=$((refused + 1))
		fi
	done
done
is "perf_adjust of bad numbers is counted" "$(refused_count 0)" \
	$((before + n))
call "adjust task 0 $second 0" >/dev/null
is "updates refused in nmi are counted, of bad numbers as well" \
	"$(refused_count 2)" $refused
for number in $bad; do
	call "del $number" >/dev/null
	n=$((n + 1))
done
is "perf_del of bad numbers is counted" "$(refused_count 0)" $((before + n))
is "bad numbers change neither names nor header" "$(everything)" "$everything"
for number in 0 2 -28 -4096 "$nr" 262144; do
	# The error from when the number was requested is returned again.
	why=ENOENT
	[ "$number" != -28 ] || why=ENOSPC
	refuses "forget $number" "forget $number" $why
	refuses "label $number" "label $number key|text" $why
	for context in task softirq hardirq nmi; do
		refuses "slot $number, which is used all the same, in $context" \
			"slot $context 3 $number 9876543" $why
	done
done
refuses "read -28" "read -28" ENOSPC
is "counting without a handle has no effect" \
	"$(build/kmmvdump -a | grep -c 9876543)" 0
refuses "read $nr" "read $nr" ENOENT
before=$(refused_count 1)
number=$(call "add unbalanced")
call "del $number" >/dev/null
is "an instance that is deleted is inactive" "$(instance 0 unbalanced)" \
	"number=$number incarnation=0 state=inactive"
everything=$(everything)
call "del $number" >/dev/null
is "one perf_del too many is counted" "$(refused_count 1)" $((before + 1))
is "one perf_del too many changes neither names nor header" \
	"$(everything)" "$everything"

# ---- deleting, adding again, forgetting

number=$(call "add device")
call "add device" >/dev/null
call "adjust task 3 $number 42" >/dev/null
call "del $number" >/dev/null
is "an instance added twice is active after one deletion" "$(instance 0 device)" \
	"number=$number incarnation=0 state=active"
refuses "to forget what is active" "forget $number" EBUSY
call "del $number" >/dev/null
is "an instance added twice is inactive after two deletions" "$(instance 0 device)" \
	"number=$number incarnation=0 state=inactive"
is "the count of a deleted instance stays" "$(call "read $number")" 42
call "adjust task 2 $number 1" >/dev/null
is "counting on a deleted instance still has an effect" "$(call "read $number")" 43
other=$(call "add other device")
ok "the number of a deleted instance is not given to another" test "$other" != "$number"
is "a deleted instance added again gets its number back" \
	"$(call "add device")" "$number"
is "a deleted instance added again goes on with its count" "$(call "read $number")" 43
is "a deleted instance added again is active" "$(instance 0 device)" \
	"number=$number incarnation=0 state=active"
call "del $number" >/dev/null
free=$(build/qa/vm/header slots_free)
is "a deleted instance can be forgotten" "$(call "forget $number")" 0
is "the number of a forgotten instance is free" \
	"$(build/qa/vm/header slots_free)" $((free + 1))
is "the stream of names has the forgotten number as free" \
	"$(names | grep "^instance number=$number ")" \
	"instance number=$number family=0 incarnation=1 state=free name="
refuses "to forget an instance twice" "forget $number" ENOENT
refuses "to read what was forgotten" "read $number" ENOENT
again=$(call "add device")
is "a forgotten name added again has another incarnation" "$(instance 0 device)" \
	"number=$again incarnation=1 state=active"
is "a forgotten name added again counts from 0" "$(call "read $again")" 0

# ---- labels

number=$(call "add labelled")
is "a label can be set" "$(call "label $number action|nvme0 q1 = \\ ")" 0
is "a label is in the stream of names" "$(names | grep "^label number=$number ")" \
	"label number=$number incarnation=0 key=action text=nvme0 q1 = \\\\ "
refuses "a key in capitals" "label $number Key|text" EINVAL
refuses "a key that begins with a digit" "label $number 1key|text" EINVAL
refuses "no key" "label $number (null)|text" EINVAL
refuses "an empty text" "label $number key|" EINVAL
refuses "a key of 32 bytes" "label $number $(repeat 32 k)|text" ENAMETOOLONG
refuses "a text of 128 bytes" "label $number key|$(repeat 128 t)" ENAMETOOLONG
refuses "a label's text with a control character" "label $number key|"$'a\tb' EILSEQ
everything=$(everything)
is "the same label can be set again" "$(call "label $number action|nvme0 q1 = \\ ")" 0
is "the same label set again changes nothing" "$(everything)" "$everything"
is "a label without a text is accepted" "$(call "label $number key|(null)")" 0
is "a label without a text takes the label away" \
	"$(names | grep -c "^label number=$number ")" 0

# ---- families

family=$(call $'family 1|byte|my.driver_2.level|One line|Line one\nline two\\.')
ok "a family has an id" test "$family" -ge 2
is "the stream of names has a family's lines as registered" \
	"$(names | grep " id=$family ")" \
"family id=$family units=byte semantics=instant since=load total=yes source=no name=my.driver_2.level
oneline id=$family text=One line
help id=$family text=Line one\\nline two\\\\."
is "registering a family again gives the same id" \
	"$(call $'family 1|byte|my.driver_2.level|One line|Line one\nline two\\.')" \
	"$family"
number=$(call "addin $family first")
ok "a name in another family gets another number" test "$number" -gt "$first"
is "an instance added to a family is in that family" "$(instance "$family" first)" \
	"number=$number incarnation=0 state=active"
refuses "a family again with other units" \
	"family 1|Kbyte|my.driver_2.level|One line|x" EEXIST
refuses "a family again with other semantics" \
	"family 0|byte|my.driver_2.level|One line|x" EEXIST
refuses "a family again with other help" \
	"family 1|byte|my.driver_2.level|One line|x" EEXIST
refuses "a family name below another's" \
	"family 1|byte|my.driver_2.level.x|One|x" ENOTUNIQ
refuses "a family name above another's" "family 1|byte|my.driver_2|One|x" ENOTUNIQ
refuses "a family name far above another's" "family 1|byte|my|One|x" ENOTUNIQ
refuses "a family name that differs only in dots" \
	"family 1|byte|my_driver_2.level|One|x" ENOTUNIQ
ok "a family name that only begins alike gets another id" \
	test "$(call "family 1|byte|my.driver_2.levels|One line|")" -gt "$family"
for word in control percpu all ring profile; do
	refuses "the reserved family name $word" "family 0|count|$word|One|x" EADDRINUSE
	refuses "a family name below the reserved $word" \
		"family 0|count|$word.more|One|x" EADDRINUSE
done
ok "a reserved word may come later in a family name" \
	test "$(call "family 0|count|mine.control|One|")" -gt 0
ok "a family name may begin like a reserved word" \
	test "$(call "family 0|count|controls|One|")" -gt 0
for name in "" "(null)" 1x x.1 .x x. x..y "x y" x-y 'x"' "ä" _x; do
	refuses "family name '$name'" "family 0|count|$name|One|x" EINVAL
done
refuses "a family name of 128 bytes" "family 0|count|$(repeat 128 f)|One|" \
	ENAMETOOLONG
refuses "no units" "family 0|(null)|bad|One|" EINVAL
refuses "units with a blank" "family 0|a b|bad|One|" EINVAL
refuses "units of 32 bytes" "family 0|$(repeat 32 u)|bad|One|" ENAMETOOLONG
refuses "no such semantics" "family 3|count|bad|One|" EINVAL
refuses "negative semantics" "family -1|count|bad|One|" EINVAL
refuses "no line of help" "family 0|count|bad|(null)|" EINVAL
refuses "a line of help of 128 bytes" "family 0|count|bad|$(repeat 128 o)|" \
	ENAMETOOLONG
refuses "a line of help with a newline" $'family 0|count|bad|One\ntwo|' EILSEQ
refuses "a help of 1024 bytes" "family 0|count|bad|One|$(repeat 1024 h)" \
	ENAMETOOLONG
refuses "a tab in the help" $'family 0|count|bad|One|a\tb' EILSEQ
ok "a help of 1023 bytes is accepted" \
	test "$(call "family 0|count|good|One|$(repeat 1023 h)")" -gt 0

# ---- the end

rmmod kmmv_client
ok "kmmv unloads without a client" rmmod kmmv
ok "the nodes are gone after rmmod" test ! -e /dev/kmmv/counters -a ! -e /dev/kmmv/names
finish
