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
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#include "access.h"

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

void agent_access_init(void)
{
	const char *name = pmGetOptionalConfig("PCP_USER");

	service = agent_users_find(name && *name ? name : "pcp");
	/* If the service runs as root, do not exclude root. */
	if (service == 0)
		service = -1;
	agent_users_init(service);
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
 * none, as a pmproxy that has ended serves no client: its uid counts, as it would
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
	agent_users_look();
	if (!value || !agent_number_id(value, &id))
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

	return c && (c->uid == 0 || agent_users_has(c->uid));
}
