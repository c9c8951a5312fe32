// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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

int kmmv_saved_lock(const struct places *p)
{
	char *path;
	int fd, err = 0;

	if (mkdir(p->run, 0755) && errno != EEXIST)
		return kmmv_fault_set(-errno, "%s: %s", p->run,
				      strerror(errno));
	if (asprintf(&path, "%s/.lock", p->run) < 0)
		return kmmv_fault_memory();
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX))
		err = kmmv_fault_set(-errno, "%s: %s", path, strerror(errno));
	free(path);
	if (err && fd >= 0)
		close(fd);
	return err ?: fd;
}

char *kmmv_saved_path(const struct places *p, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", p->run, name) < 0 ? NULL : path;
}

int kmmv_saved_mark(const struct places *p)
{
	char *path = kmmv_saved_path(p, ".system");
	int fd;

	if (!path)
		return kmmv_fault_memory();
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	free(path);
	if (fd < 0)
		return kmmv_fault_set(-errno, "%s: %s", p->run,
				      strerror(errno));
	close(fd);
	return 0;
}

bool kmmv_saved_is_marked(const struct places *p)
{
	char *path = kmmv_saved_path(p, ".system");
	bool marked = path && !access(path, F_OK);

	free(path);
	return marked;
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

	err = kmmv_configfs_read(p, name, &c);
	if (err)
		return err;
	for (i = 0; i < NR_ATTRIBUTES; i++)
		sum = add_text(sum, c->attr[i] ?: "");
	kmmv_counter_free(c);
	if (asprintf(line, "%s%016" PRIx64 "\n", sum_word, sum) >= 0)
		return 0;
	*line = NULL;
	return kmmv_fault_memory();
}

int kmmv_saved_put(const struct places *p, const struct counter *c,
		   bool applied)
{
	char *text = kmmv_counter_print(c);
	char *path = kmmv_saved_path(p, c->name), *new = NULL, *sum = NULL;
	int err = 0;
	FILE *f;

	if (!text || !path || asprintf(&new, "%s/.new", p->run) < 0) {
		new = NULL;
		err = kmmv_fault_memory();
		goto out;
	}
	err = print_sum(p, c->name, &sum);
	if (err)
		goto out;
	f = fopen(new, "we");
	if (!f) {
		err = kmmv_fault_set(-errno, "%s: %s", new, strerror(errno));
		goto out;
	}
	fprintf(f, "%s%s%s", applied ? applied_line : added_line, sum, text);
	if (fclose(f) || rename(new, path))
		err = kmmv_fault_set(-errno, "%s: %s", path, strerror(errno));
out:
	free(sum);
	free(new);
	free(path);
	free(text);
	return err;
}

/* All of a file, or NULL. */
static char *read_file(const struct places *p, const char *name)
{
	char *path = kmmv_saved_path(p, name), *text = NULL;
	size_t size = 0;
	FILE *f = NULL;

	if (path)
		f = fopen(path, "re");
	free(path);
	if (!f)
		return NULL;
	if (getdelim(&text, &size, '\0', f) < 0) {
		free(text);
		text = NULL;
	}
	fclose(f);
	return text;
}

char *kmmv_saved_get(const struct places *p, const char *name, bool *applied)
{
	char *text = read_file(p, name), *at = text;

	while (at && *at == '#') {
		at = strchr(at, '\n');
		if (at)
			at++;
	}
	if (!at) {
		free(text);
		return NULL;
	}
	*applied = !strncmp(text, applied_line, strlen(applied_line));
	memmove(text, at, strlen(at) + 1);
	return text;
}

bool kmmv_saved_is_current(const struct places *p, const char *name)
{
	char *text = read_file(p, name), *sum = NULL;
	const char *end = text ? strchr(text, '\n') : NULL;
	bool current = end && !print_sum(p, name, &sum) &&
		       !strncmp(end + 1, sum, strlen(sum));

	free(sum);
	free(text);
	return current;
}

void kmmv_saved_remove(const struct places *p, const char *name)
{
	char *path = kmmv_saved_path(p, name);

	if (path)
		unlink(path);
	free(path);
}
