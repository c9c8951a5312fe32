#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# machine: SMP=2
#
# The profiler's names in archives of two hosts: PCP refuses to merge them as they are;
# renamed as help/sources.md says, they are one archive that has each host's names with
# their counts. The second host is the same machine with another name, another profile
# and numbers of its own, later: pmlogrewrite of PCP 6.0 loses descriptors and names of
# instances if it changes the time.

# shellcheck disable=SC2317 # functions called by wait_for
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/agent.sh
. qa/vm/agent.sh

config=/sys/kernel/config/kmmv/profile
symbols=kmmv.value.profile.symbol.samples
vm=$(cat /proc/sys/kernel/hostname)

# shellcheck disable=SC2317 # called by the trap
profile_end()
{
	[ ! -d $config ] || echo 0 >$config/enable
	host_ends
	echo "$vm" >/proc/sys/kernel/hostname
	clean_up
}
trap profile_end EXIT

# shellcheck disable=SC2317 # called by the trap, too
host_ends()
{
	local name

	for name in kmmv_burn1 kmmv_burn2 kmmv_profile; do
		[ ! -e /sys/module/$name ] || rmmod $name
	done
}

# counts METRIC: NAME COUNT of each instance
counts()
{
	sed -n 's/^ *inst \[[0-9]* or "\(.*\)"\] value \([0-9]*\)$/\1 \2/p' | sort
}
live()
{
	pminfo -f "$1" | counts
}
# last ARCHIVE METRIC: of its last values
last()
{
	pmdumplog "$1" "$2" | awk '
		/^[0-9].* metric/ { text = "" }
		/ inst / { text = text $0 "\n" }
		END { printf "%s", text }' | counts
}
# The agent puts _ for a space.
count_of()
{
	live $symbols | sed -n "s/^$1_\[.* //p"
}
# NAME NUMBER of each
numbers()
{
	pminfo -f $symbols | sed -n 's/.*\[\([0-9]*\) or "\([^"]*\)"\] value.*/\2 \1/p' | sort
}
number_of()
{
	pminfo -f $symbols | sed -n "s/.*\[\([0-9]*\) or \"$1_\[.*/\1/p"
}
# burnt NUMBER LEAST: burn, until the first function of that module counts so much
burnt()
{
	echo 2000 >"/sys/module/kmmv_burn$1/parameters/burn"
	[ "$(count_of "burn$1_first")" -ge "$2" ]
}
# shellcheck disable=SC2317 # called by wait_for
archived()
{
	[ "$(last "$WORK/$1" $symbols)" = "$(live $symbols)" ]
}

named()
{
	echo "$1" >/proc/sys/kernel/hostname
	echo "127.0.0.1 $1" >>/etc/hosts
}
first_host()
{
	named "$1"
	install_agent
}
# Of what the other host had, nothing is known here.
other_host()
{
	/etc/init.d/pmcd stop >/dev/null 2>&1
	unload
	rm -f /var/lib/pcp/config/pmda/389.*
	named "$1"
	modprobe kmmv && modprobe kmmv_stat && open_nodes
	/etc/init.d/pmcd start >/dev/null 2>&1
	ok "$1: the agent has values" wait_for 60 has_values
	is "$1: no sample is there at first" "$(live $symbols)" ""
}

# has_function NAME NUMBER: the archive has the first function of that module
# shellcheck disable=SC2317 # called by wait_for
has_function()
{
	last "$WORK/$1" $symbols | grep -q "^burn$2_first_\["
}

# record NAME MORE LESS: its profile, in which module burnMORE is foremost
record()
{
	local logger less most

	ok "$1: kmmv_profile loads" modprobe kmmv_profile freq=197 max_overhead=1000
	insmod qa/client/kmmv_burn1.ko
	insmod qa/client/kmmv_burn2.ko
	echo 'log mandatory on 500 msec { kmmv.value.profile }' >"$WORK/config"
	pmlogger -c "$WORK/config" -l "$WORK/$1.log" "$WORK/$1" &
	logger=$!
	ok "$1: pmlogger has begun" wait_for 60 recorded "$WORK/$1"
	echo 1 >$config/enable
	ok "$1: burn$2 has 300 samples" wait_for 60 burnt "$2" 300
	ok "$1: burn$3 has 30 samples" wait_for 60 burnt "$3" 30
	ok "$1: the archive has burn$3" wait_for 60 has_function "$1" "$3"
	# Also of what grows in the archive, however late its first record is.
	less=$(count_of "burn$3_first")
	most=$(count_of "burn$2_first")
	[ "$most" -gt "$less" ] || most=$less
	ok "$1: burn$2 has many more samples than burn$3" \
		wait_for 60 burnt "$2" $((most + less + 300))
	echo 0 >$config/enable
	ok "$1: the archive has all counts" wait_for 60 archived "$1"
	kill $logger
	wait $logger
	live $symbols >"$WORK/$1.symbols"
	live kmmv.value.profile.command.samples >"$WORK/$1.commands"
	number_of burn1_first >"$WORK/$1.number"
	numbers >"$WORK/$1.numbers"
	host_ends
	like "$1: the archive is from host $1" \
		"$(pmdumplog -l "$WORK/$1")" "from host $1\$"
}

