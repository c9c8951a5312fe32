// SPDX-License-Identifier: GPL-2.0-only
/* The core's, which kmmv.ko has, too: kbuild takes an object into one module only. */
#include "../core/ring_write.c"
