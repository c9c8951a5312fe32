#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# beside: yes
# kmmv.ring.* on simulated rings: figures; and events for clients at different
# rates, each delivered once or counted as missed.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/agent/env
. qa/agent/env
# shellcheck source=qa/agent/ring
. qa/agent/ring

area <<E
family 0 counter count counter Counters
family 1 disk.io count counter Disks
inst 0 0 0 active 1,2,3,4 one
inst 1 1 3 active 1,2,3,4 sd a
E
cat >"$work/dev/sim/types" <<E
1 hit delta 1 0 8 none
2 mark text 3 0 0 none
16 disk.io sector 0 0 8 count error 1 8 2 none tag 3 10 6 none
17 text value 0 0 8 none
18 timed when 4 0 8 nanosec flags 2 8 1 none
E

# ---- figures

for cpu in 0 1 3; do
	echo $cpu 1 $(seq $((cpu * 100 + 1)) $((cpu * 100 + 26)))
done >"$work/dev/sim/default.stats"
new_ring default
new_ring other

# ring_values METRIC...: instance=value of all of them
ring_values()
{
	values "${@/#/kmmv.ring.}" | sed 's/^default:://' | tr ' \n' '= '
}
is "CPUs that have an area have figures, no others" "$(ring_values written)" \
	"cpu0=4 cpu1=104 cpu3=304 "
at=0
for name in reserved discarded "" written overwritten read taken inside \
		bytes.reserved bytes.discarded bytes.dropped bytes.written \
		bytes.overwritten bytes.read bytes.taken bytes.inside \
		dropped.full dropped.commit dropped.nested dropped.too_large \
		dropped.nmi lost backwards starved contended anomalies; do
	at=$((at + 1))
	[ -z "$name" ] || is "$name has its figure on each CPU" "$(ring_values $name)" \
		"cpu0=$at cpu1=$((at + 100)) cpu3=$((at + 300)) "
done
is "size is that of each CPU" "$(ring_values size)" "cpu0=32768 cpu1=32768 cpu3=32768 "
is "mode, enabled, reader and clients are those of each ring" \
	"$(ring_values mode enabled reader clients)" \
	'default="overwrite" other="overwrite" default=1 other=0 default="idle" other="excluded" default=0 other=0 '
is "kmmv.ring.event.time has no value" "$(values kmmv.ring.event.time)" none
is "each metric of rings has help" \
	"$(info -tT kmmv.ring | grep -c "not available")" 0
is "a CPU's figure has labels of the CPU and the ring" \
	"$(info -l kmmv.ring.lost | sed -n \
	's/.*"default::cpu3".*"cpu":\([0-9]*\).*"ring":"\([a-z]*\)".*/\1 \2/p')" \
	"3 default"
like "bytes.read has the semantics of a counter" "$(info -d kmmv.ring.bytes.read)" \
	"Semantics: counter  Units: byte"
like "inside has instant semantics" "$(info -d kmmv.ring.inside)" \
	"Semantics: instant  Units: count"
live
db_start pipe
db "instance $domain.2" >/dev/null
is "rings' numbers are on disk once their domain was read" "$(sed -n 's/^+ 2 [01] //p' \
	"$work/var/config/pmda/$domain.numbers" | sort | tr '\n' ' ')" \
	"default other "
db_stop

# A CPU came to life while the ring was open, before the last one.
echo 1 4 2 >"$work/dev/sim/default.buffer"
is "a CPU that came since does not leave out another" \
	"$(ring_values written)" "cpu0=4 cpu1=104 cpu3=304 "
rm "$work/dev/sim/default.buffer"

db_start dso
is "a CPU's count is the kernel's at first" \
	"$(db_values kmmv.ring.written | tail -n 1)" "default::cpu3 304"
echo 2 4 >"$work/dev/sim/default.buffer"
sed -i 's/^3 1 301 302 303 304/3 1 301 302 303 10/' \
	"$work/dev/sim/default.stats"
is "a CPU's count goes on when the ring is made anew" \
	"$(db_values kmmv.ring.written | tail -n 1)" "default::cpu3 314"
is "a figure that is no count does not go on" \
	"$(db_values kmmv.ring.inside | tail -n 1)" "default::cpu3 308"
