#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# needs: flexible
# machine: APPEND=maxcpus=3 MEM=1900M
#
# The flexible allocator: memory only for CPUs that were online. CPU 3 was not: it
# reads as 0, gets its pages when it comes up, and older mappings see its counts.
# Then the tests of the API, the mapping, names, growth and statctrs, with this
# allocator.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/client/client.sh
. qa/client/client.sh

[ -e build/flexible/kmod/kmmv.ko ] || bail "build/flexible is not there: qa/harness/flexible"
# shellcheck disable=SC2317 # called by the trap
clean_up()
{
	kill %% 2>/dev/null
	unload
	echo 0 >/sys/devices/system/cpu/cpu3/online
	umount kmod qa/client "$WORK/fixed"
}
trap clean_up EXIT
mkdir -p "$WORK/fixed"
mount --bind qa/client "$WORK/fixed"
export KMMV_OTHER_CLIENT=$WORK/fixed
mount --bind build/flexible/kmod kmod
mount --bind build/flexible/qa/client qa/client

cpu3=/sys/devices/system/cpu/cpu3
is "CPU 3 is offline at first" "$(cat $cpu3/online)" 0
ok "kmmv loads" load_core
ok "the client loads" load_client
mkfifo /tmp/more /tmp/seen
number=$(call "add late")
build/qa/vm/latecomer counter late </tmp/more >/tmp/seen &
exec 3>/tmp/more 4</tmp/seen
read -r seen <&4
is "a new mapping has no counts" "$seen" "0 0 0 0"
call "adjust task 1 $number 5" >/dev/null
echo >&3
read -r seen <&4
is "a mapping sees what CPU 1 counts" "$seen" "0 5 0 0"

# The hotplug state that gives CPU 3 its memory fails: so does onlining it.
state=$(sed -n 's/^ *\([0-9]*\): kmmv:prepare$/\1/p' \
	/sys/devices/system/cpu/hotplug/states)
ok "the prepare state of kmmv is there" test -n "$state"
if [ -e $cpu3/hotplug/fail ]; then
	echo "$state" >$cpu3/hotplug/fail
	not_ok "CPU 3 does not come online without memory" \
		bash -c "echo 1 >$cpu3/online"
	is "CPU 3 without memory is still offline" "$(cat $cpu3/online)" 0
	echo >&3
	read -r seen <&4
	is "a mapping has the same counts when CPU 3 has failed" "$seen" "0 5 0 0"
	echo -1 >$cpu3/hotplug/fail
else
	skip "CPU 3 does not come online without memory" \
		"machine: no fault injection in this kernel"
fi
ok "CPU 3 comes online" bash -c "echo 1 >$cpu3/online"
call "adjust task 3 $number 7" >/dev/null
echo >&3
read -r seen <&4
is "the old mapping sees what CPU 3 counts" "$seen" "0 5 0 7"
ok "CPU 3 goes offline" bash -c "echo 0 >$cpu3/online"
echo >&3
read -r seen <&4
is "the count of CPU 3 stays when it is offline" "$seen" "0 5 0 7"
exec 3>&- 4<&-
wait
echo 1 >$cpu3/online
ok "the modules unload" unload

for test in 10-api 12-mapping 13-names 14-growth 50-statctr; do
	text=$(bash qa/vm/tests/$test.sh 2>&1)
	status=$?
	passed=$(grep '^ok ' <<<"$text" | grep -vc '# SKIP')
	# Each test must have run, none may be skipped.
	if [ $status = 0 ] && [ "$passed" -gt 0 ] &&
		grep -qx "1..$passed" <<<"$text"; then
		pass "$test: $passed tests pass with the flexible allocator"
	else
		fail "$test: the tests pass with the flexible allocator" \
			"$(grep -v "^ok " <<<"$text")"
	fi
	unload
done
finish
