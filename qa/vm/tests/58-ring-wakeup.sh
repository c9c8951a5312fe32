#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Waiting for records: no waiter misses a record, from whatever context; wake-ups
# are few, and do not cause more of themselves.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/client/client.sh
. qa/client/client.sh
trap unload EXIT

rounds=300
[ "${KMMV_SOAK:-0}" = 0 ] || rounds=20000
load_core && load_client || bail "the modules do not load"
program build/qa/vm/ring-wake "${ROUNDS:-$rounds}"
ok "the modules unload" unload
finish
