// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "configfs.h"
#include "fault.h"

/* An attribute is not longer than a page. */
#define ATTRIBUTE_BYTES 65536

int kmmv_configfs_ready(const struct places *p)
{
	if (!access(p->counters, F_OK))
		return 0;
	if (access(p->config, F_OK))
		return kmmv_fault_set(-ENOENT,
				      "there is no %s: mount -t configfs "
				      "none /sys/kernel/config",
				      p->config);
	return kmmv_fault_set(-ENOENT,
			      "there is no %s: modprobe kmmv_trace, and "
			      "see that configfs is mounted",
			      p->counters);
}

static int is_counter(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

int kmmv_configfs_names(const struct places *p, char ***names)
{
	struct dirent **entries;
	int i, nr, err;
	char **list;

	err = kmmv_configfs_ready(p);
	if (err)
		return err;
	nr = scandir(p->counters, &entries, is_counter, alphasort);
	if (nr < 0)
		return kmmv_fault_set(-errno, "%s: %s", p->counters,
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
		kmmv_configfs_names_free(list, nr);
		list = NULL;
	}
	if (!list)
		return kmmv_fault_memory();
	*names = list;
	return nr;
}

void kmmv_configfs_names_free(char **names, int nr)
{
	int i;

	for (i = 0; i < nr; i++)
		free(names[i]);
	if (nr >= 0)
		free(names);
}

static char *path_of(const struct places *p, const char *name,
		     const char *attribute)
{
	char *path;

	if (asprintf(&path, "%s/%s%s%s", p->counters, name,
		     attribute ? "/" : "", attribute ?: "") >= 0)
		return path;
	kmmv_fault_memory();
	return NULL;
}

bool kmmv_configfs_has(const struct places *p, const char *name)
{
	char *path = path_of(p, name, NULL);
	bool has = path && !access(path, F_OK);

	free(path);
	return has;
}

/* An attribute's text comes from one read. */
char *kmmv_configfs_get(const struct places *p, const char *name,
			const char *attribute)
{
	char *path = path_of(p, name, attribute), *text;
	ssize_t length = -1;
	int fd, err = 0;

	text = malloc(ATTRIBUTE_BYTES);
	if (!path || !text) {
		kmmv_fault_memory();
		goto err_free;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		err = errno;
	} else {
		length = read(fd, text, ATTRIBUTE_BYTES - 1);
		err = errno;
		close(fd);
	}
	if (length < 0) {
		kmmv_fault_set(-err, "%s: %s", path, strerror(err));
		goto err_free;
	}
	while (length && text[length - 1] == '\n')
		length--;
	text[length] = '\0';
	free(path);
	return text;

err_free:
	free(text);
	free(path);
	return NULL;
}

/* The module's own words, if it has some. */
static int refused(const struct places *p, const char *name,
		   const char *attribute, int err)
{
	char *line = kmmv_configfs_get(p, name, "error");

	kmmv_fault_set(err, "%s: %s: %s", name, attribute,
		       line && *line ? line : strerror(-err));
	free(line);
	return err;
}

int kmmv_configfs_put(const struct places *p, const char *name,
		      const char *attribute, const char *text)
{
	char *path = path_of(p, name, attribute), *line;
	int fd, length, err = 0;

	if (!path)
		return -ENOMEM;
	length = asprintf(&line, "%s\n", text);
	if (length < 0) {
		free(path);
		return kmmv_fault_memory();
	}
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0) {
		err = kmmv_fault_set(-errno, "%s: %s", path, strerror(errno));
	} else {
		/* One write: each sets the attribute. */
		if (write(fd, line, length) != length)
			err = refused(p, name, attribute, -errno);
		close(fd);
	}
	free(line);
	free(path);
	return err;
}

int kmmv_configfs_read(const struct places *p, const char *name,
		       struct counter **counter)
{
	struct counter *c;
	unsigned int i;
	int err;

	err = kmmv_configfs_ready(p);
	if (err)
		return err;
	err = kmmv_counter_new(name, &c);
	if (err)
		return err;
	if (!kmmv_configfs_has(p, name)) {
		kmmv_counter_free(c);
		return kmmv_fault_set(-ENOENT, "there is no counter %s", name);
	}
	for (i = 0; i < NR_ATTRIBUTES; i++) {
		c->attr[i] =
			kmmv_configfs_get(p, name, kmmv_attribute_names[i]);
		if (!c->attr[i]) {
			kmmv_counter_free(c);
			return -EIO;
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

int kmmv_configfs_remove(const struct places *p, const char *name)
{
	char *path;
	int err;

	err = kmmv_configfs_ready(p);
	if (err)
		return err;
	path = path_of(p, name, NULL);
	if (!path)
		return -ENOMEM;
	if (rmdir(path))
		err = -errno;
	free(path);
	if (err == -ENOENT)
		return kmmv_fault_set(err, "there is no counter %s", name);
	return err ? kmmv_fault_set(err, "%s: %s", name, strerror(-err)) : 0;
}

static int make_directory(const struct places *p, const char *name)
{
	char *path = path_of(p, name, NULL);
	int err;

	if (!path)
		return -ENOMEM;
	err = mkdir(path, 0755) ? -errno : 0;
	free(path);
	if (err == -EEXIST)
		return kmmv_fault_set(
			err, "there is a counter %s: remove it first", name);
	if (err == -EADDRINUSE)
		return kmmv_fault_set(err, "%s is a name of the module's own",
				      name);
	return err ? kmmv_fault_set(err, "%s: %s", name, strerror(-err)) : 0;
}

int kmmv_configfs_make(const struct places *p, const struct counter *c)
{
	char reason[1024];
	unsigned int i;
	int err;

	err = kmmv_configfs_ready(p);
	if (!err)
		err = make_directory(p, c->name);
	if (err)
		return err;
	for (i = 0; !err && i < NR_ATTRIBUTES; i++)
		if (c->attr[i])
			err = kmmv_configfs_put(p, c->name,
						kmmv_attribute_names[i],
						c->attr[i]);
	if (!err && kmmv_counter_is_on(c))
		err = kmmv_configfs_put(p, c->name, "enable", "1");
	if (!err)
		return 0;
	snprintf(reason, sizeof(reason), "%s", kmmv_fault_text());
	kmmv_configfs_remove(p, c->name);
	return kmmv_fault_set(err, "%s", reason);
}
