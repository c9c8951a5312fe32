#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The properties of the machine that the other tests rely on.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/clock.sh
. qa/vm/clock.sh

plan 14

is "the kernel is the one asked for" "$(uname -r)" "$KVER"
is "the test runs as root" "$(id -u)" 0
is "the test runs in the checkout" "$(pwd -P)" "$TOP"
ok "/kmmv is the checkout" test /kmmv/qa/harness/tap.sh -ef qa/harness/tap.sh
is "all CPUs are online" "$(cat /sys/devices/system/cpu/online)" \
	"$(cat /sys/devices/system/cpu/present)"
ok "debugfs has the directory tracing" test -d /sys/kernel/debug/tracing
ok "configfs is mounted" mountpoint -q /sys/kernel/config
ok "lo has an IPv6 address" grep -q lo /proc/net/if_inet6
ok "/etc can be written to" sh -c ': >/etc/kmmv-scratch && rm /etc/kmmv-scratch'
ok "the folder for results can be written to" sh -c ": >$OUT/scratch && rm $OUT/scratch"
is "PCP knows nothing of kmmv" "$(grep -c '^kmmv' /etc/pcp/pmcd/pmcd.conf)" 0

clock stable

# A check that leaves the modules out finds nothing in them.
config=/lib/modules/$KVER/build/.config
[ -e "$config" ] || bail "no $config"
unchecked=$(for check in KASAN=__asan_ UBSAN=__ubsan_ KCSAN=__tsan_; do
	grep -q "^CONFIG_${check%=*}=y" "$config" || continue
	for module in kmod/*.ko; do
		nm "$module" | grep -q " U ${check#*=}" || echo "$module: no ${check%=*}"
	done
done)
is "the modules have this kernel's checks" "$unchecked" ""

before=$(awk '/NMI:/ { print $2 }' /proc/interrupts)
# A host that stands still may lose what it was asked: again after each 30 s.
# shellcheck disable=SC2317 # called by wait_for
nmi_came()
{
	[ $SECONDS -lt $again ] || { qa/vm/host nmi; again=$((SECONDS + 30)); }
	[ "$(awk '/NMI:/ { print $2 }' /proc/interrupts)" -gt "$before" ]
}
if qa/vm/host nmi; then
	again=$((SECONDS + 30))
	ok "the host sends an NMI" wait_for 10 nmi_came
else
	skip "the host sends an NMI" "machine: it has none"
fi

finish
