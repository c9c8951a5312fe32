#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
#
# The description for syzkaller, qa/fuzz/syzkaller, against the headers and what
# makes the devices: each ioctl is described with its argument, structures and
# numbers are those of the compiler, and there is no device and no file of a ring
# that it does not have. qa/fuzz/syzkaller/check, which is syzkaller's own compiler, is
# run on KMMV_SYZKALLER, a source in which it has been built, or on that of the
# syz-sysgen on PATH; if there is none, only with tools that stand in for it.

cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh

text=qa/fuzz/syzkaller/dev_kmmv.txt
numbers=$text.const
headers=(kmod/include/uapi/linux/kmmv.h kmod/include/uapi/linux/kmmv_ring.h)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

# The machines whose numbers this compiler knows. Those of arm64 are the generic
# ones, which any 64-bit machine has the header of.
case $(gcc -dumpmachine) in
x86_64*)	machines=(386 amd64 arm64) ;;
i?86*)		machines=(386) ;;
*)		machines=(arm64) ;;
esac

# "STRUCTURE MEMBER" of the headers
members()
{
	awk '
	/^struct kmmv_[a-z_]+ \{/ { name = $2; next }
	/^\}/ { name = "" }
	name && /;$/ {
		sub(/(\[.*\])?;$/, "")
		print name, $NF
	}' "${headers[@]}"
}

syzlang()
{
	python3 qa/source/syzlang.py "$@" 2>&1
}

# described TEXT: its structures that the headers have, too
described()
{
	comm -12 <(syzlang structs "$1" | sort) \
		<(members | cut -d' ' -f1 | sort -u)
}

# compile MACHINE: what gcc finds wrong with stdin
compile()
{
	local flags=() text

	case $1 in
	386)	flags=(-m32) ;;
	amd64)	flags=(-m64) ;;
	esac
	text=$(gcc "${flags[@]}" -std=gnu11 -fsyntax-only \
		-Ikmod/include/uapi -x c - 2>&1) && return
	sed -n 's/.*error: \(static assertion failed: \)\{0,1\}//p' <<<"$text"
	echo "$1: does not compile"
}

# compare TEXT NUMBERS MACHINE...: what is not as in the headers
compare()
{
	local machine names

	syzlang ioctls "$1" "${headers[@]}"
	mapfile -t names < <(described "$1")
	for machine in "${@:3}"; do
		syzlang asserts "$1" "$2" "$machine" "${names[@]}" \
			>"$work/asserts.c" || cat "$work/asserts.c"
		compile "$machine" <"$work/asserts.c"
	done
	syzlang members "$1" "${names[@]}" | sort >"$work/told"
	members | grep -F "$(printf '%s \n' "${names[@]}")" |
		sort >"$work/there"
	comm -13 "$work/told" "$work/there" | sed 's/$/: not described/'
}

# The files of a ring, and how programs know the devices.
attributes()
{
	sed -n 's/^CONFIGFS_ATTR(ring_, \([a-z]*\));/\1/p' kmod/ringattr.c
}

