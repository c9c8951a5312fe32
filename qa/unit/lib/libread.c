// SPDX-License-Identifier: GPL-2.0-only
/*
 * Values at rest: sums, per CPU, all, their owners, and copies of an area.
 */
#include <poll.h>
#include "libarea.h"
#include "handle.h"
#include "random.h"

static struct area area;
static struct kmmv *k;

static void setup(void)
{
}

static void teardown(void)
{
	kmmv_close(k);
	area_fini(&area);
}

/* Files or shared, with or without the feature: four ways. */
static void open_as(int way)
{
	if (way & 1)
		area_share(&area);
	else
		area_put_files(&area);
	ck_assert_int_eq(area_open(&area, &k), 0);
}

static short polled;

/* Replaces the C library's, to answer like a device's file. */
int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	(void)n;
	(void)timeout;
	fds->revents = polled;
	return polled != 0;
}

/* The file refuses one waiter too many, unless there is a change. */
START_TEST(refused_waiter)
{
	area_small(&area, false);
	open_as(0);
	k->kind = KMMV_DEVICE;
	polled = 0;
	ck_assert_int_eq(kmmv_wait(k, 0), 0);
	polled = POLLIN | POLLERR;
	ck_assert_int_eq(kmmv_wait(k, 0), 1);
	polled = POLLERR;
	ck_assert_int_eq(kmmv_wait(k, 0), -EUSERS);
	k->kind = KMMV_CAPTURED;
}
END_TEST

START_TEST(small)
{
	const uint32_t numbers[] = { 3, 0, 5, 2, 4, 1, 99, 3 };
	const int expected[] = { 0, 0, -ENOENT, 0, -ENOENT, 0, -ENOENT, 0 };
	uint64_t sums[8], values[8 * 4];
	int status[8];
	uint32_t cpu, i;

	area_small(&area, _i & 2);
	open_as(_i);
	ck_assert_int_eq(kmmv_read_sums(k, numbers, 8, sums, status), 5);
	ck_assert_int_eq(kmmv_read_percpu(k, numbers, 8, values, NULL), 5);
	for (i = 0; i < 8; i++) {
		ck_assert_int_eq(status[i], expected[i]);
		ck_assert_uint_eq(sums[i], expected[i] ? 0 :
					   area_small_sum(numbers[i]));
		for (cpu = 0; cpu < 4; cpu++)
			ck_assert_uint_eq(values[i * 4 + cpu],
					  expected[i] || cpu == 2 ? 0 :
					  *area_value(&area, cpu, numbers[i]));
	}
	memset(sums, 0xff, sizeof(sums));
	ck_assert_int_eq(kmmv_read_all(k, sums, status, 5), 4);
	for (i = 0; i < 4; i++)
		ck_assert_uint_eq(sums[i], area_small_sum(i));
	ck_assert_uint_eq(sums[4], 0);
	ck_assert_int_eq(status[4], -ENOENT);
	ck_assert_uint_eq(sums[5], UINT64_MAX);
	ck_assert_int_eq(kmmv_read_all(k, sums, NULL, 0), 0);
	ck_assert_int_eq(kmmv_read_sums(k, numbers, 0, sums, NULL), 0);
	ck_assert_int_eq(kmmv_read_percpu(k, numbers, 0, values, NULL), 0);
}
END_TEST

