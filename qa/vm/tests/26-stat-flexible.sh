#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# needs: flexible
# timeout: 6000
# machine: APPEND=maxcpus=3 MEM=1900M
#
# The tests of kmmv_stat with the flexible allocator. In the first of them the last
# CPU comes up for the first time; the others start with it.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/stat.sh
. qa/vm/stat.sh

[ -e build/flexible/kmod/kmmv.ko ] || bail "build/flexible is not there: qa/harness/flexible"
mount --bind build/flexible/kmod kmod
for test in 23-stat-latecomer 20-stat-bracket 21-stat-irq 22-stat-hotplug \
	24-stat-copy; do
	text=$(timeout 1200 bash qa/vm/tests/$test.sh 2>&1)
	status=$?
	all=$(grep -c '^ok ' <<<"$text")
	passed=$(grep '^ok ' <<<"$text" | grep -vc '# SKIP machine:')
	# Each test must have run; skipped is at most what this machine cannot do.
	if [ $status = 0 ] && [ "$passed" -gt 0 ] && grep -qx "1..$all" <<<"$text" &&
		! grep -q '^not ok' <<<"$text" &&
		! grep '# SKIP' <<<"$text" | grep -vq '# SKIP machine:'; then
		pass "$test: $passed tests pass with the flexible allocator"
	else
		fail "$test: the tests pass with the flexible allocator" \
			"$(grep -v "^ok " <<<"$text")"
	fi
	unload
	echo 1 >/sys/devices/system/cpu/cpu3/online
done
echo 0 >/sys/devices/system/cpu/cpu3/online
umount kmod
finish
