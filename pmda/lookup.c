// SPDX-License-Identifier: GPL-2.0-or-later
/* Instances that this process has, by what clients know them by. */
#include "agent.h"

struct inst *agent_instance_by_name(struct family *f, const char *name)
{
	struct id *id = agent_id_find(agent_scope_of(f), name);

	return id && id->user ? &f->insts[id->user - 1] : NULL;
}

struct inst *agent_instance_by_id(struct family *f, int number)
{
	struct id *id = agent_id_by_number(agent_scope_of(f), number);

	return id && id->user ? &f->insts[id->user - 1] : NULL;
}
