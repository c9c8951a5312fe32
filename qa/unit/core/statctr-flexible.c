// SPDX-License-Identifier: GPL-2.0-only
/* statctr.c with the flexible allocator: built with CONFIG_KMMV_FLEXIBLE. */
#include "statctr.c"
