// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of families and instances. Every change is prepared completely, so
 * that it cannot fail once a generation is begun; a call that fails has changed
 * nothing that anybody can see.
 *
 * Context: task, may sleep.
 */
#include <kmmv_deps.h>
#include "event.h"
#include "family.h"
#include "table.h"

#define BUCKET_BITS_MIN		8
#define BUCKET_BITS_MAX		24

/*
 * Without 64-bit atomicity a generation is the low half of its word; the
 * number is the same, up to 2^32.
 */
static unsigned long *generation_word(u64 *word)
{
#if BITS_PER_LONG == 32 && defined(__BIG_ENDIAN)
	return (unsigned long *)word + 1;
#else
	return (unsigned long *)word;
#endif
}

static void change_begin(struct kmmv_table *table)
{
	WRITE_ONCE(*generation_word(&table->header->gen1), ++table->generation);
}

/* What a reader may touch, and what is left; unnamed slots move both. */
static void show_extent(struct kmmv_table *table)
{
	struct kmmv_header *header = table->header;

	/* table:A pairs with update_words:B: the table before gen1. */
	smp_store_release(&header->slots_free, kmmv_slots_left(&table->slots));
	/* table:A; and table:C, the pages before nr_instances. */
	smp_store_release(&header->nr_instances, table->slots.nr);
}

static void change_end(struct kmmv_table *table)
{
	struct kmmv_header *header = table->header;

	show_extent(table);
	/* table:B pairs with update_words:A: gen2 before the table. */
	smp_store_release(generation_word(&header->gen2), table->generation);
	wake_up_interruptible_all(&table->changed);
}

static void record_changed(struct kmmv_table *table, struct kmmv_record *record)
{
	list_move_tail(&record->link, &table->changes);
}

static u64 *header_mask(struct kmmv_header *header, u32 offset)
{
	return (u64 *)((char *)header + offset);
}

static void header_init(struct kmmv_table *table)
{
	const struct kmmv_geom *geom = &table->slots.geom;
	struct kmmv_header *header = table->header;
	u64 *possible = header_mask(header, geom->possible_offset);
	int cpu;

	header->magic = KMMV_MAGIC;
	header->major = KMMV_ABI_MAJOR;
	header->minor = KMMV_ABI_MINOR;
	header->size = sizeof(*header);
	header->features_compat = KMMV_ATOMIC64 ? KMMV_F_ATOMIC64 : 0;
	header->epoch = table->epoch;
	header->gen1 = table->generation;
	header->gen2 = table->generation;
	header->page_size = PAGE_SIZE;
	header->nr_cpus = geom->nr_cpus;
	header->capacity = geom->capacity;
	header->cpu_offset = geom->cpu_offset;
	header->cpu_stride = geom->cpu_stride;
	header->counter_offset = geom->counter_offset;
	header->incarnation_offset = geom->inc_offset;
	header->length = geom->length;
	header->possible_offset = geom->possible_offset;
	header->online_offset = geom->online_offset;
	header->mask_size = geom->mask_size;
	header->slots_free = geom->capacity;

	for_each_possible_cpu(cpu)
		possible[cpu / 64] |= 1ULL << (cpu % 64);
}

static struct hlist_head *buckets_alloc(u32 bits)
{
	return kvcalloc(1UL << bits, sizeof(struct hlist_head), GFP_KERNEL);
}

/**
 * kmmv_table_init() - an empty table
 * @table: the table
 * @geom: layout; copied
 * @epoch: not 0, another one each time
 * @generation: the first one
 *
 * Return: 0 or -ENOMEM.
 */
