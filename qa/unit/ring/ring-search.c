// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ring of one CPU: every nesting of its writers, and every way in which the
 * consumer and a snapshot reader interleave with them, one atomic step at a
 * time, against an oracle that only knows the calls and their results.
 *
 * ring-search [all] [PATTERN]: search the configurations whose name contains
 * PATTERN; bounds for a long run only with "all" or KMMV_SOAK=1.
 *
 * The core is included, with a step before each access that it marks. Steps on
 * memory that only writers use are places where writers nest; readers cannot
 * see when they are made, and do not run there. Machines may order accesses
 * differently: that is for the litmus tests and ThreadSanitizer.
 *
 * Pages are so small that two or three events fill one.
 */
#include <kmmv_deps.h>
/* Less to copy. */
#undef ____cacheline_aligned_in_smp
#define ____cacheline_aligned_in_smp
#include <linux/kmmv_ring.h>

/* The greatest size in words in an event's header; larger ones have a word. */
static u32 words_max;
#define KMMV_RING_TYPE_LEN_MAX	words_max

#include "ring.h"

#include "search.h"

#define PAGES_MAX	8
#define ROOM_MAX	64
#define EVENTS_MAX	16
#define LEVELS_MAX	4
#define KINDS_MAX	6
#define SEQS_MAX	20

static u32 page_room;

#undef KMMV_RING_PAGE_ROOM
#define KMMV_RING_PAGE_ROOM	page_room

#include "ring-steps.h"
#include "ring-configs.h"

static const struct config *config;

/* ---- the world */

enum state { NOTHING, INSIDE, COMMITTED, DISCARDED, GIVEN_BACK, DROPPED };

/* The oracle's state of an event. */
struct event {
	u64	stamp;
	u64	stamp_before;
	u8	bytes;
	u8	seq;
	u8	end;
	u8	kind;
	u8	state;
	bool	overwritten;
	bool	given;
	bool	again;
	bool	released;
};

/* A writer. */
struct level {
	u64	clock;
	int	event;
	int	order;
	u64	seq;
};

static struct world {
	/* What is left to do. */
	int			outer_left;
	int			nested_left;
	int			ops_left;
	int			snapshots_left;
	int			preemptions;
	int			last_moved;

	/* Where the threads are. */
	const void		*place[SEARCH_THREADS];
	const char		*where[SEARCH_THREADS];
	bool			idle[SEARCH_THREADS];
	/* A writer ran during the reader's operation. */
	bool			disturbed[SEARCH_THREADS];
	int			depth;
	struct level		level[LEVELS_MAX];

	/* The past. */
	u64			now;
	u64			last;
	struct event		event[EVENTS_MAX];
	int			nr_events;
	u8			order[EVENTS_MAX];
	int			nr_order;
	int			nr_visible;
	/* What the waiter was told of. */
	int			nr_told;
	int			order_told;
	struct kmmv_ring_counts	events;
	struct kmmv_ring_counts	bytes;
	u64			dropped[KMMV_DROP_NR];
	u64			dropped_bytes;
	u64			backwards;
	u64			dropped_outer;
	u8			dropped_from[SEQS_MAX];
	u8			dropped_to[SEQS_MAX];
	u64			swaps;

	/* The consumer. */
	struct kmmv_ring_range	range;
	bool			has_range;
	u32			seen_seq;
	u64			end;
	u8			lost_of[SEQS_MAX];
	u64			lost;
	u64			dropped_told;

	/* The snapshot reader. */
	struct kmmv_ring_cursor	cursor;
	u64			snapshot_end;
	u64			snapshot_copy[(sizeof(struct kmmv_ring_page) +
					       ROOM_MAX) / 8 + 1];

	struct kmmv_ring_cpu	*rc;
	size_t			used;
	u64			sides;
	u64			arena[(PAGES_MAX * (128 + 40 + ROOM_MAX) +
				       1024) / 8] __attribute__((aligned(16)));
} w;

enum { WRITER, CONSUMER, SNAPSHOT };

/* False while no other thread may run. */
static bool stepping;

#define ck(condition, ...)						\
	do {								\
		if (!(condition))					\
			search_fail(__VA_ARGS__);			\
	} while (0)

