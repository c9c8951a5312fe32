// SPDX-License-Identifier: GPL-2.0-only
/*
 * Damaged rings, random but the same in each run: each gives an error, or a
 * valid handle whose reading ends. KMMV_SOAK=N: N times as many.
 */
#include "libringarea.h"
#include "random.h"

enum { ROUNDS = 2000 };

static struct ring_area area;
static struct ring_kernel kernel;
static long opened, records, refused;

static void damage(char *bytes, size_t length)
{
	size_t width = 1UL << random64() % 4;
	size_t place = random64() % length & ~(width - 1);
	uint64_t value = 0;

	memcpy(&value, bytes + place, width);
	value = odd_value(value, 8, 100);
	memcpy(bytes + place, &value, width);
}

/* Write a good ring to the area first. */
static void fill(void)
{
	static const char text[300] = "some text";
	struct ring_writer *w;
	uint32_t cpu;
	uint64_t i;

	for (cpu = 0; cpu < 2; cpu++) {
		w = &area.cpu[cpu];
		for (i = 0; i < 300; i++) {
			ring_hit(&area, cpu, 100 * i, 1);
			if (i % 16 || w->pos + 400 > RING_ROOM)
				continue;
			ring_padding(w, 3, 24);
			ring_event(w, 100 * i + 50,
				   (enum ring_time)(random64() % 3), false, 2,
				   1, text, (uint32_t)(random64() % 300));
			ring_commit(w);
		}
	}
}

static void damage_pages(void)
{
	uint64_t times = random64() % 8;
	uint32_t cpu, id;

	for (; times; times--) {
		cpu = (uint32_t)(random64() % 2);
		id = (uint32_t)(random64() % area.header->nr_pages);
		damage((char *)ring_page(&area, cpu, id),
		       random64() % 2 ? sizeof(struct kmmv_ring_page) : PAGE);
	}
	if (random64() % 8 == 0)
		damage(ring_at(&area, 0, 0), 2 * PAGE);
}

/* Ranges, good and bad. */
static void make_ranges(void)
{
	struct kmmv_ring_range *range;
	uint32_t cpu, id;

	memset(&kernel, 0, sizeof(kernel));
	kernel.ahead = random64() % 2 ? 0 : 1ULL << 62;
	kernel.batch = (uint32_t)(random64() % 4);
	for (id = 0; id < 4; id++) {
		for (cpu = 0; cpu < 2; cpu++) {
			const struct kmmv_ring_page *page =
				ring_page(&area, cpu, id);

			range = &kernel.ranges[kernel.nr++];
			range->cpu = cpu;
			range->id = id;
			range->end = (uint32_t)page->commit;
			range->seq = page->seq;
			range->first = page->first;
			if (random64() % 4 == 0)
				range->offset = (uint32_t)(random64() %
							   RING_ROOM & ~3U);
			if (random64() % 32 == 0)
				damage((char *)range, sizeof(*range));
		}
	}
}

/* Every byte of a payload can be read. */
static uint32_t touch(const struct kmmv_record *record)
{
	static const struct kmmv_field_info text = { .kind = KMMV_TEXT };
	const unsigned char *bytes = record->payload;
	uint32_t i, sum = 0;
	char line[64];

	for (i = 0; i < record->size; i++)
		sum += bytes[i];
	ck_assert(kmmv_field_text(&text, record, line, sizeof(line)) >= 0);
	return sum;
}

static void read_ring(struct kmmv_ring *r, bool consume)
{
	struct kmmv_ring_info info;
	struct kmmv_record record;
	long n = 0, none = 0;
	int got = 0;

	if (consume)
		ck_assert_int_eq(kmmv_ring_claim(r), 0);
	else if (random64() % 4 == 0)
		ck_assert_int_eq(kmmv_ring_seek(r, random64() % 2), 0);
	while (none < 3) {
		got = kmmv_ring_next(r, &record);
		if (got < 0)
			break;
		if (!got) {
			none++;
			ck_assert_int_ge(kmmv_ring_wait(r, 0), 0);
			continue;
		}
		ck_assert(record.cpu < 2);
		touch(&record);
		n++;
		/* So many fit on a page, and so many pages into the ring. */
		ck_assert(n < 2 * 8 * PAGE / 12);
		kernel.nr_released = 0;
	}
	if (got < 0) {
		refused++;
		ck_assert_str_ne(kmmv_ring_error(r), "");
	}
	records += n;
	kmmv_ring_get_info(r, &info);
	kernel.nr_released = 0;
}

static void one_round(void)
{
	size_t header = sizeof(struct kmmv_ring_header) + 16;
	struct kmmv_ring *r;

	ring_init(&area, 2, 4, 3);
	fill();
	damage_pages();
	make_ranges();
	/* The header last, as it has the offsets. */
	if (random64() % 3 == 0)
		damage((char *)area.header, random64() % 4 ? header : PAGE);
	if (!kmmv_ring_open(area.dir, "test", &r)) {
		opened++;
		r->ioctl = ring_kernel_ioctl;
		r->private = &kernel;
		/* The area may change while it is read. */
		if (random64() % 8 == 0)
			damage((char *)area.header, header);
		read_ring(r, random64() % 2);
		kmmv_ring_close(r);
	} else {
		ck_assert_str_ne(kmmv_ring_error(NULL), "");
	}
	ring_fini(&area);
}

START_TEST(damaged)
{
	const char *soak = getenv("KMMV_SOAK");
	long rounds = ROUNDS * (soak && atoi(soak) ? atoi(soak) : 1), i;

	random_state += (uint64_t)_i;
	for (i = 0; i < rounds; i++)
		one_round();
	/* Many rings pass the checks, and are read. */
	ck_assert_int_gt(opened, rounds / 2);
	ck_assert_int_lt(opened, rounds);
	ck_assert_int_gt(records, opened * 100);
	ck_assert_int_gt(refused, rounds / 100);
}
END_TEST

/* The decoder alone, on any bytes, at the very end of an allocation. */
START_TEST(bytes)
{
	struct kmmv_record record;
	struct kmmv_cursor cursor;
	uint32_t length, i;
	uint32_t *words;
	long round, found = 0;
	int n;

	for (round = 0; round < 200000; round++) {
		length = (uint32_t)(random64() % 24);
		words = malloc(length * 4);
		for (i = 0; i < length; i++) {
			words[i] = (uint32_t)random64();
			if (random64() % 2)
				words[i] &= 0x3f;
		}
		cursor = (struct kmmv_cursor){
			.bytes = (unsigned char *)words,
			.end = length * 4,
			.time = random64(),
		};
		for (i = 0; i < 24; i++) {
			n = kmmv_event_next(&cursor, &record);
			if (n != 1)
				break;
			touch(&record);
			found++;
		}
		ck_assert(i < 24);
		ck_assert(cursor.pos <= cursor.end);
		free(words);
	}
	ck_assert_int_gt(found, 10000);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("fuzz");

	tcase_add_loop_test(tcase, damaged, 0, 3);
	tcase_add_test(tcase, bytes);
	return run_suite("libringfuzz", tcase);
}
