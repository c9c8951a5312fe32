// SPDX-License-Identifier: GPL-2.0-only
/*
 * A ring as a snapshot reader has it mapped: the input is a list of steps. A step
 * changes words of the header, of a CPU's counts or of its pages, before the ring is
 * opened or while it is read, or has the reader do something. A record is within the
 * mapping, and to read everything takes a bounded number of records whatever the
 * pages say.
 */
#include <check.h>
#include "../unit/lib/libringarea.h"
#include "input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	CPUS = 2,
	PAGES = 3,
	SPARES = 1,
	AREA_PAGES = PAGES + SPARES + 1,
	/* Events that fit, and a record of losses each. */
	MOST = 2 * CPUS * AREA_PAGES * (PAGE / 4),
};

enum step {
	CHANGE,
	READ_ONE,
	READ_ALL,
	SEEK,
	STATS,
	REALTIME,
	INFO,
	CLOSE,
	STEPS
};

static struct ring_area area;
static struct kmmv_ring_header *pristine;
static struct ring_kernel simulated;

static void end(void)
{
	free(pristine);
	ring_fini(&area);
}

static void begin(void)
{
	struct ring_writer *w = area.cpu;
	uint32_t cpu, n;

	ring_init(&area, CPUS, PAGES, SPARES);
	for (cpu = 0; cpu < CPUS; cpu++) {
		for (n = 0; n < 100; n++)
			ring_hit(&area, cpu, 1000 + 10 * n + cpu, n);
		ring_drop(&area, cpu, KMMV_DROP_FULL, 3);
	}
	ring_padding(w, 5, 16);
	ring_event(w, w->time + 9, RING_EXTEND, false, 20, 1, "extend", 6);
	ring_event(w, w->time + 9, RING_STAMP, true, 21, 2, "stamp", 5);
	ring_commit(w);
	pristine = malloc(area.length);
	ck_assert_ptr_nonnull(pristine);
	memcpy(pristine, area.header, area.length);
	atexit(end);
}

/*
 * Words of four bytes near the start of a page: which page, where, how many, and
 * they. All that a reader looks at begins there.
 */
static void change(struct input *in)
{
	size_t page = number(in, 1) % (area.length / PAGE);
	char *at = (char *)area.header + page * PAGE + number(in, 1) * 4;
	size_t length = number(in, 1) % 16 * 4;

	if (length > (size_t)(in->end - in->at))
		length = (size_t)(in->end - in->at);
	memcpy(at, in->at, length);
	in->at += length;
}

static struct kmmv_ring *open_ring(void)
{
	struct kmmv_ring *ring = NULL;
	int err = kmmv_ring_open(area.dir, "test", &ring);

	if (err) {
		ck_assert_str_ne(kmmv_ring_error(NULL), "");
		ck_assert_ptr_null(ring);
		return NULL;
	}
	ring->ioctl = ring_kernel_ioctl;
	ring->private = &simulated;
	return ring;
}

static int read_one(struct kmmv_ring *ring)
{
	static const struct kmmv_field_info text = { .kind = KMMV_TEXT };
	struct kmmv_ring_info info;
	struct kmmv_record record;
	char line[64];
	int got = kmmv_ring_next(ring, &record);

	if (got < 0)
		ck_assert_str_ne(kmmv_ring_error(ring), "");
	if (got <= 0)
		return got;
	ck_assert_int_eq(got, 1);
	kmmv_ring_get_info(ring, &info);
	ck_assert_uint_lt(record.cpu, info.nr_cpus);
	ck_assert_uint_lt(record.size, info.page_size);
	ck_assert(record.type || record.lost || record.dropped);
	ck_assert_int_ge(kmmv_field_text(&text, &record, line, sizeof(line)),
			 0);
	return 1;
}

static void step(struct kmmv_ring *ring, enum step what, struct input *in)
{
	struct kmmv_ring_stats stats;
	struct kmmv_ring_info info;
	uint64_t realtime;
	uint32_t n;

	switch (what) {
	case READ_ONE:
		read_one(ring);
		break;
	case READ_ALL:
		for (n = 0; read_one(ring) == 1; n++)
			ck_assert_uint_lt(n, MOST);
		break;
	case SEEK:
		ck_assert_int_ne(kmmv_ring_seek(ring, number(in, 1) & 1),
				 -EINVAL);
		break;
	case STATS:
		kmmv_ring_get_stats(ring, (uint32_t)number(in, 1), &stats);
		kmmv_ring_get_stats(ring, KMMV_RING_ALL_CPUS, &stats);
		break;
	case REALTIME:
		kmmv_ring_realtime(ring, number(in, 8), &realtime);
		break;
	default:
		kmmv_ring_get_info(ring, &info);
		ck_assert_uint_le(info.nr_alive, info.nr_cpus);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, data + size };
	struct kmmv_ring *ring = NULL;
	enum step what;

	if (!pristine)
		begin();
	memcpy(area.header, pristine, area.length);
	while (in.at < in.end) {
		what = number(&in, 1) % STEPS;
		if (what == CHANGE) {
			change(&in);
			continue;
		}
		if (what == CLOSE) {
			kmmv_ring_close(ring);
			ring = NULL;
			continue;
		}
		ring = ring ?: open_ring();
		if (ring)
			step(ring, what, &in);
	}
	kmmv_ring_close(ring);
	return 0;
}
