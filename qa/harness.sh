#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# The runner and the virtual machine take nothing bad for a pass.

# shellcheck source=qa/tap.sh
. qa/tap.sh

top=$PWD
dir=$(mktemp -d) || bail "no directory"
trap 'rm -rf "$dir"' EXIT

# A tree with nothing in it but the runner, and the script under test.
mkdir -p "$dir/qa" "$dir/build"
cp qa/check qa/tap.sh qa/kver "$dir/qa"
printf 'lib pmda kmod:\n\t@:\n' >"$dir/GNUmakefile"
printf 'list programs:\n\t@:\n' >"$dir/qa/GNUmakefile"
printf '#!/bin/sh\necho "1..1"; echo "ok 1 - style"\n' >"$dir/qa/style"
chmod +x "$dir/qa/style"

# judged NAME LAST-LINE: what the runner makes of the script on stdin, plus
# four builds and the style
judged()
{
	local status

	cat >"$dir/qa/one.sh"
	said=$("$dir/qa/check" 2>&1)
	status=$?
	is "$1" "$(tail -n 1 <<<"$said"), status $status" "$2"
}

# shown ERE: and it said so, in few lines
shown()
{
	like "and shown" "$said" "$1"
	ok "in few lines" test "$(wc -l <<<"$said")" -lt 40
}

judged "a pass is counted" "7 passed, 0 failed, 0 skipped, status 0" <<'E'
printf '1..2\nok 1 - a\nok 2 - b\n'
E
judged "a failure is" "6 passed, 1 failed, 0 skipped, status 1" <<'E'
printf '1..2\nok 1 - a\nnot ok 2 - b\n'; exit 1
E
judged "a failure is, whatever the status" \
	"5 passed, 1 failed, 0 skipped, status 1" <<'E'
printf '1..1\nnot ok 1 - b\n'
E
judged "a failure among many" "304 passed, 1 failed, 0 skipped, status 1" <<'E'
echo 1..300
for ((i = 1; i <= 150; i++)); do echo "ok $i - a"; done
printf 'not ok 151 - b\n# because\n'
for ((i = 152; i <= 300; i++)); do echo "ok $i - c"; done
E
shown '^    \| # because$'
judged "so is a skip" "5 passed, 0 failed, 1 skipped, status 0" <<'E'
printf '1..1\nok 1 - a # SKIP no such thing here\n'
E
judged "all skipped" "5 passed, 0 failed, 1 skipped, status 0" <<'E'
echo '1..0 # SKIP nothing here'
E
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
judged "a time out is a failure" "6 passed, 1 failed, 0 skipped, status 1" <<'E'
# timeout: 1
printf '1..1\nok 1 - a\n'; sleep 20
E
judged "a script of tap.sh's that does not finish is a failure" \
	"6 passed, 1 failed, 0 skipped, status 1" <<'E'
. qa/tap.sh
pass a
E
judged "ok and is see a failure" "5 passed, 4 failed, 0 skipped, status 1" <<'E'
. qa/tap.sh
ok a false
is b 1 2
not_ok c true
like d text expr
finish
E

vm()
{
	local status lost

	SMP=1 MEM=512M "$top/qa/vm/run" "$@" >"$dir/out" 2>"$dir/err"
	status=$?
	lost=$(sed -n 's,.* end of \(.*\)/console.log:$,\1,p' "$dir/err")
	[ -z "$lost" ] || rm -rf "${top:?}/$lost"
	return $status
}

vm -t 120 sh -c 'echo out; echo err >&2; exit 3'
is "the guest's status comes through" $? 3
is "so does its output" "$(cat "$dir/out")" out
is "and its errors, apart" "$(cat "$dir/err")" err
vm -t 120 sh -c 'echo out; echo c >/proc/sysrq-trigger; exit 0'
is "a panic is a lost machine" $? 128
like "its console is shown" "$(cat "$dir/err")" 'Kernel panic'
vm -t 10 sleep 600
is "a hang is a lost machine" $? 128
like "and is called so" "$(cat "$dir/err")" 'VM lost: timed out after 10 s'

finish
