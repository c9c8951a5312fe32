#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# The limit of instances: parameters, the last number, the far end.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/client/client.sh
. qa/client/client.sh
trap unload EXIT

header()
{
	build/qa/vm/header "$1"
}

cpus=$(awk 'NR == 1 { print NF }' /proc/softirqs)
fits=$((600 * 8 * cpus))
most=18446744073709551615
[ "$(getconf LONG_BIT)" = 64 ] || most=4294967295

not_ok "a capacity that does not fit is refused" \
	load_core capacity=600 max_bytes=$((fits - 1))
like "the log has both sizes, of a capacity that does not fit" "$(dmesg | tail -n 3)" \
	"kmmv: .*\\b$fits\\b.*\\b$((fits - 1))\\b"
not_ok "a capacity that no mapping can hold is refused" \
	load_core capacity=4294967295 max_bytes=$most
like "the log has both numbers, of a capacity that no mapping holds" \
	"$(dmesg | tail -n 3)" \
	"kmmv: .*\\b4294967295\\b.*\\b$most\\b"
not_ok "a capacity that the default memory does not hold is refused" \
	load_core capacity=67108864
ok "loads that are refused leave neither module nor nodes" \
	test ! -e /sys/module/kmmv -a ! -e /dev/kmmv

load_core max_bytes=$((1000 * 8 * cpus)) || bail "does not load"
is "the default capacity is what max_bytes allows" "$(header capacity)" 1000
rmmod kmmv
load_core || bail "does not load"
is "the default capacity is at most 256 Ki" "$(header capacity)" 262144
rmmod kmmv
not_ok "a capacity for the module's own numbers alone is refused" \
	load_core capacity=3 max_bytes=$fits
load_core capacity=4 max_bytes=$fits || bail "does not load"
is "the smallest capacity has room for one instance" "$(header slots_free)" 1
rmmod kmmv

load_core capacity=600 max_bytes=$fits && load_client || bail "does not load"
is "a capacity that just fits is accepted" "$(header capacity)" 600
is "all numbers but the module's own are free" "$(header slots_free)" 597
is "as many instances as there are free numbers can be added" \
	"$(call "addmany 0 597 full.")" "599 597"
is "no number is free when the capacity is used up" "$(header slots_free)" 0
before=$(names)
is "one instance too many is refused with ENOSPC" \
	"$(call "add one more")" "$(errno ENOSPC)"
is "an instance that is refused leaves the names unchanged" "$(names)" "$before"
is "a name that is there can be added again at full capacity" \
	"$(call "add full.596")" 599
ok "the last number counts on every CPU" build/qa/vm/growth 599
call "adjust task 0 300 77" >/dev/null
call "del 300" >/dev/null
is "the number of a deleted instance is not free" \
	"$(call "add one more")" "$(errno ENOSPC)"
is "a deleted instance can be forgotten" "$(call "forget 300")" 0
is "the number of a forgotten instance is free" "$(header slots_free)" 1
is "the next name gets the number of a forgotten instance" "$(call "add one more")" 300
is "a number used again has another incarnation" "$(instance 0 "one more")" \
	"number=300 incarnation=1 state=active"
is "a number used again counts from 0" "$(call "read 300")" 0
is "no number is free when the forgotten one is used again" \
	"$(call "add two more")" "$(errno ENOSPC)"
# The search goes on from its last place, and begins anew at the end.
for number in 20 10 15; do
	call "del $number" >/dev/null
	call "forget $number" >/dev/null
done
is "forgotten numbers are given again, each once" \
	"$(call "add x") $(call "add y") $(call "add z")" "10 15 20"
is "no more numbers are given than were forgotten" "$(call "add w")" "$(errno ENOSPC)"
unload

# 4 Mi instances take 32 MiB per CPU, and about 600 MiB for names and records. Where
# kmemleak and KASAN know of each allocation, they take several times as much.
needed=900
[ ! -e /sys/kernel/debug/kmemleak ] || needed=4000
free=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
if [ "$free" -lt $((needed + 32 * cpus)) ]; then
	skip "4 Mi instances can be added" \
		"machine: only $free MiB of $((needed + 32 * cpus))"
else
	load_core capacity=$((4 << 20)) max_bytes=$((32 * cpus << 20)) &&
		load_client || bail "4 Mi does not load"
	last=$(((4 << 20) - 1))
	begin=$SECONDS
	is "4 Mi instances can be added" "$(call "addmany 0 $((last - 2)) i")" \
		"$last $((last - 2))"
	note "in $((SECONDS - begin)) s"
	ok "the last of 4 Mi instances counts on every CPU" build/qa/vm/growth "$last"
	is "one instance more than 4 Mi is refused with ENOSPC" \
		"$(call "add more")" "$(errno ENOSPC)"
	call "del $last" >/dev/null
	ok "the name of the first of 4 Mi instances is still found" \
		test "$(call "add i0")" = 3
	ok "the modules unload with 4 Mi instances" unload
fi
finish
