// SPDX-License-Identifier: GPL-2.0-only
/*
 * What it costs the module's core, natively, to tell a reader all names.
 *
 *	tellnames INSTANCES...
 *
 * A line for each, tab-separated: instances, and nanoseconds of telling them in pieces as
 * a reader of the device gets them; copied once, as the device does. The least of a few
 * rounds.
 */
#include <kmmv_deps.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "family.h"
#include "instance.h"
#include "names.h"
#include "table.h"

#define ROUNDS 5
#define PIECE  65536

struct kmmv_table kmmv_table;

static const struct kmmv_family family = {
	.name = "bench.names",
	.units = "count",
	.semantics = KMMV_COUNTER,
	.oneline = "Names",
	.help = "Names.",
};

static void fail(const char *what)
{
	fprintf(stderr, "tellnames: %s\n", what);
	exit(2);
}

/* The thread's CPU time, which other load does not change. */
static unsigned long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

static void fill(u32 nr)
{
	struct kmmv_geom geom;
	char name[64];
	int id;
	u32 i;

	shim_nr_cpus = 1;
	shim_possible = 1;
	shim_fail_in = 0;
	if (kmmv_geom_init(&geom, nr + 64, 1, 1, ULONG_MAX) ||
	    kmmv_table_init(&kmmv_table, &geom, 1, 0) ||
	    kmmv_table_populate(&kmmv_table, 0))
		fail("no table");
	id = kmmv_family_add(&kmmv_table, &family);
	if (id < 0)
		fail("no family");
	for (i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "instance%u", i);
		if (kmmv_instance_add(&kmmv_table, id, name, NULL) < 0)
			fail("no instance");
	}
}

static unsigned long long tell(void)
{
	static char piece[PIECE];
	struct kmmv_cursor cursor;
	unsigned long long took;
	size_t done = 0;
	const char *text;
	ssize_t n;

	kmmv_cursor_init(&cursor, &kmmv_table);
	took = now();
	while ((n = kmmv_cursor_text(&cursor, PIECE - done, &text)) > 0) {
		n = min((size_t)n, PIECE - done);
		memcpy(piece + done, text, n);
		kmmv_cursor_given(&cursor, n);
		done = (done + n) % PIECE;
	}
	took = now() - took;
	if (n)
		fail("no text");
	kmmv_cursor_fini(&cursor);
	return took;
}

int main(int argc, char **argv)
{
	unsigned long long took, least;
	int i, round;

	for (i = 1; i < argc; i++) {
		fill(atoi(argv[i]));
		least = tell();
		for (round = 1; round < ROUNDS; round++) {
			took = tell();
			least = min(took, least);
		}
		printf("%d\t%llu\n", atoi(argv[i]), least);
		kmmv_table_fini(&kmmv_table);
	}
	return 0;
}
