#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the pages show builds as it is printed, without a message (qa/examples);
# vm/80-examples runs the modules.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
KVER=${KVER:-$(qa/harness/kver)}
[ -n "$KVER" ] || bail "no kernel headers"
export KVER PATH=$PATH:/sbin:/usr/sbin
dir=build/examples

mkdir -p build
without=$(mktemp -d build/without.XXXXXX) || bail "no directory"
trap 'rm -rf "$without"' EXIT

# The virtual machine may be using what qa/check has built.
if [ -n "${KMMV_BUILT-}" ]; then
	ok "all examples build" test -e $dir/page/4 || bail "it does not"
else
	ok "all examples build" qa/examples || bail "it does not"
fi
is "the examples build without a message" "$(cat $dir/said)" ""

# ---- README.md: ten lines

hello=$(cat $dir/hello/hello.c)
is "the numbered lines of README.md's module are ten" \
	"$(grep -o '/\* [0-9]* \*/' <<<"$hello" | tr -dc '0-9\n' | tr '\n' ' ')" \
	"1 2 3 4 5 6 7 8 9 10 "
is "no other line of README.md's module is kmmv's" \
	"$(grep -v '/\* [0-9]* \*/$' <<<"$hello" |
	grep -E 'kmmv|KMMV|perf_|pings|\<id\>')" ""
like "README.md's module depends on kmmv" \
	"$(modinfo -F depends $dir/hello/hello.ko)" '^kmmv$'

# ---- help/skeleton

like "the skeleton depends on kmmv" "$(modinfo -F depends $dir/skeleton/skeleton.ko)" \
	'^kmmv$'
is "the skeleton compiles without kmmv, and depends on nothing" "$(
	cp -r $dir/skeleton/. "$without" && root=$PWD/$dir/root && cd "$without" &&
	sed -i s/-DCONFIG_KMMV_MODULE// Kbuild && make -s clean \
		KVER="$KVER" KMMV_HEADERS=/ KMMV_SYMVERS=/ &&
	make -s KVER="$KVER" CONFIG_DEBUG_INFO_BTF_MODULES= \
		KMMV_HEADERS="$root/usr/local/include/kmmv/kernel" \
		KMMV_SYMVERS="$root/lib/modules/$KVER/extra/kmmv.symvers" 2>&1 &&
	modinfo -F depends skeleton.ko)" ""
is "make says that kmmv is not installed for the kernel" "$(make -s -C help/skeleton \
	KVER="$KVER" KMMV_SYMVERS= 2>/dev/null)" \
	"kmmv is not installed for kernel $KVER"

# ---- libkmmv(3)

# lines FILE: those that are neither empty nor only a brace
lines()
{
	grep -cvE '^[[:blank:]{}]*$' "$1"
}

is "libkmmv(3) has four programs" "$(find "$dir/page" -name "*.c" | wc -l)" 4
ok "a program that prints a counter has at most 8 lines" \
	test "$(lines $dir/page/1.c)" -le 8
ok "a program that prints events has at most 15 lines" \
	test "$(lines $dir/page/2.c)" -le 15

# Those with readers wait for one: vm/80-examples.
for n in 3 4; do
	like "program $n says that there is no module" "$(
		LD_LIBRARY_PATH=$dir/root/usr/local/lib $dir/page/$n 2>&1)" \
		"/dev/kmmv"
done

finish
