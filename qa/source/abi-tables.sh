#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The offset tables of kmmv(5) agree with <linux/kmmv.h>, <linux/kmmv_ring.h> and
# <linux/kmmv_profile.h>: each row is compiled, and each member of a structure has a row.

cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh

headers=(kmod/include/uapi/linux/kmmv.h kmod/include/uapi/linux/kmmv_ring.h
	kmod/include/uapi/linux/kmmv_profile.h)
mkdir -p build
work=$(mktemp -d build/abi.XXXXXX) || exit 2
trap 'rm -rf "$work"' EXIT

# "STRUCTURE size BYTES" and "STRUCTURE OFFSET LENGTH MEMBER", in order
rows()
{
	awk '
	/^\.S[sh] / { name = $2 == "struct" ? $3 : "" }
	name && /^[0-9]+ bytes/ { print name, "size", $1 }
	name && /^\.It [0-9]+ Ta [0-9]+ Ta Va / { print name, $2, $4, $7 }
	' "$1"
}

# "STRUCTURE MEMBER" of the headers, without flexible arrays
members()
{
	awk '
	/^struct kmmv_[a-z_]+ \{/ { name = $2; next }
	/^\}/ { name = "" }
	name && /;$/ && !/\[\];$/ {
		sub(/(\[.*\])?;$/, "")
		member = $NF
		print name, member
	}' "${headers[@]}"
}

# compare PAGE: rows that are wrong, and rows that it lacks
compare()
{
	rows "$1" >"$work/rows"
	{
		echo '#include <stddef.h>'
		echo '#include <stdio.h>'
		echo '#include <linux/kmmv.h>'
		echo '#include <linux/kmmv_ring.h>'
		echo '#include <linux/kmmv_profile.h>'
		echo 'int main(void) {'
		while read -r name offset length member; do
			if [ "$offset" = size ]; then
				printf 'if (sizeof(struct %s) != %s)\n' \
					"$name" "$length"
				printf 'puts("%s: not %s bytes");\n' \
					"$name" "$length"
				continue
			fi
			printf 'if (offsetof(struct %s, %s) != %s || ' \
				"$name" "$member" "$offset"
			printf 'sizeof(((struct %s *)0)->%s) != %s)\n' \
				"$name" "$member" "$length"
			printf 'puts("%s.%s: not %s bytes at %s");\n' \
				"$name" "$member" "$length" "$offset"
		done <"$work/rows"
		echo 'return 0; }'
	} >"$work/rows.c"
	gcc -Ikmod/include/uapi -o "$work/rows.bin" "$work/rows.c" 2>&1 |
		grep error:
	[ "${PIPESTATUS[0]}" -eq 0 ] && "$work/rows.bin"
	awk '$2 != "size" { print $1, $4 }' "$work/rows" | sort >"$work/told"
	members | sort >"$work/there"
	comm -13 "$work/told" "$work/there" | sed 's/$/: has no row/'
	uniq -d "$work/told" | sed 's/$/: has two rows/'
	members | cut -d' ' -f1 | sort -u | while read -r name; do
		grep -q "^$name size" "$work/rows" ||
			echo "$name: its size is not told"
	done
}

# broken NAME SED-SCRIPT ERE: with the page edited, compare() prints ERE
broken()
{
	local text

	sed "$2" help/kmmv.5 >"$work/page"
	text=$(compare "$work/page")
	like "$1" "$text" "$3"
}

is "the headers have the structures that are known here" \
	"$(members | cut -d' ' -f1 | sort -u | tr '\n' ' ')" \
	"kmmv_event kmmv_header kmmv_hit kmmv_pair kmmv_profile_entry kmmv_profile_sample kmmv_profile_state kmmv_refresh kmmv_ring_block kmmv_ring_clock kmmv_ring_counts kmmv_ring_header kmmv_ring_page kmmv_ring_range kmmv_ring_reader kmmv_ring_release kmmv_ring_stats kmmv_ring_take kmmv_ring_writer "
is "tables and headers agree" "$(compare help/kmmv.5)" ""
note "$(wc -l <"$work/rows") rows, $(wc -l <"$work/there") members"

broken "a wrong offset is found" 's/^\.It 48 Ta 8 Ta Va gen2/.It 40 Ta 8 Ta Va gen2/' \
	'kmmv_header.gen2: not 8 bytes at 40'
broken "a wrong length is found" 's/^\.It 4 Ta 4 Ta Va done/.It 4 Ta 8 Ta Va done/' \
	'kmmv_pair.done: not 8 bytes at 4'
broken "a missing row is found" '/Ta Va slots_free/d' \
	'kmmv_header slots_free: has no row'
broken "a member that is not there is found" 's/Ta Va age /Ta Va aged /' \
	"no member named .*aged"
broken "a wrong size is found" 's/^192 bytes/184 bytes/' 'kmmv_header: not 184 bytes'
broken "a missing row of a ring's is found" '/Ta Va swaps/d' \
	'kmmv_ring_reader swaps: has no row'
broken "a wrong size of an array is found" \
	's/^\.It 56 Ta 40 Ta Va dropped/.It 56 Ta 48 Ta Va dropped/' \
	'kmmv_ring_writer.dropped: not 48 bytes at 56'
broken "a wrong offset of a sample's is found" \
	's/^\.It 53 Ta 1 Ta Va found/.It 54 Ta 1 Ta Va found/' \
	'kmmv_profile_sample.found: not 1 bytes at 54'
broken "a size that is not told is found" '/^16 bytes/d' \
	'kmmv_refresh: its size is not told'
finish
