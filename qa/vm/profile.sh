# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The common part of the tests of kmmv_profile: `. qa/vm/profile.sh`, after tap.sh.

# shellcheck source=qa/vm/loops.sh
. qa/vm/loops.sh

# shellcheck disable=SC2034 # for the tests
config=/sys/kernel/config/kmmv/profile
cpu1=/sys/devices/system/cpu/cpu1/online
burn=build/qa/vm/burn
rate=

# load [PARAM=VALUE...]: no ceiling, as a machine that is emulated needs much time
load()
{
	insmod kmod/kmmv.ko && insmod kmod/kmmv_profile.ko max_overhead=1000 "$@"
}

unload()
{
	local name

	for name in kmmv_burn1 kmmv_burn2 kmmv_profile kmmv; do
		[ ! -e /sys/module/$name ] || rmmod $name || return
	done
}

start()
{
	echo 1 >$config/enable
}

stop()
{
	echo 0 >$config/enable
}

# stat WHAT
stat()
{
	cat "$config/stats/$1"
}

# value FAMILY NAME, active or not
value()
{
	build/kmmvdump -a -f "profile.$1" | grep -F "[\"$2\"]" |
		sed 's/.*"\] \([0-9]*\).*/\1/'
}

# sum FAMILY: of all names, active or not, and of those that are forgotten
sum()
{
	build/kmmvdump -a |
		sed -n "s/^profile\.$1\[\".*\"\] \([0-9]*\).*/\1/p
			s/^profile\.forgotten\[\"${1%.samples}\"\] \([0-9]*\).*/\1/p" |
		awk '{ sum += $1 } END { print sum + 0 }'
}

# burned: samples of the program and of the modules that burn
burned()
{
	build/kmmvdump -a |
		sed -n 's/^profile\.image\.samples\[".*\/burn"\] \([0-9]*\).*/\1/p
			s/^profile\.symbol\.samples\[".* \[kmmv_burn[12]\]"\] \([0-9]*\).*/\1/p' |
		awk '{ sum += $1 } END { print sum + 0 }'
}

# burn_until NUMBER COMMAND...: again, until there are so many more of them, however
# fast the machine is
burn_until()
{
	local enough=$(($1 + $(burned))) i

	shift
	for ((i = 0; i < 100; i++)); do
		"$@" || return
		[ "$(burned)" -lt $enough ] || return
	done
}

# burn_kernel NUMBER ROUNDS: by kmmv_burnNUMBER
burn_kernel()
{
	echo "$2" >"/sys/module/kmmv_burn$1/parameters/burn"
}

# events NUMBER: the first ones in the ring
events()
{
	timeout 300 build/kmmvdump -R profile -N "$1"
}

# share NAME PART ALL THOUSANDTHS: PART of ALL samples is this share, but for the
# sampling error: 4.5 standard deviations of a binomial distribution
share()
{
	local text

	text=$(awk -v k="$2" -v n="$3" -v p="$4" 'BEGIN {
		p /= 1000
		sd = sqrt(p * (1 - p) / n)
		printf "%s %.4f, expected %.4f +- %.4f of %d samples\n",
			n >= 200 && (k / n - p) ^ 2 <= (4.5 * sd) ^ 2 ?
			"yes" : "no", k / n, p, 4.5 * sd, n }')
	note "$1: $text"
	is "$1" "${text%% *}" yes
}

# found DIR: samples of stats/DIR, wherever they are
found()
{
	echo $(($(stat "$1/sample_not_kept") + $(stat "$1/sample_lost_overflow") +
		$(stat "$1/event_lost_overflow") + $(stat "$1/event_lost_disabled") +
		$(stat "$1/sample_delivered") + $(stat "$1/sample_inside")))
}

# placed: each sample that was taken is in one place, in total and by CPU
placed()
{
	local taken dir cpu

	taken=$(stat sample_received)
	is "each of $taken samples is accounted for: $1" "$(found .)" "$taken"
	for dir in "$config"/stats/cpu*; do
		cpu=${dir##*/}
		is "each sample on $cpu is accounted for: $1" "$(found "$cpu")" \
			"$(stat "$cpu/sample_received")"
	done
	is "commands add up: $1" "$(sum command.samples)" \
		"$(($(stat sample_delivered) + $(stat event_lost_overflow) +
		$(stat event_lost_disabled)))"
	is "images add up: $1" "$(sum image.samples)" "$(sum command.samples)"
}

