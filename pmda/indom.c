// SPDX-License-Identifier: GPL-2.0-or-later
/* Instance domains: lists of instances in profiles, and results for libpcp. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "agent.h"

static int copy_sorted(const struct pmInDomProfile *p, const int **ids,
		       int *count)
{
	static int *list;
	static int room;
	int i, n = 0;

	if (p->instances_len > room) {
		int *new = realloc(list, p->instances_len * sizeof(*list));

		if (!new)
			return -ENOMEM;
		list = new;
		room = p->instances_len;
	}
	if (p->instances_len > 0) {
		memcpy(list, p->instances, p->instances_len * sizeof(*list));
		qsort(list, p->instances_len, sizeof(*list),
		      agent_indom_compare);
	}
	for (i = 0; i < p->instances_len; i++) {
		if (n == 0 || list[n - 1] != list[i])
			list[n++] = list[i];
	}
	*ids = list;
	*count = n;
	return 0;
}

static const struct pmInDomProfile *find_list(pmInDom indom,
					      const pmProfile *profile)
{
	int i;

	for (i = 0; i < profile->profile_len; i++) {
		if (profile->profile[i].indom == indom)
			return &profile->profile[i];
	}
	return NULL;
}

bool agent_indom_has_list(pmInDom indom, const pmProfile *profile)
{
	const struct pmInDomProfile *p =
		profile ? find_list(indom, profile) : NULL;

	return p && p->instances_len;
}

int agent_indom_profile(pmInDom indom, const pmProfile *profile, bool *listed,
			const int **ids, int *count)
{
	const struct pmInDomProfile *p;

	*ids = NULL;
	*count = 0;
	*listed = false;
	if (!profile)
		return 0;
	p = find_list(indom, profile);
	*listed = (p ? p->state : profile->state) == PM_PROFILE_EXCLUDE;
	return p ? copy_sorted(p, ids, count) : 0;
}

/* libpcp frees the parts one by one. */
void agent_indom_free(pmInResult *res)
{
	int i;

	if (res->namelist) {
		for (i = 0; i < res->numinst; i++)
			free(res->namelist[i]);
	}
	free(res->namelist);
	free(res->instlist);
	free(res);
}

pmInResult *agent_indom_alloc(pmInDom indom, uint32_t count, bool ids,
			      bool names)
{
	pmInResult *res = calloc(1, sizeof(*res));

	if (!res)
		return NULL;
	res->indom = indom;
	res->numinst = count;
	if (ids)
		res->instlist = calloc(count + 1, sizeof(*res->instlist));
	if (names)
		res->namelist = calloc(count + 1, sizeof(*res->namelist));
	if ((ids && !res->instlist) || (names && !res->namelist)) {
		agent_indom_free(res);
		return NULL;
	}
	return res;
}
