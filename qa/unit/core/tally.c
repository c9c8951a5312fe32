// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a copy may leave out: counts that have not moved, names that are the same,
 * numbers that another copy looks at. None of it is ever missed.
 */
#include <stdlib.h>

#include "label.h"
#include "quiet.h"
#include "suite.h"
#include "sweep.h"
#include "tally.h"

/* ---- tallies */

#define MOST	23

/* A line, as the kernel has it, and as it is copied. */
struct line {
	u32 count[MOST], total;
	unsigned int nr;
	struct kmmv_mirror mirror[MOST];
	struct kmmv_tally tally;
	unsigned int reads;		/* mirrors that moved */
	unsigned int again;		/* times the total was read again */
	int late;			/* CPU that counts while that is done */
	int during;			/* CPU that counts while one is taken */
};

static unsigned long offset[MOST];

static void interrupt(struct line *line, unsigned int cpu)
{
	line->count[cpu]++;
	line->total++;
}

static void moved(void *owner, unsigned int i, u32 raw)
{
	struct line *line = owner;

	kmmv_mirror_advance(&line->mirror[i], KMMV_MIRROR_WRAP32, raw);
	line->reads++;
	if (line->during >= 0)
		interrupt(line, line->during);
	line->during = -1;
}

static u32 read_total(void *owner)
{
	struct line *line = owner;

	if (line->late >= 0)
		interrupt(line, line->late);
	line->late = -1;
	line->again++;
	return line->total;
}

static const struct kmmv_tally_ops ops = {
	.moved = moved,
	.total = read_total,
};

static struct kmmv_counts counts_of(const struct line *line)
{
	unsigned int i;

	for (i = 0; i < MOST; i++)
		offset[i] = i * sizeof(u32);
	return (struct kmmv_counts){ line->count, offset, line->nr };
}

/* Each CPU has counted @from; the total has wrapped if that is great. */
static void begin(struct line *line, unsigned int nr, u32 from)
{
	unsigned int i;

	*line = (struct line){ .nr = nr, .late = -1, .during = -1 };
	for (i = 0; i < nr; i++) {
		line->count[i] = from;
		line->total += from;
		kmmv_mirror_adopt(&line->mirror[i], KMMV_MIRROR_WRAP32, from,
				  true);
	}
	kmmv_tally_begin(&line->tally, line->mirror, nr);
}

static void copy_total(struct line *line, u32 total, bool kept, bool whole)
{
	struct kmmv_counts counts = counts_of(line);

	kmmv_tally_copy(&line->tally, &counts, line->mirror, &ops, line, total,
			kept, whole);
}

static void copy(struct line *line)
{
	if (!kmmv_tally_stands(&line->tally, line->total))
		copy_total(line, line->total, true, false);
}

static void check(const struct line *line)
{
	unsigned int i;

	for (i = 0; i < line->nr; i++)
		ck_assert_uint_eq(line->mirror[i].last, line->count[i]);
}

/* A count that moved is found, wherever it is, and no other. */
START_TEST(scan)
{
	unsigned int nr, at, from;
	struct kmmv_counts counts;
	struct line line;

	for (nr = 0; nr <= MOST; nr++) {
		begin(&line, nr, 7);
		counts = counts_of(&line);
		ck_assert_uint_eq(kmmv_counts_moved(&counts, line.mirror, 0), nr);
		for (at = 0; at < nr; at++) {
			line.count[at]++;
			for (from = 0; from <= nr; from++)
				ck_assert_uint_eq(kmmv_counts_moved(
					&counts, line.mirror, from),
					from <= at ? at : nr);
			line.count[at]--;
		}
	}
}
END_TEST

/* What stands is not read, once it was seen that the total is the sum. */
START_TEST(stands)
{
	struct line line;

	begin(&line, 5, 0x70000000);
	ck_assert(!kmmv_tally_stands(&line.tally, line.total));
	copy(&line);
	ck_assert(kmmv_tally_stands(&line.tally, line.total));
	ck_assert_uint_eq(line.reads, 0);
	interrupt(&line, 3);
	ck_assert(!kmmv_tally_stands(&line.tally, line.total));
	copy(&line);
	check(&line);
	ck_assert(kmmv_tally_stands(&line.tally, line.total));
	/* Others are followed: nothing is known of them. */
	kmmv_tally_begin(&line.tally, line.mirror, line.nr);
	ck_assert(!kmmv_tally_stands(&line.tally, line.total));
}
END_TEST

/* The CPU that counted the last time is all that is read, if it was that one. */
START_TEST(hint)
{
	struct line line;

	begin(&line, 8, 100);
	interrupt(&line, 6);
	copy(&line);
	ck_assert_uint_eq(line.tally.hint, 6);
	/* Behind the kernel's back, so that it can be seen who looks. */
	interrupt(&line, 6);
	line.mirror[2].last--;
	copy(&line);
	ck_assert_uint_eq(line.reads, 2);
	ck_assert_uint_eq(line.mirror[2].last, 99);
	ck_assert(line.tally.settled);
	/* A whole copy looks at all. */
	interrupt(&line, 6);
	copy_total(&line, line.total, true, true);
	check(&line);
}
END_TEST

