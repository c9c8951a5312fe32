// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opening rings: headers, files, CPUs that come later, memory that runs out.
 */
#include "libring-expect.h"

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
	ck_assert_int_eq(kmmv_ring_open(area.dir, "", &r), -EINVAL);
	ck_assert_int_eq(kmmv_ring_open(area.dir, "..", &r), -EINVAL);
	ck_assert_int_eq(kmmv_ring_open(area.dir, "../ring/test", &r), -EINVAL);
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

int allocations_left = -1;

static bool has_memory(void)
{
	if (allocations_left < 0 || allocations_left--)
		return true;
	errno = ENOMEM;
	return false;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__real_reallocarray(void *old, size_t n, size_t size);
void *__wrap_reallocarray(void *old, size_t n, size_t size);

void *__wrap_malloc(size_t size)
{
	return has_memory() ? __real_malloc(size) : NULL;
}

void *__wrap_calloc(size_t n, size_t size)
{
	return has_memory() ? __real_calloc(n, size) : NULL;
}

void *__wrap_reallocarray(void *old, size_t n, size_t size)
{
	return has_memory() ? __real_reallocarray(old, n, size) : NULL;
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
		allocations_left = n;
		if (kmmv_ring_next(ring, &record) != -ENOMEM)
			break;
		ck_assert_ptr_nonnull(strstr(kmmv_ring_error(ring), "memory"));
		refused++;
	}
	allocations_left = -1;
	ck_assert_int_eq(refused, 4);
	ck_assert_uint_eq(record.time, 100);
	expect(2, 200, 2);
	expect_none();
}
END_TEST

/*
 * A seek or a claim fails, as there is no memory for a CPU that has come. The
 * handle goes on, with all CPUs, and releases nothing that it did not take.
 */
START_TEST(begin_again_without_memory)
{
	struct kmmv_record record;
	uint32_t cpu, n, seen = 0;
	bool claim = _i;

	teardown();
	ring_init(&area, RING_CPUS_MAX, 4, 2);
	*ring_mask(&area, area.header->alive_offset) = 0x7f;
	ring = ring_open(&area, &kernel);
	for (n = 0; n < 9; n++) {
		ring_hit(&area, 0, 100 + n, 1);
		ring_hit(&area, 1, 200 + n, 1);
	}
	for (n = 0; n < 3; n++)
		expect(0, 100 + n, 1);
	ring_alive(&area, 7);
	allocations_left = claim;
	ck_assert_int_eq(claim ? kmmv_ring_claim(ring) :
				 kmmv_ring_seek(ring, false), -ENOMEM);
	allocations_left = -1;
	for (cpu = 2; cpu < RING_CPUS_MAX; cpu++)
		for (n = 0; n < 3; n++)
			ring_hit(&area, cpu, 300 + n, 1);
	for (cpu = 0; claim && cpu < RING_CPUS_MAX; cpu++)
		ring_take(&kernel, &area, cpu, 0);
	for (n = 0; kmmv_ring_next(ring, &record) == 1; n++) {
		if (!n)
			ck_assert_uint_eq(kernel.nr_released, 0);
		ck_assert_uint_eq(record.lost, 0);
		seen |= 1U << record.cpu;
	}
	ck_assert_uint_eq(n, 2 * 9 + 6 * 3);
	ck_assert_uint_eq(seen, 0xff);
}
END_TEST

void add_open(TCase *tcase)
{
	tcase_add_test(tcase, info);
	tcase_add_test(tcase, headers);
	tcase_add_test(tcase, files);
	tcase_add_test(tcase, not_alive);
	tcase_add_test(tcase, no_memory);
	tcase_add_loop_test(tcase, begin_again_without_memory, 0, 2);
}
