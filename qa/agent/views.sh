#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# The shipped views beside PCP's views of the same archive: the pixels of each
# colour are compared.

# shellcheck source=qa/tap.sh
. qa/tap.sh

command -v pmchart >/dev/null || skip_all "no pmchart: qa/setup check"
work=$(mktemp -d) || bail "no directory"
trap 'rm -rf "$work"' EXIT
export PCP_DERIVED_CONFIG=$PWD/pmda/site/derived.conf
export QT_QPA_PLATFORM=offscreen HOME=$work XDG_RUNTIME_DIR=$work
gcc -Wall -Wextra -Werror -o "$work/views" qa/agent/views.c \
	-lpcp_import -lpcp || bail "does not build"
"$work/views" "$work/archive" && "$work/views" "$work/without" none ||
	bail "no archives"

# chart ARCHIVE VIEW FILE: draw 60 s of it. The pmtime that pmchart starts does not
# end with it; it is found by their session.
chart()
{
	local status

	setsid -w sh -c 'echo $$ >"$0" && exec timeout 300 pmchart "$@"' \
		"$work/session" -a "$work/$1" -c "$2" -o "$work/$3" -g 600x500 \
		-t 1 -z -O -1 -s 60 -v 60 >"$work/said" 2>&1
	status=$?
	pkill -s "$(cat "$work/session")"
	return "$status"
}

# share FILE COLOUR...: each colour's share of the pixels of these, in per cent
share()
{
	python3 - "$@" <<'P'
import sys
head, size, _, pixels = open(sys.argv[1], "rb").read().split(b"\n", 3)
colours = [bytes.fromhex(c) for c in sys.argv[2:]]
count = dict.fromkeys(colours, 0)
for i in range(0, len(pixels) - 2, 3):
    pixel = pixels[i:i + 3]
    if pixel in count:
        count[pixel] += 1
total = sum(count.values()) or 1
print(*(round(100 * count[c] / total) for c in colours))
P
}

# idle first; then the colours that both views have
colours="16d816 2d2de2 e71717 c2f3c2 cdcd00 e88f00 00cdcd fba2f5"
cp pmda/site/Kmmv.pmchart "$work/Kmmv"
ok "PCP's view of CPU time" chart archive CPU pcp.ppm
ok "kmmv's" chart archive "$work/Kmmv" kmmv.ppm
# shellcheck disable=SC2086 # colours
read -r idle user system _ < <(share "$work/kmmv.ppm" $colours)
# shellcheck disable=SC2086 # colours
read -r pcp_idle pcp_user pcp_system _ < <(share "$work/pcp.ppm" $colours)
note "idle, user, system: kmmv $idle $user $system," \
	"PCP $pcp_idle $pcp_user $pcp_system, archive 77 10 6"
for pair in "$idle $pcp_idle idle" "$user $pcp_user user" \
		"$system $pcp_system system" "$idle 77 idle-of-archive"; do
	read -r a b what <<<"$pair"
	ok "$what within 3 % of the machine" test $((a - b)) -le 3 -a \
		$((b - a)) -le 3
done

# 5000 a second, wherever the axis begins.
like "softirqs have an axis that goes to where they are" \
	"$(cat "$work/Kmmv")" "style stacking"

# pmchart reports each missing metric, optional or not, and waits in pmquery(1),
# unless it is told to write a file.
PCP_STDERR=$work/told ok "a view of metrics that are not there" \
	chart without "$work/Kmmv" none.ppm
like "is told of where PCP_STDERR says" "$(cat "$work/told")" \
	"kmmv.value.stat.cpu: Unknown metric name"

# ---- views of each part

# Each chart by itself: pmchart 6.0.3 with -o scales the axis of the last one only, in
# its window it scales all of them.
qa/agent/machine.py archive "$work/machine" -p net.out.drops/eth0=7,0,0,0 \
	ring.lost=0,2,0,0 || bail "no archive"

# part VIEW N: the view's chart N alone
part()
{
	{
		printf '#kmchart\nversion 1\n\n'
		awk -v n="$2" '/^chart / { at++ } at == n' "pmda/site/$1.pmchart"
	} >"$work/$1.$2"
}

# drawn NAME VIEW N SHARE...: of the colours that pmchart gives plots, in that order
drawn()
{
	local name=$1 view=$2 n=$3 got differ
	local cycle=(ffff00 0000ff ff0000 008000 ee82ee aa5500)

	shift 3
	part "$view" "$n"
	ok "$name" chart machine "$work/$view.$n" part.ppm
	read -ra got < <(share "$work/part.ppm" "${cycle[@]:0:$#}")
	differ=$(paste <(printf '%s\n' "${got[@]}") <(printf '%s\n' "$@") |
		awk '{ d = $1 - $2; if (d < -4 || d > 4) print }')
	is "$name: shares within 4 % of the archive's, $*" "$differ" ""
}
drawn "interrupts" KmmvIrq 1 36 3 1 9 9 43
drawn "reads by the time they took" KmmvDisk 3 73 9 9 7 1 1
drawn "writes by the time they took" KmmvDisk 4 53 7 7 27 3 3
drawn "bytes received" KmmvNet 1 5 95
drawn "bytes sent" KmmvNet 2 20 80
drawn "packets dropped" KmmvNet 3 0 59 0 41
# 22, 8, 6 and 4 per cent
drawn "CPUs in user" KmmvCPU 1 55 20 15 10
drawn "CPUs in system" KmmvCPU 2 50 25 17 8
drawn "events written" KmmvRing 1 25 25 25 25
is "every chart has the host in its title" \
	"$(grep -h '^chart' pmda/site/*.pmchart | grep -vc '\[%h\]')" 0
is "every plot is optional" \
	"$(grep -h '^	' pmda/site/*.pmchart | grep -vc '^	optional-plot ')" 0
for view in pmda/site/*.pmchart; do
	sed -n 's/.* metric \([^ ]*\) .*/\1/p' "$view" | sort -u |
		while read -r metric; do
			pminfo -a "$work/machine" "$metric" >/dev/null || echo "$metric"
		done
done >"$work/unknown"
is "every metric of a view exists" "$(cat "$work/unknown")" ""

# pmrep's module may be installed for the system's python only.
rep=$(/usr/bin/python3 "$(command -v pmrep)" -a "$work/archive" \
	-c pmda/site/pmrep.kmmv -t 10 -s 3 :kmmv-cpu 2>&1 | sed 's/ \{1,\}/ /g')
like "pmrep has percentages" "$rep" \
	" 10.00 2.00 6.00 2.00 1.00 1.00 1.00 77.00$"
is "no process is left of them" "$(pgrep -r R,S,D -s "$(cat "$work/session")")" ""
finish
