// SPDX-License-Identifier: GPL-2.0-only
/*
 * Families: validation and registration.
 *
 * Context: any for functions without a table; otherwise task, may sleep.
 */
#include <kmmv_deps.h>
#include "family.h"
#include "name.h"

static int family_name_check(const char *name, bool own)
{
	static const char *const reserved[] = { "control", "percpu", "all",
						"ring", "profile" };
	int err;

	err = kmmv_name_check(name, KMMV_FAMILY_MAX, true);
	if (err)
		return err;
	if (!own && kmmv_name_is_below(name, reserved, ARRAY_SIZE(reserved)))
		return -EADDRINUSE;
	return 0;
}

/**
 * kmmv_family_check() - check whether a family may be registered
 * @family: from a client, or NULL
 * @own: of kmmv's own, whose name may begin with a reserved component
 *
 * Return: 0; -EINVAL for what is missing or misspelt; -ENAMETOOLONG; -EILSEQ
 * for a control character; -EADDRINUSE for a reserved first component.
 */
int kmmv_family_check(const struct kmmv_family *family, bool own)
{
	int err;

	if (!family || family->semantics > KMMV_DISCRETE ||
	    family->flags & ~KMMV_FAMILY_FLAGS)
		return -EINVAL;
	err = family_name_check(family->name, own);
	if (err)
		return err;
	err = kmmv_units_check(family->units);
	if (err)
		return err;
	err = kmmv_text_check(family->oneline, KMMV_ONELINE_MAX);
	if (err)
		return err;
	return kmmv_help_check(family->help);
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

/**
 * kmmv_family_same() - compare the metadata of two families, except the names
 * @a: checked
 * @b: checked
 */
bool kmmv_family_same(const struct kmmv_family *a, const struct kmmv_family *b)
{
	return a->semantics == b->semantics && a->flags == b->flags &&
	       !strcmp(a->units, b->units) &&
	       !strcmp(a->oneline, b->oneline) &&
	       !strcmp(or_empty(a->help), or_empty(b->help));
}

/**
 * kmmv_family_nested() - whether one name is a dotted prefix of the other
 * @a: name of a family
 * @b: name of another
 *
 * PCP's name space has no room for both: a name is either a leaf or an inner
 * node.
 */
bool kmmv_family_nested(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b);

	if (la > lb)
		return kmmv_family_nested(b, a);
	return la < lb && !memcmp(a, b, la) && b[la] == '.';
}

/*
 * Whether the names are one in Prometheus's formats, which know no dots: pmproxy
 * would have two metrics of one name there, and one counter's value as another's.
 */
static bool alike(const char *a, const char *b)
{
	while (*a && (*a == '.' ? '_' : *a) == (*b == '.' ? '_' : *b)) {
		a++;
		b++;
	}
	return !*a && !*b;
}

/**
 * kmmv_families_init() - start with no families
 * @table: the table
 *
 * Return: 0 or -ENOMEM.
 */
int kmmv_families_init(struct kmmv_table *table)
{
	table->families = kcalloc(KMMV_FAMILIES_MAX, sizeof(*table->families),
				  GFP_KERNEL);
	return table->families ? 0 : -ENOMEM;
}

/**
 * kmmv_families_fini() - free all families
 * @table: the table
 */
void kmmv_families_fini(struct kmmv_table *table)
{
	u32 i;

	for (i = 0; i < table->nr_families; i++)
		kfree(table->families[i]);
	kfree(table->families);
}

static struct kmmv_family_entry *entry_alloc(const struct kmmv_family *family)
{
	const char *help = family->help ? family->help : "";
	struct kmmv_family_entry *entry;
	char *text;

	entry = kzalloc(sizeof(*entry) + strlen(family->name) + 1 +
				 strlen(family->units) + 1 +
				 strlen(family->oneline) + 1 + strlen(help) + 1,
			 GFP_KERNEL);
	if (!entry)
		return NULL;
	text = (char *)(entry + 1);
	entry->record.kind = KMMV_RECORD_FAMILY;
	entry->desc.semantics = family->semantics;
	entry->desc.flags = family->flags;
	entry->desc.name = kmmv_text_copy(&text, family->name);
	entry->desc.units = kmmv_text_copy(&text, family->units);
	entry->desc.oneline = kmmv_text_copy(&text, family->oneline);
	entry->desc.help = kmmv_text_copy(&text, help);
	return entry;
}

/* The id of a registered family; -ENOENT; or why it cannot be registered. */
static int family_find(struct kmmv_table *table,
		       const struct kmmv_family *family)
{
	u32 i;

	for (i = 0; i < table->nr_families; i++) {
		const struct kmmv_family *other = &table->families[i]->desc;

		if (!strcmp(family->name, other->name))
			return kmmv_family_same(family, other) ? (int)i :
								 -EEXIST;
		if (kmmv_family_nested(family->name, other->name) ||
		    alike(family->name, other->name))
			return -ENOTUNIQ;
	}
	return table->nr_families < KMMV_FAMILIES_MAX ? -ENOENT : -ENFILE;
}

static int family_publish(struct kmmv_table *table, struct kmmv_family_entry *entry)
{
	entry->id = table->nr_families;
	kmmv_change_begin(table);
	table->families[table->nr_families++] = entry;
	kmmv_records_add(&table->records, &entry->record);
	kmmv_change_end(table);
	return entry->id;
}

static int add(struct kmmv_table *table, const struct kmmv_family *family,
	       bool own)
{
	struct kmmv_family_entry *entry = NULL;
	int id;

	id = kmmv_family_check(family, own);
	if (id)
		return id;

	for (;;) {
		mutex_lock(&table->lock);
		id = family_find(table, family);
		if (id == -ENOENT && entry) {
			id = family_publish(table, entry);
			entry = NULL;
		}
		mutex_unlock(&table->lock);
		if (id != -ENOENT)
			break;
		entry = entry_alloc(family);
		if (!entry)
			return -ENOMEM;
	}
	kfree(entry);
	return id;
}

/**
 * kmmv_family_add() - register a family, or find it
 * @table: the table
 * @family: copied
 *
 * Return: the family; an error of kmmv_family_check(); -EEXIST with other
 * metadata; -ENOTUNIQ if one name is a dotted prefix of another, or differs
 * from it only in dots and underscores; -ENFILE if there are too many; -ENOMEM.
 */
int kmmv_family_add(struct kmmv_table *table, const struct kmmv_family *family)
{
	return add(table, family, false);
}

/**
 * kmmv_family_add_own() - kmmv_family_add() of one of kmmv's own
 * @table: the table
 * @family: copied; its name may begin with a reserved component
 *
 * Return: as kmmv_family_add().
 */
int kmmv_family_add_own(struct kmmv_table *table,
			const struct kmmv_family *family)
{
	return add(table, family, true);
}
