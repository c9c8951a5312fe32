// SPDX-License-Identifier: GPL-2.0-only
/*
 * Has a module's Nth call of a function that can fail fail, and tells what memory the
 * module has not freed, on a kernel without fault injection or kmemleak.
 *
 *	module	whose calls; load this module first. kmmv.ko, whose functions others
 *		call, has to be loaded before.
 *	nth	which call from now on; as it is read, how many are left: 0 if it has
 *		failed
 *	calls	the calls since `nth' was written, 800 at most: for each one, the number
 *		of the first one from the same place
 *	times	how many calls fail, from that one on; for the next `nth'
 *	site	where the last one was: FUNCTION CALLER+OFFSET of the return address
 *	probed	the functions that can fail, of those that this kernel has
 *	kept	how much memory is not freed, and where the last of it was allocated
 *
 * A call is one whose return address is in the module, in whatever thread. The
 * function is not called: it has returned what it returns without memory.
 */
#include <linux/atomic.h>
#include <linux/blkdev.h>
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/ptrace.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

static char *module = "";
module_param(module, charp, 0444);
MODULE_PARM_DESC(module, "whose calls fail");

static const struct module *target;

static int times = 1;
module_param(times, int, 0644);
MODULE_PARM_DESC(times, "how many calls fail");

/* Calls until the last one that fails, and how many of them, the last ones, fail. */
static atomic_t left;
static int failing = 1;
static char site[KSYM_SYMBOL_LEN + KSYM_NAME_LEN + 2];

/* Return addresses of the calls since `nth' was written, in their order. */
static unsigned long callers[800];
static atomic_t nr_calls;

static bool is_targets(unsigned long caller)
{
	const struct module *of = READ_ONCE(target);

	return of && within_module(caller, of);
}

/* ---- failures */

enum returned {
	FALSE, /* NULL, or 0 */
	ERROR, /* -ENOMEM, or as a pointer */
};

/* ERR_PTR(), 6.9, since when it takes the queue's limits. */
#define BLK_ALLOC_DISK_RETURNS                                        \
	(__same_type(__blk_alloc_disk,                                \
		     struct gendisk * (int, struct lock_class_key *)) \
		 ? FALSE                                              \
		 : ERROR)

/* What it returns is an address, or a page, that is freed by one of frees. */
enum memory { NONE, ADDRESS, PAGE };

/*
 * Three probes: one that has ftrace let handlers change where it goes on, which it does
 * for the first one; for what is allocated; and, called first as it is the last one, for
 * failures, where the caller's address is still to be seen.
 */
struct function {
	const char *name;
	enum returned returned;
	enum memory memory;
	struct kprobe first;
	struct kprobe kp;
	struct kretprobe krp;
	bool is_there;
};

#ifdef CONFIG_X86

static noinline notrace void just_return(void)
{
	barrier();
}

static unsigned long caller_of(struct pt_regs *regs)
{
	return *(unsigned long *)kernel_stack_pointer(regs);
}

static void return_to(struct pt_regs *regs, unsigned long caller)
{
	instruction_pointer_set(regs, (unsigned long)just_return);
}

#else /* CONFIG_X86 */

static unsigned long caller_of(struct pt_regs *regs)
{
	return procedure_link_pointer(regs);
}

static void return_to(struct pt_regs *regs, unsigned long caller)
{
	instruction_pointer_set(regs, caller);
}

#endif /* CONFIG_X86 */

static int handler(struct kprobe *kp, struct pt_regs *regs)
{
	const struct function *of = container_of(kp, struct function, kp);
	unsigned long caller = caller_of(regs);
	int length, at, after_it;

	if (!is_targets(caller))
		return 0;
	at = atomic_fetch_inc(&nr_calls);
	if (at < ARRAY_SIZE(callers))
		callers[at] = caller;
	after_it = atomic_dec_if_positive(&left);
	if (after_it < 0 || after_it >= failing)
		return 0;
	length = scnprintf(site, sizeof(site), "%s ", of->name);
	sprint_symbol(site + length, caller);
	regs_set_return_value(
		regs, of->returned == ERROR ? (unsigned long)-ENOMEM : 0);
	return_to(regs, caller);
	return 1;
}

