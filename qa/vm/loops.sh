# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Loops in the background, until the test ends them: `. qa/vm/loops.sh`, after tap.sh.
#
#	start_loop COMMAND...	again and again
#	stop_loops		all of them, when each has come to its end

loops=

start_loop()
{
	(while [ ! -e "$WORK/stop" ]; do "$@"; done) >/dev/null 2>&1 &
	loops="$loops $!"
}

stop_loops()
{
	touch "$WORK/stop"
	# shellcheck disable=SC2086 # a list
	[ -z "$loops" ] || wait $loops
	loops=
	rm -f "$WORK/stop"
}
