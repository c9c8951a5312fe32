// SPDX-License-Identifier: GPL-2.0-only
/*
 * A machine whose this_cpu_add() is a load, an add and a store, and an NMI in
 * between: each lost update is counted as refused.
 */
#include "core.h"

#include <linux/statctr.h>
#include "refused.h"

_Static_assert(!KMMV_NMI_SAFE && KMMV_ATOMIC64, "");

static int family;

static void start(void)
{
	static const char *const own[] = {
		[KMMV_REFUSED_BAD_NUMBER] = "bad_number",
		[KMMV_REFUSED_UNBALANCED_DEL] = "unbalanced_del",
		[KMMV_REFUSED_NMI] = "nmi",
	};
	int i;

	table_start(600);
	family = kmmv_family_add(&table, &family_a);
	for (i = 0; i < KMMV_RESERVED; i++)
		ck_assert_int_eq(kmmv_instance_add(&table, family, own[i],
						   NULL), i);
	shim_cpu = 0;
	shim_nmi = NULL;
}

static u64 refused(void)
{
	return kmmv_slots_sum(&table.slots, kmmv_slots_slot(&table.slots,
							    KMMV_REFUSED_NMI));
}

static statctr_t counted;
static struct kmmv_slot slot;
static unsigned int nmis;

static void nmi_counts(void)
{
	ck_assert(in_nmi());
	nmis++;
	kmmv_slot_add(slot, 1);
	statctr_inc(&counted);
}

/* Like perf_adjust(). */
static void nmi_asks(void)
{
	nmis++;
	ck_assert(kmmv_refused_nmi());
}

START_TEST(an_nmi_inside_an_update)
{
	int number = kmmv_instance_add(&table, family, "x", NULL);
	u64 updates = 0;
	int i;

	ck_assert_int_eq(kmmv_instance_slot(&table, number, &slot), 0);
	ck_assert_int_eq(statctr_init(&counted, 0), 0);
	for (i = 0; i < 100; i++) {
		if (i % 3)
			shim_nmi = nmi_counts;
		if (i % 2)
			kmmv_slot_add(slot, 1);
		else
			statctr_inc(&counted);
		updates++;
	}
	ck_assert_ptr_null(shim_nmi);
	ck_assert_uint_eq(nmis, 66);
	/* The next update counts the refused one. */
	ck_assert(!kmmv_refused_nmi());
	ck_assert_uint_eq(kmmv_slots_sum(&table.slots, slot) +
			  statctr_read(&counted), updates);
	ck_assert_uint_eq(refused(), 2 * nmis);

	nmis = 0;
	shim_nmi = nmi_asks;
	kmmv_slot_add(slot, 1);
	ck_assert_uint_eq(nmis, 1);
	ck_assert(!kmmv_refused_nmi());
	ck_assert_uint_eq(refused(), 2 * 66 + 1);
	statctr_cleanup(&counted);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("nmi");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, start, table_stop);
	tcase_add_test(tcase, an_nmi_inside_an_update);
	return run_suite("nmi", tcase);
}
