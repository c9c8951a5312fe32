// SPDX-License-Identifier: GPL-2.0-only
/*
 * Has the kernel's ftrace fail, as it does by itself when it finds code that is not what
 * it expects: until the next boot it changes nothing, and calls whom it called. It does
 * so when it is about to change code the next time.
 */
#include <linux/kprobes.h>
#include <linux/module.h>

static void (*kill)(void);

static int before_update(struct kprobe *kp, struct pt_regs *regs)
{
	kill();
	return 0;
}

static struct kprobe update = {
	.symbol_name = "arch_ftrace_update_code",
	.pre_handler = before_update,
};

static int __init dead_init(void)
{
	struct kprobe kp = { .symbol_name = "ftrace_kill" };
	int err;

	/*
	 * The function is not exported; a probe knows its address, which with IBT is
	 * behind the ENDBR: then the processor must not check calls.
	 */
	err = register_kprobe(&kp);
	if (err)
		return err;
	kill = (void (*)(void))kp.addr;
	unregister_kprobe(&kp);
	return register_kprobe(&update);
}

static void __exit dead_exit(void)
{
	unregister_kprobe(&update);
}

module_init(dead_init);
module_exit(dead_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("kmmv tests: ftrace fails");