first_host north
record north 1 2
other_host south
record south 2 1
ok "names have other numbers on the other host" test -n \
	"$(join "$WORK/north.numbers" "$WORK/south.numbers" | awk '$2 != $3')"

PATH=$PATH:/usr/lib/pcp/bin:/usr/libexec/pcp/bin
mkdir "$WORK/both"
cd "$WORK/both" || exit
ok "the archive of north can be extracted as it is" pmlogextract ../north north
ok "the archive of south can be extracted as it is" pmlogextract ../south south

# ---- as they are, and with one name for both hosts

text=$(pmlogextract north south merged 2>&1)
like "archives of two hosts are refused" "$? $text" '^1 .*host name mismatch'
like "a view of archives of two hosts is refused" \
	"$(pminfo -a north,south $symbols 2>&1)" "differ by host"
echo 'global { hostname -> same }' >same
pmlogrewrite -c same north north.same
pmlogrewrite -c same south south.same
ok "archives of two hosts of one name can be merged" \
	pmlogextract north.same south.same wrong
# records ARCHIVE: of the metric
records()
{
	pmdumplog "$1" $symbols | grep -c ' metric$'
}
is "one metric has the values of both hosts of one name" "$(records wrong)" \
	$(($(records north.same) + $(records south.same)))

# ---- as help/sources.md says

cd "$OLDPWD" || exit
sed -n '/^### Archives of several hosts/,/^##* /s/^    //p' help/sources.md >"$WORK/commands"
cd "$WORK/both" || exit
ok "the page's commands succeed" bash -eu "$WORK/commands"
note "$(cat "$WORK/commands")"
is "pmlogcheck has nothing to say of the page's archive" "$(pmlogcheck both 2>&1)" ""
like "the page's archive is from host both" "$(pmdumplog -l both)" 'from host both$'
for host in north south; do
	is "$host's functions have their counts" "$(last both $host.$symbols)" \
		"$(cat "../$host.symbols")"
	is "$host's commands have their counts" \
		"$(last both $host.kmmv.value.profile.command.samples)" \
		"$(cat "../$host.commands")"
	is "$host's number of a name remains" "$(pmdumplog both $host.$symbols |
		sed -n 's/.*inst \[\([0-9]*\) or "burn1_first_\[.*/\1/p' | sort -u)" \
		"$(cat "../$host.number")"
	like "$host's help text is there" \
		"$(pminfo -t -a both $host.$symbols)" "function"
done
# report OPTION|METRIC...: of the merged archive; what comes before the header has no
# values
report()
{
	pmrep -a both -o csv "$@" 2>&1 | sed -n '/^Time,/,$p'
}
# top HOST: that of the test's functions which has most
top()
{
	report -t 1s "$1.$symbols" | awk -F , '
		NR == 1 { split($0, name, ","); next }
		{ for (i = 2; i <= NF; i++) sum[i] += $i }
		END {
			for (i in sum)
				if (name[i] ~ /burn[12]_/ && (!top || sum[i] > sum[top]))
					top = i
			print name[top]
		}' | grep -o 'burn[12]_[a-z]*'
}
is "north's top function is burn1_first" "$(top north)" burn1_first
is "south's top function is burn2_first" "$(top south)" burn2_first
is "both hosts are in one report" "$(report -r -t 1s \
	north.kmmv.value.profile.samples south.kmmv.value.profile.samples | awk -F , '
	NR == 1 { for (i = 2; i <= NF; i++) host[i] = $i ~ /north/ ? "north" : "south" }
	NR > 1 { for (i = 2; i <= NF; i++) if ($i > 0) has[host[i]] = 1 }
	END { print has["north"] + 0, has["south"] + 0 }')" "1 1"
cd "$OLDPWD" || exit
finish
