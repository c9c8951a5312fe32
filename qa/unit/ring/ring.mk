# SPDX-License-Identifier: GPL-2.0-only
# ring-search.c includes ring_write.c and its readers, and switches threads itself, which
# no sanitizer follows: "asan" is only the variant that qa/check runs.
# ring-search-fast is the part that kills mutants.
ring-search-sources := qa/unit/ring/search.c qa/unit/ring/ring-search.c
ring-search-cflags = -Iqa/unit/core $(core-cflags) -O2 -fno-sanitize=all \
	-Wno-missing-field-initializers -Wno-maybe-uninitialized
ring-search-variants := asan
# It usually takes 95.
ring-search-seconds := 3000
ring-search-tier := all
ring-search-fast-sources := $(ring-search-sources)
ring-search-fast-cflags = $(ring-search-cflags) -DRING_FAST
ring-search-fast-variants := plain asan

unit-programs += ring-search ring-search-fast

# calls.c includes these files, too.
ring-calls-sources := qa/shim/shim.c $(patsubst %,qa/unit/ring/%.c,calls ring-calls \
	calls-times calls-consumer calls-snapshots calls-storm)
ring-calls-cflags = -Iqa/unit/core $(core-cflags) -Wno-maybe-uninitialized
ring-calls-other-variants := m32

# Most kernels give a complete page's totals, and do not walk it to compare them.
ring-calls-totals-sources := $(ring-calls-sources)
ring-calls-totals-cflags = $(ring-calls-cflags) -DKMMV_RING_RECOUNT=0
ring-calls-totals-tier := all

unit-programs += ring-calls ring-calls-totals
