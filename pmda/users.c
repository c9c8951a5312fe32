// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The users that the file $PCP_SYSCONF_DIR/kmmv/users names.
 *
 * Names are looked up in /etc/passwd alone. A client's connection may be what
 * makes the agent read the files again, and other requests wait meanwhile: if a
 * name service were asked that does not answer, pmcd would time out the agent.
 */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include "access.h"

#define USERS_MAX 256
#define PASSWD	  "/etc/passwd"

static char *users_path;
static uid_t users[USERS_MAX];
static int nr_users;
static uid_t excluded;

/* The user of a line: NAME, or a number. */
static void add_user(const char *name, uid_t id)
{
	if (id == excluded)
		agent_error(users,
			    "%s: user %s is refused: pmproxy runs as this user",
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
		if (agent_number_id(word, &id)) {
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

void agent_users_look(void)
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

uid_t agent_users_find(const char *name)
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

void agent_users_init(uid_t service)
{
	const char *dir = pmGetOptionalConfig("PCP_SYSCONF_DIR");
	char path[MAXPATHLEN];

	excluded = service;
	pmsprintf(path, sizeof(path), "%s/kmmv/users", dir ? dir : "/etc/pcp");
	users_path = strdup(path);
	if (!users_path)
		pmNoMem("path of users", strlen(path) + 1, PM_FATAL_ERR);
	agent_users_look();
}

bool agent_users_has(uid_t user)
{
	int i;

	for (i = 0; i < nr_users; i++) {
		if (users[i] == user)
			return true;
	}
	return false;
}
