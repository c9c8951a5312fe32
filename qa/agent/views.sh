#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# The shipped views beside PCP's views of the same archive: the pixels of each
# colour are compared.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh

command -v pmchart >/dev/null || skip_all "no pmchart: qa/setup check"
work=$(mktemp -d) || bail "no directory"
trap 'rm -rf "$work"' EXIT
# shellcheck source=qa/agent/chart
. qa/agent/chart
gcc -Wall -Wextra -Werror -o "$work/views" qa/agent/views.c \
	-lpcp_import -lpcp || bail "does not build"
"$work/views" "$work/archive" && "$work/views" "$work/without" none ||
	bail "no archives"

# share FILE COLOUR...: each colour's share of the pixels of these, in per cent
share()
{
	qa/agent/picture.py share "$@"
}

# idle first; then the colours that both views have
colours="16d816 2d2de2 e71717 c2f3c2 cdcd00 e88f00 00cdcd fba2f5"
cp pmda/site/Kmmv.pmchart "$work/Kmmv"
ok "pmchart draws PCP's view of CPU time" chart archive CPU pcp.ppm
ok "pmchart draws kmmv's view of CPU time" chart archive "$work/Kmmv" kmmv.ppm
# shellcheck disable=SC2086 # colours
read -r idle user system _ < <(share "$work/kmmv.ppm" $colours)
# shellcheck disable=SC2086 # colours
read -r pcp_idle pcp_user pcp_system _ < <(share "$work/pcp.ppm" $colours)
note "idle, user, system: kmmv $idle $user $system," \
	"PCP $pcp_idle $pcp_user $pcp_system, archive 77 10 6"
for pair in "$idle $pcp_idle idle" "$user $pcp_user user" \
		"$system $pcp_system system" "$idle 77 idle-of-archive"; do
	read -r a b what <<<"$pair"
	ok "$what is drawn within 3 % of what is expected" test $((a - b)) -le 3 -a \
		$((b - a)) -le 3
done

# 5000 a second, wherever the axis begins.
like "a chart of kmmv's view is stacked" \
	"$(cat "$work/Kmmv")" "style stacking"

# pmchart reports each missing metric, optional or not, and waits in pmquery(1),
# unless it is told to write a file.
PCP_STDERR=$work/told ok "pmchart draws a view of metrics that are not there" \
	chart without "$work/Kmmv" none.ppm
like "pmchart tells of missing metrics where PCP_STDERR says" "$(cat "$work/told")" \
	"kmmv.value.stat.cpu: Unknown metric name"

# ---- views of each part

qa/agent/machine.py archive "$work/machine" -p net.out.drops/eth0=7,0,0,0 \
	ring.lost=0,2,0,0 || bail "no archive"

cycle=(ffff00 0000ff ff0000 008000 ee82ee aa5500)
# drawn NAME VIEW N SHARE...: of the colours that pmchart gives plots, in that order
drawn()
{
	local name=$1 view=$2 n=$3 got differ

	shift 3
	part "$view" "$n"
	ok "$name: pmchart draws the chart" chart machine "$work/$view.$n" part.ppm
	read -ra got < <(share "$work/part.ppm" "${cycle[@]:0:$#}")
	differ=$(paste <(printf '%s\n' "${got[@]}") <(printf '%s\n' "$@") |
		awk '{ d = $1 - $2; if (d < -4 || d > 4) print }')
	is "$name: shares are within 4 % of the archive's, $*" "$differ" ""
}
drawn "interrupts" KmmvIrq 1 36 3 1 9 9 43
drawn "reads by the time they took" KmmvDisk 3 9 73 9 1 7 1
drawn "writes by the time they took" KmmvDisk 4 7 53 7 3 27 3
drawn "bytes received" KmmvNet 1 5 95
drawn "bytes sent" KmmvNet 2 20 80
drawn "packets dropped" KmmvNet 3 0 59 0 41
# 22, 8, 6 and 4 per cent
drawn "CPUs in user" KmmvCPU 1 55 20 15 10
drawn "CPUs in system" KmmvCPU 2 50 25 17 8
drawn "events written" KmmvRing 1 25 25 25 25
drawn "samples of the kernel by function" KmmvProfile 2 27 21 15 12 9 15
drawn "samples by command" KmmvProfile 3 40 22 19 9 11
drawn "samples by file" KmmvProfile 4 41 26 17 9 2 5
part KmmvProfile 1
ok "samples of the CPUs: pmchart draws the chart" \
	chart machine "$work/KmmvProfile.1" part.ppm
read -r idle user system < <(share "$work/part.ppm" 16d816 2d2de2 e71717)
ok "samples of the CPUs: idle has its share, $idle %" \
	test "$idle" -ge 77 -a "$idle" -le 83
ok "samples of the CPUs: user and system, $user %, $system %" \
	test "$user" -ge 9 -a "$user" -le 15 -a \
	"$system" -ge 5 -a "$system" -le 11
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
# A cause that is not drawn is a loss that is not seen.
is "every loss of a ring is drawn" "$(grep -o 'kmmv.ring.\(lost\|dropped[.a-z_]*\)' \
	pmda/site/KmmvRing.pmchart | sort -u)" "$(pminfo -a "$work/machine" kmmv.ring |
	grep -x 'kmmv.ring.\(lost\|dropped[.a-z_]*\)' | sort -u)"
is "every metric of a view exists" "$(cat "$work/unknown")" ""

# ---- pictures of the README

mkdir "$work/pictures"
ok "the pictures of README.md are drawn again" qa/agent/pictures "$work/pictures"
is "the pictures drawn again are those of README.md" \
	"$(cd "$work/pictures" && echo *.png)" \
	"$(cd help/pictures && echo *.png)"
for picture in help/pictures/*.png; do
	# shellcheck disable=SC2086 # colours
	is "${picture##*/} is as it is drawn again" \
		"$(qa/agent/picture.py differ "$picture" \
		"$work/pictures/${picture##*/}" $colours "${cycle[@]}" 2>&1)" ""
	is "README.md shows ${picture##*/}" \
		"$(grep -o "]($picture)" README.md)" "]($picture)"
done

# pmrep's module may be installed for the system's python only.
rep=$(/usr/bin/python3 "$(command -v pmrep)" -a "$work/archive" \
	-c pmda/site/pmrep.kmmv -t 10 -s 3 :kmmv-cpu 2>&1 | sed 's/ \{1,\}/ /g')
like "pmrep :kmmv-cpu has percentages" "$rep" \
	" 10.00 2.00 6.00 2.00 1.00 1.00 1.00 77.00$"
# One that was told to end takes its time.
# shellcheck disable=SC2317 # called by wait_for
none_left()
{
	! pgrep -r R,S,D -s "$(cat "$work/session")" >/dev/null
}
ok "no process of pmchart is left" wait_for 20 none_left
finish
