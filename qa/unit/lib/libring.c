// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings: opening, events in all their forms, snapshots, the consumer, the merge.
 */
#include <signal.h>
#include <time.h>

#include "libringarea.h"

static struct ring_area area;
static struct ring_kernel kernel;
static struct kmmv_ring *ring;

static void setup(void)
{
	ring_init(&area, 2, 4, 2);
	memset(&kernel, 0, sizeof(kernel));
	/* What is stamped with small numbers is long past. */
	kernel.ahead = 1000000000;
	ring = NULL;
}

static void teardown(void)
{
	kmmv_ring_close(ring);
	ring_fini(&area);
}

static void check_record(const struct kmmv_record *record, uint32_t cpu,
			 uint64_t time, int64_t delta)
{
	int64_t value;

	ck_assert_uint_eq(record->type, KMMV_EVENT_HIT);
	ck_assert_uint_eq(record->cpu, cpu);
	ck_assert_uint_eq(record->time, time);
	ck_assert_uint_eq(record->instance, cpu);
	ck_assert_uint_eq(record->size, 8);
	memcpy(&value, record->payload, 8);
	ck_assert_int_eq(value, delta);
}

/* The next record is this hit, with nothing lost. */
static void expect(uint32_t cpu, uint64_t time, int64_t delta)
{
	struct kmmv_record record;

	ck_assert_int_eq(kmmv_ring_next(ring, &record), 1);
	check_record(&record, cpu, time, delta);
	ck_assert_uint_eq(record.lost, 0);
	ck_assert_uint_eq(record.dropped, 0);
}

static void expect_loss(uint32_t cpu, uint64_t time, int64_t delta,
			uint64_t lost, uint64_t dropped)
{
	struct kmmv_record record;

	ck_assert_int_eq(kmmv_ring_next(ring, &record), 1);
	check_record(&record, cpu, time, delta);
	ck_assert_uint_eq(record.lost, lost);
	ck_assert_uint_eq(record.dropped, dropped);
}

static void expect_none(void)
{
	struct kmmv_record record;

	ck_assert_int_eq(kmmv_ring_next(ring, &record), 0);
}

static void expect_only_losses(uint32_t cpu, uint64_t lost, uint64_t dropped)
{
	struct kmmv_record record;

	ck_assert_int_eq(kmmv_ring_next(ring, &record), 1);
	ck_assert_uint_eq(record.type, 0);
	ck_assert_uint_eq(record.cpu, cpu);
	ck_assert_uint_eq(record.lost, lost);
	ck_assert_uint_eq(record.dropped, dropped);
	ck_assert_uint_eq(record.instance, KMMV_EVENT_NO_INSTANCE);
	ck_assert_uint_eq(record.size, 0);
}

/* ---- opening */

START_TEST(info)
{
	struct kmmv_ring_info info;

	ring = ring_open(&area, NULL);
	kmmv_ring_get_info(ring, &info);
	ck_assert_str_eq(info.name, "test");
	ck_assert_uint_eq(info.nr_cpus, 2);
	ck_assert_uint_eq(info.nr_alive, 2);
	ck_assert_uint_eq(info.page_size, PAGE);
	ck_assert_uint_eq(info.ring_pages, 4);
	ck_assert_uint_eq(info.spares, 2);
	ck_assert(info.overwrite && !info.consumer);
	ck_assert_uint_eq(info.epoch, EPOCH);
	ck_assert_uint_eq(info.incarnation, 5);
	area.header->mode = KMMV_RING_CONSUME;
	kmmv_ring_get_info(ring, &info);
	ck_assert(!info.overwrite);
	ck_assert_int_eq(kmmv_ring_pollfd(ring), -ENODEV);
	/* A memfd has no ioctl. */
	ck_assert_int_eq(kmmv_ring_claim(ring), -ENOTTY);
	ck_assert_int_eq(kmmv_ring_watermark(ring, 1), -ENOTTY);
	expect_none();
}
END_TEST

static void check_refused(int expected, const char *words)
{
	struct kmmv_ring *r;
	int err = kmmv_ring_open(area.dir, "test", &r);

	ck_assert_msg(err == expected, "%d, expected %d: %s", err, expected,
		      kmmv_ring_error(NULL));
	ck_assert_ptr_null(r);
	ck_assert_msg(strstr(kmmv_ring_error(NULL), words) != NULL,
		      "\"%s\" lacks \"%s\"", kmmv_ring_error(NULL), words);
}

/* One word of the header, and what it costs. */
#define REFUSED(member, value, err, words)				\
	do {								\
		__typeof__(area.header->member) was = area.header->member; \
									\
		area.header->member = (value);				\
		check_refused(err, words);				\
		area.header->member = was;				\
	} while (0)

