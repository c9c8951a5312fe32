#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# timeout: 7200
# machine: DISK=2048 MEM=1G
#
# kmmvctl on a real kernel: its BTF, kmmv_trace.ko, modules that come and go. The ten
# sets of the example file, each seen to count; counts that the test knows are exact.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/block.sh
. qa/vm/block.sh
# shellcheck source=qa/vm/trace.sh
. qa/vm/trace.sh
# shellcheck source=qa/vm/udev.sh
. qa/vm/udev.sh

counts_values || skip_all "machine: of 32 bits, kmmv_trace counts hits alone"
ctl=build/kmmvctl

# shellcheck disable=SC2317 # called by the trap
ctl_end()
{
	echo 0 >/proc/sys/vm/nr_hugepages
	echo 0 >/proc/sys/kernel/sched_schedstats
	ip link delete kmmvqa0 2>/dev/null
	rmdir /sys/fs/cgroup/kmmv-qa 2>/dev/null
	stop_udev
	unload
	end_null qa0
	modprobe -r null_blk virtio_blk 2>/dev/null
	rm -rf /run/kmmvctl /etc/kmmv
}
trap ctl_end EXIT

# says NAME PATTERN ARGUMENT...: kmmvctl fails, and says why
says()
{
	local name=$1 pattern=$2 text status

	shift 2
	text=$($ctl "$@" 2>&1 >/dev/null)
	status=$?
	is "$name: kmmvctl fails" $status 1
	like "$name: kmmvctl says why" "$text" "$pattern"
}

# count NAME [INSTANCE]: the count of an instance, or of all
count()
{
	values "$1" | awk -v i="${2-}" '{ n = $NF; sub(/ [0-9]+$/, "") }
		i == "" || $0 == i { s += n } END { print s + 0 }'
}

# counts NAME [INSTANCE]: has it counted?
# shellcheck disable=SC2317 # called by wait_for
counts()
{
	[ "$(count "$@")" -gt 0 ]
}

# python CODE: on standard input, too
python()
{
	python3 -c "$@"
}

modprobe virtio_blk
says "no module" 'modprobe kmmv_trace' list
ok "the modules load" load
is "list has no counter at first" "$($ctl list)" ""

# ---- the ten sets

ok "check accepts the example file" $ctl check lib/kmmvctl/trace.conf
ok "apply takes the example file" $ctl apply lib/kmmvctl/trace.conf
note "$($ctl list)"
sections=$(grep -c '^\[' lib/kmmvctl/trace.conf)
is "all counters of the example file are on" \
	"$($ctl list | awk '$2 == "on"' | wc -l)" "$sections"
is "apply leaves all counters when run again" \
	"$($ctl apply -v lib/kmmvctl/trace.conf | grep -c '^leave')" "$sections"

echo 1 >/proc/sys/kernel/sched_schedstats
ok "1. waits for a CPU are counted" wait_for 20 counts sched.wait
ok "2. CPU time is counted" wait_for 20 counts sched.runtime
ln -s "$(command -v taskset)" "$WORK/kmmv-qa-move"
# shellcheck disable=SC2317 # called by wait_for
moves()
{
	local i

	for i in 1 2 3 4 5; do
		"$WORK/kmmv-qa-move" -c $((i % 2)) true
	done
	counts sched.migrations
}
ok "2. moves between CPUs are counted" wait_for 20 moves

dd if=/dev/vda of=/dev/null bs=1M count=16 2>/dev/null
ok "5. pages added to the page cache are counted" counts pagecache.added bdev
blockdev --flushbufs /dev/vda
ok "5. pages removed from the page cache are counted" counts pagecache.removed bdev

# More than there is: what is cached is reclaimed, and the rest compacted.
# shellcheck disable=SC2317 # called by wait_for
pressure()
{
	dd if=/dev/vda of=/dev/null bs=1M 2>/dev/null
	echo 4000 >/proc/sys/vm/nr_hugepages
	echo 0 >/proc/sys/vm/nr_hugepages
	counts reclaim.direct && counts compaction && counts reclaim.kswapd &&
		counts reclaim.pages
}
ok "3. reclaim and 4. compaction are counted" wait_for 120 pressure
for name in reclaim.direct reclaim.pages reclaim.kswapd compaction; do
	note "$name: $(values $name | xargs)"
