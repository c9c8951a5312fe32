#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
#
# pmstore starts and stops the profiler, and sets its rate, through an agent that is not
# root: for root alone, up to a limit that is none of the agent's.

# shellcheck disable=SC2317 # functions called by wait_for
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/agent.sh
. qa/vm/agent.sh

config=/sys/kernel/config/kmmv/profile
enable=kmmv.control.profile.enable
freq=kmmv.control.profile.freq
log=/var/log/pcp/pmcd/kmmv.log

# shellcheck disable=SC2317 # called by the trap
profile_end()
{
	[ ! -e /sys/module/kmmv_profile ] || rmmod kmmv_profile
	clean_up
}
trap profile_end EXIT

settings()
{
	echo "$(value $enable '') $(value $freq '')"
}
# store METRIC VALUE: print the error, if any
store()
{
	local text

	text=$(pmstore "$1" "$2" 2>&1) || echo "${text##*: }"
}
# shellcheck disable=SC2317 # called by wait_for
open_to_pcp()
{
	[ "$(stat -c %G:%a "$config/enable" "$config/events/default/freq" | xargs)" = \
		"pcp:664 pcp:664" ]
}

install_agent
is "without the module there are no settings" "$(settings)" " "
ok "kmmv_profile loads" modprobe kmmv_profile freq=29 max_freq=500 max_overhead=1000
ok "udev gives the profiler's settings to the agent's group" wait_for 60 open_to_pcp
is "udev gives the agent's group no other profiler's file" \
	"$(find $config -type f -group pcp | sort | xargs)" \
	"$config/enable $config/events/default/freq"
# shellcheck disable=SC2317 # called by wait_for
device_open()
{
	[ "$(stat -c %G:%a /dev/kmmv/profile)" = pcp:440 ]
}
ok "udev lets the agent's group read the profiler's device" wait_for 60 device_open
is "the settings have values" "$(settings)" "0 29"
is "root can start sampling" "$(store $enable 1)" ""
is "sampling is on after root's start" "$(cat $config/enable)" 1
taken()
{
	[ "$(cat "$config/stats/sample_received")" -gt 0 ]
}
ok "samples are received" wait_for 60 taken
# perf would refuse the agent, and the timer be what is left.
is "the source is perf's clock, as for root" "$(cat $config/source)" cpu-clock
is "root can set the rate" "$(store $freq 97)" ""
is "the module has the rate that root set" "$(cat $config/events/default/freq)" 97
is "the source is perf's clock after the rate is set" "$(cat $config/source)" cpu-clock
is "the period follows the rate" "$(value kmmv.value.profile.period default)" \
	$((1000000000 / 97))
is "the rate cannot be above the limit" "$(store $freq 501)" "Bad input to pmstore"
like "the log says which rate is beyond the limit" \
	"$(cat $log)" "501 is beyond the limit.*max_freq"
is "the rate cannot be 0" "$(store $freq 0)" "Bad input to pmstore"
is "the rate can be the limit" "$(store $freq 500; settings)" "1 500"
not_ok "another user may not stop sampling" setpriv --reuid 65534 --regid 65534 \
	--clear-groups pmstore $enable 0
not_ok "user pcp, who is the agent, may not stop sampling" \
	setpriv --reuid "$(id -u pcp)" \
	--regid "$(id -g pcp)" --init-groups pmstore $enable 0
not_ok "root from the network may not stop sampling" pmstore -h 127.0.0.1 $enable 0
is "sampling is on with its rate after refusals" "$(settings)" "1 500"
is "root can stop sampling" "$(store $enable 0; settings)" "0 500"
ok "kmmv_profile unloads" rmmod kmmv_profile
is "the settings are gone without the module" "$(settings)" " "

# A module that cannot sample, and files that are not the group's.
ok "kmmv_profile loads for a counter that there is not" modprobe kmmv_profile source=pmu
ok "the settings are there after a load" wait_for 60 open_to_pcp
is "sampling does not start without a counter" \
	"$(store $enable 1)" "No such file or directory"
like "the log says that there is no counter" "$(cat $log)" \
	"the module refuses 1: default: this machine has no counter for it"
is "sampling is off without a counter" "$(settings)" "0 19"
# Another event than the default one: its text, and its name.
mkdir $config/events/qa_other
echo nosuch >$config/events/qa_other/event
echo 1 >$config/events/qa_other/enabled
echo 0 >$config/events/default/enabled
is "sampling does not start with an unknown event" \
	"$(store $enable 1)" "Invalid argument"
like "the log says which event is unknown" "$(cat $log)" \
	"the module refuses 1: qa_other: no such event"
is "the file error says which event is unknown" \
	"$(sed 's/,.*//' $config/error)" "qa_other: no such event"
rmdir $config/events/qa_other
echo 1 >$config/events/default/enabled
chgrp root $config/enable
chmod 644 $config/enable
is "the agent cannot start sampling if the file is root's" "$(store $enable 1)" \
	"No permission to perform requested operation"
like "the log says that ./Install can help" \
	"$(cat $log)" "./Install lets the agent's group"
ok "./Install succeeds again" installs
ok "./Install gives the settings to the agent's group" open_to_pcp
finish