START_TEST(headers)
{
	struct kmmv_ring_header *h = area.header;
	uint64_t stride = h->cpu_stride;

	REFUSED(magic, 0, -EPROTO, "not a kmmv ring");
	REFUSED(magic, __builtin_bswap64(KMMV_RING_MAGIC), -EPROTO, "byte order");
	REFUSED(major, 2, -EOPNOTSUPP, "ABI 2.0");
	REFUSED(features_incompat, 4, -EOPNOTSUPP, "features 0x4");
	REFUSED(size, sizeof(*h) - 8, -EBADMSG, "header of");
	REFUSED(size, PAGE + 8, -EBADMSG, "header of");
	REFUSED(epoch, 0, -EBADMSG, "epoch");
	REFUSED(incarnation, 0, -EBADMSG, "incarnation");
	REFUSED(page_size, 0, -EBADMSG, "page size");
	REFUSED(page_size, 2048, -EBADMSG, "page size");
	REFUSED(page_size, 4097, -EBADMSG, "page size");
	REFUSED(page_size, 1U << 31, -EBADMSG, "page size");
	REFUSED(nr_cpus, 0, -EBADMSG, "no CPU");
	REFUSED(nr_cpus, 65, -EBADMSG, "CPU masks");
	REFUSED(nr_cpus, 3, -EBADMSG, "3 CPU areas");
	REFUSED(nr_cpus, 1, -EBADMSG, "CPU 1 is possible");
	REFUSED(nr_pages, 8, -EBADMSG, "8 pages");
	REFUSED(nr_pages, 0, -EBADMSG, "0 pages");
	REFUSED(ring_pages, 0, -EBADMSG, "0 in the ring");
	REFUSED(ring_pages, UINT32_MAX, -EBADMSG, "pages");
	REFUSED(spares, UINT32_MAX, -EBADMSG, "pages");
	REFUSED(mode, 2, -EBADMSG, "mode 2");
	REFUSED(cpu_offset, 0, -EBADMSG, "CPU areas");
	REFUSED(cpu_offset, PAGE + 8, -EBADMSG, "CPU areas");
	REFUSED(cpu_offset, 2 * PAGE, -EBADMSG, "CPU areas");
	REFUSED(cpu_offset, ~0ULL - PAGE + 1, -EBADMSG, "CPU areas");
	REFUSED(cpu_stride, 0, -EBADMSG, "areas");
	REFUSED(cpu_stride, stride - PAGE, -EBADMSG, "areas");
	REFUSED(cpu_stride, stride + 8, -EBADMSG, "areas");
	REFUSED(cpu_stride, 1ULL << 63, -EBADMSG, "areas");
	REFUSED(cpu_stride, (1ULL << 63) - PAGE, -EBADMSG, "CPU areas");
	REFUSED(writer_offset, 8, -EBADMSG, "pages at");
	REFUSED(writer_offset, stride, -EBADMSG, "pages at");
	REFUSED(writer_offset, ~0ULL - PAGE + 1, -EBADMSG, "pages at");
	REFUSED(writer_offset, PAGE, -EBADMSG, "overlap");
	REFUSED(reader_offset, 3 * PAGE, -EBADMSG, "overlap");
	REFUSED(reader_offset, stride, -EBADMSG, "pages at");
	REFUSED(data_offset, PAGE, -EBADMSG, "overlap");
	REFUSED(data_offset, 3 * PAGE, -EBADMSG, "pages at");
	REFUSED(data_offset, ~0ULL - PAGE + 1, -EBADMSG, "pages at");
	REFUSED(length, h->length - 1, -EBADMSG, "CPU areas");
	REFUSED(length, h->length + 1, -ENODATA, "truncated");
	REFUSED(length, ~0ULL, -ENODATA, "truncated");
	REFUSED(possible_offset, 0, -EBADMSG, "possible");
	REFUSED(possible_offset, PAGE, -EBADMSG, "possible");
	REFUSED(possible_offset, h->alive_offset, -EBADMSG, "overlap");
	REFUSED(alive_offset, 4, -EBADMSG, "alive");
	REFUSED(alive_offset, UINT32_MAX - 7, -EBADMSG, "alive");
	REFUSED(mask_size, 0, -EBADMSG, "masks");
	REFUSED(mask_size, 12, -EBADMSG, "masks");
	REFUSED(mask_size, UINT32_MAX - 7, -EBADMSG, "mask");
	memset(h->name, 'x', sizeof(h->name));
	check_refused(-EBADMSG, "name");
	strcpy(h->name, "test");
	*ring_mask(&area, h->possible_offset) = 0;
	check_refused(-EBADMSG, "no CPU is possible");
	*ring_mask(&area, h->possible_offset) = 3;
	/* Of tomorrow: longer, and with features that can be ignored. */
	h->minor = 9;
	h->size = sizeof(*h) + 8;
	h->possible_offset += 8;
	h->alive_offset += 8;
	*ring_mask(&area, h->possible_offset) = 3;
	*ring_mask(&area, h->alive_offset) = 3;
	h->features_compat = ~0ULL;
	ring = ring_open(&area, NULL);
}
END_TEST

START_TEST(files)
{
	struct kmmv_ring *r;
	int fd;

	ck_assert_int_eq(kmmv_ring_open(area.dir, "none", &r), -ENOENT);
	ck_assert_int_eq(kmmv_ring_open(area.dir, "", &r), -ENOENT);
	ck_assert_int_eq(kmmv_ring_open(area.dir, "..", &r), -ENOENT);
	ck_assert_int_eq(kmmv_ring_open(area.dir, "../ring/test", &r), -ENOENT);
	ck_assert_ptr_null(r);
	unlink(ring_path(&area, "test"));
	fd = open(ring_path(&area, "test"), O_CREAT | O_RDWR, 0600);
	ck_assert_int_eq(write(fd, area.header, area.length),
			 (ssize_t)area.length);
	close(fd);
	check_refused(-EPROTO, "neither a device nor a sealed memfd");
}
END_TEST

