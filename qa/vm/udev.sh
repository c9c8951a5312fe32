# SPDX-License-Identifier: GPL-2.0-only
#
# udev in the virtual machine, for tests that install; to be sourced after
# qa/harness/tap.sh.

start_udev()
{
	[ -x /lib/systemd/systemd-udevd ] || return
	/lib/systemd/systemd-udevd --daemon 2>/dev/null
	wait_for 10 udevadm control --ping
}

# shellcheck disable=SC2317 # called by wait_for
no_udev()
{
	! pgrep -x systemd-udevd >/dev/null
}

# On exit udevd first empties its queue; a worker has half a minute.
stop_udev()
{
	[ -e /run/udev/control ] || return
	udevadm control --exit
	wait_for 2 no_udev || pkill -KILL -x systemd-udevd
}

# Open the nodes of a module loaded by hand to PCP: by udev, if it runs.
open_nodes()
{
	if [ -e /run/udev/control ]; then
		udevadm settle --timeout=600
	else
		chgrp pcp /dev/kmmv/*
	fi
}
