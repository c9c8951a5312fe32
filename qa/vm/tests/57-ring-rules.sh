#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The rules of a ring while others come and go: nested writers, consumers that are
# killed, mappings in parts, followed counters in a storm, and the module.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/client/client.sh
. qa/client/client.sh

rings=/sys/kernel/config/kmmv/rings
# shellcheck disable=SC2317 # called by the trap
clean_up()
{
	kill %% 2>/dev/null
	rmdir $rings/[!d]* 2>/dev/null
	unload
}
trap clean_up EXIT

RECORDS=40000 updates=200000
[ "${KMMV_SOAK:-0}" = 0 ] || RECORDS=4000000 updates=5000000
export RECORDS

# Include a program's TAP in this script's.
include()
{
	local line planned=none what=$2 n=$tap_count

	while IFS= read -r line; do
		case $line in
		"ok "*)		pass "$what: ${line#ok * - }" ;;
		"not ok "*)	fail "$what: ${line#not ok * - }" ;;
		1..*)		planned=${line#1..} ;;
		*)		printf '%s\n' "$line" ;;
		esac
	done < <("$@")
	is "$what: all tests that are planned are run" "$planned" $((tap_count - n))
}

load_core && load_client || bail "the modules do not load"
include build/qa/vm/ring-rules nested
include build/qa/vm/ring-rules death
include build/qa/vm/ring-rules mapping
include build/qa/vm/ring-rules hits
include build/qa/vm/ring-rules modes
include build/qa/vm/ring-rules comes

# ---- prepared heads

mkdir $rings/heads
echo 1 >$rings/heads/enable
ring=$(call "ring get heads")
is "a head is of one instance, or a sink: no line is wrong" \
	"$(call "ring heads $ring")" 0
call "ring put $ring" >/dev/null
ok "the ring with the heads can be removed" rmdir $rings/heads

# ---- counters that are followed and not, while all of them count

# The numbers are known after a storm.
call "storm 1000 10" >/dev/null
mapfile -t numbers < <(awk '{ print $1 }' $client_dir/totals)
mkdir $rings/follow
echo consume >$rings/follow/mode
echo 1 >$rings/follow/enable

# The first events that there are now, of one read; nothing if there are none.
events()
{
	dd if=/dev/kmmv/ring/follow bs=64k count=1 status=none
}

# From the first event until the storm is over, and a hundred times at least.
follow()
{
	local i=0 turn=0 number over=

	# It may first run when the storm is over, whose events are there still.
	until [ -n "$over" ]; do
		[ ! -e "$WORK/over" ] || over=yes
		events >"$WORK/events"
		[ ! -s "$WORK/events" ] || break
		sleep 0.1
	done
	while [ ! -e "$WORK/over" ] || [ $i -le 100 ]; do
		for number in "${numbers[@]}"; do
			echo "$number" >$rings/follow/trace
			[ $((i++ % 7)) = 0 ] ||
				echo "-$number" >$rings/follow/trace
		done
		echo $((turn++ % 2)) >$rings/follow/enable
		echo $i >"$WORK/turns"
	done
}

for number in "${numbers[@]}"; do
	echo "$number" >$rings/follow/trace
done 2>"$WORK/errors"
follow 2>>"$WORK/errors" &
include build/qa/vm/storm $updates 1000 nmi
touch "$WORK/over"
wait %1
for number in "${numbers[@]}"; do
	echo "-$number" >$rings/follow/trace
done 2>/dev/null
note "followed or not $(cat "$WORK/turns") times"
is "each counter can be followed, or not, while it counts" \
	"$(grep -vc 'No such file' "$WORK/errors")" 0
ok "followed counters leave events" test -s "$WORK/events"
ok "the ring that follows can be removed" rmdir $rings/follow

# ---- readers, and the module

mkfifo "$WORK/go"
build/qa/vm/ring-rules hold <"$WORK/go" >"$WORK/said" &
holder=$!
exec 4>"$WORK/go"
wait_for 20 grep -q mapped "$WORK/said" || bail "nobody holds the mapping"
ring=$(call "ring get default")
rmmod kmmv_client
not_ok "kmmv does not unload while default is mapped, no file open" rmmod kmmv
load_client || bail "the client does not load again"
ring=$(call "ring get default")
is "the ring default still records while mapped" \
	"$(call "ring write $ring nmi 1 24 5")" 0
exec 4>&-
wait $holder
is "the reader of default ends with status 0" $? 0
exec 5</dev/kmmv/ring/default
rmmod kmmv_client
not_ok "kmmv does not unload while default is open" rmmod kmmv
exec 5<&-
ok "kmmv unloads when default is closed" rmmod kmmv
finish