/* The number belongs to another instance: never a value. */
START_TEST(stale)
{
	const uint32_t numbers[] = { 2, 3 };
	uint64_t sums[5], values[2 * 4];
	int status[5];

	area_small(&area, _i & 2);
	area_share(&area);
	ck_assert_int_eq(area_open(&area, &k), 0);
	++*area_incarnation(&area, 3);
	ck_assert_int_eq(kmmv_read_sums(k, numbers, 2, sums, status), 1);
	ck_assert_int_eq(status[1], -ESTALE);
	ck_assert_uint_eq(sums[1], 0);
	ck_assert_int_eq(kmmv_read_percpu(k, numbers, 2, values, status), 1);
	ck_assert_int_eq(status[1], -ESTALE);
	ck_assert_uint_eq(values[4] | values[5] | values[7], 0);
	ck_assert_int_eq(kmmv_read_all(k, sums, status, 5), 3);
	ck_assert_int_eq(status[3], -ESTALE);
	ck_assert_uint_eq(sums[3], 0);
	ck_assert_int_eq(kmmv_read_all(k, sums, NULL, 5), 3);
	ck_assert_uint_eq(sums[3], 0);
}
END_TEST

/* A pair that never agrees: only that CPU's value is missing. */
START_TEST(pair_at_odds)
{
	const uint32_t numbers[] = { 0 };
	uint64_t sums[5], values[4];
	struct kmmv_info info;
	int status[5];

	area_small(&area, false);
	area_share(&area);
	ck_assert_int_eq(area_open(&area, &k), 0);
	area_pair(&area, 1)->begun++;
	ck_assert_int_eq(kmmv_read_sums(k, numbers, 1, sums, status), 0);
	ck_assert_int_eq(status[0], -EAGAIN);
	ck_assert_uint_eq(sums[0], 0);
	ck_assert_int_eq(kmmv_read_percpu(k, numbers, 1, values, status), 0);
	ck_assert_int_eq(status[0], -EAGAIN);
	ck_assert_uint_eq(values[0], 0);
	ck_assert_int_eq(kmmv_read_all(k, sums, status, 5), 0);
	ck_assert_int_eq(status[4], -ENOENT);
	kmmv_get_info(k, &info);
	ck_assert_uint_gt(info.retries, 0);
	area_pair(&area, 1)->done++;
	ck_assert_int_eq(kmmv_read_all(k, sums, status, 5), 4);
	ck_assert_uint_eq(sums[1], area_small_sum(1));
}
END_TEST

/* An area with several of each: CPUs, families, states, labels, holes. */
static void area_random(uint32_t nr_cpus, uint32_t capacity, uint32_t nr,
			bool atomic)
{
	static const char *const states[] = { "active", "inactive", "free" };
	struct kmmv_header *h;
	uint32_t cpu, n;
	uint64_t *possible, *online;

	area_init(&area, nr_cpus, capacity, nr, atomic);
	h = area.header;
	h->gen1 = h->gen2 = 0xfedcba9876543210;
	h->epoch = UINT64_MAX - 5;
	possible = area_mask(&area, h->possible_offset);
	online = area_mask(&area, h->online_offset);
	for (cpu = 1; cpu < nr_cpus; cpu++) {
		if (random64() % 4 == 0)
			possible[cpu / 64] &= ~(1ULL << cpu % 64);
		if (random64() % 4 == 0)
			online[cpu / 64] &= ~(1ULL << cpu % 64);
	}
	for (n = 0; n < h->mask_size / 8; n++)
		online[n] &= possible[n];
	for (cpu = 0; cpu < nr_cpus; cpu++)
		for (n = 0; n < nr; n++)
			*area_value(&area, cpu, n) = random64();
	area_names(&area, "kmmv abi=1.0 epoch=%" PRIu64 "\n",
		   (uint64_t)h->epoch);
	for (n = 0; n < 3; n++)
		area_names(&area, "family id=%u units=count semantics=%s name=f%u\n"
				  "oneline id=%u text=\\\\%u\nhelp id=%u text=\\n\\n\n",
			   n * 5, n ? "discrete" : "counter", n, n * 5, n,
			   n * 5);
	for (n = 0; n < nr; n++) {
		uint64_t r = random64();

		*area_incarnation(&area, n) = (uint32_t)(r >> 40) % 3;
		if (r % 8 == 7)
			continue; /* has no record at all */
		area_names(&area,
			   "instance number=%u family=%u incarnation=%u state=%s name=%s%u\n",
			   n, n % 3 * 5, *area_incarnation(&area, n),
			   states[r % 3], r & 16 ? "\\\\ = \xff" : "",
			   n);
		if (r % 3 < 2 && r & 32)
			area_names(&area,
				   "label number=%u incarnation=%u key=k_1 text=\\\\%u\n",
				   n, *area_incarnation(&area, n), n);
	}
	area_names(&area, "end %" PRIu64 "\n", (uint64_t)h->gen2);
}