/* A CPU's area is not touched before the CPU is alive: a touch would kill. */
START_TEST(not_alive)
{
	char *second;

	*ring_mask(&area, area.header->alive_offset) = 1;
	ring_hit(&area, 0, 100, 1);
	ring = ring_open(&area, &kernel);
	second = (char *)ring->map + area.header->cpu_offset +
		 area.header->cpu_stride;
	ck_assert_int_eq(mprotect(second, area.header->cpu_stride, PROT_NONE),
			 0);
	expect(0, 100, 1);
	expect_none();
	ck_assert_int_eq(kmmv_ring_seek(ring, true), 0);
	ck_assert_int_eq(kmmv_ring_seek(ring, false), 0);
	expect(0, 100, 1);
	ck_assert_int_eq(kmmv_ring_wait(ring, 0), 1);
	expect_none();
	ck_assert_int_eq(kmmv_ring_wait(ring, 0), 0);
	/* CPU 5 never: it is not possible. */
	*ring_mask(&area, area.header->alive_offset) |= 1 << 5;
	expect_none();
	ck_assert_int_eq(mprotect(second, area.header->cpu_stride, PROT_READ),
			 0);
	ring_hit(&area, 1, 200, 2);
	ring_alive(&area, 1);
	expect(1, 200, 2);
	expect_none();
}
END_TEST

/* The next MALLOCS_LEFT calls have memory, the one behind them has none; -1: all. */
static int mallocs_left = -1;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size)
{
	if (mallocs_left < 0 || mallocs_left--)
		return __real_malloc(size);
	errno = ENOMEM;
	return NULL;
}

/* CPUs that come while there is no memory are not lost, nor half there. */
START_TEST(no_memory)
{
	struct kmmv_record record;
	int n, refused = 0;

	teardown();
	ring_init(&area, 3, 4, 0);
	*ring_mask(&area, area.header->alive_offset) = 1;
	ring = ring_open(&area, &kernel);
	ring_hit(&area, 1, 100, 1);
	ring_hit(&area, 2, 200, 2);
	ring_alive(&area, 1);
	ring_alive(&area, 2);
	for (n = 0;; n++) {
		mallocs_left = n;
		if (kmmv_ring_next(ring, &record) != -ENOMEM)
			break;
		ck_assert_ptr_nonnull(strstr(kmmv_ring_error(ring), "memory"));
		refused++;
	}
	mallocs_left = -1;
	ck_assert_int_eq(refused, 3);
	ck_assert_uint_eq(record.time, 100);
	expect(2, 200, 2);
	expect_none();
}
END_TEST

/* ---- events */

START_TEST(encodings)
{
	static const char text[200] = "text";
	struct ring_writer *w = &area.cpu[0];
	uint64_t far = (1ULL << 62) + 12345, late;
	struct kmmv_record record;
	int64_t one = 1;

	ring_begin(&area, 0, 0, far);
	ring_event(w, far, RING_AUTO, false, 1, 0, &one, 8);
	ring_event(w, far + (1 << 27) - 1, RING_AUTO, true, 1, 0, &one, 8);
	ring_padding(w, 10, 64);
	ring_event(w, far + (1 << 27) + 20, RING_AUTO, false, 2, 7, text, 0);
	ring_event(w, far + (1 << 28), RING_EXTEND, false, 2, 7, text, 3);
	/* A stamp whose top five bits are those of before, or one more. */
	late = far + (1ULL << 40);
	ring_event(w, late, RING_STAMP, false, 2, 7, text, 100);
	ring_event(w, late, RING_STAMP, false, 2, 7, text, 104);
	late = (late & ~((1ULL << 59) - 1)) + (1ULL << 59) + 3;
	ring_event(w, late, RING_STAMP, false, 2, 7, text, 105);
	ring_padding(w, 0, 8);
	ring_event(w, late + (1ULL << 50), RING_AUTO, false, 2, 7, text, 200);
	ring_word(w, 29);
	ring_word(w, 0xffffffff);
	ring_commit(w);

	ring = ring_open(&area, &kernel);
	kernel.ahead = 1ULL << 63;
#define NEXT(at, bytes, number)						\
	do {								\
		ck_assert_int_eq(kmmv_ring_next(ring, &record), 1);	\
		ck_assert_uint_eq(record.time, at);			\
		ck_assert_uint_eq(record.size, bytes);			\
		ck_assert_uint_eq(record.sequence, number);		\
		ck_assert_uint_eq(record.incarnation, 3);		\
		ck_assert_uint_eq((uintptr_t)record.payload % 4, 0);	\
		ck_assert(record.size < 5 || record.type == 1 ||	\
			  !strcmp(record.payload, "text"));		\
	} while (0)
	NEXT(far, 8, 0);
	NEXT(far + (1 << 27) - 1, 8, 1);
	NEXT(far + (1 << 27) + 20, 0, 2);
	ck_assert_uint_eq(record.type, 2);
	ck_assert_uint_eq(record.instance, 7);
	NEXT(far + (1 << 28), 4, 3);
	NEXT(far + (1ULL << 40), 100, 4);
	NEXT(far + (1ULL << 40), 104, 5);
	NEXT(late, 108, 6);
	NEXT(late + (1ULL << 50), 200, 7);
	expect_none();
	ck_assert_uint_eq(ring->malformed, 0);
	ck_assert_uint_eq(ring->late, 0);
}
END_TEST

/* What is no event, for each way there is; the records in front come out. */
static const struct {
	const char *what;
	uint32_t words[6], nr;
} nonsense[] = {
	{ "an event without its words", { 2 }, 1 },
	{ "an event cut off", { 4, 1, 1 }, 3 },
	{ "an event too short for its type", { 1, 1 }, 2 },
	{ "a length missing", { 0 }, 1 },
	{ "a length of nothing", { 0, 0, 0, 0 }, 4 },
	{ "a length for no type", { 0, 8, 0 }, 3 },
	{ "a length beyond the end", { 0, 16, 0, 0 }, 4 },
	{ "a length that is huge", { 0, 0xfffffffc, 0, 0 }, 4 },
	{ "a length that is odd", { 0, 13, 0, 0, 0 }, 5 },
	{ "padding without length", { 29 | 1 << 5 }, 1 },
	{ "padding of nothing", { 29 | 1 << 5, 0, 0 }, 3 },
	{ "padding beyond the end", { 29 | 1 << 5, 12, 0 }, 3 },
	{ "half a time", { 30 }, 1 },
	{ "half a stamp", { 31 | 1 << 5 }, 1 },
};

