# SPDX-License-Identifier: GPL-2.0-only
# The library's part, and that of the module's core natively.
bench-programs += readnames tellnames
readnames-sources := qa/bench/readnames.c
readnames-cflags := -Ilib -Ikmod/include/uapi
readnames-libs := build/libkmmv.a
tellnames-sources := qa/bench/tellnames.c $(patsubst %,kmod/core/%.c,geom slots spare records \
	index change name family event_type instance follow table names pcpu_fixed) \
	qa/shim/rbtree.c qa/shim/shim.c
tellnames-cflags := -Iqa/shim -Ikmod/core -Ikmod/include -Wno-sign-compare \
	-Wno-unused-parameter
