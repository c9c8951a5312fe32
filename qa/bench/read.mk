# SPDX-License-Identifier: GPL-2.0-only
bench-programs += read
read-sources := qa/bench/read.c
read-cflags := -Ilib -Ikmod/include/uapi
read-libs := build/libkmmv.a
