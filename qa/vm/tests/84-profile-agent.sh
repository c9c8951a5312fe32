#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
#
# The profiler by pmcd: metrics, fixed numbers, help, the top symbols from an archive,
# and identifiers that stay over a reload.

# shellcheck disable=SC2317 # functions called by wait_for
# shellcheck source=qa/tap.sh
. qa/tap.sh
# shellcheck source=qa/vm/agent.sh
. qa/vm/agent.sh

config=/sys/kernel/config/kmmv/profile
metric=kmmv.value.profile.symbol.samples

# shellcheck disable=SC2317 # called by the trap
profile_end()
{
	rmmod kmmv_burn1 2>/dev/null
	clean_up
}
trap profile_end EXIT

# The count of a symbol whose name has brackets.
# shellcheck disable=SC2317 # called by wait_for
count_of()
{
	pminfo -f "$1" | grep -F "or \"$2" | sed 's/.* value //'
}

# shellcheck disable=SC2317 # called by wait_for
counts()
{
	[ -n "$(count_of "$metric" burn1_first)" ]
}

install_agent
ok "./Install installs the module" modprobe kmmv_profile freq=197 max_overhead=1000
insmod qa/client/kmmv_burn1.ko
is "all metrics" "$(pminfo kmmv.value.profile | sed 's/.*\.profile\.//' | sort | xargs)" \
	"command.samples error forgotten image.samples lost missed overhead period samples source\
 symbol.samples work"
like "its fixed number" "$(pminfo -m kmmv.value.profile.samples)" \
	" 389\.$((16 + 112))\.0"
like "semantics and units" "$(pminfo -d $metric)" "Semantics: counter  Units: count"
like "help" "$(pminfo -t $metric)" "by function"
like "long help" "$(pminfo -T $metric)" "profile\.error says"
echo 1 >$config/enable
cat >"$WORK/config" <<-EOF2
log mandatory on 500 msec {
	kmmv.value.profile
}
EOF2
pmlogger -c "$WORK/config" -T 30sec "$WORK/archive" -l "$WORK/log" &
logger=$!
while kill -0 $logger 2>/dev/null; do
	echo 2000 >/sys/module/kmmv_burn1/parameters/burn
done
wait $logger
ok "a function is an instance" wait_for 10 counts
is "pmlogcheck has nothing to say" "$(pmlogcheck "$WORK/archive" 2>&1)" ""
pmrep -a "$WORK/archive" -t 5s -1 -J 3 -o csv $metric >"$WORK/top" 2>&1 ||
	pmrep -a "$WORK/archive" -t 5s -J 3 -o csv $metric >"$WORK/top" 2>&1
note "$(head -n 3 "$WORK/top")"
# A sample without values is a line with its time, in front of the first header.
like "it is among the top ones of the archive" "$(grep -m 1 '^Time,' "$WORK/top")" \
	burn1_first
id=$(pminfo -f $metric | grep -F '"burn1_first' | sed 's/.*\[\([0-9]*\) or.*/\1/')
echo 0 >$config/enable
was=$(count_of "$metric" burn1_first)
rmmod kmmv_profile
modprobe kmmv_profile freq=197 max_overhead=1000
echo 1 >$config/enable
grew()
{
	echo 2000 >/sys/module/kmmv_burn1/parameters/burn
	[ "$(count_of "$metric" burn1_first)" -gt "$was" ]
}
ok "it goes on when the module is loaded again" wait_for 10 grew
is "under the same number" \
	"$(pminfo -f $metric | grep -F '"burn1_first' | sed 's/.*\[\([0-9]*\) or.*/\1/')" "$id"
echo 0 >$config/enable
finish
