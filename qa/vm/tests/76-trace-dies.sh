#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# machine: SMP=2 APPEND=kmmv_qa=dies
# leaves: kmmv_trace, whose handlers ftrace calls for good
#
# The kernel's ftrace fails as a function is hooked: it is refused, and may be called, until
# the next boot.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/trace.sh
. qa/vm/trace.sh

load || bail "does not load"
insmod qa/client/kmmv_traced.ko || bail "nothing to count"
insmod qa/client/kmmv_dead.ko || bail "ftrace does not fail"
is "a function cannot be hooked" "$(define one function=kmmv_traced_one 2>/dev/null)" \
	"the kernel's ftrace does not hook kmmv_traced_one, error -19"
is "a counter of a function that is not hooked is enabled, failed" \
	"$(get one enable) $(get one state)" "1 failed"
hit one 5
hits=$(get one hits)
ok "a function that is not hooked may be called: $hits hits" \
	test "$hits" -eq 0 -o "$hits" -eq 5
called=
[ "$hits" -eq 0 ] || called="kmmv_traced_one $hits"
is "what is called is shown" "$(values one)" "$called"
refused one enable 0 "No such device" 'the kernel.s ftrace has failed, error -19'
refused one enable 1 "No such device" 'the kernel.s ftrace has failed, error -19'
ok "addresses of kmmv_trace have names" \
	test "$(grep -c kmmv_trace /proc/kallsyms)" -gt 0
ok "the counter's directory can be removed" end one
hit one 5
like "the name of the removed counter cannot be used" \
	"$(mkdir $trace/one 2>&1)" "Device or resource busy"
ok "a counter of a tracepoint is enabled" define tp tracepoint=kmmv_traced
hit tp 3
is "hits of a tracepoint are counted" "$(values tp)" "kmmv_traced 3"
ok "a counter of a tracepoint can be removed" end tp
like "kmmv_trace does not unload" "$(rmmod kmmv_trace 2>&1)" "in use"
ok "the module with the function unloads" rmmod kmmv_traced
ok "addresses have names without the function's module" \
	test "$(grep -c kmmv_trace /proc/kallsyms)" -gt 0
finish
