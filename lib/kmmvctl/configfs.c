// SPDX-License-Identifier: LGPL-2.1-or-later
/* The counters' directories in configfs: list, read, write, make, remove. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "configfs.h"
#include "fault.h"

/* An attribute is not longer than a page. */
#define ATTRIBUTE_BYTES 65536

int ctl_configfs_ready(const struct places *p)
{
	if (!access(p->counters, F_OK))
		return 0;
	if (access(p->config, F_OK))
		return ctl_fault_set(-ENOENT,
				     "there is no %s: mount -t configfs "
				     "none /sys/kernel/config",
				     p->config);
	return ctl_fault_set(-ENOENT,
			     "there is no %s: modprobe kmmv_trace, and "
			     "see that configfs is mounted",
			     p->counters);
}

static int is_counter(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

int ctl_configfs_names(const struct places *p, char ***names)
{
	struct dirent **entries;
	int i, nr, err;
	char **list;

	err = ctl_configfs_ready(p);
	if (err)
		return err;
	nr = scandir(p->counters, &entries, is_counter, alphasort);
	if (nr < 0)
		return ctl_fault_set(-errno, "%s: %s", p->counters,
				     strerror(errno));
	list = calloc(nr + 1, sizeof(*list));
	for (i = 0; i < nr; i++) {
		if (list)
			list[i] = strdup(entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	for (i = 0; list && i < nr; i++) {
		if (list[i])
			continue;
		ctl_configfs_names_free(list, nr);
		list = NULL;
	}
	if (!list)
		return ctl_fault_memory();
	*names = list;
	return nr;
}

void ctl_configfs_names_free(char **names, int nr)
{
	int i;

	for (i = 0; i < nr; i++)
		free(names[i]);
	if (nr >= 0)
		free(names);
}

/* In the caller's memory: whether a counter is there does not depend on malloc(). */
static int path_of(const struct places *p, const char *name,
		   const char *attribute, char path[PATH_MAX])
{
	if (snprintf(path, PATH_MAX, "%s/%s%s%s", p->counters, name,
		     attribute ? "/" : "", attribute ?: "") < PATH_MAX)
		return 0;
	return ctl_fault_set(-ENAMETOOLONG, "%.40s...: the name is too long",
			     name);
}

bool ctl_configfs_has(const struct places *p, const char *name)
{
	char path[PATH_MAX];

	return !path_of(p, name, NULL, path) && !access(path, F_OK);
}

/*
 * A counter of another version of the module may lack an attribute. One that is being
 * removed has none, also not the one that every version has.
 */
static bool is_whole(const struct places *p, const char *name)
{
	char path[PATH_MAX];

	return !path_of(p, name, ctl_attribute_names[ATTR_ENABLE], path) &&
	       !access(path, F_OK);
}

/* An attribute's text comes from one read. */
static int read_attribute(const struct places *p, const char *name,
			  const char *attribute, char *text, size_t size)
{
	char path[PATH_MAX];
	ssize_t length;
	int fd, err;

	err = path_of(p, name, attribute, path);
	if (err)
		return err;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		err = errno;
		ctl_fault_set(-err, "%s: %s", path, strerror(err));
		return err == ENOENT && is_whole(p, name) ? -EIO : -err;
	}
	length = read(fd, text, size - 1);
	if (length < 0)
		err = ctl_fault_set(-errno, "%s: %s", path, strerror(errno));
	close(fd);
	if (err)
		return err;
	while (length && text[length - 1] == '\n')
		length--;
	text[length] = '\0';
	return 0;
}

int ctl_configfs_get(const struct places *p, const char *name,
		     const char *attribute, char **text)
{
	int err;

	*text = malloc(ATTRIBUTE_BYTES);
	if (!*text)
		return ctl_fault_memory();
	err = read_attribute(p, name, attribute, *text, ATTRIBUTE_BYTES);
	if (err) {
		free(*text);
		*text = NULL;
	}
	return err;
}

bool ctl_configfs_state_is(const struct places *p, const char *name,
			   const char *state)
{
	char text[64];

	return !read_attribute(p, name, "state", text, sizeof(text)) &&
	       !strcmp(text, state);
}

/* The reason is the module's own message, if it has one. */
static int refused(const struct places *p, const char *name,
		   const char *attribute, int err)
{
	char line[1024];

	if (read_attribute(p, name, "error", line, sizeof(line)))
		*line = '\0';
	return ctl_fault_set(err, "%s: %s: %s", name, attribute,
			     *line ? line : strerror(-err));
}

int ctl_configfs_put(const struct places *p, const char *name,
		     const char *attribute, const char *text)
{
	char path[PATH_MAX], *line;
	int fd, length, err;

	err = path_of(p, name, attribute, path);
	if (err)
		return err;
	length = asprintf(&line, "%s\n", text);
	if (length < 0)
		return ctl_fault_memory();
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0) {
		err = ctl_fault_set(-errno, "%s: %s", path, strerror(errno));
	} else {
		/* In one write: each write sets the attribute. */
		if (write(fd, line, length) != length)
			err = refused(p, name, attribute, -errno);
		close(fd);
	}
	free(line);
	return err;
}

int ctl_configfs_read(const struct places *p, const char *name,
		      struct counter **counter)
{
	struct counter *c;
	unsigned int i;
	int err;

	err = ctl_configfs_ready(p);
	if (err)
		return err;
	err = ctl_counter_new(name, &c);
	if (err)
		return err;
	if (!ctl_configfs_has(p, name)) {
		ctl_counter_free(c);
		return ctl_fault_set(-ENOENT, "there is no counter %s", name);
	}
	for (i = 0; i < NR_ATTRIBUTES; i++) {
		err = ctl_configfs_get(p, name, ctl_attribute_names[i],
				       &c->attr[i]);
		if (err) {
			ctl_counter_free(c);
			return err;
		}
		if (*c->attr[i])
			continue;
		free(c->attr[i]);
		c->attr[i] = NULL;
	}
	c->text[ATTR_ENABLE] = c->attr[ATTR_ENABLE];
	c->attr[ATTR_ENABLE] = NULL;
	*counter = c;
	return 0;
}

int ctl_configfs_remove(const struct places *p, const char *name)
{
	char path[PATH_MAX], *was = NULL;
	int err;

	err = ctl_configfs_ready(p) ?: path_of(p, name, NULL, path);
	if (err)
		return err;
	/* If ftrace is dead, it cannot be disabled, and would count on when removed. */
	ctl_configfs_get(p, name, "enable", &was);
	err = ctl_configfs_put(p, name, "enable", "0");
	if (err && err != -ENOENT && err != -EACCES) {
		free(was);
		return err;
	}
	err = rmdir(path) ? -errno : 0;
	if (err && was && *was == '1')
		ctl_configfs_put(p, name, "enable", was);
	free(was);
	if (err == -ENOENT)
		return ctl_fault_set(err, "there is no counter %s", name);
	return err ? ctl_fault_set(err, "%s: %s", name, strerror(-err)) : 0;
}

static int make_directory(const struct places *p, const char *name)
{
	char path[PATH_MAX];
	int err;

	err = path_of(p, name, NULL, path);
	if (err)
		return err;
	err = mkdir(path, 0755) ? -errno : 0;
	if (err == -EEXIST)
		return ctl_fault_set(
			err, "there is a counter %s: remove it first", name);
	if (err == -EADDRINUSE)
		return ctl_fault_set(err, "%s is a name of the module's own",
				     name);
	if (err == -EBUSY)
		return ctl_fault_set(
			err,
			"the removed counter %s continues to count until the "
			"next boot, as the kernel's ftrace has failed",
			name);
	return err ? ctl_fault_set(err, "%s: %s", name, strerror(-err)) : 0;
}

int ctl_configfs_make(const struct places *p, const struct counter *c)
{
	char reason[1024];
	unsigned int i;
	int err;

	err = ctl_configfs_ready(p);
	if (!err)
		err = make_directory(p, c->name);
	if (err)
		return err;
	for (i = 0; !err && i < NR_ATTRIBUTES; i++)
		if (c->attr[i])
			err = ctl_configfs_put(
				p, c->name, ctl_attribute_names[i], c->attr[i]);
	if (!err && ctl_counter_is_on(c))
		err = ctl_configfs_put(p, c->name, "enable", "1");
	if (!err)
		return 0;
	snprintf(reason, sizeof(reason), "%s", ctl_fault_text());
	if (ctl_configfs_remove(p, c->name) == -ENODEV)
		return ctl_fault_set(
			err, "%s; it stays, and may count, until the next boot",
			reason);
	return ctl_fault_set(err, "%s", reason);
}
