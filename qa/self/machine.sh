#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# partial: yes
# The virtual machine: a test that is killed or leaves something gets no other into
# trouble, and a machine that is lost is no pass.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh

top=$PWD until=${KMMV_UNTIL-}
# shellcheck source=qa/self/tree
. qa/self/tree

guest_tests()
{
	rm -rf "$dir/qa/vm" "$dir/build"
	mkdir -p "$dir/qa/vm/tests" "$dir/build"
	cp qa/vm/run qa/vm/guest qa/vm/init qa/vm/initramfs "$dir/qa/vm"
}
guest_test()
{
	cat >"$dir/qa/vm/tests/$1.sh"
}

# After a test that leaves something or is killed, the next one gets its own boot.
# shellcheck disable=SC2317 # all are called by name
boots_apart()
{
	guest_tests
	guest_test 10-leaves <<'E'
echo 1..1
sleep 100000 &
mkdir /tmp/left
echo ok 1
E
	guest_test 20-another <<'E'
echo 1..1
test ! -e /tmp/left && echo ok 1
mkdir /tmp/left
E
	guest_test 30-hangs <<'E'
echo 1..1
test -e /tmp/left && echo ok 1
trap '' TERM
sleep 100000 | cat
E
	guest_test 40-another <<'E'
echo 1..1
test ! -e /tmp/left && echo ok 1
E
	guest_test 42-says-so <<'E'
# leaves: a process, for the test
echo 1..1
sleep 100000 &
mkdir /tmp/left
echo ok 1
E
	guest_test 44-another <<'E'
echo 1..1
test ! -e /tmp/left && echo ok 1
E
	guest_test 50-panics <<'E'
echo 1..1
echo ok 1
echo c >/proc/sysrq-trigger
E
	guest_test 60-another <<'E'
echo 1..1
test ! -e /tmp/left && echo ok 1
E
	said=$(SMP=1 MEM=512M KMMV_LIMIT=60 KMMV_GRACE=1 KMMV_LEAVE=10 "$dir/qa/check" vm/ 2>&1)
	is "tests and boots end as they have to" \
		"$(sed -n 's/^\(ok\|FAILED\)  *vm.\([0-9a-z-]*\)  *\([0-9]*\) .*/\1 \2 \3/p' \
	<<<"$said")" "ok 10-leaves 1
ok 20-another 1
FAILED 30-hangs 1
ok 40-another 1
ok 42-says-so 1
ok 44-another 1
FAILED 50-panics 1
ok 60-another 1
FAILED console 2
ok console 3
ok console 3
FAILED console 0
ok console 3"
	shown '^    \| # > process [0-9]* sleep$' 120
	shown '^    \| .*Kernel Offset' 120
}

# A run that is ended a little later has said which test was running.
# shellcheck disable=SC2317
run_ends()
{
	guest_tests
	guest_test 10-hangs <<'E'
printf '1..1\nok 1\n'
sleep 100000
E
	guest_test 20-another <<'E'
printf '1..1\nok 1\n'
E
	said=$(SMP=1 MEM=512M KMMV_GRACE=1 "$dir/qa/check" -E 5 vm/ 2>&1)
	like "a test that does not end before the run has failed" \
		"$said" '^FAILED vm/10-hangs '
	like "a test for which there is no time left has failed" \
		"$said" '^FAILED vm/20-another '
	shown '^    \| # never ran: no machine$' 120
	shown '^    \| # timed out or killed$' 120
	shown '^    \| it hangs after [0-9]* s, and these wait for:$' 120
	shown '^    \|.* sleep 100000$' 120
}

# A machine that is lost before its first test says nothing of the tests.
# shellcheck disable=SC2317
lost_before()
{
	guest_tests
	guest_test 10-another <<'E'
printf '1..1\nok 1\n'
E
	mv "$dir/qa/vm/run" "$dir/qa/vm/real"
	cat >"$dir/qa/vm/run" <<'E'
#!/bin/sh
[ ! -e build/lost ] || exec qa/vm/real "$@"
[ -e build/never ] || touch build/lost
echo "vm: VM lost: it did not boot" >&2
exit 128
E
	chmod +x "$dir/qa/vm/run"
	touch "$dir/build/never"
	said=$("$dir/qa/check" vm/ 2>&1)
	is "a machine that never boots has failed" "$(tail -n 1 <<<"$said")" \
		"4 passed, 1 failed, 0 skipped"
	shown 'never ran: no machine'
	# Also when the time is over before its tests are counted.
	cat >"$dir/qa/self/one.sh" <<'E'
# partial: yes
while [ "$(date +%s)" -lt "$KMMV_UNTIL" ]; do sleep 1; done
printf '1..1\nok 1 - a\n'
E
	said=$("$dir/qa/check" -T 1 self/ vm/ 2>&1)
	like "a machine that never boots has failed at any time" \
		"$(tail -n 1 <<<"$said")" '^[0-9]* passed, 1 failed, 0 skipped$'
	rm "$dir/qa/self/one.sh" "$dir/build/never"
	said=$(SMP=1 MEM=512M "$dir/qa/check" vm/ 2>&1)
	is "a machine that boots the second time has not failed" \
		"$(tail -n 1 <<<"$said")" \
		"8 passed, 0 failed, 0 skipped"
	shown '^lost   a machine before its first test$'
	shown '^    \| vm: VM lost: it did not boot$'
}