/* All ways to read return the values of the area. */
static void check_ways(uint32_t nr)
{
	uint64_t *all = calloc(nr, 8), *sums = calloc(nr, 8), *values, expected;
	int *a = calloc(nr, sizeof(int)), *s = calloc(nr, sizeof(int));
	uint32_t *numbers = calloc(nr, 4), nr_cpus = k->header.nr_cpus, n, cpu;
	const struct kmmv_instance_info *in;
	int status, valid;

	values = calloc(nr_cpus, 8);
	for (n = 0; n < nr; n++)
		numbers[n] = n % 7 ? n : nr - 1 - n;
	valid = kmmv_read_all(k, all, a, nr);
	kmmv_read_sums(k, numbers, nr, sums, s);
	for (n = 0; n < nr; n++) {
		ck_assert_uint_eq(sums[n], all[numbers[n]]);
		ck_assert_int_eq(s[n], a[numbers[n]]);
	}
	for (n = 0; n < nr; n++) {
		in = kmmv_instance(k, n);
		kmmv_read_percpu(k, &n, 1, values, &status);
		ck_assert_int_eq(status, in && in->state != KMMV_FREE ? 0 :
								-ENOENT);
		ck_assert_int_eq(status, a[n]);
		valid -= !status;
		for (expected = cpu = 0; cpu < nr_cpus; cpu++) {
			ck_assert_uint_eq(values[cpu],
					  status || !kmmv_cpu_possible(k, cpu) ?
					  0 : *area_value(&area, cpu, n));
			expected += values[cpu];
		}
		ck_assert_uint_eq(all[n], expected);
	}
	ck_assert_int_eq(valid, 0);
	free(all);
	free(sums);
	free(values);
	free(a);
	free(s);
	free(numbers);
}

static const struct {
	uint32_t nr_cpus, capacity, nr;
} sizes[] = {
	{ 1, 1, 1 }, { 3, 600, 512 }, { 4, 4096, 513 }, { 64, 1100, 1025 },
	{ 65, 2000, 1535 }, { 131, 700, 511 }, { 2, 10, 0 },
};

enum { NR_SIZES = sizeof(sizes) / sizeof(sizes[0]) };

START_TEST(all_ways)
{
	area_random(sizes[_i / 4].nr_cpus, sizes[_i / 4].capacity,
		    sizes[_i / 4].nr, _i & 2);
	open_as(_i);
	check_ways(sizes[_i / 4].nr);
	area_use(k);
}
END_TEST

/* Whatever remains when CPUs are added four at a time. */
START_TEST(sums_of_few_cpus)
{
	enum { NR = 9 };
	uint32_t nr_cpus = (uint32_t)_i / 4 + 1, cpu, n;
	uint64_t sums[NR], expected;
	int status[NR];

	area_init(&area, nr_cpus, 16, NR, _i & 2);
	area_names(&area, "kmmv abi=1.0 epoch=77\n"
			  "family id=0 units=count semantics=counter name=counter\n");
	for (n = 0; n < NR; n++) {
		area_names(&area, "instance number=%u family=0 incarnation=0 state=active name=n%u\n",
			   n, n);
		for (cpu = 0; cpu < nr_cpus; cpu++)
			*area_value(&area, cpu, n) = random64();
	}
	area_names(&area, "end 1\n");
	open_as(_i);
	ck_assert_int_eq(kmmv_read_all(k, sums, status, NR), NR);
	for (n = 0; n < NR; n++) {
		for (expected = cpu = 0; cpu < nr_cpus; cpu++)
			expected += *area_value(&area, cpu, n);
		ck_assert_uint_eq(sums[n], expected);
	}
	area_use(k);
}
END_TEST

