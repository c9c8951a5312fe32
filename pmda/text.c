// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Help. The control metrics have theirs in a compiled file; what a family
 * means is told by the kernel that registered it.
 */
#include "agent.h"

static char text[2048];

static const char *const views[NR_ITEMS] = {
	[ITEM_SUM] = "One value for each active instance: the sum over all possible CPUs.",
	[ITEM_PERCPU] =
		"One value for each active instance and CPU, named instance::cpuN. At\n"
		"most kmmv.control.percpu.limit instances are listed.",
	[ITEM_ALL] =
		"One value, over all possible CPUs and all instances, including those\n"
		"that are no longer active, so that a counter never falls.",
};

static int family_text(const struct family *f, unsigned int item, int type,
		       char **result)
{
	static const char *const suffix[NR_ITEMS] = {
		"", " (per CPU)", " (all instances)"
	};

	if (type & PM_TEXT_ONELINE)
		pmsprintf(text, sizeof(text), "%s%s",
			  f->oneline[0] ? f->oneline : f->name, suffix[item]);
	else
		pmsprintf(text, sizeof(text), "%s%s%s",
			  f->help[0] ? f->help : f->oneline,
			  f->help[0] || f->oneline[0] ? "\n" : "",
			  views[item]);
	*result = text;
	return 0;
}

static int ring_indom_text(bool percpu, int type, char **result)
{
	if (type & PM_TEXT_ONELINE)
		pmsprintf(text, sizeof(text), percpu ? "rings on each CPU" :
						       "rings");
	else
		pmsprintf(text, sizeof(text),
			  percpu ? "Ring buffers of events, kmmv/ring below /dev, on each CPU that has an area, as\n"
				   "RING::cpuN. Identifiers last, and are never given out again." :
				   "Ring buffers of events, kmmv/ring below /dev. Identifiers last, and are never\n"
				   "given out again.");
	*result = text;
	return 0;
}

static int indom_text(pmInDom indom, int type, char **result)
{
	struct family *f;
	bool percpu;
	int fid;

	if (agent_ring_is_indom(indom, &percpu))
		return ring_indom_text(percpu, type, result);
	f = agent_family_of_indom(indom, &percpu, &fid);
	if (!f)
		return PM_ERR_INDOM;
	if (type & PM_TEXT_ONELINE)
		pmsprintf(text, sizeof(text), "instances of %s%s", f->name,
			  percpu ? " on each CPU" : "");
	else
		pmsprintf(text, sizeof(text),
			  "The active instances of kmmv.value.%s%s. White space in a name is replaced by\n"
			  "'_', a name that clashes has a suffix; the label \"name\" is the kernel's\n"
			  "own. Identifiers last, and are never given out again.",
			  f->name, percpu ? ", on each CPU as name::cpuN" : "");
	*result = text;
	return 0;
}

int agent_text(int ident, int type, char **result, pmdaExt *ext)
{
	unsigned int item = pmID_item(ident);
	struct family *f;

	agent_attach_sync();
	if ((type & PM_TEXT_PMID) != PM_TEXT_PMID)
		return indom_text(ident, type, result);
	if (agent_param_is(ident) &&
	    pmID_cluster(ident) != CLUSTER_RING_EVENT) {
		*result = text;
		return agent_param_text(ident, type & PM_TEXT_ONELINE, text,
					sizeof(text));
	}
	if (pmID_cluster(ident) < FIRST_CLUSTER)
		return pmdaText(ident, type, result, ext);
	f = agent_family((int)pmID_cluster(ident) - FIRST_CLUSTER);
	if (!f || item >= NR_ITEMS ||
	    (item == ITEM_ALL && !agent_family_has_total(f)))
		return PM_ERR_PMID;
	return family_text(f, item, type, result);
}
