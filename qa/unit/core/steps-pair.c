// SPDX-License-Identifier: GPL-2.0-only
/* steps.c without 64-bit atomicity: built with KMMV_SHIM_PAIR. */
#include "steps.c"
