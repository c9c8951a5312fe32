#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A real pmproxy, which is local and acts for any user: clients get values, but
# cannot store and get no events. In namespaces of its own.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh

# shellcheck source=qa/agent/apart
. qa/agent/apart

[ -x /usr/lib/pcp/bin/pmproxy ] || skip_all "no pmproxy"
command -v curl >/dev/null || skip_all "no curl"
id pcp >/dev/null 2>&1 || skip_all "no user pcp"
[ "${1-}" = apart ] || [ -x build/pmdakmmv ] || make -s lib pmda >/dev/null ||
	bail "does not build"
go_apart "$0" "$@"
# shellcheck source=qa/agent/limits
. qa/agent/limits
cover etc var run
chmod 755 /mnt
rm -rf /run/pcp /var/lib/pcp/config/pmda/389.*
install -d -o pcp -g pcp /run/pcp /var/log/pcp/pmcd /var/log/pcp/pmproxy \
	/var/lib/pcp/config/pmda
unset KMMV_DEVICE_DIR KMMV_RINGS
PATH=$PATH:/usr/lib/pcp/bin
domain=$(sed -n 's/^#define KMMV //p' pmda/domain.h)

# The agent with simulated rings, built by qa/agent/ring.
work=/mnt
pmda_dso='' pmda_daemon=''
# shellcheck source=qa/agent/ring
. qa/agent/ring
{
	echo "family 0 counter count counter Counters"
	echo "inst 0 0 0 active 1,2,3,4 one"
} | qa/agent/area.py /mnt/dev
new_ring default
echo "0 1 1 2 3 4" >/mnt/dev/sim/default.stats
chown -R pcp /mnt/dev/sim
mkdir -p /var/lib/pcp/pmns /etc/pcp/kmmv
sed "/^root {/,/^}/s/pmcd\$/&\nkmmv $domain:*:*/" \
	/usr/lib/pcp/pmns/root_pmcd >/mnt/pmns
cat >/mnt/pmcd.conf <<E2
pmcd 2 dso pmcd_init /var/lib/pcp/pmdas/pmcd/pmda_pmcd.so
kmmv $domain pipe binary $pmda_daemon -d $domain -f /mnt/dev -l /var/log/pcp/pmcd/kmmv.log
E2
# A setting that a careless administrator might write.
printf 'pcp\n%s\n' "$(id -u pcp)" >/etc/pcp/kmmv/users

pmcd -f -t 600 -q 600 -n /mnt/pmns -c /mnt/pmcd.conf -l /mnt/pmcd.log \
	>/mnt/pmcd.out 2>&1 &
ok "pmcd runs" wait_for 60 pminfo -f kmmv.control.state
ok "root may store" pmstore kmmv.control.max_age 50
# events_of UID: what a user may have of them; none have come yet
events_of()
{
	setpriv --reuid "$1" --regid 65534 --clear-groups \
		pminfo -f kmmv.ring.records 2>&1 |
		grep -o -e 'No permission' -e 'No value(s) available'
}
is "root may have events" "$(events_of 0)" "No value(s) available"
echo "latecomer # whom nobody knows" >>/etc/pcp/kmmv/users
is "a user of the file who is unknown has no events" "$(events_of 4713)" "No permission"
echo "latecomer:x:4713:65534::/:/bin/sh" >>/etc/passwd
is "a user of the file has events once /etc/passwd knows him" \
	"$(events_of 4713)" "No value(s) available"
sed -i /latecomer/d /etc/passwd
is "a user of the file has no events once he is unknown again" \
	"$(events_of 4713)" "No permission"

# The configuration as it is shipped, without a key server.
sed -i -e 's/^\(servers\|enabled\) *=.*/#&/' /etc/pcp/pmproxy/pmproxy.conf

