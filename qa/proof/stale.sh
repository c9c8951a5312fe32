#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Each mutant of qa/proof/mutants can be made: its file has the lines that it
# replaces once; and each entry of qa/proof/survivors is a mutation that mutate.py can
# make. mutants.sh and mutations themselves take long.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh

said=$(python3 qa/proof/stale.py) || bail "the lists cannot be read"
total=${said##*$'\n'}
is "each of $total mutants matches" "${said%"$total"}" ""
ok "there are more than 500 mutants" test "$total" -gt 500
if command -v clang >/dev/null; then
	said=$(python3 qa/proof/mutate.py -c) || bail "qa/proof/survivors cannot be read"
	total=${said##*$'\n'}
	is "each of $total survivors is a mutation" "${said%"$total"}" ""
else
	skip "each of the survivors is a mutation" "no clang: qa/setup check"
fi
finish