/* Without it, kprobes may become jumps, which do not change where it goes on. */
static void after(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
}

/* ---- memory that the module has */

#define BITS 12

static struct block {
	unsigned long address;
	unsigned long caller;
} blocks[1 << BITS];

static DEFINE_RAW_SPINLOCK(blocks_lock);
static int nr_blocks, lost;

/* The address's place in the table, or that for it; NULL if all are taken. */
static struct block *place_of(unsigned long address)
{
	unsigned int at = hash_long(address, BITS), i;
	struct block *block, *place = NULL;

	for (i = 0; i < ARRAY_SIZE(blocks) && i < 64; i++) {
		block = &blocks[(at + i) % ARRAY_SIZE(blocks)];
		if (block->address == address)
			return block;
		if (!block->address && !place)
			place = block;
	}
	return place;
}

static void allocated(unsigned long address, unsigned long caller)
{
	struct block *block;
	unsigned long flags;

	raw_spin_lock_irqsave(&blocks_lock, flags);
	block = place_of(address);
	if (block) {
		WRITE_ONCE(nr_blocks, nr_blocks + !block->address);
		block->address = address;
		block->caller = caller;
	} else {
		lost++;
	}
	raw_spin_unlock_irqrestore(&blocks_lock, flags);
}

static void freed(unsigned long address)
{
	struct block *block;
	unsigned long flags;

	if (!address || !READ_ONCE(nr_blocks))
		return;
	raw_spin_lock_irqsave(&blocks_lock, flags);
	block = place_of(address);
	if (block && block->address) {
		block->address = 0;
		WRITE_ONCE(nr_blocks, nr_blocks - 1);
	}
	raw_spin_unlock_irqrestore(&blocks_lock, flags);
}

struct call {
	unsigned long caller;
};

static int enters(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct call *call = (struct call *)instance->data;

	call->caller = caller_of(regs);
	return !is_targets(call->caller);
}

static const struct function *function_of(struct kretprobe_instance *instance)
{
	return container_of(get_kretprobe(instance), struct function, krp);
}

static int returns(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	const struct call *call = (const struct call *)instance->data;
	unsigned long address = regs_return_value(regs);

	if (!address || IS_ERR_VALUE(address))
		return 0;
	if (function_of(instance)->memory == PAGE)
		address = (unsigned long)page_address((struct page *)address);
	allocated(address, call->caller);
	return 0;
}

struct free {
	const char *name;
	enum memory memory;
	bool is_rcu;
	struct kprobe kp;
	bool is_there;
};

static int frees(struct kprobe *kp, struct pt_regs *regs)
{
	const struct free *of = container_of(kp, struct free, kp);
	unsigned long address = regs_get_kernel_argument(regs, 0);

	if (of->is_rcu) {
		unsigned long what = regs_get_kernel_argument(regs, 1);

		/* The head's offset in it, and later the address itself. */
		address = what < PAGE_SIZE ? address - what : what;
	} else if (of->memory == PAGE) {
		address = (unsigned long)page_address((struct page *)address);
	}
	freed(address);
	return 0;
}

/* ---- with the names that newer kernels have */

