// SPDX-License-Identifier: GPL-2.0-only
/* Of kmmv_stat.ko, too: kbuild wants an object of each module's own. */
#include "../core/pace.c"
