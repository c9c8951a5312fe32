// SPDX-License-Identifier: GPL-2.0-only
/*
 * The families that are registered.
 *
 * Context: task, may sleep.
 */
#include <kmmv_deps.h>
#include "family.h"
#include "metric.h"
#include "table.h"

/**
 * kmmv_metric_init() - no family is registered
 * @table: the table
 *
 * Return: 0 or -ENOMEM.
 */
int kmmv_metric_init(struct kmmv_table *table)
{
	table->families = kcalloc(KMMV_FAMILIES_MAX, sizeof(*table->families),
				  GFP_KERNEL);
	return table->families ? 0 : -ENOMEM;
}

/**
 * kmmv_metric_fini() - free all of them
 * @table: the table
 */
void kmmv_metric_fini(struct kmmv_table *table)
{
	u32 i;

	for (i = 0; i < table->nr_families; i++)
		kfree(table->families[i]);
	kfree(table->families);
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
	metric->desc.flags = family->flags;
	metric->desc.name = kmmv_text_copy(&text, family->name);
	metric->desc.units = kmmv_text_copy(&text, family->units);
	metric->desc.oneline = kmmv_text_copy(&text, family->oneline);
	metric->desc.help = kmmv_text_copy(&text, help);
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

static int family_publish(struct kmmv_table *table, struct kmmv_metric *metric)
{
	metric->id = table->nr_families;
	kmmv_table_change_begin(table);
	table->families[table->nr_families++] = metric;
	kmmv_changes_add(&table->changes, &metric->record);
	kmmv_table_change_end(table);
	return metric->id;
}

/**
 * kmmv_metric_add() - register a family, or find it
 * @table: the table
 * @family: what it is; copied
 *
 * Return: its id; what kmmv_family_check() says; -EEXIST with other metadata;
 * -ENOTUNIQ where one is a dotted prefix of another; -ENFILE for one too many;
 * -ENOMEM.
 */
int kmmv_metric_add(struct kmmv_table *table, const struct kmmv_family *family)
{
	struct kmmv_metric *metric = NULL;
	int id;

	id = kmmv_family_check(family);
	if (id)
		return id;

	for (;;) {
		mutex_lock(&table->lock);
		id = family_find(table, family);
		if (id == -ENOENT && metric) {
			id = family_publish(table, metric);
			metric = NULL;
		}
		mutex_unlock(&table->lock);
		if (id != -ENOENT)
			break;
		metric = metric_alloc(family);
		if (!metric)
			return -ENOMEM;
	}
	kfree(metric);
	return id;
}
