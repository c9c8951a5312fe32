/* SPDX-License-Identifier: GPL-2.0-only */
/* Directories of kmmv's modules in configfs, beside kmmv/rings. */
#ifndef KMMV_CONFIGFS_H
#define KMMV_CONFIGFS_H

#include <linux/configfs.h>
#include <linux/ctype.h>
#include <linux/kstrtox.h>

/**
 * kmmv_number() - the number that was written to a file
 * @text: what was written: decimal digits only, as kstrtou64() would also take a
 *	sign; a newline may follow
 * @max: greatest number
 * @number: result
 *
 * Context: any.
 * Return: 0; -EINVAL for other text; -ERANGE.
 */
static inline int kmmv_number(const char *text, u64 max, u64 *number)
{
	int err = isdigit(*text) ? kstrtou64(text, 10, number) : -EINVAL;

	return !err && *number > max ? -ERANGE : err;
}

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