# accounted: so is each of the kernel's, where [kernel] has always been shown
accounted()
{
	placed "$1"
	is "symbols add up: $1" "$(sum symbol.samples)" \
		"$(build/kmmvdump -a -f profile.image.samples |
			sed -n 's/.*\["\[kernel\]"\] \([0-9]*\).*/\1/p')"
}

# faults NAME PAGES: samples of a command of this name, one for each page and some
# more, and of no other for long; samples must be page faults, each of them
faults()
{
	ln -sf "$PWD/$burn" "$WORK/$1"
	start
	"$WORK/$1" 0 "$2" >/dev/null
	stop
}

# each_fault: sample the event of that name, and no other, by page faults
each_fault()
{
	mkdir $config/events/qafault
	echo page-faults >$config/events/qafault/event
	echo 1 >$config/events/qafault/count
	echo 0 >$config/events/default/enabled
	echo 1 >$config/events/qafault/enabled
	# Perf stops an event that has too many in a tick, and the buffer has to hold
	# them.
	rate=${rate:-$(cat /proc/sys/kernel/perf_event_max_sample_rate)}
	echo 1000000 >/proc/sys/kernel/perf_event_max_sample_rate
	echo 8192 >$config/buffer_size
}

# where_code_is: the first and the last address of the kernel's code and its modules'
where_code_is()
{
	local restrict

	restrict=$(cat /proc/sys/kernel/kptr_restrict)
	echo 1 >/proc/sys/kernel/kptr_restrict
	awk '$2 ~ /^[tT]$/ && $1 ~ /^[89a-f]/ { print $1 }' /proc/kallsyms | sort |
		sed -n '1p;$p'
	echo "$restrict" >/proc/sys/kernel/kptr_restrict
}

# addresses FILE|RING: how many there are in it of those, in binary, at multiples of 4
addresses()
{
	# shellcheck disable=SC2046 # words
	python3 - "$1" $(where_code_is) <<-'E2'
	import mmap, os, struct, sys
	first, last = int(sys.argv[2], 16), int(sys.argv[3], 16)
	header = "<QHHIQQQQ6I8QI"

	def parts(path):
	    if os.path.isfile(path):
	        yield open(path, "rb").read()
	        return
	    # A ring: the pages of the CPUs that have some.
	    fd = os.open(path, os.O_RDONLY)
	    h = mmap.mmap(fd, 4096, mmap.MAP_SHARED, mmap.PROT_READ)[:]
	    v = struct.unpack_from(header, h)
	    nr, at, stride, length, alive = v[9], v[14], v[15], v[19], v[21]
	    whole = mmap.mmap(fd, length, mmap.MAP_SHARED, mmap.PROT_READ)
	    for cpu in range(nr):
	        mask, = struct.unpack_from("<Q", h, alive + cpu // 64 * 8)
	        if mask >> cpu % 64 & 1:
	            yield whole[at + cpu * stride:at + (cpu + 1) * stride]

	found = size = 0
	for part in parts(sys.argv[1]):
	    size += len(part)
	    for shift in 0, 4:
	        found += sum(first <= word <= last for word in struct.unpack_from(
	            "<%dQ" % ((len(part) - shift) // 8), part, shift))
	print(found, "of no bytes" if not size else "")
	E2
}

# no_address NAME FILE|RING: none in it, and one that is put behind it is seen
no_address()
{
	[ "$(getconf LONG_BIT)" = 64 ] || {
		skip "$1" "machine: of 32 bits, many a number is one of code, too"
		return
	}
	is "$1" "$(addresses "$2")" "0 "
	{
		[ ! -f "$2" ] || cat "$2"
		python3 -c 'import struct, sys; n = int(sys.argv[1], 16)
sys.stdout.buffer.write(b"0123" + struct.pack("<Q", n))' \
			"$(where_code_is | tail -n 1)"
	} >"$WORK/with_address"
	is "$1: an address that is added is found" \
		"$(addresses "$WORK/with_address")" "1 "
}

# shellcheck disable=SC2317 # called by the trap
profile_end()
{
	local dir

	stop_loops
	echo 1 >$cpu1
	[ ! -d $config ] || stop
	for dir in "$config"/events/qa*; do
		[ ! -d "$dir" ] || rmdir "$dir"
	done
	echo 0 >/proc/sys/kernel/kptr_restrict
	[ -z "$rate" ] || echo "$rate" >/proc/sys/kernel/perf_event_max_sample_rate
	unload
}
trap profile_end EXIT
