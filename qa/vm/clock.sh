# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Whether the machine has the clock that a test asks for: `. qa/vm/clock.sh`, after
# qa/harness/tap.sh. See CLOCK of qa/vm/run.

# clock stable|unstable
clock()
{
	local source kind=unstable

	source=$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)
	[ "$source" != tsc ] || kind=stable
	case $(uname -m):$1:$KVER in
	x86_64:unstable:*-kmmv-*)
		skip "the clock is $1" "machine: a kernel with checks has a stable one" ;;
	x86_64:* | i?86:*)
		is "the clock is $1" "$kind" "$1" ;;
	*)
		skip "the clock is $1" "machine: its clock is $source" ;;
	esac
}
