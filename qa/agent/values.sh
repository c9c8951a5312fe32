#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# beside: yes
# Metrics of a captured area: names, values, metadata, help and labels.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/agent/env
. qa/agent/env

long=$(printf 'x%.0s' {1..255})
area <<E
set epoch 12345678901234567890
set online 0x7
family 0 counter count counter Counters of kernel code
help 0 They count.\\nAnd go on counting.
family 1 stat.cpu nanosecond counter CPU time
family 2 net.queue.len byte instant Length of queues
family 3 odd furlongs discrete Units that PCP does not know
family 4 empty - counter Nobody is in it
family 5 apart none counter,total=no Of different things
inst 0 0 0 active 1,20,300,4000 eth0
inst 1 0 0 active 0xffffffffffffffff,0,0,0 max
inst 2 0 0 inactive 7,7,7,7 gone
inst 3 1 0 active 5,6,7,8 user
inst 4 2 0 active 9 a queue
inst 5 0 0 active 1 24 nvme0q0
label 5 action nvme0q0 "0" \\\\ rest
inst 6 0 0 active 2 24 nvme0q1
inst 7 0 0 active 3 a b
inst 8 0 0 active 4 a_b
inst 9 0 0 active 5 grün-中文-\\xf0\\x9f\\x90\\x84
inst 10 0 0 active 6 bad\\xff\\xc3(utf8
inst 11 0 0 active 7 $long
inst 12 0 0 active 8 [key] x
inst 13 0 0 active 9 back\\x5cslash=a"b c
inst 15 3 0 active 1 one
inst 16 5 0 active 1,2,3 one
inst 17 2 0 active 0xfffffffffffffffc,1 below zero
E

names=$(info kmmv | sort | grep -v -e control -e "^kmmv\.ring\." | tr '\n' ' ')
is "the metrics are those of the families" \
	"$names" "kmmv.all.counter kmmv.all.empty kmmv.all.stat.cpu \
kmmv.percpu.apart kmmv.percpu.counter kmmv.percpu.empty kmmv.percpu.net.queue.len \
kmmv.percpu.odd kmmv.percpu.stat.cpu \
kmmv.value.apart kmmv.value.counter kmmv.value.empty kmmv.value.net.queue.len \
kmmv.value.odd kmmv.value.stat.cpu "

all=$(values kmmv.value.counter)
is "a sum is over all CPUs, offline ones included" \
	"$(grep eth0 <<<"$all")" "eth0 4321"
is "a value is unsigned, of 64 bits" "$(grep max <<<"$all")" "max 18446744073709551615"
is "an inactive instance is not shown" "$(grep -c gone <<<"$all")" 0
is "white space in a name becomes _" "$(grep nvme <<<"$all" | tr '\n' ' ')" \
	"24_nvme0q0 1 24_nvme0q1 2 "
is "clashing names are told apart" "$(grep '^a_b' <<<"$all" | tr '\n' ' ')" \
	"a_b 3 a_b#2 4 "
is "UTF-8 in a name is left alone" "$(grep gr <<<"$all")" "grün-中文-🐄 5"
is "invalid UTF-8 in a name becomes _" "$(grep bad <<<"$all")" "bad__(utf8 6"
is "a long name is whole" "$(grep xxxx <<<"$all")" "$long 7"
is "a leading bracket of a name becomes _" \
	"$(grep key <<<"$all")" "_key]_x 8"
is "other bytes of a name are as they were" "$(grep slash <<<"$all")" 'back\slash=a"b_c 9'
is "another family has its value" "$(values kmmv.value.stat.cpu)" "user 26"
is "a total includes inactive instances, and may wrap" "$(values kmmv.all.counter)" \
	"$((4321 + 28 - 1 + 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9))"
is "another family has its total" "$(values kmmv.all.stat.cpu)" 26
is "a family without instances has no values" "$(values kmmv.value.empty)" none
is "a family without instances has a total of 0" "$(values kmmv.all.empty)" 0
for family in net.queue.len odd apart; do
	is "a family that does not add up has no total: $family" \
		"$(info kmmv.all.$family)" ""
done
is "a level below zero is negative" "$(values kmmv.value.net.queue.len |
	tail -n 1)" "below_zero -3"
is "a level on each CPU may be negative" "$(values kmmv.percpu.net.queue.len |
	grep zero | xargs)" "below_zero::cpu0 -4 below_zero::cpu1 1 below_zero::cpu2 0"
db_start dso
for family in net.queue.len apart; do
	pmid=$(info -m kmmv.value.$family | sed 's/.* //; s/0$/2/')
	is "a total that is no metric has no number: $pmid" "$(db_values $pmid)" \
		"DSO desc() failed: Unknown or illegal metric identifier"
done
db_stop

like "a counter has its semantics and units" "$(info -d kmmv.value.counter)" \
	"Semantics: counter  Units: count$"
like "a counter of time has its semantics and units" \
	"$(info -d kmmv.value.stat.cpu)" "Semantics: counter  Units: nanosec$"
like "an instant family has its semantics and units" \
	"$(info -d kmmv.value.net.queue.len)" \
	"Semantics: instant  Units: byte$"
like "units unknown to PCP are none" "$(info -d kmmv.value.odd)" \
	"Semantics: discrete  Units: none$"