done
ok "4. compaction is counted by order" counts compaction 9

ip link add kmmvqa0 type dummy
ip address add 10.9.9.1/24 dev kmmvqa0
ip link set kmmvqa0 arp off up
ip link set lo up
python '
import socket
for i in range(7):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("127.0.0.1", 34568))
    s.connect_ex(("127.0.0.1", 1))
    s.close()
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(20):
    s.sendto(b"x", ("127.0.0.1", 1))
'
is "6. resets of TCP are counted by port" "$(count tcp.resets 34568)" 7
# Not by the function: kill would end its shell, and leave the sender.
python3 -c '
import socket
s = socket.socket()
s.bind(("10.9.9.1", 34567))
s.settimeout(600)
try:
    s.connect(("10.9.9.2", 1))
except OSError:
    pass
' &
sends=$!
ok "6. segments of TCP sent again are counted" wait_for 60 counts tcp.retransmits 34567
kill $sends
wait $sends 2>/dev/null
ok "7. dropped packets are counted" test "$(count net.drops)" -ge 20

ln -s /bin/true "$WORK/kmmv-qa-exec"
ln -s /bin/bash "$WORK/kmmv-qa-fork"
for ((i = 0; i < 30; i++)); do "$WORK/kmmv-qa-exec"; done
is "8. execs of processes are counted" "$(count process.execs kmmv-qa-exec)" 30
is "8. exits of processes are counted" "$(count process.exits kmmv-qa-exec)" 30
"$WORK/kmmv-qa-fork" -c 'for ((i = 0; i < 25; i++)); do (:); done; :'
is "8. forks of processes are counted" "$(count process.forks kmmv-qa-fork)" 25

# An unsigned module taints the kernel with 12, each time.
before=$(count trouble.taints 12)
insmod qa/client/kmmv_traced.ko
is "9. taints are counted" "$(($(count trouble.taints 12) - before))" 1
printf 'Call Trace:\nRIP: 0033\n' >>"$KMSG_EXPECT"
mkdir /sys/fs/cgroup/kmmv-qa
echo +memory >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null
if [ -e /sys/fs/cgroup/kmmv-qa/memory.max ]; then
	echo 30M >/sys/fs/cgroup/kmmv-qa/memory.max
	# shellcheck disable=SC2016 # for that shell
	sh -c 'echo $$ >/sys/fs/cgroup/kmmv-qa/cgroup.procs
		exec python3 -c "x = bytearray(200 << 20)"' 2>/dev/null
	is "9. kills for want of memory are counted" "$(count trouble.oom)" 1
else
	skip "9. kills for want of memory are counted" "machine: no memory cgroup"
fi
ok "10. soft interrupts raised are counted" wait_for 20 counts softirq.raised
ok "10. soft interrupts run are counted" wait_for 20 counts softirq.run

ok "apply --prune takes an empty file" $ctl apply --prune /dev/null
is "list has no counter after apply --prune" "$($ctl list)" ""
is "no function is traced after apply --prune" "$(handlers)" 0

# ---- values against what a program did

ok "add makes a counter of bytes by file" \
	$ctl add bytes function=vfs_write value=count \
	'key=file->f_path.dentry->d_name.name' units=byte max_keys=1000
ok "add makes a histogram by file" \
	$ctl add sizes function=vfs_write 'value=log2 count' \
	'key=file->f_path.dentry->d_name.name' max_keys=1000
dd if=/dev/zero of="$WORK/kmmv-qa-file" bs=1000 count=77 2>/dev/null
is "bytes of a file are summed" "$(count bytes kmmv-qa-file)" 77000
is "writes of a file are in their bucket" "$(count sizes kmmv-qa-file/512)" 77
ok "add makes a counter with an event" \
	$ctl add starts tracepoint=sched/sched_process_exec \
	'event=default p->pid, old_pid, name=p->comm' 'key=p->comm' max_keys=1000
