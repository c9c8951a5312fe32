# SPDX-License-Identifier: GPL-2.0-only
vm-programs += latecomer
latecomer-sources := qa/vm/latecomer.c
latecomer-cflags := -Ilib
latecomer-libs := build/libkmmv.a
