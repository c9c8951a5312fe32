// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The name space below kmmv, all of it dynamic: pmcd asks the agent. It is
 * rebuilt when a family appears. Names stay in it while the agent runs, except
 * for those that conflict with a newer one.
 */
#include <errno.h>
#include "provider.h"

static pmdaNameSpace *tree;

static int nr_inserted;
static bool due; /* for want of memory, it is incomplete */

static void insert(pmID pmid, const char *prefix, const char *name)
{
	char path[512];
	int rc;

	pmsprintf(path, sizeof(path), "kmmv.%s%s", prefix, name);
	rc = pmdaTreeInsert(tree, pmid, path);
	if (rc == -ENOMEM) {
		agent_attach_no_memory("the name %s", path);
		due = true;
	} else if (rc < 0) {
		agent_error(&tree, "%s: cannot be a metric's name", path);
	}
	nr_inserted++;
}

bool agent_pmns_is_due(void)
{
	return due;
}

void agent_pmns_rebuild(void)
{
	pmdaNameSpace *old = tree;

	due = pmdaTreeCreate(&tree) < 0;
	if (due) {
		tree = old;
		agent_attach_no_memory("the name space");
		return;
	}
	if (old)
		pmdaTreeRelease(old);
	agent_error_begin(&tree);
	nr_inserted = 0;
	/* Siblings are listed in reverse order of insertion. */
	agent_provider_names(insert);
	agent_error_end(&tree);
	pmdaTreeRebuildHash(tree, nr_inserted);
}

int agent_pmns_pmid(const char *name, pmID *pmid, pmdaExt *ext)
{
	(void)ext;
	agent_attach_sync();
	return pmdaTreePMID(tree, name, pmid);
}

int agent_pmns_name(pmID pmid, char ***names, pmdaExt *ext)
{
	(void)ext;
	agent_attach_sync();
	return pmdaTreeName(tree, pmid, names);
}

int agent_pmns_children(const char *name, int traverse, char ***names,
			int **status, pmdaExt *ext)
{
	(void)ext;
	/* libpcp_pmda leaves both untouched if there are no children. */
	*names = NULL;
	*status = NULL;
	agent_attach_sync();
	return pmdaTreeChildren(tree, name, traverse, names, status);
}