rm "$work/dev/sim/default.buffer"
is "figures are read once for a fetch" "$(: >"$work/dev/sim/default.log"
	db "fetch kmmv.ring.written kmmv.ring.size kmmv.ring.mode" >/dev/null
	xargs <"$work/dev/sim/default.log")" "open stats stats stats stats close"
is "a ring is closed after a fetch of figures" \
	"$(tail -n 1 "$work/dev/sim/default.log")" close

rm "$work/dev/sim/default.stats"

# ---- permissions

denied="No permission to perform requested operation"
is "events are not for everybody" "$(db_values kmmv.ring.records)" "$denied"
not_ok "the ring is not claimed for others" \
	grep -q claim "$work/dev/sim/default.log"
grant
is "events are for root, from the first request on" "$(db_values kmmv.ring.records)" none
ok "the agent has claimed the ring" \
	grep -q claim "$work/dev/sim/default.log"
db_stops "dbpmda ends well"

# of_default METRIC: its value for the ring default, as a client gets it
of_default()
{
	say value "$1" "kmmv.ring.$2" | sed -n 's/^[^ ]* default //p' |
		tr -d '"'
}

# The agent tries again a second after it has seen that it cannot.
# shellcheck disable=SC2317 # called by wait_for
becomes()
{
	collect a
	[ "$(of_default a reader)" = "$1" ]
}

# shellcheck disable=SC2317 # called by wait_for
let_go()
{
	[ "$(tail -n 1 "$work/dev/sim/default.log")" = close ]
}

# points COUNT FILE: an archive has so many events
# shellcheck disable=SC2317 # called by wait_for
points()
{
	[ "$(grep -c '(point)' "$work/$2")" -ge "$1" ]
}

# PCP's own clients beside these: live, and by way of archives.
tools()
{
	local pcp=unix:$work/pmcd.socket pids='' version what

	if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
		like "another user has no events" "$(setpriv --reuid=65534 \
			--regid=65534 --clear-groups pminfo -h "$pcp" -x \
			kmmv.ring.records 2>&1)" "$denied"
	else
		skip "another user has no events" "machine: not root"
	fi
	echo "log mandatory on 500 msec { kmmv.ring.records }" >"$work/config"
	for version in 2 3; do
		pmlogger -h "$pcp" -V $version -c "$work/config" \
			-l "$work/log.$version" "$work/archive.$version" &
		pids="$pids $!"
	done
	stdbuf -oL pmevent -h "$pcp" -t 0.5 kmmv.ring.records \
		>"$work/live" 2>&1 &
	pids="$pids $!"
	stdbuf -oL pmevent -h "$pcp" -t 0.5 -x "type=disk*" \
		kmmv.ring.records >"$work/filtered" 2>&1 &
	pids="$pids $!"
	# shellcheck disable=SC2317 # called by wait_for
	all_there()
	{
		[ "$(of_default a clients)" = 6 ]
	}
	ok "PCP's tools are clients" wait_for 10 all_there
	repeat
	put default 3 4 2 1
	# shellcheck disable=SC2317 # called by wait_for
	all_have()
	{
		# What was missed may come in a fetch of its own.
		points 11 live && points 2 filtered &&
			[ "$(grep -l ' missed' "$work/live" "$work/filtered" | wc -l)" = 2 ] &&
			for version in 2 3; do
				pmdumplog "$work/archive.$version" kmmv.ring.records \
					>"$work/so-far" 2>&1
				points 11 so-far && grep -q ' missed' "$work/so-far" ||
					return
			done
	}
	ok "PCP's tools have all events" wait_for 10 all_have
	# shellcheck disable=SC2086 # a list
	kill $pids
	# shellcheck disable=SC2086
	wait $pids
	for version in 2 3; do
		is "archive of version $version: pmlogcheck finds no fault" \
			"$(pmlogcheck "$work/archive.$version" 2>&1)" ""
		pmdumplog "$work/archive.$version" kmmv.ring.records \
			>"$work/dump.$version"
		pmevent -a "$work/archive.$version" kmmv.ring.records \
			>"$work/replay.$version"
	done
	for what in live dump.2 dump.3 replay.2 replay.3; do
		is "$what: all events are there, with their parts" \
			"$(grep -c '(point)' "$work/$what") $(sed -n \
			's/.*==> \([0-9]*\) missed.*/\1/p' "$work/$what") $(sed -n \
			's/.*disk\.io\.error)*\(: value\)* //p' "$work/$what")" \
			"11 3 -2"
	done
	is "a filter of pmevent's selects its events" \
		"$(grep -c '(point)' "$work/filtered") $(sed \
		-n 's/.*==> \([0-9]*\) missed.*/\1/p' "$work/filtered")" "2 3"
}