"$WORK/kmmv-qa-exec" &
pid=$!
wait $pid
# Other programs begin meanwhile, too.
like "a start of a program leaves an event" \
	"$(timeout 600 build/kmmvdump -x -R default -N "$(get starts hits)")" \
	"trace\\.starts.*$pid.*kmmv-qa-exec"
export_text=$($ctl export)
note "$export_text"
like "export has the user's words" "$export_text" \
	'^key = file->f_path.dentry->d_name.name$'
ok "remove takes two counters" $ctl remove bytes sizes
printf '%s\n' "$export_text" >"$WORK/again.conf"
ok "apply takes what was exported" $ctl apply "$WORK/again.conf"
dd if=/dev/zero of="$WORK/kmmv-qa-file" bs=1000 count=1 2>/dev/null
is "counts of exported counters go on" "$(count bytes kmmv-qa-file)" 78000
ok "remove takes three counters" $ctl remove bytes sizes starts

# ---- refusals

says "a typo" 'near: sched_switch' add x tracepoint=sched/sched_swich key=preempt
says "a field that is no argument" 'next_pid is a field of the trace event' \
	add x tracepoint=sched/sched_switch key=next_pid
says "another system" 'there is sched/sched_switch' add x tracepoint=shed/sched_switch
says "no function" 'not among the functions that can be traced' \
	add x function=kmmv_qa_nothing
says "a function that is not to be traced" 'not among the functions' \
	add x function=rcu_nmi_enter
says "a glob too wide" 'x: enable: .*max_functions' add x 'function=*_read*'
says "the arguments of a module without BTF" 'load the module first' \
	add x tracepoint=kmmv_qa/kmmv_traced key=number
is "list has no counter after refusals" "$($ctl list)" ""
ok "add makes a counter of a module's tracepoint" \
	$ctl add x tracepoint=kmmv_qa/kmmv_traced
hit tp 12
is "hits of a module's tracepoint are counted" "$(count x)" 12
ok "remove takes the counter of a module's tracepoint" $ctl remove x
like "describe shows a member behind an argument" \
	"$($ctl describe sched/sched_switch)" \
	'^  next->comm +char\[16\] +arg2@[0-9]+:16t'

# ---- a module's, which goes and comes back

# null_blk has a tracepoint for the states of zones. scsi_debug, for scsi_mod's, is not
# used: Linux 7.2 can not load it three times.
come()
{
	modprobe null_blk nr_devices=0
}

# shellcheck disable=SC2317 # called by wait_for
goes()
{
	end_null qa0
	# A program that looks at a new disk may still have it open.
	modprobe -r null_blk 2>/dev/null
	[ ! -e /sys/module/null_blk ]
}

# reset_zones N: of the disk qa0, which is made; each is a hit. Its name is in a file.
# shellcheck disable=SC2317 # called by ok
reset_zones()
{
	new_null qa0 zoned=1 zone_size=4 && null_disk qa0 >"$WORK/disk" &&
		python '
import fcntl, os, struct, sys
disk = os.open("/dev/" + sys.argv[1], os.O_RDWR)
BLKRESETZONE = 0x40101283
fcntl.ioctl(disk, BLKRESETZONE, struct.pack("QQ", 0, int(sys.argv[2]) << 13))
' "$(cat "$WORK/disk")" "$1"
}

states()
{
	$ctl list | awk '{ print $1, $2 }' | xargs
}

# shellcheck disable=SC2317 # called by wait_for
both_on()
{
	[ "$(states)" = "zones.by on zones.hits on" ]
}

cat >"$WORK/module.conf" <<'F'
[zones.hits]
tracepoint = nullb/nullb_zone_op

