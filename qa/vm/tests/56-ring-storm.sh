#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# machine: CLOCK=unstable
#
# Ring buffers: writers in every context on all CPUs, with hotplug, a consumer and
# two snapshot readers. Each record checks itself, and is read or counted.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/clock.sh
. qa/vm/clock.sh
# shellcheck source=qa/client/client.sh
. qa/client/client.sh
trap unload EXIT

records=1000000 few=100000
[ "${KMMV_SOAK:-0}" = 0 ] || records=100000000 few=2000000
records=${RECORDS:-$records} few=${FEW:-$few}

# Include a program's TAP in this script's.
include()
{
	local line planned=none

	while IFS= read -r line; do
		case $line in
		"ok "*)		pass "$settings: ${line#ok * - }" ;;
		"not ok "*)	fail "$settings: ${line#not ok * - }" ;;
		1..*)		planned=${line#1..} ;;
		*)		printf '%s\n' "$line" ;;
		esac
	done < <("$@")
	is "$settings: the storm comes to its end" "$planned" "$expected"
}

# storm TESTS SETTINGS RECORDS [OPTION...]
storm()
{
	expected=$1 settings=$2
	shift
	note "storm $*, at $SECONDS s"
	include build/qa/vm/ring-storm "$@"
}

# The scheduler's clock, by which events are stamped, is then corrected all the time.
clock unstable
load_core && load_client || bail "the modules do not load"
storm 12 "mode=overwrite pages=16 spares=4" "$records" nmi
storm 12 "mode=consume pages=64 spares=16" "$records" nmi
# The smallest ring: the tail always meets the head and the commit page.
storm 12 "mode=overwrite pages=2 spares=1" "$few" nmi
storm 12 "mode=consume pages=2 spares=0" "$few" nmi
storm 12 "mode=overwrite pages=8 spares=2" "$few" nmi read
storm 12 "mode=consume pages=8 spares=2" "$few" nmi read
note "at $SECONDS s"
finish
