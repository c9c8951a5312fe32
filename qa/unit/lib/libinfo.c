// SPDX-License-Identifier: GPL-2.0-only
/*
 * What callers are given of instances: it is valid until they update, and takes
 * no memory after that.
 */
#include "libarea.h"
#include "handle.h"

enum { FEW = 1000, MANY = 3000 };

static struct area area;
static struct kmmv *k;
static const struct kmmv_instance_info *given[MANY];

/* A label for every third one. */
static void put_instances(uint32_t first, uint32_t end)
{
	uint32_t i;

	for (i = first; i < end; i++) {
		area_names(&area,
			   "instance number=%u family=0 incarnation=%u state=%s name=n%u\n",
			   i, i + 1, i % 2 ? "active" : "inactive", i);
		*area_incarnation(&area, i) = i + 1;
		if (i % 3 == 0)
			area_names(&area, "label number=%u incarnation=%u key=k%u text=t%u\n",
				   i, i + 1, i, i);
	}
}

static void setup(void)
{
	area_init(&area, 1, MANY, FEW, true);
	area_names(&area, "kmmv abi=1.0 epoch=77\n"
			  "family id=0 units=count semantics=counter name=a\n");
	put_instances(0, FEW);
	area_names(&area, "end 1\n");
	area_share(&area);
	ck_assert_int_eq(area_open(&area, &k), 0);
}

static void teardown(void)
{
	kmmv_close(k);
	area_fini(&area);
}

static void check(uint32_t i)
{
	const struct kmmv_instance_info *info = given[i];
	char text[16];

	ck_assert_uint_eq(info->number, i);
	ck_assert_uint_eq(info->incarnation, i + 1);
	ck_assert_uint_eq(info->family, 0);
	ck_assert_int_eq(info->state, i % 2 ? KMMV_ACTIVE : KMMV_INACTIVE);
	sprintf(text, "n%u", i);
	ck_assert_str_eq(info->name, text);
	if (i % 3) {
		ck_assert_ptr_null(info->label_key);
		ck_assert_ptr_null(info->label);
		return;
	}
	sprintf(text, "k%u", i);
	ck_assert_str_eq(info->label_key, text);
	sprintf(text, "t%u", i);
	ck_assert_str_eq(info->label, text);
}

static void ask(uint32_t end)
{
	uint32_t i;

	for (i = 0; i < end; i++) {
		given[i] = kmmv_instance(k, i);
		ck_assert_ptr_nonnull(given[i]);
	}
}

static void check_all(uint32_t end)
{
	uint32_t i;

	for (i = 0; i < end; i++)
		check(i);
}

/* All at once, whatever else is called meanwhile. */
START_TEST(valid_until_the_update)
{
	char dir[80];
	struct kmmv *copy;
	struct kmmv_info info;
	uint64_t sums[FEW];

	ask(FEW);
	check_all(FEW);
	ck_assert_ptr_eq(kmmv_instance(k, 5), given[5]);
	ck_assert_ptr_eq(kmmv_lookup(k, "a", "n7"), given[7]);
	kmmv_get_info(k, &info);
	ck_assert_int_eq(kmmv_refresh(k, 0, NULL), 0);
	ck_assert_int_eq(kmmv_read_all(k, sums, NULL, FEW), FEW);
	snprintf(dir, sizeof(dir), "%s/copy", area.dir);
	ck_assert_int_eq(kmmv_capture(k, dir), 0);
	ask(FEW);
	check_all(FEW);
	ck_assert_int_eq(kmmv_open(dir, &copy), 0);
	ck_assert_int_eq(kmmv_update(k), 0);
	kmmv_close(k);
	/* The copy has the same. */
	k = copy;
	ask(FEW);
	check_all(FEW);
}
END_TEST

/* Pages of the memory for callers that it takes. */
static size_t pages(void)
{
	size_t nr = (k->table.infos_size + PAGE - 1) / PAGE, i, n = 0;
	unsigned char resident[MANY * sizeof(*given[0]) / PAGE + 2];

	ck_assert_uint_le(nr, sizeof(resident));
	ck_assert_int_eq(mincore(k->table.infos, k->table.infos_size, resident), 0);
	for (i = 0; i < nr; i++)
		n += resident[i] & 1;
	return n;
}

