// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opening: which headers are accepted; any other only costs an error. libopen-files.c
 * has the files.
 */
#include "handle.h"
#include "libopen.h"

static void setup(void)
{
	area_small(&area, true);
}

static void teardown(void)
{
	area_fini(&area);
}

/* As files, and shared. */
static void check_open(int expected, const char *words)
{
	struct kmmv *k;
	int pass, err;

	for (pass = 0; pass < 2; pass++) {
		if (pass)
			area_share(&area);
		else
			area_put_files(&area);
		err = area_open(&area, &k);
		ck_assert_msg(err == expected, "%s: %d, expected %d: %s",
			      pass ? "shared" : "files", err, expected,
			      kmmv_error(NULL));
		if (err)
			ck_assert_msg(strstr(kmmv_error(NULL), words) != NULL,
				      "\"%s\" lacks \"%s\"", kmmv_error(NULL),
				      words);
		else
			area_use(k);
		kmmv_close(k);
	}
}

START_TEST(good)
{
	const struct kmmv_instance_info *in;
	const struct kmmv_family_info *f;
	struct kmmv_info info;
	struct kmmv *k;

	area_put_files(&area);
	ck_assert_int_eq(area_open(&area, &k), 0);
	kmmv_get_info(k, &info);
	ck_assert_uint_eq(info.major, 1);
	ck_assert_uint_eq(info.minor, 0);
	ck_assert_uint_eq(info.features, KMMV_F_ATOMIC64);
	ck_assert_uint_eq(info.epoch, EPOCH);
	ck_assert_uint_eq(info.generation, 1);
	ck_assert_uint_eq(info.page_size, PAGE);
	ck_assert_uint_eq(info.nr_cpus, 4);
	ck_assert_uint_eq(info.nr_possible, 3);
	ck_assert_uint_eq(info.nr_online, 2);
	ck_assert_uint_eq(info.capacity, 16);
	ck_assert_uint_eq(info.nr_instances, 8);
	ck_assert_uint_eq(info.slots_free, 8);
	ck_assert_uint_eq(info.nr_families, 2);
	ck_assert_uint_eq(info.mapped, 0);
	ck_assert(!info.live);
	ck_assert(kmmv_cpu_possible(k, 3) && !kmmv_cpu_possible(k, 2));
	ck_assert(kmmv_cpu_online(k, 1) && !kmmv_cpu_online(k, 3));

	f = kmmv_family(k, 0);
	ck_assert_str_eq(f->name, "counter");
	ck_assert_str_eq(f->units, "count");
	ck_assert_str_eq(f->oneline, "Counters of kernel code");
	ck_assert_str_eq(f->help, "First line.\nSecond \\ line.");
	ck_assert(!f->since_boot && f->total && f->source);
	ck_assert_int_eq(f->semantics, KMMV_SEM_COUNTER);
	f = kmmv_family_by_id(k, 7);
	ck_assert_ptr_eq(f, kmmv_family(k, 1));
	ck_assert_str_eq(f->name, "mem.used");
	ck_assert_str_eq(f->help, "");
	ck_assert(f->since_boot && !f->total);
	ck_assert_int_eq(f->semantics, KMMV_SEM_INSTANT);
	ck_assert_ptr_null(kmmv_family(k, 2));
	ck_assert_ptr_null(kmmv_family_by_id(k, 1));

	in = kmmv_instance(k, 1);
	ck_assert_str_eq(in->name, "one = 1\\2");
	ck_assert_str_eq(in->label_key, "action");
	ck_assert_str_eq(in->label, "blk=1 2");
	ck_assert_int_eq(in->state, KMMV_INACTIVE);
	in = kmmv_instance(k, 3);
	ck_assert_str_eq(in->name, "\xc3\xa4\xff");
	ck_assert_ptr_null(in->label);
	ck_assert_uint_eq(in->incarnation, 5);
	ck_assert_uint_eq(in->family, 7);
	ck_assert_int_eq(kmmv_instance(k, 4)->state, KMMV_FREE);
	ck_assert_ptr_null(kmmv_instance(k, 5));
	ck_assert_uint_eq(kmmv_lookup(k, "counter", "zero")->number, 0);
	ck_assert_uint_eq(kmmv_lookup(k, "mem.used", "zero")->number, 2);
	ck_assert_ptr_null(kmmv_lookup(k, "counter", "two"));
	ck_assert_ptr_null(kmmv_lookup(k, "counter", ""));
	ck_assert_ptr_null(kmmv_lookup(k, "mem", "zero"));
	ck_assert_int_eq(kmmv_pollfd(k), -ENODEV);
	ck_assert_int_eq(kmmv_wait(k, 0), -ENODEV);
	ck_assert_int_eq(kmmv_refresh(k, 0, NULL), 0);
	area_use(k);
	kmmv_close(k);
	kmmv_close(NULL);
}
END_TEST

