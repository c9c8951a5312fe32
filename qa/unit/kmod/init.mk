# SPDX-License-Identifier: GPL-2.0-only
# How kmmv.ko begins and ends, and what a file's waiters are counted with; the
# table is the shipped one, devices and states of CPUs are the test's.
unit-programs += init
init-sources := qa/unit/kmod/init.c kmod/main.c kmod/module.c $(core-sources) \
	kmod/core/pcpu_fixed.c
init-cflags := $(core-cflags) -Iqa/shim/kmod -Ikmod -include kmod_deps.h
init-variants := plain asan

# Rings that follow counters; the rings and RCU are the test's.
unit-programs += hit
hit-sources := qa/unit/kmod/hit.c kmod/hit.c $(core-sources) \
	kmod/core/pcpu_fixed.c
hit-cflags := $(core-cflags) -Iqa/shim/kmod -Ikmod -Iqa/unit/core \
	-include kmod_deps.h
hit-variants := plain asan

# When sources copy; the sources and the clock are the test's.
unit-programs += source
source-sources := qa/unit/kmod/source.c kmod/source.c kmod/core/pace.c qa/shim/shim.c
source-cflags := $(core-cflags) -D_GNU_SOURCE -Iqa/shim/kmod -Ikmod -include kmod_deps.h
source-variants := plain asan tsan

# Which counters kmmv_trace enables, with kCFI and without it.
typed-programs := typed typed-clang typed-cfi
unit-programs += $(typed-programs)
define typed-rule
$(1)-sources := qa/unit/kmod/typed.c kmod/trace/counter.c qa/shim/shim.c
$(1)-cflags := $$(core-cflags) -Iqa/shim/kmod -Ikmod -Ikmod/trace -include trace_deps.h $(2)
$(1)-variants := plain asan
endef
$(eval $(call typed-rule,typed,-DCHECKED=0))
$(eval $(call typed-rule,typed-clang,-DCHECKED=1 -DCONFIG_CFI_CLANG=1))
$(eval $(call typed-rule,typed-cfi,-DCHECKED=1 -DCONFIG_CFI=1))

# A ring's read(), and its consumer's ioctls, on real buffers; user space and signals
# are the test's.
unit-programs += ringfile
ringfile-sources := $(patsubst %,qa/unit/kmod/ringfile%.c,-rings -take) \
	qa/unit/kmod/ringfile.c kmod/ringtake.c kmod/ringblock.c \
	$(patsubst %,kmod/core/%.c,ring_write ring_alloc ring_consumer ring_page \
	ring_snapshot ring_stats) qa/shim/shim.c
ringfile-cflags := $(core-cflags) -Wno-maybe-uninitialized -Iqa/shim/kmod -Ikmod \
	-include kmod_deps.h
ringfile-variants := plain asan tsan
