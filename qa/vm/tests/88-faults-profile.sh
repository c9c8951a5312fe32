#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# machine: SMP=2
#
# Each call of kmmv_profile that can fail fails once: while it is loaded, while it starts,
# while an event is made, changed and removed, while samples get their names, and while
# they are read. What is refused says so and is as it was before; each sample is
# counted.

# shellcheck disable=SC2317 # functions called by fail_each
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/profile.sh
. qa/vm/profile.sh
# shellcheck source=qa/vm/faults.sh
. qa/vm/faults.sh

faults_profile_end()
{
	profile_end
	faults_end
	unload
}
trap faults_profile_end EXIT

load_fault kmmv_profile
loaded()
{
	insmod kmod/kmmv_profile.ko max_overhead=1000 ring_pages=64
}
unloaded()
{
	rmmod kmmv_profile
}
fail_each "load" loaded unloaded
loaded || bail "kmmv_profile does not load"

# ---- it starts; without memory it takes no other source than there is

# starts: or says why not; what is refused leaves nothing that samples
starts()
{
	local text status state

	text=$(start 2>&1)
	status=$?
	state="$(cat "$config/enable") $(cat "$config/source")"
	case $status,$state in
	"0,1 cpu-clock") ;;
	"1,0 none") echo "$text" ;;
	*) echo "status $status, it is $state"; status=1 ;;
	esac
	return $status
}
# stops: and frees the buffers, so that the next start makes them
stops()
{
	stop && echo 256 >"$config/buffer_size"
}
fail_each "start" starts stops
ok "sampling starts after the faults of starts" starts
ok "sampling stops after the faults of starts" stops

# ---- events; $try is fail_each()'s

an_event()
{
	local dir=$config/events/qa$try status=0

	mkdir "$dir" || return
	echo page-faults >"$dir/event" && echo 1 >"$dir/enabled" || status=1
	[ $status = 1 ] || [ "$(cat "$dir/enabled")" = 1 ] || {
		echo "it is not enabled"
		status=1
	}
	rmdir "$dir" || status=1
	return $status
}
# changes: a rate that there was not; what is refused leaves what there was
changes()
{
	local file=$config/events/default/freq was text status state

	was=$(cat "$file")
	text=$( (echo $((was + 1)) >"$file") 2>&1)
	status=$?
	state="$(cat "$file") $(cat "$config/source")"
	if [ "$state" != "$((was + 1 - status)) cpu-clock" ]; then
		echo "status $status, it is $state, and was $was"
		return 1
	fi
	[ $status -eq 0 ] || echo "$text"
	return $status
}
fail_each "an event" an_event
# Calls of the worker, for names, may come between these.
start
fail_each "an event during sampling" an_event
fail_each "a change" changes
stops
is "no event but default is left" "$(ls $config/events)" default

# ---- names: a new command and a new file each time; every sample is counted

each_fault
# adds_up: silent if each sample is in one place, and in each kind of name
adds_up()
{
	local taken all

	taken=$(stat sample_received)
	[ "$(found .)" = "$taken" ] || echo "of $taken samples $(found .) are found"
	all=$(($(stat sample_delivered) + $(stat event_lost_overflow) +
		$(stat event_lost_disabled)))
	[ "$(sum command.samples)" = $all ] ||
		echo "commands have $(sum command.samples) of $all"
	[ "$(sum image.samples)" = $all ] || echo "files have $(sum image.samples) of $all"
}
named()
{
	local program=$WORK/new$try wrong

	cp $burn "$program" || return
	"$program" 0 20 >/dev/null
	stop
	rm "$program"
	wrong=$(adds_up)
	[ -z "$wrong" ] || {
		echo "$wrong"
		return 1
	}
}
# What fails is in the worker: it has started before.
start
fail_each "samples get names" named start never
stop
ok "names that could not be made are counted" test "$(value work failed)" -gt 0

# ---- a reader, from its open to the end of what was sampled

reads()
{
	local size

	start || return
	exec 5</dev/kmmv/profile || { stop; return 1; }
	$burn 0 20 >/dev/null
	stop
	size=$(wc -c <&5)
	exec 5<&-
	[ "$size" -ge $((20 * 256)) ] || {
		echo "a reader has $size bytes"
		return 1
	}
}
fail_each "a reader" reads
rmdir $config/events/qafault

ok "kmmv_profile unloads" unloaded
all_failed
ok "all modules unload" faults_profile_end
is "no module of kmmv is left" "$(grep -c ^kmmv /proc/modules)" 0
finish