START_TEST(malformed)
{
	struct ring_writer *w = &area.cpu[0];
	uint32_t i;

	ring_hit(&area, 0, 100, 1);
	for (i = 0; i < nonsense[_i].nr; i++)
		ring_word(w, nonsense[_i].words[i]);
	w->events += 3;
	ring_commit(w);
	ring = ring_open(&area, &kernel);
	expect(0, 100, 1);
	expect_none();
	ck_assert_msg(ring->malformed == 1, "%s", nonsense[_i].what);
	/* That page is over; on the next one it is known what was lost. */
	ring_commit(w);
	expect_none();
	ring_begin(&area, 0, 1, 300);
	ring_hit(&area, 0, 301, 2);
	expect_loss(0, 301, 2, 3, 0);
	expect_none();
	ck_assert_uint_eq(ring->malformed, 1);
}
END_TEST

/* A commit that cannot be. */
START_TEST(commits)
{
	static const uint64_t commits[] = { 21, RING_ROOM + 4, ~0ULL, 1ULL << 32 };
	size_t i;

	ring = ring_open(&area, &kernel);
	for (i = 0; i < 4; i++) {
		ring_begin(&area, 0, (uint32_t)i, 10 * i);
		ring_store(&ring_page(&area, 0, (uint32_t)i)->commit, commits[i]);
		expect_none();
		ck_assert_uint_eq(ring->malformed, i + 1);
	}
	/* One that went back. */
	ring_begin(&area, 0, 0, 50);
	ring_hit(&area, 0, 51, 1);
	ring_hit(&area, 0, 52, 2);
	expect(0, 51, 1);
	expect(0, 52, 2);
	ring_store(&ring_page(&area, 0, 0)->commit, 20);
	expect_none();
	ck_assert_uint_eq(ring->malformed, 5);
}
END_TEST

/* ---- snapshots */

START_TEST(live)
{
	int64_t i, per_page = RING_ROOM / 20;

	ring = ring_open(&area, &kernel);
	expect_none();
	for (i = 0; i < 10 * per_page; i++) {
		ring_hit(&area, 0, 100 + (uint64_t)i, i);
		if (i % 7 == 0)
			ring_hit(&area, 1, 100 + (uint64_t)i, -i);
		expect(0, 100 + (uint64_t)i, i);
		if (i % 7 == 0)
			expect(1, 100 + (uint64_t)i, -i);
		expect_none();
	}
	ck_assert_uint_eq(kernel.takes, 0);
}
END_TEST

/* What the buffer holds, then what comes; what went first is lost. */
START_TEST(overwritten)
{
	uint64_t written = 0, read, lost = 0;
	struct kmmv_record record;
	int64_t value;
	int n;

	for (; written < 3000; written++)
		ring_hit(&area, 0, written, (int64_t)written);
	ring = ring_open(&area, &kernel);
	ck_assert_int_eq(kmmv_ring_next(ring, &record), 1);
	/* The reader has missed nothing yet. */
	ck_assert_uint_eq(record.lost, 0);
	read = record.sequence;
	ck_assert_uint_gt(read, 0);
	ck_assert_uint_eq(record.sequence, record.time);
	for (; written < 20000; written++) {
		ring_hit(&area, 0, written, (int64_t)written);
		if (written % 1000)
			continue;
		while ((n = kmmv_ring_next(ring, &record)) == 1) {
			lost += record.lost;
			read += record.lost + 1;
			ck_assert_uint_eq(record.sequence, read);
			memcpy(&value, record.payload, 8);
			ck_assert_int_eq(value, (int64_t)read);
			ck_assert_uint_eq(record.time, read);
		}
		ck_assert_int_eq(n, 0);
		ck_assert_uint_eq(read, written);
	}
	ck_assert_uint_gt(lost, 1000);
	ck_assert_uint_eq(ring->malformed, 0);

	/* Again from the oldest, and behind the newest. */
	ck_assert_int_eq(kmmv_ring_seek(ring, false), 0);
	ck_assert_int_eq(kmmv_ring_next(ring, &record), 1);
	ck_assert_uint_eq(record.lost, 0);
	ck_assert_uint_lt(record.time, written - 3 * (RING_ROOM / 20));
	ck_assert_int_eq(kmmv_ring_seek(ring, true), 0);
	expect_none();
	ring_hit(&area, 0, written, 4);
	ck_assert_int_eq(kmmv_ring_next(ring, &record), 1);
	check_record(&record, 0, written, 4);
	ck_assert_uint_eq(record.sequence, written);
	expect_none();
}
END_TEST

