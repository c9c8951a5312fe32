# SPDX-License-Identifier: GPL-2.0-only
# What vm/86-kmmvprof samples: a program at any address, and one at its own.
vm-programs += busy busy-fixed
busy-sources := qa/vm/busy.c
busy-cflags := -D_GNU_SOURCE -fPIE -pie
busy-fixed-sources := qa/vm/busy.c
busy-fixed-cflags := -D_GNU_SOURCE -fno-pie -no-pie
