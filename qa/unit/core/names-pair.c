// SPDX-License-Identifier: GPL-2.0-only
/* names.c without 64-bit atomicity: built with KMMV_SHIM_PAIR. */
#include "names.c"
