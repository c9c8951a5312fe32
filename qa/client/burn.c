// SPDX-License-Identifier: GPL-2.0-only
/*
 * Spends time in two functions, three to one: echo ROUNDS >/sys/module/.../burn.
 * Included by burn1.c and burn2.c, two modules of the same size whose functions have
 * other names.
 */
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/sched/signal.h>

#define CHUNK 20000UL

/* Rounds differ in length: a sampler's period may not be in step with them. */
static unsigned long chunk(void)
{
	return CHUNK / 2 + get_random_u32() % CHUNK;
}

void FIRST(unsigned long turns);
void SECOND(unsigned long turns);

noinline void FIRST(unsigned long turns)
{
	while (turns--)
		barrier();
}

noinline void SECOND(unsigned long turns)
{
	while (turns--)
		barrier();
}

static int burn_set(const char *text, const struct kernel_param *param)
{
	unsigned long rounds, turns;
	int err = kstrtoul(text, 10, &rounds);

	if (err)
		return err;
	while (rounds--) {
		turns = chunk();
		FIRST(3 * turns);
		SECOND(turns);
		cond_resched();
		if (signal_pending(current))
			return -EINTR;
	}
	return 0;
}

static const struct kernel_param_ops burn_ops = {
	.set = burn_set,
};
module_param_cb(burn, &burn_ops, NULL, 0200);

MODULE_DESCRIPTION("kmmv test: spends time in known functions");
MODULE_LICENSE("GPL");
