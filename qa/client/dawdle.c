// SPDX-License-Identifier: GPL-2.0-only
/*
 * A CPU that comes up idles before the callbacks of modules that are loaded
 * later, for so long that /proc shows it.
 */
#include <linux/cpuhotplug.h>
#include <linux/delay.h>
#include <linux/kernel_stat.h>
#include <linux/module.h>
#include <linux/tick.h>

#define IDLE_USECS	200000

static enum cpuhp_state state;

/* get_cpu_idle_time_us() is -1 where the kernel does not count idle time. */
static int dawdle(unsigned int cpu)
{
	u64 before = get_cpu_idle_time_us(cpu, NULL);

	while (get_cpu_idle_time_us(cpu, NULL) - before < IDLE_USECS &&
	       before != -1ULL)
		msleep(20);
	return 0;
}

static int __init dawdle_init(void)
{
	int err = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN,
					    "kmmv_dawdle:online", dawdle, NULL);

	if (err < 0)
		return err;
	state = err;
	return 0;
}

static void __exit dawdle_exit(void)
{
	cpuhp_remove_state_nocalls(state);
}

module_init(dawdle_init);
module_exit(dawdle_exit);

MODULE_DESCRIPTION("Has a CPU that comes up idle for a while");
MODULE_AUTHOR("The kmmv maintainers");
MODULE_LICENSE("GPL");
