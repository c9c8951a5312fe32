#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Interrupts go with their device and come back: the counts of all their lives add
# up, none is lost or another interrupt's.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/stat.sh
. qa/vm/stat.sh

driver=/sys/bus/pci/drivers/virtio-pci

# pci_of DRIVER: the PCI function below the virtio device
pci_of()
{
	local dev

	for dev in /sys/bus/virtio/drivers/"$1"/virtio*; do
		dev=$(readlink -f "$dev")
		basename "${dev%/virtio*}"
	done | head -n 1
}

# irq_of ACTION: the number, as /proc/interrupts has it
irq_of()
{
	awk -v action="$1" '$NF == action { sub(":", "", $1); print $1 }' \
		/proc/interrupts
}

# proc_total IRQ
proc_total()
{
	awk -v irq="$1:" '$1 == irq {
		for (i = 2; $i ~ /^[0-9]+$/; i++) sum += $i; print sum }' \
		/proc/interrupts
}

label()
{
	values stat.irq "$1" | awk '{ print $NF }'
}

interrupt_rng()
{
	dd if=/dev/hwrng of=/dev/null bs=64 count=20 2>/dev/null
}

rng=$(pci_of virtio_rng)
net=$(pci_of virtio_net)
note "rng: PCI function $rng, net: $net"

ok "the modules load" load
interrupt_rng
virtio=$(basename "$(readlink -f $driver/"$rng"/virtio*)")
irq=$(irq_of "$virtio-input")
note "$virtio-input is IRQ $irq, $(proc_total "$irq") interrupts"
is "the label of an interrupt is its action" "$(label "$irq")" "$virtio-input"
low=$(proc_total "$irq")
now=$(total stat.irq "$irq")
high=$(proc_total "$irq")
note "$low <= $now <= $high"
ok "the count of an interrupt is the kernel's" \
	test "$low" -le "$now" -a "$now" -le "$high"

# These interrupts come after the last copy before the device goes, and count.
interrupt_rng
begun=$SECONDS
last=$(proc_total "$irq")
echo "$rng" >$driver/unbind
took=$((SECONDS - begun))
is "the interrupt of an unbound device is gone from /proc" "$(proc_total "$irq")" ""
is "the interrupt of an unbound device is inactive" "$(state stat.irq "$irq")" inactive
gone=$(total stat.irq "$irq")
note "last seen in /proc: $last, kept: $gone, $took s later"
ok "counts after the last copy are kept when the device goes" test "$gone" -ge "$last"
# The kernel may go on to read the device until it is gone.
ok "no counts are invented when the device goes" \
	test "$gone" -le $((last + 5 + 5 * took))

echo "$rng" >$driver/bind
interrupt_rng
new=$(irq_of "$virtio-input")
is "a device bound again gets its interrupt back" "$new" "$irq"
is "the interrupt of a device bound again is active" "$(state stat.irq "$irq")" active
is "the label of an interrupt that came back is its action" \
	"$(label "$irq")" "$virtio-input"
low=$((gone + $(proc_total "$irq")))
now=$(total stat.irq "$irq")
high=$((gone + $(proc_total "$irq")))
note "$low <= $now <= $high"
ok "the counts of both lives of an interrupt add up" \
	test "$low" -le "$now" -a "$now" -le "$high"

# The number goes to another device.
echo "$rng" >$driver/unbind
echo "$net" >$driver/unbind
before=$(total stat.irq "$irq")
echo "$net" >$driver/bind
owner=$(awk -v irq="$irq:" '$1 == irq { print $NF }' /proc/interrupts)
note "IRQ $irq is now $owner"
echo "$rng" >$driver/bind
is "the label of a number used again is the new owner's" "$(label "$irq")" \
	"$(awk -v irq="$irq:" '$1 == irq { print $NF }' /proc/interrupts)"
ok "the count of a number used again does not fall" \
	test "$(total stat.irq "$irq")" -ge "$before"

# Many times, with a reader that watches.
times=0 status=0
while [ $times -lt 3 ]; do
	$check watch 8 >>"$WORK/watch" 2>&1 &
	watcher=$!
	while kill -0 $watcher 2>/dev/null; do
		echo "$rng" >$driver/unbind
		echo "$rng" >$driver/bind
		interrupt_rng
		times=$((times + 1))
	done
	wait $watcher || status=$?
	[ $status = 0 ] || break
done
is "no value falls while devices come and go" $status 0
note "$times times; $(cat "$WORK/watch")"
is "no interrupt is left out" "$(total stat.failed irq)" 0
note "went back: $($check dump stat.resets | awk '{ print $1, $3 }' | xargs)"
is "no new interrupt is taken for an old one" "$(total stat.resets irq)" 0
ok "the modules unload" unload

# Descriptors that the module held are released: their numbers can be used again.
ok "the modules load anew" load
ok "values agree with /proc after a new load" $check bracket 3
finish
