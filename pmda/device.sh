# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154 # variables of pmdaproc.sh
#
# What Install does and Remove undoes besides pmdaproc.sh: modules, device
# nodes, and files that the agent keeps between runs. A failure here does not
# stop Install: the agent works without a device, and attaches when one appears.

rules=/etc/udev/rules.d/60-kmmv.rules
modules=/etc/modules-load.d/kmmv.conf
nodes="/dev/kmmv/counters /dev/kmmv/names /dev/kmmv/profile /dev/kmmv/ring/*"
settings="enable events/default/freq"

udev_runs()
{
	command -v udevadm >/dev/null 2>&1 &&
		udevadm control --ping --timeout=5 >/dev/null 2>&1
}

# How this folder's files came here: deb, rpm, or source (make install, ./Install).
installed_by()
{
	here=$PCP_PMDAS_DIR/kmmv/device.sh
	if dpkg -S "$here" >/dev/null 2>&1; then
		echo deb
	elif rpm -qf "$here" >/dev/null 2>&1; then
		echo rpm
	else
		echo source
	fi
}

# The certificate of the key with which DKMS signs our modules: Ubuntu's, or its own.
dkms_certificate()
{
	[ -d /var/lib/dkms/kmmv ] || return
	for file in /var/lib/shim-signed/mok/MOK.der /var/lib/dkms/mok.pub; do
		[ ! -f "$file" ] || { echo "$file"; return; }
	done
	return 1
}

# Explain a message of modprobe's.
explain()
{
	case $1 in
	*"Required key not available"*|*"Key was rejected"*)
		echo "  The kernel only loads modules that are signed with a key that it trusts"
		echo "  (Secure Boot)."
		if certificate=$(dkms_certificate); then
			echo "  DKMS has a key. To trust it, run this as root, reboot, and"
			echo "  enter the password that it asked for:"
			echo "    mokutil --import $certificate"
		else
			echo "  Sign kmmv.ko and kmmv_stat.ko with a key that this machine trusts"
			echo "  (mokutil --import CERTIFICATE), or turn Secure Boot off."
		fi
		;;
	*"Operation not permitted"*)
		echo "  The kernel is locked down, or this system may not load modules (for"
		echo "  example, a container). See /sys/kernel/security/lockdown."
		;;
	*"Module "*"not found"*)
		release=$(uname -r)
		echo "  It is not installed for kernel $release:"
		case $(installed_by) in
		deb)
			echo "  install kmmv-dkms and linux-headers-$release, or kmmv-modules-$release,"
			echo "  which \`kmod/package -k $release\` builds, also on another machine."
			;;
		rpm)
			echo "  install kmmv-dkms and kernel-devel-$release."
			;;
		source)
			echo "  run \`make install\` in the source tree with that kernel's headers"
			echo "  installed."
			;;
		esac
		;;
	*"Invalid module format"*|*"Exec format"*)
		echo "  It was built for another kernel than $(uname -r)."
		;;
	esac
	echo "  See also dmesg. The agent is installed nevertheless, and attaches when the"
	echo "  module is loaded."
}

# The module is loaded, but another one is installed.
is_old()
{
	new=$(modinfo -F srcversion "$1" 2>/dev/null)
	loaded=$(cat "/sys/module/$1/srcversion" 2>/dev/null)
	[ -n "$new" ] && [ -n "$loaded" ] && [ "$new" != "$loaded" ]
}

load()
{
	if [ -d "/sys/module/$1" ]; then
		! is_old "$1" || echo "The module $1 is loaded, but another one is installed." \
			"It is used when $1 is loaded next."
		return 0
	fi
	if message=$(modprobe "$1" 2>&1); then
		echo "Loaded the module $1."
		return 0
	fi
	echo "Warning: the module $1 cannot be loaded: ${message:-no message}"
	explain "$message"
	return 1
}

# Device nodes belong to root until udev has applied our rule.
open_nodes()
{
	if udev_runs; then
		udevadm trigger --action=change --subsystem-match=misc \
			--subsystem-match=kmmv --sysname-match='kmmv_*' 2>/dev/null || :
		udevadm settle --timeout=10 2>/dev/null || :
	fi
	for node in $nodes; do
		[ -c "$node" ] || continue
		if [ "$(stat -c %G:%a "$node")" != "$PCP_GROUP:440" ]; then
			chgrp "$PCP_GROUP" "$node"
			chmod 440 "$node"
		fi
	done
}

# What the agent stores for root, as the rule does when the module is loaded.
open_settings()
{
	for setting in $settings; do
		file=/sys/kernel/config/kmmv/profile/$setting
		[ -f "$file" ] || continue
		chgrp "$PCP_GROUP" "$file"
		chmod 664 "$file"
	done
}

# What Install last wrote to a file of /etc. Remove removes it.
record_of()
{
	echo "$PCP_PMDAS_DIR/kmmv/${1##*/}.written"
}

