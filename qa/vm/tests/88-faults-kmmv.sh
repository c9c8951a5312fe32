#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# machine: SMP=2
#
# Each call of kmmv.ko that can fail fails once: while it is loaded, by its API, in
# configfs and by its devices. The operation fails with ENOMEM, all of it is undone, and it
# succeeds the next time.

# shellcheck disable=SC2317 # functions called by fail_each
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/client/client.sh
. qa/client/client.sh
# shellcheck source=qa/vm/faults.sh
. qa/vm/faults.sh

rings=/sys/kernel/config/kmmv/rings

faults_kmmv_end()
{
	rmdir "$rings"/[!d]* 2>/dev/null
	unload
	faults_end
}
trap faults_kmmv_end EXIT

load_fault kmmv
loaded()
{
	load_core ring_pages=4
}
fail_each "load" loaded unload
loaded || bail "kmmv does not load"
load_client || bail "the client does not load"

# ---- the API; $try is fail_each()'s: each name is a new one

# client COMMAND: its answer goes to a file
client()
{
	local answer

	answer=$(call "$1") || return
	echo "$answer" >"$WORK/answer"
	[ "$answer" != -12 ] || echo "Cannot allocate memory"
	[ "$answer" -ge 0 ]
}
a_family()
{
	client "family 0|byte|qa.family$try|One|"
}
fail_each "a family" a_family
family=$(<"$WORK/answer")
a_counter()
{
	client "add one$try"
}
one_of_it()
{
	client "addin $family two$try"
}
gone()
{
	local number

	number=$(<"$WORK/answer")
	client "del $number" && client "forget $number"
}
fail_each "a counter" a_counter gone
fail_each "a counter of a family" one_of_it gone
one_of_it || bail "no counter"
number=$(<"$WORK/answer")
a_label()
{
	client "label $number colour|red$try"
}
fail_each "a label" a_label
like "the label is in the stream of names" \
	"$(names | grep "^label number=$number ")" 'key=colour text=red'
a_type()
{
	client "ring type qa.event$try"
}
fail_each "a type of events" a_type
a_ring()
{
	client "ring make 4 own$try"
}
made=0
put()
{
	client "ring put $(<"$WORK/answer")" || return
	made=$((made + 1))
}
# A ring's directory stays. Some are made without what failed: see node_name below.
fail_each "a module's ring" a_ring put
is "rings that were made, and no others, are there" \
	"$(find $rings -name 'own*' | wc -l)" $made
a_source()
{
	insmod kmod/kmmv_stat.ko
}
no_source()
{
	rmmod kmmv_stat
}
# Families and names stay: only the first load adds them.
ok "a source loads for the first time" a_source
no_source
fail_each "a source" a_source no_source
a_profile()
{
	insmod kmod/kmmv_profile.ko
}
no_profile()
{
	rmmod kmmv_profile
}
ok "a source with a directory loads for the first time" a_profile
no_profile
# A call that is a jump comes from the source.
fail_each "a source with a directory" a_profile no_profile none

# ---- configfs

a_directory()
{
	mkdir $rings/r
}
no_directory()
{
	rmdir "$rings/r"
}
fail_each "a directory" a_directory no_directory
a_directory || bail "no ring"
echo consume >$rings/r/mode
echo "$number" >$rings/r/trace
enabled()
{
	echo 1 >$rings/r/enable
}
disabled()
{
	echo 0 >"$rings/r/enable"
}
fail_each "buffers" enabled disabled
enabled || bail "the ring is not enabled"

# ---- devices

opened()
{
	: </dev/kmmv/ring/r
}
fail_each "open of a ring" opened
read_names()
{
	cat /dev/kmmv/names >"$WORK/names"
}
fail_each "read of names" read_names
like "the names that were read have a family and a counter" \
	"$(<"$WORK/names")" 'family=.* name=two'
consumed()
{
	[ "$(call "adjust task 0 $number $try")" = 0 ] || return
	timeout 600 build/kmmvdump -x -R r -N 1 | grep -q delta=
}
fail_each "the consumer" consumed

# ---- everything works after that

call "adjust task 0 $number 7" >/dev/null
like "counters count after the faults" "$(call "read $number")" '^[1-9]'
echo 0 >$rings/r/enable
ok "the ring can be removed" rmdir $rings/r
ok "the modules unload" unload
# The driver core, which calls this, takes the device's name if there is no memory.
all_failed node_name
ok "all modules unload" faults_kmmv_end
is "no module of kmmv is left" "$(grep -c ^kmmv /proc/modules)" 0
finish