# shellcheck disable=SC2317 # called by wait_for
queued()
{
	[ "$(of_default fast queue.events)" = "$1" ]
}

attach()
{
	pmstore -h "unix:$work/pmcd.socket" kmmv.control.attach "$1" >/dev/null
}

# After the last client's end, which libpcp does not report in a local context.
all_gone()
{
	if [ $how = pipe ]; then
		ok "pipe: without clients the ring is let go" wait_for 5 let_go
	else
		clients_stop
		clients_start dso
	fi
}

for how in dso pipe; do
	clients_start $how || {
		skip "$how: a ring is read for clients" "no pmcd"
		continue
	}

	# ---- exactly once

	new_ring default
	put default 0 5
	say open fast
	say open slow
	is "$how: a first client gets nothing of before it" \
		"$(say fetch fast)" ""
	begin fast default
	is "$how: the agent is the ring's consumer" "$(of_default fast reader)" consumer
	put default 0 3
	[ $how = dso ] || ok "pipe: a ring is read between fetches" \
		wait_for 5 queued 3
	put default 1 2 0 0
	collect fast
	say fetch slow
	begin slow default
	put default 1 1 7 0		# 7 overwritten before
	put default 0 4 0 2		# 2 dropped before
	collect fast
	put default 3 1 3 5
	loss default 2 4 1		# no event behind it yet
	collect fast
	collect slow
	for i in $(seq 30); do
		put default $((i % 4)) $((i * 7 % 11 + 1)) $((i % 5 / 4)) \
			$((i % 7 / 6))
		collect fast
		[ $((i % 9)) -ne 0 ] || collect slow
		if [ "$i" -eq 17 ]; then
			say open late
			say fetch late
			begin late default
		fi
		[ "$i" -le 17 ] || [ $((i % 4)) -ne 0 ] || collect late
	done
	for client in fast slow late; do
		collect $client
		is "$how: $client has all, each once, in order" \
			"$(judge $client)" ""
	done
	ok "$how: more than 150 events came" \
		test "$(grep -c event "$work/got.fast")" -gt 150
	is "$how: nothing is kept that all clients have" \
		"$(of_default fast queue.events)" 0
	is "$how: the agent has three clients" "$(of_default fast clients)" 3

	# ---- a queue that is too small for the slow client

	say bytes fast 4096
	for i in $(seq 40); do
		put default $((i % 3)) 10 $((i % 13 == 12 ? 3 : 0)) 0
		collect fast
	done
	put default 1 300
	collect late
	collect slow
	put default 1 1
	for client in fast slow late; do
		collect $client
		is "$how: $client has each once, or a count of what it missed" \
			"$(judge $client)" ""
	done
	ok "$how: the slow client missed more than 600 events" \
		test "$(missed slow)" -gt 600
	ok "$how: the fast client missed fewer than 400 events" \
		test "$(missed fast)" -lt 400
	put default 1 300
	collect fast
	bytes=$(of_default fast queue.bytes)
	ok "$how: the queue is at most as long as the limit" \
		test "$bytes" -gt 2048 -a "$bytes" -le 4096
	say bytes fast 0
	put default 1 3
	collect fast
	put default 1 2 1 1
	collect fast
	is "$how: events for which there is no room are missed" "$(judge fast)" ""
	say bytes fast 4194304
	collect slow
	is "$how: events in the queue outlast a limit of no bytes" "$(judge slow)" ""

	# ---- a client that is gone holds nothing

	say close slow
	put default 2 50
	collect fast
	collect late
	is "$how: other clients go on when one has gone" "$(judge fast)$(judge late)" ""
	if [ $how = pipe ]; then
		is "$how: nothing is kept for a client that has gone" \
			"$(of_default fast clients) $(of_default fast queue.events)" \
			"2 0"
	fi
	say close late
	say close fast
	all_gone

	# ---- what the library holds back

	new_ring default
	touch "$work/dev/sim/default.hold"
	put default 0 5
	say open h
	say bytes h 100
	overrun=$(of_default h queue.overrun)
	is "$how: a first client gets nothing that was held back" \
		"$(say fetch h)" ""
	is "$how: events held back before a client are not missed" \
		"$(of_default h queue.overrun)" \
		"$overrun"
	say bytes h 4194304
	begin h default
	put default 1 4
	is "$how: events after a first fetch come at once" "$(say fetch h | wc -l)" 4
	say close h
	rm "$work/dev/sim/default.hold"
	all_gone

	# ---- when the agent is woken

	for pages in 8 1048576 2097152 4294967294; do
		new_ring default
		echo 1 4 4 $pages >"$work/dev/sim/default.buffer"
		say open w
		say fetch w
		say close w
		all_gone
	done
	is "$how: the watermark is half a ring, up to 32 bits" \
		"$(grep watermark "$work/dev/sim/default.log" | tail -n 4 |
			xargs)" \
		"watermark 16384 watermark 2147483648 watermark 4294967295 watermark 4294967295"
	rm "$work/dev/sim/default.buffer"

	# ---- more in the ring than one read takes

	new_ring default
	for i in 1 2 3; do
		put default 0 700
		put default 1 700 3 2
	done
	sleep 0.01
	say open m
	say fetch m >"$work/got.m"
	begin m default
	sleep 0.01
	put default 1 4 0 1
	put default 0 3
	put default 2 2
	for i in 1 2 3 4 5 6; do
		collect m
	done
	is "$how: a first client gets nothing of before it in several reads" \
		"$(judge m)" ""
	say close m
	all_gone

	# ---- drops, some of them from before the attach

	new_ring default
	echo 0 1 0 0 7 >"$work/dev/sim/default.stats"
	say open d
	say fetch d
	put default 0 1 0 9
	put default 0 1 0 1
	is "$how: a first client is not told of drops from before" \
		"$(say fetch d | sed 's/ event .*/ event/' | xargs)" \
		"d default missed 2 d default event d default missed 1 d default event"
	say close d
	rm "$work/dev/sim/default.stats"
	all_gone

	# ---- events overwritten, some of them from before the attach

	new_ring default
	printf '%s\n' "0 1 0 0 0 100" "1 1 0 0 0 50" "2 1 0 0 0 10" \
		>"$work/dev/sim/default.stats"
	put default 1 1 40
	sleep 0.01
	say open o
	say fetch o >/dev/null
	next_seq[default.0]=33
	put default 0 1 70
	put default 0 1 4
	put default 1 1 14
	next_seq[default.2]=16
	put default 2 1 4
	put default 3 1 6
	# Of the first 70, events 100 to 102 are not from before; of CPU 1's, 50 to 54.
	is "$how: a first client is not told of overwriting from before" \
		"$(say fetch o | sed -n 's/.* missed /missed /p
			s/.* event .* sequence=\([0-9]*\) .*/\1/p' | xargs)" \
		"missed 3 103 missed 4 108 missed 5 55 missed 4 20 missed 6 6"
	say close o
	rm "$work/dev/sim/default.stats"
	all_gone

	# ---- another consumer, and the ring opened again: continued by sequence numbers

	touch "$work/dev/sim/default.busy"
	new_ring default
	put default 0 9
	say open a
	say fetch a
	begin a default
	is "$how: the agent is a snapshot reader beside a consumer" \
		"$(of_default a reader)" snapshot
	put default 0 5
	put default 1 5
	collect a
	is "$how: events come once beside another consumer" "$(judge a)" ""
	put default 1 3
	loss default 0 4 2
	collect a
	rm "$work/dev/sim/default.busy"
	ok "$how: the agent is the consumer once the other has gone" \
		wait_for 5 becomes consumer
	put default 0 3
	put default 1 3
	collect a
	put default 2 3
	collect a
	is "$how: the agent stays the consumer" "$(of_default a reader)" consumer
	is "$how: no event comes twice after the reader changed" "$(judge a)" ""
	# Drops without an event: the kernel reports them again with the next one.
	loss default 0 0 4
	collect a
	touch "$work/dev/sim/default.gone"
	put default 0 2
	collect a
	is "$how: the reader of a ring that cannot be read has failed" \
		"$(of_default a reader)" failed
	rm "$work/dev/sim/default.gone"
	ok "$how: a ring that can be read again is consumed" wait_for 5 becomes consumer
	collect a
	is "$how: events go on when a ring can be read again" "$(judge a)" ""
	put default 0 1
	collect a
	is "$how: drops without an event are not told of twice" "$(judge a)" ""
	if [ $how = pipe ]; then
		loss default 2 0 5
		collect a
		attach 0
		put default 1 2
		put default 2 1 0 3
		ok "pipe: a detach closes the ring" wait_for 5 let_go
		put default 1 2 3 0
		attach 1
		ok "pipe: an attach has the ring read again" \
			wait_for 5 becomes consumer
		collect a
		is "pipe: events go on after an attach" "$(judge a)" ""
	fi
	put default 2 2 1 1
	collect a
	is "$how: events go on after further losses" "$(judge a)" ""
	say close a

	# ---- the contents of events, and filters

	all_gone
	new_ring default
	say open a
	say open b
	say fetch a
	say fetch b
	put_one default 1700000001123456789 2 1 0 0 hex fbffffffffffffff
	put_one default 1700000002000000001 0 2 4294967295 0 text 'a  text'
	put_one default 1700000003000000001 1 16 1 3 hex \
		0102030405060708feff74616700ff
	put_one default 1700000004000000001 1 16 1 4 hex 01020304
	put_one default 1700000005000000001 3 99 4294967295 0 hex 00
	put_one default 1700000006000000001 3 17 4294967295 0 hex \
		0000000000000000
	cat >"$work/expected" <<-E
	a default event time=1700000001123456789 sequence=0 cpu=2 type="hit" number=0 family="counter" instance="one" delta=-5 at=1700000001.123456
	a default event time=1700000002000000001 sequence=0 cpu=0 type="mark" text="a  text" at=1700000002.000000
	a default event time=1700000003000000001 sequence=0 cpu=1 type="disk.io" number=1 family="disk.io" instance="sd_a" disk.io.sector=578437695752307201 disk.io.error=-2 disk.io.tag="tag" at=1700000003.000000
	a default event time=1700000004000000001 sequence=1 cpu=1 type="disk.io" number=1 at=1700000004.000000
	a default event time=1700000005000000001 sequence=0 cpu=3 type="99" at=1700000005.000000
	a default event time=1700000006000000001 sequence=1 cpu=3 type="text" at=1700000006.000000
	E
	say fetch a >"$work/got"
	ok "$how: events have their parameters" diff "$work/expected" "$work/got"
	say fetch b >/dev/null
	say filter b "instance=sd*"
	repeat
	is "$how: a filter by instance selects its events" \
		"$(say fetch b | words type)" disk.io
	say filter b "type=disk* cpu=0,1"
	repeat
	is "$how: a filter by type and CPU selects its events" \
		"$(say fetch b | words type)" \
		"disk.io disk.io"
	say filter b "cpu=2-3"
	repeat
	is "$how: a filter by a range of CPUs selects its events" \
		"$(say fetch b | words type)" \
		"hit 99 text"
	say filter b " family=counter  "
	repeat
	is "$how: a filter by family selects its events" "$(say fetch b | words type)" hit
	for text in "cpu=x" "cpu=3-2" "cpu=1," "instance" "what=1" \
			"type=a type=b" "cpu=1 cpu=2" "cpu=" "cpu=99999999999"; do
		like "$how: \"$text\" is no filter" \
			"$(say filter b "$text")" "^b error Impossible value"
	done
	repeat
	is "$how: the old filter stays when a new one is refused" \
		"$(say fetch b | words type)" hit
	is "$how: a filter is not another client's" "$(say fetch a | wc -l)" 30
	say filter b "cpu=1"
	put default 2 1 5 0
	put default 1 1 2 1
	is "$how: losses of CPUs that are filtered out are not told of" \
		"$(say fetch b | sed 's/ event .*/ event/')" \
		"b default missed 3
