// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The table of families and instances, from the names stream. Records replace
 * what was known of their number. A batch, up to its "end" line, is checked as
 * a whole, because within it a name may leave one number after it appears at
 * another.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "handle.h"
#include "identity.h"

#define bad kmmv_bad_line

int kmmv_table_init(struct kmmv *k)
{
	return kmmv_identity_init(k) ?: kmmv_changes_init(k) ?: kmmv_types_init(k);
}

void kmmv_table_fini(struct kmmv *k)
{
	struct kmmv_table *t = &k->table;
	uint32_t i;

	kmmv_arena_fini(&t->arena);
	for (i = 0; i < t->nr_families; i++) {
		free(t->families[i].name);
		free(t->families[i].units);
		free(t->families[i].oneline);
		free(t->families[i].help);
	}
	kmmv_types_fini(k);
	kmmv_changes_fini(k);
	kmmv_infos_fini(k);
	free(t->instances);
	free(t->links);
	free(t->incarnations);
	free(t->readable);
	free(t->heads);
	free(t->changed);
	free(t->family_order);
	free(t->families);
}

/* The upper bits of a product with a secret number. */
static uint32_t id_head(const struct kmmv_table *t, uint32_t id)
{
	return (uint32_t)(id * (t->seed | 1) >> (64 - KMMV_FAMILY_BITS));
}

static struct kmmv_family *family_by_id(const struct kmmv_table *t, uint32_t id)
{
	uint32_t at = t->family_ids[id_head(t, id)];

	for (; at; at = t->families[at - 1].next_id)
		if (t->families[at - 1].info.id == id)
			return &t->families[at - 1];
	return NULL;
}

static struct kmmv_family *family_by_name(const struct kmmv_table *t,
					  const char *name)
{
	uint32_t at = t->family_names[kmmv_identity_text(t->seed, name) %
				      KMMV_FAMILY_HEADS];

	for (; at; at = t->families[at - 1].next_name)
		if (!strcmp(t->families[at - 1].name, name))
			return &t->families[at - 1];
	return NULL;
}

static int families_room(struct kmmv *k)
{
	struct kmmv_table *t = &k->table;
	uint32_t room = t->families_room ? t->families_room * 2 : 16;
	void *p;

	if (t->nr_families == KMMV_FAMILIES_MAX)
		return bad(k, "more than %u families", KMMV_FAMILIES_MAX);
	if (t->nr_families < t->families_room)
		return 0;
	p = reallocarray(t->families, room, sizeof(*t->families));
	if (!p)
		return kmmv_fail_nomem(k);
	t->families = p;
	p = reallocarray(t->family_order, room, sizeof(*t->family_order));
	if (!p)
		return kmmv_fail_nomem(k);
	t->family_order = p;
	t->families_room = room;
	return 0;
}

