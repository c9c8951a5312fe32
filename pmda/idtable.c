// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lasting numbers in memory: indexed by name and by number. See id.h and
 * idtable.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "idtable.h"

/* Numbers of instances that are skipped after a damaged record. */
#define SKIP 65536
/* The length of "+ 2 0 a\n", the shortest record that gives out a number. */
#define SHORTEST 8

_Static_assert(NR_SCOPES <= 1 << 24, "struct id has 24 bits of it");

static struct scope {
	int limit;	/* numbers below were given out */
	int own;	/* the same, for this process alone */
	uint32_t rests;
} scopes[NR_SCOPES];

static struct id **names, **numbers;	/* hash chains */
static uint32_t nr_chains, nr_ids, nr_own;
static uint32_t nr_marks;		/* scopes with a limit */
static uint32_t order;
static bool walking;	/* do not rehash */

/* The range of a scope's numbers. */
static int range(int scope)
{
	switch (scope) {
	case SERIAL_FAMILIES:
		return MAX_FAMILIES;
	case SERIAL_FIELDS:
		return MAX_FIELDS;
	case SERIAL_RINGS:
		return MAX_RINGS;
	default:
		return agent_idscope_is_block(scope) ? PERCPU_MAX_BLOCKS : INT32_MAX;
	}
}

/* The first number that is not fixed. */
static int first(int scope)
{
	return scope == SERIAL_FAMILIES ? FIRST_FREE_FAMILY : 0;
}

static uint32_t hash_name(int scope, const char *name)
{
	uint64_t hash = agent_hash(AGENT_HASH_INIT + scope, name);

	return hash ^ hash >> 32;
}

static uint32_t hash_number(int scope, int number)
{
	uint64_t hash = ((uint64_t)scope << 32 | (uint32_t)number) *
			0x9e3779b97f4a7c15ULL;

	return hash >> 32;
}

static struct id **number_chain(int scope, int number)
{
	return &numbers[hash_number(scope, number) & (nr_chains - 1)];
}

static void put_into_chains(struct id *id)
{
	struct id **chain = &names[id->hash & (nr_chains - 1)];

	id->by_name = *chain;
	*chain = id;
	chain = number_chain(id->scope, id->number);
	id->by_number = *chain;
	*chain = id;
}

/* Up to four names a chain: those before the one looked for differ in the hash. */
static int grow(void)
{
	uint32_t i, old = nr_chains;
	struct id **all = names, **new_names, **new_numbers;

	if (nr_ids < 4 * nr_chains || (walking && nr_chains))
		return 0;
	nr_chains = nr_chains ? 2 * nr_chains : 1024;
	new_names = calloc(nr_chains, sizeof(*names));
	new_numbers = calloc(nr_chains, sizeof(*numbers));
	if (!new_names || !new_numbers) {
		free(new_names);
		free(new_numbers);
		nr_chains = old;
		return old ? 0 : -ENOMEM;
	}
	free(numbers);
	names = new_names;
	numbers = new_numbers;
	for (i = 0; i < old; i++) {
		struct id *id = all[i];

		while (id) {
			struct id *next = id->by_name;

			put_into_chains(id);
			id = next;
		}
	}
	free(all);
	return 0;
}

struct id *agent_id_find(int scope, const char *name)
{
	uint32_t hash = hash_name(scope, name);
	struct id *id;

	if (!nr_chains)
		return NULL;
	for (id = names[hash & (nr_chains - 1)]; id; id = id->by_name) {
		if (id->hash == hash && id->scope == scope &&
		    id->state != ID_HIDDEN && strcmp(id->name, name) == 0)
			return id;
	}
	return NULL;
}

struct id *agent_id_by_number(int scope, int number)
{
	struct id *id;

	if (!nr_chains)
		return NULL;
	for (id = *number_chain(scope, number); id; id = id->by_number) {
		if (id->scope == scope && id->number == number &&
		    id->state != ID_HIDDEN)
			return id;
	}
	return NULL;
}

int agent_id_limit(int scope)
{
	return scopes[scope].limit;
}

bool agent_id_has_rests(int scope)
{
	return scopes[scope].rests > 0;
}

/* ---- adding and removing ---- */

static void link_block(struct id *id)
{
	int number;
	unsigned int block;

	if (sscanf(id->name, "%d.%u", &number, &block) != 2)
		return;
	id->of = agent_id_by_number(id->scope - 1, number);
	id->user = block;
	if (!id->of)
		return;
	id->blocks = id->of->blocks;
	id->of->blocks = id;
}

static void unlink_block(struct id *id)
{
	struct id **p;

	if (!id->of)
		return;
	for (p = &id->of->blocks; *p; p = &(*p)->blocks) {
		if (*p == id) {
			*p = id->blocks;
			break;
		}
	}
	id->of = NULL;
}

/* Instances and their blocks are many, and keep what they begin with. */
static bool has_text(int scope)
{
	return scope < FIRST_SERIAL;
}

