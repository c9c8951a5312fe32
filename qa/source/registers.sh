#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# How many arguments are in registers: kmmvctl (lib/kmmvctl/registers.c) has the numbers
# that kmmv_trace.ko has (kmod/trace/trace.h), for each machine.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh

trace=kmod/trace/trace.h
table=lib/kmmvctl/registers.c

# The module's lines.
conditions()
{
	sed -n '/^#if.*CONFIG_X86_64/,/^#endif/p' $trace
}

# module OPTION...: of a tracepoint and of a function, in a kernel with these options
module()
{
	{
		conditions
		echo KMMV_TRACE_ARGS KMMV_TRACE_ARGS_FUNCTION
	} | gcc -E -P -x c "${@/#/-DCONFIG_}" - | xargs
}

# ctl MACHINE: the same, as kmmvctl has it
ctl()
{
	local numbers

	numbers=$(sed -n "s/^\t{ \"$1\", \([0-9]*\), \([0-9]*\) },\$/\1 \2/p" $table)
	echo "${numbers:-0 0}"
}

# The options by which the module distinguishes machines, and what uname calls these.
machines="x86_64 X86 X86_64 64BIT
aarch64 ARM64 64BIT
aarch64_be ARM64 64BIT
riscv64 RISCV 64BIT
loongarch64 LOONGARCH 64BIT
i686 X86 X86_32
armv7l ARM
riscv32 RISCV 32BIT
ppc64le PPC PPC64 64BIT
s390x S390 64BIT"
while read -r machine options; do
	# shellcheck disable=SC2086 # words
	is "kmmvctl has the module's registers of $machine" \
		"$(ctl "$machine")" "$(module $options)"
done <<<"$machines"
is "x86-64 has registers for arguments" "$(module X86_64)" "5 6"
is "no other option decides on registers" \
	"$(conditions | grep -oE 'CONFIG_\w+' | sort -u | xargs)" \
	"CONFIG_64BIT CONFIG_ARM64 CONFIG_LOONGARCH CONFIG_RISCV CONFIG_X86_64"
is "no other machine is in kmmvctl's table" \
	"$(sed -n 's/^\t{ "\(.*\)", .*/\1/p' $table | sort | xargs)" \
	"$(head -n 5 <<<"$machines" | sed 's/ .*//' | sort | xargs)"
finish
