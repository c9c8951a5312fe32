#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# A view of pmchart on a display, live: what its window shows while a device counts.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/agent/env
. qa/agent/env
# shellcheck source=qa/agent/ring
. qa/agent/ring

for tool in Xvfb pmchart; do
	command -v $tool >/dev/null || skip_all "no $tool: qa/setup check"
done
pmcd_pid='' x_pid='' chart_pid='' count_pid=
# shellcheck disable=SC2317 # called by the trap
end_all()
{
	# shellcheck disable=SC2086 # none is none
	kill $count_pid $chart_pid $x_pid $pmcd_pid $live_pid 2>/dev/null
	rm -rf "$work"
}
trap end_all EXIT

# at SECONDS: the machine as it is then
at()
{
	mkdir -p "$work/next"
	qa/agent/machine.py area "$1" | sed "s/^set epoch/set gen $1\n&/" |
		qa/agent/area.py "$work/next" || bail "no machine"
	serve_next "$work"
}

qa/agent/machine.py area 1000 | area
live
pmcd_start || bail "no pmcd"
# The display's contents are a file, in the format of xwd(1). pmchart reports that this
# pmcd has no timezone, and would wait until the message is read.
mkdir "$work/display"
Xvfb -displayfd 5 -screen 0 700x600x24 -fbdir "$work/display" -nolisten tcp \
	5>"$work/number" >"$work/x.log" 2>&1 &
x_pid=$!
ok "Xvfb has a display" wait_for 60 test -s "$work/number"
DISPLAY=:$(cat "$work/number") QT_QPA_PLATFORM=xcb HOME=$work XDG_RUNTIME_DIR=$work \
	PCP_STDERR=$work/told pmchart -h "unix:$work/pmcd.socket" \
	-c "$PWD/pmda/site/Kmmv.pmchart" -t 1 -s 8 -v 8 >"$work/said" 2>&1 &
chart_pid=$!

# share COLOUR...: of what was on the display
share()
{
	qa/agent/picture.py share "$work/picture" "$@"
}

# The legend has as much of each colour, so that they come near the machine's shares, 77,
# 10 and 6 of 100, only when there are bars; the time that is drawn grows at each second.
(t=1000; while :; do at $((t += 1)); done) &
count_pid=$!
# shellcheck disable=SC2317 # called by wait_for
drawn()
{
	cp "$work/display/Xvfb_screen0" "$work/picture"
	{
		share 16d816 2d2de2 e71717
		share ffff00 0000ff ff0000
	} >"$work/shares"
	read_shares && [ "$idle" -ge 74 ] && in_order && irqs_in_order
}
read_shares()
{
	{
		read -r idle user system && read -r timer net_rx net_tx
	} <"$work/shares"
}
in_order()
{
	[ "$idle" -gt "$user" ] && [ "$user" -gt "$system" ] && [ "$system" -gt 0 ]
}
irqs_in_order()
{
	[ "$net_rx" -gt "$timer" ] && [ "$timer" -gt "$net_tx" ]
}
ok "the CPUs' time is drawn while it is counted" wait_for 20 drawn
read_shares
note "idle, user, system: $idle $user $system of $((idle + user + system))"
ok "idle, user and system are drawn in the order of their shares" in_order
note "soft interrupts: TIMER $timer, NET_RX $net_rx, NET_TX $net_tx"
ok "soft interrupts are drawn in the order of their shares" irqs_in_order
ok "pmchart still runs" kill -0 $chart_pid
[ -z "${KEEP-}" ] || qa/agent/picture.py join "$KEEP" "$work/picture"
finish
