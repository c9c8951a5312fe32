// SPDX-License-Identifier: GPL-2.0-only
#define FIRST	burn1_first
#define SECOND	burn1_second
#include "burn.c"
