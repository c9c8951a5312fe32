#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Every way to wait for a ring: poll, select, all modes of epoll, io_uring. No way
# misses a record, and a client that polls all the time does not make writers wake
# as often.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/client/client.sh
. qa/client/client.sh
trap unload EXIT

rounds=100
[ "${KMMV_SOAK:-0}" = 0 ] || rounds=5000
load_core && load_client || bail "the modules do not load"
program build/qa/vm/ring-edge "${ROUNDS:-$rounds}"
ok "the modules unload" unload
finish
