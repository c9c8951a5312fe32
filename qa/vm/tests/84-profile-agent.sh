#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
#
# The profiler by pmcd: metrics, fixed numbers, help, the top symbols from an archive,
# and identifiers that stay over a reload.

# shellcheck disable=SC2317 # functions called by wait_for
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/agent.sh
. qa/vm/agent.sh

config=/sys/kernel/config/kmmv/profile
metric=kmmv.value.profile.symbol.samples
rate=$(cat /proc/sys/kernel/perf_event_max_sample_rate)

# shellcheck disable=SC2317 # called by the trap
profile_end()
{
	rmmod kmmv_burn1 2>/dev/null
	echo "$rate" >/proc/sys/kernel/perf_event_max_sample_rate
	clean_up
}
trap profile_end EXIT

# The count of a symbol whose name has brackets.
# shellcheck disable=SC2317 # called by wait_for
count_of()
{
	pminfo -f "$1" | grep -F "or \"$2" | sed 's/.* value //'
}

# shellcheck disable=SC2317 # called by wait_for
counts()
{
	[ -n "$(count_of "$metric" burn1_first)" ]
}

install_agent
ok "./Install installs kmmv_profile" modprobe kmmv_profile freq=197 max_overhead=1000
insmod qa/client/kmmv_burn1.ko
is "kmmv.value.profile has all metrics" \
	"$(pminfo kmmv.value.profile | sed 's/.*\.profile\.//' | sort | xargs)" \
	"command.samples error forgotten image.samples lost missed overhead period samples source\
 symbol.samples work"
like "a metric has its fixed number" "$(pminfo -m kmmv.value.profile.samples)" \
	" 389\.$((16 + 112))\.0"
like "a metric has its semantics and units" \
	"$(pminfo -d $metric)" "Semantics: counter  Units: count"
like "a metric has a line of help" "$(pminfo -t $metric)" "by function"
like "a metric has long help" "$(pminfo -T $metric)" "profile\.error says"
echo 1 >$config/enable
cat >"$WORK/config" <<-EOF2
log mandatory on 500 msec {
	kmmv.value.profile
}
EOF2
# burn: the function that is looked for runs
burn()
{
	echo 2000 >/sys/module/kmmv_burn1/parameters/burn
}
# shellcheck disable=SC2317 # called by wait_for
burn_until_counts()
{
	burn
	counts
}
# The archive has it from its beginning, and so many records, however late they are.
ok "a function is an instance" wait_for 20 burn_until_counts
pmlogger -c "$WORK/config" -s 60 "$WORK/archive" -l "$WORK/log" &
logger=$!
while kill -0 $logger 2>/dev/null; do
	burn
done
wait $logger
is "pmlogcheck has nothing to say" "$(pmlogcheck "$WORK/archive" 2>&1)" ""
pmrep -a "$WORK/archive" -t 5s -1 -J 3 -o csv $metric >"$WORK/top" 2>&1 ||
	pmrep -a "$WORK/archive" -t 5s -J 3 -o csv $metric >"$WORK/top" 2>&1
note "$(head -n 3 "$WORK/top")"
# A sample without values is a line with its time, in front of the first header. There is
# another header whenever others are the top ones.
like "the function is among the top ones of the archive" \
	"$(grep '^Time,' "$WORK/top")" \
	burn1_first
id=$(pminfo -f $metric | grep -F '"burn1_first' | sed 's/.*\[\([0-9]*\) or.*/\1/')
echo 0 >$config/enable
was=$(count_of "$metric" burn1_first)
rmmod kmmv_profile
modprobe kmmv_profile freq=197 max_overhead=1000
echo 1 >$config/enable
grew()
{
	burn
	[ "$(count_of "$metric" burn1_first)" -gt "$was" ]
}
ok "the function goes on when kmmv_profile is loaded again" wait_for 10 grew
is "the function has its number when kmmv_profile is loaded again" \
	"$(pminfo -f $metric | grep -F '"burn1_first' | sed 's/.*\[\([0-9]*\) or.*/\1/')" "$id"
echo 0 >$config/enable

# ---- by CPU

# sum_of METRIC [INSTANCES]: of those whose name has this
sum_of()
{
	pminfo -f "$1" | grep -F "${2-}" | sed -n 's/.* value //p' |
		awk '{ sum += $1 } END { print sum + 0 }'
}
is "samples by CPU are all samples" "$(sum_of kmmv.percpu.profile.samples)" \
	"$(cat $config/stats/sample_received)"
for ((cpu = 0; cpu < $(nproc); cpu++)); do
	is "samples of CPU $cpu are those of stats/cpu$cpu" \
		"$(sum_of kmmv.percpu.profile.samples "::cpu$cpu\"")" \
		"$(cat "$config/stats/cpu$cpu/sample_received")"
done

# ---- names that are displaced and forgotten count once

named()
{
	echo $(($(cat $config/stats/sample_delivered) +
		$(cat $config/stats/event_lost_overflow) +
		$(cat $config/stats/event_lost_disabled)))
}
# faults NAME PAGES: so many samples of a command
faults()
{
	ln -sf "$PWD/build/qa/vm/burn" "$WORK/$1"
	echo 1 >$config/enable
	"$WORK/$1" 0 "$2" >/dev/null
	echo 0 >$config/enable
}
all=kmmv.all.profile.command.samples
command=kmmv.value.profile.command.samples
is "all commands add up to the samples" "$(sum_of $all)" "$(named)"
rmmod kmmv_profile
modprobe kmmv_profile top=2 names=16 window_s=1 max_overhead=1000
# Perf stops an event that has too many in a tick, and the buffer has to hold them.
echo 1000000 >/proc/sys/kernel/perf_event_max_sample_rate
echo 8192 >$config/buffer_size
is "all commands add up to the samples after a load" "$(sum_of $all)" "$(named)"
mkdir $config/events/qafault
echo page-faults >$config/events/qafault/event
echo 1 >$config/events/qafault/count
echo 0 >$config/events/default/enabled
echo 1 >$config/events/qafault/enabled
for ((i = 0; i < 100; i++)); do
	faults was_shown 3000
	[ -z "$(count_of $command was_shown)" ] || break
done
faults was_shown 3000
had=$(count_of $command was_shown)
ok "a command is shown: $had" test "${had:-0}" -ge 1000
forgotten=$(sum_of kmmv.value.profile.forgotten '"command"')
for ((i = 0; i < 200; i++)); do
	faults "name$i" 300
	[ $((i % 5)) -ne 0 ] || is "all commands add up with $i names more" \
		"$(sum_of $all)" "$(named)"
	[ "$(sum_of kmmv.value.profile.forgotten '"command"')" -lt $((forgotten + had)) ] ||
		break
done
is "a command that was displaced is not shown any more" \
	"$(count_of $command was_shown)" ""
is "all commands add up without the displaced one" "$(sum_of $all)" "$(named)"
for ((i = 0; i < 100; i++)); do
	faults was_shown 3000
	[ -z "$(count_of $command was_shown)" ] || break
done
ok "a command that returns goes on: $(count_of $command was_shown)" \
	test "$(count_of $command was_shown)" -ge "$had"
is "all commands add up with the one that returns" "$(sum_of $all)" "$(named)"
rmdir $config/events/qafault
finish
