#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Each mutant of qa/proof/mutants can be made: its file has the lines that it
# replaces once. mutants.sh itself takes hours.

# shellcheck source=qa/tap.sh
. qa/tap.sh

said=$(python3 qa/proof/stale.py) || bail "the lists cannot be read"
total=${said##*$'\n'}
is "each of $total mutants matches" "${said%"$total"}" ""
ok "there are mutants" test "$total" -gt 500
finish