/* A line without a total is read, whatever that says. */
START_TEST(not_kept)
{
	struct line line;

	begin(&line, 8, 100);
	copy_total(&line, line.total, false, false);
	ck_assert(!line.tally.settled);
	interrupt(&line, 6);
	copy_total(&line, line.total, false, false);
	interrupt(&line, 6);
	line.mirror[2].last--;
	copy_total(&line, line.total, false, false);
	check(&line);
	ck_assert(!line.tally.settled);
}
END_TEST

/*
 * An interrupt comes after the total was read, on a CPU that is then read, and
 * one that the total includes is elsewhere: the sum is right, by chance.
 */
START_TEST(right_by_chance)
{
	u32 total;
	struct line line;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		begin(&line, 6, U32_MAX - 2);
		interrupt(&line, i ? 0 : 1);
		copy(&line);
		interrupt(&line, 1);
		interrupt(&line, 4);
		total = line.total;
		interrupt(&line, 1);
		copy_total(&line, total, true, false);
		check(&line);
		/* All were read, but not those that the total is of. */
		ck_assert(!line.tally.settled);
		copy(&line);
		ck_assert(line.tally.settled);
	}
}
END_TEST

/* One comes while the total is read again: it is not left out for good. */
START_TEST(late)
{
	struct line line;
	int cpu;

	for (cpu = 0; cpu < 6; cpu++) {
		begin(&line, 6, 1);
		interrupt(&line, 3);
		line.late = cpu;
		copy(&line);
		ck_assert_uint_ge(line.again, 1);
		copy(&line);
		check(&line);
		ck_assert(line.tally.settled);
	}
}
END_TEST

/* A descriptor is reused, and its counts begin anew: all of them are read. */
START_TEST(falls)
{
	struct line line;
	unsigned int i;

	begin(&line, 4, 50);
	copy(&line);
	for (i = 0; i < 4; i++)
		line.count[i] = i;
	line.total = 6;
	copy(&line);
	check(&line);
	ck_assert_uint_eq(line.tally.sum, 6);
}
END_TEST

/*
 * Any number of interrupts anywhere, between copies and within: what a copy leaves
 * behind is at least what was counted when it began, and all of it when nothing
 * comes between.
 */
START_TEST(any_order)
{
	unsigned int seed = 7000 + _i, round, i, n;
	u32 then[MOST], total;
	struct line line;

	begin(&line, 1 + rand_r(&seed) % MOST, U32_MAX - 300);
	for (round = 0; round < 2000; round++) {
		for (n = rand_r(&seed) % 4; n; n--)
			interrupt(&line, rand_r(&seed) % line.nr);
		memcpy(then, line.count, sizeof(then));
		total = line.total;
		for (n = rand_r(&seed) % 3; n; n--)
			interrupt(&line, rand_r(&seed) % line.nr);
		if (rand_r(&seed) % 2)
			line.during = rand_r(&seed) % line.nr;
		if (rand_r(&seed) % 2)
			line.late = rand_r(&seed) % line.nr;
		if (!kmmv_tally_stands(&line.tally, total))
			copy_total(&line, total, true, !(rand_r(&seed) % 8));
		line.late = line.during = -1;
		for (i = 0; i < line.nr; i++) {
			u32 ahead = (u32)line.mirror[i].last - then[i];

			ck_assert_uint_le(ahead, 4);
			ck_assert_uint_le((u32)(line.count[i] -
						(u32)line.mirror[i].last), 4);
		}
	}
	copy(&line);
	check(&line);
	ck_assert(kmmv_tally_stands(&line.tally, line.total));
}
END_TEST

/* ---- labels */

static const char *match(const char *label, const char *first,
			 const char *second)
{
	const char *at = kmmv_label_match(label, label, first);

	return at && second ? kmmv_label_match(label, at, second) : at;
}

static bool same(const char *label, const char *first, const char *second)
{
	const char *at = match(label, first, second);

	return at && !*at;
}

