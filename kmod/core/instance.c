// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instances: numbers bound to a name. A number and its name stay bound, with
 * references or without, until they are forgotten.
 *
 * Context: task, may sleep.
 */
#include <kmmv_deps.h>
#include "instance.h"
#include "name.h"

static void instance_free(struct kmmv_instance *instance)
{
	if (!instance)
		return;
	kfree(instance->label);
	kfree(instance);
}

/**
 * kmmv_instance_init() - start with no instances
 * @table: the table, with its slots
 *
 * Return: 0 or -ENOMEM.
 */
int kmmv_instance_init(struct kmmv_table *table)
{
	u32 capacity = table->slots.geom.capacity;
	int err;

	table->instances = kvcalloc(table->slots.geom.cpu_pages,
				    sizeof(*table->instances), GFP_KERNEL);
	if (!table->instances)
		return -ENOMEM;
	err = kmmv_index_init(&table->index, capacity);
	if (err)
		kvfree(table->instances);
	return err;
}

/**
 * kmmv_instance_fini() - free all instances
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
		free_page((unsigned long)table->instances[i]);
	}
	kmmv_index_fini(&table->index);
	kvfree(table->instances);
}

static struct kmmv_instance **instance_place(struct kmmv_table *table,
					     u32 number)
{
	return &table->instances[number / KMMV_PER_PAGE][number % KMMV_PER_PAGE];
}

/**
 * kmmv_instance_named() - find the instance of a number
 * @table: the table, locked
 * @number: any value
 *
 * Return: the instance, or NULL if the number is not bound to a name.
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
	kmmv_change_begin(table);
	instance->state = KMMV_STATE_ACTIVE;
	kmmv_records_move(&table->records, &instance->record);
	kmmv_change_end(table);
	return instance->number;
}

static struct kmmv_instance *instance_alloc(u32 family, const char *name,
					    u32 hash)
{
	size_t size = strlen(name) + 1;
	struct kmmv_instance *instance;

	instance = kzalloc(sizeof(*instance) + size, GFP_KERNEL);
	if (!instance)
		return NULL;
	instance->record.kind = KMMV_RECORD_INSTANCE;
	instance->bound.hash = hash;
	instance->bound.family = family;
	instance->refs = 1;
	instance->state = KMMV_STATE_ACTIVE;
	memcpy(instance->bound.name, name, size);
	return instance;
}

/* Take a number, and make room for its pointer. */
static int instance_reserve(struct kmmv_table *table, u32 *number,
			    struct kmmv_spare *spare)
{
	struct kmmv_instance ***page;
	int err;

	err = kmmv_slots_get(&table->slots, 1, number, spare);
	if (err)
		return err;
	page = &table->instances[*number / KMMV_PER_PAGE];
	if (!*page)
		*page = kmmv_spare_zeroed(spare);
	if (!*page) {
		kmmv_slots_cancel(&table->slots, *number, 1);
		return -EAGAIN;
	}
	return 0;
}

static int instance_publish(struct kmmv_table *table,
			    struct kmmv_instance *instance, u64 start,
			    struct kmmv_spare *spare)
{
	struct kmmv_instance **place, *old;
	u32 number;
	int err;

	err = kmmv_index_grow(&table->index, spare);
	if (err)
		return err;
	err = instance_reserve(table, &number, spare);
	if (err)
		return err;

	instance->number = number;
	place = instance_place(table, number);
	old = *place;
	kmmv_slots_publish(&table->slots, number, start);
	kmmv_index_add(&table->index, &instance->bound);

	kmmv_change_begin(table);
	if (old)
		kmmv_records_del(&table->records, &old->record);
	*place = instance;
	kmmv_records_add(&table->records, &instance->record);
	kmmv_change_end(table);
	instance_free(old);
	return number;
}

/**
 * struct add - what an instance needs, allocated without the lock
 * @hash: of its identity
 * @instance: its memory; NULL if not needed yet, or published
 * @spare: memory for growth
 */
struct add {
	u32			hash;
	struct kmmv_instance	*instance;
	struct kmmv_spare	spare;
};

static int add_locked(struct kmmv_table *table, int family, const char *name,
		      const u64 *start, struct add *add)
{
	struct kmmv_index_entry *bound;
	int number;

	if (family < 0 || family >= table->nr_families)
		return -ENOENT;
	bound = kmmv_index_find(&table->index, add->hash, family, name);
	if (bound)
		return instance_revive(table, container_of(bound,
						struct kmmv_instance, bound));
	if (!add->instance)
		return -EAGAIN;
	number = instance_publish(table, add->instance, start ? *start : 0,
				  &add->spare);
	if (number >= 0)
		add->instance = NULL;
	return number;
}

