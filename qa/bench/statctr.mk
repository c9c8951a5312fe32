# SPDX-License-Identifier: GPL-2.0-only
# The statctr paper's table, once per allocator. Per-CPU pointers are offsets from
# the GS base, which the compiler takes for addresses near NULL.
ifeq ($(shell uname -m),x86_64)
bench-programs += statctr-fixed statctr-flexible-allocator
endif
gs-cflags := -Iqa/bench -Ikmod/include -Wno-array-bounds -Wno-unused-parameter
statctr-fixed-sources := qa/bench/statctr.c
statctr-fixed-cflags := $(gs-cflags)
statctr-flexible-allocator-sources := qa/bench/statctr.c
statctr-flexible-allocator-cflags := $(gs-cflags) -DCONFIG_KMMV_FLEXIBLE

# The loopback experiment's load, in the virtual machine.
bench-programs += lo
lo-sources := qa/bench/lo.c
