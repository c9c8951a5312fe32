// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The name space below kmmv, all of it dynamic: pmcd asks the agent. It is
 * rebuilt when a family appears. Names stay in it while the agent runs, except
 * for those that conflict with a newer one.
 */
#include "provider.h"

static pmdaNameSpace *tree;

static int nr_inserted;

static void insert(pmID pmid, const char *prefix, const char *name)
{
	char path[512];

	pmsprintf(path, sizeof(path), "kmmv.%s%s", prefix, name);
	if (pmdaTreeInsert(tree, pmid, path) < 0)
		agent_error(&tree, "%s: cannot be a metric's name", path);
	nr_inserted++;
}

void agent_pmns_rebuild(void)
{
	if (tree)
		pmdaTreeRelease(tree);
	if (pmdaTreeCreate(&tree) < 0) {
		tree = NULL;
		agent_error(&tree, "no memory for the name space");
		return;
	}
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