static void *arena_get(size_t size)
{
	void *memory = (u8 *)w.arena + w.used;

	w.used += ALIGN(size, 16);
	ck(w.used <= sizeof(w.arena), "the arena is too small");
	return memory;
}

/* The mapped sides are allocated before the pages. */
static bool rc_is_whole(void)
{
	return w.sides++ >= 2;
}

/* Memory that only writers use. */
static bool place_of_writers(const void *place)
{
	const struct kmmv_ring_cpu *rc = w.rc;
	const struct kmmv_buffer_page *page;
	u32 i;

	if (place == &rc->commit || place == &rc->writer->seq)
		return false;
	/* STATS reads the accounts while writers run. */
	if (config->ops & BIT(STATS) && place >= (void *)rc->writer &&
	    place < (void *)(rc->writer + 1))
		return false;
	if (place >= (void *)rc->pages &&
	    place < (void *)(rc->pages + rc->nr_pages)) {
		page = &rc->pages[((u8 *)place - (u8 *)rc->pages) /
				  sizeof(*page)];
		return place != &page->link &&
		       (place != &page->bytes_before ||
			!(config->ops & BIT(STATS)));
	}
	for (i = 0; i < rc->nr_pages; i++)
		if (place >= (void *)rc->pages[i].data &&
		    place < (void *)((u8 *)rc->pages[i].data + arena_page()))
			return false;
	return true;
}

static bool place_of_readers(const void *place)
{
	return place >= (void *)w.rc->reader &&
	       place < (void *)(w.rc->reader + 1);
}

static void writer_write(int kind);

static void moved(int thread)
{
	if (config->preemptions) {
		if (thread == WRITER && w.last_moved == CONSUMER &&
		    !w.idle[CONSUMER])
			w.preemptions++;
		w.last_moved = thread;
	}
	if (thread == WRITER) {
		w.disturbed[CONSUMER] |= !w.idle[CONSUMER];
		w.disturbed[SNAPSHOT] |= !w.idle[SNAPSHOT];
	}
}

static void step(const void *place, const char *where)
{
	int thread = search_thread(), choice;

	if (!stepping)
		return;
	if (thread != WRITER && place_of_readers(place))
		return;
	w.place[thread] = place;
	w.where[thread] = where;
	for (;;) {
		choice = search_yield();
		moved(thread);
		if (!choice)
			break;
		/* A writer interrupts here. */
		writer_write(choice - 1);
		w.place[thread] = place;
		w.where[thread] = where;
	}
}

#include "ring-oracle.h"
#include "ring-accounts.h"
#include "ring-readers.h"
#include "ring-quiet.h"

/* ---- the search */

static struct search_model model;

static void start(void)
{
	int i;

	memset(&w, 0, sizeof(w));
	page_room = config->room;
	words_max = config->words ?: 28;
	stepping = false;
	w.now = config->start;
	w.rc = kmmv_ring_cpu_alloc(0, config->ring_pages, config->spares,
				   !config->consume);
	w.rc->waiting = 1;
	w.last = w.now;
	w.idle[CONSUMER] = 1;
	w.idle[SNAPSHOT] = 1;
	w.outer_left = config->before;
	for (i = 0; i < config->before; i++) {
		writer_write(0);
		if (!config->taken_before)
			continue;
		consumer_take();
		consumer_release(false);
	}
	w.outer_left = config->outer;
	w.nested_left = config->nested;
	w.ops_left = config->nr_ops;
	w.snapshots_left = config->snapshots;
	w.last_moved = WRITER;
	model.size = offsetof(struct world, arena) + w.used;
	stepping = true;
}

static void run(int t)
{
	if (t == CONSUMER)
		consumer_run();
	if (t == SNAPSHOT)
		snapshot_run();
	for (;;) {
		w.idle[WRITER] = 1;
		w.place[WRITER] = NULL;
		w.where[WRITER] = NULL;
		t = search_yield();
		moved(WRITER);
		w.idle[WRITER] = 0;
		writer_write(t);
	}
}

