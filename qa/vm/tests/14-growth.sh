#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# machine: MAXCPUS=6
# Instances come while the area is mapped.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/client/client.sh
. qa/client/client.sh
trap unload EXIT

load_core && load_client || bail "the modules do not load"
build/qa/vm/growth
