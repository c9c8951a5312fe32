// SPDX-License-Identifier: GPL-2.0-only
/* Names come, go, return and are forgotten in the order in which they went. */
#include <stdlib.h>

#include "lives.h"
#include "quiet.h"
#include "suite.h"

#define NAMES	40

static struct kmmv_lives lives;
static struct kmmv_life life[NAMES];

static void add(int i, u64 now)
{
	char name[16];

	snprintf(name, sizeof(name), "veth%d", i);
	ck_assert_ptr_null(kmmv_lives_find(&lives, name));
	kmmv_lives_add(&lives, &life[i], name, now);
	ck_assert_ptr_eq(kmmv_lives_find(&lives, name), &life[i]);
}

START_TEST(order)
{
	kmmv_lives_init(&lives, 3);
	ck_assert_ptr_null(kmmv_lives_oldest(&lives));
	add(0, 1);
	/* Gone until an owner enters. */
	ck_assert_ptr_eq(kmmv_lives_oldest(&lives), &life[0]);
	kmmv_life_enter(&life[0]);
	ck_assert_ptr_null(kmmv_lives_oldest(&lives));
	add(1, 2);
	kmmv_life_enter(&life[1]);
	ck_assert(!kmmv_lives_full(&lives));
	add(2, 3);
	kmmv_life_enter(&life[2]);
	ck_assert(kmmv_lives_full(&lives));
	kmmv_life_leave(&lives, &life[1], 10);
	kmmv_life_leave(&lives, &life[0], 20);
	ck_assert_ptr_eq(kmmv_lives_oldest(&lives), &life[1]);
	/* One that returned is the last to go when it goes again. */
	kmmv_life_enter(&life[1]);
	ck_assert_ptr_eq(kmmv_lives_oldest(&lives), &life[0]);
	kmmv_life_leave(&lives, &life[1], 30);
	ck_assert_ptr_eq(kmmv_lives_oldest(&lives), &life[0]);
	ck_assert(!kmmv_life_due(&life[0], 29, 10));
	ck_assert(kmmv_life_due(&life[0], 30, 10));
	ck_assert(kmmv_life_due(&life[0], 20, 0));
	ck_assert(!kmmv_life_due(&life[0], 1000, UINT64_MAX));
	kmmv_lives_del(&lives, &life[0]);
	ck_assert(!kmmv_lives_full(&lives));
	ck_assert_ptr_null(kmmv_lives_find(&lives, "veth0"));
	ck_assert_ptr_eq(kmmv_lives_oldest(&lives), &life[1]);
}
END_TEST

/* A device may come under a name before the one that had it is done with. */
START_TEST(owners)
{
	kmmv_lives_init(&lives, 3);
	add(0, 1);
	kmmv_life_enter(&life[0]);
	kmmv_life_enter(&life[0]);
	kmmv_life_leave(&lives, &life[0], 5);
	ck_assert_ptr_null(kmmv_lives_oldest(&lives));
	kmmv_life_leave(&lives, &life[0], 6);
	ck_assert_ptr_eq(kmmv_lives_oldest(&lives), &life[0]);
	ck_assert(!kmmv_life_due(&life[0], 10, 5));
	ck_assert(kmmv_life_due(&life[0], 11, 5));
}
END_TEST

/* Against a plain list. */
START_TEST(storm)
{
	u64 went[NAMES] = {}, now = 1;
	bool known[NAMES] = {}, present[NAMES] = {};
	unsigned int seed = _i, nr = 0;
	struct kmmv_life *oldest;
	int i, j, first;
	char name[16];

	kmmv_lives_init(&lives, 20);
	for (i = 0; i < 20000; i++, now++) {
		j = rand_r(&seed) % NAMES;
		if (!known[j] && nr < 20) {
			ck_assert(!kmmv_lives_full(&lives));
			add(j, now);
			kmmv_life_enter(&life[j]);
			known[j] = present[j] = true;
			nr++;
		} else if (known[j] && present[j]) {
			kmmv_life_leave(&lives, &life[j], now);
			present[j] = false;
			went[j] = now;
		} else if (known[j] && rand_r(&seed) % 2) {
			kmmv_life_enter(&life[j]);
			present[j] = true;
		} else if (known[j]) {
			kmmv_lives_del(&lives, &life[j]);
			known[j] = false;
			nr--;
		} else {
			ck_assert(kmmv_lives_full(&lives));
		}
		first = -1;
		for (j = 0; j < NAMES; j++) {
			snprintf(name, sizeof(name), "veth%d", j);
			oldest = kmmv_lives_find(&lives, name);
			ck_assert_ptr_eq(oldest, known[j] ? &life[j] : NULL);
			if (known[j] && !present[j] &&
			    (first < 0 || went[j] < went[first]))
				first = j;
		}
		oldest = kmmv_lives_oldest(&lives);
		ck_assert_ptr_eq(oldest, first < 0 ? NULL : &life[first]);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lives");
	TCase *tcase = tcase_create("lives");

	tcase_add_test(tcase, order);
	tcase_add_test(tcase, owners);
	tcase_add_loop_test(tcase, storm, 0, 5);
	suite_add_tcase(suite, tcase);
	return run_all(suite);
}