int kmmv_table_init(struct kmmv_table *table, const struct kmmv_geom *geom,
		    u64 epoch, unsigned long generation)
{
	int err;

	memset(table, 0, sizeof(*table));
	mutex_init(&table->lock);
	init_waitqueue_head(&table->changed);
	INIT_LIST_HEAD(&table->changes);
	table->epoch = epoch;
	table->generation = generation;
	table->bucket_bits = BUCKET_BITS_MIN;

	err = kmmv_slots_init(&table->slots, geom);
	if (err)
		return err;
	err = -ENOMEM;
	table->header = (struct kmmv_header *)get_zeroed_page(GFP_KERNEL);
	if (!table->header)
		goto err_slots_fini;
	table->families = kcalloc(KMMV_FAMILIES_MAX, sizeof(*table->families),
				  GFP_KERNEL);
	if (!table->families)
		goto err_free_header;
	table->kinds = kcalloc(KMMV_TYPES_MAX, sizeof(*table->kinds),
			       GFP_KERNEL);
	if (!table->kinds)
		goto err_free_families;
	table->instances = kvcalloc(geom->cpu_pages, sizeof(*table->instances),
				    GFP_KERNEL);
	if (!table->instances)
		goto err_free_kinds;
	table->buckets = buckets_alloc(table->bucket_bits);
	if (!table->buckets)
		goto err_free_instances;
	table->text = kmalloc(KMMV_TEXT_MAX, GFP_KERNEL);
	if (!table->text)
		goto err_free_buckets;
	header_init(table);
	return 0;

err_free_buckets:
	kvfree(table->buckets);
err_free_instances:
	kvfree(table->instances);
err_free_kinds:
	kfree(table->kinds);
err_free_families:
	kfree(table->families);
err_free_header:
	free_page((unsigned long)table->header);
err_slots_fini:
	kmmv_slots_fini(&table->slots);
	return err;
}

static void instance_free(struct kmmv_instance *instance)
{
	if (!instance)
		return;
	kfree(instance->label);
	kfree(instance);
}

/**
 * kmmv_table_fini() - free the table; nobody uses, maps or reads it
 * @table: the table
 */
void kmmv_table_fini(struct kmmv_table *table)
{
	u32 i, j;

	for (i = 0; i < table->slots.geom.cpu_pages; i++) {
		if (!table->instances[i])
			continue;
		for (j = 0; j < KMMV_PER_PAGE; j++)
			instance_free(table->instances[i][j]);
		kfree(table->instances[i]);
	}
	for (i = 0; i < table->nr_families; i++)
		kfree(table->families[i]);
	for (i = 0; i < table->nr_kinds; i++)
		kfree(table->kinds[i]);
	kfree(table->text);
	kvfree(table->buckets);
	kvfree(table->instances);
	kfree(table->kinds);
	kfree(table->families);
	free_page((unsigned long)table->header);
	kmmv_slots_fini(&table->slots);
	mutex_destroy(&table->lock);
}

static char *copy_text(char **to, const char *text)
{
	char *start = *to;
	size_t size = strlen(text) + 1;

	memcpy(start, text, size);
	*to += size;
	return start;
}

static struct kmmv_metric *metric_alloc(const struct kmmv_family *family)
{
	const char *help = family->help ? family->help : "";
	struct kmmv_metric *metric;
	char *text;

	metric = kzalloc(sizeof(*metric) + strlen(family->name) + 1 +
				 strlen(family->units) + 1 +
				 strlen(family->oneline) + 1 + strlen(help) + 1,
			 GFP_KERNEL);
	if (!metric)
		return NULL;
	text = (char *)(metric + 1);
	metric->record.kind = KMMV_RECORD_FAMILY;
	metric->desc.semantics = family->semantics;
	metric->desc.name = copy_text(&text, family->name);
	metric->desc.units = copy_text(&text, family->units);
	metric->desc.oneline = copy_text(&text, family->oneline);
	metric->desc.help = copy_text(&text, help);
	return metric;
}

