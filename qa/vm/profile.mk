# SPDX-License-Identifier: GPL-2.0-only
vm-programs += burn
burn-sources := qa/vm/burn.c
vm-programs += profile-read
profile-read-sources := qa/vm/progs/profile-read.c qa/vm/progs/waiters.c qa/vm/progs/users.c \
	qa/vm/progs/tap.c
profile-read-cflags := -Ikmod/include/uapi -pthread
