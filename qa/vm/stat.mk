# SPDX-License-Identifier: GPL-2.0-only
vm-programs += stat-check
stat-check-sources := $(patsubst %,qa/vm/%.c,stat-check stat-bracket stat-copy proc)
stat-check-cflags := -Ilib
stat-check-libs := build/libkmmv.a

vm-programs += stat-first
stat-first-sources := qa/vm/stat-first.c
stat-first-cflags := -Ilib
stat-first-libs := build/libkmmv.a