/* The id of a family that is there, -ENOENT, or why it cannot be there. */
static int family_find(struct kmmv_table *table,
		       const struct kmmv_family *family)
{
	u32 i;

	for (i = 0; i < table->nr_families; i++) {
		const struct kmmv_family *other = &table->families[i]->desc;

		if (!strcmp(family->name, other->name))
			return kmmv_family_same(family, other) ? (int)i :
								 -EEXIST;
		if (kmmv_family_nested(family->name, other->name))
			return -ENOTUNIQ;
	}
	return table->nr_families < KMMV_FAMILIES_MAX ? -ENOENT : -ENFILE;
}

/**
 * kmmv_table_family() - register a family, or find it
 * @table: the table
 * @family: what it is; copied
 *
 * Return: its id; what kmmv_family_check() says; -EEXIST with other metadata;
 * -ENOTUNIQ where one is a dotted prefix of another; -ENFILE for one too many;
 * -ENOMEM.
 */
int kmmv_table_family(struct kmmv_table *table,
		      const struct kmmv_family *family)
{
	struct kmmv_metric *metric;
	int id;

	id = kmmv_family_check(family);
	if (id)
		return id;

	mutex_lock(&table->lock);
	id = family_find(table, family);
	if (id != -ENOENT)
		goto unlock;
	id = -ENOMEM;
	metric = metric_alloc(family);
	if (!metric)
		goto unlock;

	id = table->nr_families;
	metric->id = id;
	change_begin(table);
	table->families[table->nr_families++] = metric;
	list_add_tail(&metric->record.link, &table->changes);
	change_end(table);
unlock:
	mutex_unlock(&table->lock);
	return id;
}

static size_t kind_size(const struct kmmv_event_type *type)
{
	size_t size = sizeof(struct kmmv_kind) + strlen(type->name) + 1 +
		      strlen(type->oneline) + 1;
	unsigned int i;

	for (i = 0; i < type->nr_fields; i++)
		size += sizeof(*type->fields) +
			strlen(type->fields[i].name) + 1 +
			strlen(kmmv_event_units(&type->fields[i])) + 1;
	return size;
}

static struct kmmv_kind *kind_alloc(const struct kmmv_event_type *type)
{
	const struct kmmv_field *from;
	struct kmmv_field *field;
	struct kmmv_kind *kind;
	unsigned int i;
	char *text;

	kind = kzalloc(kind_size(type), GFP_KERNEL);
	if (!kind)
		return NULL;
	text = (char *)&kind->fields[type->nr_fields];
	kind->record.kind = KMMV_RECORD_TYPE;
	kind->desc.name = copy_text(&text, type->name);
	kind->desc.oneline = copy_text(&text, type->oneline);
	kind->desc.fields = kind->fields;
	kind->desc.nr_fields = type->nr_fields;
	for (i = 0; i < type->nr_fields; i++) {
		from = &type->fields[i];
		field = &kind->fields[i];
		*field = *from;
		field->name = copy_text(&text, from->name);
		field->units = copy_text(&text, kmmv_event_units(from));
	}
	return kind;
}

/* The number of a type that is there, -ENOENT, or why it cannot be there. */
static int kind_find(struct kmmv_table *table,
		     const struct kmmv_event_type *type)
{
	u32 i;

	for (i = 0; i < table->nr_kinds; i++) {
		const struct kmmv_event_type *other = &table->kinds[i]->desc;

		if (!strcmp(type->name, other->name))
			return kmmv_event_same(type, other) ?
				       (int)(KMMV_EVENT_FIRST + i) :
				       -EEXIST;
	}
	return table->nr_kinds < KMMV_TYPES_MAX ? -ENOENT : -ENFILE;
}

/**
 * kmmv_table_type() - register a type of events, or find it
 * @table: the table
 * @type: what it is; copied
 *
 * Return: its number; what kmmv_event_check() says; -EEXIST with other metadata;
 * -ENFILE for one too many; -ENOMEM.
 */
