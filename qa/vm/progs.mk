# SPDX-License-Identifier: GPL-2.0-only
# Programs of qa/vm/tests for the module.
vm-programs += header mapping names-stream names-signals growth storm ring-device \
	early-open hostile fault ioctls

progs-common := qa/vm/progs/tap.c
progs-cflags := -Ikmod/include/uapi -Ilib

header-sources := qa/vm/progs/header.c $(progs-common)
header-cflags := $(progs-cflags)
mapping-sources := qa/vm/progs/mapping.c qa/vm/progs/device.c $(progs-common)
mapping-cflags := $(progs-cflags)
names-stream-sources := qa/vm/progs/names-stream.c qa/vm/progs/waiters.c $(progs-common)
names-stream-cflags := $(progs-cflags) -pthread
names-signals-sources := qa/vm/progs/names-signals.c $(progs-common)
names-signals-cflags := $(progs-cflags) -pthread
growth-sources := qa/vm/progs/growth.c $(progs-common)
growth-cflags := $(progs-cflags)
storm-sources := qa/vm/progs/storm.c $(progs-common)
storm-cflags := $(progs-cflags)
storm-libs := build/libkmmv.a
ring-device-sources := $(patsubst %,qa/vm/progs/%.c,ring-device ring-consumer ring-hits \
	device) $(progs-common)
ring-device-cflags := $(progs-cflags)
early-open-sources := qa/vm/progs/early-open.c
hostile-sources := qa/vm/progs/hostile.c qa/vm/progs/waiters.c qa/vm/progs/users.c \
	$(progs-common)
hostile-cflags := $(progs-cflags)
fault-sources := qa/vm/progs/fault.c
fault-cflags := $(progs-cflags)
ioctls-sources := qa/vm/progs/ioctls.c $(progs-common)
ioctls-cflags := $(progs-cflags)
# For qa/vm/run.
vm-programs += $(if $(filter x86_64 i%86,$(shell uname -m)),tsc)
tsc-sources := qa/vm/tsc.c
# The same as a program of 32 bits, for compat_ioctl.
vm-programs += $(if $(filter x86_64,$(shell uname -m)),ioctls32)
ioctls32-sources := $(ioctls-sources)
ioctls32-cflags := $(progs-cflags) -m32