[zones.by]
tracepoint = nullb/nullb_zone_op
key = cmd->nq->dev->nullb->disk_name
F
ok "null_blk is not loaded" goes
text=$($ctl apply "$WORK/module.conf" 2>&1)
is "apply has status 3 without null_blk" $? 3
like "apply says which tracepoint is not there" "$text" 'zones.by: no tracepoint'
is "the counter of hits waits for null_blk" "$(states)" "zones.hits waiting"
come
ok "apply succeeds with null_blk" $ctl apply "$WORK/module.conf"
is "both counters are on with null_blk" "$(states)" "zones.by on zones.hits on"
ok "zones are reset" reset_zones 3
is "resets of zones are counted by disk" "$(count zones.by "$(cat "$WORK/disk")")" 3
ok "null_blk unloads while counters are on" wait_for 20 goes
note "$($ctl list)"
is "counts by disk add up to the hits" \
	"$(count zones.by "$(cat "$WORK/disk")")" "$(count zones.hits)"
come
is "the counter by disk is stale when null_blk is back" "$(get zones.by state)" stale
is "apply resolves the counter that is stale" \
	"$($ctl apply -v "$WORK/module.conf" | sort | xargs)" \
	"leave zones.hits resolve zones.by"
is "both counters are on again after apply" "$(states)" "zones.by on zones.hits on"
ok "zones are reset when null_blk is back" reset_zones 4
is "resets of zones are counted on after apply" \
	"$(count zones.by "$(cat "$WORK/disk")")" 7
$ctl remove zones.by zones.hits
ok "null_blk unloads when counters are removed" wait_for 20 goes

# ---- the service and the rule

# command_of KEY: what the service does, of what was built
command_of()
{
	sed -n "s|^$1=@BINDIR@|build|p" lib/kmmvctl/kmmv-trace.service.in
}

mkdir -p /etc/kmmv /run/udev/rules.d
cp "$WORK/module.conf" /etc/kmmv/trace.conf
rule=$(sed -n 's|.*RUN+="@BINDIR@\(.*\)"|build\1|p' lib/kmmvctl/kmmv-trace.rules.in)
start=$(command_of ExecStart)
reload=$(command_of ExecReload)
$rule
is "the rule does nothing before the service" "$($ctl list)" ""
$start
is "the service without null_blk has the counter of hits wait" \
	"$? $(states)" "3 zones.hits waiting"
like "the service's unit takes status 3 as success" \
	"$(sed -n 's/^SuccessExitStatus=//p' \
	lib/kmmvctl/kmmv-trace.service.in)" '^3$'
come
$rule
is "the rule with null_blk has both counters on" \
	"$? $(states)" "0 zones.by on zones.hits on"
ok "null_blk unloads after the rule" goes
come
$rule
is "the rule has both counters on when null_blk is back" \
	"$(states)" "zones.by on zones.hits on"
ok "null_blk unloads after the second rule" goes

sed "s|@BINDIR@|$PWD/build|" lib/kmmvctl/kmmv-trace.rules.in \
	>/run/udev/rules.d/90-kmmv-trace.rules
if start_udev; then
	is "both counters wait before udev's rule" \
		"$(states)" "zones.by waiting zones.hits waiting"
	come
	ok "udev applies the file" wait_for 20 both_on
	ok "zones are reset after udev's rule" reset_zones 5
	is "counters that udev applied count" \
		"$(count zones.by "$(cat "$WORK/disk")")" 12
	ok "null_blk unloads after udev's rule" wait_for 20 goes
	stop_udev
else
	skip "udev applies the file" "machine: no udevd"
fi
rm -r /run/udev/rules.d
rm /etc/kmmv/trace.conf
is "reload removes all counters when the file is gone" "$($reload | sort | xargs)" \
	"remove zones.by remove zones.hits"
is "list has no counter after reload" "$($ctl list)" ""
ok "null_blk unloads after reload" wait_for 20 goes

ok "the modules unload" unload
ok "the modules load again" load
ok "apply takes what was exported before a load" $ctl apply "$WORK/again.conf"
is "exported counters are on after a load" "$($ctl list | awk '$2 == "on"' | wc -l)" 3
ok "remove takes three counters after a load" $ctl remove bytes sizes starts
ok "the modules unload after another load" unload
is "no handler is left" "$(handlers)" 0
finish
