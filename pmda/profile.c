// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The profiler's settings, which are files of kmmv_profile in configfs. A rule of
 * udev's, or ./Install, gives the agent's group two of them to write: the agent
 * decides who may, while the module decides what is possible. Its parameters
 * max_freq and max_overhead are limits that no client can store.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "agent.h"
#include "profile.h"

#define DIRECTORY "/sys/kernel/config/kmmv"

static const char *const files[] = {
	[AGENT_PROFILE_ENABLE] = "profile/enable",
	[AGENT_PROFILE_FREQ] = "profile/events/default/freq",
};

static void path_of(const char *file, char *path, size_t size)
{
	const char *dir = getenv("KMMV_CONFIG_DIR");

	pmsprintf(path, size, "%s/%s", dir && *dir ? dir : DIRECTORY, file);
}

/* The first line of a file, or -errno. */
static int read_line(const char *path, char *line, size_t size)
{
	ssize_t n;
	int fd, rc;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	n = read(fd, line, size - 1);
	rc = n < 0 ? -errno : 0;
	close(fd);
	line[n > 0 ? n : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return rc;
}

static bool is_absent(int rc)
{
	return rc == -ENOENT || rc == -ENODEV || rc == -ENOTDIR;
}

static int status_of(int rc)
{
	return rc == -EACCES || rc == -EPERM ? PM_ERR_PERMISSION : rc;
}

int agent_profile_get(enum agent_profile setting, uint32_t *value)
{
	char path[MAXPATHLEN], line[32];
	int rc;

	path_of(files[setting], path, sizeof(path));
	rc = read_line(path, line, sizeof(line));
	if (rc < 0)
		return is_absent(rc) ? 0 : status_of(rc);
	return agent_number_alone(line, value) ? 1 : PM_ERR_VALUE;
}

/* A refusal by the module. Its file "error" says more than RC, for either setting. */
static int refused(const char *path, uint32_t value, int rc)
{
	char error[MAXPATHLEN], line[128];

	if (rc == -ERANGE) {
		pmNotifyErr(
			LOG_WARNING,
			"%s: %u is beyond the limit, which is kmmv_profile's parameter max_freq",
			path, value);
		return PM_ERR_BADSTORE;
	}
	path_of("profile/error", error, sizeof(error));
	if (read_line(error, line, sizeof(line)) < 0 || !*line)
		pmsprintf(line, sizeof(line), "%s", strerror(-rc));
	pmNotifyErr(LOG_WARNING, "%s: the module refuses %u: %s", path, value,
		    line);
	return status_of(rc);
}

int agent_profile_set(enum agent_profile setting, uint32_t value)
{
	char path[MAXPATHLEN], text[16];
	int fd, rc, size;

	path_of(files[setting], path, sizeof(path));
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
	if (fd < 0) {
		rc = -errno;
		if (is_absent(rc)) {
			pmNotifyErr(
				LOG_WARNING,
				"%s: %s: the module kmmv_profile is not loaded",
				path, strerror(-rc));
			return PM_ERR_AGAIN;
		}
		pmNotifyErr(LOG_WARNING,
			    "%s: %s: ./Install lets the agent's group write it",
			    path, strerror(-rc));
		return status_of(rc);
	}
	size = pmsprintf(text, sizeof(text), "%u\n", value);
	rc = write(fd, text, size) == size ? 0 : -errno;
	close(fd);
	return rc < 0 ? refused(path, value, rc) : 0;
}