int kmmv_table_type(struct kmmv_table *table,
		    const struct kmmv_event_type *type)
{
	struct kmmv_kind *kind;
	int id;

	id = kmmv_event_check(type);
	if (id)
		return id;

	mutex_lock(&table->lock);
	id = kind_find(table, type);
	if (id != -ENOENT)
		goto unlock;
	id = -ENOMEM;
	kind = kind_alloc(type);
	if (!kind)
		goto unlock;

	id = KMMV_EVENT_FIRST + table->nr_kinds;
	kind->id = id;
	change_begin(table);
	table->kinds[table->nr_kinds++] = kind;
	list_add_tail(&kind->record.link, &table->changes);
	change_end(table);
unlock:
	mutex_unlock(&table->lock);
	return id;
}

static struct hlist_head *bucket(struct hlist_head *buckets, u32 bits,
				 u32 family, const char *name)
{
	u32 hash = jhash(name, strlen(name), family);

	return &buckets[hash & ((1U << bits) - 1)];
}

/* Keep chains short; not being able to is not an error. */
static void buckets_grow(struct kmmv_table *table)
{
	u32 bits = table->bucket_bits + 1;
	struct kmmv_instance *instance;
	struct hlist_head *buckets;
	struct hlist_node *next;
	u32 i;

	if (table->nr_named >> table->bucket_bits < 2 || bits > BUCKET_BITS_MAX)
		return;
	buckets = buckets_alloc(bits);
	if (!buckets)
		return;
	for (i = 0; i < 1U << table->bucket_bits; i++)
		hlist_for_each_entry_safe(instance, next, &table->buckets[i],
					  hash) {
			hlist_del(&instance->hash);
			hlist_add_head(&instance->hash,
				       bucket(buckets, bits, instance->family,
					      instance->name));
		}
	kvfree(table->buckets);
	table->buckets = buckets;
	table->bucket_bits = bits;
}

static struct kmmv_instance *instance_find(struct kmmv_table *table, u32 family,
					   const char *name)
{
	struct kmmv_instance *instance;

	hlist_for_each_entry(instance,
			     bucket(table->buckets, table->bucket_bits, family,
				    name),
			     hash)
		if (instance->family == family && !strcmp(instance->name, name))
			return instance;
	return NULL;
}

static struct kmmv_instance **instance_place(struct kmmv_table *table,
					     u32 number)
{
	return &table->instances[number / KMMV_PER_PAGE][number % KMMV_PER_PAGE];
}

/* What has the number, named by some identity; NULL for none. */
static struct kmmv_instance *instance_named(struct kmmv_table *table,
					    int number)
{
	struct kmmv_instance *instance;

	if (number < 0 || number >= table->slots.nr)
		return NULL;
	if (!table->instances[number / KMMV_PER_PAGE])
		return NULL;
	instance = *instance_place(table, number);
	if (!instance || instance->state == KMMV_STATE_FREE)
		return NULL;
	return instance;
}

static int instance_revive(struct kmmv_table *table,
			   struct kmmv_instance *instance)
{
	if (instance->refs == INT_MAX)
		return -EOVERFLOW;
	if (instance->refs++)
		return instance->number;
	change_begin(table);
	instance->state = KMMV_STATE_ACTIVE;
	record_changed(table, &instance->record);
	change_end(table);
	return instance->number;
}

/* A number and the place for its record. */
static int instance_reserve(struct kmmv_table *table, u32 *number)
{
	struct kmmv_instance ***page;
	int err;

	err = kmmv_slots_get(&table->slots, 1, number);
	if (err)
		return err;
	page = &table->instances[*number / KMMV_PER_PAGE];
	if (!*page)
		*page = kcalloc(KMMV_PER_PAGE, sizeof(**page), GFP_KERNEL);
	if (!*page) {
		kmmv_slots_cancel(&table->slots, *number, 1);
		return -ENOMEM;
	}
	return 0;
}

