#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# beside: yes
# Many instances, and many names that have the same form in PCP.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/agent/env
. qa/agent/env

# Names of 12 blanks or underscores: 4096 names of one external form.
clashes()
{
	awk -v count="$1" 'BEGIN {
		for (n = 0; n < count; n++) {
			name = ""
			for (bit = 1; bit <= 2048; bit *= 2)
				name = name "a" (int(n / bit) % 2 ? " " : "_")
			printf "inst %d 1 0 active %d %sz\n", 20000 + n, n, name
		}
	}'
}

{
	echo "family 0 counter count counter Counters"
	echo "family 1 clash count counter Names"
	awk 'BEGIN {
		for (n = 0; n < 10000; n++)
			printf "inst %d 0 0 active %d,1,%d,7 instance-%d\n",
				n, n, 3 * n, n
	}'
	clashes 2000
} | area
all=$(values kmmv.value.counter)
is "10000 instances have values" "$(wc -l <<<"$all")" 10000
is "each instance has its own name" "$(sort -u <<<"$all" | wc -l)" 10000
is "each instance has its own value" "$(awk -F '[- ]' '$3 != 4 * $2 + 8' <<<"$all" |
	head -n 3)" ""
total=$((4 * 49995000 + 80000))
is "the total is that of all instances" "$(values kmmv.all.counter)" $total
all_cpus=$(values kmmv.percpu.counter)
is "kmmv.percpu has as many instances as the limit" "$(wc -l <<<"$all_cpus")" 16384
is "each instance per CPU has what that CPU counted" \
	"$(sed 's/instance-\([0-9]*\)::cpu/\1 /' \
	<<<"$all_cpus" | awk '
	$3 != ($2 == 0 ? $1 : $2 == 1 ? 1 : $2 == 2 ? 3 * $1 : 7)' |
	head -n 3)" ""
all=$(values kmmv.value.clash)
is "2000 names of one form are told apart" \
	"$(cut -d' ' -f1 <<<"$all" | sort -u | wc -l)" 2000
is "2000 names of one form have their values" \
	"$(cut -d' ' -f2 <<<"$all" | sort -n | uniq | wc -l)" 2000
is "names of one form have the same values after a restart" \
	"$(values kmmv.value.clash | sort | md5sum)" \
	"$(sort <<<"$all" | md5sum)"

# One comes, one goes, and the profile is long.
db_start dso
db "profile $domain.16 none" >/dev/null
for id in 1 9999 5000 1 10000 2000000000; do
	db "profile $domain.16 add $((id == 2000000000 ? id : own + id))" >/dev/null
done
is "a profile of some has the values of those that exist" \
	"$(db_values kmmv.value.counter | cut -d' ' -f1 |
	tr '\n' ' ')" "instance-1 instance-5000 instance-9999 "
is "a profile does not concern the total" "$(db_values kmmv.all.counter)" $total
is "a profile and the total are right in one fetch" \
	"$(db_values kmmv.all.counter kmmv.value.counter | tr '\n' ' ')" \
	"$total instance-1 12 instance-5000 20008 instance-9999 40004 "
db "profile $domain.16 all" >/dev/null
db "profile $domain.16 delete $own" >/dev/null
is "a profile of all but one has all other values" \
	"$(db_values kmmv.value.counter | wc -l)" 9999
db_stops "dbpmda ends well"
finish
