# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# TAP for test scripts: `. qa/harness/tap.sh` (from the top directory, where the
# runner starts every test), then
#
#	plan N				optional; else the plan comes at the end
#	ok NAME COMMAND [ARG...]	passes if the command succeeds
#	not_ok NAME COMMAND [ARG...]	passes if it fails
#	is NAME GOT EXPECTED		passes if the strings are equal
#	like NAME TEXT ERE		passes if grep -E finds it
#	pass NAME / fail NAME [WHY]
#	skip NAME WHY			a test that cannot run here
#	skip_all WHY			skips all of them: ends the script.  A WHY
#					that begins with "machine: " means that no
#					package would help; any other is a failure
#					of a strict run
#	bail WHY			ends the script, as a failure
#	make_programs PROGRAM...	qa/GNUmakefile's, as build/qa/PROGRAM; bails out
#					if it cannot.  Scripts at the same time may want
#					the same one
#	note LINE...			comments
#	wait_for SECONDS COMMAND...	until the command succeeds; status 1 if it has
#					not after 30 times SECONDS, which suffice
#					on an idle machine
#
# The output of a command is shown as comments if the test fails.  finish() prints
# the plan and gives the exit status: call it last.  A script that ends before it
# has no plan, which the runner counts as a failure.

tap_count=0
tap_failed=0
tap_planned=

plan()
{
	tap_planned=$1
	echo "1..$1"
}

note()
{
	printf '%s\n' "$@" | sed 's/^/# /'
}

pass()
{
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1"
}

fail()
{
	tap_count=$((tap_count + 1))
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_count - $1"
	shift
	[ $# -eq 0 ] || note "$@"
}

skip()
{
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP ${2-}"
}

skip_all()
{
	echo "1..0 # SKIP $*"
	exit 0
}

bail()
{
	fail "goes on" "$@"
	echo "Bail out! $*"
	exit 1
}

ok()
{
	tap_name=$1
	shift
	if tap_text=$("$@" 2>&1); then
		pass "$tap_name"
	else
		fail "$tap_name" "status $?: $*" "$tap_text"
		return 1
	fi
}

not_ok()
{
	tap_name=$1
	shift
	if tap_text=$("$@" 2>&1); then
		fail "$tap_name" "should have failed: $*" "$tap_text"
		return 1
	fi
	pass "$tap_name"
}

is()
{
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		fail "$1" "got:      $2" "expected: $3"
		return 1
	fi
}

like()
{
	if printf '%s\n' "$2" | grep -E -q -e "$3"; then
		pass "$1"
	else
		fail "$1" "nothing matches $3 in:" "$2"
		return 1
	fi
}

wait_for()
{
	tap_end=$(($(date +%s) + $1 * 30))
	shift
	until "$@"; do
		[ "$(date +%s)" -lt "$tap_end" ] || return 1
		sleep 0.2
	done
}

make_programs()
{
	mkdir -p build
	# shellcheck disable=SC2046 # words
	flock build/programs.lock make -s -f qa/GNUmakefile \
		$(printf 'build/qa/%s ' "$@") >&2 || bail "does not build: $*"
}

finish()
{
	if [ -z "$tap_planned" ]; then
		echo "1..$tap_count"
	elif [ "$tap_planned" -ne "$tap_count" ]; then
		note "planned $tap_planned tests, ran $tap_count"
		exit 1
	fi
	[ "$tap_failed" -eq 0 ]
	exit
}