START_TEST(shared)
{
	struct kmmv_info info;
	struct kmmv *k;

	area_share(&area);
	ck_assert_int_eq(area_open(&area, &k), 0);
	kmmv_get_info(k, &info);
	ck_assert(info.live);
	ck_assert_uint_eq(info.mapped, area.length);
	area_use(k);
	kmmv_close(k);
}
END_TEST

/* The CPU masks may be anywhere behind the header, in any order, to the page's end. */
START_TEST(masks_at_the_end)
{
	uint32_t end = 4096 - area.header->mask_size;
	uint32_t before = end - area.header->mask_size;
	int swapped = _i;

	area.header->possible_offset = swapped ? end : before;
	area.header->online_offset = swapped ? before : end;
	area_mask(&area, area.header->possible_offset)[0] = 0xb;
	area_mask(&area, area.header->online_offset)[0] = 0x3;
	check_open(0, "");
}
END_TEST

START_TEST(tolerated)
{
	struct kmmv *k;
	char *more;

	/* A greater minor, compatible bits, a longer header. */
	area.header->minor = 9;
	area.header->features_compat |= 0xf0f0f0f0f0f0f0f0;
	area.header->size = 512;
	area.header->possible_offset = 512;
	area.header->online_offset = 1024;
	area_mask(&area, 512)[0] = 0xb;
	area_mask(&area, 1024)[0] = 0x3;
	memset(area.header->reserved, 0xff, sizeof(area.header->reserved));
	check_open(0, "");

	/* Longer than it has to be. */
	more = calloc(1, area.length + 100);
	memcpy(more, area.header, area.length);
	area_put_files(&area);
	area_put(&area, "counters", more, area.length + 100);
	free(more);
	ck_assert_int_eq(area_open(&area, &k), 0);
	area_use(k);
	kmmv_close(k);
}
END_TEST

#define FIELD(name) { #name, offsetof(struct kmmv_header, name),	\
		      sizeof(((struct kmmv_header *)0)->name) }

static const struct {
	const char *name;
	size_t offset, size;
} fields[] = {
	FIELD(magic), FIELD(major), FIELD(minor), FIELD(size),
	FIELD(features_compat), FIELD(features_incompat), FIELD(epoch),
	FIELD(gen1), FIELD(gen2), FIELD(page_size), FIELD(nr_cpus),
	FIELD(capacity), FIELD(nr_instances), FIELD(cpu_offset),
	FIELD(cpu_stride), FIELD(counter_offset), FIELD(incarnation_offset),
	FIELD(length), FIELD(possible_offset), FIELD(online_offset),
	FIELD(mask_size), FIELD(slots_free),
};

enum { NR_FIELDS = sizeof(fields) / sizeof(fields[0]) };

static uint64_t extreme(uint64_t old, int i)
{
	const uint64_t values[] = {
		0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 63, 64, 65, 127, 191, 192,
		200, 4088, 4095, 4096, 4097, 8191, 8192, 16384, 65536, 1 << 20,
		1 << 21, 0x7fffffff, 0x80000000, 0xfffff000, 0xffffffff,
		0x100000000, 0x7fffffffffffffff, 0x8000000000000000,
		0xfffffffffffff000, 0xfffffffffffffff8, 0xffffffffffffffff,
		old - 1, old + 1, old + 8, old * 2, old - 4096, old + 4096,
		~old, old ^ 1ULL << 31, old ^ 1ULL << 63,
	};

	return i < (int)(sizeof(values) / sizeof(values[0])) ? values[i] : old;
}

