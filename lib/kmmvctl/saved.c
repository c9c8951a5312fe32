// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fault.h"
#include "saved.h"

static const char applied_line[] = "# from a configuration file\n";
static const char added_line[] = "# from the command line\n";

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

int kmmv_saved_put(const struct places *p, const struct counter *c,
		   bool applied)
{
	char *text = kmmv_counter_print(c);
	char *path = kmmv_saved_path(p, c->name), *new = NULL;
	int err = 0;
	FILE *f;

	if (!text || !path || asprintf(&new, "%s/.new", p->run) < 0) {
		new = NULL;
		err = kmmv_fault_memory();
		goto out;
	}
	f = fopen(new, "we");
	if (!f) {
		err = kmmv_fault_set(-errno, "%s: %s", new, strerror(errno));
		goto out;
	}
	fprintf(f, "%s%s", applied ? applied_line : added_line, text);
	if (fclose(f) || rename(new, path))
		err = kmmv_fault_set(-errno, "%s: %s", path, strerror(errno));
out:
	free(new);
	free(path);
	free(text);
	return err;
}

char *kmmv_saved_get(const struct places *p, const char *name, bool *applied)
{
	char *path = kmmv_saved_path(p, name), *text = NULL, *end;
	size_t size = 0;
	ssize_t length = -1;
	FILE *f = NULL;

	if (path)
		f = fopen(path, "re");
	free(path);
	if (!f)
		return NULL;
	length = getdelim(&text, &size, '\0', f);
	fclose(f);
	end = length > 0 ? strchr(text, '\n') : NULL;
	if (!end) {
		free(text);
		return NULL;
	}
	*applied = !strncmp(text, applied_line, strlen(applied_line));
	memmove(text, end + 1, strlen(end + 1) + 1);
	return text;
}

void kmmv_saved_remove(const struct places *p, const char *name)
{
	char *path = kmmv_saved_path(p, name);

	if (path)
		unlink(path);
	free(path);
}
