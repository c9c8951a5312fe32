# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The part "ring" of qa/bench/run, which sources this file: the cost of an event in
# a kmmv ring and in its peers', and of reading it.
#
# The measured lines are PEER, what, bytes of payload and a figure.
# build/bench/ring.skipped lists the peers that could not be measured, with the
# reason.
#
# shellcheck disable=SC2154 # what qa/bench/run has set: out, kernel

# ---- building

ring_skip()
{
	echo "bench: ring: $1 skipped: $2" >&2
	printf '%s\t%s\n' "$1" "$2" >>"${OUT:-$out}/ring.skipped"
}

ring_build()
{
	local dir

	rm -f "$out"/ring.{skipped,lttng} "$out"/ring-*.tsv
	quiet make -s -f qa/GNUmakefile build/qa/vm/ring{read,lag}
	if dir=$(qa/bench/lttng/build "$1" 2>"$out/log"); then
		echo "$dir" >"$out/ring.lttng"
	else
		ring_skip lttng "$(tail -n 1 "$out/log")"
	fi
	[ -x build/qa/bench/ringust ] ||
		ring_skip ust "no liblttng-ust-dev: see qa/setup bench"
}

# ---- in the guest

# The output of modules and programs, with the peer in front.
from()
{
	local peer=$1 lines

	shift
	lines=$("$@") || return
	awk -v peer="$peer" '{ print peer "\t" $0 }' <<<"$lines"
}

guest_ring_lttng()
{
	local dir pages

	dir=$(cat "$OUT/ring.lttng") || return
	insmod "$dir/lttng-wrapper.ko" && insmod "$dir/lttng-clock.ko" &&
		insmod "$dir/lttng-lib-ring-buffer.ko" || return
	printf 'lttng version\t%s\n' "$(basename "${dir%/src}")"
	for pages in 1 16; do
		insmod "$dir/kmmv_ring_lttng.ko" subbuf_pages=$pages &&
			from lttng-$pages cat \
				/sys/kernel/debug/kmmv_ring_lttng &&
			rmmod kmmv_ring_lttng || return
	done
}

guest_ring_linux()
{
	insmod qa/bench/kmod/kmmv_ring_linux.ko &&
		from linux cat /sys/kernel/debug/kmmv_ring_linux &&
		rmmod kmmv_ring_linux &&
		from linux build/qa/vm/ringread linux
}

# The ring has the size of the peers' rings; no event may be missing.
guest_ring_kmmv()
{
	local ring=/sys/kernel/config/kmmv/rings/bench events written

	mkdir "$ring" && echo overwrite >"$ring/mode" &&
		echo 64 >"$ring/pages" && echo 1 >"$ring/enable" &&
		insmod qa/bench/kmod/kmmv_ring_bench.ko &&
		from kmmv cat /sys/kernel/debug/kmmv_ring/cost >"$OUT/kmmv" ||
		return
	written=$(build/qa/vm/ringread -w bench) || return
	events=$(awk -F'\t' '$2 == "events" { print $4 }' "$OUT/kmmv")
	[ "$written" = "$events" ] || {
		echo "ring: $written of $events events were written" >&2
		return 1
	}
	cat "$OUT/kmmv"
	rm "$OUT/kmmv"
	from kmmv build/qa/vm/ringread bench
}

guest_ring()
{
	guest_ring_linux || ring_skip linux "see build/bench/log"
	[ ! -e "$OUT/ring.lttng" ] || guest_ring_lttng ||
		ring_skip lttng "see build/bench/log"
	guest_ring_kmmv
}

# To consumers: on two CPUs, in real time.
guest_ring_lag()
{
	local rings=/sys/kernel/config/kmmv/rings

	mkdir $rings/bench && echo 1 >$rings/bench/enable &&
		insmod qa/bench/kmod/kmmv_ring_bench.ko &&
		from kmmv build/qa/vm/ringlag bench &&
		rmmod kmmv_ring_bench || return
	guest_ring_pmevent || ring_skip pmevent "see build/bench/log"
}

