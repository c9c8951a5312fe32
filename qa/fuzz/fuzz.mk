# SPDX-License-Identifier: GPL-2.0-only
# Replays the inputs that fuzzers have found: see qa/fuzz/run.
fuzz-programs := area events ring
unit-programs += $(fuzz-programs:%=fuzz-%)

define fuzz-rule
fuzz-$(1)-sources = qa/fuzz/$(1).c qa/fuzz/replay.c $$(lib-sources)
fuzz-$(1)-cflags = $$(lib-cflags)
fuzz-$(1)-variants := asan
endef
$(foreach p,$(fuzz-programs),$(eval $(call fuzz-rule,$(p))))
