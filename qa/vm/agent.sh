# SPDX-License-Identifier: GPL-2.0-only
#
# For tests of the installed agent in the virtual machine, with a family of the test
# client; to be sourced after tap.sh. The trap ends all that it starts.

# shellcheck source=qa/vm/udev.sh
. qa/vm/udev.sh
# shellcheck source=qa/client/client.sh
. qa/client/client.sh

# shellcheck disable=SC2034 # used by scripts that source this
{
family=qa.device
metric=kmmv.value.$family
cpu1=/sys/devices/system/cpu/cpu1/online
}

loggers=

# shellcheck disable=SC2317 # called by the trap
clean_up()
{
	echo 1 >$cpu1
	# shellcheck disable=SC2086 # a list
	[ -z "$loggers" ] || kill $loggers
	grep -q '^kmmv' /etc/pcp/pmcd/pmcd.conf &&
		./Remove --purge </dev/null >/dev/null 2>&1
	/etc/init.d/pmcd stop >/dev/null 2>&1
	unload
	stop_udev
}
trap clean_up EXIT

# All files that an installation could leave.
files()
{
	find /etc /lib/udev /lib/modules/"$KVER"/extra /usr/lib/pcp \
		/usr/libexec/pcp /usr/share/man/man[135] /usr/local \
		/var/lib/pcp /var/log/pcp -iname '*kmmv*' 2>/dev/null | sort
	find /var/lib/pcp/config/pmda -name '389.*'
	# pmdaproc.sh changes the order of the agents.
	sort /etc/pcp/pmcd/pmcd.conf
}

# is_as_before FILES: no file was added or removed since
is_as_before()
{
	local after

	after=$(files)
	if [ "$1" = "$after" ]; then
		pass "files and pmcd.conf are as before the installation"
	else
		fail "files and pmcd.conf are as before the installation" \
			"$(diff <(echo "$1") \
			<(echo "$after"))"
	fi
}

# value METRIC INSTANCE: its value through pmcd; "" for a metric without instances
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

# shellcheck disable=SC2317 # called by wait_for
has_values()
{
	pminfo -f kmmv.control.state | grep -q '"attached"'
}

# agents COUNT: so many processes of the agent are there, those included that have ended
# and that pmcd has not waited for
# shellcheck disable=SC2317 # called by wait_for
agents()
{
	[ "$(pgrep -c -x pmdakmmv)" = "$1" ]
}

make_family()
{
	call "family 0|byte|$family|Bytes of the test|How many bytes there were."
}

# Sets id_of_family, and a to the number of its instance sda, whose count is 3003.
make_sda()
{
	local context

	id_of_family=$(make_family)
	a=$(call "addin $id_of_family sda")
	for context in task softirq hardirq; do
		call "adjust $context 0 $a 1000" >/dev/null
		call "adjust $context 1 $a 1" >/dev/null
	done
}

# installs [FOLDER]: ./Install there. If it fails, print what the logs say.
installs()
{
	local status=0

	(cd "${1:-.}" && ./Install) </dev/null || status=$?
	[ $status = 0 ] || tail -n 40 /var/log/pcp/pmcd/{pmcd,kmmv}.log
	return $status
}

# Install the modules, pmcd and the agent, and load the test client.
install_agent()
{
	start_udev
	ok "./Install succeeds" installs
	ok "the agent reads the device" wait_for 20 has_values
	load_client || bail "the client does not load"
}

# ---- archives

# start_logging VERSION...: start loggers of archives of these versions, every 500
# ms
start_logging()
{
	local version

	cat >"$WORK/config" <<-EOF
	log mandatory on 500 msec {
		$metric
		kmmv.all.$family
		kmmv.percpu.$family
		kmmv.value.stat.cpu
		kmmv.control
	}
	EOF
	versions=$*
	for version; do
		pmlogger -V "$version" -c "$WORK/config" -l "$WORK/log.$version" \
			"$WORK/archive.$version" &
		loggers="$loggers $!"
	done
}

stop_logging()
{
	# shellcheck disable=SC2086 # a list
	kill $loggers
	# shellcheck disable=SC2086
	wait $loggers
	loggers=
}

# series VERSION METRIC [INSTANCE]: the values in the archive, which may still grow,
# without repetitions
series()
{
	pmdumplog "$WORK/archive.$1" "$2" 2>&1 | sed -n \
		"${3:+/or \"$3\"\]/}s/.* value \([0-9]*\)\$/\1/p" | uniq |
		tr '\n' ' '
}

# recorded ARCHIVE: pmlogger has written its first values
# shellcheck disable=SC2317 # called by wait_for
recorded()
{
	pmdumplog "$1" 2>/dev/null | grep -q ' metric'
}

# falls ARCHIVE METRIC...: values of counters that are less than they were before
falls()
{
	pmdumplog "$@" 2>/dev/null | awk '
		match($0, /\([a-z][^ ]*\):/) {
			metric = substr($0, RSTART + 1, RLENGTH - 3) " "
		}
		/ value [0-9]+$/ {
			name = metric
			if (match($0, /or ".*"\]/))
				name = name substr($0, RSTART + 3, RLENGTH - 4)
			if (name in last && $NF + 0 < last[name])
				print name, last[name], "->", $NF
			last[name] = $NF + 0
			n++
		}
		END { if (!n) print "no values" }'
}

# logged VALUE METRIC [INSTANCE]: the last value in each archive is VALUE
# shellcheck disable=SC2317 # called by wait_for
logged()
{
	local version last

	for version in $versions; do
		last=$(series "$version" "${@:2}")
		[[ " $last" = *" $1 " ]] || return
	done
}

# check_archive VERSION SERIES: it is sound, of its version, and has SERIES of sda
check_archive()
{
	local archive=$WORK/archive.$1 text

	text=$(pmlogcheck "$archive" 2>&1)
	is "archive of version $1: pmlogcheck has nothing to report" "$? $text" "0 "
	like "archive of version $1: the label has that version" \
		"$(pmdumplog -l "$archive")" \
		"Log Label \\(Log Format Version $1\\)"
	is "archive of version $1: sda has the expected values in order" \
		"$(series "$1" "$metric" sda)" "$2"
}
