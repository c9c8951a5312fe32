// SPDX-License-Identifier: GPL-2.0-only
/* Sources: mirrors of what is counted elsewhere, copied when a reader asks. */
#include <linux/export.h>
#include <linux/rwsem.h>

#include "module.h"

/* Held for reading while sources copy: none is unregistered meanwhile. */
static DECLARE_RWSEM(sources_sem);
static LIST_HEAD(sources);

/* Under sources_sem. By address: the source may never have been registered. */
static bool is_registered(const struct kmmv_source *source)
{
	const struct kmmv_source *other;

	list_for_each_entry(other, &sources, list)
		if (other == source)
			return true;
	return false;
}

int kmmv_register_source(struct kmmv_source *source)
{
	int err = 0;

	if (!source || !source->refresh)
		return -EINVAL;
	down_write(&sources_sem);
	if (is_registered(source))
		err = -EEXIST;
	else
		list_add_tail(&source->list, &sources);
	up_write(&sources_sem);
	return err;
}
EXPORT_SYMBOL_GPL(kmmv_register_source);

void kmmv_unregister_source(struct kmmv_source *source)
{
	down_write(&sources_sem);
	if (is_registered(source))
		list_del(&source->list);
	up_write(&sources_sem);
}
EXPORT_SYMBOL_GPL(kmmv_unregister_source);

/**
 * kmmv_source_refresh() - have every source copy
 * @max_age: nanoseconds; younger copies are kept
 *
 * A failing source does not keep the others from copying.
 *
 * Context: task.
 * Return: age of the oldest copy in nanoseconds, 0 without sources; -EINTR; the
 * first error of a source.
 */
s64 kmmv_source_refresh(u64 max_age)
{
	struct kmmv_source *source;
	s64 age, oldest = 0;
	int err;

	err = down_read_killable(&sources_sem);
	if (err)
		return err;
	list_for_each_entry(source, &sources, list) {
		age = source->refresh(source, max_age);
		if (age < 0 && !err)
			err = age;
		oldest = max(oldest, age);
	}
	up_read(&sources_sem);
	return err ?: oldest;
}
