#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# The agent has no error and no leak under valgrind, on good, changing and bad
# areas.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
command -v valgrind >/dev/null || skip_all "no valgrind: qa/setup check"
# shellcheck source=qa/agent/env
. qa/agent/env

# A record counts only if it names a function of the agent: faults of PCP's tools
# and libraries are not ours.
wrap=(valgrind --quiet --leak-check=full "--show-leak-kinds=definite,indirect"
	--num-callers=40 --log-file="$work/valgrind.%p")
ours()
{
	awk '
	/^==[0-9]+== $/ || /^==[0-9]+==$/ { if (bad) print record; record = ""; bad = 0 }
	{ record = record $0 "\n" }
	/ (agent|kmmv)_[a-z0-9_]* \(/ { bad = 1 }
	END { if (bad) print record }' "$work"/valgrind.*
}

many()
{
	cat <<E
set epoch $1
family 0 counter count counter Counters
help 0 They count.
family 1 level furlong instant Level
inst 0 0 0 active 1,2 a b
inst 1 0 0 active 3,4 a_b
inst 2 1 0 active 5 level
label 2 key value
many 3 500 0 1,2,3,4 $2
E
}

many 1 x | area
ok "pminfo of everything succeeds" info -dfmtTlM kmmv
is "pminfo of everything has no error of ours" "$(ours)" ""

rm -f "$work"/valgrind.*
db_start dso
grant
all="kmmv.value.counter kmmv.value.level kmmv.percpu.counter kmmv.all.counter"
for epoch in 1 2 3; do
	many $epoch y$epoch | area
	reattach
	db "fetch $all kmmv.control.resets" >/dev/null
	db "instance $domain.16" >/dev/null
	db "instance $domain.17" >/dev/null
	db "instance $domain.17 \"x1::cpu1\"" >/dev/null
	db "label instances $domain.16" >/dev/null
	db "label instances $domain.17" >/dev/null
	db "label indom $domain.16" >/dev/null
	db "text $domain.16" >/dev/null
	db "children kmmv" >/dev/null
	db "traverse kmmv" >/dev/null
	db "fetch $all" >/dev/null
	db "profile $domain.16 delete $((own + 2))" >/dev/null
	db "profile $domain.17 none" >/dev/null
	db "fetch $all" >/dev/null
	db "profile $domain.16 all" >/dev/null
	db "profile $domain.17 all" >/dev/null
done
is "the DSO answers after three epochs" "$(db_values kmmv.all.counter | wc -l)" 1
head -c 5000 "$work/dev/counters" >"$work/cut"
cp "$work/cut" "$work/dev/counters"
reattach
db "fetch $all" >/dev/null
db "instance $domain.16" >/dev/null
sed -i 's/^instance number=1/instance number=77777/' "$work/dev/names"
reattach
db "fetch $all" >/dev/null
rm -r "${work:?}/dev"
reattach
db "fetch $all" >/dev/null
db_stops "dbpmda ends well"
is "changing and bad areas have no error of ours" "$(ours)" ""

# The daemon, until its end.
rm -f "$work"/valgrind.*
many 1 z | area
pmda_daemon_plain=$pmda_daemon
pmda_daemon="$work/agent"
cat >"$pmda_daemon" <<E
#!/bin/sh
exec ${wrap[*]} $pmda_daemon_plain "\$@"
E
chmod +x "$pmda_daemon"
wrap=()
db_start pipe
db "fetch $all" >/dev/null
is "the daemon answers" "$(db_values kmmv.all.counter)" \
	"$((1 + 2 + 3 + 4 + 500 * 10))"
db_stops "dbpmda ends well with the daemon"
# shellcheck disable=SC2317 # called by wait_for
gone()
{
	! pgrep -f "pmdakmmv.* -l $work/tmp/kmmv.log" >/dev/null
}
ok "the daemon ends with dbpmda" wait_for 20 gone
is "the daemon has no error of ours" "$(ours)" ""
finish