const char *agent_id_rest(const struct id *id)
{
	if (has_text(id->scope))
		return id->text ? id->text : "";
	return id->name + strlen(id->name) + 1;
}

/* The bytes of an id whose name has LENGTH. */
static size_t size_of(int scope, size_t length, const char *rest)
{
	return sizeof(struct id) + length + 1 +
	       (has_text(scope) ? 0 : strlen(rest) + 1);
}

static void free_id(struct id *id)
{
	size_t size = size_of(id->scope, strlen(id->name), agent_id_rest(id));

	if (has_text(id->scope))
		free(id->text);
	agent_idpool_give(id, size);
}

static struct id *make(int scope, int number, const char *name, size_t length,
		       const char *rest, int state, uint32_t since)
{
	struct id *id;

	if (grow() < 0)
		return NULL;
	id = agent_idpool_take(size_of(scope, length, rest));
	if (!id)
		return NULL;
	memcpy(id->name, name, length);
	if (!has_text(scope)) {
		strcpy(id->name + length + 1, rest);
	} else if (*rest) {
		id->text = strdup(rest);
		if (!id->text) {
			agent_idpool_give(id, size_of(scope, length, rest));
			return NULL;
		}
	}
	id->scope = scope;
	id->number = number;
	id->hash = hash_name(scope, id->name);
	id->state = state;
	if (has_text(scope))
		id->order = ++order;
	else
		id->since = since;
	put_into_chains(id);
	nr_ids++;
	scopes[scope].rests += *rest != '\0';
	if (agent_idscope_is_block(scope))
		link_block(id);
	agent_idlist_add(id);
	return id;
}

struct id *agent_idtable_add(int scope, int number, const char *name,
			     size_t length, const char *rest, bool own)
{
	struct id *id = make(scope, number, name, length, rest, ID_USED, 0);

	if (!id)
		return NULL;
	id->own = own;
	nr_own += own;
	return id;
}

void agent_idtable_remove(struct id *id)
{
	struct id **p;

	while (agent_idscope_is_instance(id->scope) && id->blocks)
		agent_idtable_remove(id->blocks);
	agent_idlist_remove(id);
	if (agent_idscope_is_block(id->scope))
		unlink_block(id);
	for (p = &names[id->hash & (nr_chains - 1)]; *p != id;)
		p = &(*p)->by_name;
	*p = id->by_name;
	for (p = number_chain(id->scope, id->number); *p != id;)
		p = &(*p)->by_number;
	*p = id->by_number;
	nr_ids--;
	nr_own -= id->own;
	scopes[id->scope].rests -= *agent_id_rest(id) != '\0';
	id->dead = true;
	if (!id->holds)
		free_id(id);
}

bool agent_idtable_describe(struct id *id, const char *rest)
{
	char *text;

	id->order = ++order;
	if (strcmp(agent_id_rest(id), rest) == 0)
		return true;
	text = strdup(rest);
	if (!text)
		return false;
	scopes[id->scope].rests += (*rest != '\0') -
				   (*agent_id_rest(id) != '\0');
	free(id->text);
	id->text = text;
	return true;
}

void agent_id_hold(struct id *id)
{
	id->holds++;
}

void agent_id_release(const char *name)
{
	struct id *id = (struct id *)(name - offsetof(struct id, name));

	if (--id->holds == 0 && id->dead)
		free_id(id);
}

struct id *agent_id_block(const struct id *inst, uint32_t block)
{
	struct id *id;

	for (id = inst->blocks; id; id = id->blocks) {
		if (id->user == block && id->state != ID_HIDDEN)
			return id;
	}
	return NULL;
}

/* ---- which numbers are given out ---- */

static void set_limit(int scope, int limit)
{
	nr_marks += (limit != 0) - (scopes[scope].limit != 0);
	scopes[scope].limit = limit;
}

bool agent_idtable_reserve(int scope, int limit)
{
	if (scope >= NR_SCOPES || limit > range(scope))
		return false;
	if (limit > scopes[scope].limit)
		set_limit(scope, limit);
	return true;
}

int agent_idtable_next(int scope, bool own)
{
	struct scope *s = &scopes[scope];
	int number = s->limit < first(scope) ? first(scope) : s->limit;

	if (own) {
		if (!s->own)
			s->own = range(scope) / 2 + range(scope) % 2;
		if (s->own < s->limit)
			s->own = s->limit;
		number = s->own;
	}
	if (number >= range(scope))
		return -1;
	s->own += own;
	return number;
}

void agent_idtable_give_back(int scope, int number)
{
	if (scopes[scope].limit == number + 1)
		set_limit(scope, number);
}

/*
 * Skip half of the free numbers at most: a scope without any takes no new
 * names.
 */
