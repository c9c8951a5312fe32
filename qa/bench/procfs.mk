# SPDX-License-Identifier: GPL-2.0-only
# Runs in the virtual machine, with the modules.
vm-programs += procfs
procfs-sources := qa/bench/procfs.c
procfs-cflags := -O2 -Ilib
procfs-libs := build/libkmmv.a
