#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# ./Install where pmcd cannot start: it reports that and fails, and works later.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/agent/apart
. qa/agent/apart

new_system "$0" "Operation not permitted" "$@"

# A pmcd that ends at once, as with any fault of its start. It is waited for in vain.
impatient="PMCD_WAIT_TIMEOUT=1 __can_wait=1"
pmcd=/usr/lib/pcp/bin/pmcd
mv $pmcd $pmcd.real
printf '#!/bin/sh\necho "pmcd: cannot start" >&2\nexit 1\n' >$pmcd
chmod 755 $pmcd
not_ok "./Install fails where pmcd does not start" sh -c "$impatient ./Install </dev/null"
like "./Install says that pmcd does not answer" "$tap_text" "^Error: pmcd does not answer"
like "./Install says what to do" "$tap_text" "start pmcd, and run"

mv $pmcd.real $pmcd
ok "./Install succeeds where pmcd starts" sh -c './Install </dev/null'
like "the agent answers" "$(pminfo -f kmmv.control.state)" '"absent"'
is "pmcd.conf has one entry of the agent" "$(grep -c '^kmmv' /etc/pcp/pmcd/pmcd.conf)" 1
ok "./Remove succeeds" sh -c './Remove --purge </dev/null'
not_ok "the metrics are gone after ./Remove" pminfo kmmv

# ./Remove works without pmcd, too.
ok "./Install succeeds after ./Remove" sh -c './Install </dev/null'
/etc/init.d/pmcd stop >/dev/null 2>&1
mv $pmcd $pmcd.real
printf '#!/bin/sh\nexit 1\n' >$pmcd
chmod 755 $pmcd
sh -c "$impatient ./Remove --purge </dev/null" >/mnt/removed 2>&1
note "$(cat /mnt/removed)"
is "./Remove without pmcd leaves no agent" "$(grep -c '^kmmv' /etc/pcp/pmcd/pmcd.conf)" 0
is "./Remove without pmcd leaves no files" \
	"$(find /var/lib/pcp /usr/lib/pcp -iname '*kmmv*')" ""
finish
