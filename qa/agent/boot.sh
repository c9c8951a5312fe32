#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# beside: yes
# Counts since boot, as a mirror has them, are absolute: across reloads, with the
# agent attached or not, they equal the kernel's counts and never fall.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/agent/env
. qa/agent/env

# load EPOCH IRQ0,IRQ1 OWN: the counts of a mirror, and one that begins at 0
load()
{
	area <<-E
	set epoch $1
	set cpus 2
	family 0 stat.irq count counter,since=boot Interrupts
	family 1 counter count counter Counters
	inst 0 0 0 active $2 9
	inst 1 1 0 active $3 own
	E
}
all()
{
	db_values kmmv.value.stat.irq kmmv.all.stat.irq kmmv.percpu.stat.irq |
		tr '\n' ','
}

load 1 1000,2000 5
db_start dso
grant
is "a count since boot is the kernel's" "$(all)" "9 3000,3000,9::cpu0 1000,9::cpu1 2000,"
is "an own count begins with the kernel's value" "$(db_values kmmv.value.counter)" "own 5"
load 2 1010,2020 7
reattach
is "a count since boot is the kernel's after a reload" \
	"$(all)" "9 3030,3030,9::cpu0 1010,9::cpu1 2020,"
is "an own count is carried over a reload" "$(db_values kmmv.value.counter)" "own 12"
load 3 1020,2030 1
db 'store kmmv.control.attach "0"' >/dev/null
load 4 1100,2100 2
db 'store kmmv.control.attach "1"' >/dev/null
is "a count since boot is the kernel's after reloads not seen" "$(all)" \
	"9 3200,3200,9::cpu0 1100,9::cpu1 2100,"
is "an own count goes on after reloads not seen" \
	"$(db_values kmmv.value.counter)" "own 14"

# 32 bits wrapped between two loads on CPU 1.
load 5 1110,4 0
reattach
is "a count that wrapped goes on from what was shown" "$(all)" \
	"9 3200,3200,9::cpu0 1110,9::cpu1 2100,"
load 5 1120,10 0
reattach
is "a count that wrapped counts on" "$(all)" "9 3216,3216,9::cpu0 1120,9::cpu1 2106,"
load 6 1125,14 0
reattach
is "a count that wrapped does not fall in the next reload" \
	"$(all)" "9 3216,3216,9::cpu0 1125,9::cpu1 2106,"
load 6 1125,15 0
reattach
is "a count that wrapped counts on after the next reload" \
	"$(all)" "9 3217,3217,9::cpu0 1125,9::cpu1 2107,"
load 7 9000,9000 0
reattach
is "a count that wrapped is the kernel's once that is greater" "$(all)" \
	"9 18000,18000,9::cpu0 9000,9::cpu1 9000,"

# Its source is unloaded, and comes back.
area <<E
set epoch 8
set cpus 2
family 0 counter count counter Counters
inst 0 0 0 active 1 own
E
reattach
is "a family without its source has no values" "$(db_values kmmv.value.stat.irq)" none
load 9 9001,9002 0
reattach
is "a family whose source is back has the kernel's counts" "$(all)" \
	"9 18003,18003,9::cpu0 9001,9::cpu1 9002,"

# A total is read although its instances were not.
load 10 9000,9002 0
reattach
is "a total alone does not fall in a reload" "$(db_values kmmv.all.stat.irq)" 18003
load 11 9010,9010 0
reattach
is "a total that was read without its instances is not doubled" \
	"$(db_values kmmv.all.stat.irq)" 18020
is "the sum of instances agrees with the total" \
	"$(db_values kmmv.value.stat.irq)" "9 18020"
db_stops "dbpmda ends well"
finish
