/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The configurations of ring-search.c: the bounds of each run.
 */
#ifndef RING_CONFIGS_H
#define RING_CONFIGS_H

enum how { WRITE, RESERVE, DISCARD };

/**
 * struct kind - an event that a writer can decide on
 * @how: it is written
 * @payload: bytes
 * @jump: of the clock, before it
 */
struct kind {
	enum how	how;
	u32		payload;
	s64		jump;
};

enum op { TAKE, RELEASE, RELEASE_PART, RETURN, READY, STATS, NR_OPS };

#define BIT(n)	(1u << (n))

/* Of room_of_take. */
#define RANGES_MAX	3

/**
 * struct config - the bounds of a search
 * @name: for the report
 * @ring_pages: of the buffer
 * @spares: likewise
 * @consume: producer/consumer mode
 * @room: of a page
 * @words: greatest size that an event's header can hold; 0: the real one
 * @kinds: of events
 * @nr_kinds: how many
 * @nested_kinds: the first so many are for interrupting writers; 0: all
 * @before: events of the first kind written before
 * @taken_before: whether these were taken, and released
 * @levels: of writers
 * @outer: events of the outermost writer
 * @nested: events of all others
 * @ops: of the consumer, by enum op
 * @nr_ops: how many of them
 * @room_of_take: ranges that it takes at once; 0: one
 * @snapshots: a snapshot reader's tries
 * @tick: of the clock, each time it is read
 * @start: of the clock
 * @preemptions: how often the consumer may be interrupted between its steps;
 *	0: at each step
 * @soak: only in long runs
 * @fast: also for mutants
 */
struct config {
	const char	*name;
	u32		ring_pages;
	u32		spares;
	bool		consume;
	u32		room;
	u32		words;
	struct kind	kinds[KINDS_MAX];
	int		nr_kinds;
	int		nested_kinds;
	int		before;
	bool		taken_before;
	int		levels;
	int		outer;
	int		nested;
	u32		ops;
	int		nr_ops;
	int		room_of_take;
	int		snapshots;
	u64		tick;
	u64		start;
	int		preemptions;
	bool		soak;
	bool		fast;
};

#define TAKES		(BIT(TAKE) | BIT(RELEASE))
#define ALL_OPS		(BIT(STATS) - 1)

/* Jumps of the clock: past a delta's 27 bits, past half of the word's 47, */
#define LONG	((1LL << 27) + 5)
#define AGES	((1LL << 46) + 7)
/* and to the same 47 bits again. */
#define DAYS	(3LL << 47)

