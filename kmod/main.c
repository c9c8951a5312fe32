// SPDX-License-Identifier: GPL-2.0-only
/* kmmv: kernel memory-mapped values. Parameters, init and exit. */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/random.h>

#include "module.h"
#include "rings.h"

static unsigned int capacity;
module_param(capacity, uint, 0444);
MODULE_PARM_DESC(capacity,
		 "greatest number of instances (0: 262144, or what max_bytes allows)");

static unsigned long max_bytes;
module_param(max_bytes, ulong, 0444);
MODULE_PARM_DESC(max_bytes,
		 "limit of 8 x capacity x possible CPUs (0: 1/64 of memory)");

static unsigned int ring_pages = KMMV_RING_PAGES_DEFAULT;
module_param(ring_pages, uint, 0444);
MODULE_PARM_DESC(ring_pages,
		 "pages of each CPU's buffer of the ring \"default\" (0: not enabled)");

static enum cpuhp_state prepare_state, online_state;

static int cpu_prepares(unsigned int cpu)
{
	return kmmv_area_populate(cpu) ?: kmmv_rings_populate(cpu);
}

static int cpu_gone(unsigned int cpu)
{
	kmmv_rings_recheck();
	return 0;
}

static int cpu_came(unsigned int cpu)
{
	kmmv_change_online(&kmmv_table, cpu, true);
	kmmv_rings_recheck();
	return 0;
}

static int cpu_goes(unsigned int cpu)
{
	kmmv_change_online(&kmmv_table, cpu, false);
	return 0;
}

static unsigned long default_max_bytes(void)
{
	u64 bytes = (u64)totalram_pages() << PAGE_SHIFT;

	if (!IS_ENABLED(CONFIG_64BIT))
		return min_t(u64, bytes / 64, 256UL << 20);
	return bytes / 64;
}

static int geom_init(struct kmmv_geom *geom)
{
	u32 possible = num_possible_cpus();
	int err;

	if (!max_bytes)
		max_bytes = default_max_bytes();
	if (!capacity)
		capacity = kmmv_geom_default(possible, max_bytes);
	err = -EINVAL;
	if (capacity > KMMV_RESERVED)
		err = kmmv_geom_init(geom, capacity, nr_cpu_ids, possible,
				     max_bytes);
	if (err == -E2BIG)
		pr_err("capacity=%u takes %llu bytes on %u possible CPUs, max_bytes is %lu\n",
		       capacity, kmmv_geom_bytes(capacity, possible), possible,
		       max_bytes);
	else if (err)
		pr_err("capacity=%u with max_bytes=%lu on %u possible CPUs cannot be mapped (capacity has to be %u to %u)\n",
		       capacity, max_bytes, possible, KMMV_RESERVED + 1,
		       KMMV_CAPACITY_MAX);
	return err;
}

/*
 * The devices are removed. A task whose open() was refused may still hold the
 * module, and a failed init frees it without waiting. Nothing else can hold it.
 */
static void wait_for_refused(void)
{
#ifdef CONFIG_MODULE_UNLOAD
	while (module_refcount(THIS_MODULE) > 1)
		msleep(20);
#endif
}

/*
 * Kernels before 6.10 call cpu_prepares() for CPUs that are up only if their
 * stable branch has the fix. Calling it twice is harmless.
 */
static int __init populate_online(void)
{
	unsigned int cpu;
	int err = 0;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		err = kmmv_area_populate(cpu);
		if (err)
			break;
	}
	cpus_read_unlock();
	return err;
}

static int __init kmmv_init(void)
{
	struct kmmv_geom geom;
	u64 epoch;
	int err;

	err = geom_init(&geom);
	if (err)
		return err;
	get_random_bytes(&epoch, sizeof(epoch));
	err = kmmv_table_init(&kmmv_table, &geom, epoch ?: 1, 1);
	if (err)
		return err;
	err = kmmv_area_init();
	if (err)
		goto err_table_fini;
	/* Before there are counters, so that every CPU that is up has pages. */
	err = cpuhp_setup_state(CPUHP_BP_PREPARE_DYN, "kmmv:prepare",
				cpu_prepares, cpu_gone);
	if (err < 0)
		goto err_area_exit;
	prepare_state = err;
	err = populate_online();
	if (err)
		goto err_remove_prepare;
	err = kmmv_api_init();
	if (err)
		goto err_remove_prepare;
	err = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "kmmv:online", cpu_came,
				cpu_goes);
	if (err < 0)
		goto err_remove_prepare;
	online_state = err;
	err = kmmv_ringnode_init(&kmmv_ring_fops);
	if (err)
		goto err_wait;
	err = kmmv_ringfs_init(ring_pages);
	if (err)
		goto err_ringnode_exit;
	/* Everything is allocated: now make it visible, and usable last. */
	err = kmmv_chardev_init();
	if (err)
		goto err_ringfs_exit;
	err = kmmv_ringfs_register();
	if (err)
		goto err_chardev_exit;
	WRITE_ONCE(kmmv_live, true);
	pr_info("capacity %u, %u CPUs, mapping of %llu bytes\n", capacity,
		geom.nr_cpus, geom.length);
	return 0;

err_chardev_exit:
	kmmv_chardev_exit();
err_ringfs_exit:
	kmmv_ringfs_exit();
err_ringnode_exit:
	kmmv_ringnode_exit();
err_wait:
	/* A node, even one of an earlier load, may have been opened. */
	wait_for_refused();
	cpuhp_remove_state_nocalls(online_state);
err_remove_prepare:
	cpuhp_remove_state_nocalls(prepare_state);
err_area_exit:
	kmmv_area_exit();
err_table_fini:
	kmmv_table_fini(&kmmv_table);
	return err;
}

static void __exit kmmv_exit(void)
{
	kmmv_ringmade_exit();
	kmmv_ringfs_unregister();
	kmmv_chardev_exit();
	kmmv_ringfs_exit();
	kmmv_ringnode_exit();
	cpuhp_remove_state_nocalls(online_state);
	cpuhp_remove_state_nocalls(prepare_state);
	kmmv_area_exit();
	kmmv_table_fini(&kmmv_table);
}

module_init(kmmv_init);
module_exit(kmmv_exit);

MODULE_DESCRIPTION("Kernel memory-mapped values");
MODULE_AUTHOR("The kmmv maintainers");
MODULE_LICENSE("GPL");
MODULE_VERSION(KMMV_VERSION);