/* How many names are before this one. */
static uint32_t order_of(const struct kmmv_table *t, const char *name)
{
	uint32_t low = 0, high = t->nr_families, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (strcmp(t->family_order[middle], name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int check_pair(struct kmmv *k, const char *name, const char *next)
{
	size_t len = strlen(name);

	if (strncmp(name, next, len) || next[len] != '.')
		return 0;
	return bad(k, "families %s and %s exclude each other", name, next);
}

/*
 * No family's name may be a prefix of another's, up to a dot. The dot sorts
 * before all other valid characters, so such names would be neighbours.
 */
static int check_name(struct kmmv *k, const char *name, uint32_t at)
{
	const struct kmmv_table *t = &k->table;
	int err = 0;

	if (at)
		err = check_pair(k, t->family_order[at - 1], name);
	if (!err && at < t->nr_families)
		err = check_pair(k, name, t->family_order[at]);
	return err;
}

static int family_append(struct kmmv *k, const struct kmmv_family_info *info)
{
	struct kmmv_table *t = &k->table;
	uint32_t *head, at = order_of(t, info->name);
	struct kmmv_family *f;
	int err;

	err = check_name(k, info->name, at) ?: families_room(k);
	if (err)
		return err;
	f = &t->families[t->nr_families];
	memset(f, 0, sizeof(*f));
	f->name = strdup(info->name);
	f->units = strdup(info->units);
	f->oneline = strdup("");
	f->help = strdup("");
	if (!f->name || !f->units || !f->oneline || !f->help) {
		free(f->name);
		free(f->units);
		free(f->oneline);
		free(f->help);
		return kmmv_fail_nomem(k);
	}
	f->info.id = info->id;
	f->info.semantics = info->semantics;
	f->info.since_boot = info->since_boot;
	f->info.total = info->total;
	f->info.source = info->source;
	memmove(&t->family_order[at + 1], &t->family_order[at],
		(t->nr_families - at) * sizeof(*t->family_order));
	t->family_order[at] = f->name;
	head = &t->family_ids[id_head(t, info->id)];
	f->next_id = *head;
	*head = ++t->nr_families;
	head = &t->family_names[kmmv_identity_text(t->seed, info->name) %
				KMMV_FAMILY_HEADS];
	f->next_name = *head;
	*head = t->nr_families;
	t->families_changed = true;
	return 0;
}

/* Families never change: a repeated line must be the same. */
int kmmv_table_family(struct kmmv *k, const struct kmmv_family_info *info)
{
	struct kmmv_family *f = family_by_id(&k->table, info->id);

	if (!f && family_by_name(&k->table, info->name))
		return bad(k, "a second family %s", info->name);
	if (!f)
		return family_append(k, info);
	if (strcmp(f->name, info->name) || strcmp(f->units, info->units) ||
	    f->info.semantics != info->semantics ||
	    f->info.since_boot != info->since_boot ||
	    f->info.total != info->total || f->info.source != info->source)
		return bad(k, "family %u has changed", info->id);
	return 0;
}

int kmmv_table_family_text(struct kmmv *k, uint32_t id, bool help,
			   const char *text)
{
	struct kmmv_family *f = family_by_id(&k->table, id);
	char **place, *copy;

	if (!f)
		return bad(k, "text of an unknown family %u", id);
	place = help ? &f->help : &f->oneline;
	if (!strcmp(*place, text))
		return 0;
	copy = strdup(text);
	if (!copy)
		return kmmv_fail_nomem(k);
	free(*place);
	*place = copy;
	k->table.families_changed = true;
	return 0;
}

/* These arrays grow together; on failure those already moved remain valid. */
static int table_room(struct kmmv *k, uint32_t number)
{
	struct kmmv_table *t = &k->table;
	uint32_t room = t->room ? t->room : 256;
	void *p;

	if (number < t->room)
		goto fill;
	while (room <= number)
		room = room > k->header.capacity / 2 ? k->header.capacity :
						       room * 2;
	p = reallocarray(t->instances, room, sizeof(*t->instances));
	if (!p)
		return kmmv_fail_nomem(k);
	t->instances = p;
	p = reallocarray(t->links, room, sizeof(*t->links));
	if (!p)
		return kmmv_fail_nomem(k);
	t->links = p;
	p = reallocarray(t->incarnations, room, sizeof(*t->incarnations));
	if (!p)
		return kmmv_fail_nomem(k);
	t->incarnations = p;
	p = realloc(t->readable, room);
	if (!p)
		return kmmv_fail_nomem(k);
	t->readable = p;
	if (kmmv_infos_room(k, room))
		return -ENOMEM;
	t->room = room;
fill:
	for (; t->nr <= number; t->nr++) {
		memset(&t->instances[t->nr], 0, sizeof(*t->instances));
		memset(&t->links[t->nr], 0, sizeof(*t->links));
		t->incarnations[t->nr] = 0;
		t->readable[t->nr] = 0;
	}
	return 0;
}

static int mark_changed(struct kmmv *k, uint32_t number)
{
	struct kmmv_table *t = &k->table;
	uint32_t room, *p;

	if (t->links[number].changed)
		return 0;
	if (t->nr_changed == t->changed_room) {
		room = t->changed_room ? t->changed_room * 2 : 256;
		p = reallocarray(t->changed, room, sizeof(*p));
		if (!p)
			return kmmv_fail_nomem(k);
		t->changed = p;
		t->changed_room = room;
	}
	t->changed[t->nr_changed++] = number;
	t->links[number].changed = true;
	return 0;
}

/*
 * An instance not counted yet may be new; its pages exist before its name does.
 * Nothing is allocated for a number that is not counted: names are not trusted.
 */
static int check_number(struct kmmv *k, uint32_t number)
{
	int err = 0;

	if (number >= k->nr_instances)
		err = kmmv_extent_read(k);
	if (!err && number >= k->nr_instances)
		err = bad(k, "instance %u of %u", number, k->nr_instances);
	return err;
}

/*
 * Within an incarnation a number keeps its identity, or values would be
 * attributed to another instance.
 */
static int check_identity(struct kmmv *k, const struct kmmv_instance_info *info)
{
	const struct kmmv_table *t = &k->table;
	const struct kmmv_instance *in = &t->instances[info->number];

	if (!t->links[info->number].named || info->state == KMMV_FREE ||
	    in->incarnation != info->incarnation)
		return 0;
	if (in->family == info->family &&
	    !strcmp(kmmv_instance_name(t, in), info->name))
		return 0;
	return bad(k, "instance %u has changed its identity", info->number);
}

static size_t label_size(const char *key, const char *text)
{
	return strlen(key) + 1 + strlen(text) + 1;
}

/* The name of a free number is "", and takes no memory: many are free. */
static bool copy_name(struct kmmv_table *t, const char *name, uint32_t *place)
{
	size_t size = strlen(name) + 1;

	*place = 0;
	if (size == 1)
		return true;
	*place = kmmv_arena_take(&t->arena, size);
	if (*place)
		memcpy(kmmv_arena_text(&t->arena, *place), name, size);
	return *place;
}

/* Its label, if it has one, is behind the name. */
static void drop_name(struct kmmv_table *t, struct kmmv_instance *in)
{
	const char *name, *key;
	size_t size;

	if (!in->name)
		return;
	name = kmmv_arena_text(&t->arena, in->name);
	size = strlen(name) + 1;
	key = name + size;
	if (in->labelled)
		size += label_size(key, key + strlen(key) + 1);
	kmmv_arena_give(&t->arena, in->name, size);
}

/* INFO's strings are the caller's; the label has a line of its own. */
int kmmv_table_instance(struct kmmv *k, const struct kmmv_instance_info *info)
{
	struct kmmv_table *t = &k->table;
	uint32_t number = info->number;
	struct kmmv_instance *in;
	struct kmmv_link *link;
	uint32_t name;
	bool stays;
	int err;

	err = check_number(k, number);
	if (err)
		return err;
	if (info->state != KMMV_FREE && !*info->name)
		return bad(k, "instance %u without a name", number);
	if (!family_by_id(t, info->family))
		return bad(k, "instance %u of an unknown family %u", number,
			   info->family);
	err = table_room(k, number);
	if (!err)
		err = check_identity(k, info);
	if (!err)
		err = mark_changed(k, number);
	if (err)
		return err;
	if (!copy_name(t, info->name, &name))
		return kmmv_fail_nomem(k);
	in = &t->instances[number];
	link = &t->links[number];
	/* A known identity can be looked up all the time. */
	stays = link->linked && info->state != KMMV_FREE &&
		in->family == info->family &&
		!strcmp(kmmv_instance_name(t, in), info->name);
	if (link->linked && !stays)
		kmmv_identity_unlink(t, number);
	drop_name(t, in);
	in->incarnation = info->incarnation;
	in->family = info->family;
	in->state = info->state;
	in->name = name;
	in->labelled = false;
	link->seen = true;
	link->named = info->state != KMMV_FREE;
	if (link->named)
		link->hash = kmmv_identity_hash(t, in->family, info->name);
	return 0;
}

/* A label belongs to the instance line just before it. */
int kmmv_table_label(struct kmmv *k, uint32_t number, uint32_t incarnation,
		     const char *key, const char *text)
{
	struct kmmv_table *t = &k->table;
	struct kmmv_instance *in;
	uint32_t place;
	size_t size;
	char *copy;

	if (!k->stream.last || k->stream.last - 1 != number)
		return bad(k, "label of instance %u does not follow it",
			   number);
	in = &t->instances[number];
	if (in->incarnation != incarnation)
		return bad(k, "not a label of incarnation %u", in->incarnation);
	if (in->labelled || in->state == KMMV_FREE)
		return bad(k, "unexpected label of instance %u", number);
	size = strlen(kmmv_instance_name(t, in)) + 1;
	place = kmmv_arena_take(&t->arena, size + label_size(key, text));
	if (!place)
		return kmmv_fail_nomem(k);
	copy = kmmv_arena_text(&t->arena, place);
	memcpy(copy, kmmv_instance_name(t, in), size);
	strcpy(copy + size, key);
	strcpy(copy + size + strlen(key) + 1, text);
	drop_name(t, in);
	in->name = place;
	in->labelled = true;
	return 0;
}

/*
 * From here on values are those of the batch. True if a number changed its
 * instance.
 */
static bool publish(struct kmmv_table *t)
{
	bool moved = false;
	uint32_t i;

	for (i = 0; i < t->nr_changed; i++) {
		uint32_t number = t->changed[i];
		uint32_t incarnation = t->instances[number].incarnation;
		struct kmmv_link *link = &t->links[number];

		moved |= t->readable[number] != link->named ||
			 t->incarnations[number] != incarnation;
		t->incarnations[number] = incarnation;
		t->readable[number] = link->named;
		link->changed = false;
	}
	t->nr_changed = 0;
	/* The first batch has all instances; few others have many. */
	if (t->changed_room > KMMV_CHANGES_KEPT) {
		free(t->changed);
		t->changed = NULL;
		t->changed_room = 0;
	}
	return moved;
}

/*
 * At an "end" line: check and publish the batch. 1 if it changed anything. The
 * work is that of the batch, not of the table: there may be an end at every line.
 */
int kmmv_table_end(struct kmmv *k)
{
	struct kmmv_table *t = &k->table;
	bool all = t->families_changed || t->types_changed || k->stream.again;
	int err, changed = t->nr_changed || t->families_changed ||
			   t->types_changed;

	err = kmmv_identity_end(k);
	if (err)
		return err;
	err = kmmv_types_end(k);
	if (err)
		return err;
	kmmv_changes_add(k, t->changed, t->nr_changed, all);
	k->stream.again = false;
	k->stream.moved |= publish(t);
	t->families_changed = false;
	return changed;
}

const struct kmmv_family_info *kmmv_family(const struct kmmv *k, uint32_t index)
{
	struct kmmv_family *f;

	if (index >= k->table.nr_families)
		return NULL;
	f = &k->table.families[index];
	f->info.name = f->name;
	f->info.units = f->units;
	f->info.oneline = f->oneline;
	f->info.help = f->help;
	return &f->info;
}

const struct kmmv_family_info *kmmv_family_by_id(const struct kmmv *k,
						 uint32_t id)
{
	struct kmmv_family *f = family_by_id(&k->table, id);

	return f ? kmmv_family(k, (uint32_t)(f - k->table.families)) : NULL;
}

const struct kmmv_instance_info *kmmv_lookup(const struct kmmv *k,
					     const char *family,
					     const char *name)
{
	const struct kmmv_table *t = &k->table;
	struct kmmv_family *f = family_by_name(t, family);
	uint32_t at;

	if (!f)
		return NULL;
	at = kmmv_identity_find(t, 0, kmmv_identity_hash(t, f->info.id, name),
				f->info.id, name);
	return at ? kmmv_instance(k, at - 1) : NULL;
}
