# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The part "names" of qa/bench/run, which reads this file: what a first reader pays for
# all names.

# names_added COUNT: so many instances, one after the other; prints nanoseconds of each
names_added()
{
	local call=/sys/kernel/debug/kmmv_client/call at answer

	at=${EPOCHREALTIME/./}
	printf 'addmany 0 %s instance' "$1" >$call || return
	read -r _ answer <$call
	[ "$answer" = "$1" ] || return
	echo $(((${EPOCHREALTIME/./} - at) * 1000 / $1))
}

guest_names()
{
	local nr added cost

	rmmod kmmv_bench kmmv_stat kmmv 2>/dev/null
	for nr in 1000 10000 100000 1000000; do
		insmod kmod/kmmv.ko capacity=1048576 max_bytes=67108864 &&
			insmod qa/client/kmmv_client.ko &&
			added=$(names_added $nr) &&
			cost=$(build/qa/bench/readnames /dev/kmmv) || return
		printf '%s\t%s\n' "$cost" "$added"
		rmmod kmmv_client kmmv || return
	done
}

# Instances, then nanoseconds: the library's, with the names in a file, without what the
# file takes; and the core's.
names_natively()
{
	local work nr library core status=0

	work=$(mktemp -d) || return
	for nr in 1000 10000 100000 1000000; do
		rm -rf "${work:?}/dev"
		build/qa/bench/kmmvsim --cpus 4 --families 1 --instances $nr \
			"$work/dev" >/dev/null &&
			library=$(build/qa/bench/readnames "$work/dev") &&
			core=$(build/qa/bench/tellnames $nr) || {
			status=1
			break
		}
		printf '%s\t%s\n' "$library" "$core" |
			awk -F'\t' -v OFS='\t' '{ print $1, $2 - $3, $5 }'
	done
	rm -rf "$work"
	return $status
}

# shellcheck disable=SC2154 # the runner's variables
table_names()
{
	cat <<-EOF
	What a reader pays for all names, when it opens an area for the first time.
	Instructions: Linux 6.1, one CPU, the kernel's included. Natively, in time: the
	library with the names in a file, and the module's core without its device.

	EOF
	awk -F'\t' -v OFS='\t' '
	BEGIN { print "instances", "kmmv_open()", "a name", "of which the kernel", \
		"kmmv_add()", "library, ms", "core, ms" }
	NR == FNR { library[FNR] = $2; core[FNR] = $3; next }
	{ printf "%d\t%d\t%.0f\t%.0f\t%d\t%.2f\t%.2f\n", $1, $2, $2 / $1, $3 / $1, $4,
		library[FNR] / 1e6, core[FNR] / 1e6 }' \
		"$out/names-native.tsv" "$out/names.tsv" | table names
	goal "10^6 names, library and core natively, ms" "at most 500 ms" \
		"$(awk -F'\t' '$1 >= 1000000 { printf "%.0f", ($2 + $3) / 1e6 }' \
			"$out/names-native.tsv")" 500
	goal "a hold of the lock, 16 names, while kmmv_add() waits" \
		"at most 50 us: 50000 instructions" \
		"$(awk -F'\t' '$1 >= 1000000 { printf "%d", $3 * 16 / $1 }' \
			"$out/names.tsv")" 50000
}
