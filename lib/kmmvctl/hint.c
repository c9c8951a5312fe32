// SPDX-License-Identifier: LGPL-2.1-or-later
/* Collect the names nearest to one that does not exist. */
#include <stdio.h>
#include <string.h>

#include "fault.h"
#include "hint.h"

#define LONGEST 63
#define NR_BEST 3

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* The least number of characters to insert, delete or replace. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[LONGEST + 1], i, j, diagonal, above;
	size_t nr_a = strlen(a), nr_b = strlen(b);

	if (nr_a > LONGEST || nr_b > LONGEST)
		return -1U;
	for (j = 0; j <= nr_b; j++)
		row[j] = j;
	for (i = 1; i <= nr_a; i++) {
		diagonal = row[0];
		row[0] = i;
		for (j = 1; j <= nr_b; j++) {
			above = row[j];
			row[j] = least(diagonal + (a[i - 1] != b[j - 1]),
				       least(above, row[j - 1]) + 1);
			diagonal = above;
		}
	}
	return row[nr_b];
}

void ctl_hint_begin(struct hint *h, const char *wanted)
{
	memset(h, 0, sizeof(*h));
	h->wanted = wanted;
}

void ctl_hint_offer(struct hint *h, const char *name)
{
	/* A short name is near to every short name. */
	unsigned int limit = 1 + strlen(h->wanted) / 4;
	unsigned int d = distance(h->wanted, name), i, at;

	if (strlen(h->wanted) >= 4 && strlen(name) <= LONGEST &&
	    strstr(name, h->wanted))
		d = least(d, limit);
	if (d > limit)
		return;
	for (i = 0; i < h->nr; i++)
		if (!strcmp(h->best[i], name))
			return;
	for (at = 0; at < h->nr && h->distance[at] <= d; at++)
		;
	if (at == NR_BEST)
		return;
	if (h->nr < NR_BEST)
		h->nr++;
	for (i = h->nr - 1; i > at; i--) {
		strcpy(h->best[i], h->best[i - 1]);
		h->distance[i] = h->distance[i - 1];
	}
	snprintf(h->best[at], sizeof(h->best[at]), "%s", name);
	h->distance[at] = d;
}

void ctl_hint_say(const struct hint *h)
{
	unsigned int i;

	for (i = 0; i < h->nr; i++)
		ctl_fault_add("%s%s", i ? ", " : "; near: ", h->best[i]);
}
