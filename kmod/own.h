/* SPDX-License-Identifier: GPL-2.0-only */
/* Exports of kmmv.ko for the modules of this tree only. */
#ifndef KMMV_OWN_H
#define KMMV_OWN_H

#include <linux/kmmv.h>

int kmmv_register_own_family(const struct kmmv_family *family);
int kmmv_find_inactive(int family, int number, char *name);

#endif /* KMMV_OWN_H */