static void check_same(const struct kmmv *a, const struct kmmv *b)
{
	const struct kmmv_instance_info *x, *y;
	const struct kmmv_family_info *f, *g;
	struct kmmv_info i, j;
	uint32_t n;

	kmmv_get_info(a, &i);
	kmmv_get_info(b, &j);
	ck_assert_uint_eq(i.epoch, j.epoch);
	ck_assert_uint_eq(i.generation, j.generation);
	ck_assert_uint_eq(i.page_size, j.page_size);
	ck_assert_uint_eq(i.nr_cpus, j.nr_cpus);
	ck_assert_uint_eq(i.nr_possible, j.nr_possible);
	ck_assert_uint_eq(i.nr_online, j.nr_online);
	ck_assert_uint_eq(i.nr_instances, j.nr_instances);
	/* A copy has no capacity beyond its instances. */
	ck_assert_uint_eq(i.capacity - i.slots_free, j.capacity - j.slots_free);
	ck_assert_uint_eq(i.nr_families, j.nr_families);
	for (n = 0; n < i.nr_cpus; n++) {
		ck_assert(kmmv_cpu_possible(a, n) == kmmv_cpu_possible(b, n));
		ck_assert(kmmv_cpu_online(a, n) == kmmv_cpu_online(b, n));
	}
	for (n = 0; n < i.nr_families; n++) {
		f = kmmv_family(a, n);
		g = kmmv_family(b, n);
		ck_assert_uint_eq(f->id, g->id);
		ck_assert_int_eq(f->semantics, g->semantics);
		ck_assert_str_eq(f->name, g->name);
		ck_assert_str_eq(f->units, g->units);
		ck_assert_str_eq(f->oneline, g->oneline);
		ck_assert_str_eq(f->help, g->help);
	}
	for (n = 0; n < i.nr_instances; n++) {
		x = kmmv_instance(a, n);
		y = kmmv_instance(b, n);
		ck_assert(!x == !y);
		if (!x)
			continue;
		ck_assert_uint_eq(x->incarnation, y->incarnation);
		ck_assert_uint_eq(x->family, y->family);
		ck_assert_int_eq(x->state, y->state);
		ck_assert_str_eq(x->name, y->name);
		ck_assert_pstr_eq(x->label_key, y->label_key);
		ck_assert_pstr_eq(x->label, y->label);
	}
}

/* A copy, and a copy of the copy, equal the original. */
START_TEST(captured)
{
	char first[80], second[80];
	struct kmmv *copy;

	area_random(sizes[_i / 4].nr_cpus, sizes[_i / 4].capacity,
		    sizes[_i / 4].nr, _i & 2);
	open_as(_i);
	snprintf(first, sizeof(first), "%s/first", area.dir);
	snprintf(second, sizeof(second), "%s/second", area.dir);
	ck_assert_int_eq(kmmv_capture(k, first), 0);
	ck_assert_int_eq(kmmv_capture(k, first), 0);
	ck_assert_int_eq(kmmv_open(first, &copy), 0);
	check_same(k, copy);
	ck_assert_int_eq(kmmv_capture(copy, second), 0);
	/* check_ways() reads from the copies' handles. */
	kmmv_close(k);
	kmmv_close(copy);
	ck_assert_int_eq(kmmv_open(first, &copy), 0);
	ck_assert_int_eq(kmmv_open(second, &k), 0);
	check_same(k, copy);
	check_ways(sizes[_i / 4].nr);
	kmmv_close(copy);
	area_remove(first);
	area_remove(second);
}
END_TEST

