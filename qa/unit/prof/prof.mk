# SPDX-License-Identifier: GPL-2.0-only
# kmmvprof: its tables, how it reads files and recordings, and events of sysfs.
unit-programs += proftable proffiles profpmu profrecording
proftable-sources := qa/unit/prof/proftable.c $(patsubst %,lib/kmmvprof/%.c,\
	accounts pool section share table text)
proftable-cflags := -D_GNU_SOURCE -Ilib -Ilib/kmmvprof -Ikmod/include/uapi
proftable-libs := -ljansson \
	-Wl,--wrap=malloc,--wrap=calloc,--wrap=reallocarray,--wrap=strdup
proftable-variants := plain asan
proffiles-sources := $(patsubst %,qa/unit/prof/%.c,proffiles proffiles-functions \
	proffiles-images) $(patsubst %,lib/kmmvprof/%.c,\
	pool table text elflimits functions locate image)
proffiles-cflags := -D_GNU_SOURCE -Ilib -Ilib/kmmvprof -Ikmod/include/uapi
proffiles-libs := -ljansson -ldw -lelf -llzma
proffiles-variants := plain asan
profpmu-sources := qa/unit/prof/profpmu.c lib/kmmvprof/pmu.c
profpmu-cflags := -D_GNU_SOURCE -Ilib -Ilib/kmmvprof -Ikmod/include/uapi
profpmu-variants := plain asan
profrecording-sources = qa/unit/prof/profrecording.c $(lib-sources) \
	$(patsubst %,lib/kmmvprof/%.c,pool recording sample table text)
profrecording-cflags = $(lib-cflags) -Ilib/kmmvprof
profrecording-libs := -ljansson
profrecording-variants := plain asan

# The command with sanitizers, as qa/shipped/kmmvprof*.sh run it.
script-programs += kmmvprof
kmmvprof-version := $(shell cat VERSION 2>/dev/null)
build/qa/o/script/kmmvprof/lib/kmmvprof/kmmvprof.o: $(wildcard VERSION)
kmmvprof-sources = $(lib-sources) $(wildcard lib/kmmvprof/*.c)
kmmvprof-cflags = $(lib-cflags) -DKMMV_VERSION='"$(kmmvprof-version)"'
kmmvprof-libs := -ljansson -ldw -lelf -lncursesw -ltinfo
