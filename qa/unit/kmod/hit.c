// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which ring follows which counter (kmod/hit.c): its 255 indices, each of which
 * leads to its ring, and what a ring that is removed gives back. The rings only
 * identify followers; the test records what is written to them.
 */
#include "core.h"
#include "rings.h"

#define FOLLOWERS	255
#define FIRST		KMMV_RESERVED
#define INSTANCES	(FOLLOWERS + 1)

/* Whether updates come from where RCU sees them. */
static bool watching;
static int grace_periods;

static struct kmmv_ring *rings;

/* The last event, and how many there were. */
static struct {
	struct kmmv_ring *ring;
	int instance;
	s64 delta;
	int count;
} written;

bool rcu_is_watching(void)
{
	return watching;
}

void synchronize_rcu(void)
{
	grace_periods++;
}

int kmmv_ring_write(struct kmmv_ring *ring, u16 type, int instance,
		    const void *payload, size_t size)
{
	const struct kmmv_hit *hit = payload;

	ck_assert_uint_eq(type, KMMV_EVENT_HIT);
	ck_assert_uint_eq(size, sizeof(*hit));
	written.ring = ring;
	written.instance = instance;
	written.delta = hit->delta;
	written.count++;
	return 0;
}

/* An update: the ring that got its event. */
static struct kmmv_ring *hit(int number)
{
	u8 index = 0;

	written.ring = NULL;
	if (!kmmv_slots_add(&table.slots, number, -5)) {
		ck_assert(kmmv_slots_add_followed(&table.slots, number, -5,
						  &index));
		if (index)
			kmmv_hit(number, -5, index);
	}
	if (written.ring) {
		ck_assert_int_eq(written.instance, number);
		ck_assert_int_eq(written.delta, -5);
	}
	return written.ring;
}

static void setup(void)
{
	char name[16];
	int i, family;

	table_start(1024);
	watching = true;
	grace_periods = 0;
	memset(&written, 0, sizeof(written));
	rings = calloc(INSTANCES, sizeof(*rings));
	family = kmmv_family_add(&table, &family_a);
	/* The first ones are the module's own. */
	for (i = 0; i < FIRST + INSTANCES; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		ck_assert_int_eq(kmmv_instance_add(&table, family, name, NULL),
				 i);
	}
}

static void teardown(void)
{
	int i;

	for (i = 0; i < INSTANCES; i++)
		kmmv_hit_end(&rings[i]);
	free(rings);
	/* That lock is outside the hotplug lock, unlike the table's. */
	shim_locked_switches = 0;
	table_stop();
}

/* One more is refused, whatever it asks for, and takes nothing from others. */
START_TEST(limit)
{
	struct kmmv_ring *last = &rings[FOLLOWERS];
	char text[32];
	int i;

	for (i = 0; i < FOLLOWERS; i++)
		ck_assert_int_eq(kmmv_ring_trace(&rings[i], FIRST + i), 0);
	ck_assert_int_eq(kmmv_ring_trace(last, FIRST + FOLLOWERS), -ENOSPC);
	ck_assert_int_eq(kmmv_ring_trace(last, FIRST), -ENOSPC);
	ck_assert_int_eq(kmmv_ring_trace(last, 9999), -ENOSPC);
	ck_assert_int_eq(last->follower, 0);
	ck_assert_ptr_null(hit(FIRST + FOLLOWERS));
	for (i = 0; i < FOLLOWERS; i++)
		ck_assert_ptr_eq(hit(FIRST + i), &rings[i]);
	ck_assert_int_eq(written.count, FOLLOWERS);
	ck_assert_int_eq(kmmv_hit_list(last, text, sizeof(text)), 0);
	ck_assert_int_eq(kmmv_hit_unfollow(last, FIRST), -ENOENT);

	/* Who has an index can follow more. */
	ck_assert_int_eq(kmmv_ring_trace(&rings[6], FIRST + FOLLOWERS), 0);
	ck_assert_ptr_eq(hit(FIRST + FOLLOWERS), &rings[6]);
	/* One that does not follow anything any more gives its index away. */
	i = rings[9].follower;
	ck_assert_int_eq(kmmv_hit_unfollow(&rings[9], FIRST + 9), 0);
	ck_assert_ptr_null(hit(FIRST + 9));
	ck_assert_int_eq(grace_periods, 0);
	ck_assert_int_eq(kmmv_ring_trace(last, FIRST + 9), 0);
	ck_assert_int_eq(grace_periods, 1);
	ck_assert_int_eq(last->follower, i);
	ck_assert_int_eq(rings[9].follower, 0);
	ck_assert_ptr_eq(hit(FIRST + 9), last);
	ck_assert_int_eq(kmmv_ring_trace(&rings[9], FIRST + 9), -ENOSPC);
	/* So does one that never did, and one whose instance another follows. */
	ck_assert_int_eq(kmmv_ring_trace(last, FIRST + 8), 0);
	ck_assert_int_eq(kmmv_ring_trace(&rings[9], 9999), -ENOENT);
	ck_assert_int_eq(kmmv_ring_trace(&rings[8], FIRST + 9), 0);
	ck_assert_ptr_eq(hit(FIRST + 8), last);
	ck_assert_ptr_eq(hit(FIRST + 9), &rings[8]);
	kmmv_hit_end(last);

	/* A ring that is removed leaves its index to the next one. */
	i = rings[6].follower;
	kmmv_hit_end(&rings[6]);
	ck_assert_int_eq(rings[6].follower, 0);
	ck_assert_ptr_null(hit(FIRST + 6));
	ck_assert_ptr_null(hit(FIRST + FOLLOWERS));
	ck_assert_int_eq(kmmv_ring_trace(last, FIRST + 6), 0);
	ck_assert_int_eq(last->follower, i);
	ck_assert_ptr_eq(hit(FIRST + 6), last);
	ck_assert_ptr_null(hit(FIRST + FOLLOWERS));
}
END_TEST

