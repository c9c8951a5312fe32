#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
#
# Names come and go in little room: what is displaced, and then forgotten, is counted
# once, no figure falls, and none grows by more than what was sampled.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/profile.sh
. qa/vm/profile.sh

ok "the modules load with room for few names" \
	load top=2 names=16 window_s=1 ring_pages=1024
each_fault
now()
{
	now=("$(stat sample_received)" "$(value command.samples others)"
		"$(value forgotten command)" "$(value error command)")
}
# It becomes one of the two, which takes a window if there are two already.
for ((i = 0; i < 100; i++)); do
	faults was_shown 3000
	n=$(value command.samples was_shown)
	[ "${n:-0}" -lt 3000 ] || break
done
had=$(value command.samples was_shown)
ok "a name is shown: $had" test "$had" -ge 3000
now
falls=0 bursts=0
for ((i = 0; i < 200; i++)); do
	[ -n "$(value command.samples was_shown)" ] || break
	was=("${now[@]}")
	faults "name$i" 300
	now
	for ((j = 0; j < 4; j++)); do
		[ "${now[j]}" -ge "${was[j]}" ] || falls=$((falls + 1))
	done
	[ $((now[1] - was[1])) -le $((now[0] - was[0])) ] || bursts=$((bursts + 1))
done
is "a name that was shown is forgotten" "$(value command.samples was_shown)" ""
ok "what a forgotten name had is kept: ${now[2]}" test "${now[2]}" -ge "$had"
is "no figure falls" $falls 0
is "others never have more than what was sampled" $bursts 0
placed "with names that come and go"
faults was_shown 3000
placed "with a name that comes back"
now
rmdir $config/events/qafault
ok "kmmv_profile unloads" rmmod kmmv_profile
ok "kmmv_profile loads again" insmod kmod/kmmv_profile.ko max_overhead=1000
is "the others have their count after a load" \
	"$(value command.samples others)" "${now[1]}"
placed "when those that were not shown are forgotten"

# ---- what each load has shown is one name of the next one's

for ((i = 0; i < 20; i++)); do
	rmmod kmmv_profile || break
	insmod kmod/kmmv_profile.ko top=2 names=16 max_overhead=1000 || break
	each_fault
	# More than the machine's own programs have meanwhile.
	faults "load$i" 3000
	rmdir $config/events/qafault
done
is "kmmv_profile loads 20 times" $i 20
n=$(build/kmmvdump -a -f profile.command.samples | grep -c '\[".*"\]')
ok "no more names than there is room for, and others: $n" test "$n" -le 17
ok "the name of the last load is one of those shown" \
	test "$(value command.samples load19)" -ge 300
placed "after many loads"
ok "everything unloads" unload
finish
