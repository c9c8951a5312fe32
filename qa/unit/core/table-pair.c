// SPDX-License-Identifier: GPL-2.0-only
/* table.c without 64-bit atomicity: built with KMMV_SHIM_PAIR. */
#include "table.c"
