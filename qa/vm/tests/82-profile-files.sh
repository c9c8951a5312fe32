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

ok "loads" load freq=997
mkdir $config/events/qamask

is "a new event has no mask" "$(mask)" 0
is "takes one" "$(put 0x41)" ""
is "which is shown" "$(mask)" 65
is "of a byte" "$(put 255)" ""
is "not of more" "$(put 256)" "Numerical result out of range"
is "nor of less than none" "$(put -1)" "Invalid argument"
is "and no word" "$(put all)" "Invalid argument"
is "what is refused changes nothing" "$(mask)" 255

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
ok "samples were received" test "$(stat sample_received)" -gt 100
finish
