#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
#
# When a copy is made, and what becomes of values when the module is unloaded,
# loaded again, or has no room.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/stat.sh
. qa/vm/stat.sh

hour=3600000000000
families="cpu guest softirq irq vm paged copied work took resets failed"

copied()
{
	value stat.copied monotonic 0 "$1"
}

ok "loads" load
first=$(copied 0)
is "a copy young enough stands" "$(copied $hour)" "$first"
sleep 0.2
is "still" "$(copied $hour)" "$first"
second=$(copied 100000000)
ok "one too old does not" test "$second" -gt "$first"
ok "by the time that passed" test $((second - first)) -ge 200000000
# ms; /proc shows hundredths of a second
uptime()
{
	awk '{ printf "%d", $1 * 1000 }' /proc/uptime
}
before=$(uptime)
third=$(copied 0)	# waits for a copy of its own
after=$(uptime)
ok "one of any age does not, if none will do" test "$third" -gt "$second"
ok "it is the time of the monotonic clock" \
	test $((third / 1000000)) -ge "$before" -a \
	$((third / 1000000)) -lt $((after + 10))

# Many readers at once.
for i in 1 2 3 4 5 6; do
	$check watch 3 >"$WORK/watch.$i" 2>&1 &
done
failed=0
for i in 1 2 3 4 5 6; do
	wait -n || failed=$((failed + 1))
done
is "readers at the same time all see values that grow" $failed 0
note "$(cat "$WORK"/watch.*)"

# Idle interrupts are skipped, active ones are not.
copies=$(total stat.work copies $hour) lines=$(total stat.work lines $hour)
shown=$($check dump stat.irq $hour | awk '$1 ~ /^[0-9]/' | wc -l)
for i in 1 2 3 4 5; do
	copied 0 >/dev/null
done
copies=$(($(total stat.work copies $hour) - copies))
lines=$(($(total stat.work lines $hour) - lines))
note "$copies copies read $lines lines of $shown"
ok "the counts of few interrupts are read" \
	test $copies -ge 5 -a $lines -lt $((copies * shown - shown))
ok "200 readers that ask for the youngest get few copies" \
	$check storm 200 60
note "$tap_text"
ok "and all are right after it" $check bracket 3
note "$tap_text"

not_ok "kmmv stays while a source is loaded" rmmod kmmv
start_load
$check dump stat.irq >"$WORK/before"
before=$(total stat.vm pgfault)
ok "unloads" rmmod kmmv_stat
is "all its instances are inactive" \
	"$(for f in $families; do
		$check dump stat."$f"
	done | awk '$2 == "active"' | wc -l)" 0
kept=$(total stat.vm pgfault)
ok "the last values stay" test "$kept" -ge "$before"
sleep 1
is "and stand" "$(total stat.vm pgfault)" "$kept"
ok "loads again" insmod kmod/kmmv_stat.ko
$check dump stat.irq >"$WORK/after"
ok "values go on" test "$(total stat.vm pgfault)" -gt "$kept"
is "no interrupt fell" "$(awk '
	NR == FNR { for (i = 3; i < NF; i++) was[$1, i] = $i; next }
	{ for (i = 3; i < NF; i++) if ($i < was[$1, i]) print $1, i }' \
	"$WORK/before" "$WORK/after")" ""
ok "what was counted meanwhile is there: agrees with /proc" $check bracket 5
stop_load
ok "unloads" rmmod kmmv_stat

ok "loads with a period" insmod kmod/kmmv_stat.ko period_ms=100
is "which can be seen" "$(cat /sys/module/kmmv_stat/parameters/period_ms)" 100
# shellcheck disable=SC2317 # called by wait_for
copied_since()
{
	[ "$(copied $hour)" -ge $(($1 + 100000000)) ]
}
for i in 1 2 3 4 5; do
	ok "a copy is made unasked ($i)" \
		wait_for 10 copied_since "$(copied $hour)"
done
start_load
ok "and disturb no other copy" $check bracket 5
stop_load
ok "unloads" rmmod kmmv_stat
not_ok "a period that is no number is refused" \
	insmod kmod/kmmv_stat.ko period_ms=often
used=$($check dump stat.irq | awk '$1 ~ /^[0-9]/' | wc -l)
ok "kmmv unloads" rmmod kmmv

# No room: for none, then for all but the numbered interrupts.
insmod kmod/kmmv.ko capacity=40
not_ok "does not load without room" insmod kmod/kmmv_stat.ko
is "and leaves nothing active" "$($check dump stat.cpu $hour |
	awk '$2 == "active"' | wc -l)" 0
ok "kmmv unloads" rmmod kmmv
ok "loads" load
all=$(for f in $families; do
		$check dump stat."$f"
	done | wc -l)
ok "unloads" unload
# 3 are kmmv's own.
insmod kmod/kmmv.ko capacity=$((all + 3 - used + 2))
echo 'an interrupt is not shown' >>"$KMSG_EXPECT"
ok "loads with room for two interrupts" insmod kmod/kmmv_stat.ko
is "which are shown" "$($check dump stat.irq | awk '$1 ~ /^[0-9]/' | wc -l)" 2
ok "the others are counted" test "$(total stat.failed irq)" -gt 0
ok "and all else goes on" $check watch 1
ok "unloads" unload
finish
