#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# Install and Remove with a pmcd of their own, in namespaces, over a copy of the
# system's files that vanishes with them. No module is loaded.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh

# shellcheck source=qa/agent/apart
. qa/agent/apart

new_system "$0" "Required key not available" "$@"

# All files that an installation could leave. pmcd.conf is sorted, because
# pmdaproc.sh changes its order.
files()
{
	find /etc /lib/udev /lib/modules /usr/lib/pcp /usr/include \
		/usr/share/pcp /usr/share/man /usr/local /var/lib/pcp \
		/var/log/pcp -iname '*kmmv*' 2>/dev/null | sort
	find /var/lib/pcp/config/pmda -name "$domain.*"
	sort /etc/pcp/pmcd/pmcd.conf
}
domain=$(sed -n 's/^#define KMMV //p' pmda/domain.h)
dir=/var/lib/pcp/pmdas/kmmv
before=$(files)

# agents N: so many processes are the agent. One that was told to end takes its time.
# shellcheck disable=SC2317 # called by wait_for
agents()
{
	[ "$(pgrep -c pmdakmmv)" -eq "$1" ]
}

# values_after N: Install's check if a value is there at try N, without the pauses
# between tries: what it prints, its status, and the number of tries.
values_after()
{
	(
		PCP_SYSCONF_DIR=none
		late=$1 tried=0
		# shellcheck source=pmda/device.sh
		. pmda/device.sh
		# shellcheck disable=SC2317 # called by values_check
		pminfo() { [ "$tried" -lt "$late" ] || echo value; }
		# shellcheck disable=SC2317
		pmsleep() { tried=$((tried + 1)); }
		# shellcheck disable=SC2317
		pmsignal() { :; }
		values_check
		echo "status $?, $tried"
	)
}