static int choices(int t)
{
	bool hidden = !w.idle[WRITER] && place_of_writers(w.place[WRITER]);

	switch (t) {
	case WRITER:
		/* No interruptions left: the consumer runs to its end. */
		if (config->preemptions && !w.idle[CONSUMER] &&
		    w.last_moved == CONSUMER &&
		    w.preemptions == config->preemptions)
			return 0;
		if (w.idle[WRITER])
			return w.outer_left ? config->nr_kinds : 0;
		if (!w.nested_left || w.depth == config->levels)
			return 1;
		return 1 + (config->nested_kinds ?: config->nr_kinds);
	case CONSUMER:
		if (hidden)
			return 0;
		if (w.idle[CONSUMER])
			return w.ops_left ? __builtin_popcount(config->ops) : 0;
		return 1;
	default:
		if (hidden)
			return 0;
		return !w.idle[SNAPSHOT] || w.snapshots_left;
	}
}

static const char *name(int t, const char *where, int choice)
{
	static const char *const ops[NR_OPS] = {
		"take", "release", "release part", "return", "ready", "stats"
	};
	static const char *const hows[] = { "write", "reserve", "discard" };
	static char text[64];
	u32 allowed = config->ops;

	if (t == WRITER && where)
		choice--;
	if (t == WRITER && choice >= 0) {
		snprintf(text, sizeof(text), "%s %u, %+lld ns",
			 hows[config->kinds[choice].how],
			 config->kinds[choice].payload,
			 (long long)config->kinds[choice].jump);
	} else if (t == CONSUMER && !where) {
		while (choice--)
			allowed &= allowed - 1;
		return ops[__builtin_ctz(allowed)];
	} else {
		return t == WRITER ? "writer" : t == CONSUMER ? "consumer" :
								"snapshot";
	}
	return text;
}

static const char *where(int t)
{
	const char *slash = w.where[t] ? strrchr(w.where[t], '/') : NULL;

	return slash ? slash + 1 : w.where[t];
}

/* A long run stops at this many states, which fit into memory, and says so. */
#define LONG_STATES	600000000

static bool passes(const struct search_result *result)
{
	return !result->failure && (result->complete || config->soak);
}

static void report(int n, const struct search_result *result)
{
	bool passed = passes(result);

	printf("%sok %d - %s\n", passed ? "" : "not ", n, config->name);
	printf("# %d pages of %u bytes and %u spare, %s; %d levels, %d + %d events of %d kinds",
	       config->ring_pages, config->room, config->spares + 1,
	       config->consume ? "producer/consumer" : "overwrite",
	       config->levels, config->outer, config->nested,
	       config->nr_kinds);
	if (config->before)
		printf(" after %d", config->before);
	printf("; %d of the consumer's calls, %d snapshots", config->nr_ops,
	       config->snapshots);
	if (config->preemptions)
		printf(", %d preemptions", config->preemptions);
	printf("\n# %llu states, %llu moves, %.3g schedules of up to %lu moves, %llu looked at; %s\n",
	       (unsigned long long)result->states,
	       (unsigned long long)result->moves, result->schedules,
	       result->depth, (unsigned long long)result->probes,
	       result->complete ? "complete" : "not complete");
	fflush(stdout);
}

static struct search_model model = {
	.data = &w,
	.start = start,
	.run = run,
	.choices = choices,
	.quiet = quiet,
	.probe = probe,
	.look = look,
	.where = where,
	.name = name,
};

int main(int argc, char **argv)
{
	const char *soak = getenv("KMMV_SOAK"), *pattern = "";
	struct search_result result;
	int i, n = 0, failed = 0;
	bool all = soak && strcmp(soak, "0");

	if (argc > 1 && !strcmp(argv[1], "all")) {
		all = true;
		argc--;
		argv++;
	}
	if (argc > 1)
		pattern = argv[1];
	for (i = 0; i < (int)ARRAY_SIZE(configs); i++) {
		config = &configs[i];
		if (!strstr(config->name, pattern) || (config->soak && !all))
			continue;
#ifdef RING_FAST
		if (!config->fast)
			continue;
#endif
		model.threads = config->snapshots ? 3 : 2;
		model.max_states = config->soak ? LONG_STATES : 0;
		search_run(&model, &result);
		report(++n, &result);
		failed += !passes(&result);
#ifdef RING_FAST
		if (failed)
			break;
#endif
	}
	printf("1..%d\n", n);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