# served USER PORT HOST...: what any client gets from a pmproxy run by USER
served()
{
	local user=$1 port=$2 host context

	shift 2
	setpriv --reuid "$user" --regid "$user" --init-groups pmproxy -f -t \
		-p "$port" -s "/mnt/proxy/$port.socket" -i 127.0.0.1 \
		-l "/mnt/proxy/$port" >"/mnt/proxy/$port.out" 2>&1 &
	url=http://127.0.0.1:$port/pmapi
	ok "pmproxy runs as $user, port $port" wait_for 60 serves ||
		bail "$(web "context?hostspec=localhost")" "$(cat "/mnt/proxy/$port")"
	for host; do
		# Without this a context ends after 5 s without a request.
		context=$(web "context?hostspec=$host&polltimeout=600" |
			sed -n 's/.*"context":\([0-9]*\).*/\1/p')
		like "port $port, $host: a value is served" \
			"$(web "$context/fetch?names=kmmv.value.counter")" \
			'"value":10'
		like "port $port, $host: a client may not detach the agent" \
			"$(web "$context/store?name=kmmv.control.attach&value=0")" \
			'No permission'
		like "port $port, $host: a client may not set the maximum age" \
			"$(web "$context/store?name=kmmv.control.max_age&value=0")" \
			'No permission'
		like "port $port, $host: a client may not set the queue's limit" \
			"$(web "$context/store?name=kmmv.ring.queue.limit&value=1")" \
			'No permission'
		web "$context/fetch?names=kmmv.ring.records" >/mnt/records
		like "port $port, $host: a client may ask for events" \
			"$(cat /mnt/records)" \
			'"name":"kmmv.ring.records"'
		not_ok "port $port, $host: a client has no events" \
			grep -q '"instances":\[{' /mnt/records
	done
}
# web PATH: pmproxy's answer to a client without a name
web()
{
	setpriv --reuid 65534 --regid 65534 --clear-groups \
		curl -s -m 600 "$url/$1"
}
# shellcheck disable=SC2317 # called by wait_for
serves()
{
	web "context?hostspec=localhost" | grep -q '"context"'
}
mkdir -m 1777 /mnt/proxy
: >/mnt/dev/sim/default.log
served pcp 44322 localhost local: unix: 127.0.0.1
served root 44323 localhost local:
# Whose process the agent cannot look at may be a pmproxy.
for hide in 1 2; do
	mount -t proc -o hidepid=$hide none /proc || bail "no hidepid"
	note "hidepid=$hide"
	served root $((44323 + hide)) local:
	not_ok "hidepid=$hide: root may not store" pmstore kmmv.control.max_age 60
	like "hidepid=$hide: the agent says why root may not store" \
		"$(pminfo -f kmmv.control.error)" "hidepid"
	mount -t proc -o hidepid=$hide,gid="$(id -g pcp)" none /proc
	note "hidepid=$hide, gid=pcp"
	served root $((44325 + hide)) local:
	ok "hidepid=$hide, gid=pcp: root may store" pmstore kmmv.control.max_age 50
	said=$(pminfo -f kmmv.control.error)
	like "hidepid=$hide, gid=pcp: the agent tells its errors" "$said" 'value "'
	not_ok "hidepid=$hide, gid=pcp: the errors do not name hidepid" \
		grep -q hidepid <<<"$said"
done
mount -t proc -o hidepid=0 none /proc
is "metrics that clients tried to store are as they were" \
	"$(pminfo -f kmmv.control.attach kmmv.control.max_age \
		kmmv.ring.queue.limit | sed -n 's/.*value //p' | xargs)" \
	"1 50 4194304"
not_ok "the agent is not the ring's consumer for pmproxy" \
	grep -q claim /mnt/dev/sim/default.log
is "the ring has no clients" "$(pminfo -f kmmv.ring.clients |
	sed -n 's/.*value //p')" 0

# Names of metrics in pmproxy's exposition format: no two become one.
open=$(web "metrics?names=kmmv&polltimeout=600" 2>/dev/null)
[ -n "$open" ] || open=$(curl -s -m 600 \
	"http://127.0.0.1:44322/metrics?names=kmmv.control,kmmv.value,kmmv.ring&polltimeout=600")
like "pmproxy's exposition has values" "$open" '^kmmv_value_counter.* 10'
is "pmproxy's exposition has each name once" \
	"$(grep '^# TYPE ' <<<"$open" | cut -d' ' -f3 |
	sort | uniq -d)" ""
finish
