// SPDX-License-Identifier: GPL-2.0-only
/* Of kmmv_stat.ko, too: kbuild takes an object into one module only. */
#include "../core/mirror.c"