like "units unknown to PCP are reported" "$(cat "$work/stderr")" "odd.*furlongs"
like "a family without units has none" "$(info -d kmmv.value.apart)" \
	"Semantics: counter  Units: none$"
not_ok "a family without units is not reported" grep -q apart "$work/stderr"
like "levels are signed" "$(info -d kmmv.value.odd)" \
	"Data Type: 64-bit int "
like "counters are unsigned, of 64 bits" "$(info -d kmmv.value.counter)" \
	"Data Type: 64-bit unsigned int  InDom: $domain.16 "
like "a total is singular" "$(info -d kmmv.all.counter)" "InDom: PM_INDOM_NULL"

like "one-line help is the family's" "$(info -t kmmv.value.counter)" \
	"\[Counters of kernel code\]"
like "help is the family's" "$(info -T kmmv.value.counter)" "^And go on counting\.$"
like "help of per-CPU metrics says how instances are named" \
	"$(info -T kmmv.percpu.counter)" \
	"instance::cpuN"
missing=
for metric in $(info kmmv.control kmmv.ring); do
	info -t "$metric" | grep -q '\[..*\]' &&
		info -T "$metric" | grep -A 1 '^Help:' | grep -q '^[A-Z0-9].* ' ||
		missing="$missing $metric"
done
is "every metric of the agent's own has help" "$missing" ""
is "no help is without its metric" \
	"$(grep -c '^@ kmmv' help/metrics)" "$(info kmmv.control kmmv.ring | wc -l)"

labels=$(info -l kmmv.value.counter)
like "label: agent is kmmv" "$labels" '"agent":"kmmv",'
is "label: device is on no series" \
	"$(grep -c '"device"' <<<"$labels")" 0
is "label: no name is the external one" "$(grep -c -e '"name":"eth0"' \
	-e '"name":"a_b#2"' <<<"$labels")" 0
is "label: an instance without labels has no set of them" \
	"$(grep -c 'or "eth0"' <<<"$labels")" 0
like "label: family is the family's name" "$labels" '"family":"counter"'
like "label: name is the raw name" "$labels" '"24_nvme0q0".*"name":"24 nvme0q0"'
like "label: name has no suffix" "$labels" '"a_b#2".*"name":"a_b"'
like "label: the kernel's label is quoted" "$labels" \
	'"24_nvme0q0".*"action":"nvme0q0 \\"0\\" \\\\ rest"'
like "label: name is escaped as JSON requires" "$labels" \
	'"name":"back\\\\slash=a\\"b c"'
like "label: name may be no UTF-8" "$labels" 'bad__.*"name":"bad.*utf8"'
like "label: cpu is the CPU's number" "$(info -l kmmv.percpu.counter)" \
	'"eth0::cpu1"\] labels .*"cpu":1,.*"name":"eth0"'

like "control: state is attached" "$(values kmmv.control.state)" '^"attached"$'
is "control: error is that of the unknown units" "$(values kmmv.control.error)" \
	'"family odd: invalid units "furlongs""'
is "control: abi is 1.0" "$(values kmmv.control.abi)" '"1.0"'
is "control: epoch is the area's" "$(values kmmv.control.epoch)" 12345678901234567890
is "control: generation is the area's" "$(values kmmv.control.generation)" 42
is "control: families are counted" "$(values kmmv.control.families)" 6
is "control: instances are counted" "$(values kmmv.control.instances)" 16
is "control: CPUs are counted" "$(values kmmv.control.cpus | tr '\n' ' ')" "4 3 "
is "control: free slots are counted" "$(values kmmv.control.slots_free)" 900
is "control: resets have no value without their family" \
	"$(values kmmv.control.resets)" none

{
	for n in 1 2 3 4 5 6 7 8 9; do
		echo "family $n f$n furlongs$n instant x"
	done
} | area
is "control: error has the last errors, the newest first" \
	"$(values kmmv.control.error | grep -o 'furlongs[0-9]' | xargs)" \
	"$(printf 'furlongs%d ' 9 8 7 6 5 4 3 2 | xargs)"
is "control: all errors are in the log" "$(grep -c 'furlongs[0-9]' "$work/stderr")" 9
area <<E
family 0 stat.resets count counter Resets
inst 0 0 0 active 1,2 one
inst 1 0 0 inactive 10 two
E
is "control: resets are the total of their family" "$(values kmmv.control.resets)" 13

# A captured file with what a kernel refuses to register.
bad_family()
{
	area <<E
family 0 $1 count counter x
family 1 good count counter y
inst 0 1 0 active 1 one
E
	info kmmv | grep -v -e 'control\.[a-z]' -e 'kmmv\.ring\.[a-wyz]' | sort | tr '\n' ' '
	values kmmv.control.state
}
for name in 1x a..b .a a. a-b "ü"; do
	is "a family \"$name\" makes no sense" "$(bad_family "$name")" \
		'"invalid"'
done
for name in control.x percpu percpu.x ring.x all.good profile; do
	is "a family \"$name\" is in the agent's way" \
		"$(bad_family "$name")" \
		'kmmv.all.good kmmv.percpu.good kmmv.value.good "attached"'
done
area <<E
family 0 a.b count counter x
family 1 a count counter y
inst 0 1 0 active 1 one
E
is "a family below another makes an area invalid" \
	"$(info kmmv.a; values kmmv.control.state)" \
	'"invalid"'
finish
