# SPDX-License-Identifier: GPL-2.0-only
# The fuzzers, and what replays the inputs that they have found: see qa/fuzz/run.
fuzz-programs := area elf events recording ring
unit-programs += $(fuzz-programs:%=fuzz-%)

define fuzz-rule
fuzz-$(1)-sources = qa/fuzz/$(1).c qa/fuzz/replay.c $$(fuzz-$(1)-tested)
fuzz-$(1)-tested = $$(lib-sources)
fuzz-$(1)-cflags = $$(lib-cflags)
fuzz-$(1)-variants := asan
endef
$(foreach p,$(fuzz-programs),$(eval $(call fuzz-rule,$(p))))

fuzz-elf-tested = $(filter lib/%,$(proffiles-sources))
fuzz-elf-cflags = $(proffiles-cflags)
fuzz-elf-libs = $(proffiles-libs)

# Without what reads files of programs, which is elf's; time is simulated.
fuzz-recording-tested = $(lib-sources) $(filter-out $(patsubst %,lib/kmmvprof/%.c,\
	kmmvprof top pmu image elflimits functions locate),$(wildcard lib/kmmvprof/*.c))
fuzz-recording-cflags = $(lib-cflags) -Ilib/kmmvprof
fuzz-recording-libs := -ljansson \
	-Wl,--wrap=kmmv_ring_monotonic,--wrap=nanosleep

# Not for `make programs`: it needs clang.
build/fuzz/%: FORCE
	@mkdir -p $(@D)
	@clang $(common) -O1 -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=undefined -Wno-unknown-warning-option \
		$(fuzz-$*-cflags) -o $@ qa/fuzz/$*.c $(fuzz-$*-tested) \
		$(fuzz-$*-libs) $(check-libs) -lm
FORCE:
.PHONY: FORCE
