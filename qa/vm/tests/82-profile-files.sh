#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Each file of the profiler's directory can be read, figures of CPUs add up, and what is
# written to unit_mask is a byte.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/profile.sh
. qa/vm/profile.sh

# put VALUE: to unit_mask; prints the error, if any
put()
{
	{ echo "$1" >$config/events/qamask/unit_mask; } 2>&1 | sed 's/.*: //'
}
mask()
{
	cat $config/events/qamask/unit_mask
}

ok "the modules load" load freq=997
mkdir $config/events/qamask

is "a new event has no mask" "$(mask)" 0
is "unit_mask can be 0x41" "$(put 0x41)" ""
is "unit_mask shows what was set" "$(mask)" 65
is "unit_mask can be 255" "$(put 255)" ""
is "unit_mask cannot be 256" "$(put 256)" "Numerical result out of range"
is "unit_mask cannot be -1" "$(put -1)" "Invalid argument"
is "unit_mask cannot be a word" "$(put all)" "Invalid argument"
is "a unit_mask that is refused changes nothing" "$(mask)" 255

start
burn_until 100 $burn 200
stop
is "each file can be read" \
	"$(find $config -type f -perm /444 -exec cat {} + 2>&1 >/dev/null)" ""
for file in "$config"/stats/cpu0/*; do
	name=${file##*/}
	sum=$(cat $config/stats/cpu*/"$name" | awk '{ sum += $1 } END { print sum }')
	is "$name is the sum over all CPUs" "$(stat "$name")" "$sum"
done
ok "more than 100 samples are received" test "$(stat sample_received)" -gt 100
finish
