#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The memory-ordering comments of kmod/ and lib/ and the litmus tests agree with the
# code:
#
# - every ordered access (smp_store_release(), smp_load_acquire(), barriers,
#   atomics with an explicit order, the definitions of lib/barrier.h and
#   kmod/core/kmmv_deps.h, call_rcu() and the sections that it waits for) has a
#   comment right above it that begins with its label, FILE:LETTER or
#   FILE_WHAT:LETTER;
# - a label before anything else is an error, and so is one in a comment without
#   an access;
# - the top comment of the file, or of the header of its name, has one line for
#   each pair, "LABEL  fact - LABEL  fact", and each label is in one. A pair of
#   two files is in the tables of both. "pairs with" agrees with them;
# - each pair has a test qa/proof/litmus/LABEL+LABEL[-WHAT].litmus (with - for :), in
#   which both labels stand behind the access that the code has there;
# - each litmus test belongs to a pair and states the verdict that it expects.
#
# qa/proof/barriers.sh -c DIR: only check the tree below DIR.

cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh

check()
(
	cd "$1" || exit 2
	shopt -s nullglob
	awk -f "$OLDPWD/qa/proof/barriers.awk" kmod/*.[ch] kmod/*/*.[ch] kmod/include/linux/*.h lib/*.[ch] \
		qa/proof/litmus/*.litmus
)

if [ "${1-}" = -c ]; then
	check "$2"
	exit
fi

mkdir -p build
copy=$(mktemp -d build/barriers.XXXXXX) || exit 2
trap 'rm -rf "$copy"' EXIT

# broken NAME FILE SED-SCRIPT ERE: with FILE edited, the check prints ERE
broken()
{
	local text status

	rm -rf "${copy:?}"/*
	mkdir -p "$copy/kmod" "$copy/lib" "$copy/qa/proof/litmus"
	cp --parents kmod/*.[ch] kmod/*/*.[ch] "$copy"
	mkdir -p "$copy/kmod/include/linux"
	cp kmod/include/linux/*.h "$copy/kmod/include/linux"
	cp lib/*.[ch] "$copy/lib"
	cp qa/proof/litmus/*.litmus "$copy/qa/proof/litmus"
	sed -i "$3" "$copy/$2"
	if cmp -s "$2" "$copy/$2"; then
		fail "$1" "nothing to edit in $2: $3"
		return
	fi
	text=$(check "$copy")
	status=$?
	if [ $status -eq 1 ] && printf '%s\n' "$text" | grep -qE "$4"; then
		pass "$1"
	else
		fail "$1" "status $status, nothing matches $4 in:" "
$text"
	fi
}

if text=$(check .); then
	pass "labels, tables, litmus tests and code agree"
	note "${text##*# }"
else
	fail "labels, tables, litmus tests and code agree" "$text"
fi

broken "an access without a label is found" kmod/core/slots.c \
	's/slots:A pairs with/this pairs with/' 'smp_store_release without a label'
broken "a barrier that is new is found" kmod/core/instance.c \
	'/^static void instance_free/,/^}/s/^{/{\n\tsmp_wmb();/' \
	'smp_wmb without a label'
broken "an atomic with an order is found" kmod/core/refused.c \
	's/atomic_inc(&refused_in_nmi)/atomic_fetch_inc_relaxed(\&refused_in_nmi)/' \
	'atomic_fetch_inc_relaxed without a label'
broken "a label whose access is gone is found" kmod/core/slots.c \
	'/slots:E/{n;s/smp_store_release(&\(.*\), /WRITE_ONCE(\1, /}' \
	'slots:E is nowhere|a label and no ordered access'
broken "a label whose barrier is gone is found" kmod/core/slots.c \
	'/^\tsmp_mb();/d' 'slots:C is nowhere'
broken "a weaker barrier is found" kmod/core/slots.c \
	's/smp_mb()/smp_wmb()/' 'slots:C is smp_mb here, smp_wmb at'
broken "a label whose other side is gone is found" kmod/core/change.c \
	'/change:B pairs/{n;s/smp_store_release(\(.*\), /WRITE_ONCE(*\1, /}' \
	'change:B is nowhere'
broken "a reader's fence that is gone is found" lib/read.c \
	'/read_pair:B pairs/{n;d}' 'read_pair:B is nowhere'
broken "a reader's load that is plain is found" lib/extent.c \
	's/kmmv_load32_acquire(/kmmv_load32(/' 'extent:A is nowhere'
broken "a pair that is in no table is found" kmod/core/slots.h \
	'/^ \*\tslots:A /d' 'slots:A is in no table'
broken "a table with a pair too many is found" kmod/core/change.h \
	's/^\( \*\tchange:\)B\(.*\)/&\n\1Z\2/' 'change:Z is nowhere'
broken "a pair in one table of two is found" kmod/area.c \
	'/^ \*\tslots:I /d' 'area:B is in no table|not in the table of area'
broken "another partner in the comment is found" kmod/core/slots.c \
	's/slots:F pairs with slots:E/slots:F pairs with slots:D/' \
	'slots:F and slots:D are no pair'
broken "a label that is only talked about is found" kmod/core/slots.c \
	's/^static u32 slots_find/\/* As slots:Q does. *\/\n&/' \
	'slots:Q is nowhere'
broken "a pair without a litmus test is found" kmod/core/slots.h \
	's/^\( \*\tslots:A  .*\)slots:B/\1slots:F/' \
	'no qa/proof/litmus/slots-A\+slots-F.litmus'
broken "a litmus test of no pair is found" qa/proof/litmus/slots-A+slots-B.litmus \
	'1s/slots-B/slots-F/' 'is not "C '
broken "a litmus test weaker than the code is found" \
	qa/proof/litmus/slots-A+slots-B.litmus \
	's/smp_load_acquire(bound)/READ_ONCE(*bound)/' 'slots:B is  *here'
broken "a litmus test that lacks a label is found" \
	qa/proof/litmus/slots-H+area-A.litmus 's, /\* area:A \*/,,' 'no line is area:A'
broken "a litmus test without a verdict is found" \
	qa/proof/litmus/slots-H+area-A.litmus '/Expected/d' 'expects no verdict'
finish
