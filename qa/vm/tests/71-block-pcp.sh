#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# Disks through pmcd: metrics with their help, an archive while disks come and go, in
# which nothing falls and no instance has another's number, and a name that returns.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/agent.sh
. qa/vm/agent.sh
# shellcheck source=qa/vm/block.sh
. qa/vm/block.sh

rounds=8
[ "${KMMV_SOAK:-0}" = 0 ] || rounds=200
metric=kmmv.value.block.dev.write_bytes

# Of agent.sh again, block.sh has others.
# shellcheck disable=SC2317 # called by the trap
unload()
{
	local name

	for name in kmmv_block kmmv_stat kmmv_client kmmv; do
		[ ! -e "/sys/module/$name" ] || rmmod "$name" || return
	done
}

value()
{
	pminfo -f "$1" | sed -n "s/^ *inst \\[[0-9]* or \"$2\"\\] value //p"
}

# shellcheck disable=SC2317 # called by the trap
end_all()
{
	for name in qa0 qa1 qa2; do
		end_null "$name"
	done
	clean_up
	modprobe -r null_blk
}
trap end_all EXIT

# shellcheck disable=SC2317 # called by wait_for
has()
{
	[ -n "$(id "$metric" "$1")" ]
}

# shellcheck disable=SC2317 # called by wait_for
has_not()
{
	[ -z "$(id "$metric" "$1")" ]
}

# shellcheck disable=SC2317 # called by wait_for
shows()
{
	[ "$(value "$1" "$2")" = "$3" ]
}

# NAME VALUE of the archive, which may still grow.
series()
{
	pmdumplog "$WORK/archive" "$metric" 2>/dev/null |
		sed -n 's/.*or "\(.*\)"\] value \([0-9]*\)$/\1 \2/p'
}

# logged NAME VALUE: the archive has it
# shellcheck disable=SC2317 # called by wait_for
logged()
{
	series | grep -qx "$1 $2"
}

# in_histogram NUMBER: so many writes are in that of the disk
# shellcheck disable=SC2317 # called by wait_for
in_histogram()
{
	[ "$(histogram)" = "$1" ]
}

histogram()
{
	pminfo -f kmmv.value.block.latency.write |
		awk '/"'"$disk"'\// { sum += $NF } END { print sum + 0 }'
}

# shellcheck disable=SC2317 # called by wait_for
storm_logged()
{
	pmdumplog "$WORK/storm" $metric 2>/dev/null | grep -q "or \"$other\"\]"
}

# come_until_logged: once more, as long as pmlogger has missed each of its lives
# shellcheck disable=SC2317 # called by wait_for
come_until_logged()
{
	storm_logged || {
		rounds=1 come_and_go qa1
		storm_logged
	}
}

write_64k()
{
	dd if=/dev/zero of="/dev/$1" bs=64k count=1 oflag=direct 2>/dev/null
}

modprobe null_blk nr_devices=0
start_udev
ok "./Install succeeds" installs
ok "the agent reads the device" wait_for 20 has_values
ok "./Install installs kmmv_block" modprobe kmmv_block
new_null qa0 || bail "no null_blk"
disk=$(null_disk qa0)
ok "a disk is an instance" wait_for 20 has "$disk"
write_64k "$disk"
wait_for 20 shows "$metric" "$disk" 65536
is "PCP has the bytes written to a disk" "$(value "$metric" "$disk")" 65536
like "a metric has its family's semantics and units" \
	"$(pminfo -d "$metric")" "Semantics: counter  Units: byte"
like "a metric has its family's one-line help" \
	"$(pminfo -t "$metric")" "\\[Bytes of writes, by disk\\]"
like "a metric has its family's help" \
	"$(pminfo -T "$metric")" "Bytes of completed parts of requests"
like "requests in flight have instant semantics" \
	"$(pminfo -d kmmv.value.block.dev.inflight)" \
	"Semantics: instant"
like "times have nanoseconds as their unit" \
	"$(pminfo -d kmmv.value.block.dev.write_rawactive)" \
	"Units: nanosec"