# place FILE: standard input becomes FILE, of /etc, unless the administrator has changed
# it, deleted it, or made it a link, such as to /dev/null, which switches it off.
place()
{
	record=$(record_of "$1")
	if ! cat >"$record.new"; then
		rm -f "$record.new"
		return 1
	fi
	if [ -L "$1" ]; then
		echo "Keeping $1, which is a link."
	elif [ ! -e "$1" ] && [ -f "$record" ]; then
		echo "Not making $1, which was deleted. ./Remove and ./Install make it."
	elif [ ! -e "$1" ] || cmp -s "$1" "$record"; then
		# Without a file there is no record of one, or it would count as deleted.
		if ! { mkdir -p "${1%/*}" && cp "$record.new" "$1.new" &&
				chmod 644 "$1.new" && mv "$1.new" "$1"; }; then
			rm -f "$1.new" "$record.new"
			echo "Warning: $1 cannot be written."
			return 1
		fi
	elif ! cmp -s "$1" "$record.new"; then
		echo "Keeping $1, which is not as ./Install wrote it."
		echo "  Now ./Install would write $record."
	fi
	mv "$record.new" "$record"
}

# displace FILE COMMAND...: remove FILE unless the administrator has changed it. COMMAND
# prints what Install would write, for one of before there were records.
displace()
{
	record=$(record_of "$1")
	file=$1
	shift
	[ -f "$record" ] || "$@" >"$record"
	if [ -L "$file" ] || { [ -e "$file" ] && ! cmp -s "$file" "$record"; }; then
		echo "Keeping $file."
	else
		rm -f "$file"
	fi
	rm -f "$record" "$record.new" "$file.new"
}

rules_text()
{
	sed "s/\"pcp\"/\"$PCP_GROUP\"/" kmmv.rules
}

device_setup()
{
	rules_text | place "$rules"
	place "$modules" <kmmv.modules
	udev_runs && udevadm control --reload
	device_load
}

device_load()
{
	if load kmmv; then
		load kmmv_stat || :
	fi
	open_nodes
	open_settings
}

# Modules were installed after the agent: load them if they are for this kernel.
device_arrived()
{
	if [ -d /sys/module/kmmv ]; then
		echo "kmmv is loaded already. Modules that were installed now are used when it is"
		echo "  loaded next, or from the next boot on."
	elif ! modinfo -k "$(uname -r)" kmmv >/dev/null 2>&1; then
		echo "No modules of kmmv are installed for the running kernel, $(uname -r)."
	else
		device_load
	fi
}

# What uses kmmv besides kmmv_stat: other modules by name, programs, and rings that mkdir
# made. A module's rings have directories there, too, but do not hold kmmv, and rmdir
# refuses them: kmmv's own is default, kmmv_profile's is profile.
users_of_kmmv()
{
	rings=
	for ring in /sys/kernel/config/kmmv/rings/*; do
		case ${ring##*/} in
		default)	continue ;;
		profile)	[ ! -d /sys/module/kmmv_profile ] || continue ;;
		esac
		[ ! -d "$ring" ] || rings="$rings $ring"
	done
	set --
	for holder in /sys/module/kmmv/holders/*; do
		[ ! -e "$holder" ] || set -- "$@" "${holder##*/}"
	done
	count=$(cat /sys/module/kmmv/refcnt 2>/dev/null)
	[ "${count:-0}" -le $# ] || echo "a program${rings:+ or a ring (rmdir$rings)}"
	for holder; do
		[ "$holder" = kmmv_stat ] || echo "$holder"
	done
}

# Unload what device_load loads, unless something else uses it. Leave other modules to
# those that loaded them. pmcd has dropped the agent, which may still be running: wait
# for it.
device_unload()
{
	[ -d /sys/module/kmmv ] || return 0
	tries=60
	while [ -n "$(users_of_kmmv)" ] && [ $tries -gt 0 ] &&
		pgrep -x pmdakmmv >/dev/null 2>&1; do
		tries=$((tries - 1))
		pmsleep 1
	done
	users=$(users_of_kmmv)
	if [ -n "$users" ]; then
		echo "The modules kmmv and kmmv_stat stay loaded, as kmmv is used by"
		echo "  $(echo "$users" | tr '\n' ',' | sed 's/,$//; s/,/, /g')."
		echo "  Once it is not: rmmod kmmv_stat kmmv"
		close_nodes
		return
	fi
	for module in kmmv_stat kmmv; do
		[ -d "/sys/module/$module" ] || continue
		if message=$(modprobe -r "$module" 2>&1); then
			echo "Unloaded the module $module."
		else
			echo "Warning: the module $module cannot be unloaded: $message"
		fi
	done
	[ ! -d /sys/module/kmmv ] || close_nodes
}

