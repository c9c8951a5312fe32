// SPDX-License-Identifier: LGPL-2.1-or-later
/* The files in /run/kmmvctl: the users' definitions of counters, and marks. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "configfs.h"
#include "fault.h"
#include "saved.h"

static const char applied_line[] = "# from a configuration file\n";
static const char added_line[] = "# from the command line\n";
static const char sum_word[] = "# as ";

int ctl_saved_lock(const struct places *p)
{
	char path[PATH_MAX];
	int fd, err;

	if (mkdir(p->run, 0755) && errno != EEXIST)
		return ctl_fault_set(-errno, "%s: %s", p->run, strerror(errno));
	err = ctl_saved_path(p, ".lock", path);
	if (err)
		return err;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX))
		err = ctl_fault_set(-errno, "%s: %s", path, strerror(errno));
	if (err && fd >= 0)
		close(fd);
	return err ?: fd;
}

int ctl_saved_path(const struct places *p, const char *name,
		   char path[PATH_MAX])
{
	if (snprintf(path, PATH_MAX, "%s/%s", p->run, name) < PATH_MAX)
		return 0;
	return ctl_fault_set(-ENAMETOOLONG, "%.40s...: the name is too long",
			     name);
}

static int make_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0)
		return ctl_fault_set(-errno, "%s: %s", path, strerror(errno));
	close(fd);
	return 0;
}

int ctl_saved_mark(const struct places *p)
{
	char path[PATH_MAX];

	return ctl_saved_path(p, ".system", path) ?: make_file(path);
}

bool ctl_saved_is_marked(const struct places *p)
{
	char path[PATH_MAX];

	return !ctl_saved_path(p, ".system", path) && !access(path, F_OK);
}

/* No counter's name begins with a dot. */
static int left_path(const struct places *p, const char *name,
		     char path[PATH_MAX])
{
	char file[COUNTER_NAME + sizeof(".off.")];

	snprintf(file, sizeof(file), ".off.%s", name);
	return ctl_saved_path(p, file, path);
}

int ctl_saved_mark_left(const struct places *p, const char *name)
{
	char path[PATH_MAX];

	return left_path(p, name, path) ?: make_file(path);
}

void ctl_saved_unmark_left(const struct places *p, const char *name)
{
	char path[PATH_MAX];

	if (!left_path(p, name, path))
		unlink(path);
}

bool ctl_saved_is_left(const struct places *p, const char *name)
{
	char path[PATH_MAX];

	return !left_path(p, name, path) && !access(path, F_OK);
}

/* FNV-1a, with the NUL */
static uint64_t add_text(uint64_t sum, const char *text)
{
	do
		sum = (sum ^ (unsigned char)*text) * 0x100000001b3;
	while (*text++);
	return sum;
}

/* The line that says which attributes configfs has, whether or not it is enabled. */
static int print_sum(const struct places *p, const char *name, char **line)
{
	uint64_t sum = 0xcbf29ce484222325;
	struct counter *c;
	unsigned int i;
	int err;

	err = ctl_configfs_read(p, name, &c);
	if (err)
		return err;
	for (i = 0; i < NR_ATTRIBUTES; i++)
		sum = add_text(sum, c->attr[i] ?: "");
	ctl_counter_free(c);
	if (asprintf(line, "%s%016" PRIx64 "\n", sum_word, sum) >= 0)
		return 0;
	*line = NULL;
	return ctl_fault_memory();
}

int ctl_saved_put(const struct places *p, const struct counter *c, bool applied)
{
	char *text = ctl_counter_print(c), *sum = NULL;
	char path[PATH_MAX], new[PATH_MAX];
	FILE *f;
	int err;

	ctl_saved_unmark_left(p, c->name);
	err = text ? 0 : ctl_fault_memory();
	if (!err)
		err = ctl_saved_path(p, c->name, path);
	if (!err)
		err = ctl_saved_path(p, ".new", new);
	if (!err)
		err = print_sum(p, c->name, &sum);
	if (err)
		goto out;
	f = fopen(new, "we");
	if (!f) {
		err = ctl_fault_set(-errno, "%s: %s", new, strerror(errno));
		goto out;
	}
	fprintf(f, "%s%s%s", applied ? applied_line : added_line, sum, text);
	if (fclose(f) || rename(new, path))
		err = ctl_fault_set(-errno, "%s: %s", path, strerror(errno));
out:
	free(sum);
	free(text);
	return err;
}

/* All of a file; NULL if there is none, or nothing is in it. */
static int read_file(const struct places *p, const char *name, char **text)
{
	char path[PATH_MAX];
	size_t size = 0;
	FILE *f;
	int err;

	*text = NULL;
	err = ctl_saved_path(p, name, path);
	if (err)
		return err;
	f = fopen(path, "re");
	if (!f && errno == ENOENT)
		return 0;
	if (!f)
		return ctl_fault_set(-errno, "%s: %s", path, strerror(errno));
	errno = 0;
	if (getdelim(text, &size, '\0', f) < 0) {
		if (errno)
			err = ctl_fault_set(-errno, "%s: %s", path,
					    strerror(errno));
		free(*text);
		*text = NULL;
	}
	fclose(f);
	return err;
}

int ctl_saved_get(const struct places *p, const char *name, char **saved,
		  bool *applied)
{
	char *text, *at;
	int err;

	*saved = NULL;
	err = read_file(p, name, &text);
	at = text;
	while (at && *at == '#') {
		at = strchr(at, '\n');
		if (at)
			at++;
	}
	if (!at) {
		free(text);
		return err;
	}
	*applied = !strncmp(text, applied_line, strlen(applied_line));
	memmove(text, at, strlen(at) + 1);
	*saved = text;
	return 0;
}

int ctl_saved_is_current(const struct places *p, const char *name)
{
	char *text, *sum = NULL;
	const char *end;
	int rc;

	rc = read_file(p, name, &text);
	end = text ? strchr(text, '\n') : NULL;
	if (!rc && end) {
		rc = print_sum(p, name, &sum);
		if (!rc)
			rc = !strncmp(end + 1, sum, strlen(sum));
	}
	free(sum);
	free(text);
	return rc;
}

void ctl_saved_remove(const struct places *p, const char *name)
{
	char path[PATH_MAX];

	ctl_saved_unmark_left(p, name);
	if (!ctl_saved_path(p, name, path))
		unlink(path);
}
