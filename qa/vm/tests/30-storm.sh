#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# machine: MAXCPUS=6
# Adders, deleters and updaters in every context, CPU hotplug, and readers that
# check everything.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/client/client.sh
. qa/client/client.sh
trap unload EXIT

soak=1
[ "${KMMV_SOAK:-0}" = 0 ] || soak=30

# Include a program's TAP in this script's.
include()
{
	local line

	while IFS= read -r line; do
		case $line in
		"ok "*)		pass "${line#ok * - }" ;;
		"not ok "*)	fail "${line#not ok * - }" ;;
		1..*)		planned=${line#1..} ;;
		*)		printf '%s\n' "$line" ;;
		esac
	done < <("$@")
	is "storm ${*:2}: the program comes to its end" "$planned" 8
}

load_core && load_client || bail "the modules do not load"
planned=none
include build/qa/vm/storm $((900000 * soak)) $((20000 * soak))
planned=none
include build/qa/vm/storm $((300000 * soak)) $((5000 * soak)) nmi
rmmod kmmv_client
load_client || bail "the client does not load again"
planned=none
include build/qa/vm/storm $((100000 * soak)) $((1000 * soak))
unload

# With few numbers each is soon given to another name.
load_core capacity=160 && load_client || bail "the modules do not load"
planned=none
include build/qa/vm/storm $((300000 * soak)) $((20000 * soak))
unload
finish
