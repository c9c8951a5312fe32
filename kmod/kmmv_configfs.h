/* SPDX-License-Identifier: GPL-2.0-only */
/* Directories of kmmv's modules in configfs, beside kmmv/rings. */
#ifndef KMMV_CONFIGFS_H
#define KMMV_CONFIGFS_H

#include <linux/configfs.h>

/**
 * kmmv_register_directory() - have a directory in /sys/kernel/config/kmmv
 * @group: initialised, of a type that the caller owns
 *
 * What is made in it holds the caller's module, so that kmmv_unregister_directory()
 * finds it empty.
 *
 * Context: task, may sleep; in no callback of configfs.
 * Return: 0; -EEXIST if there is one of this name; -ENOMEM.
 */
int kmmv_register_directory(struct config_group *group);

/**
 * kmmv_unregister_directory() - remove a directory
 * @group: of kmmv_register_directory()
 *
 * Context: task, may sleep; in no callback of configfs.
 */
void kmmv_unregister_directory(struct config_group *group);

#endif /* KMMV_CONFIGFS_H */