/* None is free of those that the copy leaves out, whatever the header says. */
START_TEST(captured_full)
{
	struct kmmv_info info;
	struct kmmv *copy;
	char dir[80];

	area_small(&area, true);
	area.header->slots_free = 0;
	open_as(1);
	snprintf(dir, sizeof(dir), "%s/full", area.dir);
	ck_assert_int_eq(kmmv_capture(k, dir), 0);
	ck_assert_int_eq(kmmv_open(dir, &copy), 0);
	kmmv_get_info(copy, &info);
	ck_assert_uint_eq(info.slots_free, 0);
	kmmv_close(copy);
	area_remove(dir);
}
END_TEST

START_TEST(not_captured)
{
	char blocked[80];

	area_small(&area, true);
	open_as(1);
	/* A link to a live area is not replaced by a copy. */
	ck_assert_int_eq(kmmv_capture(k, area.dir), -EEXIST);
	ck_assert_ptr_nonnull(strstr(kmmv_error(k), "counters"));
	ck_assert_int_eq(kmmv_capture(k, "/nonexistent/dir"), -ENOENT);
	ck_assert_ptr_nonnull(strstr(kmmv_error(k), "/nonexistent/dir"));
	ck_assert_int_eq(kmmv_capture(k, area_path(&area, "names")), -ENOTDIR);
	ck_assert_int_eq(kmmv_capture(k, "/dev/full"), -ENOTDIR);

	/* The table changes all the time: copying fails, with a reason. */
	area.header->gen1++;
	snprintf(blocked, sizeof(blocked), "%s/blocked", area.dir);
	ck_assert_int_eq(kmmv_capture(k, blocked), -EAGAIN);
	ck_assert_str_ne(kmmv_error(k), "");
	area.header->gen1--;

	/* A value that never settles. */
	++*area_incarnation(&area, 0);
	ck_assert_int_eq(kmmv_capture(k, blocked), -EAGAIN);
	ck_assert_ptr_nonnull(strstr(kmmv_error(k), "again"));
	ck_assert_int_ne(access(area_path(&area, "blocked/counters"), F_OK), 0);
	area_remove(blocked);
}
END_TEST

/* A run of numbers may begin anywhere, and each of it is looked at. */
START_TEST(stale_in_a_run)
{
	const uint32_t numbers[] = { 1, 2, 3 };
	uint64_t sums[3];
	int status[3], i;

	area_small(&area, true);
	area_share(&area);
	ck_assert_int_eq(area_open(&area, &k), 0);
	++*area_incarnation(&area, numbers[_i]);
	ck_assert_int_eq(kmmv_read_sums(k, numbers, 3, sums, status), 2);
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(status[i], i == _i ? -ESTALE : 0);
}
END_TEST

