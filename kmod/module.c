// SPDX-License-Identifier: GPL-2.0-only
/*
 * What all files of kmmv.ko look at; main.c makes it.
 */
#include "module.h"

struct kmmv_table kmmv_table;
bool kmmv_live;
