// SPDX-License-Identifier: GPL-2.0-only
#define FIRST	burn2_first
#define SECOND	burn2_second
#include "burn.c"
