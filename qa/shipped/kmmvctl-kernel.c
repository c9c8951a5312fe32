// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded into kmmvctl: a directory below $KERNEL becomes like that of kmmv_trace.ko.
 * It has attributes after mkdir, refuses writes as the module does, and each change is a
 * line in $KERNEL/log. What is counted is not its business. The metrics that it knows are
 * files in $KERNEL/families, which kmmv.ko forgets when it is unloaded. While there is a
 * file $KERNEL/full, it has no memory to enable a counter; each one takes a byte away, and
 * the file if it has none. While there is $KERNEL/busy, no directory can be removed; with
 * $KERNEL/dead, ftrace has failed: nothing can be disabled, and what was removed counts.
 * The machine is $MACHINE, or one with registers enough.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

static const char *const attributes[] = { "tracepoint", "function", "value",
					  "key",	"max_keys", "event",
					  "units",	"oneline",  "help",
					  "enable",	"state",    "error",
					  "hits" };

#define NR (sizeof(attributes) / sizeof(*attributes))

static void note(const char *what, const char *name, const char *more)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/log", getenv("KERNEL"));
	f = fopen(path, "a");
	if (!f)
		abort();
	fprintf(f, "%s %s%s%s\n", what, name, *more ? " " : "", more);
	fclose(f);
}

/* The counter's name, with what follows, in a path of one; or NULL. */
static const char *counter_of(const char *path)
{
	static const char part[] = "/kmmv/trace/";
	const char *root = getenv("KERNEL"), *at;

	if (!root || strncmp(path, root, strlen(root)))
		return NULL;
	at = strstr(path, part);
	return at ? at + strlen(part) : NULL;
}

static void set(const char *dir, const char *attribute, const char *text)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, attribute);
	f = fopen(path, "w");
	if (!f)
		abort();
	fprintf(f, "%s%s", text, *text ? "\n" : "");
	fclose(f);
}

static void get(const char *dir, const char *attribute, char *text, int size)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, attribute);
	f = fopen(path, "r");
	if (!f || !fgets(text, size, f))
		*text = '\0';
	if (f)
		fclose(f);
	text[strcspn(text, "\n")] = '\0';
}

static bool has(const char *file)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", getenv("KERNEL"), file);
	return !access(path, F_OK);
}

int uname(struct utsname *name)
{
	const char *machine = getenv("MACHINE");

	memset(name, 0, sizeof(*name));
	snprintf(name->machine, sizeof(name->machine), "%s",
		 machine ? machine : "x86_64");
	return 0;
}

int mkdir(const char *path, mode_t mode)
{
	const char *name = counter_of(path);
	unsigned int i;

	if (name && !strcmp(name, "stat")) {
		errno = EADDRINUSE;
		return -1;
	}
	if (name && !strcmp(name, "removed") && has("dead")) {
		errno = EBUSY;
		return -1;
	}
	if (syscall(SYS_mkdirat, AT_FDCWD, path, mode))
		return -1;
	if (!name)
		return 0;
	note("mkdir", name, "");
	for (i = 0; i < NR; i++)
		set(path, attributes[i],
		    !strcmp(attributes[i], "max_keys") ? "64"
		    : !strcmp(attributes[i], "enable") ||
				    !strcmp(attributes[i], "hits")
			    ? "0"
		    : !strcmp(attributes[i], "state") ? "off"
						      : "");
	return 0;
}

int rmdir(const char *path)
{
	const char *name = counter_of(path);
	char file[4096];
	unsigned int i;

	if (name && has("busy")) {
		errno = EBUSY;
		return -1;
	}
	for (i = 0; name && i < NR; i++) {
		snprintf(file, sizeof(file), "%s/%s", path, attributes[i]);
		unlink(file);
	}
	if (syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR))
		return -1;
	if (name)
		note("rmdir", name, "");
	return 0;
}

static int refuse(const char *dir, int err, const char *line)
{
	set(dir, "error", line);
	errno = err;
	return -1;
}

