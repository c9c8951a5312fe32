#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# beside: yes
# The agent as it is built, on the library's own code for rings: its figures and its
# clients' events against what the module's core has written, while the ring goes and
# comes back. qa/sim/kmmvcoresim is the ring, and its device as far as ioctl() and
# poll() reach it, see qa/agent/ringdevice.c.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/agent/env
. qa/agent/env

make_programs bench/kmmvcoresim
gcc -std=gnu11 -D_GNU_SOURCE -g -O1 -Wall -Wextra -Werror -shared -fPIC \
	-Ikmod/include/uapi -o "$work/device.so" qa/agent/ringdevice.c ||
	bail "the ring's device does not build"
ring_pid=
# It uses Check, whose handler for SIGTERM ends the whole process group.
trap '[ -z "$live_pid" ] || kill "$live_pid"; [ -z "$ring_pid" ] || kill -KILL "$ring_pid"
	[ -z "${pmcd_pid-}" ] || kill "$pmcd_pid"; rm -rf "$work"' EXIT

area <<E
set cpus 2
family 0 counter count counter Counters
inst 0 0 0 active 1,2 one
inst 1 0 0 active 1,2 two
E
sed -i '/^end /i type id=16 name=evt\nabout id=16 text=Simulated\nfield id=16 offset=0 size=8 kind=unsigned units=none name=value' \
	"$work/dev/names"
live
cat >"$work/daemon" <<E
#!/bin/sh
export LD_PRELOAD=$work/device.so
exec $pmda_daemon "\$@"
E
chmod 755 "$work/daemon"
pmda_daemon=$work/daemon
# shellcheck source=qa/agent/clients
. qa/agent/clients

# ---- the ring

mkfifo "$work/ring.in" "$work/ring.out"
# ring_comes INCARNATION [busy]: with 8 pages; its first event has the value $next_value
ring_comes()
{
	# The clients, and the ring, end when no process has their input open.
	build/qa/bench/kmmvcoresim "$work/dev" "$1" 8 "$next_value" ${2+"$2"} \
		<"$work/ring.in" >"$work/ring.out" 4>&- 5<&- 6>&- 7<&- &
	ring_pid=$!
	exec 4>"$work/ring.in" 5<"$work/ring.out"
	sequence=(0 0)
	answer
}
ring_goes()
{
	echo end >&4
	wait "$ring_pid"
	ring_pid=
}
answer()
{
	local line=''

	IFS= read -r -t 1200 line <&5
	[ "$line" = "done" ] || bail "the ring's simulator ended"
}
tell_ring()
{
	echo "$*" >&4
	answer
}
# put CPU COUNT: events, as each client has to get them: "value cpu sequence instance"
put()
{
	local i names=(one two)

	tell_ring put "$1" "$2"
	for ((i = 0; i < $2; i++)); do
		echo "$((next_value++)) $1 $((sequence[$1]++)) ${names[$1]}"
	done >>"$work/put"
}

# ---- clients

# begin CLIENT: from here on it has to get what is put
begin()
{
	: >"$work/got.$1"
	wc -l <"$work/put" >"$work/from.$1"
}
collect()
{
	say fetch "$1" >>"$work/got.$1"
}
# judge CLIENT: print what is wrong with its answers: they have to be what was put, where
# as many may be missing as it is told of at that place
judge()
{
	{
		tail -n +$(($(cat "$work/from.$1") + 1)) "$work/put"
		echo got
		sed -e 's/.* default event time=[0-9]* sequence=\([0-9]*\) cpu=\([0-9]*\) type="evt" number=\2 family="counter" instance="\([a-z]*\)" evt\.value=\([0-9]*\) at=.*/\4 \2 \1 \3/' \
			-e 's/.* default missed /missed /' "$work/got.$1"
	} | awk '
	$0 == "got" { got = 1; at = 1; next }
	!got { put[++n] = $0; next }
	$1 == "missed" { at += $2; next }
	$0 != put[at++] { print "after " put[at - 2] ": " $0; wrong = 1; exit }
	END { if (!wrong && at != n + 1) print "at the end: " n + 1 - at " missing" }'
}
# missed CLIENT: how many it was told of
missed()
{
	sed -n 's/.* default missed //p' "$work/got.$1" | xargs
}
# figures METRIC...: their values, cpuN=VALUE or of the ring
figures()
{
	local metric

	for metric; do
		say value a "kmmv.ring.$metric" |
			sed -n -e 's/^a default::\(cpu.\) /\1=/p' -e 's/^a default //p'
	done | tr -d '"' | xargs
}
# The agent tries again once a second: a daemon by itself, a DSO as it serves a fetch.
# shellcheck disable=SC2317 # called by wait_for
becomes()
{
	collect a
	[ "$(figures reader)" = "$1" ]
}
# shellcheck disable=SC2317 # called by wait_for
queued()
{
	[ "$(figures queue.events)" = "$1" ]
}

