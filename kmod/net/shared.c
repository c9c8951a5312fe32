// SPDX-License-Identifier: GPL-2.0-only
/*
 * The core's files that kmmv_stat.ko has, too: kbuild takes an object into one
 * module only.
 */
#include "../core/mirror.c"
#include "../core/pace.c"