/* What the module registers for a counter, besides the name. */
static void family_of(const char *dir, char *family, int size)
{
	char units[64], oneline[256], help[1024], value[256], key[256];
	char function[256], tracepoint[256];

	get(dir, "units", units, sizeof(units));
	get(dir, "oneline", oneline, sizeof(oneline));
	get(dir, "help", help, sizeof(help));
	get(dir, "value", value, sizeof(value));
	get(dir, "key", key, sizeof(key));
	get(dir, "function", function, sizeof(function));
	get(dir, "tracepoint", tracepoint, sizeof(tracepoint));
	value[strcspn(value, "=")] = '\0';
	if (!*oneline)
		snprintf(oneline, sizeof(oneline), "%.60s of %.60s%.60s%s",
			 value, function, tracepoint, *key ? ", by key" : "");
	snprintf(family, size, "%s %s %s %s", *units ? units : "count",
		 *key || !strncmp(value, "log2 ", 5) ? "copied" : "direct",
		 oneline, help);
}

/* A metric keeps its units and texts, whoever registers it. */
static int register_family(const char *dir)
{
	char path[4096], known[2048], family[2048];
	const char *root = getenv("KERNEL");

	snprintf(path, sizeof(path), "%s/families", root);
	syscall(SYS_mkdirat, AT_FDCWD, path, 0755);
	family_of(dir, family, sizeof(family));
	get(path, strrchr(dir, '/') + 1, known, sizeof(known));
	if (!*known)
		set(path, strrchr(dir, '/') + 1, family);
	return *known && strcmp(known, family) ? -1 : 0;
}

static bool is_full(void)
{
	char path[4096];
	struct stat st;

	snprintf(path, sizeof(path), "%s/full", getenv("KERNEL"));
	if (stat(path, &st))
		return false;
	return !(st.st_size ? truncate(path, st.st_size - 1) : unlink(path));
}

static int enable(const char *dir)
{
	char function[256], tracepoint[256], state[16];

	get(dir, "state", state, sizeof(state));
	if (!strcmp(state, "stale"))
		return refuse(dir, ESTALE, "the module is back");

	get(dir, "function", function, sizeof(function));
	get(dir, "tracepoint", tracepoint, sizeof(tracepoint));
	if (!strcmp(function, "qa_*")) {
		set(dir, "state", "failed");
		return refuse(dir, E2BIG, "more functions than max_functions");
	}
	if (!strcmp(function, "qa_inlined"))
		return refuse(dir, ENOENT, "no such function");
	if (is_full())
		return refuse(dir, ENOMEM, "no memory");
	if (register_family(dir))
		return refuse(dir, EEXIST, "registered with other units, texts or values");
	set(dir, "state", strstr(tracepoint, "absent") ? "waiting" : "on");
	return 0;
}

ssize_t write(int fd, const void *data, size_t size)
{
	char link[64], dir[4096] = "", text[4096], enabled[8], *attribute;
	const char *name;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (readlink(link, dir, sizeof(dir) - 1) < 0)
		*dir = '\0';
	name = counter_of(dir);
	if (!name || size >= sizeof(text))
		return syscall(SYS_write, fd, data, size);
	snprintf(text, sizeof(text), "%.*s", (int)size - 1, (const char *)data);
	note("write", name, text);
	attribute = strrchr(dir, '/');
	*attribute++ = '\0';
	get(dir, "enable", enabled, sizeof(enabled));
	if (strcmp(attribute, "enable") && *enabled == '1')
		return refuse(dir, EBUSY, "the counter is enabled");
	if (!strcmp(attribute, "units") && !strcmp(text, "apples"))
		return refuse(dir, EINVAL, "not units in PCP's spelling");
	if (!strcmp(attribute, "enable") && *text == '0' && has("dead"))
		return refuse(dir, ENODEV, "ftrace has failed");
	if (!strcmp(attribute, "enable") && *text == '0')
		set(dir, "state", "off");
	if (!strcmp(attribute, "enable") && *text == '1' && enable(dir))
		return -1;
	set(dir, "error", "");
	if (ftruncate(fd, 0))
		abort();
	return syscall(SYS_pwrite64, fd, data, size, 0L);
}