START_TEST(label)
{
	char text[KMMV_LABEL_MAX + 1], name[300];
	size_t at;

	at = kmmv_label_append(text, 0, "eth0-rx");
	ck_assert_str_eq(text, "eth0-rx");
	ck_assert(same(text, "eth0-rx", NULL));
	ck_assert(!same(text, "eth0-r", NULL));
	ck_assert(!same(text, "eth0-rxx", NULL));
	ck_assert(!same(text, "eth0-tx", NULL));
	ck_assert(!same(text, "", NULL));
	ck_assert(!same(text, "eth0-rx", "uhci"));
	at = kmmv_label_append(text, at, "uhci");
	ck_assert_str_eq(text, "eth0-rx, uhci");
	ck_assert_uint_eq(at, strlen(text));
	ck_assert(same(text, "eth0-rx", "uhci"));
	ck_assert(!same(text, "uhci", "eth0-rx"));
	ck_assert(!same(text, "eth0-rx", NULL));
	ck_assert(!same(text, "eth0-rx", "uhc"));
	ck_assert(!same("eth0-rx. uhci", "eth0-rx", "uhci"));
	ck_assert(!same("eth0-rx,_uhci", "eth0-rx", "uhci"));
	/* As one name that has the separator: it is the same label. */
	ck_assert(same(text, "eth0-rx, uhci", NULL));
	kmmv_label_append(text, 0, "");
	ck_assert_str_eq(text, "");
	ck_assert(same(text, "", NULL));
	/* What a label cannot have is no match, and gives the same label. */
	kmmv_label_append(text, 0, "a\tb\x7f\xc3\xa4\x9f");
	ck_assert_str_eq(text, "a_b_\xc3\xa4\x9f");
	ck_assert(!same(text, "a\tb\x7f\xc3\xa4\x9f", NULL));
	memset(name, 'x', sizeof(name));
	name[299] = '\0';
	at = kmmv_label_append(text, 0, name);
	ck_assert_uint_eq(at, KMMV_LABEL_MAX);
	ck_assert_uint_eq(strlen(text), KMMV_LABEL_MAX);
	ck_assert(!same(text, name, NULL));
	ck_assert_uint_eq(kmmv_label_append(text, at, "y"), KMMV_LABEL_MAX);
	ck_assert_ptr_null(strchr(text, 'y'));
}
END_TEST

/* ---- sweeps */

START_TEST(share)
{
	ck_assert_uint_eq(kmmv_sweep_share(0, 0), 0);
	ck_assert_uint_eq(kmmv_sweep_share(1000, 0), 0);
	ck_assert_uint_eq(kmmv_sweep_share(1000, 1), 1);
	ck_assert_uint_eq(kmmv_sweep_share(1000, 1000000), 1);
	ck_assert_uint_eq(kmmv_sweep_share(1000, 1000001), 2);
	ck_assert_uint_eq(kmmv_sweep_share(1000, 500000000), 500);
	ck_assert_uint_eq(kmmv_sweep_share(1000, 500000001), 501);
	ck_assert_uint_eq(kmmv_sweep_share(1000, 999999999), 1000);
	ck_assert_uint_eq(kmmv_sweep_share(1000, 1000000000), 1000);
	ck_assert_uint_eq(kmmv_sweep_share(1000, UINT64_MAX), 1000);
	ck_assert_uint_eq(kmmv_sweep_share(U32_MAX, 999999999), 4294967291U);
}
END_TEST

/*
 * Two interrupts at once without a handler: the total has one of them. A whole
 * copy has both, and from then on each copy has.
 */
START_TEST(total_lacks_one)
{
	struct line line;

	begin(&line, 4, 0);
	interrupt(&line, 0);
	copy(&line);
	interrupt(&line, 0);
	line.count[1]++;
	copy(&line);
	ck_assert_uint_eq(line.mirror[0].last, 2);
	ck_assert_uint_eq(line.mirror[1].last, 0);
	copy_total(&line, line.total, true, true);
	check(&line);
	ck_assert(!kmmv_tally_stands(&line.tally, line.total));
	interrupt(&line, 3);
	copy(&line);
	check(&line);
}
END_TEST

/* However copies come, each has looked at every number within a second. */
START_TEST(within_a_second)
{
	static u64 looked[5000];
	unsigned int seed = 100 + _i, nr, at = 0, n, i, round;
	u64 now = 1, last = 0, most, few = 0;

	nr = 1 + rand_r(&seed) % 5000;
	most = 1ULL << (10 + rand_r(&seed) % 21);
	for (i = 0; i < nr; i++)
		looked[i] = now;
	for (round = 0; round < 3000; round++) {
		last = now;
		now += 1 + rand_r(&seed) % most;
		n = kmmv_sweep_share(nr, now - last);
		ck_assert_uint_le(n, nr);
		few += n < nr;
		for (; n; n--) {
			looked[at] = now;
			at = (at + 1) % nr;
		}
		for (i = 0; i < nr; i++)
			ck_assert_uint_lt(now - looked[i], KMMV_SWEEP_PERIOD);
	}
	if (nr > 100)
		ck_assert_uint_gt(few, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tally");
	TCase *tcase = tcase_create("tally");

	tcase_add_test(tcase, scan);
	tcase_add_test(tcase, stands);
	tcase_add_test(tcase, hint);
	tcase_add_test(tcase, not_kept);
	tcase_add_test(tcase, right_by_chance);
	tcase_add_test(tcase, late);
	tcase_add_test(tcase, falls);
	tcase_add_test(tcase, total_lacks_one);
	tcase_add_loop_test(tcase, any_order, 0, 40);
	tcase_add_test(tcase, label);
	tcase_add_test(tcase, share);
	tcase_add_loop_test(tcase, within_a_second, 0, 12);
	suite_add_tcase(suite, tcase);
	return run_all(suite);
}
