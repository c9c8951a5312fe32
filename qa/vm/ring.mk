# SPDX-License-Identifier: GPL-2.0-only
# Programs of qa/vm/tests for ring buffers.
vm-programs += ring-storm ring-rules ring-wake ring-edge ring-hostile

ring-common := $(patsubst %,qa/vm/progs/%.c,tap ring ring-read ring-snapshot)
ring-cflags := -Ikmod/include/uapi
ring-storm-sources := qa/vm/progs/ring-storm.c $(ring-common)
ring-storm-cflags := $(ring-cflags)
ring-wake-sources := qa/vm/progs/ring-wake.c $(ring-common)
ring-wake-cflags := $(ring-cflags)
ring-rules-sources := $(patsubst %,qa/vm/progs/%.c,ring-rules rules rules-nested \
	rules-death rules-mapping rules-hits rules-comes rules-late) $(ring-common)
ring-rules-cflags := $(ring-cflags)
ring-edge-sources := qa/vm/progs/ring-edge.c $(ring-common)
ring-edge-cflags := $(ring-cflags)
ring-hostile-sources := qa/vm/progs/ring-hostile.c qa/vm/progs/waiters.c \
	qa/vm/progs/users.c $(ring-common)
ring-hostile-cflags := $(ring-cflags)