/* Any value of a field: an error, or a valid handle. */
START_TEST(extremes)
{
	size_t offset = fields[_i].offset, size = fields[_i].size;
	uint64_t value, old = 0;
	struct kmmv *k;
	int i, pass;

	memcpy(&old, (char *)area.header + offset, size);
	for (i = 0; i < 48; i++) {
		value = extreme(old, i);
		memcpy((char *)area.header + offset, &value, size);
		for (pass = 0; pass < 2; pass++) {
			/*
			 * Waiting for a generation that does not come takes
			 * time.
			 */
			if (pass && !strncmp(fields[_i].name, "gen", 3) &&
			    i % 12)
				continue;
			if (pass)
				area_share(&area);
			else
				area_put_files(&area);
			if (!area_open(&area, &k))
				area_use(k);
			else
				ck_assert_str_ne(kmmv_error(NULL), "");
			kmmv_close(k);
		}
		if (area.fd >= 0)
			close(area.fd);
		area.fd = -1;
	}
}
END_TEST

static const struct {
	size_t field, size;
	uint64_t value;
	int err;
	const char *words;
} hostile[] = {
#define SET(name, value, err, words) {					\
	offsetof(struct kmmv_header, name),				\
	sizeof(((struct kmmv_header *)0)->name), value, err, words }
	SET(magic, 0, -EPROTO, "not a kmmv file"),
	SET(magic, 0x73727463766d6d6b, -EPROTO, "other byte order"),
	SET(major, 0, -EOPNOTSUPP, "ABI 0.0"),
	SET(major, 2, -EOPNOTSUPP, "ABI 2.0"),
	SET(features_incompat, 1, -EOPNOTSUPP, "needs features 0x1"),
	SET(features_incompat, 1ULL << 63, -EOPNOTSUPP, "features 0x8000"),
	SET(size, 191, -EBADMSG, "header of 191"),
	SET(size, 8192, -EBADMSG, "header of 8192"),
	SET(epoch, 0, -EBADMSG, "epoch 0"),
	SET(page_size, 0, -EBADMSG, "page size 0"),
	SET(page_size, 2048, -EBADMSG, "page size 2048"),
	SET(page_size, 4097, -EBADMSG, "page size 4097"),
	SET(page_size, 1 << 21, -EBADMSG, "page size 2097152"),
	SET(nr_cpus, 0, -EBADMSG, "no CPU"),
	SET(nr_cpus, 5, -EBADMSG, "5 CPU areas"),
	SET(nr_cpus, 65, -EBADMSG, "65 CPUs"),
	SET(nr_cpus, 3, -EBADMSG, "CPU 3 is possible, of 3"),
	SET(nr_cpus, UINT32_MAX, -EBADMSG, "CPUs"),
	SET(capacity, 0, -EBADMSG, "capacity 0"),
	SET(capacity, 7, -EBADMSG, "8 instances, capacity 7"),
	SET(capacity, 513, -EBADMSG, "areas of 0x1000 bytes"),
	SET(capacity, UINT32_MAX, -EBADMSG, "incarnations"),
	SET(nr_instances, 17, -EBADMSG, "17 instances"),
	SET(nr_instances, 4, -EBADMSG, "instance 4 of 4"),
	SET(cpu_offset, 0, -EBADMSG, "CPU areas at 0"),
	SET(cpu_offset, 4096, -EBADMSG, "overlap"),
	SET(cpu_offset, 8200, -EBADMSG, "CPU areas"),
	SET(cpu_offset, 0xfffffffffffff000, -EBADMSG, "CPU areas"),
	SET(cpu_stride, 0, -EBADMSG, "areas of 0 bytes"),
	SET(cpu_stride, 4104, -EBADMSG, "areas of 0x1008 bytes"),
	SET(cpu_stride, 1ULL << 63, -EBADMSG, "CPU areas"),
	SET(cpu_stride, 8192, -EBADMSG, "CPU areas"),
	SET(counter_offset, 4, -EBADMSG, "counters at 0x4"),
	SET(counter_offset, 4096, -EBADMSG, "areas of 0x1000"),
	SET(counter_offset, 0xfffffffffffffff8, -EBADMSG, "counters at"),
	SET(incarnation_offset, 0, -EBADMSG, "incarnations at 0"),
	SET(incarnation_offset, 4100, -EBADMSG, "incarnations at"),
	SET(incarnation_offset, 8192, -EBADMSG, "overlap"),
	SET(incarnation_offset, 24576, -EBADMSG, "incarnations at"),
	SET(incarnation_offset, 0xfffffffffffff000, -EBADMSG, "incarnations"),
	SET(length, 0, -EBADMSG, "incarnations"),
	SET(length, 24575, -EBADMSG, "CPU areas"),
	SET(length, 24577, -ENODATA, "truncated"),
	SET(length, UINT64_MAX, -ENODATA, "truncated"),
	SET(possible_offset, 184, -EBADMSG, "possible CPUs at 184"),
	SET(possible_offset, 196, -EBADMSG, "possible CPUs at 196"),
	SET(possible_offset, 200, -EBADMSG, "masks overlap"),
	SET(possible_offset, 4096, -EBADMSG, "possible CPUs at 4096"),
	SET(possible_offset, 0xfffffff8, -EBADMSG, "possible CPUs at"),
	SET(possible_offset, 1024, -EBADMSG, "no CPU is possible"),
	SET(online_offset, 0, -EBADMSG, "online CPUs at 0"),
	SET(online_offset, 4090, -EBADMSG, "online CPUs at 4090"),
	SET(online_offset, 4096, -EBADMSG, "online CPUs at 4096"),
	SET(mask_size, 0, -EBADMSG, "masks of 0 bytes"),
	SET(mask_size, 7, -EBADMSG, "masks of 7 bytes"),
	SET(mask_size, 16, -EBADMSG, "masks overlap"),
	SET(mask_size, 0xfffffff8, -EBADMSG, "possible CPUs"),
};

