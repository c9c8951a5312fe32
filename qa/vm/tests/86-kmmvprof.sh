#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
#
# kmmvprof with the module: it finds what programs report of themselves, within the
# error of sampling; files that are stripped, deleted, or none.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh

prof=build/kmmvprof
config=/sys/kernel/config/kmmv/profile
# Enough for an error of 1.5 % (one sigma) of a share of 3/4.
SAMPLES=800

# shellcheck disable=SC2317 # called by the trap
clean_up()
{
	local pid

	for pid in ${pids-}; do
		kill -KILL "$pid" 2>/dev/null
	done
	wait
	[ ! -d $config ] || echo 0 >$config/enable
	[ ! -e /sys/module/kmmv_profile ] || rmmod kmmv_profile
	[ ! -e /sys/module/kmmv ] || rmmod kmmv
}
trap clean_up EXIT

# shellcheck disable=SC2317 # called by wait_for
begun()
{
	[ "$(cat "/proc/$pid/comm")" != bash ]
}

# start COMMAND...: as process $pid, which prints to $WORK/said
start()
{
	"$@" >"$WORK/said" &
	pid=$!
	pids="${pids-} $pid"
	wait_for 20 begun
}

# query EXPRESSION: a Python expression of the JSON d of standard input
query()
{
	python3 -c "
import json, sys
d = json.load(sys.stdin)
rows = [r for e in d['events'] for r in e['rows']]
print($1)"
}

# sampled: $pid has its samples; those in the kernel are not counted
sampled()
{
	local n

	n=$($prof report -j -u -p "$pid" -b image 2>/dev/null |
		query 'sum(int(r["samples"]) for r in rows)' 2>/dev/null)
	[ "${n:-0}" -ge $SAMPLES ]
}

# sample: sample $pid, a child of this shell, until there is enough, and end it
sample()
{
	echo 1 >$config/enable && wait_for 60 sampled &&
		$prof record -p "$pid" -o "$WORK/recording" &&
		echo 0 >$config/enable && kill -TERM "$pid" && wait "$pid"
}

# agrees IMAGE: the shares of the two functions of IMAGE are those that the program
# measured, within five sigmas of a binomial distribution; there is hardly another
agrees()
{
	$prof report -j -u -i "$WORK/recording" | python3 -c "
import json, sys
d = json.load(sys.stdin)
rows = [r for e in d['events'] for r in e['rows'] if r['image'] == sys.argv[1]]
often, rarely, *longest = map(int, open(sys.argv[2]).read().split())
count = {r['symbol']: int(r['samples']) for r in rows}
k, m = count.pop('spend_often', 0), count.pop('spend_rarely', 0)
n, p = k + m, often / (often + rarely)
error = 5 * (n * p * (1 - p)) ** 0.5
print(f'{k} of {n}, share {k / max(n, 1):.4f}, measured {p:.4f}, '
      f'5 sigma {error / max(n, 1):.4f}, others {count}, longest {longest} ns')
sys.exit(not (n > 0.9 * int(sys.argv[3]) and abs(k - n * p) <= error and
              sum(count.values()) <= n / 50))" "$1" "$WORK/said" $SAMPLES
}

# copy FROM TO: to the guest's own file system
copy()
{
	cp "build/qa/vm/$1" "$WORK/$2"
}

ok "kmmv loads" insmod kmod/kmmv.ko
ok "kmmv_profile loads with a rate of 997" insmod kmod/kmmv_profile.ko freq=997 \
	max_freq=10000 max_overhead=1000 ring_pages=4096
status=$($prof report 2>&1)
like "the report says that there are no samples yet" \
	"$status" 'no samples; is the profiler on .echo 1 >'

# ---- shares

start build/qa/vm/busy
sample
is "a program at any address is sampled" $? 0
ok "functions at any address have their shares" agrees "$PWD/build/qa/vm/busy"
note "$(agrees "$PWD/build/qa/vm/busy")" "$($prof report -i "$WORK/recording" -t 0.5)"
is "percentages add up" "$($prof report -j -i "$WORK/recording" | query '
	all(round(sum(r["percent"] for r in e["rows"]), 9) == 100
		for e in d["events"])')" True
