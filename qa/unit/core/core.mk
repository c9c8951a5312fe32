# SPDX-License-Identifier: GPL-2.0-only
# The portable core, natively; also without 64-bit atomicity, and with the
# other allocator.
core-sources := $(patsubst %,kmod/core/%.c,geom slots spare records index change name \
	family event_type instance follow table names) qa/shim/rbtree.c qa/shim/shim.c
# The kernel compares int with u32 and leaves parameters unused.
# ThreadSanitizer does not support the one fence, which has a litmus test.
core-cflags := -Iqa/shim -Ikmod/core -Ikmod/include -Wno-sign-compare \
	-Wno-unused-parameter -Wno-tsan

core-programs := geom families table names slots statctr cost
pair-programs := table-pair names-pair slots-pair
flexible-programs := table-flexible slots-flexible statctr-flexible cost-flexible

cost-variants := plain asan
cost-flexible-variants := plain asan

unit-programs += $(core-programs) $(pair-programs) $(flexible-programs) \
	table-pair-flexible statctr-up statctr-32 nmi slots-cost

# Other configurations than those of most machines: 32 bits, one CPU, the other allocator.
$(foreach p,$(pair-programs) $(flexible-programs) table-pair-flexible statctr-up statctr-32,\
	$(eval $(p)-tier := all))

# These have one thread: ThreadSanitizer would find nothing.
geom-variants := plain asan
families-variants := plain asan
table-variants := plain asan
table-pair-variants := plain asan
names-pair-variants := plain asan
table-flexible-variants := plain asan
table-pair-flexible-variants := plain asan
statctr-32-variants := plain asan
nmi-variants := plain asan

define core-rule
$(1)-sources := qa/unit/core/$(1).c $(core-sources) kmod/core/pcpu_$(2).c
$(1)-cflags := $(core-cflags) $(3)
endef
$(foreach p,$(core-programs),$(eval $(call core-rule,$(p),fixed,)))
$(foreach p,$(pair-programs),$(eval \
	$(call core-rule,$(p),fixed,-DKMMV_SHIM_PAIR)))
$(foreach p,$(flexible-programs),$(eval \
	$(call core-rule,$(p),flexible,-DCONFIG_KMMV_FLEXIBLE)))
$(eval $(call core-rule,table-pair-flexible,flexible,-DKMMV_SHIM_PAIR \
	-DCONFIG_KMMV_FLEXIBLE))
table-parts := qa/unit/core/table-names.c qa/unit/core/table-followed.c
$(foreach p,table table-pair table-flexible table-pair-flexible,$(eval \
	$(p)-sources += $(table-parts)))
# slots-cost.c includes slots.c.
slots-cost-sources := qa/unit/core/slots-cost.c $(filter-out kmod/core/slots.c,$(core-sources)) \
	kmod/core/pcpu_fixed.c
slots-cost-cflags := $(core-cflags)
slots-cost-variants := plain asan
statctr-sources += kmod/core/statctr.c
statctr-flexible-sources += kmod/core/statctr.c
statctr-up-sources := qa/unit/core/statctr-up.c $(core-sources) kmod/core/pcpu_fixed.c \
	kmod/core/statctr.c
statctr-up-cflags := $(core-cflags) -DKMMV_SHIM_UP
# Updates are function calls there, which check for an NMI.
statctr-32-sources := qa/unit/core/statctr-32.c $(core-sources) kmod/core/pcpu_fixed.c \
	kmod/core/refused.c
statctr-32-cflags := $(core-cflags) -DKMMV_SHIM_PAIR
nmi-sources := qa/unit/core/nmi.c $(core-sources) kmod/core/pcpu_fixed.c kmod/core/statctr.c \
	kmod/core/refused.c
nmi-cflags := $(core-cflags) -DKMMV_SHIM_NMI