for how in dso pipe; do
	: >"$work/put"
	next_value=1
	ring_comes 5
	[ $how = pipe ] || wrap=(env LD_PRELOAD="$work/device.so")
	clients_start $how || {
		skip "$how: a ring is read for clients" "no pmcd"
		ring_goes
		continue
	}
	wrap=()

	# ---- figures

	say open a
	say open b
	put 0 10
	put 1 7
	tell_ring large 1 3
	next_value=$((next_value + 3))
	is "$how: a new ring has its size, mode and no clients" \
		"$(figures size mode enabled reader clients)" \
		"cpu0=32768 cpu1=32768 overwrite 1 idle 0"
	is "$how: figures have what was written" "$(figures written reserved inside)" \
		"cpu0=10 cpu1=7 cpu0=10 cpu1=10 cpu0=10 cpu1=7"
	is "$how: figures have what was dropped" \
		"$(figures dropped.too_large dropped.full)" \
		"cpu0=0 cpu1=3 cpu0=0 cpu1=0"
	is "$how: nothing is lost, or read, before a client" \
		"$(figures lost overwritten read taken)" \
		"cpu0=0 cpu1=0 cpu0=0 cpu1=0 cpu0=0 cpu1=0 cpu0=0 cpu1=0"

	# ---- each event once, to each client

	is "$how: a first client gets nothing of before it" "$(say fetch a)" ""
	begin a
	is "$how: the agent is the consumer" "$(figures reader)" consumer
	put 0 3
	put 1 2
	put 0 1
	collect a
	is "$how: a client gets what is written, in order" \
		"$(judge a)" ""
	is "$how: a second client gets nothing of before it" "$(say fetch b)" ""
	begin b
	is "$how: the agent has two clients" "$(figures clients)" 2
	collect a
	is "$how: the first client gets nothing twice" "$(judge a)" ""
	for i in $(seq 25); do
		put $((i % 2)) $((i * 7 % 11 + 1))
		[ $((i % 3)) -eq 0 ] || put $(((i + 1) % 2)) 2
		collect a
		[ $((i % 6)) -ne 0 ] || collect b
	done
	collect b
	is "$how: each event comes once over many fetches" "$(judge a)" ""
	is "$how: each comes once to a client that fetches less often" "$(judge b)" ""
	tell_ring mark 1 "a text"
	sequence[1]=$((sequence[1] + 1))
	is "$how: a text comes as it was written" \
		"$(say fetch a | sed -n 's/.*type="mark" //; s/ at=.*//p')" \
		'text="a text"'
	say fetch b >/dev/null
	is "$how: all that was written has been taken, nothing is lost" \
		"$(figures written inside lost)" \
		"cpu0=${sequence[0]} cpu1=${sequence[1]} cpu0=0 cpu1=0 cpu0=0 cpu1=0"
	if [ $how = pipe ]; then
		put 0 5
		ok "pipe: the ring is read between fetches" wait_for 5 queued 5
		collect a
		collect b
		is "pipe: what was read between fetches comes with the next" \
			"$(judge a)$(judge b)" ""
	fi

	# ---- more than the ring holds

	begin a
	begin b
	put 1 3000
	collect a
	collect b
	missed=$(missed a)
	ok "$how: a part of 3000 events is overwritten" \
		test "$missed" -gt 1000 -a "$missed" -lt 3000
	is "$how: as many events are lost as clients are told of" \
		"$(figures lost)" "cpu0=0 cpu1=$missed"
	is "$how: the first client has the rest, each once" "$(judge a)" ""
	is "$how: the second client misses as many, and has the rest" \
		"$(missed b) $(judge b)" "$missed "

	# ---- the ring goes

	first=("${sequence[@]}")
	is "$how: figures have what was written before the ring goes" \
		"$(figures written)" \
		"cpu0=${first[0]} cpu1=${first[1]}"
	begin a
	begin b
	ring_goes
	is "$how: a ring that has gone has no figures, nor events" \
		"$(figures written size mode reader)$(say fetch a)" ""

	# ---- and comes back, with another consumer

	ring_comes 6 busy
	put 0 2
	put 1 1
	ok "$how: a ring is read while another program consumes it" \
		wait_for 5 becomes snapshot
	is "$how: counts go on when a ring comes back" "$(figures written)" \
		"cpu0=$((first[0] + 2)) cpu1=$((first[1] + 1))"
	is "$how: the count of losses goes on when a ring comes back" \
		"$(figures lost)" "cpu0=0 cpu1=$missed"
	collect b
	put 0 4
	collect a
	put 1 6
	collect a
	collect b
	is "$how: the first client gets events once beside a consumer" "$(judge a)" ""
	is "$how: the second client gets events once beside a consumer" "$(judge b)" ""
	is "$how: events stay in the ring for the other consumer" "$(figures inside)" \
		"cpu0=6 cpu1=7"
	tell_ring busy 0
	ok "$how: the agent is the consumer again" wait_for 5 becomes consumer
	put 0 5
	collect a
	collect b
	is "$how: no event comes twice after the reader changed" "$(judge a)$(judge b)" ""

	# ---- or has come back before the agent saw that it had gone

	first[0]=$((first[0] + sequence[0]))
	first[1]=$((first[1] + sequence[1]))
	is "$how: figures have what was written until a replacement" \
		"$(figures written)" \
		"cpu0=${first[0]} cpu1=${first[1]}"
	ring_goes
	ring_comes 7
	put 1 1
	ok "$how: a ring in another's place is read" wait_for 5 becomes consumer
	put 0 1
	collect a
	collect b
	is "$how: counts go on when a ring is replaced" "$(figures written)" \
		"cpu0=$((first[0] + 1)) cpu1=$((first[1] + 1))"
	is "$how: events go on when a ring is replaced" "$(judge a)$(judge b)" ""
	clients_stop
	ring_goes
done
finish
