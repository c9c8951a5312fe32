// SPDX-License-Identifier: GPL-2.0-only
/*
 * How the module begins and ends: a step that fails undoes those before it, in
 * reverse, and what a refused open() may still touch outlasts it. And how many
 * may wait on a file.
 */
#include "module.h"
#include "waiters.h"
#include "rings.h"
#include "quiet.h"
#include "suite.h"

enum step {
	AREA, PREPARE, POPULATE, API, ONLINE, NODES, RINGS, CHARDEV, REGISTER,
	ALL,
	MADE = ALL	/* by modules, later */
};

/* Those that a step has to be undone of. */
#define UNDONE	(1 << AREA | 1 << PREPARE | 1 << ONLINE | DEVICES)
/* From the first of these on there is something to open. */
#define DEVICES	(1 << NODES | 1 << RINGS | 1 << CHARDEV | 1 << REGISTER | 1 << MADE)

static enum step fails_at;
static int up;		/* steps that are done */
static int holders;	/* tasks whose open() was refused, and still is running */
static int naps;

const struct file_operations kmmv_ring_fops;

static int step(enum step step)
{
	ck_assert(!kmmv_live);
	ck_assert_int_eq(up, (1 << step) - 1);
	if (step == fails_at)
		return -100 - (int)step;
	up |= 1 << step;
	return 0;
}

/* The last one that is not undone yet. */
static void undo(enum step step)
{
	ck_assert_int_eq(up & UNDONE & -(1 << step), 1 << step);
	up &= (1 << step) - 1;
}

/* ---- what the module calls */

int kmmv_area_init(void)
{
	return step(AREA);
}

void kmmv_area_exit(void)
{
	undo(AREA);
}

int cpuhp_setup_state(enum cpuhp_state state, const char *name,
		      int (*startup)(unsigned int cpu),
		      int (*teardown)(unsigned int cpu))
{
	ck_assert(name && startup && teardown);
	return step(state == CPUHP_AP_ONLINE_DYN ? ONLINE : PREPARE) ?:
		       (int)state + 1;
}

void cpuhp_remove_state_nocalls(enum cpuhp_state state)
{
	ck_assert_int_eq(holders, 0);
	undo(state == CPUHP_AP_ONLINE_DYN + 1 ? ONLINE : PREPARE);
}

/* Of each CPU that is up; the last one's is the step. */
int kmmv_area_populate(unsigned int cpu)
{
	return cpu == 3 ? step(POPULATE) : 0;
}

int kmmv_api_init(void)
{
	return step(API);
}

int kmmv_ringnode_init(const struct file_operations *fops)
{
	ck_assert_ptr_eq(fops, &kmmv_ring_fops);
	/* A node of the last load may have been opened by now. */
	holders = 3;
	return step(NODES);
}

void kmmv_ringnode_exit(void)
{
	undo(NODES);
}

int kmmv_ringfs_init(u32 pages)
{
	ck_assert_uint_eq(pages, KMMV_RING_PAGES_DEFAULT);
	return step(RINGS);
}

void kmmv_ringfs_exit(void)
{
	undo(RINGS);
}

int kmmv_chardev_init(void)
{
	return step(CHARDEV);
}

void kmmv_chardev_exit(void)
{
	undo(CHARDEV);
}

int kmmv_ringfs_register(void)
{
	return step(REGISTER);
}

void kmmv_ringfs_unregister(void)
{
	undo(REGISTER);
}

void kmmv_ringmade_exit(void)
{
	undo(MADE);
}

int kmmv_rings_populate(unsigned int cpu)
{
	(void)cpu;
	return 0;
}

void kmmv_rings_recheck(void)
{
}

/* While there is a device, another open() may raise the count. */
int module_refcount(struct module *module)
{
	(void)module;
	ck_assert_int_eq(up & DEVICES, 0);
	return 1 + holders;
}

void msleep(unsigned int ms)
{
	ck_assert_uint_gt(ms, 0);
	naps++;
	holders--;
}

/* ---- begin and end */

static void begin(enum step fails)
{
	fails_at = fails;
	up = 0;
	holders = 0;
	naps = 0;
	kmmv_live = false;
	shim_fail_in = 0;
}

/* Each step fails in turn: nothing is left, and no holder is left behind. */
START_TEST(fails)
{
	begin(_i);
	ck_assert_int_eq(shim_init(), -100 - _i);
	ck_assert(!kmmv_live);
	ck_assert_int_eq(up & UNDONE, 0);
	ck_assert_int_eq(holders, 0);
	ck_assert_int_eq(naps, _i < NODES ? 0 : 3);
	ck_assert_int_eq(shim_allocated, 0);
}
END_TEST