static int instance_create(struct kmmv_table *table, u32 family,
			   const char *name)
{
	size_t size = strlen(name) + 1;
	struct kmmv_instance *instance, **place;
	u32 number;
	int err;

	instance = kzalloc(sizeof(*instance) + size, GFP_KERNEL);
	if (!instance)
		return -ENOMEM;
	err = instance_reserve(table, &number);
	if (err) {
		kfree(instance);
		return err;
	}
	buckets_grow(table);

	instance->record.kind = KMMV_RECORD_INSTANCE;
	instance->number = number;
	instance->family = family;
	instance->refs = 1;
	instance->state = KMMV_STATE_ACTIVE;
	memcpy(instance->name, name, size);
	place = instance_place(table, number);

	change_begin(table);
	if (*place) {
		list_del(&(*place)->record.link);
		instance_free(*place);
	}
	kmmv_slots_publish(&table->slots, number);
	*place = instance;
	table->nr_named++;
	hlist_add_head(&instance->hash,
		       bucket(table->buckets, table->bucket_bits, family,
			      name));
	list_add_tail(&instance->record.link, &table->changes);
	change_end(table);
	return number;
}

/**
 * kmmv_table_add() - an instance's number
 * @table: the table
 * @family: id
 * @name: any bytes but control characters, up to KMMV_NAME_MAX; copied
 * @is_new: result, may be NULL: nothing had the identity before
 *
 * The same number for the same identity, as often as it is asked for; each time
 * counts as a reference.
 *
 * Return: the number; -EINVAL without a name; -ENAMETOOLONG; -EILSEQ for a
 * control character; -ENOENT for an unknown family; -ENOSPC when all numbers are
 * taken; -EOVERFLOW for too many references; -ENOMEM.
 */
int kmmv_table_add(struct kmmv_table *table, int family, const char *name,
		   bool *is_new)
{
	struct kmmv_instance *instance;
	int number;

	number = kmmv_text_check(name, KMMV_NAME_MAX);
	if (number)
		return number;

	mutex_lock(&table->lock);
	if (family < 0 || family >= table->nr_families) {
		number = -ENOENT;
		goto unlock;
	}
	instance = instance_find(table, family, name);
	if (is_new)
		*is_new = !instance;
	if (instance)
		number = instance_revive(table, instance);
	else
		number = instance_create(table, family, name);
unlock:
	mutex_unlock(&table->lock);
	return number;
}

static int instance_unref(struct kmmv_table *table, int number)
{
	struct kmmv_instance *instance = instance_named(table, number);

	if (!instance)
		return -ENOENT;
	if (!instance->refs)
		return -EALREADY;
	if (--instance->refs)
		return 0;
	change_begin(table);
	instance->state = KMMV_STATE_INACTIVE;
	record_changed(table, &instance->record);
	change_end(table);
	return 0;
}

/**
 * kmmv_table_del() - give up a reference
 * @table: the table
 * @number: from kmmv_table_add()
 *
 * With the last one the instance becomes inactive. Number, name and count stay.
 *
 * Return: 0; -ENOENT if nothing has the number; -EALREADY without a reference.
 */
int kmmv_table_del(struct kmmv_table *table, int number)
{
	int err;

	mutex_lock(&table->lock);
	err = instance_unref(table, number);
	mutex_unlock(&table->lock);
	return err;
}

/**
 * kmmv_table_forget() - unbind the number of an inactive instance
 * @table: the table
 * @number: of a name that never comes back; nobody updates it any more
 *
 * Return: 0; -ENOENT if nothing has the number; -EBUSY if it is active.
 */
int kmmv_table_forget(struct kmmv_table *table, int number)
{
	struct kmmv_instance *instance;
	int err = 0;

	mutex_lock(&table->lock);
	instance = instance_named(table, number);
	if (!instance) {
		err = -ENOENT;
	} else if (instance->refs) {
		err = -EBUSY;
	} else {
		change_begin(table);
		hlist_del(&instance->hash);
		table->nr_named--;
		kmmv_slots_put(&table->slots, number);
		instance->state = KMMV_STATE_FREE;
		instance->name[0] = '\0';
		kfree(instance->label);
		instance->label = NULL;
		record_changed(table, &instance->record);
		change_end(table);
	}
	mutex_unlock(&table->lock);
	return err;
}