b default event"
	say filter b ""
	echo 1000000000 >"$work/dev/sim/default.behind"
	put_one default 1600000001000000000 0 18 4294967295 0 hex \
		000cbe5c5d4d3416ff000000
	is "$how: times in an event are on the clock of its own time" \
		"$(say fetch b | sed 's/.* event \([^ ]*\).*when=/\1 /')" \
		"time=1600000002000000000 $((0x16344d5d5cbe0c00 + 1000000000)) timed.flags=255 at=1600000002.000000"
	rm "$work/dev/sim/default.behind"
	put default 2 1 5 0
	is "$how: losses of all CPUs are told of without a filter" \
		"$(say fetch b | sed 's/ event .*/ event/')" \
		"b default missed 5
b default event"
	[ $how = dso ] || tools
	clients_stop
done

# ---- the choice of rings

export KMMV_RINGS=other,default
clients_start dso
new_ring default
new_ring other
say open a
say fetch a
put default 0 1
put other 1 2
is "events of two rings have their rings' names" \
	"$(say fetch a | sed 's/ event .*//' | sort | uniq -c | xargs)" \
	"1 a default 2 a other"
put default 0 1
put other 1 3
is "events of one of two rings are fetched" \
	"$(say fetch a other | sed 's/ event .*//' | uniq -c |
	xargs)" "3 a other"