vm()
{
	local status lost

	SMP=${CPUS:-1} MEM=512M "$top/qa/vm/run" "$@" >"$dir/out" 2>"$dir/err"
	status=$?
	lost=$(sed -n 's,.* end of \(.*\)/console.log:$,\1,p' "$dir/err")
	[ -z "$lost" ] || rm -rf "${top:?}/$lost"
	return $status
}

# shellcheck disable=SC2317
output()
{
	vm -t 1200 sh -c 'echo out; echo err >&2; exit 3'
	is "the guest's status comes through" $? 3
	is "the guest's output comes through" "$(cat "$dir/out")" out
	is "the guest's errors come through, apart" "$(grep -v '^vm: ' "$dir/err")" err
}

# shellcheck disable=SC2317
hang()
{
	vm -t 60 sleep 100000
	is "a hang is a lost machine" $? 128
	like "a hang is called a lost machine" \
		"$(cat "$dir/err")" 'VM lost: timed out after 60 s'
	like "the place of the CPU is shown at a hang" "$(cat "$dir/err")" '^[ER]IP=| PC='
}

# shellcheck disable=SC2317
requests()
{
	# A key counts within 5 s after the break before it, which may be over.
	vm -t 1200 sh -c 'both() {
			dmesg | grep -q "sysrq: Show Blocked State" &&
				dmesg | grep -q "sysrq: Show backtrace"
		}
		qa/vm/host flush
		until both; do
			qa/vm/host trace
			for i in $(seq 60); do both && break; sleep 1; done
		done
		dmesg'
	like "the kernel can be asked where it is" "$(cat "$dir/out")" 'sysrq: Show Blocked State'
	like "QEMU can be asked to translate anew" \
		"$(cat "$dir/err")" '^vm: QEMU translates anew$'
}

# shellcheck disable=SC2317
silence()
{
	vm -t 1200 sh -c 'kill -STOP -1; sleep 150; kill -CONT -1; echo goes on'
	is "a machine that stopped reporting goes on" "$(cat "$dir/out")" "goes on"
	like "a machine that stopped reporting was silent" \
		"$(cat "$dir/err")" '^vm: silent for'
	like "QEMU translates anew for a machine that stopped reporting" \
		"$(cat "$dir/err")" '^vm: QEMU translates anew$'
}

# shellcheck disable=SC2317
stuck_cpu()
{
	CPUS=2 vm -t 1200 sh -c 'echo -1 >/proc/sys/kernel/sched_rt_runtime_us
		taskset -c 1 chrt -f 99 sh -c "while :; do :; done" &
		sleep 110; kill $!; echo goes on'
	is "a machine of which a CPU is stuck goes on" "$(cat "$dir/out")" "goes on"
	like "a machine of which a CPU is stuck was silent" \
		"$(cat "$dir/err")" '^vm: silent for'
}

# shellcheck disable=SC2317
no_report()
{
	QEMU_EXTRA=-S vm -t 1200 echo booted
	is "a machine that stops before its first report goes on" \
		"$(cat "$dir/out")" "booted"
	like "a machine that stops before its first report was silent" \
		"$(cat "$dir/err")" '^vm: silent for [0-9]* s$'
}

parts=(boots_apart run_ends lost_before output hang requests silence stuck_cpu no_report)
run=0
for part in "${parts[@]}"; do
	[ -z "$until" ] || [ "$(date +%s)" -lt "$until" ] || break
	$part
	run=$((run + 1))
done
[ $run -eq ${#parts[@]} ] ||
	note "not run: $((${#parts[@]} - run)) of ${#parts[@]} parts, the time was over"
finish