# Take away what open_nodes and open_settings gave.
close_nodes()
{
	for node in $nodes; do
		[ ! -c "$node" ] || chgrp root "$node"
	done
	for setting in $settings; do
		file=/sys/kernel/config/kmmv/profile/$setting
		[ ! -f "$file" ] || { chgrp root "$file" && chmod 644 "$file"; }
	done
}

device_remove()
{
	displace "$rules" rules_text
	displace "$modules" cat kmmv.modules
	udev_runs && udevadm control --reload
	device_unload
}

# The agent's options are in a file, one or more per line, because Install
# rewrites the agent's line in pmcd.conf. Options added to that line by hand are
# moved to the file. Options that Install wrote itself are not moved: they may have
# been deleted from the file since. Without a record of what it wrote, as after an
# upgrade from a version that kept none, all options of the line count as added by
# hand. Sets args, for pmdaproc.sh.
options=$PCP_SYSCONF_DIR/kmmv/options
written=$PCP_PMDAS_DIR/kmmv/options.written

options_setup()
{
	found=$(options_found)
	mkdir -p "${options%/*}"
	[ -f "$options" ] ||
		echo "# Options of pmdakmmv(1) except -d; read by ./Install." \
			>"$options"
	args=$(options_read)
	[ -n "$found" ] && [ "$found" != "$args" ] || return 0
	[ ! -f "$written" ] || [ "$found" != "$(cat "$written")" ] || return 0
	if [ -z "$args" ]; then
		echo "Moved the agent's options, $found, to $options."
		echo "$found" >>"$options"
		args=$found
	else
		echo "Warning: pmcd.conf had the options $found; using those in"
		echo "  $options, $args."
	fi
}

# Those of the agent's line in pmcd.conf.
options_found()
{
	sed -n 's/^kmmv[[:blank:]].*pmdakmmv[[:blank:]]\{1,\}//p' \
		"$PCP_PMCDCONF_PATH" 2>/dev/null |
		sed 's/^-d[[:blank:]]*[0-9]*[[:blank:]]*//'
}

# Call when Install has written the line: until then the last one's options are there.
options_written()
{
	options_found >"$written"
}

options_read()
{
	sed 's/#.*//' "$options" | tr -s '[:space:]' ' ' | sed 's/^ //; s/ $//'
}

# Remove the file only if it has no options.
options_remove()
{
	rm -f "$written"
	[ -f "$options" ] || return 0
	if [ -z "$(options_read)" ]; then
		rm -f "$options"
		rmdir "${options%/*}" 2>/dev/null
	else
		echo "Keeping $options."
	fi
	return 0
}

# Compile help beside its place, and rename it: an agent that runs has help all the
# time, and one that is started has all of it. Compiled help of the same text stays.
help_setup()
{
	sed "s/^@ $SYMDOM\./@ $domain./" help >"$tmp/help" &&
		newhelp -n root -o "$tmp/help" <"$tmp/help" || return
	for part in dir pag; do
		cmp -s "$tmp/help.$part" help.$part && continue
		cp "$tmp/help.$part" help.$part.new &&
			mv help.$part.new help.$part || return
	done
}

# pmcd builds the name space when it first starts; pmdaproc.sh fails without it.
pmns_setup()
{
	[ -f "$NAMESPACE" ] && return
	echo "Building the Performance Metrics Name Space, as pmcd has not run yet ..."
	(cd "$PMNSDIR" && ./Rebuild -us)
}

# Wait until the agent has a value, which it has even without a device:
# pmdaproc.sh counts metrics, but accepts none. There are many tries, as a
# machine may be slow to start the agent. pmcd gives up an agent that does not
# answer within 3 s, and starts it again on SIGHUP.
values_check()
{
	tries=60
	until pminfo -f kmmv.control.state 2>/dev/null | grep -q value; do
		tries=$((tries - 1))
		if [ $tries -eq 0 ]; then
			values_explain
			return 1
		fi
		[ $((tries % 20)) -ne 0 ] ||
			pmsignal -a -s HUP pmcd >/dev/null 2>&1
		pmsleep 1
	done
}

values_explain()
{
	if pminfo -f pmcd.version 2>/dev/null | grep -q value; then
		echo "Error: pmcd has no values of the agent, which failed to start or timed"
		echo "  out. See kmmv.log and pmcd.log in $PCP_LOG_DIR/pmcd, and run"
	else
		echo "Error: pmcd does not answer, so the agent cannot be checked. See"
		echo "  pmcd.log in $PCP_LOG_DIR/pmcd, start pmcd, and run"
	fi
	echo "  ./Install again."
}

log_remove()
{
	rm -f "$PCP_LOG_DIR/pmcd/kmmv.log" "$PCP_LOG_DIR/pmcd/kmmv.log.prev"
}

numbers_remove()
{
	rm -f "$PCP_VAR_DIR/config/pmda/$domain".*
}