# Those of kmmv_profile and of kmmv_trace, below their directories.
settings()
{
	sed -n 's/^CONFIGFS_ATTR(profile_, \([a-z_]*\));/profile\/\1/p
		s/^PROFILE_BOOL(\([a-z_]*\),.*/profile\/\1/p
		s/^CONFIGFS_ATTR(event_, \([a-z_]*\));/profile\/events\/default\/\1/p
		s/^EVENT_BOOL(\([a-z_]*\));/profile\/events\/default\/\1/p' \
		kmod/profile/config.c
	sed -n 's/^	&counter_attr_\([a-z_]*\),/trace\/syz0\/\1/p' kmod/trace/dir.c |
		grep -vE '/(state|error|hits)$'
}

devices()
{
	sed -n 's/.*\.nodename = "\(kmmv\/.*\)",/\1/p' kmod/chardev.c kmod/*/*.c
	sed -n 's/.*"\(kmmv\/ring\/\)%s".*/\1default/p' kmod/ringnode.c
}

# lacks TEXT: what of these it does not open, or does not write
lacks()
{
	local name ring

	for name in $(devices); do
		grep -q "^\(openat\|kmmv_ring_nodes\).*\"/dev/$name\"" "$1" ||
			echo "/dev/$name: not opened"
	done
	for name in $(settings); do
		grep -q "^kmmv_[a-z]*_files = .*\"[^\"]*/kmmv/$name\"" "$1" ||
			echo "$name: not opened"
	done
	for name in $(attributes); do
		grep -q "^write\\\$kmmv_$name(fd fd_kmmv_$name," "$1" ||
			echo "$name: not written"
		for ring in default syz0 syz1; do
			grep -q "^kmmv_${name}_files = .*\"[^\"]*/$ring/$name\"" \
				"$1" || echo "$ring/$name: not opened"
		done
	done
}

# broken NAME SED-SCRIPT ERE: with the text edited so, compare has to say ERE, for
# the first machine; broken_number likewise with the numbers, broken_device with
# lacks
broken()
{
	sed "$2" $text >"$work/text"
	like "$1" "$(compare "$work/text" $numbers "${machines[0]}")" "$3"
}

broken_number()
{
	sed "$2" $numbers >"$work/numbers"
	like "$1" "$(compare $text "$work/numbers" "${machines[0]}")" "$3"
}

broken_device()
{
	sed "$2" $text >"$work/text"
	like "$1" "$(lacks "$work/text")" "$3"
}

is "the structures that programs give and get are described" \
	"$(described $text | tr '\n' ' ')" \
	"kmmv_refresh kmmv_ring_block kmmv_ring_clock kmmv_ring_counts kmmv_ring_range kmmv_ring_release kmmv_ring_stats kmmv_ring_take "
is "the description is as the headers are, for ${machines[*]}" \
	"$(compare $text $numbers "${machines[@]}")" ""
note "$(wc -l <"$work/there") members"
is "the machines are those of the numbers" \
	"$(sed -n 's/^meta arches\[\(.*\)\]/\1/p' $text | tr -d '"')" \
	"$(sed -n 's/^arches = //p' $numbers)"

ok "the sources have devices" test "$(devices | wc -l)" -ge 3
ok "the sources have files of rings" test "$(attributes | wc -l)" -ge 5
ok "the sources have settings" test "$(settings | wc -l)" -ge 22
is "all devices, files of rings and settings are described" "$(lacks $text)" ""

broken "an ioctl that is not described is found" '/^ioctl[$]KMMV_RING_IOC_CLOCK/d' \
	'^KMMV_RING_IOC_CLOCK is not described'
broken "an ioctl of no header is found" 's/IOC_CLAIM/IOC_CLAMP/g' \
	'^KMMV_RING_IOC_CLAMP is no ioctl'
broken "another command is found" \
	's/const\[KMMV_RING_IOC_TAKE\]/const[KMMV_RING_IOC_STATS]/' \
	'^KMMV_RING_IOC_TAKE: not fd_kmmv_ring and const'
broken "a wrong device is found" \
	'/^ioctl[$]KMMV_IOC_REFRESH/s/fd_kmmv_counters/fd_kmmv_names/' \
	'^KMMV_IOC_REFRESH: not fd_kmmv_counters'
broken "a wrong direction is found" \
	's/ptr\[inout, kmmv_ring_stats\]/ptr[in, kmmv_ring_stats]/' \
	'^KMMV_RING_IOC_STATS: not ptr\[inout, kmmv_ring_stats\]'
broken "a wrong argument is found" \
	's/flags\[kmmv_watermarks, int32\]/flags[kmmv_watermarks, int64]/' \
	'^KMMV_RING_IOC_WATERMARK: not ptr\[in, int32\]'
broken "a member that is missing is found" '/^\tbackwards/d' \
	'^kmmv_ring_stats backwards: not described'
broken "members in another order are found" '/^\tmonotonic/{h;d};/^\trealtime/G' \
	'^"kmmv_ring_clock.monotonic: another offset"'
broken "a member of another length is found" 's/^\toffset\tint32/\toffset\tint64/' \
	'^"kmmv_ring_range.offset: another length"'
broken "a structure of another size is found" 's/KMMV_DROP_NR/6/' \
	'^"kmmv_ring_stats: another size"'
broken "a constant without a number is found" 's/^kmmv_prots = /&PROT_SEM, /' \
	'^"PROT_SEM: no number for'
broken_number "a wrong number is found" 's/^\(KMMV_RING_IOC_TAKE = \).*/\1999/' \
	'^"KMMV_RING_IOC_TAKE: not 999 for'
broken_number "a number that nothing needs is found" \
	's/^__NR_write.*/&\nKMMV_MAGIC = 1/' \
	'^"KMMV_MAGIC: a number that nothing needs"'
broken_number "a wrong system call is found" 's/^__NR_openat = .*/__NR_openat = 1/' \
	'^"__NR_openat: not 1 for'
broken_device "a device that is not opened is found" 's,/dev/kmmv/names,/dev/kmmv/name,' \
	'^/dev/kmmv/names: not opened'
broken_device "a file that is not opened is found" 's,syz1/spares,syz1/spare,' \
	'^syz1/spares: not opened'
broken_device "a setting that is not opened is found" \
	's,/default/unit_mask,/default/mask,' \
	'^profile/events/default/unit_mask: not opened'
broken_device "a file of a counter that is not opened is found" \
	's,syz0/max_keys,syz0/keys,' \
	'^trace/syz0/max_keys: not opened'
broken_device "a file that is not written is found" '/^write[$]kmmv_trace/d' \
	'^trace: not written'

# ---- syzkaller's own compiler

# syzkaller: the folder of its source
syzkaller()
{
	local tool dir=${KMMV_SYZKALLER-}

	if [ -z "$dir" ] && tool=$(command -v syz-sysgen); then
		dir=$(dirname "$(dirname "$(readlink -f "$tool")")")
	fi
	[ -d "$dir/sys/linux" ] && [ -x "$dir/bin/syz-fmt" ] &&
		[ -x "$dir/bin/syz-sysgen" ] && echo "$dir"
}

check()
{
	bash qa/fuzz/syzkaller/check "$@" 2>&1
	echo "status $?"
}

# tool NAME: one that stands in for syzkaller's, from stdin
tool()
{
	{ echo '#!/bin/sh' && cat; } >"$work/syzkaller/bin/$1"
	chmod 755 "$work/syzkaller/bin/$1"
}

mkdir -p "$work"/{bin,syzkaller/{bin,sys/{linux,test}}}
ln -s "$(command -v bash)" "$(command -v dirname)" "$work/bin"
echo old >"$work/syzkaller/sys/linux/dev_kmmv.txt"
echo other >"$work/syzkaller/sys/linux/dev_other.txt"
like "the check wants a source of syzkaller" "$(check "$work")" \
	'^Have syzkaller.*: qa/fuzz/syzkaller/check DIR$'
is "the check wants a source whose tools have been built" \
	"$(PATH=$work/bin check "$work/syzkaller")" \
	"no syz-fmt in $work/syzkaller/bin or on PATH"$'\n'"status 2"
tool syz-fmt <<'E'
[ "$1" = -dry-run ] && cmp "$2" qa/fuzz/syzkaller/dev_kmmv.txt
E
tool syz-sysgen <<'E'
[ "$1 $3" = "-src -out" ] && cd "$2/sys/linux" && ls -d ../* dev_* && cat dev_other.txt &&
	head -n 1 dev_kmmv.txt && echo '{"openat$kmmv_names"}' >"$4/executor/syscalls.h"
E
is "the tools get our description in place of syzkaller's" \
	"$(check "$work/syzkaller")" \
	"../linux
../test
dev_kmmv.txt
dev_kmmv.txt.const
dev_other.txt
other
$(head -n 1 $text)
compiled: 1 calls of all machines together
status 0"
is "syzkaller's description is as it was" \
	"$(cat "$work"/syzkaller/sys/linux/*)" old$'\n'other
tool syz-sysgen <<'E'
echo "$2/sys/linux/dev_kmmv.txt:1:1: no"
exit 1
E
is "a description that syzkaller refuses is a failure" "$(check "$work/syzkaller")" \
	"sys/linux/dev_kmmv.txt:1:1: no"$'\n'"status 1"
tool syz-sysgen <<'E'
: >"$4/executor/syscalls.h"
E
is "a description without calls is a failure" "$(check "$work/syzkaller")" \
	"compiled: 0 calls of all machines together"$'\n'"status 1"
if dir=$(syzkaller); then
	like "syzkaller compiles the description" "$(check "$dir")" '^status 0$'
else
	skip "syzkaller compiles the description" "machine: no syzkaller"
fi
finish
