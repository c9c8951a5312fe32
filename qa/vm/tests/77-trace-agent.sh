#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
#
# Counters of kmmv_trace through pmcd: a metric for each, with units, semantics and
# help; what counting costs; keys as instances, in an archive.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/trace.sh
. qa/vm/trace.sh
# The client's unload, for its module, too.
# shellcheck source=qa/vm/agent.sh
. qa/vm/agent.sh

counts_values || skip_all "machine: of 32 bits, it counts hits alone"

# shellcheck disable=SC2317 # called by the trap
trace_end()
{
	rmdir $trace/* 2>/dev/null
	rmmod kmmv_traced 2>/dev/null
	clean_up
}
trap trace_end EXIT

install_agent
ok "./Install installs kmmv_trace" modprobe kmmv_trace
insmod qa/client/kmmv_traced.ko
define sched.work tracepoint=kmmv_traced value=number=arg1:8 units=nanosec \
	'oneline=Time at work' 'help=What the test says.'
define by.text tracepoint=kmmv_traced "key=text=$object_text"
define calls 'function=kmmv_traced_t*'
hit tp 100 1 1 0 a
hit tp 5 1 1 0 b
hit two 3

# shellcheck disable=SC2317 # called by wait_for
shows()
{
	[ "$(value "$1" "$2")" = "$3" ]
}

# shellcheck disable=SC2317 # called by wait_for
archived()
{
	pmdumplog "$WORK/archive" kmmv.value.trace.by.text 2>/dev/null |
		grep -q "\"$1\"\] value $2\$"
}

sum=$((100 * 101 / 2 + 15))
ok "a counter is a metric" wait_for 20 shows \
	kmmv.value.trace.sched.work kmmv_traced $sum
like "a metric has its counter's units and semantics" \
	"$(pminfo -d kmmv.value.trace.sched.work)" \
	"Semantics: counter  Units: nanosec"
like "a metric has its counter's line of help" \
	"$(pminfo -tT kmmv.value.trace.sched.work)" 'Time at work'
like "a metric has its counter's help" \
	"$(pminfo -T kmmv.value.trace.sched.work)" 'What the test says'
ok "keys are instances" wait_for 20 shows kmmv.value.trace.by.text a 100
is "a second key has its count" "$(value kmmv.value.trace.by.text b)" 5
like "a counter without texts has a default line of help" \
	"$(pminfo -t kmmv.value.trace.by.text)" \
	'Hits of the tracepoint kmmv_traced, by key'
is "functions are instances" "$(value kmmv.value.trace.calls kmmv_traced_two)" 3
is "functions have a sum" "$(value kmmv.all.trace.calls "")" 3
is "a counter's hits are in trace.stat.hits" \
	"$(value kmmv.value.trace.stat.hits by.text)" 105
for name in hits:0 cost:1 faults:2 lost:3; do
	like "trace.stat.${name%:*} has its fixed number" \
		"$(pminfo -m "kmmv.value.trace.stat.${name%:*}")" \
		" 389\.$((16 + 80 + ${name#*:}))\.0"
	like "trace.stat.${name%:*} has help" \
		"$(pminfo -T "kmmv.value.trace.stat.${name%:*}")" '[a-z]{4}'
done
like "cost is a time" "$(pminfo -d kmmv.value.trace.stat.cost)" \
	"Semantics: counter  Units: nanosec"

cat >"$WORK/config" <<-EOT
log mandatory on 500 msec {
	kmmv.value.trace
}
EOT
pmlogger -c "$WORK/config" "$WORK/archive" -l "$WORK/log" &
logger=$!
id=$(id kmmv.value.trace.by.text a)
for i in 1 2 3 4; do
	hit tp 10 1 0 0 a
	hit tp 1 1 0 0 "new$i"
	sleep 1
done
ok "the archive has a key that came" wait_for 20 archived new4 1
end by.text
ok "a counter that is removed has no instances" wait_for 10 shows \
	kmmv.value.trace.by.text a ""
define by.text tracepoint=kmmv_traced "key=text=$object_text"
hit tp 1 1 0 0 a
ok "a counter that comes back goes on" wait_for 20 shows kmmv.value.trace.by.text a 141
is "a key that comes back has its number" "$(id kmmv.value.trace.by.text a)" "$id"
ok "the archive has a key that came back" wait_for 20 archived a 141
kill $logger
wait $logger
is "pmlogcheck has nothing to say" "$(pmlogcheck "$WORK/archive" 2>&1)" ""
is "no value falls in the archive" "$(falls "$WORK/archive" kmmv.value.trace.by.text \
	kmmv.value.trace.sched.work kmmv.value.trace.calls \
	kmmv.value.trace.stat.{hits,cost,faults,lost})" ""
finish