static const struct config configs[] = {
	/* Quick ones, which kill most mutants. */
	{
		.name = "writers alone, three pages of one event",
		.ring_pages = 3, .room = 24,
		.kinds = { { WRITE, 4, 1 } }, .nr_kinds = 1, .before = 2,
		.levels = 2, .outer = 2, .nested = 3,
		.start = 100,
		.fast = true,
	},
	{
		.name = "a snapshot reader",
		.ring_pages = 2, .room = 24,
		.kinds = { { WRITE, 0, 1 } }, .nr_kinds = 1, .before = 3,
		.levels = 1, .outer = 4,
		.snapshots = 3, .start = 100,
		.fast = true,
	},
	{
		.name = "writers alone, four events a page",
		.ring_pages = 2, .room = 48,
		.kinds = { { WRITE, 0, 1 }, { DISCARD, 0, 1 } },
		.nr_kinds = 2, .before = 1,
		.levels = 2, .outer = 1, .nested = 3,
		.start = 100,
		.fast = true,
	},
	{
		.name = "a consumer that dies",
		.ring_pages = 2, .room = 24,
		.kinds = { { WRITE, 0, 1 } }, .nr_kinds = 1, .before = 3,
		.levels = 1, .outer = 3,
		.ops = ALL_OPS, .nr_ops = 4, .start = 100,
		.fast = true,
	},
	{
		.name = "a consumer that takes all at once, and dies",
		.ring_pages = 2, .spares = 2, .room = 48,
		.kinds = { { WRITE, 0, 1 } }, .nr_kinds = 1, .before = 5,
		.levels = 1, .outer = 3,
		.ops = ALL_OPS, .nr_ops = 3, .room_of_take = 3, .start = 100,
		.fast = true,
	},
	{
		.name = "discards beside a consumer",
		.ring_pages = 2, .room = 32, .words = 1,
		.kinds = { { RESERVE, 0, 1 }, { DISCARD, 0, 1 } },
		.nr_kinds = 2, .before = 3,
		.levels = 2, .outer = 2, .nested = 1,
		.ops = TAKES, .nr_ops = 1, .start = 100,
		.fast = true,
	},
	{
		/* AGES only once: longer times are only known modulo 2^47. */
		.name = "writers alone, times and sizes",
		.ring_pages = 2, .room = 52, .words = 3,
		.kinds = {
			{ WRITE, 0, 1 }, { RESERVE, 5, LONG },
			{ DISCARD, 8, LONG }, { RESERVE, 0, -3 },
		},
		.nr_kinds = 4, .before = 1,
		.levels = 2, .outer = 2, .nested = 2,
		.start = (1ULL << 47) - 2,
		.fast = true,
	},
	{
		.name = "writers alone, ages between",
		.ring_pages = 2, .room = 44,
		.kinds = {
			{ WRITE, 0, 1 }, { DISCARD, 0, AGES },
			{ RESERVE, 4, 4 * AGES },
		},
		.nr_kinds = 3, .before = 1,
		.levels = 2, .outer = 2, .nested = 2,
		.start = 100,
		.fast = true,
	},
	{
		.name = "writers alone, idle for days",
		.ring_pages = 2, .room = 44,
		.kinds = {
			{ WRITE, 0, 1 }, { WRITE, 4, -1 },
			{ DISCARD, 0, DAYS }, { RESERVE, 4, DAYS - 9 },
		},
		.nr_kinds = 4, .nested_kinds = 2, .before = 1,
		.levels = 2, .outer = 2, .nested = 2,
		.start = 100,
		.fast = true,
	},
	{
		.name = "one event a page, producer/consumer",
		.ring_pages = 2, .room = 24, .consume = true,
		.kinds = { { WRITE, 4, 1 } }, .nr_kinds = 1, .before = 1,
		.levels = 2, .outer = 2, .nested = 1,
		.ops = TAKES, .nr_ops = 3, .start = 100,
		.fast = true,
	},
	{
		.name = "one event a page, overwrite",
		.ring_pages = 2, .room = 24,
		.kinds = { { WRITE, 4, 0 } }, .nr_kinds = 1, .before = 1,
		.levels = 2, .outer = 2, .nested = 2,
		.ops = BIT(TAKE), .nr_ops = 1, .start = 100,
		.fast = true,
	},
	{
		.name = "a snapshot reader, one event a page",
		.ring_pages = 2, .room = 16,
		.kinds = { { WRITE, 0, 1 } }, .nr_kinds = 1, .before = 2,
		.levels = 1, .outer = 5,
		.snapshots = 2, .start = 100,
		.fast = true,
	},
	{
		.name = "accounts beside a writer, one event a page",
		.ring_pages = 2, .room = 16,
		.kinds = { { WRITE, 0, 1 } }, .nr_kinds = 1, .before = 2,
		.levels = 1, .outer = 3,
		.ops = BIT(STATS), .nr_ops = 2, .start = 100,
		.fast = true,
	},
	{
		.name = "accounts beside discards",
		.ring_pages = 2, .room = 40,
		.kinds = { { RESERVE, 0, 1 }, { DISCARD, 0, 1 } },
		.nr_kinds = 2, .before = 1,
		.levels = 2, .outer = 3, .nested = 1,
		.ops = BIT(STATS), .nr_ops = 1, .start = 100,
		.fast = true,
	},

	/* The bounds of an ordinary run. */
	{
		/* So many writes that each look at the page finds it gone. */
		.name = "accounts beside many writes",
		.ring_pages = 2, .room = 16,
		.kinds = { { WRITE, 0, 1 } }, .nr_kinds = 1, .before = 2,
		.levels = 1, .outer = 6,
		.ops = BIT(STATS), .nr_ops = 1, .start = 100,
	},
	{
		.name = "one event a page, two nested, overwrite",
		.ring_pages = 2, .room = 24,
		.kinds = { { WRITE, 4, 0 } }, .nr_kinds = 1,
		.levels = 2, .outer = 2, .nested = 2,
		.ops = TAKES, .nr_ops = 2, .start = 100,
	},
	{
		.name = "one event a page, two nested, producer/consumer",
		.ring_pages = 2, .room = 24, .consume = true,
		.kinds = { { WRITE, 4, 1 } }, .nr_kinds = 1, .before = 1,
		.levels = 2, .outer = 2, .nested = 2,
		.ops = TAKES, .nr_ops = 3, .start = 100,
	},
	{
		.name = "two events a page, discards, overwrite",
		.ring_pages = 2, .room = 24,
		.kinds = { { RESERVE, 0, 1 }, { DISCARD, 0, 1 } },
		.nr_kinds = 2, .before = 3,
		.levels = 2, .outer = 1, .nested = 2,
		.ops = TAKES, .nr_ops = 1, .start = 100,
	},
	{
		.name = "two events a page, discards, producer/consumer",
		.ring_pages = 2, .room = 24, .consume = true,
		.kinds = { { RESERVE, 0, 1 }, { DISCARD, 0, 1 } },
		.nr_kinds = 2, .before = 2,
		.levels = 2, .outer = 2, .nested = 2,
		.ops = TAKES, .nr_ops = 1, .start = 100,
	},
	{
		.name = "three pages, two spare, a consumer that dies",
		.ring_pages = 3, .spares = 1, .room = 24,
		.kinds = { { WRITE, 0, 1 } }, .nr_kinds = 1, .before = 5,
		.levels = 1, .outer = 4,
		.ops = ALL_OPS, .nr_ops = 5, .start = 100,
	},
	{
		.name = "times beside a consumer, the clock running",
		.ring_pages = 2, .room = 52,
		.kinds = {
			{ WRITE, 0, 0 }, { RESERVE, 0, LONG },
			{ RESERVE, 0, -3 },
		},
		.nr_kinds = 3, .before = 1,
		.levels = 2, .outer = 1, .nested = 2,
		.ops = BIT(TAKE), .nr_ops = 1, .tick = 1, .start = 100,
	},
	{
		.name = "a snapshot reader beside the consumer",
		.ring_pages = 2, .room = 16,
		.kinds = { { WRITE, 0, 1 } }, .nr_kinds = 1, .before = 2,
		.levels = 1, .outer = 1,
		.ops = TAKES, .nr_ops = 2,
		.snapshots = 2, .start = 100,
	},
	{
		.name = "three levels of writers alone",
		.ring_pages = 3, .room = 16,
		.kinds = { { WRITE, 0, 1 } }, .nr_kinds = 1, .before = 2,
		.levels = 3, .outer = 2, .nested = 3,
		.start = 100,
	},
	{
		.name = "three levels",
		.ring_pages = 2, .room = 16,
		.kinds = { { WRITE, 0, 1 } }, .nr_kinds = 1, .before = 2,
		.levels = 3, .outer = 1, .nested = 2,
		.ops = BIT(TAKE), .nr_ops = 1, .preemptions = 1, .start = 100,
	},
	{
		.name = "three levels, producer/consumer",
		.ring_pages = 2, .room = 16, .consume = true,
		.kinds = { { WRITE, 0, 1 } }, .nr_kinds = 1, .before = 1,
		.levels = 3, .outer = 1, .nested = 2,
		.ops = BIT(TAKE), .nr_ops = 1, .preemptions = 2, .start = 100,
	},
	{
		.name = "three pages beside a consumer, overwrite",
		.ring_pages = 3, .room = 16,
		.kinds = { { WRITE, 0, 1 } }, .nr_kinds = 1, .before = 3,
		.levels = 2, .outer = 2, .nested = 1,
		.ops = TAKES, .nr_ops = 2, .start = 100,
	},
	{
		.name = "three pages beside a consumer, producer/consumer",
		.ring_pages = 3, .room = 16, .consume = true,
		.kinds = { { WRITE, 0, 1 } }, .nr_kinds = 1, .before = 2,
		.levels = 2, .outer = 2, .nested = 2,
		.ops = TAKES, .nr_ops = 3, .start = 100,
	},
	{
		.name = "three pages, times and discards, overwrite",
		.ring_pages = 3, .room = 32,
		.kinds = { { RESERVE, 0, LONG }, { DISCARD, 4, 1 } },
		.nr_kinds = 2, .before = 4,
		.levels = 2, .outer = 2, .nested = 2,
		.ops = BIT(TAKE), .nr_ops = 1, .start = 100,
	},
	{
		.name = "three pages, times and discards, producer/consumer",
		.ring_pages = 3, .room = 32, .consume = true,
		.kinds = { { RESERVE, 0, LONG }, { DISCARD, 4, 1 } },
		.nr_kinds = 2, .before = 3,
		.levels = 2, .outer = 2, .nested = 2,
		.ops = BIT(TAKE), .nr_ops = 2, .start = 100,
	},

	/* The bounds of a long run: some of the same, further. */
	{
		.name = "long: one event a page, two nested, overwrite",
		.ring_pages = 2, .room = 24,
		.kinds = { { WRITE, 4, 0 } }, .nr_kinds = 1,
		.levels = 2, .outer = 2, .nested = 2,
		.ops = TAKES, .nr_ops = 3, .start = 100,
		.soak = true,
	},
	{
		.name = "long: two events a page, discards, overwrite",
		.ring_pages = 2, .room = 24,
		.kinds = { { RESERVE, 0, 1 }, { DISCARD, 0, 1 } },
		.nr_kinds = 2, .before = 3,
		.levels = 2, .outer = 2, .nested = 2,
		.ops = TAKES, .nr_ops = 1, .start = 100,
		.soak = true,
	},
	{
		.name = "long: three levels beside a take",
		.ring_pages = 2, .room = 16,
		.kinds = { { WRITE, 0, 1 } }, .nr_kinds = 1, .before = 2,
		.levels = 3, .outer = 1, .nested = 2,
		.ops = BIT(TAKE), .nr_ops = 1, .preemptions = 3, .start = 100,
		.soak = true,
	},
	{
		.name = "long: three levels beside a take, producer/consumer",
		.ring_pages = 2, .room = 16, .consume = true,
		.kinds = { { WRITE, 0, 1 } }, .nr_kinds = 1, .before = 1,
		.levels = 3, .outer = 1, .nested = 2,
		.ops = BIT(TAKE), .nr_ops = 1, .preemptions = 3, .start = 100,
		.soak = true,
	},
	{
		.name = "long: one event a page, overwrite",
		.ring_pages = 3, .spares = 1, .room = 24,
		.kinds = { { WRITE, 4, 1 } }, .nr_kinds = 1, .before = 2,
		.levels = 2, .outer = 2, .nested = 2,
		.ops = TAKES | BIT(RETURN), .nr_ops = 3, .start = 100,
		.soak = true,
	},
	{
		.name = "long: two events a page, producer/consumer",
		.ring_pages = 3, .spares = 1, .room = 24, .consume = true,
		.kinds = { { RESERVE, 0, 1 }, { DISCARD, 0, LONG } },
		.nr_kinds = 2, .before = 3,
		.levels = 2, .outer = 2, .nested = 2,
		.ops = TAKES, .nr_ops = 2, .start = 100,
		.soak = true,
	},
	{
		.name = "long: discards and times beside a consumer",
		.ring_pages = 2, .room = 44,
		.kinds = {
			{ WRITE, 0, 1 }, { DISCARD, 4, LONG },
			{ RESERVE, 0, -3 },
		},
		.nr_kinds = 3, .before = 2,
		.levels = 2, .outer = 2, .nested = 2,
		.ops = TAKES, .nr_ops = 2, .start = 100,
		.soak = true,
	},
	{
		.name = "long: three levels",
		.ring_pages = 2, .room = 16,
		.kinds = { { WRITE, 0, 1 } }, .nr_kinds = 1, .before = 2,
		.levels = 3, .outer = 2, .nested = 2,
		.ops = TAKES, .nr_ops = 2, .preemptions = 3, .start = 100,
		.soak = true,
	},
	{
		.name = "long: snapshots beside the consumer",
		.ring_pages = 2, .room = 24,
		.kinds = { { WRITE, 0, 1 } }, .nr_kinds = 1, .before = 3,
		.levels = 2, .outer = 2, .nested = 1,
		.ops = TAKES, .nr_ops = 2,
		.snapshots = 2, .start = 100,
		.soak = true,
	},
};

#endif /* RING_CONFIGS_H */
