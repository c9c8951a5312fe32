// SPDX-License-Identifier: GPL-2.0-only
/*
 * A client built without kmmv: every call is there, and does nothing. It can be
 * loaded without kmmv.ko; loading fails with -EPROTO if a call has an effect.
 *
 * qa/source/kernel-api.sh checks that no function of the headers is missing here.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/kmmv.h>
#include <linux/kmmv_ring.h>
#include <linux/statctr.h>

#if IS_ENABLED(CONFIG_KMMV)
#error "this client is to be built without kmmv"
#endif

static void copy(struct kmmv_source *source)
{
}

static struct kmmv_source source = { .copy = copy };

static bool counters_say_something(void)
{
	struct kmmv_family family = { .name = "noop" };
	struct kmmv_slot slot;
	u64 sum = 1;
	int said;

	said = perf_add("noop") | kmmv_register_family(&family) |
	       kmmv_add(1, "noop") | kmmv_set_label(1, "key", "text") |
	       kmmv_get_slot(1, &slot) | kmmv_read(1, &sum) |
	       kmmv_store(slot, 0, 1) | perf_forget(1) |
	       kmmv_merge(1, 2) |
	       kmmv_register_source(&source);
	perf_adjust(1, 1);
	kmmv_slot_add(slot, 1);
	perf_del(1);
	kmmv_source_copy(&source);
	kmmv_unregister_source(&source);
	return said || sum || kmmv_load(slot, 0) || *kmmv_slot_cpu(slot, 0) ||
	       memchr_inv(&slot, 0, sizeof(slot));
}

/* On a uniprocessor kernel these do count. */
static bool statctrs_say_something(void)
{
	pcpu_ctr_t *ctr = pcpu_ctr_alloc(GFP_KERNEL);
	statctr_t one, some[3];
	int said;

	said = statctr_init(&one, 0) | statctr_ninit(some, 3, 0);
	if (IS_ENABLED(CONFIG_SMP))
		said |= statctr_init_named(&one, 1, "noop", 0);
	statctr_inc(&one);
	statctr_dec(&one);
	statctr_add(&one, 5);
	statctr_sub(&one, 5);
	statctr_set(&one, 0);
	said |= statctr_read(&one) != 0;
	statctr_ncleanup(some, 3);
	statctr_cleanup(&one);
	(*PCPU_CTR(ctr, 0))++;
	return said || !ctr || pcpu_ctr_free(ctr);
}

static bool rings_say_something(void)
{
	struct kmmv_event_type type = { .name = "noop" };
	struct kmmv_ring *ring = kmmv_ring_get("default");
	struct kmmv_ring *own = kmmv_ring_make("noop", 2);
	struct kmmv_ring_head head;
	struct kmmv_ring_entry entry;
	int said = 0, number;

	number = kmmv_ring_register_type(&type);
	said = kmmv_ring_write(ring, number, -1, &said, sizeof(said)) |
	       kmmv_ring_mark(ring, -1, "noop") | kmmv_ring_trace(ring, 1) |
	       kmmv_ring_get_head(number, -1, &head) |
	       kmmv_ring_write_head(ring, head, &said, sizeof(said));
	if (!kmmv_ring_reserve(ring, number, -1, 4, &entry)) {
		said = -EPROTO;
		kmmv_ring_commit(&entry);
		kmmv_ring_discard(&entry);
	}
	if (!kmmv_ring_reserve_head(ring, head, 4, &entry))
		said = -EPROTO;
	kmmv_ring_put(own);
	kmmv_ring_put(ring);
	return said || IS_ERR(ring);
}

static int __init noop_init(void)
{
	return counters_say_something() || statctrs_say_something() ||
	       rings_say_something() ? -EPROTO : 0;
}

static void __exit noop_exit(void)
{
}

module_init(noop_init);
module_exit(noop_exit);

MODULE_DESCRIPTION("Test client of kmmv, built without it");
MODULE_AUTHOR("The kmmv maintainers");
MODULE_LICENSE("GPL");
