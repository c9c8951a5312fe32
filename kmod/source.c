// SPDX-License-Identifier: GPL-2.0-only
/* Sources: mirrors of what is counted elsewhere, copied when a reader asks. */
#include <linux/export.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "module.h"
#include "pace.h"

/**
 * struct kmmv_source_state - what kmmv.ko keeps of a source
 * @list: all sources, under sources_sem
 * @source: the source
 * @copying: serialises copies
 * @lock: protects @pace, so that a reader that finds the copy young enough does
 *	not wait for the next one
 * @pace: of its copies
 */
struct kmmv_source_state {
	struct list_head	list;
	struct kmmv_source	*source;
	struct mutex		copying;
	spinlock_t		lock;
	struct kmmv_pace	pace;
};

/*
 * Held for reading while a reader has sources copy: none is unregistered
 * meanwhile. Callers of kmmv_source_copy() ensure that themselves.
 */
static DECLARE_RWSEM(sources_sem);
static LIST_HEAD(sources);

/* Under sources_sem. By address: the source may never have been registered. */
static struct kmmv_source_state *find(const struct kmmv_source *source)
{
	struct kmmv_source_state *state;

	list_for_each_entry(state, &sources, list)
		if (state->source == source)
			return state;
	return NULL;
}

/* Under state->copying, or when no one else has the source. */
static void copy(struct kmmv_source_state *state)
{
	struct kmmv_source *source = state->source;
	struct kmmv_copied copied = { .begun = ktime_get_ns() };
	struct kmmv_pace *pace = &state->pace;

	source->copy(source);
	spin_lock(&state->lock);
	kmmv_pace_copied(pace, copied.begun, ktime_get_ns());
	copied.took = pace->ended - pace->begun;
	copied.rest = kmmv_pace_rest(pace);
	spin_unlock(&state->lock);
	if (source->copied)
		source->copied(source, &copied);
}

static bool is_due(struct kmmv_source_state *state, u64 asked, u64 max_age)
{
	bool due;

	spin_lock(&state->lock);
	due = kmmv_pace_due(&state->pace, asked, max_age, ktime_get_ns());
	spin_unlock(&state->lock);
	return due;
}

static s64 age_now(struct kmmv_source_state *state)
{
	s64 age;

	spin_lock(&state->lock);
	age = ktime_get_ns() - state->pace.begun;
	spin_unlock(&state->lock);
	return age;
}

/* Return: age of the last copy in nanoseconds; -EINTR. */
static s64 copy_if_due(struct kmmv_source_state *state, u64 max_age)
{
	u64 asked = ktime_get_ns();

	if (is_due(state, asked, max_age)) {
		if (mutex_lock_killable(&state->copying))
			return -EINTR;
		/* The lock's last holder may have copied. */
		if (is_due(state, asked, max_age))
			copy(state);
		mutex_unlock(&state->copying);
	}
	return age_now(state);
}

/* While the source begins, readers wait for sources_sem; after that, for its copy. */
static int add(struct kmmv_source_state *state)
{
	struct kmmv_source *source = state->source;
	int err = 0;

	down_write(&sources_sem);
	if (find(source))
		err = -EEXIST;
	else if (source->begin)
		err = source->begin(source);
	if (!err) {
		list_add_tail(&state->list, &sources);
		source->state = state;
	}
	up_write(&sources_sem);
	return err;
}

int kmmv_register_source(struct kmmv_source *source)
{
	struct kmmv_source_state *state;
	int err;

	if (!source || !source->copy)
		return -EINVAL;
	state = kzalloc(sizeof(*state), GFP_KERNEL);
	if (!state)
		return -ENOMEM;
	state->source = source;
	mutex_init(&state->copying);
	spin_lock_init(&state->lock);
	err = add(state);
	if (err) {
		kfree(state);
		return err;
	}
	/* A reader may have come first. */
	kmmv_source_copy(source);
	return 0;
}
EXPORT_SYMBOL_GPL(kmmv_register_source);

void kmmv_unregister_source(struct kmmv_source *source)
{
	struct kmmv_source_state *state;

	down_write(&sources_sem);
	state = find(source);
	if (state)
		list_del(&state->list);
	up_write(&sources_sem);
	if (!state)
		return;
	copy(state);
	source->state = NULL;
	kfree(state);
}
EXPORT_SYMBOL_GPL(kmmv_unregister_source);

void kmmv_source_copy(struct kmmv_source *source)
{
	struct kmmv_source_state *state = source->state;
	u64 asked = ktime_get_ns();

	mutex_lock(&state->copying);
	if (is_due(state, asked, 0))
		copy(state);
	mutex_unlock(&state->copying);
}
EXPORT_SYMBOL_GPL(kmmv_source_copy);

/**
 * kmmv_source_copy_all() - have every source copy
 * @max_age: nanoseconds; younger copies are kept
 *
 * If the task is killed, sources for which it would have to wait do not copy.
 *
 * Context: task.
 * Return: age of the oldest copy in nanoseconds, 0 without sources; -EINTR.
 */
s64 kmmv_source_copy_all(u64 max_age)
{
	struct kmmv_source_state *state;
	s64 age, oldest = 0;
	int err;

	err = down_read_killable(&sources_sem);
	if (err)
		return err;
	list_for_each_entry(state, &sources, list) {
		age = copy_if_due(state, max_age);
		if (age < 0 && !err)
			err = age;
		oldest = max(oldest, age);
	}
	up_read(&sources_sem);
	return err ?: oldest;
}