guest_ring_pmevent()
{
	local i status

	echo 1 >/sys/kernel/config/kmmv/rings/default/enable
	insmod qa/bench/kmod/kmmv_ring_bench.ko ring=default &&
		./Install </dev/null >&2 || return
	chgrp pcp /dev/kmmv/* /dev/kmmv/ring/*
	for ((i = 0; i < 100; i++)); do
		pminfo -f kmmv.control.state | grep -q '"attached"' && break
		sleep 0.2
	done
	stdbuf -oL pmevent -t 0.1 -s 80 kmmv.ring.records \
		2>"$OUT/pmevent" | build/qa/vm/ringlag -p >"$OUT/lag" &
	sleep 3
	echo "write 16 1000 3700000" >/sys/kernel/debug/kmmv_ring/cost
	wait $!
	status=$?
	cat "$OUT/pmevent" >&2
	from kmmv cat "$OUT/lag"
	rm -f "$OUT/pmevent" "$OUT/lag"
	return $status
}

# ---- natively

# LTTng's user space tracer as a flight recorder, its ring as large as kmmv's.
ring_ust()
{
	local dir status session=kmmv-bench

	dir=$(mktemp -d) || return
	(
		export LTTNG_HOME=$dir
		trap '[ ! -s "$dir/pid" ] || kill "$(cat "$dir/pid")"' EXIT
		# A session daemon that runs already suffices.
		lttng-sessiond --daemonize --no-kernel --pidfile="$dir/pid" ||
			lttng list || exit
		lttng create $session --snapshot --output="$dir/out" &&
			lttng enable-channel --userspace --overwrite \
				--subbuf-size=4096 --num-subbuf=64 ring &&
			lttng enable-event --userspace 'kmmv_bench:*' \
				--channel=ring && lttng start || exit
		build/qa/bench/ringust >&3
		status=$?
		lttng destroy $session
		exit $status
	) 3>&1 >"$out/log" 2>&1
	status=$?
	rm -rf "$dir"
	return $status
}

# kmmv_ring_next() by itself: instructions per event, for CPUS and BURST.
ring_merge()
{
	local shape events counted

	command -v valgrind >/dev/null || return 0
	for shape in "1 1" "16 1" "64 1" "64 100"; do
		# shellcheck disable=SC2086 # words
		events=$(build/qa/bench/ringmerge consumer $shape) || return
		# shellcheck disable=SC2086 # words
		counted=$(valgrind --tool=callgrind \
			--callgrind-out-file=/dev/null \
			--toggle-collect=kmmv_ring_next \
			build/qa/bench/ringmerge consumer $shape 2>&1 |
			sed -n 's/.*Collected : //p')
		awk -v shape="$shape" -v i="$counted" -v n="$events" \
			'BEGIN { printf "merge %s\t16\t%.1f\n", shape, i / n }'
	done
}

ring_native()
{
	ring_merge || return
	build/qa/bench/ring-monotonic && build/qa/bench/ring-tsc || return
	[ -x build/qa/bench/ringust ] || return 0
	build/qa/bench/ringust off || return
	command -v lttng-sessiond >/dev/null || {
		ring_skip ust "no lttng-tools: see qa/setup bench"
		return 0
	}
	ring_ust || ring_skip ust "no session: see build/bench/log"
}

# ---- tables

# ring_figure FILE PEER WHAT BYTES: from the lines measured; empty if missing
ring_figure()
{
	awk -F'\t' -v peer="$2" -v what="$3" -v bytes="$4" '
	$1 == peer && $2 == what && $3 == bytes {
		printf $4 < 10 ? "%.1f" : "%.0f", $4
	}
	' "$out/$1" 2>/dev/null
}

# The same in nanoseconds, from the boot in which time is real.
ring_tcg_ns()
{
	awk -F'\t' -v peer="$1" -v what="$2" -v bytes="$3" '
	$2 == "tsc_khz" { khz = $4 }
	$1 == peer && $2 == what && $3 == bytes {
		printf "%.0f", $4 * 1000000 / khz
	}' "$out/ring-time.tsv" 2>/dev/null
}

ring_why_not()
{
	awk -F'\t' -v peer="$1" '$1 == peer { print "skipped: " $2 }' \
		"$out/ring.skipped" 2>/dev/null
}

# ring_row PEER WHAT TEXT
ring_row()
{
	printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$3" \
		"$(ring_figure ring.tsv "$1" "$2" 16)" \
		"$(ring_figure ring.tsv "$1" "$2" 64)" \
		"$(ring_figure ring-thunks.tsv "$1" "$2" 16)" \
		"$(ring_tcg_ns "$1" "$2" 16)" "$(ring_tcg_ns "$1" "$2" 64)"
}

ring_reader_row()
{
	local peer=$1 what=$2 written="written, $2" text=$3

	printf '%s\t%s\t%s\t%s\t%s\n' "$text" \
		"$(ring_figure ring.tsv "$peer" "$what" 16)" \
		"$(ring_figure ring.tsv "$peer" "$what" 64)" \
		"$(ring_figure ring.tsv "$peer" "$written" 16)" \
		"$(ring_figure ring.tsv "$peer" "$written" 64)"
}

# ring_native_row NAME TEXT
ring_native_row()
{
	printf '%s\t%s\t%s\n' "$2" \
		"$(ring_native_figure "$1" 16)" "$(ring_native_figure "$1" 64)"
}

ring_native_figure()
{
	awk -F'\t' -v name="$1" -v bytes="$2" \
		'$1 == name && $2 == bytes { print $3 }' "$out/ring-native.tsv"
}

ring_lag_row()
{
	local which

	printf '%s' "$2"
	for which in median p99 greatest; do
		printf '\t%s' "$(ring_figure ring-lag.tsv kmmv "$1, $which" 16)"
	done
	printf '\n'
}

table_ring_merge()
{
	cat <<-EOF

	kmmv_ring_next() by itself, all that is to be read taken at once: instructions
	per event of 16 bytes, by callgrind.

	EOF
	{
		printf 'CPUs\tin turn\tbursts of 100\n'
		printf '1\t%s\n' "$(ring_native_figure "merge 1 1" 16)"
		printf '16\t%s\n' "$(ring_native_figure "merge 16 1" 16)"
		printf '64\t%s\t%s\n' "$(ring_native_figure "merge 64 1" 16)" \
			"$(ring_native_figure "merge 64 100" 16)"
	} | table ring-merge
	goal "kmmv_ring_next(), bursts" "at most 80 instructions" \
		"$(ring_native_figure "merge 64 100" 16)" 80
	goal "kmmv_ring_next(), 16 CPUs in turn" "at most 120 instructions" \
		"$(ring_native_figure "merge 16 1" 16)" 120
	goal "kmmv_ring_next(), 64 CPUs in turn" "at most 120 instructions" \
		"$(ring_native_figure "merge 64 1" 16)" 120
}

table_ring()
{
	local lttng ust

	lttng=$(awk -F'\t' '$1 == "lttng version" { print $2 }' "$out/ring.tsv")
	ust=$(pkg-config --modversion lttng-ust 2>/dev/null)
	cat <<-EOF
	Cost of an event of 16 and of 64 bytes, written over the oldest, nobody
	reading; 64 pages of 4 KiB, the same clock, which is in the figures; kmmv's
	events have type and instance, 8 bytes, on top. Instructions: $kernel, one
	CPU, net of the loop. Nanoseconds: QEMU's on this machine, without -icount.

	EOF
	{
		printf 'event\t%s\t%s\t%s\t%s\t%s\n' "16 bytes" "64 bytes" \
			"16, return thunks" "16 bytes, ns" "64 bytes, ns"
		ring_row linux clock "trace_clock_local() alone"
		ring_row kmmv write_head \
			"kmmv_ring_write_head(), a prepared head"
		ring_row kmmv reserve_head \
			"kmmv_ring_reserve_head(), memcpy(), commit"
		ring_row kmmv write "kmmv_ring_write()"
		ring_row kmmv reserve "kmmv_ring_reserve(), memcpy(), commit"
		ring_row linux reserve \
			"ring_buffer_lock_reserve(), memcpy(), commit"
		ring_row linux write "ring_buffer_write()"
		if [ -n "$lttng" ]; then
			ring_row lttng-1 lttng "$lttng, sub-buffers of a page"
			ring_row lttng-16 lttng "$lttng, of 16 pages"
		else
			printf 'lttng-modules: %s\n' "$(ring_why_not lttng)"
		fi
	} | table ring-write
	cat <<-EOF

	Cost of reading it, and of writing while there is that reader: 2000 events
	are written, then read. Instructions per event, $kernel, one CPU.

	EOF
	{
		printf 'reader\t%s\t%s\t%s\t%s\n' "16 bytes" "64 bytes" \
			"written: 16 bytes" "64 bytes"
		ring_reader_row kmmv kmmv_ring_next \
			"kmmv_ring_next(): by event, mapped, all CPUs merged"
		ring_reader_row kmmv "read" "kmmv, read(): by page"
		ring_reader_row kmmv mapped "kmmv, mapped: take, release"
		ring_reader_row kmmv "take, release" \
			"kmmv: take and release alone"
		ring_reader_row linux "read by event" \
			"ring_buffer_consume(): by event, in the kernel"
		ring_reader_row linux "read by page" \
			"ring_buffer_read_page(): in the kernel"
		ring_reader_row linux trace_pipe_raw \
			"trace_pipe_raw: by page; written by system call"
		if [ -n "$lttng" ]; then
			ring_reader_row lttng-1 "read by lttng" \
				"$lttng, by sub-buffer: in the kernel"
		else
			printf 'lttng-modules: %s\n' "$(ring_why_not lttng)"
		fi
	} | table ring-read
	cat <<-EOF

	The same natively: kmmv's own core on the instructions that the kernel has,
	against LTTng's tracer of user space, as a flight recorder of as many pages.
	Nanoseconds, one thread.

	EOF
	{
		printf 'event\t%s\t%s\n' "16 bytes" "64 bytes"
		ring_native_row "clock clock_gettime" "clock_gettime() alone"
		ring_native_row "kmmv clock_gettime" "kmmv, clock_gettime()"
		if [ -n "$(ring_native_figure ust 16)" ]; then
			ring_native_row ust "liblttng-ust $ust, its clock the same"
			ring_native_row "ust off" "liblttng-ust, not enabled"
		else
			printf 'liblttng-ust: %s\n' "$(ring_why_not ust)"
		fi
		ring_native_row "clock tsc" \
			"time stamp counter, scaled as in the kernel, alone"
		ring_native_row "kmmv tsc" "kmmv, that clock"
	} | table ring-native
	cat <<-EOF

	From kmmv_ring_write() to whoever prints it, and how many events of 16 bytes
	a second get to a consumer that keeps the CPUs' events in order, none lost:
	in the virtual machine, which has two CPUs here and is emulated.

	EOF
	{
		printf '\tmedian\t99 of 100\tgreatest\n'
		ring_lag_row consumer "kmmv_ring_wait(), kmmv_ring_next(), us"
		if [ -n "$(ring_why_not pmevent)" ]; then
			printf 'pmevent: %s\n' "$(ring_why_not pmevent)"
		else
			ring_lag_row pmevent "pmevent -t 0.1, us"
		fi
		printf 'events per second, nothing lost\t\t\t%s\n' \
			"$(ring_figure ring-lag.tsv kmmv "events per second" 16)"
	} | table ring-lag
	goal "kmmv_ring_write_head(), 16 bytes, clock included" \
		"at most 140 instructions" \
		"$(ring_figure ring.tsv kmmv write_head 16)" 140
	goal "kmmv_ring_write_head(), 64 bytes, clock included" \
		"at most 165 instructions" \
		"$(ring_figure ring.tsv kmmv write_head 64)" 165
	goal "kmmv_ring_reserve_head() to commit, 16 bytes, clock included" \
		"at most 200 instructions" \
		"$(ring_figure ring.tsv kmmv reserve_head 16)" 200
	goal "kmmv_ring_write(), 16 bytes, clock included" \
		"at most 180 instructions" \
		"$(ring_figure ring.tsv kmmv write 16)" 180
	goal "take and release alone, an event of 16 bytes" \
		"at most 4 instructions" \
		"$(ring_figure ring.tsv kmmv "take, release" 16)" 4
	goal "an event of 16 bytes read by the mapping" \
		"at most 36 instructions" \
		"$(ring_figure ring.tsv kmmv mapped 16)" 36
	[ -z "$(ring_native_figure "merge 1 1" 16)" ] || table_ring_merge
	goal "kmmv's ring natively, 16 bytes, clock included" "at most 45 ns" \
		"$(ring_native_figure "kmmv clock_gettime" 16)" 45
}