static int label_check(const char *key, const char *text)
{
	size_t i;
	int err;

	err = kmmv_text_check(key, KMMV_LABEL_KEY_MAX);
	if (err)
		return err;
	for (i = 0; key[i]; i++)
		if (!(key[i] >= 'a' && key[i] <= 'z') &&
		    !(i && ((key[i] >= '0' && key[i] <= '9') || key[i] == '_')))
			return -EINVAL;
	return kmmv_text_check(text, KMMV_LABEL_MAX);
}

/**
 * kmmv_table_label() - say something about an instance
 * @table: the table
 * @number: from kmmv_table_add()
 * @key: lower-case letters, digits and '_', first a letter
 * @text: no control characters; NULL takes the label away
 *
 * An instance has one label; setting it to what it is changes nothing.
 *
 * Return: 0; -EINVAL, -ENAMETOOLONG, -EILSEQ for @key and @text; -ENOENT if
 * nothing has the number; -ENOMEM.
 */
int kmmv_table_label(struct kmmv_table *table, int number, const char *key,
		     const char *text)
{
	struct kmmv_instance *instance;
	char *label = NULL;
	int err;

	if (text) {
		err = label_check(key, text);
		if (err)
			return err;
		label = kasprintf(GFP_KERNEL, "%s=%s", key, text);
		if (!label)
			return -ENOMEM;
	}

	mutex_lock(&table->lock);
	err = -ENOENT;
	instance = instance_named(table, number);
	if (!instance)
		goto unlock;
	err = 0;
	if (label == instance->label ||
	    (label && instance->label && !strcmp(label, instance->label)))
		goto unlock;
	change_begin(table);
	swap(label, instance->label);
	record_changed(table, &instance->record);
	change_end(table);
unlock:
	mutex_unlock(&table->lock);
	kfree(label);
	return err;
}

/**
 * kmmv_table_slot() - handle of an instance's counter
 * @table: the table
 * @number: from kmmv_table_add()
 * @slot: result
 *
 * Return: 0 or -ENOENT if nothing has the number.
 */
int kmmv_table_slot(struct kmmv_table *table, int number,
		    struct kmmv_slot *slot)
{
	int err = 0;

	mutex_lock(&table->lock);
	if (instance_named(table, number))
		*slot = kmmv_slots_slot(&table->slots, number);
	else
		err = -ENOENT;
	mutex_unlock(&table->lock);
	return err;
}

/**
 * kmmv_table_follow() - have an instance's updates say who follows it
 * @table: the table
 * @number: from kmmv_table_add()
 * @index: of who does, or 0 for nobody; takes the place of who did
 *
 * It ends when the number is forgotten, too.
 *
 * Return: 0; -ENOENT if nothing has the number, or it is the module's own;
 * -ENOMEM.
 */
int kmmv_table_follow(struct kmmv_table *table, int number, u8 index)
{
	int err = -ENOENT;

	mutex_lock(&table->lock);
	if (number >= KMMV_RESERVED && instance_named(table, number))
		err = kmmv_slots_follow(&table->slots, number, index);
	mutex_unlock(&table->lock);
	return err;
}

/**
 * kmmv_table_unfollow() - nobody follows an instance, if this one did
 * @table: the table
 * @number: any
 * @index: of who did
 *
 * Return: 0 or -ENOENT if it did not.
 */
int kmmv_table_unfollow(struct kmmv_table *table, int number, u8 index)
{
	int err = -ENOENT;

	mutex_lock(&table->lock);
	if (instance_named(table, number) &&
	    kmmv_slots_follower(&table->slots, number) == index)
		err = kmmv_slots_follow(&table->slots, number, 0);
	mutex_unlock(&table->lock);
	return err;
}

