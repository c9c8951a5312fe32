/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Configuration files: a section for each counter. */
#ifndef KMMV_CTL_CONFIG_H
#define KMMV_CTL_CONFIG_H

#include <stdbool.h>

#include "counter.h"

/*
 * ctl_config_read - append the counters of a file to a list
 * @path: the file; "-" is standard input
 * @counters: the list; a name that is in it already is an error of the second one
 *
 * What is wrong with one counter is in its @fault, also a line of its section that is
 * too long or no attribute: the others are of use.
 *
 * Return: 0; -EINVAL if a line before the first section, or a heading, is not in the
 * form of a configuration file, the first such line being in the reason; another error
 * if it cannot be read.
 */
int ctl_config_read(const char *path, struct counter **counters);

/*
 * ctl_config_is_absent - whether there is no such file or directory
 *
 * A link that leads nowhere is there: what it leads to may not be mounted yet.
 */
bool ctl_config_is_absent(const char *path);

/*
 * ctl_config_read_dir - those that are named *.conf, in the order of their names
 *
 * Return: 0, also if the directory is not there; the first error otherwise, after
 * all files have been read.
 */
int ctl_config_read_dir(const char *dir, struct counter **counters);

#endif /* KMMV_CTL_CONFIG_H */
