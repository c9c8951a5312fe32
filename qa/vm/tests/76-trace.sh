#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kmmv.trace: each hit of a tracepoint or a function is counted, as often as the test
# made it.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/trace.sh
. qa/vm/trace.sh

trap unload EXIT

ok "tells of probes" insmod qa/client/kmmv_probes.ko
probes=$(probes)
ok "loads" load ring_pages=16
ok "there is something to count" insmod qa/client/kmmv_traced.ko
is "no function is traced" "$(handlers)" 0

# ---- hits

ok "a tracepoint" define hits tracepoint=kmmv_qa/kmmv_traced
is "is on" "$(get hits state) $(get hits enable)" "on 1"
hit tp 1000
is "its hits" "$(values hits)" "kmmv_traced 1000"
is "are the file's" "$(get hits hits)" 1000
is "and the metric's" "$(stat_of hits hits)" 1000
ok "cost something: $(stat_of cost hits) ns" test "$(stat_of cost hits)" -gt 0
ok "0 to enable" put hits enable 0
is "is off" "$(get hits state)" off
hit tp 10
is "no hit counts then" "$(values hits) $(get hits hits)" \
	"kmmv_traced 1000 1000"
ok "1 to enable" put hits enable 1
hit tp 10
is "the count goes on" "$(values hits) $(get hits hits)" "kmmv_traced 1010 1010"
ok "rmdir" end hits
is "its instance is not active" "$(values hits)" ""
hit tp 10
ok "a counter of this name" define hits tracepoint=kmmv_traced
is "goes on" "$(values hits) $(get hits hits)" "kmmv_traced 1010 0"

ok "a function" define one function=kmmv_traced_one
hit one 500
hit two 50
is "its calls" "$(values one)" "kmmv_traced_one 500"
ok "a glob" define glob 'function=kmmv_traced_*'
hit one 7
hit two 8
hit three 9
is "each function" "$(values glob | xargs)" \
	"kmmv_traced_one 7 kmmv_traced_three 9 kmmv_traced_two 8"
is "of which another counter has one" "$(values one)" "kmmv_traced_one 507"
is "all of them" "$(stat_of hits glob) $(get glob hits)" "24 24"
ok "which ends" end one
hit one 3
is "the glob's go on" "$(values glob | grep one)" "kmmv_traced_one 10"

# ---- the end

ok "two of the kernel's" define switch tracepoint=sched_switch
ok "and the other" define wake tracepoint=sched_wakeup
is "have probes" "$(probes | xargs -n 1 | grep -cx 'sched_switch\|sched_wakeup')" 2
ok "away with one" end wake
is "its probe is" "$(probes | xargs -n 1 | grep -cx sched_wakeup)" 0
end hits glob switch
is "no probe is left" "$(probes)" "$probes"
is "no function is traced" "$(handlers)" 0
ok "unloads" unload
is "no handler is left" "$(handlers)" 0
finish
