// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared by the files of kmmv.ko: the table, which main.c initialises, and
 * whether the devices may be opened.
 */
#include "module.h"

struct kmmv_table kmmv_table;
bool kmmv_live;