/* Pages in any order of ids, some of them consumed, one replaced while read. */
START_TEST(pages)
{
	struct kmmv_record record;

	ring_begin(&area, 0, 5, 100);
	ring_hit(&area, 0, 100, 1);
	ring_begin(&area, 0, 2, 200);
	ring_hit(&area, 0, 200, 2);
	ring_begin(&area, 0, 6, 300);
	ring_hit(&area, 0, 300, 3);
	ring_begin(&area, 0, 0, 400);
	ring_hit(&area, 0, 400, 4);
	ring_hit(&area, 0, 401, 5);
	ring = ring_open(&area, &kernel);
	expect(0, 100, 1);
	ring_store(&ring_page(&area, 0, 2)->seq, 0);
	expect_loss(0, 300, 3, 1, 0);
	expect(0, 400, 4);
	ring_begin(&area, 0, 0, 500);
	ring_hit(&area, 0, 501, 6);
	/* What was copied with the record before it is not lost. */
	expect(0, 401, 5);
	expect(0, 501, 6);
	expect_none();
	/* A page that is begun and has no event yet. */
	ring_begin(&area, 0, 1, 600);
	expect_none();
	ring_hit(&area, 0, 601, 7);
	ck_assert_int_eq(kmmv_ring_next(ring, &record), 1);
	ck_assert_uint_eq(record.sequence, 6);
	expect_none();
}
END_TEST

/* Drops: with the event behind them, or alone. */
START_TEST(drops)
{
	ring_hit(&area, 0, 100, 1);
	ring_drop(&area, 0, KMMV_DROP_FULL, 4);
	ring_begin(&area, 0, 1, 200);
	ring_hit(&area, 0, 200, 2);
	ring = ring_open(&area, &kernel);
	expect(0, 100, 1);
	expect_loss(0, 200, 2, 0, 4);
	expect_none();
	ring_drop(&area, 0, KMMV_DROP_COMMIT, 2);
	ring_drop(&area, 0, KMMV_DROP_NMI, 3);
	ring_drop(&area, 1, KMMV_DROP_TOO_LARGE, 1);
	expect_only_losses(0, 0, 5);
	expect_only_losses(1, 0, 1);
	expect_none();
	/* Told of once, though the next page knows of them, too. */
	ring_drop(&area, 0, KMMV_DROP_FULL, 1);
	ring_begin(&area, 0, 2, 300);
	ring_hit(&area, 0, 300, 3);
	expect_loss(0, 300, 3, 0, 1);
	expect_none();
}
END_TEST

/* A first page that was begun before drops that were told of: not again. */
START_TEST(drops_inside)
{
	ring_drop(&area, 0, KMMV_DROP_FULL, 1);
	ring = ring_open(&area, &kernel);
	ring_drop(&area, 0, KMMV_DROP_FULL, 3);
	ring_begin(&area, 0, 0, 100);
	ring_drop(&area, 0, KMMV_DROP_NESTED, 2);
	expect_only_losses(0, 0, 5);
	ring_hit(&area, 0, 100, 1);
	expect(0, 100, 1);
	ring_drop(&area, 0, KMMV_DROP_FULL, 4);
	ring_begin(&area, 0, 1, 200);
	ring_hit(&area, 0, 200, 2);
	expect_loss(0, 200, 2, 0, 4);
	expect_none();
}
END_TEST

/*
 * A writer that interrupts the reader anywhere, for some pages, which come in the
 * order of their ids or in another one.
 */
static volatile uint64_t interrupts, in_step, read_so_far;

static void interrupt(int signal)
{
	static uint64_t now;
	struct ring_writer *w = &area.cpu[0];
	int i;

	(void)signal;
	/* The machine may be slow: nothing is to be overwritten. */
	if (now - read_so_far > 128 * RING_ROOM / 20)
		return;
	interrupts++;
	for (i = 0; i < 450; i++, now++) {
		if (w->page && w->pos + 28 > RING_ROOM)
			ring_begin(&area, 0, (w->id + (in_step ? 1 : 77)) % 256,
				   now);
		ring_hit(&area, 0, now, (int64_t)now);
	}
}

START_TEST(interrupted)
{
	struct sigaction action = { .sa_handler = interrupt };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
				  .sigev_signo = SIGUSR1 };
	struct itimerspec often = { .it_interval = { .tv_nsec = 50000 },
				    .it_value = { .tv_nsec = 50000 } };
	static const struct itimerspec never;
	struct kmmv_record record;
	uint64_t n = 0;
	timer_t timer;

	teardown();
	ring_init(&area, 1, 256, 0);
	ring = ring_open(&area, &kernel);
	in_step = (uint64_t)_i;
	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	ck_assert_int_eq(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	ck_assert_int_eq(timer_settime(timer, 0, &often, NULL), 0);
	while (interrupts < 4000 || n < interrupts * 450) {
		if (interrupts >= 4000)
			timer_settime(timer, 0, &never, NULL);
		if (!kmmv_ring_next(ring, &record))
			continue;
		ck_assert(record.lost == 0);
		ck_assert(record.sequence == n && record.time == n);
		read_so_far = ++n;
	}
	timer_delete(timer);
	expect_none();
	ck_assert_uint_eq(ring->malformed, 0);
}
END_TEST

/* ---- order */

START_TEST(merged)
{
	uint64_t last = 0, n = 0, i;
	struct kmmv_record record;

	teardown();
	ring_init(&area, 4, 64, 0);
	*ring_mask(&area, area.header->alive_offset) = 0xd;
	for (i = 0; i < 1000; i++) {
		ring_hit(&area, 0, 10 * i, (int64_t)i);
		ring_hit(&area, 2, 11 * i, (int64_t)i);
		if (i % 3 == 0)
			ring_hit(&area, 3, 10 * i, (int64_t)i);
	}
	ring = ring_open(&area, &kernel);
	for (; kmmv_ring_next(ring, &record) == 1; n++) {
		ck_assert_uint_ge(record.time, last);
		last = record.time;
	}
	ck_assert_uint_eq(n, 2334);
	ck_assert_uint_eq(ring->late, 0);
}
END_TEST

