// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who may store, and have events. pmcd tells the attributes of each client context. A process
 * identifier among them means a local connection: a user who authenticated
 * from another machine has a uid and none.
 */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include "agent.h"

enum { HAVE_UID = 1, HAVE_GID = 2, HAVE_PID = 4 };

struct context {
	int ctx;
	unsigned int have;
	uid_t uid;
	gid_t gid;
};

static struct context *contexts;
static int nr_contexts;

/* -1 is that of an entry that is free. */
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

static bool to_id(const char *value, int length, unsigned int *id)
{
	char *end;

	if (!value || length < 2 || *value < '0' || *value > '9')
		return false;
	*id = strtoul(value, &end, 10);
	return *end == '\0';
}

int agent_access_attribute(int ctx, int key, const char *value, int length,
			   pmdaExt *ext)
{
	struct context *c;
	unsigned int id;

	(void)ext;
	if (pmDebugOptions.appl1)
		pmNotifyErr(LOG_DEBUG, "context %d: attribute %d = %s", ctx,
			    key, value ? value : "");
	if (key != PMDA_ATTR_USERID && key != PMDA_ATTR_GROUPID &&
	    key != PMDA_ATTR_PROCESSID)
		return 0;
	c = find_or_add(ctx);
	if (!c)
		return -ENOMEM;
	if (!to_id(value, length, &id))
		return 0;
	switch (key) {
	case PMDA_ATTR_USERID:
		c->uid = id;
		c->have |= HAVE_UID;
		break;
	case PMDA_ATTR_GROUPID:
		c->gid = id;
		c->have |= HAVE_GID;
		break;
	default:
		c->have |= HAVE_PID;
	}
	return 0;
}

void agent_access_end(int ctx)
{
	struct context *c = find(ctx);

	if (!c)
		return;
	c->ctx = -1;
	c->have = 0;
}

static bool in_group(uid_t uid, gid_t gid, gid_t wanted)
{
	gid_t groups[256];
	struct passwd *pw;
	int i, n = sizeof(groups) / sizeof(groups[0]);

	if (gid == wanted)
		return true;
	pw = getpwuid(uid);
	if (!pw || getgrouplist(pw->pw_name, gid, groups, &n) < 0)
		return false;
	for (i = 0; i < n; i++) {
		if (groups[i] == wanted)
			return true;
	}
	return false;
}

bool agent_access_allowed(int ctx)
{
	const unsigned int local = HAVE_UID | HAVE_GID | HAVE_PID;
	const struct context *c = find(ctx);
	const char *name = pmGetOptionalConfig("PCP_GROUP");
	struct group *group;

	if (!c || (c->have & local) != local)
		return false;
	if (c->uid == 0)
		return true;
	group = getgrnam(name ? name : "pcp");
	return group && in_group(c->uid, c->gid, group->gr_gid);
}
