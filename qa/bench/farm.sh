#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What it takes to record many hosts with kmmv's default configuration, and to load that
# into Redis: [HOSTS="1 10"] [SAMPLES=300] [EACH="500 msec"] qa/bench/farm.sh, as root.
#
# HOSTS pmcds with the agent, on the machine of qa/agent/machine.py, and a real pmlogger
# for each; one pmproxy, one Redis. Samples come faster than in life, so that enough of
# them come, but not so fast that pmproxy takes several at once. CPU time is the kernel's
# account, not the clock's; what pmproxy and Redis take while nothing is recorded is
# measured first and taken off. The first samples, with the metadata, are counted apart.
# It prints what was measured for each of HOSTS, and then a table for pmlogger's interval
# of 60 s, where 100 and 1000 hosts are the largest measurement multiplied.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/agent/proxy
. qa/agent/proxy

command -v redis-server >/dev/null || skip_all "no redis-server"
machine_apart "$0" "$@"

rounds=${HOSTS:-1 10} samples=${SAMPLES:-300} each=${EACH:-500 msec}
# A node of a stream is allocated whole, and has up to 100 samples.
first=${FIRST:-110}
sed "/^root {/,/^}/s/pmcd\$/&\nkmmv $domain:*:*/" /usr/lib/pcp/pmns/root_pmcd >/mnt/pmns
qa/agent/machine.py area 1000 >/mnt/machine || bail "no machine"
mkdir -p /mnt/groups/kmmv
for file in pmda/site/pmlogconf.*; do
	cp "$file" "/mnt/groups/kmmv/${file##*.}"
done

# ran PID: nanoseconds of CPU time that it took, all threads
ran()
{
	cat /proc/"$1"/task/*/schedstat 2>/dev/null |
		awk '{ ns += $1 } END { printf "%d\n", ns }'
}

resident()
{
	awk '/^VmRSS/ { print $2 }' "/proc/$1/status"
}

# shellcheck disable=SC2317 # called by wait_for
answers()
{
	pminfo -h "localhost:$1" -f kmmv.control.state >/dev/null 2>&1
}

# host NUMBER: pmcd and agent, at port 45000 + NUMBER
host()
{
	local where=/mnt/h$1 port=$((45000 + $1))

	mkdir -p "$where/numbers"
	qa/agent/area.py "$where/dev" </mnt/machine || bail "no area"
	cat >"$where/pmcd.conf" <<-E2
	pmcd 2 dso pmcd_init /var/lib/pcp/pmdas/pmcd/pmda_pmcd.so
	kmmv $domain pipe binary $PWD/build/pmdakmmv -d $domain -U root -f $where/dev -l $where/kmmv.log
	E2
	# shellcheck disable=SC2016 # the other shell's
	unshare --uts --mount bash -c '
		hostname "h$1"
		mount --bind "/mnt/h$1/numbers" /var/lib/pcp/config/pmda
		exec pmcd -f -A -U root -p "$2" -n /mnt/pmns -c "/mnt/h$1/pmcd.conf" \
			-s "/mnt/h$1/pmcd.socket" -l "/mnt/h$1/pmcd.log"
	' bash "$1" "$port" >"$where/out" 2>&1 &
	wait_for 60 answers "$port" ||
		bail "no host $1" "$(cat "$where/pmcd.log")"
}

# shellcheck disable=SC2317 # called by wait_for
proxy_answers()
{
	web series/sources 'match=*' | grep -q '^\['
}

# The series of kmmv.control.attached, one for each host, and how many have N samples.
loaded()
{
	local ids id n=0

	ids=$(web series/query expr=kmmv.control.attached | grep -o '[0-9a-f]\{40\}')
	for id in $ids; do
		[ "$(redis-cli xlen "pcp:values:series:$id")" -lt "$1" ] || n=$((n + 1))
	done
	[ "$n" -eq "$hosts" ]
}

# account: sets log_ns, log_bytes, proxy_ns, redis_ns, keys
account()
{
	local pid

	log_ns=0
	for pid in "${loggers[@]}"; do
		log_ns=$((log_ns + $(ran "$pid")))
	done
	log_bytes=$(cat /var/log/pcp/pmlogger/h*/*.0 | wc -c)
	proxy_ns=$(ran "$proxy")
	redis_ns=$(ran "$redis")
	keys=$(redis-cli info memory | sed -n 's/^used_memory:\([0-9]*\).*/\1/p')
}

