#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# From events in the kernel to pmevent and archives, for several clients at once:
# each event is delivered once or counted as missed.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/udev.sh
. qa/vm/udev.sh
# shellcheck source=qa/client/client.sh
. qa/client/client.sh

rings=/sys/kernel/config/kmmv/rings

# shellcheck disable=SC2317 # called by the trap
clean_up()
{
	grep -q '^kmmv' /etc/pcp/pmcd/pmcd.conf &&
		./Remove </dev/null >/dev/null 2>&1
	rm -f /var/lib/pcp/config/pmda/389.*
	/etc/init.d/pmcd stop >/dev/null 2>&1
	unload
	stop_udev
}
trap clean_up EXIT

# value METRIC [INSTANCE]: its value through pmcd
value()
{
	pminfo -f "kmmv.ring.$1" |
		sed -n "s/^ *inst \\[[0-9]* or \"${2:-default}\"\\] value //p" |
		tr -d '"'
}

# figures METRIC...: the sums over CPUs, from one fetch
figures()
{
	pminfo -f "${@/#/kmmv.ring.}" |
		sed -n 's/^ *inst .*"default::cpu[0-9]*"\] value //p' |
		awk '{ n += $1 } END { print n + 0 }'
}

# The CPUs whose accounts, from one fetch, balance in events and in bytes.
balanced()
{
	pminfo -f kmmv.ring | awk '
	/^kmmv/ { metric = $1 }
	/::cpu/ {
		sub(/.*::/, "")
		sub(/"\] value/, "")
		v[metric, $1] = $2
		cpus[$1]
	}
	function of(cpu, name) { return v["kmmv.ring." name, cpu] }
	function check(cpu, in_, all) {
		all = of(cpu, in_ "overwritten") + of(cpu, in_ "read")
		all += of(cpu, in_ "taken") + of(cpu, in_ "inside")
		return all > 0 && of(cpu, in_ "written") == all
	}
	END {
		for (cpu in cpus)
			n += check(cpu, "") && check(cpu, "bytes.")
		print n + 0
	}'
}

# events FILE: the output of pmevent or pmdumplog as lines "CPU SEQUENCE TYPE TEXT",
# and "missed COUNT"
events()
{
	awk '
	function flush() { if (cpu != "") print cpu, seq, type, text; cpu = "" }
	/event record \[/ { flush(); text = "-" }
	/missed event records/ && /==>/ { print "missed", $(NF - 3) }
	!/kmmv\.ring\.event\./ { next }
	{ name = $0; sub(/.*kmmv\.ring\.event\./, "", name) }
	name ~ /^cpu/ { cpu = $NF }
	name ~ /^sequence/ { seq = $NF }
	name ~ /^type/ { type = $NF; gsub(/"/, "", type) }
	name ~ /^(text|delta|qa\.record\.seq)/ { text = $NF }
	END { flush() }' "$1"
}

# The number of events in FILE.events and of missed ones, of CPU if given.
total()
{
	awk -v cpu="$2" '
	$1 == "missed" { n += $2; next }
	cpu == "" || $1 == cpu { n++ }
	END { print n + 0 }' "$1.events"
}

again()
{
	grep -v '^missed' "$1.events" | cut -d' ' -f1,2 | sort | uniq -d |
		head -n 3
}

start_udev
ok "./Install succeeds" sh -c './Install </dev/null' || bail "no agent"
load_client || bail "the client does not load"
is "group pcp may read the ring, nobody else" \
	"$(stat -c '%U:%G:%a' /dev/kmmv/ring/default)" "root:pcp:440"
# shellcheck disable=SC2317 # called by wait_for
attached()
{
	pminfo -f kmmv.control.state | grep -q '"attached"'
}
ok "the agent reads the device" wait_for 20 attached

ring=$(call "ring get default")
type=$(call "ring type qa.record")
family=$(call "family 0|count|qa.ring|Of the test|")
one=$(call "addin $family one")
echo "$one" >$rings/default/trace
ok "there is a ring and a type" test "$ring" -ge 0 -a "$type" -ge 16
like "figures of a ring are there for each CPU" "$(pminfo -f kmmv.ring.size |
	grep -c '::cpu')" '^4$'
echo 0 >$rings/default/enable
ok "figures do not keep a ring from being changed" \
	sh -c "echo 16 >$rings/default/pages"
echo 1 >$rings/default/enable
is "figures are of the changed ring" "$(figures size)" $((4 * 16 * $(getconf PAGESIZE)))
call "ring mark $ring task 0 -1 before" >/dev/null

# ---- clients, who get no older events

is "nobody asks for events" "$(value reader) $(value clients)" "idle 0"
cat >"$WORK/config" <<E
log mandatory on 1 sec {
	kmmv.ring.records
}
E
pids=
for version in 2 3; do
	pmlogger -V $version -c "$WORK/config" -l "$WORK/log.$version" \
		"$WORK/archive.$version" &
	pids="$pids $!"
done
stdbuf -oL pmevent -t 1 kmmv.ring.records >"$WORK/fast" 2>&1 &
pids="$pids $!"
stdbuf -oL pmevent -t 8 kmmv.ring.records >"$WORK/slow" 2>&1 &
pids="$pids $!"
stdbuf -oL pmevent -t 1 -x 'cpu=1' kmmv.ring.records >"$WORK/cpu1" 2>&1 &
pids="$pids $!"
# shellcheck disable=SC2317 # called by wait_for
all_there()
{
	[ "$(value clients)" = 5 ]
}
ok "five clients ask for events" wait_for 20 all_there
is "the agent is the consumer for five clients" "$(value reader)" consumer

# ---- some events, then more than fit into the ring

for context in task softirq hardirq; do
	for cpu in 0 1 2 3; do
		call "ring mark $ring $context $cpu $one $context$cpu" >/dev/null
		call "adjust $context $cpu $one -7" >/dev/null
	done
done
few=24
# hits FILE: whether it has the events of the counters, up to CPU 3's
# shellcheck disable=SC2317 # called by wait_for
hits()
{
	events "$1" >"$1.events"
	[ "$(grep -c ' hit -7$' "$1.events")" -eq 12 ]
}
# The burst that follows may overwrite them.
ok "a fast client has the events of counters" wait_for 10 hits "$WORK/fast"
burst=2000
for cpu in 0 1 2 3; do
	call "ring write $ring task $cpu 64 $burst" >/dev/null
done
call "ring write $ring task 2 5000 3" >/dev/null
call "ring mark $ring task 3 -1 last" >/dev/null
all=$((few + 4 * burst + 3 + 2))
call "ring mark $ring task 1 -1 last" >/dev/null

# Wait until each is done: the clients by their own events, and the loggers.
# shellcheck disable=SC2317 # called by wait_for
all_have()
{
	local client version

	for version in 2 3; do
		pmdumplog "$WORK/archive.$version" kmmv.ring.records \
			>"$WORK/dump.$version" 2>&1
	done
	for client in fast slow dump.2 dump.3; do
		events "$WORK/$client" >"$WORK/$client.events"
		[ "$(grep -c 'mark "last"$' "$WORK/$client.events")" -ge 2 ] ||
			return
	done
	events "$WORK/cpu1" >"$WORK/cpu1.events"
	grep -q '^1 .* mark "last"$' "$WORK/cpu1.events"
}
ok "all clients have come to the last event" wait_for 60 all_have
# shellcheck disable=SC2086 # a list
kill $pids
# shellcheck disable=SC2086
wait $pids
is "the accounts of all CPUs come out" "$(balanced)" 4
is "records that are too large are counted as that" "$(figures dropped.too_large)" 3
overrun=$(value queue.overrun)
note "$(figures lost) lost in the ring, $overrun in the queue"

for version in 2 3; do
	archive=$WORK/archive.$version
	is "archive of version $version: pmlogcheck has nothing to report" \
		"$(pmlogcheck "$archive" 2>&1)" ""
	pmdumplog "$archive" kmmv.ring.records >"$WORK/dump.$version" 2>&1
done
pmevent -a "$WORK/archive.3" kmmv.ring.records >"$WORK/replay" 2>&1
for client in fast slow cpu1 dump.2 dump.3 replay; do
	events "$WORK/$client" >"$WORK/$client.events"
done
for client in fast slow dump.2 dump.3 replay; do
	file=$WORK/$client
	is "$client: all events are there, or missed" "$(total "$file")" $all
	is "$client: no event is there twice" "$(again "$file")" ""
	is "$client: no event from before is there" \
		"$(grep -c before "$file.events")" 0
	is "$client: the first events are those of hits and marks" "$(head -n 24 \
		"$file.events" | cut -d' ' -f1,3,4 | tr -d '"' | sort |
		tr '\n' ',')" "$(for cpu in 0 1 2 3; do
			for context in hardirq softirq task; do
				echo "$cpu hit -7"
				echo "$cpu mark $context$cpu"
			done
		done | sort | tr '\n' ',')"
	is "$client: the last event is there" \
		"$(grep -c '^3 [0-9]* mark "last"$' "$file.events")" 1
done
is "the filter's client: all events of CPU 1 are there, or missed" \
	"$(total "$WORK/cpu1" 1)" $((few / 4 + burst + 1 + overrun))
is "the filter's client: no event of another CPU is there" \
	"$(grep -vcE '^(missed|1) ' "$WORK/cpu1.events")" 0
like "fields of a registered type have names" "$(cat "$WORK/fast")" \
	'kmmv\.ring\.event\.qa\.record\.size 64$'
like "fields of a registered type have units in an archive" \
	"$(pmdumplog -d "$WORK/archive.3" |
	grep -A 2 'qa\.record\.size)')" "Units: byte"
like "an instance has its name" "$(cat "$WORK/fast")" \
	'kmmv\.ring\.event\.instance "one"$'
is "without clients the ring is let go" "$(value reader) $(value clients)" \
	"idle 0"

# ---- permissions

chmod 755 "$WORK"
like "events are not for everybody" \
	"$(setpriv --reuid=65534 --regid=65534 --clear-groups \
		pminfo -x kmmv.ring.records 2>&1)" "No permission"
is "a user without permission is no client" "$(value reader)" idle

# ---- detaching

pmevent -t 1 kmmv.ring.records >"$WORK/held" 2>&1 &
held=$!
# shellcheck disable=SC2317 # called by wait_for
consuming()
{
	[ "$(value reader)" = consumer ]
}
ok "the agent is the consumer for one client" wait_for 20 consuming
call "ring put $ring" >/dev/null
rmmod kmmv_client
rmmod kmmv_stat
not_ok "rmmod is refused while the agent reads" rmmod kmmv
ok "pmstore detaches the agent" pmstore kmmv.control.attach 0
ok "kmmv unloads when detached, though there is a client" rmmod kmmv
kill $held
wait $held
ok "./Remove succeeds" sh -c './Remove </dev/null'
finish
