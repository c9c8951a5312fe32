#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# From a kernel's counter to an archive: ./Install, pminfo, pmval, pmlogger,
# reload, restart, ./Remove.

# shellcheck source=qa/tap.sh
. qa/tap.sh
# shellcheck source=qa/vm/udev.sh
. qa/vm/udev.sh
# shellcheck source=qa/client/client.sh
. qa/client/client.sh

family=qa.device
metric=kmmv.value.$family
cpu1=/sys/devices/system/cpu/cpu1/online

# shellcheck disable=SC2317 # called by the trap
clean_up()
{
	echo 1 >$cpu1
	grep -q '^kmmv' /etc/pcp/pmcd/pmcd.conf &&
		./Remove </dev/null >/dev/null 2>&1
	/etc/init.d/pmcd stop >/dev/null 2>&1
	unload
	stop_udev
}
trap clean_up EXIT

# All that an installation could leave something in.
files()
{
	find /etc /lib/udev /lib/modules/"$KVER"/extra /usr/lib/pcp \
		/usr/libexec/pcp /usr/share/man/man[135] /usr/local \
		/var/lib/pcp /var/log/pcp -iname '*kmmv*' 2>/dev/null | sort
	# PCP's own script puts the agents into another order.
	sort /etc/pcp/pmcd/pmcd.conf
}

# value METRIC INSTANCE: now, through pmcd; "" for the only one
value()
{
	if [ -z "$2" ]; then
		pminfo -f "$1" | sed -n 's/^ *value //p'
	else
		pminfo -f "$1" |
			sed -n "s/^ *inst \\[[0-9]* or \"$2\"\\] value //p"
	fi
}

# id METRIC INSTANCE
id()
{
	pminfo -f "$1" | sed -n "s/^ *inst \\[\\([0-9]*\\) or \"$2\"\\].*/\\1/p"
}

has_values()
{
	pminfo -f kmmv.control.state | grep -q '"attached"'
}

make_family()
{
	call "family 0|byte|$family|Bytes of the test|How many bytes there were."
}

# ---- installation

before=$(files)
start_udev
ok "./Install, before pmcd has ever run" sh -c './Install </dev/null'
install_text=$tap_text
note "$install_text"
ok "the module is loaded" test -d /sys/module/kmmv
ok "so is its source" test -d /sys/module/kmmv_stat
is "group pcp may read the nodes, nobody else" \
	"$(stat -c '%U:%G:%a' /dev/kmmv/counters /dev/kmmv/names | sort -u)" \
	"root:pcp:440"
ok "they will be loaded at the next boot" grep -rqx kmmv \
	/etc/modules-load.d
ok "the agent reads the device" wait_for 20 has_values
ok "./Install again, where it was installed" \
	sh -c 'cd /var/lib/pcp/pmdas/kmmv && ./Install </dev/null'
is "is one agent" "$(grep -c '^kmmv[[:space:]]' /etc/pcp/pmcd/pmcd.conf)" 1
is "and one process" "$(pgrep -c -x pmdakmmv)" 1
is "that is not root's" "$(ps -o user= -C pmdakmmv)" pcp
ok "it reads the device again" wait_for 20 has_values

# ---- what pmcd says

load_client || bail "the client does not load"
id_of_family=$(make_family)
a=$(call "addin $id_of_family sda")
b=$(call "addin $id_of_family sd b")
call "label $a driver|floppy" >/dev/null
for context in task softirq hardirq; do
	call "adjust $context 0 $a 1000" >/dev/null
	call "adjust $context 1 $a 1" >/dev/null
done
call "adjust task 2 $b 5" >/dev/null
is "pminfo: a new family's value, summed" "$(value $metric sda)" 3003
is "a name with a blank" "$(value $metric sd_b)" 5
is "per CPU" "$(value kmmv.percpu.$family sda::cpu0) $(value \
	kmmv.percpu.$family sda::cpu1) $(value \
	kmmv.percpu.$family sda::cpu2)" "3000 3 0"
is "over all" "$(value kmmv.all.$family "")" 3008
like "its description" "$(pminfo -d $metric)" \
	"Data Type: 64-bit unsigned int .*"
like "its semantics and units" "$(pminfo -d $metric)" \
	"Semantics: counter  Units: byte"
like "its one-line help" "$(pminfo -t $metric)" "Bytes of the test"
like "its help" "$(pminfo -T $metric)" "How many bytes there were\\."
like "help of the agent's own" "$(pminfo -T kmmv.control.state)" \
	"^Whether|detached"
like "a label" "$(pminfo -l $metric)" '"driver":"floppy"'
like "pmval" "$(pmval -t 0.2 -s 2 -i sda $metric)" "^ +0"
like "the kernel's own statistics" "$(pminfo -f kmmv.value.stat.softirq)" \
	'"TIMER"\] value [1-9]'
like "perf_add's" "$(call "add plain" >/dev/null; pminfo -f kmmv.value.counter)" \
	'"plain"\] value 0'

# ---- archives

# series VERSION METRIC [INSTANCE]: what is in the archive, that may grow still;
# the same value again is left out
series()
{
	pmdumplog "$WORK/archive.$1" "$2" 2>&1 | sed -n \
		"${3:+/or \"$3\"\]/}s/.* value \([0-9]*\)\$/\1/p" | uniq |
		tr '\n' ' '
}

# Both loggers, which have their own time, have come to see this.
# shellcheck disable=SC2317 # called by wait_for
logged()
{
	local version last

	for version in 2 3; do
		last=$(series $version "${@:2}")
		[[ " $last" = *" $1 " ]] || return
	done
}

