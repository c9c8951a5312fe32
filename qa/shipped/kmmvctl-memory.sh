#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
#
# kmmvctl with no memory, and with a disk that is full.

cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/shipped/ctl
. qa/shipped/ctl

mkdir -p "$counters"
ctl add one function=qa_call && ctl remove one || bail "kmmvctl does nothing"

# shellcheck source=qa/shipped/nomemory
. qa/shipped/nomemory
# shellcheck disable=SC2317 # called by each_fails
removed()
{
	[ ! -d "$counters/poor" ] || ctl remove poor || return
	[ -z "$(ls "$counters")$(ls "$root/run/kmmvctl")" ]
}
# done_to_poor ARGUMENT...: what there is of a counter afterwards
done_to_poor()
{
	local status

	ctl "$@"
	status=$?
	LD_PRELOAD='' cat "$counters"/poor/* 2>/dev/null
	return $status
}
poor=(poor tracepoint=qa/qa_hit 'value=log2 number' key='thing->next->level'
	'event=default thing->text, n=number' units=count help=Text)
each_fails "add" removed done_to_poor add "${poor[@]}"
ok "add succeeds with memory" ctl add "${poor[@]}"
each_fails "list" true ctl list -v
each_fails "list -j" true ctl list -j
each_fails "export" true ctl export
ok "disable succeeds with memory" ctl disable poor
each_fails "export of one that is disabled" true ctl export
# shellcheck disable=SC2317 # called by each_fails
disabled()
{
	ctl disable poor
}
each_fails "enable" disabled done_to_poor enable poor
ok "remove succeeds with memory" ctl remove poor
cat >"$root/etc/kmmv/trace.d/poor.conf" <<'E2'
[poor]
tracepoint = qa/qa_hit
key = thing->next->level
value = log2 number
event = default thing->text, n=number
units = count
help = Text
[none]
function = qa_call
nothing = of the kind
E2
# shellcheck disable=SC2317 # called by each_fails
pruned()
{
	local status=0

	# A counter with a wrong attribute is never made.
	[ ! -e "$counters/none" ] || status=1
	removed || status=1
	return $status
}
each_fails "apply" pruned done_to_poor apply
rm "$root"/etc/kmmv/trace.d/*
each_fails "describe" true ctl describe qa/qa_hit
ctl list -j >/dev/full 2>"$work/err"
is "list fails on a disk that is full" "$? $(cat "$work/err")" \
	"1 kmmvctl: standard output: No space left on device"
ctl -h >/dev/full 2>"$work/err"
is "--help fails on a disk that is full" "$? $(cat "$work/err")" \
	"1 kmmvctl: standard output: No space left on device"
ctl list -j >&- 2>"$work/err"
is "list fails if its output is closed" "$? $(cat "$work/err")" \
	"1 kmmvctl: standard output: Bad file descriptor"
finish
