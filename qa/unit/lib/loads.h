/* SPDX-License-Identifier: GPL-2.0-only */
/* Comes before the library's sources where a test has its part at each load. */
#ifndef LOADS_H
#define LOADS_H

void loads_hook(void);
#define KMMV_BEFORE_LOAD loads_hook

#endif /* LOADS_H */
