# SPDX-License-Identifier: GPL-2.0-only
# Run in the virtual machine, with the modules; where libbpf is installed.
ifneq ($(shell pkg-config --exists libbpf && echo 1),)
vm-programs += bpfhits bpfread
endif
bpfhits-sources := qa/bench/bpfhits.c qa/bench/bpfcount.c
bpfhits-cflags := -O2 -Iqa/bench
bpfhits-libs := -lbpf
bpfread-sources := qa/bench/bpfread.c qa/bench/bpfcount.c
bpfread-cflags := -O2 -Ilib -Iqa/bench
bpfread-libs := build/libkmmv.a -lbpf
