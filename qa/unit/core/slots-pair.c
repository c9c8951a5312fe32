// SPDX-License-Identifier: GPL-2.0-only
/* slots.c without 64-bit atomicity: built with KMMV_SHIM_PAIR. */
#include "slots.c"