static struct function functions[] = {
	{ "__kmalloc", FALSE, ADDRESS },
	{ "__kmalloc_noprof", FALSE, ADDRESS },
	{ "__kmalloc_cache_noprof", FALSE, ADDRESS },
	{ "__kmalloc_large_noprof", FALSE, ADDRESS },
	{ "kmalloc_trace", FALSE, ADDRESS },
	{ "kmalloc_large", FALSE, ADDRESS },
	{ "kvmalloc_node", FALSE, ADDRESS },
	{ "__kvmalloc_node_noprof", FALSE, ADDRESS },
	{ "kmemdup_nul", FALSE, ADDRESS },
	{ "kmemdup_nul_noprof", FALSE, ADDRESS },
	{ "vcalloc", FALSE, ADDRESS },
	{ "vcalloc_noprof", FALSE, ADDRESS },
	{ "__alloc_pages", FALSE, PAGE },
	{ "__alloc_pages_noprof", FALSE, PAGE },
	{ "alloc_pages_noprof", FALSE, PAGE },
	{ "__get_free_pages", FALSE, ADDRESS },
	{ "get_free_pages_noprof", FALSE, ADDRESS },
	{ "get_zeroed_page", FALSE, ADDRESS },
	{ "get_zeroed_page_noprof", FALSE, ADDRESS },
	{ "kasprintf", FALSE, ADDRESS },
	{ "__alloc_percpu", FALSE, ADDRESS },
	{ "pcpu_alloc_noprof", FALSE, ADDRESS },
	{ "alloc_workqueue", FALSE, ADDRESS },
	{ "alloc_workqueue_noprof", FALSE, ADDRESS },
	{ "perf_event_create_kernel_counter", ERROR, ADDRESS },
	{ "__blk_alloc_disk", BLK_ALLOC_DISK_RETURNS, ADDRESS },
	{ "misc_register", ERROR },
	{ "register_module_notifier", ERROR },
	{ "register_netdevice_notifier", ERROR },
	{ "register_tracepoint_module_notifier", ERROR },
	{ "register_ftrace_function", ERROR },
	{ "tracepoint_probe_register", ERROR },
	{ "ftrace_set_filter", ERROR },
	{ "ftrace_set_filter_ip", ERROR },
	{ "class_interface_register", ERROR },
	{ "__class_register", ERROR },
	{ "class_register", ERROR },
	{ "device_create", ERROR },
	{ "alloc_chrdev_region", ERROR },
	{ "cdev_add", ERROR },
	{ "__xa_alloc_cyclic", ERROR },
	{ "simple_pin_fs", ERROR },
	{ "alloc_anon_inode", ERROR },
	{ "configfs_register_subsystem", ERROR },
	{ "configfs_register_group", ERROR },
	{ "__cpuhp_setup_state", ERROR },
	{ "__cpuhp_setup_state_cpuslocked", ERROR },
	{ "kmmv_add", ERROR },
	{ "kmmv_register_family", ERROR },
	{ "kmmv_register_own_family", ERROR },
	{ "kmmv_register_source", ERROR },
	{ "kmmv_register_directory", ERROR },
	{ "kmmv_ring_make", ERROR },
	{ "kmmv_ring_register_type", ERROR },
	{ "kmmv_set_label", ERROR },
};

static struct free all_frees[] = {
	{ "kfree", ADDRESS },
	{ "kvfree", ADDRESS },
	{ "vfree", ADDRESS },
	{ "kvfree_call_rcu", ADDRESS, true },
	{ "free_percpu", ADDRESS },
	{ "free_pages", ADDRESS },
	{ "__free_pages", PAGE },
	{ "destroy_workqueue", ADDRESS },
	{ "perf_event_release_kernel", ADDRESS },
	{ "put_disk", ADDRESS },
};

static int probe_memory(struct function *of)
{
	if (of->memory == NONE)
		return 0;
	of->krp.kp.symbol_name = of->name;
	of->krp.entry_handler = enters;
	of->krp.handler = returns;
	of->krp.data_size = sizeof(struct call);
	of->krp.maxactive = 64;
	return register_kretprobe(&of->krp);
}

static int probe(struct function *of)
{
	int err;

	of->first.symbol_name = of->name;
	of->first.post_handler = after;
	err = register_kprobe(&of->first);
	if (err)
		return err;
	err = probe_memory(of);
	if (err)
		goto err_first;
	of->kp.symbol_name = of->name;
	of->kp.pre_handler = handler;
	of->kp.post_handler = after;
	err = register_kprobe(&of->kp);
	if (err)
		goto err_memory;
	of->is_there = true;
	return 0;

err_memory:
	if (of->memory != NONE)
		unregister_kretprobe(&of->krp);
err_first:
	unregister_kprobe(&of->first);
	return err;
}

static int probe_free(struct free *of)
{
	int err;

	of->kp.symbol_name = of->name;
	of->kp.pre_handler = frees;
	err = register_kprobe(&of->kp);
	of->is_there = !err;
	return err;
}

static void unprobe(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		if (!functions[i].is_there)
			continue;
		unregister_kprobe(&functions[i].kp);
		if (functions[i].memory != NONE)
			unregister_kretprobe(&functions[i].krp);
		unregister_kprobe(&functions[i].first);
	}
	for (i = 0; i < ARRAY_SIZE(all_frees); i++)
		if (all_frees[i].is_there)
			unregister_kprobe(&all_frees[i].kp);
}

