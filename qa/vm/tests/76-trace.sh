#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kmmv.trace: each hit of a tracepoint or a function is counted, as often as the test
# made it.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/trace.sh
. qa/vm/trace.sh

trap unload EXIT

ok "the module that tells of probes loads" insmod qa/client/kmmv_probes.ko
probes=$(probes)
ok "the modules load" load ring_pages=16
ok "the module with something to count loads" insmod qa/client/kmmv_traced.ko
is "no function is traced at first" "$(handlers)" 0

# ---- hits

ok "a counter of a tracepoint is enabled" define hits tracepoint=kmmv_qa/kmmv_traced
is "a counter that is enabled is on" "$(get hits state) $(get hits enable)" "on 1"
hit tp 1000
is "each hit is counted in an instance" "$(values hits)" "kmmv_traced 1000"
is "each hit is counted in the file hits" "$(get hits hits)" 1000
is "each hit is counted in the metric of hits" "$(stat_of hits hits)" 1000
ok "hits cost something: $(stat_of cost hits) ns" test "$(stat_of cost hits)" -gt 0
ok "enable takes 0" put hits enable 0
is "a counter that is disabled is off" "$(get hits state)" off
hit tp 10
is "no hit is counted in a counter that is off" "$(values hits) $(get hits hits)" \
	"kmmv_traced 1000 1000"
ok "enable takes 1 again" put hits enable 1
hit tp 10
is "the count goes on in a counter that is on again" \
	"$(values hits) $(get hits hits)" "kmmv_traced 1010 1010"
ok "a counter can be removed" end hits
is "the instance of a removed counter is not active" "$(values hits)" ""
hit tp 10
ok "a counter with the name of a removed one is enabled" \
	define hits tracepoint=kmmv_traced
is "a counter with the name of a removed one goes on" \
	"$(values hits) $(get hits hits)" "kmmv_traced 1010 0"

ok "a counter of a function is enabled" define one function=kmmv_traced_one
hit one 500
hit two 50
is "each call of a function is counted" "$(values one)" "kmmv_traced_one 500"
ok "a counter of a glob is enabled" define glob 'function=kmmv_traced_*'
hit one 7
hit two 8
hit three 9
is "each call of each function of a glob is counted" "$(values glob | xargs)" \
	"kmmv_traced_one 7 kmmv_traced_three 9 kmmv_traced_two 8"
is "a function counts in two counters" "$(values one)" "kmmv_traced_one 507"
is "the hits of a glob are those of its functions" \
	"$(stat_of hits glob) $(get glob hits)" "24 24"
ok "one of a function's two counters can be removed" end one
hit one 3
is "a function counts on in the other of two counters" \
	"$(values glob | grep one)" "kmmv_traced_one 10"

# ---- the end

ok "a counter of sched_switch is enabled" define switch tracepoint=sched_switch
ok "a counter of sched_wakeup is enabled" define wake tracepoint=sched_wakeup
is "sched_switch and sched_wakeup have probes" \
	"$(probes | xargs -n 1 | grep -cx 'sched_switch\|sched_wakeup')" 2
ok "the counter of sched_wakeup can be removed" end wake
is "sched_wakeup has no probe without a counter" \
	"$(probes | xargs -n 1 | grep -cx sched_wakeup)" 0
end hits glob switch
is "no probe is left" "$(probes)" "$probes"
is "no function is traced when all counters are removed" "$(handlers)" 0
ok "the modules unload" unload
is "no handler is left" "$(handlers)" 0
finish
