#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# machine: SMP=2 APPEND=kmmv_qa=lockdown
#
# A kernel that is locked down for confidentiality, which it is until the next boot:
# arguments are counted, and what is behind them is not read.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/trace.sh
. qa/vm/trace.sh

counts_values || skip_all "machine: of 32 bits, it counts hits alone"

# shellcheck disable=SC2317 # called by the trap
clean_up()
{
	unload
	[ -z "$mounted" ] || umount $security
}
trap clean_up EXIT
denied="Operation not permitted"
security=/sys/kernel/security

mounted=
[ -e $security/lsm ] || {
	mount -t securityfs none $security || bail "no securityfs"
	mounted=yes
}
load ring_pages=16 || bail "does not load"
insmod qa/client/kmmv_traced.ko || bail "nothing to count"
ok "a counter of what is behind an argument is enabled" \
	define far tracepoint=kmmv_traced \
	"value=number=$inner_number"
end far
# A locked kernel loads no unsigned module: it is locked after that.
echo confidentiality >$security/lockdown || bail "no lockdown in this kernel"
mkdir $trace/far
put far tracepoint kmmv_traced
for text in "value number=$inner_number" "key text=$object_text" \
	"key string=arg4:8p" "event default text=$object_text"; do
	put far "${text%% *}" "${text#* }"
	refused far enable 1 "$denied" 'locked down'
	put far "${text%% *}" ''
done
end far
ok "a counter of an argument is enabled in lockdown" \
	define near tracepoint=kmmv_traced value=number=arg1:8
ok "a counter with events is enabled in lockdown" \
	define event tracepoint=kmmv_traced 'event=default number=arg1:8'
hit tp 3 5
is "an argument is added up in lockdown" "$(values near)" "kmmv_traced 15"
end near event
ok "the modules unload" unload
finish
