#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Nanoseconds per value read, of simulated machines: qa/bench/read.sh
# [CPUS:INSTANCES...].  The areas are mapped, as the device is.  Tab-separated,
# a line of headings first; the columns are build/qa/bench/read's.

set -u
export LC_ALL=C
cd "$(dirname "$0")/../.." || exit 1
[ $# -gt 0 ] || set -- {1,4,16,64,128,256,512,1024,4096}:512 \
	4:{100,1000,10000,16384,100000,1000000} 128:16384

work=$(mktemp -d) || exit 1
producer=
trap 'kill $producer 2>/dev/null; rm -rf "$work"' EXIT

printf 'CPUs\tinstances\tsum\tcold\teach\tcold\tmemcpy\tcold\n'
for shape; do
	rm -rf "${work:?}/dev"
	mkfifo "$work/said" || exit
	# The simulator counts once, then sleeps for an hour.
	build/qa/bench/kmmvsim --cpus "${shape%:*}" --families 1 \
		--instances "${shape#*:}" --live --period-us 3600000000 \
		"$work/dev" >"$work/said" &
	producer=$!
	read -r _ <"$work/said" || exit
	rm "$work/said"
	sleep 0.3
	build/qa/bench/read "$work/dev" || exit
	kill $producer
	wait $producer 2>/dev/null
	producer=
done
