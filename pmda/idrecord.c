// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records of lasting numbers, as text, in the order in which they are to be written.
 * Their format is in idfile.c.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "idfile.h"

static struct id_records pending;

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...)
{
	size_t need;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	need = pending.used + n + 1;
	if (need > pending.room) {
		size_t room = need < 4096 ? 8192 : 2 * need;
		char *text = realloc(pending.text, room);

		if (!text) {
			pending.failed = true;
			return;
		}
		pending.text = text;
		pending.room = room;
	}
	va_start(ap, format);
	vsnprintf(pending.text + pending.used, n + 1, format, ap);
	va_end(ap);
	if (strchr("*-!x", pending.text[pending.used]))
		pending.known = true;
	pending.used += n;
	pending.count++;
}

bool agent_idrecord_pending(void)
{
	return pending.used || pending.failed;
}

struct id_records agent_idrecord_take(void)
{
	struct id_records taken = pending;

	memset(&pending, 0, sizeof(pending));
	return taken;
}

void agent_idrecord_drop(void)
{
	free(agent_idrecord_take().text);
}

void agent_idrecord_name(const struct id *id)
{
	const char *rest = agent_id_rest(id);

	put("+ %d %d %s%s%s\n", id->scope, id->number, id->name,
	    *rest ? " " : "", rest);
}

void agent_idrecord_rest(const struct id *id)
{
	pending.known = true;
	agent_idrecord_name(id);
}

void agent_idrecord_state(struct id *id)
{
	static const char kinds[] = {
		[ID_USED] = '*', [ID_AWAY] = '-', [ID_FORGOTTEN] = '!'
	};

	if (id->state == ID_USED)
		put("* %d %d\n", id->scope, id->number);
	else
		put("%c %d %d %u\n", kinds[id->state], id->scope, id->number,
		    id->since);
	id->on_disk = id->state;
	id->recorded = true;
}

void agent_idrecord_purged(const struct id *id)
{
	put("x %d %d\n", id->scope, id->number);
}

static int compare_order(const void *a, const void *b)
{
	const struct id *x = *(struct id *const *)a;
	const struct id *y = *(struct id *const *)b;

	return x->order < y->order ? -1 : x->order > y->order;
}

/* Of those with one name, the last in order is current. */
static void put_in_order(int scope)
{
	static struct id *list[MAX_FIELDS];
	int i, count = 0;

	_Static_assert(MAX_FIELDS >= MAX_FAMILIES, "room for each scope");
	for (i = 0; i < agent_id_limit(scope); i++) {
		struct id *id = agent_id_by_number(scope, i);

		if (id && !id->own)
			list[count++] = id;
	}
	qsort(list, count, sizeof(*list), compare_order);
	for (i = 0; i < count; i++)
		agent_idrecord_name(list[i]);
}

void agent_idrecord_begin(void)
{
	int scope;

	put(ID_HEADER);
	for (scope = 0; scope < NR_SCOPES; scope++) {
		if (agent_id_limit(scope))
			put("= %d %d\n", scope, agent_id_limit(scope));
	}
	put_in_order(SERIAL_FAMILIES);
	put_in_order(SERIAL_FIELDS);
}

/* Blocks mean nothing without their instance. */
uint32_t agent_idrecord_entry(struct id *id)
{
	struct id *block;
	uint32_t n = 1;

	if (id->own || id->scope == SERIAL_FAMILIES ||
	    id->scope == SERIAL_FIELDS ||
	    agent_idscope_is_block(id->scope))
		return 0;
	agent_idrecord_name(id);
	if (!agent_idscope_is_instance(id->scope))
		return n;
	if (id->on_disk != ID_USED)
		agent_idrecord_state(id);
	for (block = id->blocks; block; block = block->blocks, n++) {
		if (!block->own)
			agent_idrecord_name(block);
	}
	return n;
}