/**
 * kmmv_instance_add() - take a reference of an instance, which may be new
 * @table: the table
 * @family: id
 * @name: any bytes but control characters, up to KMMV_NAME_MAX; copied
 * @start: initial count, used only if the identity is new; NULL for 0
 *
 * The same identity gets the same number each time; each call takes a
 * reference.
 *
 * Return: the number; -EINVAL without a name; -ENAMETOOLONG; -EILSEQ for a
 * control character; -ENOENT for an unknown family; -ENOSPC if all numbers are
 * taken; -EOVERFLOW for too many references; -ENOMEM.
 */
int kmmv_instance_add(struct kmmv_table *table, int family, const char *name,
		      const u64 *start)
{
	struct add add = { 0 };
	int number;

	number = kmmv_text_check(name, KMMV_NAME_MAX);
	if (number)
		return number;

	add.hash = kmmv_index_hash(&table->index, family, name);
	for (;;) {
		mutex_lock(&table->lock);
		number = add_locked(table, family, name, start, &add);
		mutex_unlock(&table->lock);
		if (number != -EAGAIN)
			break;
		if (!add.instance)
			add.instance = instance_alloc(family, name,
						      add.hash);
		number = -ENOMEM;
		if (!add.instance ||
		    kmmv_slots_spare_fill(&table->slots, &add.spare))
			break;
	}
	kmmv_slots_spare_free(&table->slots, &add.spare);
	instance_free(add.instance);
	return number;
}

/**
 * kmmv_instance_unref() - drop a reference, with the lock held
 * @table: the table, locked
 * @number: any value
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
	kmmv_change_begin(table);
	instance->state = KMMV_STATE_INACTIVE;
	kmmv_records_move(&table->records, &instance->record);
	kmmv_change_end(table);
	return 0;
}

/**
 * kmmv_instance_del() - drop a reference
 * @table: the table
 * @number: from kmmv_instance_add()
 *
 * With its last reference the instance becomes inactive. Number, name and count
 * stay.
 *
 * Return: 0; -ENOENT if no instance has the number; -EALREADY without a
 * reference.
 */
int kmmv_instance_del(struct kmmv_table *table, int number)
{
	int err;

	mutex_lock(&table->lock);
	err = kmmv_instance_unref(table, number);
	mutex_unlock(&table->lock);
	return err;
}

/* With the lock held, and no references. The label is left to the caller. */
static char *instance_unbind(struct kmmv_table *table,
			     struct kmmv_instance *instance)
{
	char *label = NULL;

	kmmv_slots_put(&table->slots, instance->number);
	instance->state = KMMV_STATE_FREE;
	instance->bound.name[0] = '\0';
	swap(label, instance->label);
	kmmv_records_move(&table->records, &instance->record);
	return label;
}

/**
 * kmmv_instance_forget() - unbind the number of an inactive instance
 * @table: the table
 * @number: no longer updated by anyone
 *
 * Return: 0; -ENOENT if no instance has the number; -EBUSY if it is active.
 */
int kmmv_instance_forget(struct kmmv_table *table, int number)
{
	struct kmmv_instance *instance;
	char *label = NULL;
	int err = 0;

	mutex_lock(&table->lock);
	instance = kmmv_instance_named(table, number);
	if (!instance) {
		err = -ENOENT;
	} else if (instance->refs) {
		err = -EBUSY;
	} else {
		kmmv_index_del(&table->index, &instance->bound);
		kmmv_change_begin(table);
		label = instance_unbind(table, instance);
		kmmv_change_end(table);
	}
	mutex_unlock(&table->lock);
	kfree(label);
	return err;
}

/**
 * kmmv_instance_merge() - add an inactive instance's counts to another's
 * @table: the table
 * @number: no longer updated by anyone; unbound if this succeeds
 * @into: another instance, which only the caller stores
 * @store: sets a count on a CPU that has memory, and does not take the lock
 *
 * This is one change: a reader that finds the same generation before and after
 * it reads finds each count once.
 *
 * Return: 0; -ENOENT if either has no instance; -EINVAL if both are the same;
 * -EBUSY if @number is active; -ENOMEM if a CPU has memory for one of them
 * only.
 */
