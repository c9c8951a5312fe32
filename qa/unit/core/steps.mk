# SPDX-License-Identifier: GPL-2.0-only
# steps.c includes slots.c, change.c, table.c and statctr.c, so that it sees their loads and stores.
# One thread: ThreadSanitizer would find nothing.
steps-sources := qa/unit/core/steps.c \
	$(filter-out $(patsubst %,kmod/core/%.c,slots change table),$(core-sources)) kmod/core/pcpu_fixed.c
steps-cflags = $(core-cflags)
steps-variants := plain asan
steps-pair-sources := $(subst steps.c,steps-pair.c,$(steps-sources)) \
	kmod/core/refused.c
steps-pair-cflags = $(core-cflags) -DKMMV_SHIM_PAIR
steps-pair-variants := plain asan

unit-programs += steps steps-pair
