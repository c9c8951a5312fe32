# SPDX-License-Identifier: GPL-2.0-only
# A ring's writers natively, with two clocks; and LTTng's, where it is installed.
ifeq ($(shell uname -m),x86_64)
bench-programs += ring-monotonic ring-tsc
endif
ring-monotonic-sources := qa/bench/ring.c qa/shim/shim.c
ring-monotonic-cflags := -Iqa/bench -Iqa/shim -Ikmod/core -Ikmod/include \
	-Wno-sign-compare -Wno-unused-parameter -Wno-maybe-uninitialized
ring-tsc-sources := $(ring-monotonic-sources)
ring-tsc-cflags := $(ring-monotonic-cflags) -DRING_TSC

ifneq ($(shell pkg-config --exists lttng-ust && echo 1),)
bench-programs += ringust
endif
ringust-sources := qa/bench/ringust.c
ringust-cflags := -Iqa/bench
ringust-libs := -llttng-ust -ldl

# These run in the virtual machine, with the modules.
vm-programs += ringread ringlag
ringread-sources := qa/bench/ringread.c
ringread-cflags := -O2 -Ilib -Ikmod/include/uapi
ringread-libs := build/libkmmv.a
ringlag-sources := qa/bench/ringlag.c
ringlag-cflags := -O2 -Ilib -Ikmod/include/uapi
ringlag-libs := build/libkmmv.a

# The library's merge natively, on rings in memory.
bench-programs += ringmerge
ringmerge-sources := qa/bench/ringmerge.c
ringmerge-cflags := -Ilib -Ikmod/include/uapi
ringmerge-libs := build/libkmmv.a