# measure HOSTS: a line in /mnt/measured
measure()
{
	local i count n meta values empty redis proxy loggers=() before at
	# In nanoseconds of CPU time a millisecond
	local proxy_idle redis_idle

	hosts=$1
	rm -rf /var/log/pcp/pmlogger/*
	redis-server --bind 127.0.0.1 --save '' --dir /mnt >/mnt/redis.log 2>&1 &
	redis=$!
	wait_for 60 keys_answer || bail "$(cat /mnt/redis.log)"
	for ((i = 1; i <= hosts; i++)); do
		install -d -o pcp -g pcp /var/log/pcp/pmlogger/h$i
	done
	pmproxy -f -t -i 127.0.0.1 -s /mnt/pmproxy.socket -l /mnt/pmproxy.log \
		>/mnt/pmproxy.out 2>&1 &
	proxy=$!
	wait_for 60 proxy_answers || bail "$(cat /mnt/pmproxy.log)"
	sleep 5
	at=$(date +%s%N) proxy_ns=$(ran "$proxy") redis_ns=$(ran "$redis")
	sleep 20
	at=$(($(date +%s%N) - at))
	proxy_idle=$(((($(ran "$proxy") - proxy_ns) * 1000000) / at))
	redis_idle=$(((($(ran "$redis") - redis_ns) * 1000000) / at))
	empty=$(redis-cli info memory | sed -n 's/^used_memory:\([0-9]*\).*/\1/p')
	for ((i = 1; i <= hosts; i++)); do
		pmlogger -h localhost:$((45000 + i)) -c /mnt/config -l /mnt/h$i/pmlogger.log \
			/var/log/pcp/pmlogger/h$i/20380119 >"/mnt/h$i/pmlogger.out" 2>&1 &
		loggers+=($!)
	done
	wait_for 600 loaded "$first" || bail "$(cat /mnt/h1/pmlogger.log /mnt/pmproxy.log)"
	account
	before=("$log_ns" "$log_bytes" "$proxy_ns" "$redis_ns" "$keys" "$(redis_samples)")
	at=$(date +%s%N)
	wait_for 600 loaded $((first + samples)) || bail "pmproxy does not load all"
	account
	at=$((($(date +%s%N) - at) / 1000000))
	count=$(($(redis_samples) - before[5]))
	local log_kb proxy_kb=0
	log_kb=$(resident "${loggers[0]}")
	proxy_kb=$(resident "$proxy")
	kill "${loggers[@]}"
	wait "${loggers[@]}" 2>/dev/null
	# What a sample takes in the archive: of all of them.
	values=$(pmdumplog /var/log/pcp/pmlogger/h1/20380119 kmmv |
		awk '/^ .*value / { n++ } END { print n }')
	n=$(pmdumplog /var/log/pcp/pmlogger/h1/20380119 kmmv.control.attached |
		grep -c 'value 1')
	values=$((values / n))
	meta=$(stat -c %s /var/log/pcp/pmlogger/h1/20380119.meta)
	awk -v OFS='\t' -v hosts="$hosts" -v values="$values" -v n="$count" -v meta="$meta" \
		-v each=$(($(stat -c %s /var/log/pcp/pmlogger/h1/20380119.0) / n)) \
		-v bytes=$((log_bytes - before[1])) -v log_ns=$((log_ns - before[0])) \
		-v proxy=$((proxy_ns - before[2] - at * proxy_idle)) \
		-v redis=$((redis_ns - before[3] - at * redis_idle)) \
		-v proxy_idle=$proxy_idle -v redis_idle=$redis_idle \
		-v keys=$((keys - before[4])) -v all=$((keys - empty)) \
		-v total="$(redis_samples)" -v log_kb="$log_kb" -v proxy_kb="$proxy_kb" 'BEGIN {
		recorded = bytes / each
		key = keys / n
		print hosts, values, each, meta, int(key), int((all - key * total) / hosts),
			log_ns / recorded / 1e6, proxy / n / 1e6, redis / n / 1e6,
			log_kb, proxy_kb, proxy_idle, redis_idle
	}' >>/mnt/measured
	kill "$proxy" "$redis"
	wait "$proxy" "$redis" 2>/dev/null
}

