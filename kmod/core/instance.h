/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KMMV_INSTANCE_H
#define KMMV_INSTANCE_H

#include <kmmv_deps.h>
#include "change.h"

enum kmmv_instance_state {
	KMMV_STATE_ACTIVE,
	KMMV_STATE_INACTIVE,	/* without references; the number stays bound */
	KMMV_STATE_FREE,	/* forgotten; the number may be given out again */
};

/**
 * struct kmmv_instance - the last identity of a number
 * @record: in kmmv_table.records
 * @number: its slot
 * @refs: calls of kmmv_instance_add() less those of kmmv_instance_del()
 * @state: inactive without references
 * @label: "KEY=TEXT", or NULL
 * @bound: family and name; in kmmv_table.index unless free
 */
struct kmmv_instance {
	struct kmmv_record	record;
	u32			number;
	u32			refs;
	enum kmmv_instance_state state;
	char			*label;
	struct kmmv_index_entry	bound;
};

int kmmv_instance_init(struct kmmv_table *table);
void kmmv_instance_fini(struct kmmv_table *table);

int kmmv_instance_add(struct kmmv_table *table, int family, const char *name,
		      const u64 *start);
int kmmv_instance_del(struct kmmv_table *table, int number);
int kmmv_instance_forget(struct kmmv_table *table, int number);
int kmmv_instance_merge(struct kmmv_table *table, int number, int into,
			void (*store)(struct kmmv_slot slot, int cpu,
				      u64 value));
int kmmv_instance_inactive(struct kmmv_table *table, int family, int number,
			   char *name);
int kmmv_instance_label(struct kmmv_table *table, int number, const char *key,
			const char *text);
int kmmv_instance_slot(struct kmmv_table *table, int number,
		       struct kmmv_slot *slot);
int kmmv_instance_incarnation(struct kmmv_table *table, int number,
			      u32 *incarnation);

struct kmmv_instance *kmmv_instance_named(struct kmmv_table *table, int number);
int kmmv_instance_unref(struct kmmv_table *table, int number);

/* The error of a bad number or family: the errno it is, else -ENOENT. */
static inline int kmmv_number_error(int number)
{
	return number < 0 && number >= -MAX_ERRNO ? number : -ENOENT;
}

#endif /* KMMV_INSTANCE_H */
