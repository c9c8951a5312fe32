#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# After a million names, of which a thousand are alive, requests write, the agent
# keeps on disk and in memory, and the next start reads, as much as after a
# thousand names. This is counted, not timed.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/agent/env
. qa/agent/env

alive=1000
steps=1000
numbers=$work/var/config/pmda/$domain.numbers
log=$work/tmp/kmmv.log

agent_proc()
{
	echo "/proc/$(tr -d ' ' <"/proc/$db_pid/task/$db_pid/children")"
}
rss()
{
	sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "$(agent_proc)/status"
}
# The agent's CPU time, in nanoseconds
spent()
{
	local ns _

	read -r ns _ <"$agent/schedstat"
	echo "$ns"
}
# The greatest number of records and of bytes in one batch
greatest()
{
	sed -n 's/.*numbers: \([0-9]*\) records, \([0-9]*\) bytes.*/\1 \2/p' |
		awk '{ r = $1 > r ? $1 : r; b = $2 > b ? $2 : b }
			END { print r + 0, b + 0 }'
}
# Milliseconds since START, a time in microseconds
since()
{
	echo $(((${EPOCHREALTIME/./} - $1) / 1000))
}

turn()
{
	local start before

	echo >&6
	read -r -t 120 -u 5 || return
	before=$(spent)
	start=${EPOCHREALTIME/./}
	db "fetch kmmv.all.counter" >"$work/last" || return
	since "$start" >>"$work/took"
	echo $((($(spent) - before) / 1000)) >>"$work/spent"
}
# distribution FILE: the median, the 99th percentile and the greatest
distribution()
{
	sort -n "$1" | awk '{ v[NR] = $1 }
		END { print v[int((NR + 1) / 2)] ", " v[int(NR * 0.99)] ", " v[NR] }'
}

{
	echo "family 0 counter count counter Counters"
	echo "many 0 $alive 0 1 first"
} | area
mkfifo "$work/to" "$work/from"
qa/agent/churn.py "$work/dev" $alive 0<>"$work/to" >"$work/from" &
live_pid=$!
exec 6>"$work/to" 5<"$work/from"
read -r -t 120 -u 5
db_start pipe -D appl0
# The agent attaches at the first request; this also makes it see the first names.
db "fetch kmmv.value.counter" >/dev/null
agent=$(agent_proc)
for ((step = 1; step <= 5; step++)); do
	turn
done
few=$(rss)
few_size=$(stat -c %s "$numbers")
few_batch=$(greatest <"$log")
note "5 turns: $few kB, $few_size bytes on disk, a batch of $few_batch"
for ((; step <= steps; step++)); do
	turn || break
done
is "the agent answers in each turn" "$((step - 1))" $steps
db "fetch kmmv.value.counter" >"$work/last"
is "all instances that are alive have values" "$(grep -c value "$work/last")" $alive
many=$(rss)
many_size=$(stat -c %s "$numbers")
many_batch=$(greatest <"$log")
note "$steps turns: $many kB, $many_size bytes on disk, a batch of $many_batch"
ok "memory grows by at most 20 %" test "$many" -le $((few * 120 / 100))
ok "a batch has at most 3 times as many records as at first" test "${many_batch% *}" -le \
	$((${few_batch% *} * 3))
ok "a batch has at most 256 kB" test "${many_batch#* }" -le 262144
ok "the file of numbers has at most 1 MB" test "$many_size" -le $((1 << 20))
last=$(sed -n 's/^ *inst \[\([0-9]*\) or.*/\1/p' "$work/last" | tail -n 1)
is "no number is given out twice" "$last" $((alive * (steps + 1) - 1))
like "kmmv.percpu has at least 100 values" \
	"$(db "fetch kmmv.percpu.counter" | grep -c 'value')" "^[1-9][0-9]{2,}$"
db_stop
note "a request with $alive new names, median, 99 of 100, most:" \
	"of CPU time $(distribution "$work/spent") us," \
	"from asking to the answer $(distribution "$work/took") ms"

start=${EPOCHREALTIME/./}
db_start pipe -D appl0
db "fetch kmmv.all.counter" >/dev/null
note "the next start took $(since "$start") ms, up to a value"
db "fetch kmmv.value.counter" >"$work/again"
is "numbers and values are the same after a restart" \
	"$(grep value "$work/again" | md5sum)" \
	"$(grep value "$work/last" | md5sum)"
again=$(rss)
note "after a restart: $again kB, $(wc -l <"$numbers") lines"
ok "memory after a restart is at most 20 % above that at first" \
	test "$again" -le $((few * 120 / 100))
ok "the file of numbers has at most 20000 lines after a restart" \
	test "$(wc -l <"$numbers")" -le 20000
db_stop
finish
