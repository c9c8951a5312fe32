// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every interleaving of a writer's stores with the library's loads, as in
 * steps.c for the module's own reader: no torn value, no table of two
 * generations, no event of a page that was replaced. This tests the order of
 * accesses in the code; the litmus tests cover what machines make of that
 * order.
 * The writer is a list of steps. A schedule says before which of the reader's
 * loads each step is done; the reader runs once for every schedule.
 */
#include "libringarea.h"
#include "handle.h"
#include "barrier.h"
#include "loads.h"

/* A 32-bit reader has three loads for one, so it gets fewer steps. */
#ifdef KMMV_SPLIT64
enum { STEPS_MAX = 8, SPLIT = 1 };
#else
enum { STEPS_MAX = 8, SPLIT = 0 };
#endif

static void (*steps[STEPS_MAX])(void);
static int nr_steps, done;

static int schedule[STEPS_MAX];	/* step n: before this load */
static int loads;
static bool armed;

void loads_hook(void)
{
	if (!armed)
		return;
	while (done < nr_steps && schedule[done] <= loads)
		steps[done++]();
	loads++;
}

/* The start of a schedule, the reader, and the check at its end. */
struct scene {
	void (*reset)(void);
	void (*read)(void);
	void (*check)(void);
};

/* All schedules with step N and later ones at load FROM or later. */
static unsigned long replay(const struct scene *scene, int n, int from,
			    int nr_loads)
{
	unsigned long runs = 0;
	int load;

	if (n < nr_steps) {
		for (load = from; load <= nr_loads; load++) {
			schedule[n] = load;
			runs += replay(scene, n + 1, load, nr_loads);
		}
		return runs;
	}
	done = loads = 0;
	scene->reset();
	armed = true;
	scene->read();
	armed = false;
	scene->check();
	return 1;
}

/* NR_LOADS: of a reader without a writer. */
static void search(const char *name, const struct scene *scene, int nr_loads,
		   unsigned long at_least)
{
	unsigned long runs = replay(scene, 0, 0, nr_loads);

	printf("# %s: %lu schedules\n", name, runs);
	ck_assert_uint_ge(runs, at_least);
}

/* The number of the reader's loads without a writer. */
static int count_loads(const struct scene *scene)
{
	int steps_there_are = nr_steps;

	nr_steps = 0;
	loads = 0;
	scene->reset();
	armed = true;
	scene->read();
	armed = false;
	nr_steps = steps_there_are;
	ck_assert_int_gt(loads, 0);
	return loads;
}

/* ---- one word: whole, and never an older one */

/* Both halves of a multiple are that multiple's count. */
#define STEP	0x80000001ULL

static uint64_t word, value;
static bool acquire;

static void word_step(void)
{
	__atomic_store_n(&word, word + STEP, __ATOMIC_RELAXED);
}

static void word_reset(void)
{
	word = 5 * STEP;
}

static void word_read(void)
{
	value = acquire ? kmmv_load64_acquire(&word) : kmmv_load64(&word);
}

static void word_check(void)
{
	ck_assert_msg(value % STEP == 0 && value / STEP >= 5 &&
		      value <= word, "%#" PRIx64 " is torn", value);
}

START_TEST(words)
{
	const struct scene scene = { word_reset, word_read, word_check };

	acquire = _i;
	for (nr_steps = 1; nr_steps <= 4; nr_steps++) {
		steps[nr_steps - 1] = word_step;
		search("word", &scene, count_loads(&scene), 2);
	}
}
END_TEST

/* ---- the table's words: of one generation */

static struct area area;
static struct kmmv *k;
static uint64_t generation;
static int status;

static uint32_t free_of(uint64_t gen)
{
	return (uint32_t)(gen % 7);
}

static uint64_t online_of(uint64_t gen)
{
	return 1 + gen % 7;
}

static void gen1_step(void)
{
	__atomic_store_n((uint64_t *)&area.header->gen1, generation + 1,
			 __ATOMIC_RELAXED);
}

static void free_step(void)
{
	__atomic_store_n(&area.header->slots_free, free_of(generation + 1),
			 __ATOMIC_RELAXED);
}

static void online_step(void)
{
	__atomic_store_n(area_mask(&area, area.header->online_offset),
			 online_of(generation + 1), __ATOMIC_RELAXED);
}

static void gen2_step(void)
{
	__atomic_store_n((uint64_t *)&area.header->gen2, ++generation,
			 __ATOMIC_RELAXED);
}

static void table_reset(void)
{
	generation = 41;
	area.header->gen1 = area.header->gen2 = generation;
	area.header->slots_free = free_of(generation);
	*area_mask(&area, area.header->online_offset) = online_of(generation);
}

static void table_read(void)
{
	status = kmmv_update_words(k);
}