/**
 * kmmv_table_followed() - the next instance that is followed
 * @table: the table
 * @index: of who does
 * @number: in: where to begin; out: its number
 *
 * Return: false if there is none.
 */
bool kmmv_table_followed(struct kmmv_table *table, u8 index, u32 *number)
{
	struct kmmv_slots *slots = &table->slots;
	u32 i;

	mutex_lock(&table->lock);
	for (i = *number; i < slots->nr; i++)
		if (kmmv_slots_follower(slots, i) == index)
			break;
	mutex_unlock(&table->lock);
	*number = i;
	return i < slots->nr;
}

/* Two halves where a word is no longer: the generation covers both. */
static void store_mask(u64 *word, u64 bits)
{
	u32 *half = (u32 *)word;
	u32 halves[2];

	memcpy(halves, &bits, sizeof(bits));
	/* table:A pairs with update_words:B: the table before gen1. */
	smp_store_release(&half[0], halves[0]);
	/* table:A for the other half. */
	smp_store_release(&half[1], halves[1]);
}

/**
 * kmmv_table_get_unnamed() - slots without a name
 * @table: the table
 * @count: how many, in a row
 * @number: the first one's
 *
 * They count from 0. No generation: there is nothing that a reader could look
 * up.
 *
 * Return: 0; -ENOSPC when there are not so many in a row; -ENOMEM.
 */
int kmmv_table_get_unnamed(struct kmmv_table *table, u32 count, u32 *number)
{
	u32 i;
	int err;

	mutex_lock(&table->lock);
	err = kmmv_slots_get(&table->slots, count, number);
	if (!err) {
		for (i = *number; i < *number + count; i++)
			kmmv_slots_publish(&table->slots, i);
		show_extent(table);
	}
	mutex_unlock(&table->lock);
	return err;
}

/**
 * kmmv_table_put() - give up a slot, named or not
 * @table: the table
 * @slot: from kmmv_table_get_unnamed(), or a named one's
 *
 * A named one keeps number, name and count, as with kmmv_table_del().
 *
 * Return: 0; -ENOENT if nothing has the slot; -EALREADY for a named one without
 * a reference.
 */
int kmmv_table_put(struct kmmv_table *table, struct kmmv_slot slot)
{
	u32 number;
	int err;

	mutex_lock(&table->lock);
	err = -ENOENT;
	if (!kmmv_slots_number(&table->slots, slot, &number))
		goto unlock;
	if (instance_named(table, number)) {
		err = instance_unref(table, number);
	} else if (test_bit(number, table->slots.taken)) {
		kmmv_slots_put(&table->slots, number);
		show_extent(table);
		err = 0;
	}
unlock:
	mutex_unlock(&table->lock);
	return err;
}

/**
 * kmmv_table_populate() - a CPU is about to come up
 * @table: the table
 * @cpu: which
 *
 * Return: 0 or -ENOMEM.
 */
int kmmv_table_populate(struct kmmv_table *table, int cpu)
{
	int err;

	mutex_lock(&table->lock);
	err = kmmv_slots_populate(&table->slots, cpu);
	mutex_unlock(&table->lock);
	return err;
}

/**
 * kmmv_table_online() - a CPU came or went
 * @table: the table
 * @cpu: which
 * @online: came
 *
 * Its counters stay where they are: sums are over all possible CPUs.
 */
void kmmv_table_online(struct kmmv_table *table, int cpu, bool online)
{
	u64 *mask = header_mask(table->header, table->slots.geom.online_offset);
	u64 bit = 1ULL << (cpu % 64);
	u64 *word = &mask[cpu / 64];

	mutex_lock(&table->lock);
	change_begin(table);
	store_mask(word, online ? *word | bit : *word & ~bit);
	change_end(table);
	mutex_unlock(&table->lock);
}
