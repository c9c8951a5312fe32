#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# The agent through ./Install again, modules loaded anew beneath it, a restart,
# ./Remove --purge and ./Remove again.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/agent.sh
. qa/vm/agent.sh

before=$(files)
install_agent
make_sda
loaded() { sed -n 's/^\(kmmv[^ ]*\) .*/\1/p' /proc/modules | sort | xargs; }
ok "./Install again, where it was installed" installs /var/lib/pcp/pmdas/kmmv
is "is one agent" "$(grep -c '^kmmv[[:space:]]' /etc/pcp/pmcd/pmcd.conf)" 1
wait_for 20 agents 1
is "and one process" "$(pgrep -c -x pmdakmmv)" 1
ok "it reads the device again" wait_for 20 has_values
is "values are what they were" "$(value "$metric" sda)" 3003

# ---- what holds the module, and a reload

not_ok "rmmod is refused while a client counts" rmmod kmmv
rmmod kmmv_client
rmmod kmmv_stat
not_ok "rmmod is refused while the agent reads" rmmod kmmv
ok "the agent has not noticed" has_values
epoch=$(value kmmv.control.epoch "")
sda=$(id "$metric" sda)
ok "pmstore has it let go" pmstore kmmv.control.attach 0
like "it says so" "$(pminfo -f kmmv.control.state)" '"detached"'
ok "now the module goes" rmmod kmmv
ok "the agent still answers" pminfo -f kmmv.control.state
modprobe kmmv
open_nodes
load_client
call "family 1|byte|qa.other|Another family comes first|" >/dev/null
id_of_family=$(make_family)
call "addin $id_of_family in front" >/dev/null
a=$(call "addin $id_of_family sda")
call "adjust softirq 1 $a 50" >/dev/null
like "it does not attach by itself" "$(pminfo -f kmmv.control.state)" \
	'"detached"'
ok "pmstore has it attach again" pmstore kmmv.control.attach 1
ok "it does" wait_for 20 has_values
is "udev gave the node to group pcp" "$(stat -c %G /dev/kmmv/counters)" pcp
ok "to another epoch" test "$(value kmmv.control.epoch "")" != "$epoch"
is "a counter goes on from where it was" "$(value "$metric" sda)" 3053
is "under its number" "$(id "$metric" sda)" "$sda"

# ---- the agent dies

agent=$(pgrep -x pmdakmmv)
kill -9 "$agent"
# shellcheck disable=SC2317 # called by wait_for
restarted()
{
	has_values && [ "$(pgrep -x pmdakmmv)" != "$agent" ]
}
ok "pmcd starts another" wait_for 90 restarted
is "with the same numbers" "$(id "$metric" sda)" "$sda"
like "and values" "$(value "$metric" sda)" "^[0-9]+$"
rmmod kmmv_client
not_ok "rmmod is refused again" rmmod kmmv

# ---- modules that others use, and others' modules

modprobe -a kmmv_stat kmmv_block
ok "./Remove while another source is loaded" sh -c './Remove </dev/null'
like "it says which" "$tap_text" "^  kmmv_block\.$"
is "it unloads nothing" "$(loaded)" "kmmv kmmv_block kmmv_stat"
is "group pcp has no access any more" "$(stat -c %G:%a /dev/kmmv/counters)" root:440
ok "./Install after that" installs
ok "the agent reads the device" wait_for 20 has_values
is "with the same numbers" "$(id "$metric" sda)" "$sda"
rmmod kmmv_block
build/kmmvdump --follow >"$WORK/follow" 2>&1 &
follower=$!
has_ring() { [ -n "$(find "/proc/$1/fd" -lname '/dev/kmmv/ring/*' 2>/dev/null)" ]; }
ok "a program follows a ring" wait_for 20 has_ring $follower
ok "./Remove while it does" sh -c './Remove </dev/null'
like "it says so" "$tap_text" "^  a program\.$"
like "and what to do then" "$tap_text" "^  Once it is not: rmmod kmmv_stat kmmv$"
is "it unloads nothing" "$(loaded)" "kmmv kmmv_stat"
kill $follower
wait $follower 2>/dev/null
ok "which unloads them, though their files are gone" rmmod kmmv_stat kmmv
is "to the last" "$(loaded)" ""
ok "./Install where they are gone" installs
ok "the agent reads the device" wait_for 20 has_values
mkdir /sys/kernel/config/kmmv/rings/mine
ok "./Remove while there is a ring of a user" sh -c './Remove </dev/null'
like "it says which" "$tap_text" \
	"^  a program or a ring \(rmdir /sys/kernel/config/kmmv/rings/mine\)\.$"
is "it unloads nothing" "$(loaded)" "kmmv kmmv_stat"
rmdir /sys/kernel/config/kmmv/rings/mine
ok "nothing else holds them" rmmod kmmv_stat kmmv
ok "./Install once more" installs
is "loads them again" "$(loaded)" "kmmv kmmv_stat"

# ---- modules that cannot be unloaded: their files are gone, or one is in use again

is "group pcp has access" "$(stat -c %G:%a /dev/kmmv/counters)" pcp:440
mkdir "$WORK/stub"
cat >"$WORK/stub/modprobe" <<E
#!/bin/sh
[ "\$1" = -r ] || exec $(command -v modprobe) "\$@"
echo "modprobe: FATAL: Module \$2 not found." >&2
exit 1
E
chmod 755 "$WORK/stub/modprobe"
# pcp.env puts /usr/sbin first, unless it is there.
ok "./Remove where modprobe -r fails" env PATH="$WORK/stub:/usr/sbin:$PATH" \
	sh -c './Remove </dev/null'
like "it says so of one" "$tap_text" "module kmmv_stat cannot be unloaded: .*not found"
like "and of the other" "$tap_text" "module kmmv cannot be unloaded: .*not found"
is "they stay loaded" "$(loaded)" "kmmv kmmv_stat"
is "but group pcp has no access" "$(stat -c %G:%a /dev/kmmv/counters)" root:440
ok "they can be unloaded" rmmod kmmv_stat kmmv
ok "./Install after that" installs
is "loads them once more" "$(loaded)" "kmmv kmmv_stat"

# ---- removal

ok "./Remove --purge" sh -c './Remove --purge </dev/null'
note "$tap_text"
ok "the module is gone" test ! -d /sys/module/kmmv
is_as_before "$before"
ok "pmcd still answers" pminfo -f pmcd.numagents
ok "./Remove again does no harm" sh -c './Remove </dev/null'
finish
