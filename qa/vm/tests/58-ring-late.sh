#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# machine: ICOUNT=1 APPEND=preempt=full
#
# How late a waiter notices a record: a wake-up is put off by a millisecond at most.
# Time is counted instructions here, so that a late one is a fault, whatever else the
# host does.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/client/client.sh
. qa/client/client.sh
trap unload EXIT

load_core && load_client || bail "the modules do not load"
program build/qa/vm/ring-wake 100 2000
ok "the modules unload" unload
finish