static void skip(int scope, int count)
{
	int limit = scopes[scope].limit;
	int from = limit < first(scope) ? first(scope) : limit;
	int most = (range(scope) - from) / 2;

	set_limit(scope, from + (count < most ? count : most));
}

/*
 * The scopes of the lost records are unknown. Families, fields and rings have
 * few numbers, each with its record: no more are lost than fit into BYTES.
 * Instances may have numbers that were purged and have no record, so SKIP are
 * skipped. A family whose record is lost is known by the limits of its scopes.
 */
void agent_idtable_skip(off_t bytes)
{
	int lost = bytes / SHORTEST < SKIP ? (int)(bytes / SHORTEST) + 1 : SKIP;
	int scope, end;

	for (scope = FIRST_SERIAL; scope < NR_SCOPES; scope++) {
		if (scopes[scope].limit)
			agent_idtable_reserve(SERIAL_FAMILIES,
					      (scope - FIRST_SERIAL) / 2 + 1);
	}
	for (scope = SERIAL_FAMILIES; scope <= SERIAL_RINGS; scope++)
		skip(scope, lost);
	end = FIRST_SERIAL + 2 * scopes[SERIAL_FAMILIES].limit;
	for (scope = FIRST_SERIAL; scope < end; scope++)
		skip(scope, SKIP);
}

/* ---- records that were read ---- */

static bool can_be(int scope, int number)
{
	return scope < NR_SCOPES && number < range(scope);
}

/* An instance's rest never changes, and may be in use. */
static int loaded_rest(struct id *id, const char *rest)
{
	return has_text(id->scope) && !agent_idtable_describe(id, rest) ?
		       -ENOMEM : 0;
}

int agent_idtable_loaded(int scope, int number, char *text)
{
	size_t length = strcspn(text, " ");
	const char *rest = text[length] ? text + length + 1 : "";
	struct id *id, *other;

	if (!can_be(scope, number))
		return -EINVAL;
	text[length] = '\0';
	agent_idtable_reserve(scope, number + 1);
	id = agent_id_by_number(scope, number);
	if (id && id->own)
		return 0;
	if (id && strcmp(id->name, text) != 0)
		return -EINVAL;
	if (id)
		return loaded_rest(id, rest);
	other = agent_id_find(scope, text);
	if (other && other->user)
		return 0;
	if (other)
		agent_idtable_remove(other);
	id = make(scope, number, text, length, rest, ID_AWAY, time(NULL));
	if (!id)
		return -ENOMEM;
	if (agent_idscope_is_block(scope) && !id->of)
		agent_idtable_remove(id);
	else
		id->on_disk = ID_USED;
	return 0;
}

int agent_idtable_loaded_state(char kind, int scope, int number, uint32_t since)
{
	struct id *id = agent_id_by_number(scope, number);
	uint32_t now = time(NULL);

	if (!can_be(scope, number))
		return -EINVAL;
	if (!id || id->own || id->user || !agent_idscope_is_instance(scope))
		return 0;
	if (kind == 'x') {
		agent_idtable_remove(id);
		return 0;
	}
	agent_idlist_remove(id);
	id->state = kind == '!' ? ID_FORGOTTEN : ID_AWAY;
	id->on_disk = kind == '*' ? ID_USED : id->state;
	id->recorded = false;
	/* The clock may have been set back: no time is in the future. */
	id->since = kind == '*' || since > now ? now : since;
	agent_idlist_add(id);
	return 0;
}

/* ---- all of them ---- */

bool agent_idtable_walk(uint32_t *cursor, uint32_t most,
			uint32_t (*fn)(struct id *id))
{
	struct id *id;
	uint32_t n = 0;

	for (; *cursor < nr_chains && n < most; ++*cursor) {
		for (id = names[*cursor]; id; id = id->by_name)
			n += fn(id);
	}
	walking = *cursor < nr_chains;
	return walking;
}

void agent_idtable_walk_end(void)
{
	walking = false;
}

static void remove_those(bool (*is)(const struct id *id),
			 void (*drop)(struct id *id))
{
	uint32_t i;

	for (i = 0; i < nr_chains; i++) {
		struct id *id = names[i];

		while (id) {
			struct id *next = id->by_name;

			if (is(id)) {
				if (drop)
					drop(id);
				agent_idtable_remove(id);
				/*
				 * Its blocks were removed as well: NEXT may be
				 * one.
				 */
				next = names[i];
			}
			id = next;
		}
	}
}

static bool is_own(const struct id *id)
{
	return id->own;
}

void agent_idtable_drop_own(void (*drop)(struct id *id))
{
	if (nr_own)
		remove_those(is_own, drop);
}

static bool is_unused(const struct id *id)
{
	return agent_idscope_is_instance(id->scope) && !id->own && !id->user;
}

/* Other scopes have no records that change a number. */
void agent_idtable_unload(void)
{
	remove_those(is_unused, NULL);
}

uint32_t agent_idtable_count(void)
{
	return nr_ids - nr_own + nr_marks;
}
