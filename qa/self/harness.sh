#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# The runner never reports a failure as a pass.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh

# shellcheck source=qa/self/tree
. qa/self/tree

options=
# judged NAME LAST-LINE <SCRIPT: the runner's last line for the script, which
# includes four builds and the style
judged()
{
	local status

	cat >"$dir/qa/self/one.sh"
	# shellcheck disable=SC2086 # options
	said=$("$dir/qa/check" $options 2>&1)
	status=$?
	is "$1" "$(tail -n 1 <<<"$said"), status $status" "$2"
}

judged "a pass is counted" "7 passed, 0 failed, 0 skipped, status 0" <<'E'
printf '1..2\nok 1 - a\nok 2 - b\n'
E
judged "a failure is counted" "6 passed, 1 failed, 0 skipped, status 1" <<'E'
printf '1..2\nok 1 - a\nnot ok 2 - b\n'; exit 1
E
judged "a failure is counted, whatever the status" \
	"5 passed, 1 failed, 0 skipped, status 1" <<'E'
printf '1..1\nnot ok 1 - b\n'
E
judged "a failure among many is counted" "304 passed, 1 failed, 0 skipped, status 1" <<'E'
echo 1..300
for ((i = 1; i <= 150; i++)); do echo "ok $i - a"; done
printf 'not ok 151 - b\n# because\n'
for ((i = 152; i <= 300; i++)); do echo "ok $i - c"; done
E
shown '^    \| # because$'
judged "a skip is counted" "5 passed, 0 failed, 1 skipped, status 0" <<'E'
printf '1..1\nok 1 - a # SKIP no such thing here\n'
E
judged "a skip of all is counted" "5 passed, 0 failed, 1 skipped, status 0" <<'E'
echo '1..0 # SKIP nothing here'
E
options=-s
judged "a skip is a failure of a strict run" "5 passed, 1 failed, 0 skipped, status 1" \
	<<'E'
printf '1..1\nok 1 - a # SKIP no such thing here\n'
E
shown '^    \| # skipped: no such thing here$'
judged "a skip of all is a failure of a strict run" \
	"5 passed, 1 failed, 0 skipped, status 1" <<'E'
echo '1..0 # SKIP nothing here'
E
judged "a skip for want of a machine is no failure of a strict run" \
	"5 passed, 0 failed, 1 skipped, status 0" <<'E'
printf '1..1\nok 1 - a # SKIP machine: no such thing here\n'
E
options=
judged "what comes before a failure belongs to it" \
	"7 passed, 1 failed, 0 skipped, status 1" <<'E'
printf '1..3\n# not this\nok 1 - a\n# CPU 3: too few\nnot ok 2 - b\nok 3 - c\n'
E
shown '^    \| # CPU 3: too few$'
is "what belongs to another test is not shown with a failure" \
	"$(grep -c 'not this' <<<"$said")" 0
judged "an empty plan is a failure" "5 passed, 1 failed, 0 skipped, status 1" \
	<<'E'
echo '1..0'
E
judged "no plan is a failure" "6 passed, 1 failed, 0 skipped, status 1" <<'E'
echo 'ok 1 - a'
E
judged "no output is a failure" "5 passed, 1 failed, 0 skipped, status 1" <<'E'
:
E
judged "too few tests are a failure" \
	"6 passed, 1 failed, 0 skipped, status 1" <<'E'
printf '1..2\nok 1 - a\n'
E
judged "a bad end is a failure" "6 passed, 1 failed, 0 skipped, status 1" <<'E'
printf '1..1\nok 1 - a\n'; echo ouch >&2; kill -SEGV $$
E
shown '^    \| ouch$'
judged "bailing out is a failure" "6 passed, 1 failed, 0 skipped, status 1" \
	<<'E'
printf '1..1\nok 1 - a\nBail out! no\n'
E
# The limits leave a loaded machine the time to print a line.
KMMV_LIMIT=20 judged "a time out is a failure" \
	"6 passed, 1 failed, 0 skipped, status 1" <<'E'
printf '1..1\nok 1 - a\n'; sleep 100000
E
options='-E 3'
judged "a test that does not end before the run is a failure" \
	"6 passed, 1 failed, 0 skipped, status 1" <<'E'
printf '1..1\nok 1 - a\n'; sleep 100000
E
shown '^    \| # timed out or killed$'
options=
judged "a script of tap.sh's that does not finish is a failure" \
	"6 passed, 1 failed, 0 skipped, status 1" <<'E'
. qa/harness/tap.sh
pass a
E
judged "functions of tap.sh see a failure" "5 passed, 4 failed, 0 skipped, status 1" <<'E'
. qa/harness/tap.sh
ok a false
is b 1 2
not_ok c true
like d text expr
finish
E

# A kernel that runs no programs for 32 bits: they are emulated.
printf 'list:\n\t@echo m32 thing 5\nchecked checked-all in-machine for-scripts:\n\t@:\n' \
	>"$dir/qa/GNUmakefile"
