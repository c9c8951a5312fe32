# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The part "profile" of qa/bench/run: what a sample costs, by kmmv_profile and by perf
# record, what of them is lost, and the profiler's memory.
#
# A program that keeps the CPU busy takes longer while it is sampled. Both sample by
# perf's cpu-clock, as the virtual machine has no counter, and both do all their work on
# the one CPU. perf has small buffers here, so that it writes its file meanwhile, too,
# and not at the end, which is not measured.
#
# Lines: WHO, FREQ, nanoseconds without and with, samples, lost, handler's and worker's
# nanoseconds.

# shellcheck disable=SC2154 # what qa/bench/run has set: out, kernel

profile=/sys/kernel/config/kmmv/profile
load_msec=1000

# ---- in the guest

profile_load()
{
	build/qa/bench/profload "$load_msec"
}

profile_stat()
{
	cat "$profile/stats/$1"
}

# Samples lost so far, by whatever cause: not delivered, and not in the buffer.
profile_lost()
{
	echo $(($(profile_stat sample_lost_overflow) +
		$(profile_stat event_lost_overflow) +
		$(profile_stat event_lost_disabled)))
}

# All samples are lost, delivered, or of the idle task, when sampling has stopped.
profile_accounted()
{
	[ "$(profile_stat sample_received)" -eq $(($(profile_lost) +
		$(profile_stat sample_delivered) +
		$(profile_stat sample_not_kept))) ]
}

# profile_overhead PART
profile_overhead()
{
	build/kmmvdump -f profile.overhead |
		sed -n "s/.*\\[\"$1\"\\] \\([0-9]*\\).*/\\1/p"
}

# profile_kmmv FREQ WITHOUT
profile_kmmv()
{
	local taken lost handler worker with

	echo "$1" >$profile/events/default/freq || return
	taken=$(profile_stat sample_received)
	lost=$(profile_lost)
	handler=$(profile_overhead handler)
	worker=$(profile_overhead worker)
	echo 1 >$profile/enable || return
	with=$(profile_load)
	echo 0 >$profile/enable
	profile_accounted || {
		echo "samples are not accounted for, at $1 Hz" >&2
		return 1
	}
	printf 'kmmv\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n' "$1" "$2" "$with" \
		$(($(profile_stat sample_received) - taken)) \
		$(($(profile_lost) - lost)) \
		$(($(profile_overhead handler) - handler)) \
		$(($(profile_overhead worker) - worker))
}

# profile_perf FREQ WITHOUT
profile_perf()
{
	local with

	with=$(perf record -q -a -e cpu-clock -F "$1" -m 8 -B -N -o "$OUT/perf.data" \
		-- build/qa/bench/profload "$load_msec") || return
	perf report -i "$OUT/perf.data" --stats >"$OUT/perf" 2>/dev/null
	printf 'perf\t%d\t%d\t%d\t%s\n' "$1" "$2" "$with" "$(awk -v OFS='\t' '
		$1 == "SAMPLE" && !n { n = $3 }
		$1 == "LOST_SAMPLES" || $1 == "LOST" { lost += $3 }
		END { print n + 0, lost + 0 }' "$OUT/perf")"
	rm -f "$OUT/perf.data" "$OUT/perf"
}

# Kilobytes that are not free, less caches.
profile_used()
{
	sync
	echo 3 >/proc/sys/vm/drop_caches
	awk '/^MemTotal/ { t = $2 } /^MemFree/ { f = $2 } END { print t - f }' \
		/proc/meminfo
}

guest_profile()
{
	local without freq used

	rmmod kmmv_bench kmmv_stat 2>/dev/null
	echo 100000 >/proc/sys/kernel/perf_event_max_sample_rate
	used=$(profile_used)
	# No ceiling: it would change the rate.
	insmod kmod/kmmv_profile.ko max_freq=10000 max_overhead=1000 || return
	without=$(profile_load)
	for freq in 19 97 1000 10000; do
		profile_kmmv $freq "$without" || return
	done
	printf 'memory\t%d\n' $(($(profile_used) - used))
	for freq in 1000 10000; do
		profile_kmmv $freq "$without" >/dev/null || return
	done
	printf 'memory later\t%d\n' $(($(profile_used) - used))
	! command -v perf >/dev/null || for freq in 19 97 1000 10000; do
		profile_perf $freq "$without" || return
	done
	printf 'without\t%d\t%d\n' "$without" "$(profile_load)"
	rmmod kmmv_profile
}

# ---- tables

table_profile()
{
	cat <<-EOF
	What a sample costs, all in all: by how much a program takes longer that keeps
	the CPU busy. Instructions, $kernel, one CPU, by perf's cpu-clock.
	kmmv_profile has found the names by then, and perf record has written addresses
	into its file, of which perf report makes names later.

	EOF
	awk -F'\t' -v OFS='\t' '
	BEGIN { print "samples a second", "instructions a sample", "handler",
		"worker", "of the CPU", "samples", "lost" }
	function line(who) {
		n = $4 * $2 / 1e9
		print who ", " $2, sprintf("%.0f", ($4 - $3) / n),
			$7 == "" ? "" : sprintf("%.0f", $7 / $5),
			$8 == "" ? "" : sprintf("%.0f", $8 / $5),
			sprintf("%.3f %%", 100 * ($4 - $3) / $4), $5, $6
	}
	$1 == "kmmv" { line("kmmv_profile") }
	$1 == "perf" { line("perf record") }
	' "$out/profile.tsv" | table profile
	awk -F'\t' '
	$1 == "memory" { printf "\nMemory: %d kB", $2 }
	$1 == "memory later" { printf ", and %d kB after more samples.\n", $2 }
	' "$out/profile.tsv"
	goal "being always on, at 19 samples a second" "at most 0.1 % of a CPU" \
		"$(awk -F'\t' '$1 == "kmmv" && $2 == 19 {
			print 100 * ($4 - $3) / $4 }' "$out/profile.tsv")" 0.1
}
