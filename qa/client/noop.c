// SPDX-License-Identifier: GPL-2.0-only
/*
 * A client built without kmmv: every call is there, none does anything. Loads
 * where kmmv.ko is not; fails with -EPROTO if a call says something.
 */
#include <linux/module.h>
#include <linux/kmmv.h>

#if IS_ENABLED(CONFIG_KMMV)
#error "this client is to be built without kmmv"
#endif

static s64 refresh(struct kmmv_source *source, u64 max_age)
{
	return 0;
}

static struct kmmv_source source = { .refresh = refresh };

static int __init noop_init(void)
{
	struct kmmv_family family = { .name = "noop" };
	struct kmmv_slot slot = {};
	u64 sum = 1;
	int said;

	said = perf_add("noop") | kmmv_register_family(&family) |
	       kmmv_add(1, "noop") | kmmv_set_label(1, "key", "text") |
	       kmmv_get_slot(1, &slot) | kmmv_read(1, &sum) |
	       kmmv_store(slot, 0, 1) | perf_forget(1) |
	       kmmv_register_source(&source);
	perf_adjust(1, 1);
	kmmv_slot_add(slot, 1);
	perf_del(1);
	kmmv_unregister_source(&source);
	return said || sum || memchr_inv(&slot, 0, sizeof(slot)) ? -EPROTO : 0;
}

static void __exit noop_exit(void)
{
}

module_init(noop_init);
module_exit(noop_exit);

MODULE_DESCRIPTION("Test client of kmmv, built without it");
MODULE_AUTHOR("The kmmv maintainers");
MODULE_LICENSE("GPL");
