/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Value sets: made, filled; see values.c. */
#ifndef KMMV_VALUES_H
#define KMMV_VALUES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <pcp/pmapi.h>

/*
 * A value set with room for COUNT values is one allocation, value blocks
 * included: with PM_VAL_SPTR, libpcp and libpcp_pmda free the set alone, so the
 * values live exactly as long as the set.
 */
pmValueSet *agent_values_alloc(pmID pmid, uint32_t count);

/* The size of a set, and where its value blocks are. */
static inline size_t agent_values_size(uint32_t count)
{
	return offsetof(pmValueSet, vlist) +
	       (count ? count : 1) * sizeof(pmValue);
}

#define AGENT_U64_BLOCK (PM_VAL_HDR_SIZE + sizeof(uint64_t))

/* TYPE is PM_TYPE_U64 or PM_TYPE_64. */
static inline void agent_values_put(pmValueSet *set, uint32_t count,
				    uint32_t index, int inst, int type,
				    uint64_t value)
{
	char *blocks = (char *)set + agent_values_size(count);
	pmValueBlock *block;

	block = (pmValueBlock *)(blocks + index * AGENT_U64_BLOCK);
	block->vtype = type;
	block->vlen = AGENT_U64_BLOCK;
	memcpy(block->vbuf, &value, sizeof(value));
	set->vlist[index].inst = inst;
	set->vlist[index].value.pval = block;
}

/* The same for many values in turn: the next one, and its block. */
struct filling {
	pmValue *next;
	char *block;
	pmValueBlock head;
};

static inline struct filling agent_values_begin(pmValueSet *set,
						uint32_t count, int type)
{
	struct filling fill = {
		.next = set->vlist,
		.block = (char *)set + agent_values_size(count),
	};

	fill.head.vtype = type;
	fill.head.vlen = AGENT_U64_BLOCK;
	return fill;
}

static inline void agent_values_add(struct filling *fill, int inst,
				    uint64_t value)
{
	memcpy(fill->block, &fill->head, PM_VAL_HDR_SIZE);
	memcpy(fill->block + PM_VAL_HDR_SIZE, &value, sizeof(value));
	fill->next->inst = inst;
	fill->next++->value.pval = (pmValueBlock *)fill->block;
	fill->block += AGENT_U64_BLOCK;
}

pmValueSet *agent_values_alloc_u32(pmID pmid, uint32_t count);
pmValueSet *agent_values_alloc_strings(pmID pmid, uint32_t count);
/* For short words: longer text is truncated. */
void agent_values_put_string(pmValueSet *set, uint32_t count, uint32_t index,
			     int inst, const char *text);
/* With BYTES of room for value blocks at *AT. */
pmValueSet *agent_values_alloc_bytes(pmID pmid, uint32_t count, size_t bytes,
				     char **at);
pmValueSet *agent_values_error(pmID pmid, int status);
pmValueSet *agent_values_u32(pmID pmid, uint32_t value);
pmValueSet *agent_values_u64(pmID pmid, uint64_t value);
pmValueSet *agent_values_string(pmID pmid, const char *text);

#endif /* KMMV_VALUES_H */