static int probe_all(void)
{
	int i, err;

	for (i = 0; i < ARRAY_SIZE(all_frees); i++) {
		err = probe_free(&all_frees[i]);
		if (err && err != -ENOENT)
			return err;
	}
	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		err = probe(&functions[i]);
		if (err && err != -ENOENT)
			return err;
	}
	return 0;
}

/* ---- parameters */

static int nth_set(const char *text, const struct kernel_param *param)
{
	int nth, err = kstrtoint(text, 10, &nth);

	if (err)
		return err;
	if (nth < 0 || times < 1)
		return -EINVAL;
	atomic_set(&left, 0);
	atomic_set(&nr_calls, 0);
	if (nth) {
		site[0] = '\0';
		failing = times;
		atomic_set(&left, nth + times - 1);
	}
	return 0;
}

static int nth_get(char *page, const struct kernel_param *param)
{
	return sysfs_emit(page, "%d\n",
			  max(atomic_read(&left) - failing + 1, 0));
}

static int calls_get(char *page, const struct kernel_param *param)
{
	int nr = min_t(int, atomic_read(&nr_calls), ARRAY_SIZE(callers));
	int i, first, length = 0;

	for (i = 0; i < nr; i++) {
		for (first = 0; first < i; first++)
			if (callers[first] == callers[i])
				break;
		length += sysfs_emit_at(page, length, "%d ", first + 1);
	}
	return length;
}

static int site_get(char *page, const struct kernel_param *param)
{
	return sysfs_emit(page, "%s\n", site);
}

static int probed_get(char *page, const struct kernel_param *param)
{
	int i, length = 0;

	for (i = 0; i < ARRAY_SIZE(functions); i++)
		if (functions[i].is_there)
			length += sysfs_emit_at(page, length, "%s\n",
						functions[i].name);
	return length;
}

/* Names are found while the module is there. */
static int kept_get(char *page, const struct kernel_param *param)
{
	unsigned long flags, caller = 0;
	int i, nr;

	raw_spin_lock_irqsave(&blocks_lock, flags);
	nr = nr_blocks + lost;
	for (i = 0; i < ARRAY_SIZE(blocks); i++)
		if (blocks[i].address)
			caller = blocks[i].caller;
	raw_spin_unlock_irqrestore(&blocks_lock, flags);
	return sysfs_emit(page, "%d %pS\n", nr, (void *)caller);
}

static const struct kernel_param_ops nth_ops = { .set = nth_set,
						 .get = nth_get };
static const struct kernel_param_ops calls_ops = { .get = calls_get };
static const struct kernel_param_ops site_ops = { .get = site_get };
static const struct kernel_param_ops probed_ops = { .get = probed_get };
static const struct kernel_param_ops kept_ops = { .get = kept_get };
module_param_cb(nth, &nth_ops, NULL, 0644);
module_param_cb(calls, &calls_ops, NULL, 0444);
module_param_cb(site, &site_ops, NULL, 0444);
module_param_cb(probed, &probed_ops, NULL, 0444);
module_param_cb(kept, &kept_ops, NULL, 0444);

static int changes(struct notifier_block *block, unsigned long state,
		   void *argument)
{
	const struct module *changed = argument;

	if (strcmp(changed->name, module))
		return NOTIFY_DONE;
	if (state == MODULE_STATE_COMING)
		WRITE_ONCE(target, changed);
	else if (state == MODULE_STATE_GOING)
		WRITE_ONCE(target, NULL);
	return NOTIFY_DONE;
}

static struct notifier_block modules = {
	.notifier_call = changes,
};

static int __init fault_init(void)
{
	int err = probe_all();

	err = err ?: register_module_notifier(&modules);
	if (err)
		unprobe();
	return err;
}

static void __exit fault_exit(void)
{
	unregister_module_notifier(&modules);
	unprobe();
}

module_init(fault_init);
module_exit(fault_exit);

MODULE_DESCRIPTION("kmmv test: has a module's calls fail");
MODULE_LICENSE("GPL");
