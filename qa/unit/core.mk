# SPDX-License-Identifier: GPL-2.0-only
# The portable core, natively; each program also without 64-bit atomicity.
core-sources := kmod/geom.c kmod/slots.c kmod/table.c kmod/family.c \
	kmod/names.c qa/shim/shim.c
# The kernel compares int with u32 and leaves parameters unused.
# ThreadSanitizer does not see the one fence, which is a litmus test's.
core-cflags := -Iqa/shim -Ikmod -Ikmod/include -Wno-sign-compare \
	-Wno-unused-parameter -Wno-tsan
core-programs := geom table names slots
pair-programs := table-pair names-pair slots-pair

unit-programs += $(core-programs) $(pair-programs)

define core-rule
$(1)-sources := qa/unit/$(1).c $(core-sources)
$(1)-cflags := $(core-cflags) $(2)
endef
$(foreach p,$(core-programs),$(eval $(call core-rule,$(p),)))
$(foreach p,$(pair-programs),$(eval $(call core-rule,$(p),-DKMMV_SHIM_PAIR)))
