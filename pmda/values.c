// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Value sets, one allocation each. pmdaFetch() makes one per 64-bit value. Here
 * the value blocks follow the set. With PM_VAL_SPTR, the code that gets the set
 * (pmcd's encoder, a client with a local context that keeps results) frees the
 * set alone, so the blocks live as long as the set.
 */
#include <stdlib.h>
#include <string.h>
#include "values.h"

#define WORD_BLOCK 32

static pmValueSet *alloc_set(pmID pmid, uint32_t count, size_t blocks)
{
	pmValueSet *set = malloc(agent_values_size(count) + blocks);

	if (!set)
		return NULL;
	set->pmid = pmid;
	set->numval = count;
	set->valfmt = blocks ? PM_VAL_SPTR : PM_VAL_INSITU;
	set->vlist[0].inst = PM_IN_NULL;
	return set;
}

pmValueSet *agent_values_alloc(pmID pmid, uint32_t count)
{
	return alloc_set(pmid, count, count * AGENT_U64_BLOCK);
}

pmValueSet *agent_values_alloc_u32(pmID pmid, uint32_t count)
{
	return alloc_set(pmid, count, 0);
}

pmValueSet *agent_values_alloc_strings(pmID pmid, uint32_t count)
{
	return alloc_set(pmid, count, count * WORD_BLOCK);
}

void agent_values_put_string(pmValueSet *set, uint32_t count, uint32_t index,
			     int inst, const char *text)
{
	char *blocks = (char *)set + agent_values_size(count);
	pmValueBlock *block;

	block = (pmValueBlock *)(blocks + index * WORD_BLOCK);
	pmsprintf(block->vbuf, WORD_BLOCK - PM_VAL_HDR_SIZE, "%s", text);
	block->vtype = PM_TYPE_STRING;
	block->vlen = PM_VAL_HDR_SIZE + strlen(block->vbuf) + 1;
	set->vlist[index].inst = inst;
	set->vlist[index].value.pval = block;
}

pmValueSet *agent_values_alloc_bytes(pmID pmid, uint32_t count, size_t bytes,
				     char **at)
{
	pmValueSet *set = alloc_set(pmid, count, bytes);

	if (set)
		*at = (char *)set + agent_values_size(count);
	return set;
}

pmValueSet *agent_values_error(pmID pmid, int status)
{
	pmValueSet *set = alloc_set(pmid, 0, 0);

	if (set)
		set->numval = status;
	return set;
}

pmValueSet *agent_values_u32(pmID pmid, uint32_t value)
{
	pmValueSet *set = alloc_set(pmid, 1, 0);

	if (set)
		set->vlist[0].value.lval = value;
	return set;
}

pmValueSet *agent_values_u64(pmID pmid, uint64_t value)
{
	pmValueSet *set = agent_values_alloc(pmid, 1);

	if (set)
		agent_values_put(set, 1, 0, PM_IN_NULL, PM_TYPE_U64, value);
	return set;
}

pmValueSet *agent_values_string(pmID pmid, const char *text)
{
	size_t len = strlen(text) + 1;
	pmValueSet *set = alloc_set(pmid, 1, PM_VAL_HDR_SIZE + len);
	pmValueBlock *block;

	if (!set)
		return NULL;
	block = (pmValueBlock *)((char *)set + agent_values_size(1));
	block->vtype = PM_TYPE_STRING;
	block->vlen = PM_VAL_HDR_SIZE + len;
	memcpy(block->vbuf, text, len);
	set->vlist[0].value.pval = block;
	return set;
}
