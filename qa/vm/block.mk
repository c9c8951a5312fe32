# SPDX-License-Identifier: GPL-2.0-only
vm-programs += block-check
block-check-sources := qa/vm/block-check.c
block-check-cflags := -Ilib
block-check-libs := build/libkmmv.a
