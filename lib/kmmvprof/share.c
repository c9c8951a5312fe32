// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The method of the largest remainder (Hamilton): each gets its share rounded
 * down, and what is left goes, one by one, to those with the greatest remainders.
 */
#include <errno.h>
#include <stdlib.h>

#include "share.h"

enum { WHOLE = 10000 };

struct remainder {
	uint64_t left;
	size_t index;
};

/* The greatest remainder first, then the first of equals. */
static int compare(const void *one, const void *two)
{
	const struct remainder *a = one, *b = two;

	if (a->left != b->left)
		return a->left < b->left ? 1 : -1;
	return (a->index > b->index) - (a->index < b->index);
}

/* The bits to shift by, so that WHOLE times the sum fits. */
static unsigned int scale(const uint64_t *weights, size_t n)
{
	unsigned int shift = 0;
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += weights[i];
	while (sum >> shift > UINT64_MAX / WHOLE)
		shift++;
	return shift;
}

int prof_share_split(const uint64_t *weights, size_t n, uint32_t *hundredths)
{
	unsigned int shift = scale(weights, n);
	struct remainder *remainders;
	uint64_t sum = 0, part;
	uint32_t left = WHOLE;
	size_t i;

	for (i = 0; i < n; i++) {
		sum += weights[i] >> shift;
		hundredths[i] = 0;
	}
	if (!sum)
		return 0;
	remainders = calloc(n, sizeof(*remainders));
	if (!remainders)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		part = (weights[i] >> shift) * WHOLE;
		hundredths[i] = (uint32_t)(part / sum);
		left -= hundredths[i];
		remainders[i] = (struct remainder){ part % sum, i };
	}
	qsort(remainders, n, sizeof(*remainders), compare);
	for (i = 0; i < left; i++)
		hundredths[remainders[i].index]++;
	free(remainders);
	return 0;
}
