#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The stream of names, read in every way.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/client/client.sh
. qa/client/client.sh
trap unload EXIT

load_core && load_client || bail "the modules do not load"
if [ "${KMMV_SOAK:-0}" = 0 ]; then
	program build/qa/vm/names-stream 100000 10000
else
	program build/qa/vm/names-stream 10000000 1000000
fi
unload && load_core && load_client || bail "the modules do not load again"
program build/qa/vm/names-signals
finish
