#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the pages show of archives, run as it is printed, on archives of simulated
# machines; vm/80-examples and vm/81-pages run what needs the modules.

# shellcheck source=qa/tap.sh
. qa/tap.sh
# shellcheck source=qa/shown
. qa/shown

command -v mandoc >/dev/null || skip_all "no mandoc: qa/setup check"
work=$(mktemp -d) || bail "no directory"
trap 'rm -rf "$work"' EXIT
chmod 700 "$work"
export LC_ALL=C PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=$work
export PCP_DERIVED_CONFIG=

for page in $pages; do
	ok "$page has examples" test "$(examples "$page" | commands | wc -l)" -gt 0
done
examples pcp-kmmv.1 | commands >"$work/commands"
is "those of archives are found" "$(on_archive <"$work/commands" | wc -l)" \
	"$(wc -l <"$work/commands")"

# ---- pcp-kmmv(1): a day of a machine

mkdir -p "$work/.pcp/bin" "$work/log/pmlogger/box"
cp pmda/site/pcp-kmmv "$work/.pcp/bin"
qa/agent/machine.py archive "$work/log/pmlogger/box/20261122" -b 1795305600 -s 86400 \
	-t 600 || bail "no archive"
while read -r command; do
	# shellcheck disable=SC2034 # of the command
	PCP_LOG_DIR=$work/log
	ok "$command" eval "timeout 600 $command"
	is "it shows each ten minutes of the day" \
		"$(grep -c '^box  [0-9:]*  every 600s$' <<<"$tap_text")" 143
	like "with the disks" "$tap_text" '^sda +100 +409\.6k +0\.50 +40 +655\.4k +2\.00 '
done <"$work/commands"

finish
