#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kmmv.trace: the values, keys and events that were asked for with each hit.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/trace.sh
. qa/vm/trace.sh

counts_values || skip_all "machine: of 32 bits, it counts hits alone"
trap unload EXIT

ok "the module that tells of probes loads" insmod qa/client/kmmv_probes.ko
probes=$(probes)
ok "the modules load" load ring_pages=16
ok "the module with something to count loads" insmod qa/client/kmmv_traced.ko

# ---- values

ok "a counter that sums an argument is enabled" \
	define sum tracepoint=kmmv_traced value=number=arg1:8
ok "a counter that sums what is behind a pointer is enabled" \
	define far tracepoint=kmmv_traced \
	"value=number=$inner_number"
ok "a counter that sums bits is enabled" define bits tracepoint=kmmv_traced \
	"value=middle=$object_middle" units=byte
ok "a counter that sums a byte is enabled" \
	define byte tracepoint=kmmv_traced value=small=arg3:1
ok "a counter that sums a signed number is enabled" \
	define level tracepoint=kmmv_traced \
	"value=level=$object_level"
ok "a counter that sums a function's last argument is enabled" define last \
	function=kmmv_traced_two value=last=arg5:8
hit tp 100 300 1 -5
hit tp 10 1000 0 7
hit two 100 1 1
sum=$((100 * 300 + 99 * 100 / 2 + 10 * 1000))
is "an argument is summed" "$(values sum)" "kmmv_traced $sum"
is "a number behind a pointer is summed" "$(values far)" "kmmv_traced $sum"
bits=$(for ((i = 300; i < 400; i++)); do echo $((i >> 4)); done |
	awk '{ n += $1 } END { print n + 10 * 62 }')
is "bits are summed" "$(values bits)" "kmmv_traced $bits"
bytes=$(for ((i = 300; i < 400; i++)); do echo $((i & 255)); done |
	awk '{ n += $1 } END { print n + 10 * 232 }')
is "a byte is summed" "$(values byte)" "kmmv_traced $bytes"
is "a sum of a signed number does not fall" "$(values level) $(stat_of lost level)" \
	"kmmv_traced 70 100"
is "a function's last argument is summed" "$(values last)" "kmmv_traced_two 5050"
hit null 5
is "numbers that cannot be read are faults" "$(values far) $(stat_of faults far)" \
	"kmmv_traced $sum 5"
is "numbers that cannot be read are hits" "$(stat_of hits far)" 115
end sum far bits byte level last

# Who calls a function chooses its arguments: no sum falls.
big=$((1 << 57)) huge=9223372036854775807 minus=18446744073709551615
ok "a counter that sums any numbers is enabled" \
	define direct tracepoint=kmmv_traced value=number=arg1:8
ok "a counter that sums any numbers by key is enabled" \
	define keyed tracepoint=kmmv_traced value=number=arg1:8x \
	"key=text=$object_text"
hit tp 1 5 0 0 k
hit tp 3 $minus 0 0 k
is "-1 is not added" "$(values direct) $(values keyed)" "kmmv_traced 5 k 5"
hit tp 2 $huge 0 0 k
is "numbers that would make a sum fall later are not added" \
	"$(values direct) $(values keyed)" \
	"kmmv_traced 5 k 5"
is "numbers that are not added are lost" \
	"$(stat_of lost direct) $(stat_of lost keyed)" "5 5"
hit tp 300 $big 0 0 k
for name in direct keyed; do
	sum=$(values $name | cut -d' ' -f2)
	ok "what fits is added to $name" test "$sum" -ge $big
	is "what does not fit in $name is lost" \
		$(((sum - 5) / big + $(stat_of lost $name))) 305
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
is "the sum of a counter's many lives does not fall" "$fell" ""

ok "a counter with a histogram is enabled" \
	define log tracepoint=kmmv_traced 'value=log2 number=arg1:8'
for number in 0 1 2 3 4 7 8 1023 1024 18446744073709551615; do
	hit tp 3 $number
done
is "a histogram has buckets by their lower bound" "$(values log | sort -n | xargs)" \
	"0 3 1 3 2 6 4 6 8 3 512 3 1024 3 9223372036854775808 3"

# ---- keys

ok "a counter with a key is enabled" \
	define key tracepoint=kmmv_traced "key=text=$object_text" max_keys=3
ok "a counter with a key behind pointers is enabled" \
	define string tracepoint=kmmv_traced \
	"key=string=$inner_string" "value=number=$object_number"
ok "a counter with a number as its key is enabled" define both tracepoint=kmmv_traced \
	"key=level=$object_level" 'value=log2 number=arg1:8'
for name in a b c d e a; do
	hit tp 10 2 0 -1 $name
done
hit tp 1 5 0 0 others
is "hits are counted by key, and without room as others" \
	"$(values key | xargs)" "a 20 b 10 c 10 others 21"
is "numbers are summed by key" "$(values string | tr '\n' ' ')" \
	'\others 5 a 40 b 20 c 20 d 20 e 20 '
is "numbers are in buckets by key" "$(values both | xargs)" "-1/2 60 0/4 1"
hit null 4
is "hits whose key cannot be read are others" \
	"$(values key | xargs)" "a 20 b 10 c 10 others 25"
is "all hits are those of a key or others" "$(stat_of hits key) $(values key |
	awk '{ n += $2 } END { print n }')" "65 65"
is "a sum by key has no others when a key cannot be read" \
	"$(values string | grep -c '^others')" 0
end key string both log
ok "a counter with a key is enabled again" \
	define key tracepoint=kmmv_traced "key=text=$object_text" max_keys=3
is "a counter that is enabled again has its others alone" "$(values key)" "others 25"
hit tp 1 1 0 0 e
hit tp 1 1 0 0 a
is "keys of a counter that is enabled again go on" \
	"$(values key | xargs)" "a 21 e 1 others 25"
end key

# A CPU that comes or goes waits for the copy of one key, not of all.
ok "a counter with many keys is enabled" \
	define many tracepoint=kmmv_traced 'key=number=arg1:8' \
	'value=log2 number=arg1:8' max_keys=1024
hit tp 50 1 1
ok "a counter of the lock that keeps CPUs from coming is enabled" \
	define locks function=cpus_read_lock
locks=$(get locks hits)
is "all keys are copied" "$(values many | wc -l)" 50
locks=$(($(get locks hits) - locks))
ok "each key is copied under a lock of its own: $locks" test $locks -gt 50
end many locks

# ---- events

ok "a counter with events is enabled" define event tracepoint=kmmv_traced \
	"event=default number=arg1:8 level=$object_level text=$object_text\
 hex=arg1:2x string=arg4:8p"
hit tp 3 70000 1 -2 first
hit null 1 9
timeout 600 build/kmmvdump -x -R default -N 4 >"$WORK/events"
note "$(cat "$WORK/events")"
is "each hit leaves an event" "$(grep -c 'trace\.event' "$WORK/events")" 4
like "an event has its fields" "$(grep 'trace\.event' "$WORK/events" | head -n 1)" \
	'70000.*-2.*first.*0x1170.*first'
is "fields that cannot be read are faults" "$(stat_of faults event)" 3
end event

# ---- the end

ok "a counter of the kernel's tracepoint with a key is enabled" \
	define wake tracepoint=sched_wakeup 'key=p=arg0:8x'
is "the kernel's tracepoint has a probe" \
	"$(probes | xargs -n 1 | grep -cx sched_wakeup)" 1
end wake
is "no probe is left" "$(probes)" "$probes"
ok "the modules unload" unload
is "no handler is left" "$(handlers)" 0
finish