is "a fetch of one ring does not cost the other's events" \
	"$(say fetch a default | sed 's/ event .*//' | uniq -c | xargs)" \
	"1 a default"
new_ring third
is "a ring that comes has figures" \
	"$(say value a kmmv.ring.mode | xargs)" \
	"a default overwrite a other overwrite a third overwrite"
rm "$work/dev/ring/other"
is "a ring that goes has no figures" "$(say value a kmmv.ring.mode | xargs)" \
	"a default overwrite a third overwrite"
clients_stop
export KMMV_RINGS=
clients_start dso
say open a
is "no ring is read with an empty choice" "$(say fetch a
	say value a kmmv.ring.reader | xargs)" \
	"a default excluded a third excluded"
clients_stop
unset KMMV_RINGS

# readers OPTION...: of each ring, with an agent that has these options
readers()
{
	db_start pipe "$@"
	db_values kmmv.ring.reader | tr -d '"' | sort | xargs
	db_stop
}
is "the ring default is read without an option" "$(readers)" \
	"default idle third excluded"
is "-r takes a list of rings" "$(readers -r third,other)" "default excluded third idle"
is "--rings takes a list of all rings" \
	"$(readers --rings=default,third)" "default idle third idle"
is "-r of a part of a name takes no ring" "$(readers -r thir)" \
	"default excluded third excluded"
