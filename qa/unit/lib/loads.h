/* SPDX-License-Identifier: GPL-2.0-only */
/* Included before the library's sources: calls a hook at each load. */
#ifndef LOADS_H
#define LOADS_H

void loads_hook(void);
#define KMMV_BEFORE_LOAD loads_hook

#endif /* LOADS_H */
