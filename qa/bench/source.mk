# SPDX-License-Identifier: GPL-2.0-only
# Runs in the virtual machine, with the modules.
bench-programs += sourceload
sourceload-sources := qa/bench/source.c
