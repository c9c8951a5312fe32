#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What pmlogger makes of metrics whose driver is reloaded, or is not while the agent is
# restarted: fields of events remain, and a family in other units is another metric.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/agent/env
. qa/agent/env
# shellcheck source=qa/agent/clients
. qa/agent/clients

command -v pmlogger >/dev/null || skip_all "no pmlogger"
# shellcheck disable=SC2317 # called by the trap
end_all()
{
	# shellcheck disable=SC2086 # none is none
	kill $live_pid $pmcd_pid $logger 2>/dev/null
	rm -rf "$work"
}
trap end_all EXIT
logger=

# at EPOCH <SPEC: the device as it is then, loaded anew
at()
{
	sed "1iset epoch $1" | qa/agent/area.py "$work/next"
	serve_next "$work"
}

# record METRICS: pmlogger does, into $archive, until end_record
record()
{
	archive=$work/archive.$((++archives))
	echo "log mandatory on 100 msec { $1 }" >"$work/config"
	pmlogger -h "$host" -c "$work/config" -l "$archive.log" "$archive" &
	logger=$!
}

end_record()
{
	kill $logger
	wait $logger
	logger=
}

# logged_or_ended PMID VALUE: as one name can be two metrics
# shellcheck disable=SC2317 # called by wait_for
logged_or_ended()
{
	! kill -0 $logger 2>/dev/null ||
		pmdumplog "$archive" 2>/dev/null | awk -v pmid="$1" -v value="$2" '
			$2 ~ /^\(/ { metric = $1 }
			$1 == pmid || (metric == pmid && $1 == "inst") {
				if ($(NF - 1) == "value" && $NF == value) found = 1
			}
			END { exit !found }'
}

has_logged()
{
	wait_for 60 logged_or_ended "$@" && kill -0 $logger
}

# shellcheck disable=SC2317 # called by wait_for
answers()
{
	kill -HUP $pmcd_pid
	pminfo -h "$host" -f kmmv.value.drv.time | grep -q value
}

restart_agent()
{
	# shellcheck disable=SC2046 # numbers
	kill $(ps -o pid= --ppid $pmcd_pid)
	wait_for 60 answers
}

area <<E
set epoch 1
family 0 counter count counter Counters
family 1 drv.time microsec counter Time
type 16 drv.io
field 16 0 8 unsigned microsec took
inst 0 0 0 active 1 one
inst 1 1 0 active 5 user
E
live
pmcd_start || bail "no pmcd"
host=unix:$work/pmcd.socket
epoch=$(pminfo -h "$host" -m kmmv.control.epoch | sed 's/.*PMID: //')

# ---- fields

record kmmv
ok "pmlogger records all of kmmv" has_logged "$domain.256.0" 5
at 2 <<E
family 0 counter count counter Counters
family 1 drv.time microsec counter Time
inst 0 0 0 active 2 one
inst 1 1 0 active 6 user
E
ok "pmlogger goes on when the event types are gone" has_logged "$epoch" 2
restart_agent
at 3 <<E
family 0 counter count counter Counters
family 1 drv.time microsec counter Time
inst 0 0 0 active 3 one
inst 1 1 0 active 7 user
E
ok "pmlogger goes on with a new agent without the event types" \
	has_logged "$domain.256.0" 13 || note "$(tail -n 5 "$archive.log")"
is "families that are as before are not reported" \
	"$(pminfo -h "$host" -f kmmv.control.error | sed -n 's/^ *value //p')" '""'

# ---- units

at 4 <<E
family 0 counter count counter Counters
family 1 drv.time nanosec counter Time
inst 0 0 0 active 4 one
inst 1 1 0 active 8000 user
E
ok "pmlogger records a family in other units" has_logged "$domain.257.0" 8000
like "a family in other units is reported" \
	"$(pminfo -h "$host" -f kmmv.control.error)" "drv.time has other units"
pminfo -h "$host" -m kmmv.value.drv.time >"$work/pmid"
like "a family in other units is another metric" \
	"$(cat "$work/pmid")" "PMID: $domain.257.0"
end_record
not_ok "pmlogextract fails on an archive with both units" \
	pmlogextract "$archive" "$work/extract"
# As the page has it.
for view in value.0 percpu.1 all.2; do
	printf 'metric %d.256.%d { name -> kmmv.%s.drv.time_usec }\n' "$domain" \
		"${view#*.}" "${view%.*}"
done >"$work/rules"
ok "pmlogrewrite gives the old metric another name" \
	pmlogrewrite -c "$work/rules" "$archive" "$work/renamed"
is "pmlogcheck finds no fault in the rewritten archive" \
	"$(pmlogcheck "$work/renamed" 2>&1)" ""
like "the old metric's values have the other name" \
	"$(pmdumplog "$work/renamed" kmmv.value.drv.time_usec |
	sed -n 's/.*or "user"\] value //p')" "^13$"
is "the new metric's values have the name of both" \
	"$(pmdumplog "$work/renamed" kmmv.value.drv.time |
	sed -n 's/.*or "user"\] value //p' | sort -un | xargs)" 8000
ok "pmlogextract succeeds on the rewritten archive" \
	pmlogextract "$work/renamed" "$work/extract"
finish
