// SPDX-License-Identifier: GPL-2.0-only
/* slots.c with the flexible allocator: built with CONFIG_KMMV_FLEXIBLE. */
#include "slots.c"
