# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The part "trace" of qa/bench/run: what a hit of a tracepoint, and of a function, costs
# while it is counted in one way or another; kmmv_traced times itself. And what a
# reader pays for the counts of all CPUs.

trace=/sys/kernel/config/kmmv/trace
tracing=/sys/kernel/tracing

# hits NAME: "NAME<tab>TRACEPOINT<tab>FUNCTION", instructions
hits()
{
	local tracepoint function

	read -r tracepoint function </sys/module/kmmv_traced/parameters/cost ||
		return
	printf '%s\t%s\t%s\n' "$1" "$(awk "BEGIN { print $tracepoint / 100 }")" \
		"$(awk "BEGIN { print $function / 100 }")"
}

# counted NAME ATTRIBUTE=TEXT...: with counters of a tracepoint and a function
counted()
{
	local attribute name=$1 what

	shift
	mkdir $trace/tracepoint."$name" $trace/function."$name" || return
	echo kmmv_traced >$trace/tracepoint."$name"/tracepoint
	echo kmmv_traced_one >$trace/function."$name"/function
	for what in tracepoint function; do
		for attribute; do
			[ "${attribute%%=*}" != function ] ||
				[ $what = function ] || continue
			echo "${attribute#*=}" \
				>$trace/$what."$name"/"${attribute%%=*}" ||
				return
		done
		echo 1 >$trace/$what."$name"/enable || return
	done
	hits "$name"
	rmdir $trace/*
}

# The module with its types, which fentry wants, and which a build without the
# kernel's image has not.
insmod_traced()
{
	local module=/run/kmmv_traced.ko

	cp qa/client/kmmv_traced.ko $module || return
	[ ! -e /sys/kernel/btf/vmlinux ] || ! command -v pahole >/dev/null ||
		pahole -J --btf_base /sys/kernel/btf/vmlinux $module
	insmod $module || insmod qa/client/kmmv_traced.ko
	rm $module
}

# bpf MAP TRACEPOINT FUNCTION: counted by BPF programs that are attached in these
# ways; - for what the kernel cannot do
bpf()
{
	local cost=() got status way

	for way in "$2" "$3"; do
		got=$(build/qa/vm/bpfhits "$1" "$way")
		status=$?
		[ $status -eq 0 ] || [ $status -eq 3 ] || return
		cost+=("${got:-- -}")
	done
	printf 'bpf %s\t%s\t%s\n' "$*" "$(hundredth "${cost[0]% *}")" \
		"$(hundredth "${cost[1]#* }")"
}

hundredth()
{
	[ "$1" = - ] && echo - || awk "BEGIN { print $1 / 100 }"
}

guest_trace()
{
	local event=$tracing/events/kmmv_qa/kmmv_traced
	local probe=$tracing/events/kprobes/kmmv_fn

	rmmod kmmv_bench kmmv_stat kmmv 2>/dev/null
	insmod kmod/kmmv.ko ring_pages=64 && insmod kmod/kmmv_trace.ko &&
		insmod_traced || return
	hits off
	counted count || return
	counted glob 'function=kmmv_traced_*' || return
	counted sum value=number=arg1:8 || return
	counted far value=number=arg0@48@8:4 || return
	counted log2 'value=log2 number=arg1:8' || return
	counted key key=level=arg2:4 || return
	counted text key=text=arg0@24:16t || return
	counted event 'event=default number=arg1:8 level=arg2:4' || return
	# What perf and triggers count of a function is a probe of it.
	echo 'p:kmmv_fn kmmv_traced_one' >$tracing/kprobe_events || return
	echo 'hist:keys=common_pid' >$event/trigger &&
		echo 'hist:keys=common_pid' >$probe/trigger && hits hist
	echo '!hist:keys=common_pid' >$event/trigger
	echo '!hist:keys=common_pid' >$probe/trigger
	perf stat -a -e kmmv_qa:kmmv_traced -e kprobes:kmmv_fn -o /dev/null -- \
		cat /sys/module/kmmv_traced/parameters/cost >"$OUT/perf" &&
		awk '{ printf "perf\t%s\t%s\n", $1 / 100, $2 / 100 }' "$OUT/perf"
	echo '-:kmmv_fn' >$tracing/kprobe_events
	echo kmmv_traced_one >$tracing/set_ftrace_filter
	echo 1 >$event/enable
	echo function >$tracing/current_tracer
	hits ftrace
	echo nop >$tracing/current_tracer
	echo 0 >$event/enable
	echo >$tracing/set_ftrace_filter
	rm -f "$OUT/perf"
	if [ -e build/qa/vm/bpfhits ]; then
		bpf percpu raw fentry || return
		bpf percpu event kprobe || return
		bpf percpu event multi || return
		bpf mapped raw fentry || return
		bpf arena raw fentry || return
	fi
	rmmod kmmv_traced kmmv_trace kmmv
}

# What a reader pays, on as many possible CPUs as the machine has.
guest_values()
{
	rmmod kmmv_bench kmmv_stat kmmv 2>/dev/null
	insmod kmod/kmmv.ko && insmod kmod/kmmv_trace.ko &&
		insmod qa/client/kmmv_traced.ko || return
	mkdir $trace/hits && echo kmmv_traced >$trace/hits/tracepoint &&
		echo 1 >$trace/hits/enable && build/qa/vm/bpfread trace.hits || return
	rmdir $trace/hits
	rmmod kmmv_traced kmmv_trace kmmv
}

# ---- measuring

trace_values()
{
	local possible

	[ -e build/qa/vm/bpfread ] || return
	for possible in 4 16 64; do
		export APPEND=possible_cpus=$possible
		measure_in_vm values
		[ ! -e "$out/values.tsv" ] ||
			mv "$out/values.tsv" "$out/values-$possible.tsv"
	done
	unset APPEND
}

# Whether readers were measured on all these machines.
# shellcheck disable=SC2154 # the runner's variables
has_values()
{
	[ -s "$out/values-4.tsv" ] && [ -s "$out/values-16.tsv" ] &&
		[ -s "$out/values-64.tsv" ]
}

# shellcheck disable=SC2154 # the runner's variables
table_values()
{
	cat <<-EOF

	What a reader pays for the counts of one tracepoint on all possible CPUs, each
	apart: instructions, the kernel's included. One CPU is online: the cache misses,
	and perf's interrupts to ask other CPUs, are left out.

	EOF
	awk -F'\t' -v OFS='\t' '
	BEGIN {
		ways = split("kmmv,kmmv sum,kmmv copied,mapped,arena,percpu,perf",
			     way, ",")
		text["kmmv"] = "libkmmv, mapped"
		text["kmmv sum"] = "libkmmv, mapped: their sum"
		text["kmmv copied"] = "libkmmv, with the ioctl that copies counts of kmmv_trace"
		text["mapped"] = "BPF, mapped array"
		text["arena"] = "BPF, arena"
		text["percpu"] = "BPF, per-CPU array: bpf_map_lookup_elem()"
		text["perf"] = "perf, a file for each CPU: read()"
	}
	$1 == "possible" { cpus[++sizes] = $2; next }
	{ cost[$1, sizes] = $2 == "-" ? "-" : sprintf("%.0f", $2) }
	END {
		line = "CPUs"
		for (i = 1; i <= sizes; i++)
			line = line OFS cpus[i]
		print line
		for (w = 1; w <= ways; w++) {
			line = text[way[w]]
			for (i = 1; i <= sizes; i++)
				line = line OFS cost[way[w], i]
			print line
		}
	}' "$out"/values-{4,16,64}.tsv | table trace-values
}

# shellcheck disable=SC2154 # the runner's variables
table_trace()
{
	cat <<-EOF
	What a hit costs while it is counted: instructions, $kernel, one CPU, net of
	what it costs when nobody counts it. The function's handler is called by ftrace.
	BPF programs add 1 to a 64-bit word of the CPU; those with atomic add are mapped
	by the reader. -: not on this kernel.

	EOF
	awk -F'\t' -v OFS='\t' '
	BEGIN {
		text["count"] = "kmmv_trace: hits"
		text["glob"] = "kmmv_trace: hits, one of several functions"
		text["sum"] = "kmmv_trace: sum of an argument"
		text["far"] = "kmmv_trace: sum, behind two pointers"
		text["log2"] = "kmmv_trace: histogram of an argument"
		text["key"] = "kmmv_trace: by key, a number"
		text["text"] = "kmmv_trace: by key, a text of 16 bytes"
		text["event"] = "kmmv_trace: and an event with two fields"
		text["perf"] = "perf stat -e TRACEPOINT, of a kprobe"
		text["hist"] = "hist trigger, by one key; of a kprobe"
		text["ftrace"] = "event, function tracer: a record of each"
		bpf = "BPF, per-CPU array: "
		text["bpf percpu raw fentry"] = bpf "raw tracepoint, fentry"
		text["bpf percpu event kprobe"] = bpf "trace event, kprobe"
		text["bpf percpu event multi"] = bpf "trace event, kprobe_multi"
		bpf = ", atomic add: raw tracepoint, fentry"
		text["bpf mapped raw fentry"] = "BPF, mapped array" bpf
		text["bpf arena raw fentry"] = "BPF, arena" bpf
		print "each hit", "tracepoint", "function"
	}
	function net(cost, without) {
		return cost == "-" ? "-" : sprintf("%.1f", cost - without)
	}
	$1 == "off" { tracepoint = $2; function_ = $3 }
	$1 in text {
		print text[$1], net($2, tracepoint),
			$3 == "" ? "" : net($3, function_)
	}' "$out/trace.tsv" | table trace
	! has_values || table_values
	goal "a hit of a tracepoint" "at most 25 instructions" \
		"$(awk -F'\t' '$1 == "off" { off = $2 } $1 == "count" { print $2 - off }' \
			"$out/trace.tsv")" 25
	goal "a call of a function" "at most 45 instructions" \
		"$(awk -F'\t' '$1 == "off" { off = $3 } $1 == "count" { print $3 - off }' \
			"$out/trace.tsv")" 45
}