is "each folded line is a stack and a number" "$(
	$prof folded -i "$WORK/recording" |
		grep -cvE '^[^;]+(;[^;]+){2,} [1-9][0-9]*$')" 0
like "the folded lines have the program's function" \
	"$($prof folded -i "$WORK/recording")" \
	'^busy;.*/busy;spend_often [0-9]+$'
start build/qa/vm/busy-fixed
sample
is "a program at its own address is sampled" $? 0
ok "functions at a program's own address have their shares" \
	agrees "$PWD/build/qa/vm/busy-fixed"

# ---- files that are not there, or do not say

copy busy gone
start "$WORK/gone"
rm "$WORK/gone"
sample
is "a program whose file was deleted is sampled" $? 0
image=$($prof report -j -u -i "$WORK/recording" -b image | query '
	max(rows, key=lambda r: int(r["samples"]))["image"]')
like "the image of a deleted file is the path that it had" "$image" "^$WORK/gone"
ok "functions of a deleted file have their shares" agrees "$image"
copy busy stripped
strip "$WORK/stripped" || skip "a program is stripped" "machine: no strip"
start "$WORK/stripped"
sample
is "a stripped program is sampled" $? 0
is "functions of a stripped program are not known" \
	"$($prof report -j -u -i "$WORK/recording" | query '
	{r["symbol"] for r in rows if r["image"] == "'"$WORK/stripped"'"}')" \
	"{'[unknown]'}"
like "the report says why functions are not known" \
	"$($prof report -i "$WORK/recording")" \
	'in .*/stripped: (is stripped|has no symbol)'
start build/qa/vm/busy made
sample
is "code made at run time is sampled" $? 0
like "code made at run time is anonymous" \
	"$($prof report -j -u -i "$WORK/recording" -b image | query '
	max(rows, key=lambda r: int(r["samples"]))["image"]')" '^\[anonymous\]$'

# ---- a program that becomes another one: while its memory goes, it has no files

drain=/sys/module/kmmv_profile/parameters/drain_ms
often=$(cat $drain)
echo 1 >$drain
echo 1 >$config/enable
became=0
for _ in 1 2 3 4 5 6 7 8; do
	build/qa/vm/burn 30 60000 /bin/true >"$WORK/said" &
	pid=$!
	wait $pid && became=$((became + 1))
	$prof report -j -u -p $pid -b image | query '
		" ".join(r["image"] for r in rows)' >>"$WORK/images"
done
echo 0 >$config/enable
echo "$often" >$drain
is "eight programs become another one" $became 8
like "a program that becomes another is sampled" "$(<"$WORK/images")" '/burn'
is "a program that becomes another is never anonymous" \
	"$(grep -n '\[anonymous\]' "$WORK/images")" ""

# ---- losses

# The profiler has stopped, so nothing is inside: each sample that was taken since its
# first start was read, or is among the lost.
balance()
{
	$prof report -j | query '
	(lambda b: (int(b["taken"]) - sum(int(b[k]) for k in
		("read", "malformed", "lost", "overwritten", "dropped")),
	b["inside"], int(b["taken"]) >= '$SAMPLES'))(
		d["accounts"]["between_states"])'
}
is "taken = read + lost, and nothing is inside" "$(balance)" "(0, 0, True)"
# Samples that the ring did not record are lost before it.
echo 1 >$config/enable
start build/qa/vm/busy
echo 0 >/sys/kernel/config/kmmv/rings/profile/enable
# shellcheck disable=SC2317 # called by wait_for
not_recorded()
{
	[ "$(cat $config/stats/event_lost_disabled)" -ge 50 ]
}
ok "at least 50 samples are lost while the ring is off" wait_for 60 not_recorded
echo 1 >/sys/kernel/config/kmmv/rings/profile/enable
echo 0 >$config/enable
kill -TERM "$pid"
wait "$pid"
is "taken = read + lost after the ring was off" "$(balance)" "(0, 0, True)"
finish
