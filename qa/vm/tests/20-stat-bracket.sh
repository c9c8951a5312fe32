#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Every number of kmmv.value.stat lies between readings of /proc before and after.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/stat.sh
. qa/vm/stat.sh

ok "the modules load" load
start_load
rounds=30
[ "${KMMV_SOAK:-0}" = 0 ] || rounds=1000
ok "each value is between /proc before and after, none is missing" \
	$check bracket $rounds
note "$tap_text"
ok "no value falls" $check watch 3
note "$tap_text"

# A host that stands still may lose what it was asked: again after each 30 s.
# shellcheck disable=SC2317 # called by wait_for
nmi_came()
{
	[ $SECONDS -lt $again ] || { qa/vm/host nmi; again=$((SECONDS + 30)); }
	[ "$(total stat.irq NMI)" -gt "$before" ]
}
before=$(total stat.irq NMI)
if qa/vm/host nmi; then
	again=$((SECONDS + 30))
	ok "an NMI counts" wait_for 10 nmi_came
else
	skip "an NMI counts" "machine: it has none"
fi

note "went back: $($check dump stat.resets | awk '{ print $1, $3 }' | xargs)"
for source in softirq irq vm; do
	is "no $source value went back" "$(total stat.resets $source)" 0
done
is "no interrupt is left out" "$(total stat.failed irq)" 0
stop_load
ok "the modules unload" unload
finish