/* A record that another CPU's may still precede is held back, not for long. */
START_TEST(held)
{
	struct kmmv_record record;
	uint64_t now;
	int n;

	ring = ring_open(&area, &kernel);
	if (_i == 2)
		kernel.clock_error = -ENOTTY;
	now = kmmv_ring_monotonic();
	kernel.ahead = 0;
	/* 1: by a clock that is far behind. */
	if (_i == 1)
		now += 1000000000;
	ring_hit(&area, 0, now, 1);
	n = kmmv_ring_next(ring, &record);
	if (kmmv_ring_monotonic() < now + KMMV_SLACK_NS)
		ck_assert_int_eq(n, 0);
	if (n == 1)
		return;
	ring_hit(&area, 1, now - 5, 2);
	while ((n = kmmv_ring_next(ring, &record)) == 0)
		ck_assert_int_eq(kmmv_ring_wait(ring, 1000), 1);
	check_record(&record, 1, now - 5, 2);
	while ((n = kmmv_ring_next(ring, &record)) == 0)
		ck_assert_int_eq(kmmv_ring_wait(ring, 1000), 1);
	check_record(&record, 0, now, 1);
	ck_assert_uint_eq(ring->late, 0);
	ck_assert_uint_lt(kmmv_ring_monotonic() - (_i == 1 ? now - 1000000000 :
						   now), 900000000);
	/* Later than that is late, and comes all the same. */
	ring_hit(&area, 1, now - 1, 3);
	while ((n = kmmv_ring_next(ring, &record)) == 0)
		ck_assert_int_eq(kmmv_ring_wait(ring, 1000), 1);
	check_record(&record, 1, now - 1, 3);
	ck_assert_uint_eq(ring->late, 1);
}
END_TEST

START_TEST(waits)
{
	struct kmmv_record record;
	uint64_t before;

	ring = ring_open(&area, &kernel);
	expect_none();
	before = kmmv_ring_monotonic();
	ck_assert_int_eq(kmmv_ring_wait(ring, 30), 0);
	ck_assert_uint_ge(kmmv_ring_monotonic() - before, 30000000);
	ck_assert_int_eq(kmmv_ring_wait(ring, 0), 0);
	ring_hit(&area, 0, 100, 1);
	ck_assert_int_eq(kmmv_ring_wait(ring, -1), 1);
	ck_assert_int_eq(kmmv_ring_next(ring, &record), 1);
	check_record(&record, 0, 100, 1);
	/* Nobody is sent to sleep with a record in hand. */
	ck_assert_int_eq(kmmv_ring_wait(ring, -1), 1);
	expect_none();
}
END_TEST

START_TEST(clocks)
{
	uint64_t time, again;

	ring = ring_open(&area, &kernel);
	ck_assert_int_eq(kmmv_ring_realtime(ring, 5000000000ULL, &time), 0);
	ck_assert_uint_eq(time, 1000000000000ULL + 4000000000ULL);
	ck_assert_int_eq(kmmv_ring_realtime(ring, 1, &again), 0);
	ck_assert_uint_eq(time - again, 4999999999ULL);
	ck_assert_uint_le(kernel.clocks, 2);
	kmmv_ring_close(ring);
	kernel.clock_error = -ENOTTY;
	ring = ring_open(&area, &kernel);
	ck_assert_int_eq(kmmv_ring_realtime(ring, 1, &time), -ENOTTY);
}
END_TEST

/* ---- the consumer */

static void check_released(uint32_t nr, uint32_t cpu, uint64_t seq, uint32_t end)
{
	struct kmmv_ring_release *last;

	ck_assert_uint_eq(kernel.nr_released, nr);
	last = &kernel.released[nr - 1];
	ck_assert_uint_eq(last->cpu, cpu);
	ck_assert_uint_eq(last->seq, seq);
	ck_assert_uint_eq(last->end, end);
}

START_TEST(consumed)
{
	ring_hit(&area, 0, 100, 1);
	ring_hit(&area, 0, 110, 2);
	ring_take(&kernel, &area, 0, 0);
	ring_hit(&area, 1, 105, 3);
	ring_take(&kernel, &area, 1, 0);
	ring = ring_open(&area, &kernel);
	ck_assert_int_eq(kmmv_ring_claim(ring), 0);
	ck_assert(kernel.claimed);
	ck_assert_int_eq(kmmv_ring_pollfd(ring), ring->fd);
	ck_assert_int_eq(kmmv_ring_seek(ring, false), -EINVAL);
	expect(0, 100, 1);
	ck_assert_uint_eq(kernel.nr_released, 0);
	expect(1, 105, 3);
	expect(0, 110, 2);
	/* More on the page, and the next page. */
	ring_hit(&area, 0, 120, 4);
	ring_take(&kernel, &area, 0, 40);
	ring_begin(&area, 0, 1, 130);
	ring_hit(&area, 0, 130, 5);
	ring_take(&kernel, &area, 0, 0);
	expect(0, 120, 4);
	ck_assert_uint_ge(kernel.nr_released, 2);
	expect(0, 130, 5);
	expect_none();
	check_released(kernel.nr_released, 0, 2, 20);
	/* The record that was handed over last is not consumed. */
	ring_hit(&area, 1, 140, 6);
	ring_hit(&area, 1, 141, 7);
	ring_take(&kernel, &area, 1, 20);
	expect(1, 140, 6);
	expect(1, 141, 7);
	kmmv_ring_close(ring);
	ring = NULL;
	check_released(kernel.nr_released, 1, 1, 40);
}
END_TEST

