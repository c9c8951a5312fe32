# SPDX-License-Identifier: GPL-2.0-only
# The library, from its sources; the code that reads values also as on 32 bits.
lib-sources := $(wildcard lib/*.c)
lib-cflags := -D_GNU_SOURCE -Ilib -Ikmod/include/uapi -Wno-tsan
lib-programs := libopen libnames libtable libinfo libread liblive libfuzz libring libringfuzz libtypes libreader
split-programs := libread-split liblive-split libring-split

unit-programs += $(lib-programs) $(split-programs)
$(foreach p,$(split-programs),$(eval $(p)-tier := all))

# These have one thread.
libopen-variants := plain asan
libnames-variants := plain asan
libtable-variants := plain asan
libinfo-variants := plain asan
libread-variants := plain asan
libread-split-variants := plain asan
libfuzz-variants := plain asan
libring-variants := plain asan
libring-split-variants := plain asan
libtypes-variants := plain asan
libreader-variants := plain asan
libringfuzz-variants := plain asan

define lib-rule
$(1)-sources := qa/unit/lib/$(1:-split=).c $(lib-sources)
$(1)-cflags := $(lib-cflags) $(2)
endef
$(foreach p,$(lib-programs),$(eval $(call lib-rule,$(p),)))
$(foreach p,$(split-programs),$(eval $(call lib-rule,$(p),-DKMMV_SPLIT64)))
libring-parts := $(patsubst %,qa/unit/lib/%.c,libring-expect libring-open \
	libring-snapshot libring-order libring-consumer)
libring-sources += $(libring-parts)
libring-split-sources += $(libring-parts)
libopen-sources += qa/unit/lib/libopen-files.c
libnames-sources += qa/unit/lib/libnames-feed.c
liblive-parts := $(patsubst %,qa/unit/lib/%.c,liblive-changes liblive-broken)
liblive-sources += $(liblive-parts)
liblive-split-sources += $(liblive-parts)
# The tests make allocations fail.
libring-wrap := -Wl,--wrap=malloc,--wrap=calloc,--wrap=reallocarray
# For refuse.h. With optimization, getline() is __getdelim().
refuse-wrap = $(libring-wrap),--wrap=realloc,--wrap=strdup,--wrap=asprintf,--wrap=__getdelim
libring-libs := $(libring-wrap)
libring-split-libs := $(libring-wrap)

unit-programs += libmemory
libmemory-sources := qa/unit/lib/libmemory.c $(lib-sources)
libmemory-cflags := $(lib-cflags)
libmemory-libs := $(refuse-wrap),--wrap=mmap
libmemory-variants := plain asan

# A writer's step at each load; see loads.h.
unit-programs += libsteps libsteps-split
libsteps-sources := qa/unit/lib/libsteps.c $(lib-sources)
libsteps-cflags := $(lib-cflags) -include qa/unit/lib/loads.h
libsteps-variants := plain asan
libsteps-split-sources := $(libsteps-sources)
libsteps-split-cflags := $(libsteps-cflags) -DKMMV_SPLIT64
libsteps-split-variants := plain asan
libsteps-split-tier := all

# The library on the ring's portable core; libringcore.c includes that.
unit-programs += libringlive
libringlive-sources := qa/unit/lib/libringcore.c $(lib-sources) qa/shim/shim.c \
	qa/unit/lib/libringlive.c
libringlive-cflags := $(lib-cflags) -Ikmod/include -Wno-sign-compare \
	-Wno-unused-parameter -Wno-maybe-uninitialized
