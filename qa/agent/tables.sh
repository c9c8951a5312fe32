#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The tables that agent and kernel modules have in common: the families of our own
# modules with their fixed numbers, and the words that names must not begin with.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh

[ -e /usr/include/pcp/pmapi.h ] || skip_all "no PCP headers: qa/setup check"
work=$(mktemp -d) || bail "no directory"
trap 'rm -rf "$work"' EXIT

# Read lines NAME SEMANTICS UNITS, print the units in PCP's numbers.
cat >"$work/units.c" <<'C'
#include <pcp/pmapi.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
	char name[256], sem[32], text[64], *message;

	while (scanf("%255s %31s %63s", name, sem, text) == 3) {
		pmUnits u = { 0 };
		double scale = 1;

		if (strcmp(text, "none") != 0 &&
		    (pmParseUnitsStr(text, &u, &scale, &message) < 0 ||
		     scale != 1))
			printf("not PCP's: ");
		printf("%s:%s:%d,%d,%d,%d,%d,%d\n", name, sem, u.dimSpace,
		       u.dimTime, u.dimCount, u.scaleSpace, u.scaleTime,
		       u.scaleCount);
	}
	return 0;
}
C
gcc -Wall -o "$work/units" "$work/units.c" -lpcp || bail "does not build"

# families DIR: the families that DIR's modules register, in the agent's form
families()
{
	awk '
	FILENAME ~ /kmmv\.h$/ {
		if (/^#define KMMV_UNITS_[A-Z]+[ \t]+"/) {
			gsub(/"/, "", $3)
			words[$2] = $3
		}
		next
	}
	FNR == 1 { list() }
	{ text = text $0 "\n" }
	/^static const struct kmmv_family [a-z_]+ = \{/ { of = $5 }
	# An array, whose families all are registered if one is.
	/^static const struct kmmv_family [a-z_]+\[[A-Z_]+\] = \{/ {
		array = $5
		sub(/\[.*/, "", array)
	}
	array && /^\t\[.*\] = \{/ { of = array " " ++entry }
	of && /\.name = / { name[of] = value($0) }
	of && /\.semantics = KMMV_/ { sem[of] = tolower(substr(value($0), 6)) }
	of && /\.units = / {
		units[of] = value($0)
		if (units[of] in words)
			units[of] = words[units[of]]
	}
	/^\};/ { of = array = "" }
	END { list() }
	function value(line) {
		sub(/.* = /, "", line)
		gsub(/[",]/, "", line)
		return line
	}
	# The families of one file that it registers.
	function list(  i, use) {
		for (i in name) {
			use = "&" i
			if (i ~ / /)
				use = "ARRAY_SIZE(" substr(i, 1, index(i, " ") - 1) ")"
			if (index(text, use))
				print name[i], sem[i], units[i]
		}
		delete name
		text = ""
	}' "$1/kmod/include/linux/kmmv.h" "$1"/kmod/*.c "$1"/kmod/*/*.c |
		"$work/units" | sort
}

# numbers DIR: "NUMBER KEY" of the agent's table
numbers()
{
	awk '
	FNR == NR {
		if ($1 ~ /^FAMILY_[A-Z]+$/ && $2 == "=")
			base[$1] = $3 + 0
		next
	}
	/^\t\{ FAMILY_[A-Z]+ \+ [0-9]+, "/ { print base[$2] + $4, substr($5, 2, length($5) - 2) }
	' "$1/pmda/agent.h" "$1/pmda/family.c"
}

# words FILE WHAT: the words of the array that begins in the line with WHAT
words()
{
	awk -v what="$2" '
	index($0, what) { inside = 1 }
	inside {
		line = $0
		while (match(line, /"[a-z]+"/)) {
			print substr(line, RSTART + 1, RLENGTH - 2)
			line = substr(line, RSTART + RLENGTH)
		}
	}
	inside && /};/ { exit }' "$1" | sort
}

# differences DIR: what does not agree
differences()
{
	diff <(families "$1") <(numbers "$1" | cut -d' ' -f2- | sort) |
		sed -n 's/^< \(.*\)/\1: has no fixed number/p
			s/^> \(.*\)/\1: no module registers it/p'
	numbers "$1" | cut -d' ' -f1 | sort | uniq -d |
		sed 's/$/: a number of two families/'
	diff <(words "$1/kmod/core/event_type.c" "words[] = {") \
		<(words "$1/pmda/param.c" "params[NR_PARAMS] = {") |
		sed -n 's/^[<>] \(.*\)/\1: of events, reserved on one side/p'
	diff <(words "$1/kmod/core/family.c" "reserved[] = {") \
		<(words "$1/pmda/family.c" "words[] = {") |
		sed -n 's/^[<>] \(.*\)/\1: of families, reserved on one side/p'
}

# broken NAME FILE SED-SCRIPT ERE: with FILE edited, differences() prints ERE
broken()
{
	rm -rf "$work/tree"
	mkdir "$work/tree"
	cp --parents kmod/*.c kmod/*/*.c kmod/include/linux/kmmv.h \
		pmda/*.c pmda/agent.h "$work/tree"
	sed -i "$3" "$work/tree/$2"
	like "$1" "$(differences "$work/tree")" "$4"
}

is "the modules and the agent agree on families" "$(differences .)" ""
note "$(families . | wc -l) families"
qa/agent/machine.py area 0 | sed -n 's/^family [0-9]* \([^ ]*\) .*/\1/p' |
	sort >"$work/machine"
is "the machine of the tests has all families" \
	"$(families . | cut -d : -f 1 | sort | comm -23 - "$work/machine")" ""
broken "a family without a number is found" pmda/family.c '/"stat\.took/d' \
	'^stat.took:counter:0,1,0,0,0,0: has no fixed number'
broken "a number without a family is found" kmod/stat/self.c \
	's/&took_family/\&work_family/' \
	'^stat.took:counter:0,1,0,0,0,0: no module registers it'
broken "other units are found" kmod/stat/vm.c \
	'/"stat\.paged"/,/}/s/\(\.units = \).*/\1"Kbyte",/' \
	'^stat.paged:counter:1,0,0,1,0,0: has no fixed number'
broken "other semantics are found" kmod/api.c \
	'/"counter"/,/}/s/KMMV_COUNTER/KMMV_INSTANT/' \
	'^counter:instant:0,0,1,0,0,0: has no fixed number'
broken "a number of two families is found" pmda/family.c 's/CORE + 12,/CORE + 11,/' \
	'^11: a number of two families'
broken "a family of an array without a number is found" pmda/family.c \
	'/"block\.dev\.flush:/d' \
	'^block.dev.flush:counter:0,0,1,0,0,0: has no fixed number'
broken "an array that is not registered is found" kmod/block/family.c \
	's/ARRAY_SIZE(latency_families)/0/' \
	'^block.latency.read:counter:0,0,1,0,0,0: no module registers it'
broken "a number of two ranges is found" pmda/family.c 's/PARTITIONS + 0,/BLOCK + 128,/
	s/PARTITIONS + 1,/BLOCK + 128,/' '^144: a number of two families'
broken "a word of events that the kernel lacks is found" kmod/core/event_type.c \
	's/"delta", //' '^delta: of events'
broken "a word of events that the agent lacks is found" pmda/param.c '/{ "text"/d' \
	'^text: of events'
broken "a word of families that the kernel lacks is found" \
	kmod/core/family.c 's/, "profile"//' \
	'^profile: of families'
finish