/* In the middle of a page: what time it is stands in front. */
START_TEST(inherited)
{
	struct kmmv_record record;

	ring_hit(&area, 0, 100, 1);
	ring_hit(&area, 0, 1000000000, 2);
	ring_hit(&area, 0, 1000000007, 3);
	ring_take(&kernel, &area, 0, 48)->flags = KMMV_RANGE_AGAIN;
	kernel.ahead = 10000000000;
	ring = ring_open(&area, &kernel);
	ck_assert_int_eq(kmmv_ring_claim(ring), 0);
	ck_assert_int_eq(kmmv_ring_next(ring, &record), 1);
	check_record(&record, 0, 1000000007, 3);
	ck_assert_uint_eq(record.sequence, 2);
	ck_assert_uint_eq(record.lost, 0);
	expect_none();
}
END_TEST

START_TEST(losses)
{
	struct kmmv_ring_range *range;

	ring = ring_open(&area, &kernel);
	ck_assert_int_eq(kmmv_ring_claim(ring), 0);
	area.cpu[0].events = 10;
	ring_drop(&area, 0, KMMV_DROP_FULL, 2);
	ring_begin(&area, 0, 0, 100);
	ring_hit(&area, 0, 100, 1);
	range = ring_take(&kernel, &area, 0, 0);
	range->lost = 10;
	range->dropped = 2;
	expect_loss(0, 100, 1, 10, 2);
	expect_none();
	/* Drops that nothing follows; then the kernel tells of them, and one. */
	ring_drop(&area, 0, KMMV_DROP_FULL, 3);
	expect_only_losses(0, 0, 3);
	expect_none();
	ring_drop(&area, 0, KMMV_DROP_FULL, 1);
	ring_begin(&area, 0, 1, 200);
	ring_hit(&area, 0, 200, 2);
	ring_take(&kernel, &area, 0, 0)->dropped = 4;
	expect_loss(0, 200, 2, 0, 1);
	expect_none();
	/* A page whose events make no sense: they are lost, as the next one says. */
	ring_begin(&area, 0, 2, 300);
	ring_hit(&area, 0, 300, 3);
	ring_word(&area.cpu[0], 1);
	ring_word(&area.cpu[0], 1);
	area.cpu[0].events += 2;
	ring_take(&kernel, &area, 0, 0);
	ring_hit(&area, 0, 310, 4);
	ring_take(&kernel, &area, 0, 28);
	ring_begin(&area, 0, 3, 400);
	ring_hit(&area, 0, 400, 5);
	ring_take(&kernel, &area, 0, 0);
	expect(0, 300, 3);
	expect_loss(0, 400, 5, 3, 0);
	expect_none();
	check_released(kernel.nr_released, 0, area.cpu[0].seq, 20);
	ck_assert_uint_eq(ring->malformed, 1);
}
END_TEST

/* What a snapshot reader told of does not mute what the consumer tells of. */
START_TEST(claimed_later)
{
	ring_hit(&area, 0, 100, 1);
	ring = ring_open(&area, &kernel);
	expect(0, 100, 1);
	ring_drop(&area, 0, KMMV_DROP_FULL, 10);
	expect_only_losses(0, 0, 10);
	/* Another consumer has both pages and goes. */
	ring_begin(&area, 0, 1, 200);
	ring_hit(&area, 0, 200, 2);
	expect(0, 200, 2);
	ck_assert_int_eq(kmmv_ring_claim(ring), 0);
	ring_drop(&area, 0, KMMV_DROP_FULL, 3);
	ring_begin(&area, 0, 2, 300);
	ring_hit(&area, 0, 300, 3);
	ring_take(&kernel, &area, 0, 0)->dropped = 3;
	expect_loss(0, 300, 3, 0, 3);
	expect_none();
	ring_drop(&area, 0, KMMV_DROP_FULL, 4);
	expect_only_losses(0, 0, 4);
	expect_none();
	ring_begin(&area, 0, 3, 400);
	ring_hit(&area, 0, 400, 4);
	ring_take(&kernel, &area, 0, 0)->dropped = 4;
	expect(0, 400, 4);
	expect_none();
}
END_TEST

/* A consumer's first page comes after drops that are younger than it is. */
START_TEST(drops_first)
{
	ring_drop(&area, 0, KMMV_DROP_FULL, 2);
	ring_hit(&area, 0, 100, 1);
	ring_drop(&area, 0, KMMV_DROP_FULL, 5);
	ring = ring_open(&area, &kernel);
	ck_assert_int_eq(kmmv_ring_claim(ring), 0);
	ring_drop(&area, 0, KMMV_DROP_NMI, 3);
	expect_only_losses(0, 0, 3);
	expect_none();
	/* Those before the claim. */
	ring_take(&kernel, &area, 0, 0)->dropped = 2;
	expect_loss(0, 100, 1, 0, 7);
	expect_none();
	ring_drop(&area, 0, KMMV_DROP_FULL, 1);
	ring_begin(&area, 0, 1, 200);
	ring_hit(&area, 0, 200, 2);
	ring_take(&kernel, &area, 0, 0)->dropped = 9;
	expect_loss(0, 200, 2, 0, 1);
	expect_none();
}
END_TEST

/* The next record's numbers, which are nobody's in particular. */
static void expect_numbers(uint64_t sequence, uint64_t dropped, uint64_t drops)
{
	struct kmmv_record record;

	ck_assert_int_eq(kmmv_ring_next(ring, &record), 1);
	ck_assert_uint_eq(record.sequence, sequence);
	ck_assert_uint_eq(record.dropped, dropped);
	ck_assert_uint_eq(record.drops, drops);
}

