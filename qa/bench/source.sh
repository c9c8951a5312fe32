# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The part "source" of qa/bench/run, which sources this file: what kmmv_block and
# kmmv_net cost whom they count, and a fetch of what they count, beside that of the
# linux agent.
#
# The measured lines are WHAT, figures.
#
# shellcheck disable=SC2154 # what qa/bench/run has set: out, kernel

# ---- in the guest

# Disks that answer at once, without interrupts. disks NUMBER
source_disks()
{
	[ ! -e /sys/module/null_blk ] || modprobe -r null_blk || return
	[ "$1" -eq 0 ] || modprobe null_blk nr_devices="$1" queue_mode=2 irqmode=0 gb=1 \
		submit_queues=1
}

# Instructions for a read and for a datagram, without the module and with it.
source_hits()
{
	local load=build/qa/bench/sourceload io=("io" "/dev/nullb0")

	source_disks 1
	ip link set lo up
	printf 'io without\t%s\n' "$($load "${io[@]}")"
	echo 0 >/sys/block/nullb0/queue/iostats
	printf 'io no iostats\t%s\n' "$($load "${io[@]}")"
	echo 1 >/sys/block/nullb0/queue/iostats
	insmod kmod/kmmv_block.ko || return
	# The histogram's bucket gets its instance.
	$load "${io[@]}" >/dev/null
	printf 'io with\t%s\n' "$($load "${io[@]}")"
	rmmod kmmv_block
	printf 'packet without\t%s\n' "$($load packet)"
	insmod kmod/kmmv_net.ko || return
	printf 'packet with\t%s\n' "$($load packet)"
	rmmod kmmv_net
	source_disks 0
}

# fetch DOMAIN DSO INIT NAME: values, and instructions of the median fetch
source_fetch()
{
	build/qa/bench/agentfetch "$@" 31 2>>"$OUT/fetch.log" |
		awk -v OFS='\t' '{ print $1, $3 }'
}

# PCP's directories and name space; the linux agent's names with those of its disks
# and network devices only.
source_names()
{
	local names

	# shellcheck source=/dev/null
	. /etc/pcp.conf
	names=$PCP_VAR_DIR/pmns
	domain=$(sed -n 's/^#define KMMV //p' pmda/domain.h)
	linux=$PCP_PMDASADM_DIR/linux/pmda_linux.so
	mkdir -p "$OUT/pcp"/{pmns,config/pmda,tmp}
	{
		printf 'root {\n\tkmmv\t%d:*:*\n\tdisk\n\tnetwork\n}\n' "$domain"
		printf 'disk {\n\tpartitions\n}\nnetwork {\n\tinterface\n}\n'
		awk '/^(disk\.partitions|network\.interface)[a-z_.]* {/, /^}/' \
			"$names/root_linux"
	} >"$OUT/pcp/pmns/root"
	export PCP_VAR_DIR=$OUT/pcp PCP_TMP_DIR=$OUT/pcp/tmp
	export PCP_PMDAS_DIR=$OUT/pcp PCP_DERIVED_CONFIG=
}

# The linux agent's metrics of disks and network devices, and ours. By its rule for
# names, nullb0 is a partition.
source_fetches()
{
	local n name

	source_names
	for n in 8 64 512; do
		source_disks $n
		insmod kmod/kmmv_block.ko && insmod kmod/kmmv_net.ko || return
		udevadm settle 2>/dev/null
		for name in disk.partitions network.interface; do
			printf 'linux %s\t%d\t%s\n' $name $n "$(source_fetch 60 \
				"$linux" linux_init $name)"
		done
		for name in block.dev block net; do
			printf 'kmmv %s\t%d\t%s\n' $name $n "$(source_fetch "$domain" \
				"$PWD/build/pmda_kmmv.so" kmmv_init kmmv.value.$name)"
		done
		rmmod kmmv_net kmmv_block
		source_disks 0
	done
}

guest_source()
{
	source_hits && source_fetches
}

# ---- tables

table_source()
{
	cat <<-EOF
	What kmmv_block and kmmv_net cost whom they count. Instructions: $kernel,
	one CPU: a read of 4 KiB from null_blk, O_DIRECT, system call and all, and
	a datagram of 64 bytes over loopback, sent and received.

	EOF
	awk -F'\t' -v OFS='\t' '
	BEGIN { print "what", "instructions", "more" }
	$1 == "io without" { io = $2 }
	$1 == "packet without" { packet = $2 }
	$1 == "io no iostats" { print "read, iostats off", $2, $2 - io }
	$1 == "io without" { print "read, without kmmv_block", $2, 0 }
	$1 == "io with" { print "read, with kmmv_block", $2, $2 - io }
	$1 == "packet without" { print "datagram, without kmmv_net", $2, 0 }
	$1 == "packet with" { print "datagram, with kmmv_net", $2, $2 - packet }
	' "$out/source.tsv" | table source
	cat <<-EOF

	A fetch of all metrics of disks and network devices, in the agent (DSO,
	local context: no pmcd, no socket), with 8 to 512 disks of null_blk.
	Instructions, the kernel's included. For the linux agent, whose rule for
	names makes partitions of these disks, disk.partitions.

	EOF
	awk -F'\t' -v OFS='\t' '
	BEGIN { print "metrics", "disks", "values", "instructions", "a value" }
	$1 ~ /^(linux|kmmv) / && $3 {
		print $1, $2, $3, $4, sprintf("%.0f", $4 / $3)
	}' "$out/source.tsv" | table source-fetch
}
