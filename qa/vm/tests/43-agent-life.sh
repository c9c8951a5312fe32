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
ok "./Install succeeds again, where kmmv was installed" installs /var/lib/pcp/pmdas/kmmv
is "pmcd.conf has one agent" "$(grep -c '^kmmv[[:space:]]' /etc/pcp/pmcd/pmcd.conf)" 1
wait_for 20 agents 1
is "one process of the agent runs" "$(pgrep -c -x pmdakmmv)" 1
ok "the agent reads the device after ./Install again" wait_for 20 has_values
is "values are the same after ./Install again" "$(value "$metric" sda)" 3003

# ---- what holds the module, and a reload

not_ok "rmmod is refused while a client counts" rmmod kmmv
rmmod kmmv_client
rmmod kmmv_stat
not_ok "rmmod is refused while the agent reads" rmmod kmmv
ok "the agent still has values after rmmod is refused" has_values
epoch=$(value kmmv.control.epoch "")
sda=$(id "$metric" sda)
ok "pmstore detaches the agent" pmstore kmmv.control.attach 0
like "a detached agent says so" "$(pminfo -f kmmv.control.state)" '"detached"'
ok "kmmv unloads when the agent is detached" rmmod kmmv
ok "a detached agent still answers" pminfo -f kmmv.control.state
modprobe kmmv
open_nodes
load_client
call "family 1|byte|qa.other|Another family comes first|" >/dev/null
id_of_family=$(make_family)
call "addin $id_of_family in front" >/dev/null
a=$(call "addin $id_of_family sda")
call "adjust softirq 1 $a 50" >/dev/null
like "a detached agent does not attach by itself" "$(pminfo -f kmmv.control.state)" \
	'"detached"'
ok "pmstore attaches the agent again" pmstore kmmv.control.attach 1
ok "an agent that is attached again has values" wait_for 20 has_values
is "udev gave the node to group pcp" "$(stat -c %G /dev/kmmv/counters)" pcp
ok "an agent that is attached again has another epoch" \
	test "$(value kmmv.control.epoch "")" != "$epoch"
is "a counter goes on from where it was before a reload" "$(value "$metric" sda)" 3053
is "an instance keeps its number after a reload" "$(id "$metric" sda)" "$sda"

# ---- the agent dies

agent=$(pgrep -x pmdakmmv)
kill -9 "$agent"
# shellcheck disable=SC2317 # called by wait_for
restarted()
{
	has_values && [ "$(pgrep -x pmdakmmv)" != "$agent" ]
}
ok "pmcd starts another agent when one is killed" wait_for 90 restarted
is "an agent started anew has the same numbers" "$(id "$metric" sda)" "$sda"
like "an agent started anew has values" "$(value "$metric" sda)" "^[0-9]+$"
rmmod kmmv_client
not_ok "rmmod is refused with an agent started anew" rmmod kmmv

# ---- modules that others use, and others' modules

modprobe -a kmmv_stat kmmv_block
ok "./Remove succeeds while another source is loaded" sh -c './Remove </dev/null'
like "./Remove says which other source is loaded" "$tap_text" "^  kmmv_block\.$"
is "./Remove unloads nothing while another source is loaded" \
	"$(loaded)" "kmmv kmmv_block kmmv_stat"
is "group pcp has no access after ./Remove" \
	"$(stat -c %G:%a /dev/kmmv/counters)" root:440
ok "./Install succeeds with another source loaded" installs
ok "the agent reads the device with another source loaded" wait_for 20 has_values
is "an agent installed anew has the same numbers" "$(id "$metric" sda)" "$sda"
rmmod kmmv_block
build/kmmvdump --follow >"$WORK/follow" 2>&1 &
follower=$!
has_ring() { [ -n "$(find "/proc/$1/fd" -lname '/dev/kmmv/ring/*' 2>/dev/null)" ]; }
ok "a program follows a ring" wait_for 20 has_ring $follower
ok "./Remove succeeds while a program follows a ring" sh -c './Remove </dev/null'
like "./Remove says that a program uses the modules" "$tap_text" "^  a program\.$"
like "./Remove says how to unload the modules later" \
	"$tap_text" "^  Once it is not: rmmod kmmv_stat kmmv$"
is "./Remove unloads nothing while a program follows a ring" \
	"$(loaded)" "kmmv kmmv_stat"
kill $follower
wait $follower 2>/dev/null
ok "rmmod unloads the modules when the program has ended" rmmod kmmv_stat kmmv
is "no module of kmmv is loaded after rmmod" "$(loaded)" ""
ok "./Install succeeds where no module is loaded" installs
ok "the agent reads the device of modules loaded anew" wait_for 20 has_values
mkdir /sys/kernel/config/kmmv/rings/mine
ok "./Remove succeeds while a user has a ring" sh -c './Remove </dev/null'
like "./Remove says which ring a user has" "$tap_text" \
	"^  a program or a ring \(rmdir /sys/kernel/config/kmmv/rings/mine\)\.$"
is "./Remove unloads nothing while a user has a ring" "$(loaded)" "kmmv kmmv_stat"
rmdir /sys/kernel/config/kmmv/rings/mine
ok "rmmod unloads the modules when the user's ring is gone" rmmod kmmv_stat kmmv
ok "./Install succeeds after the user's ring is gone" installs
is "./Install loads the modules after the user's ring is gone" \
	"$(loaded)" "kmmv kmmv_stat"

# ---- modules that cannot be unloaded: their files are gone, or one is in use again

is "group pcp has access after ./Install" "$(stat -c %G:%a /dev/kmmv/counters)" pcp:440
mkdir "$WORK/stub"
cat >"$WORK/stub/modprobe" <<E
#!/bin/sh
[ "\$1" = -r ] || exec $(command -v modprobe) "\$@"
echo "modprobe: FATAL: Module \$2 not found." >&2
exit 1
E
chmod 755 "$WORK/stub/modprobe"
# pcp.env puts /usr/sbin first, unless it is there.
ok "./Remove succeeds where modprobe -r fails" env PATH="$WORK/stub:/usr/sbin:$PATH" \
	sh -c './Remove </dev/null'
like "./Remove says that kmmv_stat cannot be unloaded" \
	"$tap_text" "module kmmv_stat cannot be unloaded: .*not found"
like "./Remove says that kmmv cannot be unloaded" \
	"$tap_text" "module kmmv cannot be unloaded: .*not found"
is "the modules stay loaded where modprobe -r fails" "$(loaded)" "kmmv kmmv_stat"
is "group pcp has no access where modprobe -r fails" \
	"$(stat -c %G:%a /dev/kmmv/counters)" root:440
ok "rmmod unloads the modules where modprobe -r fails" rmmod kmmv_stat kmmv
ok "./Install succeeds after modprobe -r has failed" installs
is "./Install loads the modules after modprobe -r has failed" \
	"$(loaded)" "kmmv kmmv_stat"

# ---- removal

ok "./Remove --purge succeeds" sh -c './Remove --purge </dev/null'
note "$tap_text"
ok "the module is gone" test ! -d /sys/module/kmmv
is_as_before "$before"
ok "pmcd still answers" pminfo -f pmcd.numagents
ok "./Remove again does no harm" sh -c './Remove </dev/null'
finish
