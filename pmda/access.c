// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Permissions. Root may store values and read events; the users that the file
 * $PCP_SYSCONF_DIR/kmmv/users names may read events, too. A client is
 * identified by the attributes that pmcd passes for its context: with a process
 * identifier it is local, while a user who authenticated from another machine
 * has a uid and no process identifier.
 *
 * pmproxy is local, but acts for all web clients. It runs as the service's
 * user, who has no permissions, whichever uid its contexts have. A client whose
 * process cannot be looked at has none either.
 *
 * Names are looked up in /etc/passwd alone. A client's connection may be what
 * makes the agent read the files again, and other requests wait meanwhile: if a
 * name service were asked that does not answer, pmcd would time out the agent.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#include "agent.h"

#define USERS_MAX 256
#define PASSWD	  "/etc/passwd"

enum { HAVE_UID = 1, HAVE_PID = 2 };

struct context {
	int ctx;
	unsigned int have;
	uid_t uid;
	bool service;	/* it or its client process is or may be the service's */
};

static struct context *contexts;
static int nr_contexts;
static uid_t service = -1;	/* -1: no such user */
static char *users_path;
static uid_t users[USERS_MAX];
static int nr_users;

/* A free entry has context -1. */
static struct context *find(int ctx)
{
	int i;

	for (i = 0; i < nr_contexts; i++) {
		if (contexts[i].ctx == ctx)
			return &contexts[i];
	}
	return NULL;
}

static struct context *find_or_add(int ctx)
{
	struct context *c = find(ctx);

	if (c)
		return c;
	c = find(-1);
	if (!c) {
		c = realloc(contexts, (nr_contexts + 1) * sizeof(*c));
		if (!c)
			return NULL;
		contexts = c;
		c = &contexts[nr_contexts++];
	}
	memset(c, 0, sizeof(*c));
	c->ctx = ctx;
	return c;
}

static bool to_id(const char *value, unsigned int *id)
{
	/* The greatest number is nobody's. */
	return value && agent_number_alone(value, id) && *id != UINT32_MAX;
}

/* The user of a line: NAME, or a number. */
static void add_user(const char *name, uid_t id)
{
	if (id == service)
		agent_error(users,
			    "%s: user %s is excluded, as pmproxy acts for all",
			    users_path, name);
	else
		users[nr_users++] = id;
}

/*
 * Look NAMES up, and free them; an error does not affect other users. Return:
 * whether the file could be read.
 */
static bool add_names(char **names, int count)
{
	const struct passwd *pw;
	bool was_read;
	FILE *file;
	int i;

	if (!count)
		return true;
	errno = 0;
	file = fopen(PASSWD, "re");
	while (file && (pw = fgetpwent(file))) {
		for (i = 0; i < count; i++) {
			if (!names[i] || strcmp(names[i], pw->pw_name) != 0)
				continue;
			add_user(names[i], pw->pw_uid);
			free(names[i]);
			names[i] = NULL;
		}
	}
	was_read = file && !ferror(file) && errno != ENOMEM;
	if (!was_read)
		agent_error(users, "%s: %s", PASSWD, osstrerror());
	for (i = 0; i < count; i++) {
		if (names[i] && was_read)
			agent_error(users,
				    "%s: no user %s in %s, give the number",
				    users_path, names[i], PASSWD);
		free(names[i]);
	}
	if (file)
		fclose(file);
	return was_read;
}

/*
 * The first word of a line is a user, "#" begins a comment. Return: whether all
 * could be read.
 */
static bool read_users(void)
{
	char *line = NULL, *word, *names[USERS_MAX];
	unsigned int id;
	size_t size = 0;
	bool unread = false;
	int count = 0;
	FILE *file;

	nr_users = 0;
	file = fopen(users_path, "re");
	if (!file) {
		if (errno == ENOENT)
			return true;
		agent_error(users, "%s: %s", users_path, osstrerror());
		return false;
	}
	for (;;) {
		if (getline(&line, &size, file) < 0) {
			unread = !feof(file);
			break;
		}
		line[strcspn(line, "#")] = '\0';
		word = strtok(line, " \t\r\n");
		if (!word)
			continue;
		if (nr_users + count == USERS_MAX) {
			agent_error(users, "%s: more than %d users", users_path,
				    USERS_MAX);
			break;
		}
		if (to_id(word, &id)) {
			add_user(word, id);
			continue;
		}
		names[count] = strdup(word);
		if (!names[count]) {
			unread = true;
			break;
		}
		count++;
	}
	if (unread)
		agent_error(users, "%s: %s", users_path, osstrerror());
	free(line);
	fclose(file);
	return add_names(names, count) && !unread;
}

/*
 * Whether a file, or its permissions, have changed since the last call; SEEN is
 * what it was.
 */
static bool changed(const char *path, struct stat *seen)
{
	struct stat st, old = *seen;

	if (stat(path, &st) < 0)
		memset(&st, 0, sizeof(st));
	*seen = st;
	return st.st_dev != old.st_dev || st.st_ino != old.st_ino ||
	       st.st_size != old.st_size ||
	       st.st_ctim.tv_sec != old.st_ctim.tv_sec ||
	       st.st_ctim.tv_nsec != old.st_ctim.tv_nsec;
}

