// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instances: numbers that are bound to a name. A number and its name stay
 * together, with references and without, until they are forgotten.
 *
 * Context: task, may sleep.
 */
#include <kmmv_deps.h>
#include "family.h"
#include "instance.h"
#include "table.h"

#define BUCKET_BITS_MIN		8
#define BUCKET_BITS_MAX		24

static void record_changed(struct kmmv_table *table, struct kmmv_record *record)
{
	list_move_tail(&record->link, &table->changes);
}

static struct hlist_head *buckets_alloc(u32 bits)
{
	return kvcalloc(1UL << bits, sizeof(struct hlist_head), GFP_KERNEL);
}

static void instance_free(struct kmmv_instance *instance)
{
	if (!instance)
		return;
	kfree(instance->label);
	kfree(instance);
}

/**
 * kmmv_instance_init() - no number is bound
 * @table: the table, with its slots
 *
 * Return: 0 or -ENOMEM.
 */
int kmmv_instance_init(struct kmmv_table *table)
{
	table->bucket_bits = BUCKET_BITS_MIN;
	table->instances = kvcalloc(table->slots.geom.cpu_pages,
				    sizeof(*table->instances), GFP_KERNEL);
	if (!table->instances)
		return -ENOMEM;
	table->buckets = buckets_alloc(table->bucket_bits);
	if (!table->buckets)
		goto err_free_instances;
	return 0;

err_free_instances:
	kvfree(table->instances);
	return -ENOMEM;
}

/**
 * kmmv_instance_fini() - free all of them
 * @table: the table
 */
void kmmv_instance_fini(struct kmmv_table *table)
{
	u32 i, j;

	for (i = 0; i < table->slots.geom.cpu_pages; i++) {
		if (!table->instances[i])
			continue;
		for (j = 0; j < KMMV_PER_PAGE; j++)
			instance_free(table->instances[i][j]);
		kfree(table->instances[i]);
	}
	kvfree(table->buckets);
	kvfree(table->instances);
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

/**
 * kmmv_instance_named() - what has a number, named by some identity
 * @table: the table, locked
 * @number: any
 *
 * Return: NULL for none.
 */
struct kmmv_instance *kmmv_instance_named(struct kmmv_table *table, int number)
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
	kmmv_table_change_begin(table);
	instance->state = KMMV_STATE_ACTIVE;
	record_changed(table, &instance->record);
	kmmv_table_change_end(table);
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

	kmmv_table_change_begin(table);
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
	kmmv_table_change_end(table);
	return number;
}

/**
 * kmmv_instance_add() - an instance's number
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
int kmmv_instance_add(struct kmmv_table *table, int family, const char *name,
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

/**
 * kmmv_instance_unref() - give up a reference, for who has the lock
 * @table: the table, locked
 * @number: any
 *
 * Return: as kmmv_instance_del().
 */
int kmmv_instance_unref(struct kmmv_table *table, int number)
{
	struct kmmv_instance *instance = kmmv_instance_named(table, number);

	if (!instance)
		return -ENOENT;
	if (!instance->refs)
		return -EALREADY;
	if (--instance->refs)
		return 0;
	kmmv_table_change_begin(table);
	instance->state = KMMV_STATE_INACTIVE;
	record_changed(table, &instance->record);
	kmmv_table_change_end(table);
	return 0;
}

/**
 * kmmv_instance_del() - give up a reference
 * @table: the table
 * @number: from kmmv_instance_add()
 *
 * With the last one the instance becomes inactive. Number, name and count stay.
 *
 * Return: 0; -ENOENT if nothing has the number; -EALREADY without a reference.
 */
int kmmv_instance_del(struct kmmv_table *table, int number)
{
	int err;

	mutex_lock(&table->lock);
	err = kmmv_instance_unref(table, number);
	mutex_unlock(&table->lock);
	return err;
}

/**
 * kmmv_instance_forget() - unbind the number of an inactive instance
 * @table: the table
 * @number: of a name that never comes back; nobody updates it any more
 *
 * Return: 0; -ENOENT if nothing has the number; -EBUSY if it is active.
 */
int kmmv_instance_forget(struct kmmv_table *table, int number)
{
	struct kmmv_instance *instance;
	int err = 0;

	mutex_lock(&table->lock);
	instance = kmmv_instance_named(table, number);
	if (!instance) {
		err = -ENOENT;
	} else if (instance->refs) {
		err = -EBUSY;
	} else {
		kmmv_table_change_begin(table);
		hlist_del(&instance->hash);
		table->nr_named--;
		kmmv_slots_put(&table->slots, number);
		instance->state = KMMV_STATE_FREE;
		instance->name[0] = '\0';
		kfree(instance->label);
		instance->label = NULL;
		record_changed(table, &instance->record);
		kmmv_table_change_end(table);
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
 * kmmv_instance_label() - say something about an instance
 * @table: the table
 * @number: from kmmv_instance_add()
 * @key: lower-case letters, digits and '_', first a letter
 * @text: no control characters; NULL takes the label away
 *
 * An instance has one label; setting it to what it is changes nothing.
 *
 * Return: 0; -EINVAL, -ENAMETOOLONG, -EILSEQ for @key and @text; -ENOENT if
 * nothing has the number; -ENOMEM.
 */
int kmmv_instance_label(struct kmmv_table *table, int number, const char *key,
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
	instance = kmmv_instance_named(table, number);
	if (!instance)
		goto unlock;
	err = 0;
	if (label == instance->label ||
	    (label && instance->label && !strcmp(label, instance->label)))
		goto unlock;
	kmmv_table_change_begin(table);
	swap(label, instance->label);
	record_changed(table, &instance->record);
	kmmv_table_change_end(table);
unlock:
	mutex_unlock(&table->lock);
	kfree(label);
	return err;
}

/**
 * kmmv_instance_slot() - handle of an instance's counter
 * @table: the table
 * @number: from kmmv_instance_add()
 * @slot: result
 *
 * Return: 0 or -ENOENT if nothing has the number.
 */
int kmmv_instance_slot(struct kmmv_table *table, int number,
		       struct kmmv_slot *slot)
{
	int err = 0;

	mutex_lock(&table->lock);
	if (kmmv_instance_named(table, number))
		*slot = kmmv_slots_slot(&table->slots, number);
	else
		err = -ENOENT;
	mutex_unlock(&table->lock);
	return err;
}
