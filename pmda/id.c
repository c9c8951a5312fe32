// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lasting numbers in memory: indexed by name and by number, with names not in
 * use in lists in the order of purging. See id.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "agent.h"

/* Names per batch: bounds what one request writes and waits for. */
#define BATCH 4096
/* Between attempts to save numbers. */
#define RETRY_MS 1000
/*
 * A reload takes less: a name is recorded as not in use only after that time.
 */
#define SETTLE_SECONDS 600
#define LOOK_MS (60 * 1000)
/* Numbers of instances that are skipped after a damaged record. */
#define SKIP 65536
/* The length of "+ 2 0 a\n", the shortest record that gives out a number. */
#define SHORTEST 8
#define NR_SCOPES (FIRST_SERIAL + 2 * MAX_FAMILIES)

uint32_t agent_id_days = 30;
uint32_t agent_id_names = 2048;

static struct scope {
	int limit;	/* numbers below were given out */
	int own;	/* the same, for this process alone */
	uint32_t rests;
} scopes[NR_SCOPES];

struct list {
	struct id *oldest, *newest;
	uint32_t count;
};

static struct list away, forgotten;
static struct id **names, **numbers;	/* hash chains */
static uint32_t nr_chains, nr_ids, nr_own;
static uint32_t nr_marks;		/* scopes with a limit */
static uint32_t order;
static bool writer, lasting;
static bool walking;	/* a copy is being made: do not rehash */
static bool pending;
static uint64_t retry_ms, look_ms, compact_ms;

/* Names of this batch, which are removed if it cannot be saved. */
static struct id *batch[BATCH];
static uint32_t nr_batch;

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000 + 1;
}

static bool is_instance(int scope)
{
	return scope >= FIRST_SERIAL && scope % 2 == 0;
}

static bool is_block(int scope)
{
	return scope >= FIRST_SERIAL && scope % 2;
}

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
		return is_block(scope) ? PERCPU_MAX_BLOCKS : INT32_MAX;
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

static int grow(void)
{
	uint32_t i, old = nr_chains;
	struct id **all = names, **new_names, **new_numbers;

	if (nr_ids < nr_chains || (walking && nr_chains))
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
		    strcmp(id->name, name) == 0)
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
		if (id->scope == scope && id->number == number)
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

/* ---- names not in use ---- */

static struct list *list_of(const struct id *id)
{
	if (!is_instance(id->scope) || id->state == ID_USED)
		return NULL;
	return id->state == ID_FORGOTTEN ? &forgotten : &away;
}

/* Insert by age; nearly always as the newest. */
static void enlist(struct id *id)
{
	struct list *list = list_of(id);
	struct id *before;

	if (!list)
		return;
	before = list->newest;
	while (before && before->since > id->since)
		before = before->older;
	id->older = before;
	id->newer = before ? before->newer : list->oldest;
	*(before ? &before->newer : &list->oldest) = id;
	*(id->newer ? &id->newer->older : &list->newest) = id;
	list->count++;
}

