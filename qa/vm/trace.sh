# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The common part of the tests of kmmv_trace: `. qa/vm/trace.sh`, after tap.sh.

trace=/sys/kernel/config/kmmv/trace

load()
{
	insmod kmod/kmmv.ko "$@" && insmod kmod/kmmv_trace.ko
}

# Counters, then modules.
unload()
{
	local name

	[ ! -d $trace ] || rmdir $trace/* 2>/dev/null
	for name in kmmv_probes kmmv_traced kmmv_traced2 kmmv_traced3 kmmv_trace \
		kmmv_stat kmmv; do
		[ ! -e "/sys/module/$name" ] || rmmod "$name" || return
	done
}

# Where a test's values are in the arguments of kmmv_traced; see qa/client/traced.c
# shellcheck disable=SC2034 # for the tests
{
object_number=arg0@8:8
object_level=arg0@16:4s
object_middle=arg0@20:4u+4.12
object_text=arg0@24:24t
inner_number=arg0@48@8:4
inner_string=arg0@48@24:16p
}

# hit WHAT [TIMES [NUMBER [STEP [LEVEL [TEXT]]]]]: of kmmv_traced
hit()
{
	echo "$1 ${2-1} ${3-1} ${4-0} ${5-0} ${6-x}" \
		>/sys/module/kmmv_traced/parameters/call
}

# put NAME ATTRIBUTE TEXT: write; the error is the shell's
put()
{
	printf '%s\n' "$3" >"$trace/$1/$2"
}

get()
{
	cat "$trace/$1/$2"
}

# define NAME ATTRIBUTE=TEXT...: make a counter, and enable it
define()
{
	local attribute name=$1

	shift
	mkdir "$trace/$name" || return
	for attribute; do
		put "$name" "${attribute%%=*}" "${attribute#*=}" || {
			get "$name" error
			return 1
		}
	done
	put "$name" enable 1 || {
		get "$name" error
		return 1
	}
}

# define_most NAME ATTRIBUTE=TEXT...: all of it where there are values, else the first
define_most()
{
	counts_values || set -- "$1" "$2"
	define "$@"
}

end()
{
	rmdir "${@/#/$trace/}"
}

# refused NAME ATTRIBUTE TEXT WHY LINE: the write fails with WHY, and `error' says LINE
refused()
{
	local said

	said=$(put "$@" 2>&1 | sed 's/.*: //')
	is "$1: $2 '$3' is refused" "$said" "$4"
	like "$1: error says why $2 '$3' is refused" "$(get "$1" error)" "$5"
}

# values NAME: "INSTANCE VALUE" of trace.NAME, active ones with a count, sorted
values()
{
	build/kmmvdump -r 0 -f "trace.$1" |
		sed -n 's/^[^ ]*\["\(.*\)"\] \([0-9]*\).*/\1 \2/p' |
		awk '$NF > 0' | LC_ALL=C sort
}

# stat WHAT NAME
stat_of()
{
	build/kmmvdump -r 0 -f "trace.stat.$1" |
		sed -n "s,^[^ ]*\\[\"$2\"\\] \\([0-9]*\\).*,\\1,p"
}

# Whether values, keys and events can be: their arguments are in registers.
counts_values()
{
	[ "$(getconf LONG_BIT)" = 64 ]
}

# The functions of the test module that ftrace has changed.
functions()
{
	grep '^kmmv_traced' /sys/kernel/tracing/enabled_functions
}

# The kernel's tracepoints that have probes, if kmmv_probes is loaded.
probes()
{
	xargs </sys/module/kmmv_probes/parameters/all
}

# The handlers of this module that ftrace calls.
handlers()
{
	grep -c 'kmmv_trace\]' /sys/kernel/tracing/enabled_functions
}