printf '#!/bin/sh\necho cat\n' >"$dir/qa/harness/run32"
chmod +x "$dir/qa/harness/run32"
mkdir -p "$dir/build/qa/m32"
printf '1..1\nok 1 - emulated\n' >"$dir/build/qa/m32/thing"
judged "programs for 32 bits are emulated" \
	"7 passed, 0 failed, 0 skipped, status 0" <<'E'
printf '1..1\nok 1 - a\n'
E
printf 'list checked checked-all in-machine for-scripts:\n\t@:\n' >"$dir/qa/GNUmakefile"

# The tiers.
ordinary='printf "1..1\nok 1 - a\n"'
long='# tier: all
printf "1..1\nok 1 - a\n"'
judged "a long test is not of the ordinary run" \
	"5 passed, 0 failed, 0 skipped, status 0" <<<"$long"
like "the ordinary run has the quick style" \
	"$(cat "$dir/build/check/style.tap")" 'style -q$'
options=-a
judged "a long test is of the run of all" "6 passed, 0 failed, 0 skipped, status 0" \
	<<<"$long"
like "the run of all has all of the style" \
	"$(cat "$dir/build/check/style.tap")" 'style -l$'
options=-r
judged "a long test is of the rest" "6 passed, 0 failed, 0 skipped, status 0" <<<"$long"
like "the rest has all of the style" \
	"$(cat "$dir/build/check-rest/style.tap")" 'style -l$'
judged "an ordinary test is not of the rest" "5 passed, 0 failed, 0 skipped, status 0" \
	<<<"$ordinary"
mkdir -p "$dir/build/qa/asan"
printf '#!/bin/sh\nprintf "1..1\\nok 1 - b\\n"\n' >"$dir/build/qa/asan/thing"
chmod +x "$dir/build/qa/asan/thing"
# tiers TIER: the results of ordinary runs, of all and of the rest, for such a program
tiers()
{
	printf 'list:\n\t@echo asan thing 5 %s\nchecked checked-all in-machine for-scripts:\n\t@:\n' "$1" \
		>"$dir/qa/GNUmakefile"
	for option in '' -a -r; do
		"$dir/qa/check" $option 2>&1 | tail -n 1
	done | sed 's/ passed.*//' | xargs
}
is "a program is of the ordinary run" "$(tiers check)" "7 7 5"
is "a program of the tier all is of the rest" "$(tiers all)" "6 7 6"
# wanted OPTION: what is built for it
wanted()
{
	printf '%s\n' 'list:' $'\t@echo asan thing 5' 'build/qa/asan/thing: FORCE' \
		$'\t@echo $@' 'FORCE: ;' '%:' $'\t@echo $@' >"$dir/qa/GNUmakefile"
	"$dir/qa/check" "$1" >/dev/null 2>&1
	xargs <"$dir/build/check/build-qa.err"
}
is "the ordinary run builds its programs" "$(wanted -s)" checked
is "the run of all builds all programs" "$(wanted -a)" checked-all
is "a pattern builds what scripts run" "$(wanted self/one)" for-scripts
is "a pattern builds the programs that it selects" "$(wanted unit/)" \
	"for-scripts build/qa/asan/thing"
printf 'list checked checked-all in-machine for-scripts:\n\t@:\n' >"$dir/qa/GNUmakefile"
options=self/one
judged "a pattern selects a long test, too" \
	"5 passed, 0 failed, 0 skipped, status 0" <<<"$long"
options='-T 0'
judged "no test begins after the time of -T" "4 passed, 0 failed, 0 skipped, status 0" \
	<<<"$ordinary"
shown '^not run, as 0 minutes were over: style self/one$'
is "a run without time leaves no file behind" \
	"$(cd "$dir" && ls)" $'GNUmakefile\nbuild\nqa'
options=self/none
judged "a pattern that selects nothing is a failure" \
	"0 passed, 1 failed, 0 skipped, status 1" <<<"$ordinary"
shown '^no test matches self/none: '
options='self/one self/none'
judged "one of two patterns that selects nothing is a failure" \
	"0 passed, 1 failed, 0 skipped, status 1" <<<"$ordinary"
options=
judged "a script beside the others is counted" \
	"6 passed, 0 failed, 0 skipped, status 0" <<'E'
# beside: yes
printf '1..1\nok 1 - a\n'
E
judged "a script that fails beside the others is counted" \
	"5 passed, 1 failed, 0 skipped, status 1" <<'E'
# beside: yes
printf '1..1\nnot ok 1 - a\n'
E
# meets OTHER: a test that ends when the other one has begun
meets()
{
	cat <<E
# beside: yes
: >"\$0.here"
for ((i = 0; i < 600; i++)); do
	[ ! -e "\${0%/*}/$1.sh.here" ] || break
	sleep 0.1
done
printf '1..1\n'; [ \$i -lt 600 ] && echo 'ok 1 - there it is'
E
}
meets one >"$dir/qa/self/two.sh"
judged "two scripts beside the others run at the same time" \
	"7 passed, 0 failed, 0 skipped, status 0" \
	< <(meets two)