/* SIZE bytes at FROM, and behind them what must not be touched. */
static const void *guarded(const void *from, size_t size)
{
	size_t whole = (size + PAGE - 1) / PAGE * PAGE;
	char *pages = mmap(NULL, whole + PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(pages, MAP_FAILED);
	ck_assert_int_eq(mprotect(pages + whole, PAGE, PROT_NONE), 0);
	return memcpy(pages + whole - size, from, size);
}

/* What is behind the last number cannot be read. */
static void guard_arrays(void)
{
	uint32_t i;

	for (i = 0; i < k->nr_areas; i++)
		k->areas[i].kvalues = guarded(k->areas[i].kvalues,
					      k->nr_instances * 8);
	k->kincarnations = guarded(k->kincarnations, k->nr_instances * 4);
}

/* A run that goes on behind the last number is not read there. */
START_TEST(behind_the_last)
{
	uint32_t numbers[8], i;
	uint64_t sums[10], values[8 * 4];
	int status[10];

	area_small(&area, _i);
	open_as(1);
	guard_arrays();
	ck_assert_uint_eq(k->nr_instances, 8);
	for (i = 0; i < 8; i++)
		numbers[i] = 2 + i;
	ck_assert_int_eq(kmmv_read_sums(k, numbers, 8, sums, status), 2);
	for (i = 0; i < 8; i++)
		ck_assert_int_eq(status[i], i < 2 ? 0 : -ENOENT);
	ck_assert_int_eq(kmmv_read_percpu(k, numbers, 8, values, status), 2);
	for (i = 0; i < 8; i++)
		ck_assert_int_eq(status[i], i < 2 ? 0 : -ENOENT);
	ck_assert_int_eq(kmmv_read_all(k, sums, status, 10), 4);
	for (i = 0; i < 10; i++)
		ck_assert_int_eq(status[i], i < 4 ? 0 : -ENOENT);
}
END_TEST

/* Nor is a block that begins with a number that is there. */
START_TEST(behind_the_last_block)
{
	enum { NR = 520, COUNT = 700 };
	uint64_t sums[COUNT];
	int status[COUNT];
	uint32_t n;

	area_init(&area, 1, 1024, NR, _i);
	area_names(&area, "kmmv abi=1.0 epoch=77\n"
		   "family id=0 units=count semantics=counter name=a\n");
	for (n = 0; n < NR; n++) {
		*area_value(&area, 0, n) = n + 1;
		area_names(&area, "instance number=%u family=0 incarnation=0 state=active name=n%u\n",
			   n, n);
	}
	area_names(&area, "end 1\n");
	open_as(1);
	ck_assert_uint_eq(k->nr_instances, NR);
	guard_arrays();
	ck_assert_int_eq(kmmv_read_all(k, sums, status, COUNT), NR);
	for (n = 0; n < COUNT; n++) {
		ck_assert_int_eq(status[n], n < NR ? 0 : -ENOENT);
		ck_assert_uint_eq(sums[n], n < NR ? n + 1 : 0);
	}
}
END_TEST

/* Most numbers have no name, so that the table is shorter than a block. */
START_TEST(few_names)
{
	static const uint32_t named[] = { 256, 300 };
	enum { NR = 768 };
	uint64_t sums[NR];
	uint32_t n;
	int status[NR];

	area_init(&area, 1, 1024, NR, true);
	area_names(&area, "kmmv abi=1.0 epoch=77\n"
		   "family id=0 units=count semantics=counter name=a\n");
	for (n = 0; n < named[_i]; n++) {
		*area_value(&area, 0, n) = n + 1;
		area_names(&area, "instance number=%u family=0 incarnation=0 state=active name=n%u\n",
			   n, n);
	}
	area_names(&area, "end 1\n");
	open_as(1);
	ck_assert_int_eq(kmmv_read_all(k, sums, status, NR), named[_i]);
	for (n = 0; n < NR; n++) {
		ck_assert_int_eq(status[n], n < named[_i] ? 0 : -ENOENT);
		ck_assert_uint_eq(sums[n], n < named[_i] ? n + 1 : 0);
	}
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("read");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, small, 0, 4);
	tcase_add_loop_test(tcase, stale, 0, 4);
	tcase_add_test(tcase, pair_at_odds);
	tcase_add_loop_test(tcase, all_ways, 0, NR_SIZES * 4);
	tcase_add_loop_test(tcase, sums_of_few_cpus, 0, 9 * 4);
	tcase_add_loop_test(tcase, captured, 0, NR_SIZES * 4);
	tcase_add_test(tcase, captured_full);
	tcase_add_test(tcase, not_captured);
	tcase_add_test(tcase, refused_waiter);
	tcase_add_loop_test(tcase, stale_in_a_run, 0, 3);
	tcase_add_loop_test(tcase, behind_the_last, 0, 2);
	tcase_add_loop_test(tcase, behind_the_last_block, 0, 2);
	tcase_add_loop_test(tcase, few_names, 0, 2);
	return run_suite("libread", tcase);
}