static void table_check(void)
{
	ck_assert_int_eq(status, 0);
	ck_assert_msg(k->online[0] == online_of(41) ||
		      k->online[0] == online_of(42),
		      "online %#" PRIx64, k->online[0]);
	ck_assert_msg(k->slots_free == free_of(k->online[0] - 1),
		      "%u free with %" PRIu64 " online: of two generations",
		      k->slots_free, k->online[0]);
}

START_TEST(table)
{
	const struct scene scene = { table_reset, table_read, table_check };
	static void (*const change[])(void) = {
		gen1_step, free_step, online_step, gen2_step,
	};

	area_init(&area, 3, 16, 0, true);
	area_names(&area, "kmmv abi=1.0 epoch=77\nend 41\n");
	table_reset();
	area_share(&area);
	ck_assert_int_eq(area_open(&area, &k), 0);
	nr_steps = 4;
	memcpy(steps, change, sizeof(change));
	/* For a second try: it sees all steps. */
	search("table", &scene, 2 * count_loads(&scene), 400);
	kmmv_close(k);
	area_fini(&area);
}
END_TEST

/* ---- a page that is reused while it is copied */

static struct ring_area rings;
static struct kmmv_ring *ring;
static uint64_t lost, next;

/* A copy of the open handle: opening it each time takes far longer. */
static struct kmmv_ring opened;
static struct kmmv_lane opened_lane;

/* Event N: the payload and the time contain N. */
static void hit(uint64_t n)
{
	ring_hit(&rings, 0, 1000 + n * 100, (int64_t)n);
}

/* The ring's two pages are reused, in one or a few stores at a time. */
static void leave_step(void)
{
	struct ring_writer *w = &rings.cpu[0];

	ring_store(&ring_page(&rings, 0, !w->id)->seq, 0);
}

static void number_step(void)
{
	struct ring_writer *w = &rings.cpu[0];

	ring_begin(&rings, 0, !w->id, 1000 + w->events * 100);
}

static void event_step(void)
{
	hit(rings.cpu[0].events);
}

static void both_step(void)
{
	number_step();
	event_step();
}

static void ring_reset(void)
{
	int i;

	*ring = opened;
	*ring->lanes[0] = opened_lane;
	memset(opened_lane.ids, 0xff, KMMV_WINDOW * sizeof(*opened_lane.ids));
	memset(ring_at(&rings, 0, 0), 0, rings.header->cpu_stride);
	memset(&rings.cpu[0], 0, sizeof(rings.cpu[0]));
	rings.cpu[0].side = (void *)ring_at(&rings, 0, 0);
	for (i = 0; i < 4; i++) {
		if (i == 2)
			ring_begin(&rings, 0, 1, 1000 + 2 * 100);
		hit((uint64_t)i);
	}
	next = lost = 0;
}

static void ring_read(void)
{
	struct kmmv_record record;
	int64_t number;
	int i, n;

	for (i = 0; i < 6; i++) {
		n = kmmv_ring_next(ring, &record);
		ck_assert_int_ge(n, 0);
		if (!n)
			continue;
		lost += record.lost;
		if (!record.type)
			continue;
		ck_assert(record.type == KMMV_EVENT_HIT && record.size == 8);
		memcpy(&number, record.payload, 8);
		ck_assert(record.sequence == (uint64_t)number);
		ck_assert(record.time == 1000 + (uint64_t)number * 100);
		ck_assert(!next || (uint64_t)number == next + record.lost);
		next = (uint64_t)number + 1;
	}
}

static void ring_check(void)
{
	ck_assert_uint_eq(ring->malformed, 0);
	ck_assert_uint_ge(next, 4);
	ck_assert_uint_le(next, rings.cpu[0].events);
	if (done == nr_steps && loads > schedule[nr_steps - 1] + 40)
		ck_assert_uint_eq(next, rings.cpu[0].events);
}

START_TEST(pages)
{
	const struct scene scene = { ring_reset, ring_read, ring_check };
	static void (*const change[])(void) = {
		leave_step, number_step, event_step,
	};
	static void (*const coarse[])(void) = { leave_step, both_step };

	ring_init(&rings, 1, 2, 0);
	ring = ring_open(&rings, NULL);
	opened = *ring;
	opened_lane = *ring->lanes[0];
	if (SPLIT) {
		nr_steps = 2;
		memcpy(steps, coarse, sizeof(coarse));
	} else {
		nr_steps = 3;
		memcpy(steps, change, sizeof(change));
	}
	search("page", &scene, count_loads(&scene), 10000);
	kmmv_ring_close(ring);
	ring_fini(&rings);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("steps");

	tcase_add_loop_test(tcase, words, 0, 2);
	tcase_add_test(tcase, table);
	tcase_add_test(tcase, pages);
	return run_suite("libsteps", tcase);
}
