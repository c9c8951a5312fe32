#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Many instances, and many names that PCP takes for the same.

# shellcheck source=qa/tap.sh
. qa/tap.sh
# shellcheck source=qa/pmda/env
. qa/pmda/env

# 12 blanks in a name, or underscores: 4096 names of one external form.
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
	echo "many 0 10000 0 1,2,3,4 instance-"
	clashes 2000
} | area
all=$(values kmmv.counter)
is "10000 instances" "$(wc -l <<<"$all")" 10000
is "each with its own name" "$(sort -u <<<"$all" | wc -l)" 10000
is "and value" "$(cut -d' ' -f2 <<<"$all" | sort -u)" 10
is "their total" "$(values kmmv.all.counter)" 100000
is "on each CPU, up to the limit" "$(values kmmv.percpu.counter | wc -l)" 16384
all=$(values kmmv.clash)
is "2000 names of one form" "$(cut -d' ' -f1 <<<"$all" | sort -u | wc -l)" 2000
is "none lost" "$(cut -d' ' -f2 <<<"$all" | sort -n | uniq | wc -l)" 2000
is "the same after a restart" "$(values kmmv.clash | sort | md5sum)" \
	"$(sort <<<"$all" | md5sum)"

# One in, one out, and a profile that is long.
db_start dso
db "profile $domain.16 none" >/dev/null
for id in 1 9999 5000 1 10000 2000000000; do
	db "profile $domain.16 add $id" >/dev/null
done
is "a profile of some" "$(db_values kmmv.counter | cut -d' ' -f1 |
	tr '\n' ' ')" "instance-1 instance-5000 instance-9999 "
is "does not concern the total" "$(db_values kmmv.all.counter)" 100000
is "nor is the family read twice then" \
	"$(db_values kmmv.all.counter kmmv.counter | tr '\n' ' ')" \
	"100000 instance-1 10 instance-5000 10 instance-9999 10 "
db "profile $domain.16 all" >/dev/null
db "profile $domain.16 delete 0" >/dev/null
is "a profile of all but one" "$(db_values kmmv.counter | wc -l)" 9999
ok "dbpmda ends well" db_stop
finish
