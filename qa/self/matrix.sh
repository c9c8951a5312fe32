#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Which suites qa/matrix/all runs, and which tests in each; and that `make check-all'
# has all of both.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh

mkdir -p build
dir=$(mktemp -d "$PWD/build/self.XXXXXX") || bail "no directory"
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/qa/matrix" "$dir/qa/harness" "$dir/root" || bail "no copy"
cp qa/matrix/all "$dir/qa/matrix" && cp qa/harness/sums "$dir/qa/harness" || bail "no copy"
printf '%s\n' 'linux-image-1 1.0' 'pcp 2.0' 'gcc 4:3.0' >"$dir/root/versions"

# Stand-ins for what makes a root and runs a command in it.
cat >"$dir/qa/matrix/root" <<-END
	#!/bin/sh
	echo "$dir/root"
	END
cat >"$dir/qa/matrix/run" <<-'END'
	#!/bin/sh
	if [ "$1" = -l ]; then
		printf '%s\t6.0\t%s\n' 6.1 bookworm debug bookworm+debug \
			i386 bookworm@i386 arm64 bookworm@arm64
		exit
	fi
	kernel=$2
	shift 5
	echo "$kernel: $*" >>ran
	echo "1 passed, 0 failed, 0 skipped"
	END
chmod +x "$dir"/qa/matrix/*

# ran ARG...: "KERNEL: PATTERN..." a line
ran()
{
	rm -f "$dir/ran"
	"$dir/qa/matrix/all" "$@" >"$dir/said" 2>&1
	cat "$dir/ran" 2>/dev/null
}

is "this machine's kernel runs all patterns" "$(ran vm/1 agent/x)" "6.1: vm/1 agent/x"
is "-a leaves out what is emulated or would run twice" \
	"$(ran -a vm/1 agent/x)" \
	"6.1: vm/1 agent/x
debug: vm/1
i386: vm/1 agent/x
arm64: vm/1"
is "-a leaves out kernels for which no pattern is left" "$(ran -a agent/x)" \
	"6.1: agent/x
i386: agent/x"
is "each run has its line" "$(grep -c ' 1 *0 *0$' "$dir/said")" 2
is "the last line has the sums of all runs" \
	"$(tail -n 1 "$dir/said")" "2 passed, 0 failed, 0 skipped"
like "the default tests run without a pattern" "$(ran)" '^6\.1: vm/00 .* unit/asan/prof$'
echo "is lost" >"$dir/lost"
echo "3 passed, 1 failed, 2 skipped" >"$dir/ended"
echo "umount: busy" >>"$dir/ended"
is "a run without an end is a failure" "$(qa/harness/sums "$dir/ended" "$dir/lost")" \
	"3 passed, 2 failed, 2 skipped"

# Stand-ins for both parts: the first one fails.
cp GNUmakefile VERSION "$dir" && cp qa/check-all "$dir/qa" || bail "no copy"
printf '#!/bin/sh\n' >"$dir/qa/setup"
printf '#!/bin/sh\necho "5 passed, 1 failed, 0 skipped"\nexit 1\n' >"$dir/qa/check"
printf '#!/bin/sh\necho 6.1\n' >"$dir/qa/harness/kver"
chmod +x "$dir"/qa/{setup,check} "$dir/qa/harness/kver"
rm -f "$dir/ran"
said=$(make -s -C "$dir" check-all T=vm/1 2>/dev/null)
is "check-all fails if a test does" $? 2
is "the matrix runs if a test of qa/check fails" "$(cat "$dir/ran")" "6.1: vm/1"
is "the last line has the sums of both parts" "$(tail -n 1 <<<"$said")" \
	"6 passed, 1 failed, 0 skipped"
# A signal ends the part that runs, and no other begins.
printf '#!/bin/sh\necho $$ >pid\nexec sleep 1000\n' >"$dir/qa/check"
for signal in INT TERM; do
	rm -f "$dir/ran" "$dir/pid"
	# A shell's background job ignores INT.
	python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$dir/qa/check-all" vm/1 >/dev/null 2>&1 &
	all=$!
	wait_for 20 test -s "$dir/pid"
	kill -s $signal $all
	wait $all
	is "$signal ends check-all" $? "$([ $signal = INT ] && echo 130 || echo 143)"
	not_ok "$signal ends the test that check-all runs" kill -0 "$(cat "$dir/pid")"
	ok "$signal ends check-all before the matrix" test ! -e "$dir/ran"
done
finish