# explained MESSAGE: what Install says of a message of modprobe's
explained()
{
	(
		PCP_SYSCONF_DIR=none PCP_PMDAS_DIR=${dir%/*}
		# shellcheck source=pmda/device.sh
		. pmda/device.sh
		explain "modprobe: $1"
	)
}

ok "Install succeeds, unattended, before pmcd has ever run" sh -c './Install </dev/null'
like "Install explains a module that is not signed" "$tap_text" "Secure Boot"
missing="FATAL: Module kmmv not found in directory /lib/modules/1"
like "a missing module's explanation says make install" \
	"$(explained "$missing")" "make install"
mkdir /mnt/rpm
printf '#!/bin/sh\n[ "$*" = "-qf %s" ]\n' $dir/device.sh >/mnt/rpm/rpm
chmod 755 /mnt/rpm/rpm
like "a missing module's explanation names packages, after an RPM" \
	"$(PATH=/mnt/rpm:$PATH explained "$missing")" \
	"^ *install kmmv-dkms and kernel-devel-$(uname -r)\.$"
for why in "Invalid module format" "Exec format error"; do
	is "a module of another kernel is explained: $why" \
		"$(explained "ERROR: could not insert 'kmmv': $why" | sed -n 1p)" \
		"  It was built for another kernel than $(uname -r)."
done
refused="ERROR: could not insert 'kmmv': Key was rejected by service"
mkdir -p /var/lib/dkms/other
: >/var/lib/dkms/mok.pub
not_ok "a key of DKMS is not named where DKMS has not built ours" \
	grep -q mok.pub <<<"$(explained "$refused")"
mkdir /var/lib/dkms/kmmv
like "the command to trust DKMS's key is said where it built ours" \
	"$(explained "$refused")" \
	"^ *mokutil --import /var/lib/dkms/mok.pub$"
mkdir -p /var/lib/shim-signed/mok
: >/var/lib/shim-signed/mok/MOK.der
like "the command has Ubuntu's key where that exists" "$(explained "$refused")" \
	"^ *mokutil --import /var/lib/shim-signed/mok/MOK.der$"
rm -r /var/lib/dkms /var/lib/shim-signed
ok "pmcd runs after Install" pminfo -f pmcd.version
is "pmcd.conf has an entry of the agent" "$(grep -c "^kmmv	$domain	pipe" \
	/etc/pcp/pmcd/pmcd.conf)" 1
is "the agent is one process" "$(pgrep -c pmdakmmv)" 1
is "the agent runs as pcp" "$(ps -o user= -C pmdakmmv)" pcp
like "the state is absent without a device" "$(pminfo -f kmmv.control.state)" '"absent"'
like "a metric has one-line help" "$(pminfo -t kmmv.control.attach)" "\[Whether"
like "a metric has its help text" "$(pminfo -T kmmv.control.attach)" "^Store 0 to make"
is "no makefile is installed, which pmdaproc.sh would run" \
	"$(find $dir -iname '*makefile*')" ""
ok "udev's rule is installed" grep -q 'GROUP="pcp"' /etc/udev/rules.d/60-kmmv.rules
is "the modules to load at boot are listed" \
	"$(grep -v '^#' /etc/modules-load.d/kmmv.conf |
	tr '\n' ' ')" "kmmv kmmv_stat "
ok "the manual page is installed" test -s /usr/share/man/man1/pmdakmmv.1

refuse "Operation not permitted"
ok "Install succeeds again" sh -c './Install </dev/null'
like "Install explains lockdown" "$tap_text" "locked down"
is "pmcd.conf has one entry after the second Install" \
	"$(grep -c '^kmmv' /etc/pcp/pmcd/pmcd.conf)" 1
ok "the agent is one process after the second Install" wait_for 20 agents 1
ok "Install succeeds in the installed directory" sh -c "cd $dir && ./Install </dev/null"
ok "the agent is one process after Install in its directory" wait_for 20 agents 1

is "a value that comes late is waited for" "$(values_after 59)" "status 0, 59"
said=$(values_after 60)
like "a value that does not come is not waited for forever" "$said" "^status 1, 59"
like "the message says that pmcd does not answer" "$said" "^Error: pmcd does not answer"
ok "pmcd stops" /etc/init.d/pmcd stop
ok "Install succeeds where pmcd is stopped" sh -c './Install </dev/null'
like "Install starts pmcd" "$(pminfo -f kmmv.control.state)" '"absent"'
/etc/init.d/pmcd stop >/dev/null 2>&1
/etc/init.d/pmcd start >/dev/null 2>&1 &
ok "Install succeeds while pmcd starts" sh -c './Install </dev/null'
wait $!
like "the agent has values after Install while pmcd started" \
	"$(pminfo -f kmmv.control.state)" '"absent"'

# ---- files of /etc that the administrator changes

rule=/etc/udev/rules.d/60-kmmv.rules
load=/etc/modules-load.d/kmmv.conf
# shellcheck disable=SC2317 # called by ok
again()
{
	(cd $dir && ./Install </dev/null)
}
echo kmmv_block >>$load
rm $rule
ok "Install succeeds after changes in /etc" again
like "Install says what it keeps" "$tap_text" "^Keeping $load, which is not as"
like "Install says what it does not make" "$tap_text" "^Not making $rule, which was deleted"
is "a file of /etc that was changed is as it was" "$(tail -n 1 $load)" kmmv_block
not_ok "a file of /etc that was deleted is not made again" test -e $rule
cp $dir/kmmv.conf.written $load
rm $dir/60-kmmv.rules.written
echo "# older" >$dir/kmmv.conf.written
echo "# older" >$load
chmod 600 $load
ok "Install succeeds over what an older one wrote" again
like "a file of /etc that an older Install wrote is replaced" "$(cat $load)" '^kmmv_stat$'
is "its mode is that of a new file" "$(stat -c %a $load)" 644
ok "a file of /etc without a record is made" grep -q 'GROUP="pcp"' $rule
mknod /mnt/null c 1 3
chmod 666 /mnt/null
ln -sf /mnt/null $load
echo "# mine" >/mnt/mine
ln -sf /mnt/mine $rule
ok "Install succeeds where files of /etc are links" again
is "a link to a device stays, and the device's mode" \
	"$(readlink $load) $(stat -c %a /mnt/null)" "/mnt/null 666"
is "what a link leads to is as it was" "$(readlink $rule) $(cat /mnt/mine)" "/mnt/mine # mine"
ok "Remove succeeds where files of /etc are links" sh -c './Remove </dev/null'
is "Remove keeps links of /etc" "$(readlink $load $rule | xargs)" "/mnt/null /mnt/mine"
rm $load $rule
ok "Install makes files of /etc after Remove" sh -c 'umask 077; ./Install </dev/null'
is "what users read does not depend on the umask" "$(stat -c %a $rule $load $dir/help.pag \
	/var/lib/pcp/config/pmchart/Kmmv* /usr/share/man/man1/pmdakmmv.1* \
	/usr/local/share/man/man5/kmmv.5 /usr/local/lib/pkgconfig/libkmmv.pc 2>&1 |
	sort -u)" 644
touch $dir/GNUmakefile
for what in Install Remove; do
	not_ok "$what is refused where a source tree has the agent's folder" \
		timeout 60 sh -c "cd $dir && ./$what </dev/null"
	like "$what says that a source tree has the agent's folder" "$tap_text" \
		"^$what: a source tree is in $dir,"
done
rm $dir/GNUmakefile
touch $dir/.NeedInstall $dir/.NeedInstall.failed
ok "Install succeeds with pmcd's marks" again
is "Install takes away the marks by which pmcd runs it" "$(echo $dir/.Need*)" "$dir/.Need*"
touch $dir/.NeedInstall $dir/.NeedInstall.failed $dir/.NeedInstall.pending
echo kmmv_block >>$load
ok "Remove succeeds with pmcd's marks" sh -c "cd $dir && ./Remove </dev/null"
is "Remove takes away the marks by which pmcd runs Install" "$(echo $dir/.Need*)" \
	"$dir/.Need*"
is "Remove keeps a file of /etc that was changed" "$(tail -n 1 $load)" kmmv_block
not_ok "Remove removes a file of /etc that was not changed" test -e $rule
rm $load
ok "Install succeeds after Remove" sh -c './Install </dev/null'

# with_device COMMAND...: a function of device.sh, with records in /mnt
# shellcheck disable=SC2317 # called by ok
with_device()
{
	(
		PCP_SYSCONF_DIR=none PCP_PMDAS_DIR=/mnt/pmdas
		# shellcheck source=pmda/device.sh
		. pmda/device.sh
		"$@"
	)
}
# shellcheck disable=SC2317 # called by ok
place_text()
{
	echo text | with_device place /mnt/etc/file
}
mkdir -p /mnt/pmdas/kmmv
: >/mnt/etc
not_ok "a file of /etc that cannot be written is an error" place_text
is "what could not be written leaves nothing" "$(find /mnt/pmdas/kmmv -type f)" ""
rm /mnt/etc
ok "a file of /etc that could not be written is made later" place_text
is "the file made later has its text" "$(cat /mnt/etc/file)" text
rm /mnt/pmdas/kmmv/file.written
ok "a file of /etc without a record is removed" with_device displace /mnt/etc/file echo text
is "nothing of the file is left" "$(find /mnt/etc /mnt/pmdas/kmmv -type f)" ""

# loaded SRCVERSION INSTALLED: what load() says of a module that is there
loaded()
{
	(
		PCP_SYSCONF_DIR=none PCP_PMDAS_DIR=${dir%/*}
		loaded=$1 new=$2
		# shellcheck source=pmda/device.sh
		. pmda/device.sh
		# shellcheck disable=SC2317 # called by load
		cat() { echo "$loaded"; }
		# shellcheck disable=SC2317
		modinfo() { echo "$new"; }
		load kernel
	)
}
like "a loaded module of which another one is installed is said" "$(loaded A B)" \
	"^The module kernel is loaded, but another one is installed"
is "a loaded module that is installed is not said" "$(loaded A A)" ""
is "a loaded module of which none is installed is not said" "$(loaded A '')" ""

# pmcd gives up an agent that ends at once.
mkdir -p /etc/pcp/kmmv
echo "-c none" >>/etc/pcp/kmmv/options
not_ok "Install of an agent that pmcd gives up fails" sh -c './Install </dev/null'
like "Install says that there are no values" "$tap_text" "no values of the agent"
not_ok "make uninstall is refused where an Install has failed" make -s uninstall
like "make uninstall says what to do first" "$tap_text" "cd $dir && ./Remove$"
rm -r /etc/pcp/kmmv
sed -i '/^kmmv/d' /etc/pcp/pmcd/pmcd.conf
ok "Install succeeds after one that failed" sh -c './Install </dev/null'

# pmcd_gives SECONDS: it starts anew, and gives agents that long to start
pmcd_gives()
{
	sed -i "s/^-q .*/-q $1/" /etc/pcp/pmcd/pmcd.options
	/etc/init.d/pmcd stop >/dev/null 2>&1
	/etc/init.d/pmcd start >/dev/null 2>&1
}

# pmcd gives up an agent that is slow to start, too, and is told to start it again. The
# slow one waits until it is given up; the others have the same time.
pmcd_gives 30
mv $dir/pmdakmmv $dir/real
cat >$dir/pmdakmmv <<E
#!/bin/sh
if [ -e $dir/slow ]; then
	rm $dir/slow
	for i in \$(seq 600); do
		! grep -q "kmmv PMDA: Timeout" /var/log/pcp/pmcd/pmcd.log || break
		sleep 1
	done
fi
exec $dir/real "\$@"
E
chmod 755 $dir/pmdakmmv
touch $dir/slow
ok "Install of an agent that is slow to start succeeds" \
	sh -c "cd $dir && ./Install </dev/null"
like "pmcd gives up the agent that is slow to start" "$(cat /var/log/pcp/pmcd/pmcd.log)" \
	"initial PDU exchange with kmmv PMDA: Timeout"
mv $dir/real $dir/pmdakmmv
pmcd_gives 600
ok "Install of an agent that is not slow succeeds" sh -c "cd $dir && ./Install </dev/null"

# A device: captured files suffice.
mkdir /mnt/dev
printf '%s\n' "family 0 counter count counter Counters" \
	"family 1 stat.cpu nanosecond counter CPU" \
	"inst 0 0 0 active 1,2 a b" "inst 1 1 0 active 5 user" |
	qa/agent/area.py /mnt/dev
chmod 755 /mnt /mnt/dev
numbers=/var/lib/pcp/config/pmda/$domain.numbers
printf '%s\n' "kmmv numbers 1" "+ 16 7 a_b a b" >"$numbers"
chmod 600 "$numbers"
sed -i "s,^kmmv.*,& -f /mnt/dev," /etc/pcp/pmcd/pmcd.conf
kill -HUP "$(pgrep -x pmcd)"
# shellcheck disable=SC2317 # called by wait_for
attached()
{
	pminfo -f kmmv.control.state | grep -q '"attached"'
}
ok "pmcd starts the agent with options" wait_for 20 attached
ok "Install succeeds with options in pmcd.conf" sh -c './Install </dev/null'
like "Install keeps the options in pmcd.conf" \
	"$(grep '^kmmv' /etc/pcp/pmcd/pmcd.conf)" " -f /mnt/dev$"
like "the options are in their file" "$(cat /etc/pcp/kmmv/options)" "^-f /mnt/dev$"
ok "the options are in force after Install" wait_for 20 attached

# line: the agent's options in pmcd.conf
line()
{
	sed -n "s/^kmmv.*pmdakmmv  *-d $domain *//p" /etc/pcp/pmcd/pmcd.conf
}
file=/etc/pcp/kmmv/options
echo "-f /mnt/dev -c 200" >$file
ok "Install succeeds after options were changed in their file" again
not_ok "Install says nothing of options changed in their file" \
	grep -qi "option" <<<"$tap_text"
is "pmcd.conf gets the options of the file" "$(line)" "-f /mnt/dev -c 200"
: >$file
ok "Install succeeds after all options were taken out of the file" again
not_ok "Install says nothing of options taken out of the file" \
	grep -qi "option" <<<"$tap_text"
is "pmcd.conf has no options that were taken out" "$(line)" ""
is "the file of options stays empty" "$(cat $file)" ""
ok "Install succeeds with an empty file of options" again
is "options that were taken out stay away" "$(line)" ""
sed -i "s,^kmmv.*,& -c 300," /etc/pcp/pmcd/pmcd.conf
echo "-f /mnt/dev" >$file
ok "Install succeeds after pmcd.conf and the file were changed" again
like "Install warns of what pmcd.conf had" \
	"$tap_text" "^Warning: pmcd.conf had the options -c 300;"
is "pmcd.conf gets what the changed file has" "$(line)" "-f /mnt/dev"
# What an earlier version of Install leaves.
: >$file
rm $dir/options.written
ok "Install succeeds not knowing who wrote pmcd.conf's options" again
like "Install says that it moved the options of pmcd.conf" \
	"$tap_text" "^Moved the agent's options, -f /mnt/dev, to "
is "the moved options are in the file" "$(cat $file)" "-f /mnt/dev"
ok "the moved options are in force" wait_for 20 attached

like "a value comes through pmcd" "$(pminfo -f kmmv.value.counter)" \
	'inst \[7 or "a_b"\] value 3'
like "a label comes through pmcd" "$(pminfo -l kmmv.value.counter)" '"name":"a b"'
is "a file of numbers that root left belongs to pcp" "$(stat -c %U "$numbers")" pcp
ok "root may store" pmstore kmmv.control.max_age 50
not_ok "user nobody may not store" setpriv --reuid 65534 --regid 65534 --clear-groups \
	pmstore kmmv.control.max_age 60
not_ok "a user of group pcp may not store" setpriv --reuid 65534 \
	--regid "$(getent group pcp | cut -d: -f3)" --clear-groups \
	pmstore kmmv.control.max_age 70
not_ok "user pcp, as which pmproxy's clients come, may not store" setpriv \
	--reuid "$(id -u pcp)" --regid "$(id -g pcp)" --init-groups \
	pmstore kmmv.control.max_age 75
not_ok "root from the network may not store" pmstore -h 127.0.0.1 \
	kmmv.control.max_age 80
like "the metric has what root stored" "$(pminfo -f kmmv.control.max_age)" "value 50"

pmlogconf -c /mnt/config >/dev/null 2>&1
like "pmlogger records sums by default" "$(cat /mnt/config)" "^	kmmv\.value$"
like "pmlogger records totals by default" "$(cat /mnt/config)" "^	kmmv\.all$"
not_ok "pmlogger records nothing per CPU by default" grep -q '^	kmmv\.percpu' /mnt/config
ok "pmlogger accepts the configuration" pmlogger -C -c /mnt/config
pmieconf -cf /mnt/rules enable kmmv >/dev/null 2>&1
is "pmieconf enables each rule" "$(grep -c '^// 1 kmmv\..* enabled = yes' /mnt/rules)" \
	"$(find pmda/site -name 'pmieconf.*' | wc -l)"
ok "pmie accepts the rules" pmie -C -c /mnt/rules
is "each view of pmchart is installed" "$(cd /var/lib/pcp/config/pmchart && echo Kmmv*)" \
	"$(cd pmda/site && printf '%s\n' *.pmchart | sed 's/\.pmchart$//' | xargs)"
like "a derived metric has one-line help" \
	"$(pminfo -t kmmv.derived.cpu)" "\[percentage of the online"
# The system's python, for which PCP's module is.
like "pcp kmmv prints a report" \
	"$(PCP_PYTHON_PROG=/usr/bin/python3 pcp kmmv -t 0.1 -s 1 2>&1)" "every "

ok "Remove succeeds" sh -c './Remove </dev/null'
ok "Remove keeps the numbers" test -s "$numbers"
not_ok "no metrics are left after Remove" pminfo kmmv
ok "no process of the agent is left after Remove" wait_for 20 agents 0
ok "Install succeeds after Remove" sh -c './Install </dev/null'
ok "Remove -k succeeds" sh -c './Remove -k </dev/null'
ok "Remove -k keeps the numbers" test -s "$numbers"
ok "Install succeeds after Remove -k" sh -c './Install </dev/null'
ok "Remove --purge succeeds" sh -c './Remove --purge </dev/null'
ok "Remove --purge keeps options that were given" test -s /etc/pcp/kmmv/options
rm -r /etc/pcp/kmmv
after=$(files)
is "Remove --purge leaves nothing else" "$(diff <(echo "$before") <(echo "$after"))" ""
ok "Remove of nothing succeeds" sh -c './Remove </dev/null'
ok "pmcd answers after Remove" pminfo -f pmcd.version

# ---- make uninstall beside a package

# The package has two of the files, and make install wrote over them.
mkdir /mnt/dpkg
cat >/mnt/dpkg/dpkg <<E
#!/bin/sh
found=1
for path; do
	case \$path in
	$dir/device.sh | /etc/pcp/pmrep/kmmv.conf) echo "pcp-pmda-kmmv: \$path"; found=0 ;;
	esac
done
exit \$found
E
chmod 755 /mnt/dpkg/dpkg
ok "make install succeeds" make -s install
ok "make uninstall succeeds" env PATH=/mnt/dpkg:"$PATH" make -s uninstall
is "make uninstall leaves what a package has" "$(find $dir /etc/pcp -type f \
	\( -path '*pmdas*' -o -iname '*kmmv*' \) | sort | xargs)" \
	"/etc/pcp/pmrep/kmmv.conf $dir/device.sh"

# Interrupted in the first part: there is a list, and no ./Remove.
rm -r $dir
mkdir -p $dir
touch /usr/local/lib/kmmv-left
printf '%s\n' "d $dir" "f $dir/installed" "f /usr/local/lib/kmmv-left" >$dir/installed
ok "Remove succeeds after an Install that was interrupted" sh -c './Remove </dev/null'
is "Remove leaves nothing of an Install that was interrupted" \
	"$(find $dir /usr/local/lib/kmmv-left 2>/dev/null)" ""
finish
