/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A table for tests of the core, and their common helpers.
 */
#ifndef CORE_H
#define CORE_H

/* The shim's headers come first, as for the core. */
#include <kmmv_deps.h>

#include "follow.h"
#include "instance.h"
#include "event_type.h"
#include "family.h"
#include "names.h"
#include "table.h"
#include "quiet.h"
#include "suite.h"

/* The generation wraps after two changes. */
#define GENERATION_START	(ULONG_MAX - 2)

/* One, of however many files of a program. */
__attribute__((weak)) struct kmmv_table kmmv_table;
#define table kmmv_table

static const struct kmmv_family family_a = {
	.name = "disk.read",
	.units = "byte",
	.semantics = KMMV_COUNTER,
	.oneline = "Bytes read",
	.help = "Bytes read,\nby disk \\ partition.",
};

static inline void table_start(u32 capacity)
{
	struct kmmv_geom geom;

	shim_nr_cpus = 4;
	shim_possible = 0xb; /* CPU 2 is not possible */
	shim_fail_in = 0;
	ck_assert_int_eq(kmmv_geom_init(&geom, capacity, 4, 3, ULONG_MAX), 0);
	ck_assert_int_eq(kmmv_table_init(&table, &geom, 77, GENERATION_START),
			 0);
	ck_assert_int_eq(kmmv_table_populate(&table, 0), 0);
	ck_assert_int_eq(kmmv_table_populate(&table, 1), 0);
	ck_assert_int_eq(kmmv_table_populate(&table, 3), 0);
}

/* With a family that has the reserved numbers. Return: its id. */
static inline int table_start_reserved(u32 capacity)
{
	int i, family;

	table_start(capacity);
	family = kmmv_family_add(&table, &family_a);
	for (i = 0; i < KMMV_RESERVED; i++) {
		char name[32];

		snprintf(name, sizeof(name), "own%d", i);
		kmmv_instance_add(&table, family, name, NULL);
	}
	return family;
}

static inline void table_stop(void)
{
	kmmv_table_fini(&table);
	ck_assert_int_eq(shim_allocated, 0);
	/* No holder of the lock ever waited for memory. */
	ck_assert_uint_eq(shim_locked_allocs, 0);
	/* Nor for CPUs that come and go, and wait for that lock. */
	ck_assert_uint_eq(shim_locked_switches, 0);
}

/* Read like the device, into a buffer of this size. */
static inline ssize_t cursor_read(struct kmmv_cursor *cursor, char *buffer,
				  size_t size)
{
	const char *text;
	size_t done = 0;
	ssize_t n = 0;

	while (done < size) {
		n = kmmv_cursor_text(cursor, size - done, &text);
		if (n <= 0)
			break;
		n = min((size_t)n, size - done);
		memcpy(buffer + done, text, n);
		kmmv_cursor_given(cursor, n);
		done += n;
	}
	return done ? (ssize_t)done : n;
}

/* All that a new reader is given, in a static buffer. */
static inline const char *table_names(void)
{
	static char text[256 << 10];
	struct kmmv_cursor cursor;
	ssize_t n;

	kmmv_cursor_init(&cursor, &table);
	n = cursor_read(&cursor, text, sizeof(text) - 1);
	ck_assert_int_gt(n, 0);
	ck_assert_int_lt(n, (int)sizeof(text) - 1);
	text[n] = '\0';
	kmmv_cursor_fini(&cursor);
	return text;
}

static inline int run_suite(const char *name, TCase *tcase)
{
	Suite *suite = suite_create(name);

	suite_add_tcase(suite, tcase);
	return run_all(suite);
}

#endif /* CORE_H */