/* Many that were asked for are not kept, and none at first. */
START_TEST(memory_is_given_back)
{
	ck_assert_uint_eq(pages(), 0);
	ask(FEW);
	ck_assert_uint_ge(pages(), FEW * sizeof(*given[0]) / PAGE);
	ck_assert_int_eq(kmmv_update(k), 0);
	ck_assert_uint_eq(pages(), 0);
	/* It can be had again. */
	ask(FEW);
	check_all(FEW);
}
END_TEST

/* The few of most updates cost no system call; in the end they are many. */
START_TEST(few_are_kept)
{
	uint32_t i;

	for (i = 0; i < 255; i++) {
		ck_assert_int_eq(kmmv_update(k), 0);
		kmmv_instance(k, i);
		ck_assert_uint_gt(pages(), 0);
	}
	ck_assert_int_eq(kmmv_update(k), 0);
	ck_assert_uint_gt(pages(), 0);
	kmmv_instance(k, 0);
	ck_assert_int_eq(kmmv_update(k), 0);
	ck_assert_uint_eq(pages(), 0);
}
END_TEST

/* The table grows: all are there, and have what they had. */
START_TEST(grows)
{
	ask(FEW);
	area.header->gen1 = 2;
	area.header->nr_instances = MANY;
	put_instances(FEW, MANY);
	area_names(&area, "end 2\n");
	area_put_names(&area);
	area.header->gen2 = 2;
	ck_assert_int_eq(kmmv_update(k), 1);
	ck_assert_uint_eq(pages(), 0);
	ask(MANY);
	check_all(MANY);
}
END_TEST

START_TEST(memory_ends_with_the_handle)
{
	unsigned char resident[1];
	void *infos = k->table.infos;

	ck_assert_int_eq(mincore(infos, PAGE, resident), 0);
	kmmv_close(k);
	k = NULL;
	ck_assert_int_eq(mincore(infos, PAGE, resident), -1);
	ck_assert_int_eq(errno, ENOMEM);
}
END_TEST

/* Of half a batch: what its records say. */
START_TEST(within_a_batch)
{
	static const char text[] =
		"instance number=3 family=0 incarnation=9 state=free name=\n"
		"instance number=4 family=0 incarnation=9 state=active name=other\n";

	ask(FEW);
	ck_assert_int_eq(kmmv_names_feed(k, text, strlen(text)), 0);
	ck_assert_uint_eq(kmmv_instance(k, 3)->incarnation, 9);
	ck_assert_int_eq(kmmv_instance(k, 3)->state, KMMV_FREE);
	ck_assert_str_eq(kmmv_instance(k, 3)->name, "");
	ck_assert_ptr_null(kmmv_instance(k, 3)->label);
	ck_assert_str_eq(kmmv_instance(k, 4)->name, "other");
	ck_assert_uint_eq(k->table.incarnations[4], 5);
}
END_TEST

/* Names take 4 GB at most, as their places have so many bits. */
START_TEST(no_place_is_left)
{
	struct kmmv_arena *arena = &k->table.arena;
	uint32_t nr = arena->nr_chunks, left = arena->left;
	uint64_t most = 1ULL << KMMV_ARENA_BITS;
	static const char text[] =
		"instance number=0 family=0 incarnation=9 state=active name=a longer one\n";

	ck_assert_uint_eq(most * KMMV_ARENA_GRAIN, 4ULL << 30);
	arena->nr_chunks = (uint32_t)(most * KMMV_ARENA_GRAIN / KMMV_ARENA_CHUNK);
	arena->room = arena->nr_chunks + 1;
	arena->total = KMMV_ARENA_CHUNK;
	arena->left = 0;
	ck_assert_int_eq(kmmv_names_feed(k, text, strlen(text)), -ENOMEM);
	arena->nr_chunks = nr;
	arena->left = left;
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("info");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, valid_until_the_update);
	tcase_add_test(tcase, memory_is_given_back);
	tcase_add_test(tcase, few_are_kept);
	tcase_add_test(tcase, grows);
	tcase_add_test(tcase, memory_ends_with_the_handle);
	tcase_add_test(tcase, within_a_batch);
	tcase_add_test(tcase, no_place_is_left);
	return run_suite("libinfo", tcase);
}
