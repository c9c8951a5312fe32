// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each allocation of the library fails in turn: the caller is told, nothing is
 * lost, and what was there before is as it was.
 */
#include <sys/stat.h>

#include "libarea.h"
#include "refuse.h"

static struct area area;
/* The allocation that fails, counted from 1; 0 once it has, or for none. */
static int fails_at;

static bool fails(size_t size)
{
	(void)size;
	return fails_at && !--fails_at;
}

void *__real_mmap(void *at, size_t size, int access, int flags, int fd, off_t from);
void *__wrap_mmap(void *at, size_t size, int access, int flags, int fd, off_t from);

void *__wrap_mmap(void *at, size_t size, int access, int flags, int fd, off_t from)
{
	if (!fails(size))
		return __real_mmap(at, size, access, flags, fd, from);
	errno = ENOMEM;
	return MAP_FAILED;
}

static void check_told(int err, const struct kmmv *k, int n)
{
	ck_assert_msg(err == -ENOMEM, "allocation %d: %d", n, err);
	ck_assert_msg(strcasestr(kmmv_error(k), "memory") != NULL,
		      "allocation %d: %s", n, kmmv_error(k));
}

static int descriptors(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 64; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Of files, and of an area that is shared. */
START_TEST(opens)
{
	int n, err, before;
	struct kmmv *k;

	area_small(&area, true);
	if (_i)
		area_share(&area);
	else
		area_put_files(&area);
	before = descriptors();
	for (n = 1;; n++) {
		fails_at = n;
		err = kmmv_open(area.dir, &k);
		if (fails_at)
			break;
		check_told(err, NULL, n);
		/* The first two are the handle and the directory's name. */
		if (n > 2)
			ck_assert_ptr_nonnull(strstr(kmmv_error(NULL), area.dir));
		ck_assert_ptr_null(k);
		ck_assert_int_eq(descriptors(), before);
	}
	fails_at = 0;
	ck_assert_int_eq(err, 0);
	/* Two families, three types, five instances with their names. */
	ck_assert_int_gt(n, 30);
	area_use(k);
	kmmv_close(k);
	area_fini(&area);
}
END_TEST

/* A change that brings one of each record. */
static void change(void)
{
	area.header->gen1 = 2;
	area.header->nr_instances = 12;
	*area_incarnation(&area, 9) = 1;
	area_names(&area,
		   "family id=9 units=none semantics=counter name=new\n"
		   "oneline id=9 text=A new one\n"
		   "help id=9 text=That comes.\n"
		   "instance number=9 family=9 incarnation=1 state=active name=nine\n"
		   "label number=9 incarnation=1 key=a text=b\n"
		   "type id=18 name=new.type\n"
		   "about id=18 text=Comes as well\n"
		   "field id=18 offset=0 size=8 kind=hex units=none name=x\n"
		   "end 2\n");
	area_put_names(&area);
	area.header->gen2 = 2;
}

static void check_new(const struct kmmv *k)
{
	const struct kmmv_instance_info *in = kmmv_lookup(k, "new", "nine");

	ck_assert_ptr_nonnull(in);
	ck_assert_uint_eq(in->number, 9);
	ck_assert_str_eq(kmmv_family_by_id(k, 9)->help, "That comes.");
	ck_assert_str_eq(kmmv_type_by_id(k, 18)->fields[0].name, "x");
}

/* The handle says so from then on, and another one has it all. */
START_TEST(updates)
{
	struct kmmv *k, *other;
	uint64_t values[12];
	int n, err, status[12];

	for (n = 1;; n++) {
		area_small(&area, true);
		area_share(&area);
		ck_assert_int_eq(area_open(&area, &k), 0);
		change();
		fails_at = n;
		err = kmmv_update(k);
		if (fails_at)
			break;
		check_told(err, k, n);
		check_told(kmmv_update(k), k, n);
		/* Values can be asked for all the same. */
		kmmv_read_all(k, values, status, 12);
		ck_assert_int_eq(area_open(&area, &other), 0);
		check_new(other);
		kmmv_close(other);
		kmmv_close(k);
		area_fini(&area);
	}
	fails_at = 0;
	ck_assert_int_eq(err, 1);
	ck_assert_int_gt(n, 10);
	check_new(k);
	area_use(k);
	kmmv_close(k);
	area_fini(&area);
}
END_TEST

/* No part of a copy is left, and the next attempt is whole. */
START_TEST(captures)
{
	static const char *const names[] = { "counters", ".counters.new",
					     ".names.new" };
	struct kmmv *k, *other;
	struct area copy;
	size_t i;
	int n, err;

	area_small(&area, true);
	area_put_files(&area);
	ck_assert_int_eq(area_open(&area, &k), 0);
	snprintf(copy.dir, sizeof(copy.dir), "%.40s/copy", area.dir);
	for (n = 1;; n++) {
		fails_at = n;
		err = kmmv_capture(k, copy.dir);
		if (fails_at)
			break;
		check_told(err, k, n);
		/* The names are the last one, which make it whole. */
		if (access(area_path(&copy, "names"), F_OK) == 0)
			ck_abort_msg("allocation %d: names", n);
		for (i = n > 3 ? 1 : 0; i < 3; i++)
			if (access(area_path(&copy, names[i]), F_OK) == 0)
				ck_abort_msg("allocation %d: %s", n, names[i]);
	}
	fails_at = 0;
	ck_assert_int_eq(err, 0);
	/* Two paths for each file, and a block of values. */
	ck_assert_int_eq(n, 2 * 2 + 1 + 1);
	ck_assert_int_eq(kmmv_open(copy.dir, &other), 0);
	area_use(other);
	kmmv_close(other);
	kmmv_close(k);
	area_remove(copy.dir);
	area_fini(&area);
}
END_TEST

/* A reader opens nothing by itself; its first read does. */
START_TEST(reader)
{
	struct kmmv_reader *reader;
	uint64_t value;
	int n, err, before;

	area_small(&area, true);
	area_share(&area);
	before = descriptors();
	for (n = 1;; n++) {
		fails_at = n;
		reader = kmmv_reader_open(area.dir);
		if (fails_at)
			break;
		ck_assert_ptr_null(reader);
	}
	ck_assert_int_eq(n, 3);
	for (n = 1;; n++) {
		fails_at = n;
		err = kmmv_read(reader, "counter", "zero", &value);
		if (fails_at)
			break;
		ck_assert_int_eq(err, -ENOMEM);
		ck_assert_uint_eq(value, 0);
		ck_assert_ptr_nonnull(strcasestr(kmmv_reader_error(reader), "memory"));
		ck_assert_int_eq(descriptors(), before);
	}
	fails_at = 0;
	ck_assert_int_gt(n, 30);
	ck_assert_int_eq(err, 0);
	ck_assert_uint_eq(value, area_small_sum(0));
	kmmv_reader_close(reader);
	ck_assert_int_eq(descriptors(), before);
	area_fini(&area);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("memory");

	tcase_add_test(tcase, reader);
	tcase_add_loop_test(tcase, opens, 0, 2);
	tcase_add_test(tcase, updates);
	tcase_add_test(tcase, captures);
	return run_suite("memory", tcase);
}
