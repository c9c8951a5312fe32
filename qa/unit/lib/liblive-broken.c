// SPDX-License-Identifier: GPL-2.0-only
/*
 * Areas that are not what they were when they were opened: broken names, another epoch, a
 * header that changes.
 */
#include "liblive.h"

/* Permanently: each update fails in the same way, and known values stay. */
static void check_broken(int err)
{
	int i;

	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(kmmv_update(k), err);
		ck_assert_str_ne(kmmv_error(k), "");
		check_known(40 + (uint64_t)i);
	}
	area_use(k);
	ck_assert_int_eq(kmmv_capture(k, area_path(&area, "copy")), err);
	ck_assert_int_ne(access(area_path(&area, "copy/counters"), F_OK), 0);
	rmdir(area_path(&area, "copy"));
	check_known(50);
}

START_TEST(broken_names)
{
	static const char *const lines[] = {
		"instance nonsense",
		"instance number=8 family=0 incarnation=0 state=active name=q",
		"instance number=1 family=0 incarnation=0 state=active name=q",
		"instance number=1 family=0 incarnation=9 state=active name=i2.0",
		"family id=0 units=byte semantics=counter name=a",
		"label number=0 incarnation=0 key=k text=t",
		"instance number=1 family=0 incarnation=9 state=free name=\n"
		"instance number=1 family=2 incarnation=9 state=active name=q",
	};

	start(true, 8);
	change_begin();
	names_of(8);
	change_end();
	area.names_length -= strlen(strstr(area.names, "end"));
	area_names(&area, "%s\nend %" PRIu64 "\n", lines[_i],
		   (uint64_t)area.header->gen2);
	area_put_names(&area);
	check_broken(-EBADMSG);
	/*
	 * The names are good again: the handle stays broken until it is
	 * reopened.
	 */
	names_of(8);
	area_put_names(&area);
	check_broken(-EBADMSG);
	kmmv_close(k);
	ck_assert_int_eq(area_open(&area, &k), 0);
	check_known(60);
}
END_TEST

START_TEST(broken_count)
{
	start(true, 8);
	store32(&area.header->nr_instances, _i ? 7 : 513);
	check_broken(-EBADMSG);
}
END_TEST

START_TEST(broken_online)
{
	start(true, 8);
	change_begin();
	area_mask(&area, area.header->online_offset)[0] = 0xf;
	names_of(8);
	area_put_names(&area);
	change_end();
	check_broken(-EBADMSG);
}
END_TEST

START_TEST(another_epoch)
{
	start(true, 8);
	if (_i) {
		area_put_files(&area);
		/* The area is unchanged, but another one is at its place. */
	} else {
		store64(&area.header->epoch, EPOCH + 1);
	}
	check_broken(-ESTALE);
	ck_assert_ptr_nonnull(strstr(kmmv_error(k), "open the device again"));
}
END_TEST

/* A header that changes later is not used: the geometry is the copy's. */
START_TEST(geometry_changes)
{
	struct kmmv_header *h;

	start(_i, 8);
	h = area.header;
	ck_assert_int_eq(kmmv_update(k), 0);
	h = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, area.fd, 0);
	ck_assert_ptr_ne(h, MAP_FAILED);
	{
		struct kmmv_header good = *h;

		memset(h, 0xff, sizeof(*h));
		h->epoch = good.epoch;
		h->gen1 = good.gen1;
		h->gen2 = good.gen2;
		h->nr_instances = good.nr_instances;
		ck_assert_int_eq(kmmv_update(k), 0);
		area_use(k);
		*h = good;
	}
	munmap(h, PAGE);
	check_known(9);
}
END_TEST

void add_broken(TCase *tcase)
{
	tcase_add_loop_test(tcase, broken_names, 0, 7);
	tcase_add_loop_test(tcase, broken_count, 0, 2);
	tcase_add_test(tcase, broken_online);
	tcase_add_loop_test(tcase, another_epoch, 0, 2);
	tcase_add_loop_test(tcase, geometry_changes, 0, 2);
}
