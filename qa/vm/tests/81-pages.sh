#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
#
# The EXAMPLES of the man pages, run as they are printed; those that need an archive are
# shipped/pages'. A command that is added to a page is run here without further work.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/agent.sh
. qa/vm/agent.sh
# shellcheck source=qa/harness/shown
. qa/harness/shown

for tool in mandoc jq; do
	command -v $tool >/dev/null || skip_all "no $tool: qa/setup check"
done
load_pid='' pid=''
# shellcheck disable=SC2317 # called by the trap
pages_end()
{
	cd "$TOP" || exit
	for pid in $load_pid $pid; do
		kill "$pid" 2>/dev/null
	done
	rmdir /sys/kernel/config/kmmv/trace/* /sys/kernel/config/kmmv/profile/events/misses \
		2>/dev/null
	rm -rf /run/kmmvctl /tmp/area
	unload
	clean_up
}
trap pages_end EXIT

export PATH=$WORK/bin:$TOP/build:$PATH
mkdir "$WORK/bin"
# What draws is not Debian's; it wants stacks, each with a number.
cat >"$WORK/bin/flamegraph.pl" <<'P'
#!/bin/sh
awk '!/^[^;].* [0-9]+$/ { print "no stack: " $0 >"/dev/stderr"; bad = 1 }
	{ print } END { exit bad || !NR }'
P
chmod 755 "$WORK/bin/flamegraph.pl"

# The instances that the pages name.
load_core && load_client || bail "no modules"
requests=$(call "add requests")
driver=$(call "addin $(call 'family 0|count|driver.requests|Requests|') one")
is "the first counter has the number 3" "$requests" 3
call "adjust task 0 $requests 77" >/dev/null
start_udev
ok "./Install succeeds" installs
ok "the agent reads the device" wait_for 20 has_values

# run COMMAND: as it is printed; its output is in $WORK/said
run()
{
	eval "$1" >"$WORK/said" 2>&1
}

# shellcheck disable=SC2317 # called by wait_for
says()
{
	grep -qE "$1" "$WORK/said"
}

# shellcheck disable=SC2317 # called by wait_for
adjusted_until()
{
	call "adjust task $1 $2 1" >/dev/null
	says "$3" || ! kill -0 "$pid" 2>/dev/null
}

# shellcheck disable=SC2317 # called by wait_for
has_shown()
{
	run "$1" && says 'inst \[[0-9]+ or ".*"\] value [1-9]'
}

# during COMMAND CPU NUMBER ERE [SIGNAL]: it is run while a counter is adjusted again and
# again, until it says what it should; it ends by itself, or by the signal. One that has
# ended by itself before the counter was adjusted is run again.
during()
{
	local i

	for ((i = 0; i < 20; i++)); do
		eval "exec $1" >"$WORK/said" 2>&1 &
		pid=$!
		wait_for 60 adjusted_until "$2" "$3" "$4"
		! says "$4" && ! kill -0 $pid 2>/dev/null || break
	done
	like "$1 prints what is expected" "$(cat "$WORK/said")" "$4"
	kill -"${5:-TERM}" $pid 2>/dev/null
	wait $pid
}

begin()
{
	case $1 in
	kmmvprof)
		ok "kmmv_profile loads" modprobe kmmv_profile max_overhead=1000
		echo 97 >/sys/kernel/config/kmmv/profile/events/default/freq
		echo 1 >/sys/kernel/config/kmmv/profile/enable
		sh -c 'while :; do :; done' &
		load_pid=$!
		;;
	kmmvctl)
		ok "kmmv_trace loads" modprobe kmmv_trace
		;;
	esac
}

# What a command shows, by the words that it begins with.
shows()
{
	local text

	text=$(cat "$WORK/said")
	case $1 in
	"kmmvdump -c"*)	like "$1: CPUs" "$text" '^stat\.irq\["LOC"\]( [0-9]+){4}' ;;
	"kmmvdump -d"*)	like "$1: counters" "$text" '^counter\["requests"\] 77$' ;;
	*"jq -r"*)	is "$1: the value" "$text" 77 ;;
	"kmmvprof report -u"*)
			like "$1: a process" "$text" '^ +[0-9.]+ +[0-9]+ .*(dash|libc|bash|sh) ' ;;
	*flames.svg)	ok "$1: a file" test -s flames.svg ;;
	*"-b command,symbol"*)
			like "$1: a command" "$text" '^ +[0-9.]+ +[0-9]+ .* sh ' ;;
	"kmmvctl describe "*"mm'")
			like "$1: members" "$text" 'mmap' ;;
	"kmmvctl describe "*)
			like "$1: arguments" "$text" 'next' ;;
	esac
}

cd "$WORK" || bail "no directory"
for page in $pages; do
	cd "$TOP" && mapfile -t list < <(examples "$page" | commands) && cd "$WORK" || exit
	ok "$page has examples" test ${#list[@]} -gt 0
	begin "${page%.1}"
	for command in "${list[@]}"; do
		case $command in
		"pcp -a "*)
			continue ;;		# shipped/pages
		"kmmvdump -o"*)
			during "$command" 0 "$driver" \
				' hit driver\.requests\["one"\] delta=1' INT
			continue ;;
		"pmevent "*)
			during "$command" 1 3 'kmmv.ring.event.delta 1'
			continue ;;
		"kmmvprof events cpu/"*)
			# No counter is in this machine: perf has no PMU "cpu".
			if [ ! -d /sys/bus/event_source/devices/cpu ]; then
				not_ok "$command fails where there is no such PMU" \
					run "$command"
				like "$command names the PMU that there is not" \
					"$(cat "$WORK/said")" "cpu"
				continue
			fi ;;
		"cd "*)
			# In this shell; back at the next page.
			ok "$command succeeds" $command
			$command
			continue ;;
		"pminfo "*)
			# Values of a source that was just asked for come a moment later.
			ok "$command shows a value" wait_for 20 has_shown "$command"
			continue ;;
		"pmstore kmmv.control.attach 0")
			# The examples before it used other modules.
			rmdir /sys/kernel/config/kmmv/trace/*
			echo -3 >/sys/kernel/config/kmmv/rings/default/trace
			rmmod kmmv_trace kmmv_profile kmmv_client ;;
		esac
		ok "$command succeeds" run "$command" || cat "$WORK/said" >&2
		shows "$command"
	done
	cd "$WORK" || exit
	if [ -n "$load_pid" ]; then
		kill "$load_pid"
		load_pid=
		echo 0 >/sys/kernel/config/kmmv/profile/enable
		rmdir /sys/kernel/config/kmmv/profile/events/misses
	fi
	if [ "$page" = kmmvctl.1 ]; then
		like "both counters of kmmvctl(1) are on" \
			"$(kmmvctl list | awk '{ print $1, $2 }' | xargs)" \
			'switches on.*writes on'
		# kmmvctl.conf(5) has one, too.
		awk '/^\.Bd -literal/ { on = 1; next } /^\.Ed/ { exit } on' \
			"$TOP/help/kmmvctl.conf.5" | sed 's/\\-/-/g' >trace.conf
		ok "kmmvctl accepts the section of kmmvctl.conf(5)" \
			kmmvctl check trace.conf
		ok "kmmvctl applies the section of kmmvctl.conf(5)" \
			kmmvctl apply trace.conf
		dd if=/dev/zero of=pages.written bs=1000 count=77 status=none
		like "the section of kmmvctl.conf(5) counts the bytes of a file" \
			"$(kmmvdump -r 0 -f trace.written)" \
			'^trace\.written\["pages\.written"\] 77000$'
	fi
done
cd "$TOP" || exit
ok "at the end the agent has values again" wait_for 20 has_values
ok "at the end kmmv_stat has values again" wait_for 20 sh -c \
	"pminfo -f kmmv.value.stat.cpu | grep -q 'value [1-9]'"
finish
