/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the lasting numbers of a scope are for; see id.h. */
#ifndef KMMV_IDSCOPE_H
#define KMMV_IDSCOPE_H

#include "agent.h"

enum { NR_SCOPES = FIRST_SERIAL + 2 * MAX_FAMILIES };

static inline bool agent_idscope_is_instance(int scope)
{
	return scope >= FIRST_SERIAL && scope % 2 == 0;
}

/* Blocks of the CPUs of instances, see agent.h. */
static inline bool agent_idscope_is_block(int scope)
{
	return scope >= FIRST_SERIAL && scope % 2;
}

#endif /* KMMV_IDSCOPE_H */
