#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What a fetch costs through a pmcd of its own, by process: kmmv's agent as daemon
# and as DSO, on a simulated area, beside PCP's mmv and linux agents.
# Tab-separated: agent, how it runs, values, then microseconds of CPU time per fetch
# of the client, of pmcd and of the agent, "-" if it is part of pmcd.
#
#	qa/bench/pmcd.sh

set -u
cd "$(dirname "$0")/../.." || exit 1
export LC_ALL=C PATH=/usr/bin:/bin:/usr/sbin:/sbin PCP_DERIVED_CONFIG=
# shellcheck source=/dev/null
. /etc/pcp.conf

dir=$PCP_PMDASADM_DIR names=$PCP_VAR_DIR/pmns
domain=$(sed -n 's/^#define KMMV //p' pmda/domain.h)
work=$(mktemp -d) || exit 1
pmcd=
trap 'kill $pmcd 2>/dev/null; wait; rm -rf "$work"' EXIT
# The agent becomes an ordinary user.
chmod 755 "$work"
mkdir -p "$work"/{var/config/pmda,tmp/mmv,pmdas/kmmv,run,dev}
export PCP_TMP_DIR=$work/tmp PCP_PMDAS_DIR=$work/pmdas PCP_RUN_DIR=$work/run
export PCP_VAR_DIR=$work/var KMMV_DEVICE_DIR=$work/dev

# start AGENT HOW: pmcd with that agent; its process is $pmcd
start()
{
	local lines

	mkdir -p "$work/var/pmns"
	case $1 in
	kmmv)	printf 'root {\n\tkmmv\t%d:*:*\n}\n' "$domain" ;;
	mmv)	printf 'root {\n\tmmv\t70:*:*\n}\n' ;;
	linux)	printf 'root {\n\tmem\n}\nmem {\n\tvmstat\n}\n'
		awk '/^mem\.vmstat {/, /^}/' "$names/root_linux" ;;
	esac >"$work/var/pmns/root"
	case $1-$2 in
	kmmv-daemon) lines="kmmv $domain pipe binary $PWD/build/pmdakmmv -d $domain" ;;
	kmmv-DSO) lines="kmmv $domain dso kmmv_init $PWD/build/pmda_kmmv.so" ;;
	mmv-DSO) lines="mmv 70 dso mmv_init $dir/mmv/pmda_mmv.so" ;;
	mmv-daemon) lines="mmv 70 pipe binary $dir/mmv/pmdammv -d 70" ;;
	linux-daemon) lines="linux 60 pipe binary $dir/linux/pmdalinux" ;;
	linux-DSO) lines="linux 60 dso linux_init $dir/linux/pmda_linux.so" ;;
	esac
	echo "$lines" >"$work/conf"
	"$PCP_BINADM_DIR/pmcd" -f -p 44399 -i 127.0.0.1 -s "$work/socket" -U root \
		-n "$work/var/pmns/root" -c "$work/conf" -l "$work/log" \
		>>"$work/said" 2>&1 &
	pmcd=$!
}

# cost AGENT HOW NAME ROUNDS
cost()
{
	local agent=- line try

	start "$1" "$2"
	for ((try = 100; try; try--)); do
		pmprobe -h "unix:$work/socket" -v "$3" 2>/dev/null |
			grep -q ' [1-9]' && break
		sleep 0.1
	done
	[ "$2" = DSO ] || agent=$(pgrep -P $pmcd)
	# shellcheck disable=SC2086 # words
	if line=$(build/qa/bench/pmcdfetch "unix:$work/socket" "$3" "$4" $pmcd \
			${agent#-} 2>>"$work/said"); then
		awk -F'\t' -v OFS='\t' -v who="$1" -v how="$2" '{
			print who, how, $1, $2 / 1e3, $3 / 1e3,
				$4 == "" ? "-" : $4 / 1e3
		}' <<<"$line"
	else
		cat "$work/said" "$work/log" >&2
		exit 1
	fi
	kill $pmcd
	wait $pmcd 2>/dev/null
	pmcd=
}

for count in 30 1024 16384; do
	rm -rf "${work:?}"/dev "$work/var/config/pmda/"*
	build/qa/bench/kmmvsim --cpus 4 --families 1 --instances $count "$work/dev"
	cost kmmv daemon kmmv.value.sim $((2000000 / (count + 1000)))
	cost kmmv DSO kmmv.value.sim $((2000000 / (count + 1000)))
done
for count in 30 1024; do
	rm -f "$work/tmp/mmv/"* "$work/var/config/pmda/"*
	qa/bench/mmvfile.py bench $count 2>>"$work/said"
	cost mmv daemon mmv.bench.count $((200000 / (count + 1000)))
	cost mmv DSO mmv.bench.count $((200000 / (count + 1000)))
done
cost linux daemon mem.vmstat 500
cost linux DSO mem.vmstat 500