/* The kernel tells a new handle again of drops that one told of without events. */
START_TEST(reopened)
{
	ring_drop(&area, 0, KMMV_DROP_FULL, 1);
	ring_hit(&area, 0, 100, 1);
	ring_hit(&area, 0, 101, 2);
	ring_take(&kernel, &area, 0, 0)->dropped = 1;
	ring = ring_open(&area, &kernel);
	ck_assert_int_eq(kmmv_ring_claim(ring), 0);
	expect_numbers(0, 1, 1);
	expect_numbers(1, 0, 1);
	ring_drop(&area, 0, KMMV_DROP_FULL, 4);
	expect_numbers(2, 4, 5);
	expect_none();
	kmmv_ring_close(ring);
	ring = ring_open(&area, &kernel);
	ck_assert_int_eq(kmmv_ring_claim(ring), 0);
	expect_none();
	ring_drop(&area, 0, KMMV_DROP_FULL, 2);
	ring_begin(&area, 0, 1, 200);
	ring_hit(&area, 0, 200, 3);
	ring_hit(&area, 0, 201, 4);
	ring_take(&kernel, &area, 0, 0)->dropped = 6;
	expect_numbers(2, 6, 7);
	expect_numbers(3, 0, 7);
	expect_none();
	/* So has any snapshot reader. */
	ring_drop(&area, 0, KMMV_DROP_FULL, 3);
	kmmv_ring_close(ring);
	ring = ring_open(&area, &kernel);
	expect_numbers(0, 0, 1);
	expect_numbers(1, 0, 1);
	expect_numbers(2, 6, 7);
	expect_numbers(3, 0, 7);
	expect_numbers(4, 3, 10);
	expect_none();
}
END_TEST

/* Ranges that would lead out of the mapping. */
START_TEST(ranges)
{
	struct kmmv_record record;
	struct kmmv_ring_range *range;

	*ring_mask(&area, area.header->alive_offset) = 1;
	ring_hit(&area, 0, 100, 1);
	ring = ring_open(&area, &kernel);
	ck_assert_int_eq(kmmv_ring_claim(ring), 0);
	range = ring_take(&kernel, &area, 0, 0);
	switch (_i) {
	case 0: range->cpu = 1; break;
	case 1: range->cpu = 2; break;
	case 2: range->cpu = UINT32_MAX; break;
	case 3: range->id = 7; break;
	case 4: range->id = UINT32_MAX; break;
	case 5: range->end = RING_ROOM + 4; break;
	case 6: range->offset = 24; break;
	case 7: range->offset = 2; break;
	case 8: range->seq = 0; break;
	}
	ck_assert_int_eq(kmmv_ring_next(ring, &record), -EBADMSG);
	ck_assert_str_ne(kmmv_ring_error(ring), "");
}
END_TEST

START_TEST(refusals)
{
	struct kmmv_record record;

	ring_hit(&area, 0, 100, 1);
	ring = ring_open(&area, &kernel);
	kernel.claim_error = -EBUSY;
	ck_assert_int_eq(kmmv_ring_claim(ring), -EBUSY);
	ck_assert_ptr_nonnull(strstr(kmmv_ring_error(ring), "has a consumer"));
	/* It still is a snapshot reader. */
	expect(0, 100, 1);
	kernel.claim_error = 0;
	ck_assert_int_eq(kmmv_ring_claim(ring), 0);
	kernel.take_error = -EIO;
	ck_assert_int_eq(kmmv_ring_next(ring, &record), -EIO);
}
END_TEST

/* A lane that may have more is looked at again before another's is given. */
START_TEST(starved)
{
	ring_hit(&area, 1, 500, 9);
	ring_take(&kernel, &area, 1, 0);
	ring_hit(&area, 0, 100, 1);
	ring_take(&kernel, &area, 0, 0);
	ring_hit(&area, 0, 110, 2);
	ring_take(&kernel, &area, 0, 20);
	kernel.batch = 2;
	ring = ring_open(&area, &kernel);
	ck_assert_int_eq(kmmv_ring_claim(ring), 0);
	ring_store(&ring_reader(&area, 0)->starved, 1);
	expect(0, 100, 1);
	expect(0, 110, 2);
	expect(1, 500, 9);
	expect_none();
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("ring");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, info);
	tcase_add_test(tcase, headers);
	tcase_add_test(tcase, files);
	tcase_add_test(tcase, not_alive);
	tcase_add_test(tcase, no_memory);
	tcase_add_test(tcase, encodings);
	tcase_add_loop_test(tcase, malformed, 0,
			    sizeof(nonsense) / sizeof(nonsense[0]));
	tcase_add_test(tcase, commits);
	tcase_add_test(tcase, live);
	tcase_add_test(tcase, overwritten);
	tcase_add_test(tcase, pages);
	tcase_add_test(tcase, drops);
	tcase_add_test(tcase, drops_inside);
	tcase_add_loop_test(tcase, interrupted, 0, 2);
	tcase_add_test(tcase, merged);
	tcase_add_loop_test(tcase, held, 0, 3);
	tcase_add_test(tcase, waits);
	tcase_add_test(tcase, clocks);
	tcase_add_test(tcase, consumed);
	tcase_add_test(tcase, inherited);
	tcase_add_test(tcase, losses);
	tcase_add_test(tcase, claimed_later);
	tcase_add_test(tcase, drops_first);
	tcase_add_test(tcase, reopened);
	tcase_add_loop_test(tcase, ranges, 0, 9);
	tcase_add_test(tcase, refusals);
	tcase_add_test(tcase, starved);
	return run_suite("libring", tcase);
}
