#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kmmv.trace: the values, keys and events that were asked for with each hit.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/trace.sh
. qa/vm/trace.sh

counts_values || skip_all "machine: of 32 bits, it counts hits alone"
trap unload EXIT

ok "tells of probes" insmod qa/client/kmmv_probes.ko
probes=$(probes)
ok "loads" load ring_pages=16
ok "there is something to count" insmod qa/client/kmmv_traced.ko

# ---- values

ok "a sum of an argument" define sum tracepoint=kmmv_traced value=number=arg1:8
ok "a sum behind a pointer" define far tracepoint=kmmv_traced \
	"value=number=$inner_number"
ok "a sum of bits" define bits tracepoint=kmmv_traced \
	"value=middle=$object_middle" units=byte
ok "a sum of a byte" define byte tracepoint=kmmv_traced value=small=arg3:1
ok "a sum of a signed one" define level tracepoint=kmmv_traced \
	"value=level=$object_level"
ok "a sum of a function's last argument" define last \
	function=kmmv_traced_two value=last=arg5:8
hit tp 100 300 1 -5
hit tp 10 1000 0 7
hit two 100 1 1
sum=$((100 * 300 + 99 * 100 / 2 + 10 * 1000))
is "the sum" "$(values sum)" "kmmv_traced $sum"
is "behind a pointer" "$(values far)" "kmmv_traced $sum"
bits=$(for ((i = 300; i < 400; i++)); do echo $((i >> 4)); done |
	awk '{ n += $1 } END { print n + 10 * 62 }')
is "of bits" "$(values bits)" "kmmv_traced $bits"
bytes=$(for ((i = 300; i < 400; i++)); do echo $((i & 255)); done |
	awk '{ n += $1 } END { print n + 10 * 232 }')
is "of a byte" "$(values byte)" "kmmv_traced $bytes"
is "a counter does not fall" "$(values level) $(stat_of lost level)" \
	"kmmv_traced 70 100"
is "of a function" "$(values last)" "kmmv_traced_two 5050"
hit null 5
is "what cannot be read" "$(values far) $(stat_of faults far)" \
	"kmmv_traced $sum 5"
is "is a hit" "$(stat_of hits far)" 115
end sum far bits byte level last

# Who calls a function chooses its arguments: no sum falls.
big=$((1 << 57)) huge=9223372036854775807 minus=18446744073709551615
ok "a sum of any numbers" define direct tracepoint=kmmv_traced value=number=arg1:8
ok "by key" define keyed tracepoint=kmmv_traced value=number=arg1:8x \
	"key=text=$object_text"
hit tp 1 5 0 0 k
hit tp 3 $minus 0 0 k
is "-1 is not added" "$(values direct) $(values keyed)" "kmmv_traced 5 k 5"
hit tp 2 $huge 0 0 k
is "nor what makes it fall later" "$(values direct) $(values keyed)" \
	"kmmv_traced 5 k 5"
is "both are lost" "$(stat_of lost direct) $(stat_of lost keyed)" "5 5"
hit tp 300 $big 0 0 k
for name in direct keyed; do
	sum=$(values $name | cut -d' ' -f2)
	ok "what fits is added to $name" test "$sum" -ge $big
	is "the rest is lost" $(((sum - 5) / big + $(stat_of lost $name))) 305
done
end direct keyed
# Each has as much room as the first one.
was=$sum fell=
for ((i = 0; i < 40; i++)); do
	define keyed tracepoint=kmmv_traced value=number=arg1:8x \
		"key=text=$object_text"
	hit tp 100 $big 0 0 k
	sum=$(values keyed | cut -d' ' -f2)
	[ "$sum" -ge "$was" ] || fell="$fell $was:$sum"
	was=$sum
	end keyed
done
is "nor falls the sum of many lives" "$fell" ""

ok "a histogram" define log tracepoint=kmmv_traced 'value=log2 number=arg1:8'
for number in 0 1 2 3 4 7 8 1023 1024 18446744073709551615; do
	hit tp 3 $number
done
is "has buckets by their lower bound" "$(values log | sort -n | xargs)" \
	"0 3 1 3 2 6 4 6 8 3 512 3 1024 3 9223372036854775808 3"

# ---- keys

ok "a key" define key tracepoint=kmmv_traced "key=text=$object_text" max_keys=3
ok "a key behind pointers" define string tracepoint=kmmv_traced \
	"key=string=$inner_string" "value=number=$object_number"
ok "a number as key" define both tracepoint=kmmv_traced \
	"key=level=$object_level" 'value=log2 number=arg1:8'
for name in a b c d e a; do
	hit tp 10 2 0 -1 $name
done
hit tp 1 5 0 0 others
is "each key" "$(values key | xargs)" "a 20 b 10 c 10 others 21"
is "sums by key" "$(values string | tr '\n' ' ')" \
	'\others 5 a 40 b 20 c 20 d 20 e 20 '
is "buckets by key" "$(values both | xargs)" "-1/2 60 0/4 1"
hit null 4
is "no key is another" "$(values key | xargs)" "a 20 b 10 c 10 others 25"
is "all of them" "$(stat_of hits key) $(values key |
	awk '{ n += $2 } END { print n }')" "65 65"
is "unless it has a value" "$(values string | grep -c '^others')" 0
end key string both log
ok "again" define key tracepoint=kmmv_traced "key=text=$object_text" max_keys=3
is "with the others" "$(values key)" "others 25"
hit tp 1 1 0 0 e
hit tp 1 1 0 0 a
is "with their counts" "$(values key | xargs)" "a 21 e 1 others 25"
end key

# A CPU that comes or goes waits for the copy of one key, not of all.
ok "many keys" define many tracepoint=kmmv_traced 'key=number=arg1:8' \
	'value=log2 number=arg1:8' max_keys=1024
hit tp 50 1 1
ok "what keeps CPUs from coming" define locks function=cpus_read_lock
locks=$(get locks hits)
is "all are copied" "$(values many | wc -l)" 50
locks=$(($(get locks hits) - locks))
ok "each under a lock of its own: $locks" test $locks -gt 50
end many locks

# ---- events

ok "events" define event tracepoint=kmmv_traced \
	"event=default number=arg1:8 level=$object_level text=$object_text\
 hex=arg1:2x string=arg4:8p"
hit tp 3 70000 1 -2 first
hit null 1 9
timeout 600 build/kmmvdump -x -R default -N 4 >"$WORK/events"
note "$(cat "$WORK/events")"
is "one for each hit" "$(grep -c 'trace\.event' "$WORK/events")" 4
like "with its fields" "$(grep 'trace\.event' "$WORK/events" | head -n 1)" \
	'70000.*-2.*first.*0x1170.*first'
is "what cannot be read is empty" "$(stat_of faults event)" 3
end event

# ---- the end

ok "the kernel's, with a key" define wake tracepoint=sched_wakeup 'key=p=arg0:8x'
is "has a probe" "$(probes | xargs -n 1 | grep -cx sched_wakeup)" 1
end wake
is "no probe is left" "$(probes)" "$probes"
ok "unloads" unload
is "no handler is left" "$(handlers)" 0
finish