# How many samples Redis has, of all hosts.
redis_samples()
{
	local id n=0

	for id in $(web series/query expr=kmmv.control.attached | grep -o '[0-9a-f]\{40\}'); do
		n=$((n + $(redis-cli xlen "pcp:values:series:$id")))
	done
	echo "$n"
}

most=0
for n in $rounds; do
	[ "$n" -le "$most" ] || most=$n
done
for ((i = 1; i <= most; i++)); do
	host $i
done
pmlogconf -c -d /mnt/groups -h localhost:45001 /mnt/default >/dev/null ||
	bail "no configuration"
sed "s/ on default/ on $each/" /mnt/default >/mnt/config
for n in $rounds; do
	echo "farm: $n hosts, $samples samples of each" >&2
	measure "$n"
done

cat <<E
Measured, with $samples samples of each host; bytes are of a value, CPU time is of a host's
sample, in us:

E
awk -F'\t' 'BEGIN {
	print "| hosts | values | archive | its metadata | keys | their metadata" \
		" | pmlogger | pmproxy | Redis |"
	print "|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
}
{
	printf "| %d | %d | %.1f | %d | %.1f | %d | %d | %d | %d |\n", $1, $2, $3 / $2,
		$4 / $2, $5 / $2, $6 / $2, $7 * 1000, $8 * 1000, $9 * 1000
}' /mnt/measured
cat <<E

By itself, $(sort -n /mnt/measured | awk -F'\t' 'END {
	printf "pmproxy takes %.1f s of CPU time an hour, Redis %.1f s.\n", $12 * 3.6e-3,
		$13 * 3.6e-3
	printf "A pmlogger has %.1f MB resident.", $10 / 1024
}')

At an interval of 60 s: MB on disk a day, MB of keys of the metadata, of a day, and of the
8640 samples that pmproxy keeps; seconds of CPU time an hour; MB resident:

E
sort -n /mnt/measured | awk -F'\t' '
function row(hosts, how) {
	day = 1440 * hosts
	hour = 60 * hosts
	printf "| %d | %s | %.1f | %.1f | %.1f | %.1f | %.2f | %.2f | %.2f | %d |\n", hosts,
		how, (day * $3 + hosts * $4) / 1e6, hosts * $6 / 1e6, day * $5 / 1e6,
		8640 * hosts * $5 / 1e6, hour * $7 / 1e3,
		hour * $8 / 1e3 + $12 * 3.6e-3, hour * $9 / 1e3 + $13 * 3.6e-3,
		($11 + (hosts - $1) * grows) / 1024
}
BEGIN {
	print "| hosts | | archives | keys: metadata | a day | at most | pmloggers" \
		" | pmproxy | Redis | pmproxy, MB |"
	print "|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|"
}
NR == 1 {
	few = $1
	small = $11
}
{
	grows = $1 > few ? ($11 - small) / ($1 - few) : $11 / $1
	row($1, "measured")
}
END {
	row(100, "extrapolated")
	row(1000, "extrapolated")
}'