/* No memory for the table: no step is taken. */
START_TEST(no_table)
{
	begin(ALL);
	shim_fail_in = 1;
	ck_assert_int_eq(shim_init(), -ENOMEM);
	ck_assert_int_eq(up, 0);
	ck_assert(!kmmv_live);
	ck_assert_int_eq(shim_allocated, 0);
}
END_TEST

/* The devices can be opened when everything is there, and the end undoes all. */
START_TEST(whole)
{
	begin(ALL);
	ck_assert_int_eq(shim_init(), 0);
	ck_assert(kmmv_live);
	ck_assert_int_eq(up, (1 << ALL) - 1);
	ck_assert_int_eq(naps, 0);
	up |= 1 << MADE;
	/* The kernel does not end a module that is held. */
	holders = 0;
	shim_exit();
	ck_assert_int_eq(up & UNDONE, 0);
	ck_assert_int_eq(shim_allocated, 0);
}
END_TEST

/* ---- waiters */

/* There is room for so many, and no more of them are looked at, under the lock. */
START_TEST(waiters)
{
	enum { MAX = 8, MANY = 20 };
	struct list_head waiter[MANY];
	wait_queue_head_t wait;
	int n;

	spin_lock_init(&wait.lock);
	INIT_LIST_HEAD(&wait.head);
	for (n = 0; n < MANY; n++) {
		shim_hold_steps = 0;
		ck_assert_int_eq(kmmv_wait_has_room(&wait, MAX), n < MAX);
		ck_assert_uint_eq(shim_hold_steps, n < MAX ? n : MAX);
		ck_assert_int_eq(shim_locks_held, 0);
		list_add(&waiter[n], &wait.head);
	}
	/* Who goes leaves room. */
	while (n >= MAX)
		list_del(&waiter[--n]);
	ck_assert(kmmv_wait_has_room(&wait, MAX));
	ck_assert(!kmmv_wait_has_room(&wait, MAX - 1));
}
END_TEST

/*
 * A poll() that finds no room does not wait. From then on each says so, also one that
 * does not wait, and one that finds room again.
 */
START_TEST(crowded)
{
	enum { MAX = 3 };
	struct list_head waiter[MAX + 2];
	poll_table nobody = { NULL }, one;
	bool is_crowded = false;
	wait_queue_head_t queue;
	struct file file;
	int n;

	spin_lock_init(&queue.lock);
	INIT_LIST_HEAD(&queue.head);
	for (n = 0; n < MAX; n++) {
		one.waiter = &waiter[n];
		ck_assert_uint_eq(kmmv_poll_wait(&file, &queue, &one, MAX,
						 &is_crowded), 0);
		ck_assert_ptr_eq(queue.head.next, &waiter[n]);
	}
	/* No room, but no caller that waits. */
	ck_assert_uint_eq(kmmv_poll_wait(&file, &queue, NULL, MAX, &is_crowded), 0);
	ck_assert_uint_eq(kmmv_poll_wait(&file, &queue, &nobody, MAX, &is_crowded),
			  0);
	one.waiter = &waiter[MAX];
	ck_assert_uint_eq(kmmv_poll_wait(&file, &queue, &one, MAX, &is_crowded),
			  EPOLLERR);
	ck_assert_ptr_eq(queue.head.next, &waiter[MAX - 1]);
	ck_assert_uint_eq(kmmv_poll_wait(&file, &queue, NULL, MAX, &is_crowded),
			  EPOLLERR);
	list_del(&waiter[0]);
	one.waiter = &waiter[MAX + 1];
	ck_assert_uint_eq(kmmv_poll_wait(&file, &queue, &one, MAX, &is_crowded),
			  EPOLLERR);
	ck_assert_ptr_eq(queue.head.next, &waiter[MAX + 1]);
	ck_assert_int_eq(shim_locks_held, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("init");
	TCase *tcase = tcase_create("init");

	tcase_add_loop_test(tcase, fails, 0, ALL);
	tcase_add_test(tcase, no_table);
	tcase_add_test(tcase, whole);
	tcase_add_test(tcase, waiters);
	tcase_add_test(tcase, crowded);
	suite_add_tcase(suite, tcase);
	return run_all(suite);
}