rm -f "$dir"/qa/self/*.here "$dir/qa/self/two.sh"
judged "a script whose lane is lost has failed" \
	"5 passed, 2 failed, 0 skipped, status 1" <<'E'
# beside: yes
echo $$ >"${0%/*}/pid"
kill -9 "$(ps -o ppid= $PPID)"
exec sleep 1000
E
not_ok "a script whose lane is lost does not go on" kill -0 "$(cat "$dir/qa/self/pid")"
options='-T 9'
judged "a test that can be a part knows when to end" \
	"6 passed, 0 failed, 0 skipped, status 0" <<'E'
# partial: yes
[ $((KMMV_UNTIL - $(date +%s))) -gt 400 ] && echo "ok 1 - knows"
echo "# not run: 7 of 9"
echo 1..1
E
shown '^       not run: 7 of 9$'
judged "a test that cannot be a part does not know when to end" \
	"6 passed, 0 failed, 0 skipped, status 0" <<'E'
[ -z "${KMMV_UNTIL-}" ] && echo "ok 1 - knows nothing"
echo 1..1
E
cat >"$dir/qa/self/two.sh" <<'E'
# partial: yes
echo "$((KMMV_UNTIL - $(date +%s)))" >"${0%/*}/left"
printf '1..1\nok 1 - a\n'
E
judged "two tests that can be parts share the time" \
	"7 passed, 0 failed, 0 skipped, status 0" <<'E'
# partial: yes
left=$((KMMV_UNTIL - $(date +%s)))
[ $left -gt 200 ] && [ $left -lt 300 ] && echo "ok 1 - half of it"
echo 1..1
E
ok "the second test that can be a part has the rest of the time" \
	test "$(cat "$dir/qa/self/left")" -gt 400
rm "$dir/qa/self/two.sh"
options=
judged "an ordinary test is counted" "6 passed, 0 failed, 0 skipped, status 0" \
	<<<"$ordinary"
shown '^6 tests'
judged "a slow test is counted" "6 passed, 0 failed, 0 skipped, status 0" \
	<<<"sleep 2; $ordinary"
like "the time of a slow test is kept" "$(cat "$dir/build/check.times")" '^self/one [1-9]'
judged "an ordinary test is counted after a slow one" \
	"6 passed, 0 failed, 0 skipped, status 0" \
	<<<"$ordinary"
shown '^6 tests, about [0-9]+ min left by the last run$'

# Whatever ends the runner ends what a test started, in a group of its own, too.
for where in '' '# beside: yes'; do
	printf '%s\n' "$where" 'timeout 1000 sleep 1234 & echo $! >"${0%/*}/pid"; wait' \
		>"$dir/qa/self/one.sh"
	rm -f "$dir/qa/self/pid"
	"$dir/qa/check" self/one >/dev/null 2>&1 &
	checker=$!
	wait_for 60 test -s "$dir/qa/self/pid"
	group=$(cat "$dir/qa/self/pid")
	ok "a test runs${where:+ beside the others}" wait_for 60 kill -0 -- "-$group"
	kill $checker
	wait $checker
	is "a signal ends the runner${where:+ of a test beside the others}" $? 143
	# shellcheck disable=SC2317 # called by wait_for
	gone()
	{
		! pgrep -g "$group" >/dev/null
	}
	ok "a signal ends the test${where:+ beside the others}" wait_for 60 gone
done

# ---- the virtual machine

mkdir -p "$dir/qa/vm/tests"
echo 'echo 1..0' >"$dir/qa/vm/tests/10-never.sh"
options='-T 0'
judged "a machine that nobody waited for is no failure" \
	"5 passed, 0 failed, 0 skipped, status 0" <<<"$ordinary"
shown '^not run, as 0 minutes were over: style self/one vm/10-never$'
options=

# Modules with the other allocator are built for a test that needs them.
printf '#!/bin/sh\necho "$0 $*" >build/asked\n' >"$dir/qa/harness/flexible"
chmod +x "$dir/qa/harness/flexible"
# shellcheck disable=SC2154 # "want", of the caller
asked()
{
	rm -f "$dir/build/asked"
	"$dir/qa/check" -T 0 "$@" >/dev/null 2>&1
	is "$*: qa/harness/flexible is asked for ${want:-all}" \
		"$(cat "$dir/build/asked")" "qa/harness/flexible $want"
}
want=refused asked vm/10
printf '# needs: flexible\necho 1..0\n' >"$dir/qa/vm/tests/20-needs.sh"
want=refused asked vm/10
want='' asked vm/20
want='' asked vm/
rm "$dir/qa/harness/flexible"
rm -r "$dir/qa/vm"

finish
