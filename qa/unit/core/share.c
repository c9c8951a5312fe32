// SPDX-License-Identifier: GPL-2.0-only
/* However many files some users have, another one gets those that it needs. */
#include "share.h"
#include "quiet.h"
#include "suite.h"

#define MAX	224
#define USERS	20

START_TEST(row)
{
	static const struct {
		u32 open, max, share;
	} row[] = {
		{ 0, MAX, 64 },
		{ 191, MAX, 64 },
		{ 192, MAX, 4 },
		{ 223, MAX, 4 },
		{ 224, MAX, 0 },
		{ 256, MAX, 0 },
		{ 0, 32, 4 },
		{ 0, 0, 0 },
	};

	ck_assert_uint_eq(sizeof(row) / sizeof(row[0]), 8);
	ck_assert_uint_eq(kmmv_share(row[_i].open, row[_i].max), row[_i].share);
}
END_TEST

/* Each user after the other opens as many as it may. */
START_TEST(one_after_the_other)
{
	u32 files[USERS] = {}, open = 0;
	int user;

	for (user = 0; user < USERS; user++)
		while (files[user] < kmmv_share(open, MAX)) {
			files[user]++;
			open++;
		}
	ck_assert_uint_eq(open, MAX);
	for (user = 0; user < 3; user++)
		ck_assert_uint_eq(files[user], KMMV_SHARE_MOST);
	for (; user < 11; user++)
		ck_assert_uint_eq(files[user], KMMV_SHARE_FIRST);
	for (; user < USERS; user++)
		ck_assert_uint_eq(files[user], 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("share");
	TCase *tcase = tcase_create("share");

	tcase_add_loop_test(tcase, row, 0, 8);
	tcase_add_test(tcase, one_after_the_other);
	suite_add_tcase(suite, tcase);
	return run_all(suite);
}
