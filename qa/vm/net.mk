# SPDX-License-Identifier: GPL-2.0-only
vm-programs += net-check
net-check-sources := qa/vm/net-check.c qa/vm/net-traffic.c
net-check-cflags := -Ilib
net-check-libs := build/libkmmv.a