cat >"$WORK/config" <<EOF
log mandatory on 500 msec {
	$metric
	kmmv.all.$family
	kmmv.percpu.$family
	kmmv.value.stat.cpu
	kmmv.control
}
EOF
pids=
for version in 2 3; do
	pmlogger -V $version -c "$WORK/config" -l "$WORK/log.$version" \
		"$WORK/archive.$version" &
	pids="$pids $!"
done
ok "pmlogger has a first value" wait_for 20 logged 3003 $metric sda
call "adjust hardirq 1 $a 7" >/dev/null
ok "and the next one" wait_for 20 logged 3010 $metric sda
c=$(call "addin $id_of_family comes")
call "adjust task 3 $c 11" >/dev/null
ok "it sees what comes" wait_for 20 logged 11 $metric comes
echo 0 >$cpu1
call "adjust task 2 $a 90" >/dev/null
ok "and goes on with CPU 1 offline" wait_for 20 logged 3100 $metric sda
is "with CPU 1 offline, nothing is lost" "$(value $metric sda)" 3100
is "nor where it counted" "$(value kmmv.percpu.$family sda::cpu1)" 10
ok "the total is logged" wait_for 20 logged 3116 kmmv.all.$family
call "del $c" >/dev/null
is "what goes has no value" "$(value $metric comes)" ""
is "but is in the total" "$(value kmmv.all.$family "")" 3116
echo 1 >$cpu1
call "addin $id_of_family comes" >/dev/null
call "adjust task 1 $c 1" >/dev/null
ok "what comes back is logged" wait_for 20 logged 12 $metric comes
is "what comes back goes on" "$(value $metric comes)" 12
# shellcheck disable=SC2086 # a list
kill $pids
# shellcheck disable=SC2086
wait $pids
for version in 2 3; do
	archive=$WORK/archive.$version
	text=$(pmlogcheck "$archive" 2>&1)
	is "archive of version $version: pmlogcheck" "$? $text" "0 "
	like "archive $version: its version" "$(pmdumplog -l "$archive")" \
		"Log Label \\(Log Format Version $version\\)"
	is "archive $version: sda, as it went on" \
		"$(series $version $metric sda)" "3003 3010 3100 "
	# It may be logged before it counts.
	like "archive $version: the one that comes and goes" \
		"$(series $version $metric comes)" "^(0 )?11 12 \$"
	like "archive $version: pmval replays" \
		"$(pmval -r -a "$archive" -i sda -t 0.5 $metric)" "3100"
	like "archive $version: the total is in it" \
		"$(pmdumplog "$archive" kmmv.all.$family)" "value 3116"
	is "archive $version: the total never falls" "$(pmdumplog "$archive" \
		kmmv.all.$family | sed -n 's/.*value \([0-9][0-9]*\)$/\1/p' |
		sort -n -c 2>&1)" ""
done

# ---- who holds the module, and a reload

not_ok "rmmod is refused while a client counts" rmmod kmmv
rmmod kmmv_client
rmmod kmmv_stat
not_ok "rmmod is refused while the agent reads" rmmod kmmv
ok "the agent has not noticed" has_values
epoch=$(value kmmv.control.epoch "")
sda=$(id $metric sda)
ok "pmstore has it let go" pmstore kmmv.control.attach 0
like "it says so" "$(pminfo -f kmmv.control.state)" '"detached"'
ok "now the module goes" rmmod kmmv
ok "the agent still answers" pminfo -f kmmv.control.state
modprobe kmmv
open_nodes
load_client
call "family 1|byte|qa.other|Another family comes first|" >/dev/null
id_of_family=$(make_family)
call "addin $id_of_family in front" >/dev/null
a=$(call "addin $id_of_family sda")
call "adjust softirq 1 $a 50" >/dev/null
like "it does not attach by itself" "$(pminfo -f kmmv.control.state)" \
	'"detached"'
ok "pmstore has it attach again" pmstore kmmv.control.attach 1
ok "it does" wait_for 20 has_values
is "udev gave the node to group pcp" "$(stat -c %G /dev/kmmv/counters)" pcp
ok "to another epoch" test "$(value kmmv.control.epoch "")" != "$epoch"
is "a counter goes on from where it was" "$(value $metric sda)" 3150
is "under its number" "$(id $metric sda)" "$sda"

# ---- the agent dies

agent=$(pgrep -x pmdakmmv)
kill -9 "$agent"
# shellcheck disable=SC2317 # called by wait_for
restarted()
{
	has_values && [ "$(pgrep -x pmdakmmv)" != "$agent" ]
}
ok "pmcd starts another" wait_for 90 restarted
is "with the same numbers" "$(id $metric sda)" "$sda"
like "and values" "$(value $metric sda)" "^[0-9]+$"
rmmod kmmv_client
not_ok "rmmod is refused again" rmmod kmmv

# ---- removal

ok "./Remove" sh -c './Remove </dev/null'
note "$tap_text"
not_ok "the metrics are gone" pminfo kmmv
is "the agent is gone" "$(pgrep -c -x pmdakmmv)" 0
ok "the module is gone" test ! -d /sys/module/kmmv
ok "numbers are kept" test -s /var/lib/pcp/config/pmda/389.numbers
ok "./Remove --purge" sh -c './Remove --purge </dev/null'
after=$(files)
if [ "$before" = "$after" ]; then
	pass "nothing is left of it"
else
	fail "nothing is left of it" "$(diff <(echo "$before") \
		<(echo "$after"))"
fi
ok "pmcd still answers" pminfo -f pmcd.numagents
ok "./Remove again does no harm" sh -c './Remove </dev/null'
finish
