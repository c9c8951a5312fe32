// SPDX-License-Identifier: GPL-2.0-only
/* Of kmmv.ko, too: kbuild takes an object into one module only. */
#include "../core/name.c"