START_TEST(hostile_header)
{
	memcpy((char *)area.header + hostile[_i].field, &hostile[_i].value,
	       hostile[_i].size);
	check_open(hostile[_i].err, hostile[_i].words);
}
END_TEST

/* Without ATOMIC64 counters need room for pairs. */
START_TEST(no_room_for_pair)
{
	area.header->features_compat = 0;
	check_open(-EBADMSG, "counters at 0");
}
END_TEST

/* Files do not change: waiting is useless. */
START_TEST(generations_differ)
{
	static const struct {
		uint64_t gen1, gen2;
		const char *words;
	} cases[] = {
		{ 2, 1, "copied amid a change" },
		{ 2, 2, "capture them again" },
		{ 0, 0, "capture them again" },
		{ UINT64_MAX, UINT64_MAX, "capture them again" },
	};
	struct kmmv *k;

	area.header->gen1 = cases[_i].gen1;
	area.header->gen2 = cases[_i].gen2;
	area_put_files(&area);
	ck_assert_int_eq(area_open(&area, &k), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(kmmv_error(NULL), cases[_i].words));
}
END_TEST

START_TEST(online_impossible)
{
	area_mask(&area, area.header->online_offset)[0] = 0x4;
	check_open(-EBADMSG, "online that is not possible");
}
END_TEST

START_TEST(copied_amid_update)
{
	struct kmmv *k;

	area_fini(&area);
	area_small(&area, false);
	area_put_files(&area);
	ck_assert_int_eq(area_open(&area, &k), 0);
	area_use(k);
	kmmv_close(k);

	area_pair(&area, 3)->begun++;
	area_put_files(&area);
	ck_assert_int_eq(area_open(&area, &k), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(kmmv_error(NULL), "kmmvdump --capture"));
}
END_TEST

/* A device's length is known only to mmap(2), which takes no more than this. */
START_TEST(longer_than_addresses)
{
	struct kmmv *k;

	area_share(&area);
	ck_assert_int_eq(area_open(&area, &k), 0);
	k->header.length = PTRDIFF_MAX;
	ck_assert_int_eq(kmmv_geometry_check(k, UINT64_MAX), 0);
	k->header.length++;
	ck_assert_int_eq(kmmv_geometry_check(k, UINT64_MAX), -ENOMEM);
	ck_assert_ptr_nonnull(strstr(kmmv_error(k), "too long for this machine"));
	kmmv_close(k);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("open");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, good);
	tcase_add_test(tcase, shared);
	tcase_add_loop_test(tcase, masks_at_the_end, 0, 2);
	tcase_add_test(tcase, tolerated);
	tcase_add_loop_test(tcase, extremes, 0, NR_FIELDS);
	tcase_add_loop_test(tcase, hostile_header, 0,
			    sizeof(hostile) / sizeof(hostile[0]));
	tcase_add_test(tcase, no_room_for_pair);
	tcase_add_loop_test(tcase, generations_differ, 0, 4);
	tcase_add_test(tcase, online_impossible);
	tcase_add_test(tcase, copied_amid_update);
	tcase_add_test(tcase, longer_than_addresses);
	add_files(tcase);
	return run_suite("libopen", tcase);
}