int kmmv_instance_merge(struct kmmv_table *table, int number, int into,
			void (*store)(struct kmmv_slot slot, int cpu,
				      u64 value))
{
	struct kmmv_slots *slots = &table->slots;
	struct kmmv_instance *instance;
	struct kmmv_slot from, to;
	char *label = NULL;
	int err = -ENOENT;
	int cpu;

	mutex_lock(&table->lock);
	instance = kmmv_instance_named(table, number);
	if (!instance || !kmmv_instance_named(table, into))
		goto unlock;
	err = -EINVAL;
	if (number == into)
		goto unlock;
	err = -EBUSY;
	if (instance->refs)
		goto unlock;
	from = kmmv_slots_slot(slots, number);
	to = kmmv_slots_slot(slots, into);
	err = -ENOMEM;
	for_each_possible_cpu(cpu)
		if (!kmmv_slot_cpu(to, cpu) && kmmv_ctr_read(slots, from, cpu))
			goto unlock;
	err = 0;
	kmmv_index_del(&table->index, &instance->bound);
	kmmv_change_begin(table);
	for_each_possible_cpu(cpu) {
		u64 count = kmmv_ctr_read(slots, from, cpu);

		if (count)
			store(to, cpu, kmmv_ctr_read(slots, to, cpu) + count);
	}
	label = instance_unbind(table, instance);
	kmmv_change_end(table);
unlock:
	mutex_unlock(&table->lock);
	kfree(label);
	return err;
}

/**
 * kmmv_instance_inactive() - find an inactive instance of a family
 * @table: the table
 * @family: from kmmv_family_add()
 * @number: the first number to look at
 * @name: result, KMMV_NAME_MAX + 1 bytes
 *
 * Return: its number; -ENOENT if there is none from @number on.
 */
int kmmv_instance_inactive(struct kmmv_table *table, int family, int number,
			   char *name)
{
	struct kmmv_instance *instance;
	int found = -ENOENT;

	mutex_lock(&table->lock);
	for (; found < 0 && number < table->slots.nr; number++) {
		instance = kmmv_instance_named(table, number);
		if (!instance || instance->state != KMMV_STATE_INACTIVE ||
		    instance->bound.family != (u32)family)
			continue;
		memcpy(name, instance->bound.name,
		       strlen(instance->bound.name) + 1);
		found = number;
	}
	mutex_unlock(&table->lock);
	return found;
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
 * kmmv_instance_label() - set or remove an instance's label
 * @table: the table
 * @number: from kmmv_instance_add()
 * @key: lower-case letters, digits and '_', first a letter
 * @text: no control characters; NULL removes the label
 *
 * An instance has one label. Setting the label that it has changes nothing.
 *
 * Return: 0; -EINVAL, -ENAMETOOLONG, -EILSEQ for @key and @text; -ENOENT if no
 * instance has the number; -ENOMEM.
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
	kmmv_change_begin(table);
	swap(label, instance->label);
	kmmv_records_move(&table->records, &instance->record);
	kmmv_change_end(table);
unlock:
	mutex_unlock(&table->lock);
	kfree(label);
	return err;
}

/**
 * kmmv_instance_slot() - handle of an instance's counter
 * @table: the table
 * @number: from kmmv_instance_add()
 * @slot: result; the sink on error, so that updates through it are harmless
 *
 * Return: 0; -ENOENT if no instance has the number.
 */
int kmmv_instance_slot(struct kmmv_table *table, int number,
		       struct kmmv_slot *slot)
{
	int err = -ENOENT;

	*slot = table->slots.sink;
	mutex_lock(&table->lock);
	if (kmmv_instance_named(table, number)) {
		*slot = kmmv_slots_slot(&table->slots, number);
		err = 0;
	}
	mutex_unlock(&table->lock);
	return err;
}

/**
 * kmmv_instance_incarnation() - get the incarnation of a number's instance
 * @table: the table
 * @number: from kmmv_instance_add()
 * @incarnation: result; unchanged on error
 *
 * Return: 0; -ENOENT if no instance has the number.
 */
int kmmv_instance_incarnation(struct kmmv_table *table, int number,
			      u32 *incarnation)
{
	int err = -ENOENT;

	mutex_lock(&table->lock);
	if (kmmv_instance_named(table, number)) {
		*incarnation = kmmv_slots_incarnation(&table->slots, number);
		err = 0;
	}
	mutex_unlock(&table->lock);
	return err;
}
