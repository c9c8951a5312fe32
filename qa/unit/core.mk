# SPDX-License-Identifier: GPL-2.0-only
# The portable core, natively; also without 64-bit atomicity, and with the
# other allocator.
core-sources := kmod/geom.c kmod/slots.c kmod/table.c kmod/metric.c \
	kmod/kind.c kmod/instance.c kmod/follow.c kmod/family.c kmod/event.c \
	kmod/names.c qa/shim/shim.c
# The kernel compares int with u32 and leaves parameters unused.
# ThreadSanitizer does not see the one fence, which is a litmus test's.
core-cflags := -Iqa/shim -Ikmod -Ikmod/include -Wno-sign-compare \
	-Wno-unused-parameter -Wno-tsan

core-programs := geom table names slots statctr
pair-programs := table-pair names-pair slots-pair
flexible-programs := table-flexible slots-flexible statctr-flexible

unit-programs += $(core-programs) $(pair-programs) $(flexible-programs) \
	statctr-up

define core-rule
$(1)-sources := qa/unit/$(1).c $(core-sources) kmod/pcpu_$(2).c
$(1)-cflags := $(core-cflags) $(3)
endef
$(foreach p,$(core-programs),$(eval $(call core-rule,$(p),fixed,)))
$(foreach p,$(pair-programs),$(eval \
	$(call core-rule,$(p),fixed,-DKMMV_SHIM_PAIR)))
$(foreach p,$(flexible-programs),$(eval \
	$(call core-rule,$(p),flexible,-DCONFIG_KMMV_FLEXIBLE)))
statctr-sources += kmod/statctr.c
statctr-flexible-sources += kmod/statctr.c
statctr-up-sources := qa/unit/statctr-up.c $(core-sources) kmod/pcpu_fixed.c \
	kmod/statctr.c
statctr-up-cflags := $(core-cflags) -DKMMV_SHIM_UP
