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

ok "the modules load" load
first=$(copied 0)
is "a copy young enough stands" "$(copied $hour)" "$first"
sleep 0.2
is "a copy young enough still stands after 0.2 s" "$(copied $hour)" "$first"
second=$(copied 100000000)
ok "a copy that is too old is renewed" test "$second" -gt "$first"
ok "a renewed copy is later by the time that passed" \
	test $((second - first)) -ge 200000000
# ms; /proc shows hundredths of a second
uptime()
{
	awk '{ printf "%d", $1 * 1000 }' /proc/uptime
}
before=$(uptime)
third=$(copied 0)	# waits for a copy of its own
after=$(uptime)
ok "a copy of any age is renewed if the age asked for is 0" test "$third" -gt "$second"
ok "a copy has the time of the monotonic clock" \
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
ok "copies read the lines of few interrupts" \
	test $copies -ge 5 -a $lines -lt $((copies * shown - shown))
ok "200 readers that ask for the youngest get few copies" \
	$check storm 200 60
note "$tap_text"
ok "values agree with /proc after 200 readers" $check bracket 3
note "$tap_text"

not_ok "kmmv stays while a source is loaded" rmmod kmmv
start_load
$check dump stat.irq >"$WORK/before"
before=$(total stat.vm pgfault)
ok "kmmv_stat unloads" rmmod kmmv_stat
is "all instances of an unloaded kmmv_stat are inactive" \
	"$(for f in $families; do
		$check dump stat."$f"
	done | awk '$2 == "active"' | wc -l)" 0
kept=$(total stat.vm pgfault)
ok "values do not fall when kmmv_stat unloads" test "$kept" -ge "$before"
sleep 1
is "values stand while kmmv_stat is unloaded" "$(total stat.vm pgfault)" "$kept"
ok "kmmv_stat loads again" insmod kmod/kmmv_stat.ko
$check dump stat.irq >"$WORK/after"
ok "values go on after kmmv_stat is loaded again" \
	test "$(total stat.vm pgfault)" -gt "$kept"
is "no count of interrupts falls across a load" "$(awk '
	NR == FNR { for (i = 3; i < NF; i++) was[$1, i] = $i; next }
	{ for (i = 3; i < NF; i++) if ($i < was[$1, i]) print $1, i }' \
	"$WORK/before" "$WORK/after")" ""
ok "values agree with /proc after kmmv_stat is loaded again" $check bracket 5
stop_load
ok "kmmv_stat unloads a second time" rmmod kmmv_stat

ok "kmmv_stat loads with a period" insmod kmod/kmmv_stat.ko period_ms=100
is "the period can be read" "$(cat /sys/module/kmmv_stat/parameters/period_ms)" 100
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
ok "values agree with /proc with a period" $check bracket 5
stop_load
ok "kmmv_stat unloads with a period" rmmod kmmv_stat
not_ok "a period that is no number is refused" \
	insmod kmod/kmmv_stat.ko period_ms=often
used=$($check dump stat.irq | awk '$1 ~ /^[0-9]/' | wc -l)
ok "kmmv unloads after kmmv_stat" rmmod kmmv

# No room: for none, then for all but the numbered interrupts.
insmod kmod/kmmv.ko capacity=40
not_ok "kmmv_stat does not load without room" insmod kmod/kmmv_stat.ko
is "a load without room leaves nothing of stat.cpu active" \
	"$($check dump stat.cpu $hour |
	awk '$2 == "active"' | wc -l)" 0
ok "kmmv unloads after a load without room" rmmod kmmv
ok "the modules load with room for all" load
all=$(for f in $families; do
		$check dump stat."$f"
	done | wc -l)
ok "the modules unload with room for all" unload
# 3 are kmmv's own.
insmod kmod/kmmv.ko capacity=$((all + 3 - used + 2))
echo 'an interrupt is not shown' >>"$KMSG_EXPECT"
ok "kmmv_stat loads with room for two interrupts" insmod kmod/kmmv_stat.ko
is "two interrupts are shown where there is room for two" \
	"$($check dump stat.irq | awk '$1 ~ /^[0-9]/' | wc -l)" 2
ok "interrupts without room are counted as failed" test "$(total stat.failed irq)" -gt 0
ok "no value falls where there is room for two interrupts" $check watch 1
ok "the modules unload with room for two interrupts" unload
finish
