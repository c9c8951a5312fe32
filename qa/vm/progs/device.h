/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is the same for the counters' device and for a ring's: a mapping of all of it, and
 * those that are refused.
 */
#ifndef QA_VM_DEVICE_H
#define QA_VM_DEVICE_H

#include <stdint.h>

int device_open(const char *path);
char *device_map(const char *path, uint64_t length);

/* No mapping of that kind, but this error. */
void device_refuses(const char *path, const char *what, int prot, int flags,
		    uint64_t offset, uint64_t length, int error);
/* Every wrong mapping of a device of @length bytes. */
void device_refuses_mappings(const char *path, uint64_t length);

#endif /* QA_VM_DEVICE_H */
