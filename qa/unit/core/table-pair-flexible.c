// SPDX-License-Identifier: GPL-2.0-only
/*
 * table.c without 64-bit atomicity and with the flexible allocator: built with
 * KMMV_SHIM_PAIR and CONFIG_KMMV_FLEXIBLE.
 */
#include "table.c"