# Its bucket has no instance before it has counted.
wait_for 20 in_histogram 1
is "the histogram has one write" "$(histogram)" 1
is "each family of block has a metric" "$(pminfo kmmv.value.block | wc -l)" \
	"$(build/kmmvdump | grep -c '^family block\.')"
is "each metric has one-line help" "$(pminfo -t kmmv.value.block | grep -vc '\[.*\]')" 0
like "metrics have fixed numbers" "$(pminfo -m kmmv.value.block.dev.read \
	kmmv.value.block.partitions.read | xargs)" \
	'389\.32\.0 .*389\.160\.0$'

cat >"$WORK/config" <<-EOF
	log mandatory on 200 msec {
		kmmv.value.block
	}
EOF
pmlogger -c "$WORK/config" -l "$WORK/log" "$WORK/archive" &
logger=$!
for ((i = 1; i <= rounds; i++)); do
	new_null qa1
	other=$(null_disk qa1)
	wait_for 20 has "$other" || break
	[ $i -gt 1 ] || first=$(id "$metric" "$other")
	write_64k "$disk"
	write_64k "$other"
	wait_for 20 shows "$metric" "$other" $((i * 65536)) || break
	[ "$(id "$metric" "$other")" = "$first" ] || break
	# After that no value is logged any more.
	[ $i -lt $rounds ] || wait_for 20 logged "$other" $((i * 65536)) || break
	end_null qa1
	wait_for 20 has_not "$other" || break
done
is "a disk that returns has its number and goes on, each time" \
	$i $((rounds + 1))
ok "kmmv_block unloads under pmcd and pmlogger" rmmod kmmv_block
ok "the disk is no instance without kmmv_block" wait_for 20 has_not "$disk"
ok "kmmv_block loads under pmcd and pmlogger" modprobe kmmv_block
ok "the disk is an instance again" wait_for 20 has "$disk"
is "the disk has its count again" "$(value "$metric" "$disk")" $(((rounds + 1) * 65536))
write_64k "$disk"
wait_for 20 logged "$disk" $(((rounds + 2) * 65536)) || note "the last value was not logged"
kill $logger
wait $logger
is "pmlogcheck has nothing to say of the archive" \
	"$(pmlogcheck "$WORK/archive" 2>&1)" ""
is "no value falls in the archive" "$(falls "$WORK/archive" kmmv.value.block.dev.read \
	$metric kmmv.value.block.latency.write)" ""
is "the archive has both disks to the end" "$(series | awk '{ last[$1] = $2 }
	END { for (name in last) print name, last[name] }' | sort | xargs)" \
	"$disk $(((rounds + 2) * 65536)) $other $((rounds * 65536))"

# ---- a storm of disks, with readers and pmlogger

end_null qa1
pmlogger -c "$WORK/config" -l "$WORK/log" "$WORK/storm" &
logger=$!
ok "pmlogger has begun to record the storm" wait_for 60 recorded "$WORK/storm"
$check watch "$WORK/watched" >"$WORK/watch" 2>&1 &
watcher=$!
storms=
for name in qa1 qa2; do
	come_and_go $name &
	storms="$storms $!"
done
# shellcheck disable=SC2086 # a list
wait $storms
wait_for 20 come_until_logged
touch "$WORK/watched"
wait $watcher
is "no value falls, no number changes its name" \
	"$? $(grep -v ' rounds, ' "$WORK/watch")" "0 "
kill $logger
wait $logger
is "pmlogcheck has nothing to say of the storm's archive" \
	"$(pmlogcheck "$WORK/storm" 2>&1)" ""
is "no value falls in the storm's archive" "$(falls "$WORK/storm" \
	kmmv.value.block.dev.{read,write,write_bytes,read_bytes} \
	kmmv.value.block.partitions.read kmmv.value.block.latency.{read,write})" ""
like "the storm's archive has a disk of the storm" \
	"$(pmdumplog "$WORK/storm" $metric)" "or \"$other\"\\]"
ok "./Remove --purge succeeds" sh -c './Remove --purge </dev/null'
finish