/* What cannot be followed; the ring follows what it followed before. */
START_TEST(refuses)
{
	ck_assert_int_eq(kmmv_ring_trace(&rings[0], FIRST), 0);
	ck_assert_int_eq(kmmv_ring_trace(&rings[1], 9999), -ENOENT);
	ck_assert_int_eq(kmmv_ring_trace(&rings[1], -1), -ENOENT);
	ck_assert_int_eq(kmmv_ring_trace(&rings[1], FIRST - 1), -EPERM);
	ck_assert_int_eq(kmmv_hit_unfollow(&rings[1], FIRST), -ENOENT);
	ck_assert_int_eq(kmmv_hit_unfollow(&rings[2], FIRST), -ENOENT);
	ck_assert_ptr_eq(hit(FIRST), &rings[0]);
	/* It moves, and then no ring follows it. */
	ck_assert_int_eq(kmmv_ring_trace(&rings[1], FIRST), 0);
	ck_assert_int_eq(kmmv_hit_unfollow(&rings[0], FIRST), -ENOENT);
	ck_assert_ptr_eq(hit(FIRST), &rings[1]);
	ck_assert_int_eq(kmmv_ring_trace(NULL, FIRST), 0);
	ck_assert_ptr_null(hit(FIRST));
	ck_assert_int_eq(kmmv_ring_trace(NULL, 9999), -ENOENT);
}
END_TEST

/*
 * Where RCU is not watching nothing is written. A removal waits for the updates
 * that found the index, one of a ring that never followed has none.
 */
START_TEST(removal)
{
	u8 index;

	kmmv_hit_end(&rings[1]);
	ck_assert_int_eq(grace_periods, 0);
	ck_assert_int_eq(kmmv_ring_trace(&rings[0], FIRST), 0);
	index = rings[0].follower;
	watching = false;
	ck_assert_ptr_null(hit(FIRST));
	watching = true;
	ck_assert_ptr_eq(hit(FIRST), &rings[0]);
	kmmv_hit_end(&rings[0]);
	ck_assert_int_eq(grace_periods, 1);
	/* An update that found the index before. */
	written.ring = NULL;
	kmmv_hit(FIRST, 1, index);
	ck_assert_ptr_null(written.ring);
	ck_assert(!table.slots.followed);
}
END_TEST

/* The numbers that a ring follows, in order; as many as have room. */
START_TEST(list)
{
	char text[64];

	ck_assert_int_eq(kmmv_hit_list(&rings[0], text, sizeof(text)), 0);
	ck_assert_int_eq(kmmv_ring_trace(&rings[0], FIRST + 200), 0);
	ck_assert_int_eq(kmmv_ring_trace(&rings[1], FIRST + 100), 0);
	ck_assert_int_eq(kmmv_ring_trace(&rings[0], FIRST + 7), 0);
	ck_assert_int_eq(kmmv_hit_list(&rings[0], text, sizeof(text)), 7);
	ck_assert_str_eq(text, "10\n203\n");
	/* A line may have twelve bytes. */
	ck_assert_int_eq(kmmv_hit_list(&rings[0], text, 13), 3);
	ck_assert_str_eq(text, "10\n");
	ck_assert_int_eq(kmmv_hit_list(&rings[0], text, 12), 0);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("hit");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, limit);
	tcase_add_test(tcase, refuses);
	tcase_add_test(tcase, removal);
	tcase_add_test(tcase, list);
	return run_suite("hit", tcase);
}