/*
 * Read the files again if one has changed, or could not be read; called when a
 * client connects.
 */
static void look_at_users(void)
{
	static struct stat users_seen, passwd_seen;
	static bool were_read;
	bool other = changed(users_path, &users_seen);

	if (!changed(PASSWD, &passwd_seen) && !other && were_read)
		return;
	agent_error_begin(users);
	were_read = read_users();
	agent_error_end(users);
}

/*
 * The service's uid, or -1. A name service is asked only if the file does not
 * have the user; in that case the daemon has already waited for it, when it
 * changed to that user.
 */
static uid_t find_service(const char *name)
{
	FILE *file = fopen(PASSWD, "re");
	const struct passwd *pw = NULL;

	while (file && (pw = fgetpwent(file))) {
		if (strcmp(pw->pw_name, name) == 0)
			break;
	}
	if (!pw)
		pw = getpwnam(name);
	if (file)
		fclose(file);
	return pw ? pw->pw_uid : (uid_t)-1;
}

void agent_access_init(void)
{
	const char *name = pmGetOptionalConfig("PCP_USER");
	const char *dir = pmGetOptionalConfig("PCP_SYSCONF_DIR");
	char path[MAXPATHLEN];

	service = find_service(name && *name ? name : "pcp");
	/* If the service runs as root, do not exclude root. */
	if (service == 0)
		service = -1;
	pmsprintf(path, sizeof(path), "%s/kmmv/users", dir ? dir : "/etc/pcp");
	users_path = strdup(path);
	if (!users_path)
		pmNoMem("path of users", strlen(path) + 1, PM_FATAL_ERR);
	look_at_users();
}

/* Whether the client process is named pmproxy; -errno if that is not known. */
static int is_pmproxy(unsigned int pid)
{
	char path[32], name[32];
	FILE *file;
	int rc = 0;

	pmsprintf(path, sizeof(path), "/proc/%u/comm", pid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	if (fgets(name, sizeof(name), file))
		rc = strcmp(name, "pmproxy\n") == 0;
	else
		rc = -ESRCH;
	fclose(file);
	return rc;
}

/*
 * The uid of a context does not suffice: a user who authenticated through
 * pmproxy has a uid of their own, and a pmproxy started by hand may be root's.
 *
 * A process that cannot be looked at may be a pmproxy, and counts as one: with
 * hidepid, /proc hides those of other users from the agent. So does one of a
 * namespace beside the agent's, which is number 0 here. One that has ended is
 * none, as a pmproxy that has ended serves nobody: its uid counts, as it would
 * have a moment earlier. kill() tells the two apart: hidepid does not affect it.
 */
static bool is_services(unsigned int pid)
{
	static const char hidden[1];
	struct stat st = { .st_uid = geteuid() };
	char path[32];
	int rc;

	/* For kill() these are more than one process. */
	if (pid == 0 || pid > INT_MAX)
		return true;
	pmsprintf(path, sizeof(path), "/proc/%u", pid);
	if (stat(path, &st) == 0 && st.st_uid == service)
		return true;
	rc = is_pmproxy(pid);
	if (rc >= 0) {
		/* The agent may look at those of its own user in any case. */
		if (st.st_uid != geteuid())
			agent_error_settle(hidden);
		return rc;
	}
	if (kill(pid, 0) < 0 && errno == ESRCH)
		return false;
	agent_error(
		hidden,
		"clients may neither store nor fetch events: /proc hides their processes, see hidepid in pmdakmmv(1)");
	return true;
}

int agent_access_attribute(int ctx, int key, const char *value, int length,
			   pmdaExt *ext)
{
	struct context *c;
	unsigned int id;

	(void)length;
	(void)ext;
	if (pmDebugOptions.appl1)
		pmNotifyErr(LOG_DEBUG, "context %d: attribute %d = %s", ctx,
			    key, value ? value : "");
	if (key != PMDA_ATTR_USERID && key != PMDA_ATTR_PROCESSID)
		return 0;
	c = find_or_add(ctx);
	if (!c)
		return -ENOMEM;
	look_at_users();
	if (!to_id(value, &id))
		return 0;
	if (key == PMDA_ATTR_USERID) {
		c->uid = id;
		c->have |= HAVE_UID;
		c->service |= id == service;
	} else {
		c->have |= HAVE_PID;
		c->service |= is_services(id);
	}
	return 0;
}

void agent_access_end(int ctx)
{
	struct context *c = find(ctx);

	if (!c)
		return;
	memset(c, 0, sizeof(*c));
	c->ctx = -1;
}

static const struct context *local(int ctx)
{
	const struct context *c = find(ctx);

	if (!c || c->have != (HAVE_UID | HAVE_PID) || c->service)
		return NULL;
	return c;
}

bool agent_access_store(int ctx)
{
	const struct context *c = local(ctx);

	return c && c->uid == 0;
}

bool agent_access_events(int ctx)
{
	const struct context *c = local(ctx);
	int i;

	if (!c)
		return false;
	for (i = 0; i < nr_users; i++) {
		if (users[i] == c->uid)
			return true;
	}
	return c->uid == 0;
}