is "-r counts, not KMMV_RINGS" \
	"$(KMMV_RINGS=default readers -r third)" "default excluded third idle"
is "KMMV_RINGS counts without -r" "$(KMMV_RINGS=third readers)" \
	"default excluded third idle"

# ---- memory

if command -v valgrind >/dev/null; then
	wrap=(valgrind --quiet --leak-check=full --num-callers=40
		"--show-leak-kinds=definite,indirect" --keep-debuginfo=yes
		--log-file="$work/valgrind.%p")
	clients_start dso
	wrap=()
	new_ring default
	say open a
	say open b
	say fetch a
	say fetch b
	say filter b "cpu=1 type=m*"
	say bytes a 20000
	for i in 1 2 3 4 5 6; do
		put_one default 1700000001123456789 1 16 1 3 hex \
			0102030405060708feff74616700ff
		put default $((i % 4)) 100 1 1
		say fetch a >/dev/null
		[ $((i % 3)) -ne 0 ] || say fetch b >/dev/null
		[ "$i" -ne 3 ] || say value a kmmv.ring.lost >/dev/null
		[ "$i" -ne 4 ] || say filter b "nonsense" >/dev/null
	done
	is "valgrind: the ring has two clients" "$(of_default a clients)" 2
	say close b
	say fetch a >/dev/null
	say close a
	clients_stop
	is "valgrind: there is no error of ours, and no leak" "$(ours)" ""
else
	skip "valgrind: there is no error of ours, and no leak" \
		"no valgrind: qa/setup check"
fi
finish
