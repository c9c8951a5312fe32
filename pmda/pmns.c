// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The name space below kmmv, all of it dynamic: pmcd asks here. It is built
 * anew when a family appears. Names stay in it while the agent runs, but for
 * those that stand in the way of a new one.
 */
#include <stdio.h>
#include <string.h>
#include "agent.h"

static pmdaNameSpace *tree;

static void insert(pmID pmid, const char *prefix, const char *name)
{
	char path[512];

	pmsprintf(path, sizeof(path), "kmmv.%s%s", prefix, name);
	if (pmdaTreeInsert(tree, pmid, path) < 0)
		agent_error("%s: cannot be a metric's name", path);
}

static int nr_inserted;

static void insert_ring(pmID pmid, const char *prefix, const char *name)
{
	insert(pmid, prefix, name);
	nr_inserted++;
}

static bool below(const char *name, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(name, prefix, len) == 0 && name[len] == '.';
}

/*
 * A family of an earlier epoch, whose name is now a branch or lies below a
 * metric, or is that of one with other units or semantics.
 */
static bool in_the_way(const struct family *old)
{
	int fid;

	if (old->present)
		return false;
	for (fid = 0; fid < agent_family_limit(); fid++) {
		const struct family *f = agent_family(fid);

		if (f && f->order > old->order &&
		    strcmp(f->name, old->name) == 0)
			return true;
		if (f && (f->present || f->order > old->order) &&
		    (below(f->name, old->name) || below(old->name, f->name)))
			return true;
	}
	return false;
}

void agent_pmns_rebuild(void)
{
	int fid, i, count = 0;

	if (tree)
		pmdaTreeRelease(tree);
	if (pmdaTreeCreate(&tree) < 0) {
		tree = NULL;
		agent_error("no memory for the name space");
		return;
	}
	/* Siblings come out in the reverse order. */
	for (fid = agent_family_limit() - 1; fid >= 0; fid--) {
		struct family *f = agent_family(fid);

		if (!f || in_the_way(f))
			continue;
		insert(agent_pmid(f, ITEM_SUM), "value.", f->name);
		insert(agent_pmid(f, ITEM_PERCPU), "percpu.", f->name);
		count += NR_ITEMS - 1;
		if (!agent_family_has_total(f))
			continue;
		insert(agent_pmid(f, ITEM_ALL), "all.", f->name);
		count++;
	}
	for (i = AGENT_NR_CONTROLS - 1; i >= 0; i--) {
		const struct control *control = agent_control(i);

		insert(pmID_build(agent_domain, CLUSTER_CONTROL, control->item),
		       "control.", control->name);
		count++;
	}
	nr_inserted = 0;
	agent_param_names(insert_ring);
	agent_ring_names(insert_ring);
	pmdaTreeRebuildHash(tree, count + nr_inserted);
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
	/* The library leaves them alone where there are no children. */
	*names = NULL;
	*status = NULL;
	agent_attach_sync();
	return pmdaTreeChildren(tree, name, traverse, names, status);
}