static void delist(struct id *id)
{
	struct list *list = list_of(id);

	if (!list)
		return;
	*(id->older ? &id->older->newer : &list->oldest) = id->newer;
	*(id->newer ? &id->newer->older : &list->newest) = id->older;
	list->count--;
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

static char none[] = "";

static void free_id(struct id *id)
{
	if (id->rest != none)
		free(id->rest);
	free(id);
}

static struct id *make(int scope, int number, const char *name, size_t length,
		       const char *rest, int state, uint32_t since)
{
	struct id *id;

	if (grow() < 0)
		return NULL;
	id = calloc(1, sizeof(*id) + length + 1);
	if (!id)
		return NULL;
	memcpy(id->name, name, length);
	id->rest = *rest ? strdup(rest) : none;
	if (!id->rest) {
		free(id);
		return NULL;
	}
	id->scope = scope;
	id->number = number;
	id->hash = hash_name(scope, id->name);
	id->order = ++order;
	id->state = state;
	id->since = since;
	put_into_chains(id);
	nr_ids++;
	scopes[scope].rests += *rest != '\0';
	if (is_block(scope))
		link_block(id);
	enlist(id);
	return id;
}

static void remove_id(struct id *id)
{
	struct id **p;

	while (is_instance(id->scope) && id->blocks)
		remove_id(id->blocks);
	delist(id);
	if (is_block(id->scope))
		unlink_block(id);
	for (p = &names[id->hash & (nr_chains - 1)]; *p != id;)
		p = &(*p)->by_name;
	*p = id->by_name;
	for (p = number_chain(id->scope, id->number); *p != id;)
		p = &(*p)->by_number;
	*p = id->by_number;
	nr_ids--;
	nr_own -= id->own;
	scopes[id->scope].rests -= *id->rest != '\0';
	id->dead = true;
	if (!id->holds)
		free_id(id);
}

/* Replace the rest, and make ID the last in order. */
static void set_rest(struct id *id, const char *rest)
{
	char *text = *rest ? strdup(rest) : none;

	id->order = ++order;
	if (!text)
		return;
	scopes[id->scope].rests += (*rest != '\0') - (*id->rest != '\0');
	if (id->rest != none)
		free(id->rest);
	id->rest = text;
}

/* ---- loading and saving ---- */

static bool can_be(int scope, int number)
{
	return scope < NR_SCOPES && number < range(scope);
}

bool agent_id_loaded(int scope, int number, char *text)
{
	size_t length = strcspn(text, " ");
	const char *rest = text[length] ? text + length + 1 : "";
	struct id *id, *other;

	if (!can_be(scope, number))
		return false;
	text[length] = '\0';
	agent_id_loaded_limit(scope, number + 1);
	id = agent_id_by_number(scope, number);
	if (id && id->own)
		return true;
	if (id && strcmp(id->name, text) != 0)
		return false;
	if (id) {
		/* An instance's rest never changes, and may be in use. */
		if (is_instance(scope) || strcmp(id->rest, rest) == 0)
			id->order = ++order;
		else
			set_rest(id, rest);
		return true;
	}
	other = agent_id_find(scope, text);
	if (other && other->user)
		return true;
	if (other)
		remove_id(other);
	id = make(scope, number, text, length, rest, ID_AWAY, time(NULL));
	if (id && is_block(scope) && !id->of)
		remove_id(id);
	else if (id)
		id->on_disk = ID_USED;
	return true;
}

bool agent_id_loaded_state(char kind, int scope, int number, uint32_t since)
{
	struct id *id = agent_id_by_number(scope, number);
	uint32_t now = time(NULL);

	if (!can_be(scope, number))
		return false;
	if (!id || id->own || id->user || !is_instance(scope))
		return true;
	if (kind == 'x') {
		remove_id(id);
		return true;
	}
	delist(id);
	id->state = kind == '!' ? ID_FORGOTTEN : ID_AWAY;
	id->on_disk = kind == '*' ? ID_USED : id->state;
	/* The clock may have been set back: no time is in the future. */
	id->since = kind == '*' || since > now ? now : since;
	enlist(id);
	return true;
}

static void set_limit(int scope, int limit)
{
	nr_marks += (limit != 0) - (scopes[scope].limit != 0);
	scopes[scope].limit = limit;
}

bool agent_id_loaded_limit(int scope, int limit)
{
	if (scope >= NR_SCOPES || limit > range(scope))
		return false;
	if (limit > scopes[scope].limit)
		set_limit(scope, limit);
	return true;
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
void agent_id_skip(off_t bytes)
{
	int lost = bytes / SHORTEST < SKIP ? (int)(bytes / SHORTEST) + 1 : SKIP;
	int scope, end;

	for (scope = FIRST_SERIAL; scope < NR_SCOPES; scope++) {
		if (scopes[scope].limit)
			agent_id_loaded_limit(SERIAL_FAMILIES,
					      (scope - FIRST_SERIAL) / 2 + 1);
	}
	for (scope = SERIAL_FAMILIES; scope <= SERIAL_RINGS; scope++)
		skip(scope, lost);
	end = FIRST_SERIAL + 2 * scopes[SERIAL_FAMILIES].limit;
	for (scope = FIRST_SERIAL; scope < end; scope++)
		skip(scope, SKIP);
}

static void put_state(struct id *id)
{
	static const char kinds[] = { [ID_USED] = '*', [ID_AWAY] = '-',
				      [ID_FORGOTTEN] = '!' };

	if (id->own || !lasting)
		return;
	if (id->state == ID_USED)
		agent_idfile_put("* %d %d\n", id->scope, id->number);
	else
		agent_idfile_put("%c %d %d %u\n", kinds[id->state], id->scope,
				 id->number, id->since);
	id->on_disk = id->state;
}

static void put_name(const struct id *id)
{
	agent_idfile_put("+ %d %d %s%s%s\n", id->scope, id->number, id->name,
			 *id->rest ? " " : "", id->rest);
}

static int compare_order(const void *a, const void *b)
{
	const struct id *x = *(struct id *const *)a;
	const struct id *y = *(struct id *const *)b;

	return x->order < y->order ? -1 : x->order > y->order;
}

void agent_id_put_marks(void)
{
	static struct id *list[MAX_FAMILIES];
	int scope, i, count = 0;

	for (scope = 0; scope < NR_SCOPES; scope++) {
		if (scopes[scope].limit)
			agent_idfile_put("= %d %d\n", scope,
					 scopes[scope].limit);
	}
	/* Of families with one name, the last in order is current. */
	for (i = 0; i < scopes[SERIAL_FAMILIES].limit; i++) {
		struct id *id = agent_id_by_number(SERIAL_FAMILIES, i);

		if (id && !id->own)
			list[count++] = id;
	}
	qsort(list, count, sizeof(*list), compare_order);
	for (i = 0; i < count; i++)
		put_name(list[i]);
}

/* Put an instance before its blocks, which mean nothing without it. */
bool agent_id_put_some(uint32_t *cursor)
{
	struct id *id, *block;
	uint32_t n = 0;

	for (; *cursor < nr_chains && n < BATCH; ++*cursor) {
		for (id = names[*cursor]; id; id = id->by_name) {
			if (id->own || id->scope == SERIAL_FAMILIES ||
			    is_block(id->scope))
				continue;
			put_name(id);
			n++;
			if (is_instance(id->scope) && id->on_disk != ID_USED)
				put_state(id);
			for (block = is_instance(id->scope) ? id->blocks : NULL;
			     block; block = block->blocks, n++) {
				if (!block->own)
					put_name(block);
			}
		}
	}
	walking = *cursor < nr_chains;
	return walking;
}

uint32_t agent_id_count(void)
{
	return nr_ids - nr_own + nr_marks;
}

void agent_id_load(bool may_write)
{
	int rc;

	writer = may_write;
	rc = agent_idfile_load();
	if (rc < 0)
		agent_error(&pending, "saved numbers cannot be read: %s",
			    pmErrStr(rc));
}

void agent_id_own(uid_t uid, gid_t gid)
{
	agent_idfile_own(uid, gid);
}

/*
 * Drop this process's own numbers, given to names seen in captured files, so
 * that the names get lasting ones.
 */
static void drop_own(void)
{
	uint32_t i;

	for (i = 0; i < nr_chains && nr_own; i++) {
		struct id *id = names[i];

		while (id) {
			struct id *next = id->by_name;

			if (id->own) {
				if (is_instance(id->scope) && id->user)
					agent_instance_purged(id);
				remove_id(id);
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

void agent_id_lasting(bool on)
{
	on = on && writer;
	if (on && !lasting && nr_own)
		drop_own();
	lasting = on;
	retry_ms = 0;
}

/* ---- giving out numbers ---- */

static void failed(int rc)
{
	pending = true;
	retry_ms = now_ms() + RETRY_MS;
	agent_error(&pending,
		    "new names wait, as their numbers cannot be saved: %s",
		    rc == -EBUSY ? "another agent is running" : pmErrStr(rc));
}

static struct id *add_own(int scope, int number, const char *name,
			  const char *rest)
{
	struct scope *s = &scopes[scope];
	struct id *id;

	if (number < 0) {
		if (!s->own)
			s->own = range(scope) / 2 + range(scope) % 2;
		if (s->own < s->limit)
			s->own = s->limit;
		if (s->own >= range(scope)) {
			agent_error(&pending, "%s: no number left", name);
			return NULL;
		}
		number = s->own++;
	}
	id = make(scope, number, name, strlen(name), rest, ID_USED, 0);
	if (!id)
		return NULL;
	id->own = true;
	nr_own++;
	return id;
}

/* Whether one more can be added to the batch. */
static bool may_add(void)
{
	int rc;

	if (nr_batch == BATCH || (retry_ms && now_ms() < retry_ms)) {
		pending = true;
		return false;
	}
	if (nr_batch)
		return true;
	rc = agent_idfile_open();
	if (rc < 0)
		failed(rc);
	return rc == 0;
}

struct id *agent_id_add(int scope, int number, const char *name,
			const char *rest)
{
	struct scope *s = &scopes[scope];
	struct id *id;

	if (number >= 0 && agent_id_by_number(scope, number))
		number = -1;
	if (!lasting)
		return add_own(scope, number, name, rest);
	if (!may_add())
		return NULL;
	/* Another agent may have saved the name meanwhile. */
	id = agent_id_find(scope, name);
	if (id)
		return id;
	if (number < 0)
		number = s->limit < first(scope) ? first(scope) : s->limit;
	if (number >= range(scope)) {
		agent_error(&pending, "%s: no number left", name);
		return NULL;
	}
	id = make(scope, number, name, strlen(name), rest, ID_USED, 0);
	if (!id)
		return NULL;
	put_name(id);
	batch[nr_batch++] = id;
	agent_id_loaded_limit(scope, number + 1);
	return id;
}

void agent_id_describe(struct id *id, const char *rest)
{
	set_rest(id, rest);
	if (lasting && !id->own)
		put_name(id);
}

bool agent_id_commit(void)
{
	uint32_t i;
	int rc;

	if (!nr_batch)
		return true;
	rc = agent_idfile_commit(true);
	if (rc < 0) {
		/* Let the next attempt give out the same numbers. */
		for (i = nr_batch; i-- > 0;) {
			if (scopes[batch[i]->scope].limit ==
			    batch[i]->number + 1)
				set_limit(batch[i]->scope, batch[i]->number);
			remove_id(batch[i]);
		}
		failed(rc);
	} else if (retry_ms) {
		retry_ms = 0;
		agent_error_settle(&pending);
		pmNotifyErr(LOG_INFO, "numbers are saved again");
	}
	nr_batch = 0;
	return rc == 0;
}

bool agent_id_pending(void)
{
	if (!pending || (retry_ms && now_ms() < retry_ms))
		return false;
	pending = false;
	return true;
}

/* ---- state ---- */

void agent_id_set_state(struct id *id, int state)
{
	if (id->state == state)
		return;
	delist(id);
	id->state = state;
	id->since = state == ID_USED ? 0 : time(NULL);
	enlist(id);
	/* A name that is away may be back soon: see note_away(). */
	if (state != ID_AWAY && id->on_disk != state)
		put_state(id);
}

/*
 * Put off purging an absolute count: it would return with its name, and be in
 * the total twice.
 */
static bool put_off(struct id *id, uint32_t now)
{
	if (!id->user || !agent_instance_is_absolute(id))
		return false;
	delist(id);
	id->since = now;
	enlist(id);
	return true;
}

static void purge(struct id *id)
{
	if (id->user)
		agent_instance_purged(id);
	if (lasting && !id->own)
		agent_idfile_put("x %d %d\n", id->scope, id->number);
	remove_id(id);
}

static uint32_t purge_list(struct list *list, uint32_t keep, uint32_t budget)
{
	uint32_t now = time(NULL), n = 0;

	while (list->oldest && n < budget) {
		bool old = now - list->oldest->since >=
				   agent_id_days * 86400ULL &&
			   now > list->oldest->since;

		if (!old && list->count <= keep)
			break;
		if (!put_off(list->oldest, now))
			purge(list->oldest);
		n++;
	}
	return n;
}

void agent_id_purge(void)
{
	uint32_t n = purge_list(&forgotten, agent_id_names, 4 * BATCH);

	purge_list(&away, UINT32_MAX, 4 * BATCH - n);
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
		if (id->user == block)
			return id;
	}
	return NULL;
}

struct id *agent_id_add_block(struct id *inst, uint32_t block)
{
	char name[32];

	pmsprintf(name, sizeof(name), "%d.%u", inst->number, block);
	return inst->own && lasting ? NULL :
				      agent_id_add(inst->scope + 1, -1, name, "");
}

/* Record names that have been away for SETTLE_SECONDS as not in use. */
static void note_away(void)
{
	uint32_t now = time(NULL), n = 0;
	struct id *id;

	for (id = away.oldest; id && n < BATCH; id = id->newer) {
		if (now - id->since < SETTLE_SECONDS || now < id->since)
			break;
		if (id->on_disk == ID_AWAY || id->own)
			continue;
		put_state(id);
		n++;
	}
}

int agent_id_work(void)
{
	uint64_t now = now_ms();
	bool is_long;
	int rc;

	if (!writer)
		return -1;
	if (pending)
		return retry_ms > now ? (int)(retry_ms - now) : 0;
	if (!lasting)
		return -1;
	is_long = agent_idfile_is_long() && now >= compact_ms;
	if (now < look_ms && !is_long)
		return (int)(look_ms - now);
	if (now >= look_ms) {
		/* Errors about names that are gone: no attempt settles them. */
		agent_error_end(&pending);
		agent_error_begin(&pending);
		note_away();
		agent_id_purge();
		agent_idfile_save();
		look_ms = now + LOOK_MS;
	}
	rc = is_long ? agent_idfile_compact() : 0;
	if (rc > 0)
		return 0;
	if (rc < 0)
		compact_ms = now + LOOK_MS;
	walking = false;
	return LOOK_MS;
}

void agent_id_close(void)
{
	if (lasting)
		agent_idfile_save();
}

bool agent_id_batch_full(void)
{
	return nr_batch == BATCH;
}
