# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For tests that change the system: in namespaces of their own, over a copy of its
# files that vanishes with them. To be sourced after qa/tap.sh:
#
#	go_apart "$0" "$@"		start again in namespaces, as root there
#	cover DIR...			these are copies from here on; and lo is up

go_apart()
{
	local apart=(unshare --mount --pid --net --fork --mount-proc)

	[ "${2-}" != apart ] || return 0
	[ "$(id -u)" -eq 0 ] || skip_all "machine: needs root, for namespaces"
	"${apart[@]}" true 2>/dev/null || skip_all "machine: no namespaces here"
	exec "${apart[@]}" bash "$1" apart
}

cover()
{
	local dir

	mount -t tmpfs none /mnt || skip_all "machine: no tmpfs in namespaces"
	for dir; do
		mkdir -p "/mnt/upper/$dir" "/mnt/workdir/$dir"
		mount -t overlay none -o "lowerdir=/$dir,upperdir=/mnt/upper/$dir,\
workdir=/mnt/workdir/$dir" "/$dir" ||
			skip_all "machine: no overlays in namespaces"
	done
	ip link set lo up
}

# As after the installation of the packages, and no module can be loaded: the
# message of modprobe.
new_system()
{
	rm -rf /var/lib/pcp/pmns/root /run/systemd
	unset KMMV_DEVICE_DIR
	export PCPQA_SYSTEMD=no
	modprobe=$(command -v modprobe || echo /usr/sbin/modprobe)
	rm -f "$modprobe"
	refuse "$1"
}

refuse()
{
	printf '#!/bin/sh\necho "modprobe: ERROR: could not insert: %s" >&2\nexit 1\n' \
		"$1" >"$modprobe"
	chmod 755 "$modprobe"
}
