// SPDX-License-Identifier: GPL-2.0-only
/*
 * The statctr paper's loopback experiment: four counters per packet, packets
 * and bytes out and in, of the type that the parameter mode says. Each mode has
 * a function, which the hooks call by its address, so that only the counters
 * differ.
 */
#include <linux/module.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/percpu_counter.h>
#include <linux/skbuff.h>
#include <linux/statctr.h>
#include <net/net_namespace.h>

enum { TX_PACKETS, TX_BYTES, RX_PACKETS, RX_BYTES, COUNTERS };

static unsigned long global[COUNTERS];
static atomic64_t atomic[COUNTERS];
static struct percpu_counter percpu[COUNTERS];
static statctr_t statctr[COUNTERS];

static int get_packets(char *buffer, const struct kernel_param *kp)
{
	return sprintf(buffer, "%lu\n", statctr_read(&statctr[RX_PACKETS]));
}

static const struct kernel_param_ops packets_ops = {
	.get = get_packets,
};

module_param_cb(packets, &packets_ops, NULL, 0444);
MODULE_PARM_DESC(packets, "out: packets received while mode was 4");

static void count_none(int i, unsigned int n)
{
}

/* Loses counts; one instruction. */
static void count_global(int i, unsigned int n)
{
	data_race(global[i] += n);
}

static void count_atomic(int i, unsigned int n)
{
	atomic64_add(n, &atomic[i]);
}

static void count_percpu(int i, unsigned int n)
{
	percpu_counter_add(&percpu[i], n);
}

static void count_statctr(int i, unsigned int n)
{
	statctr_add(&statctr[i], n);
}

typedef void (*count_fn)(int i, unsigned int n);

static const count_fn counts[] = {
	count_none, count_global, count_atomic, count_percpu, count_statctr,
};

static count_fn count = count_none;

static int set_mode(const char *text, const struct kernel_param *kp)
{
	unsigned int mode;
	int err = kstrtouint(text, 0, &mode);

	if (err)
		return err;
	if (mode >= ARRAY_SIZE(counts))
		return -EINVAL;
	WRITE_ONCE(count, counts[mode]);
	return 0;
}

static const struct kernel_param_ops mode_ops = {
	.set = set_mode,
};

module_param_cb(mode, &mode_ops, NULL, 0200);
MODULE_PARM_DESC(mode, "in: what counts: 0 nothing, 1 global, 2 atomic, 3 percpu_counter, 4 statctr");

static unsigned int sent(void *data, struct sk_buff *skb,
			 const struct nf_hook_state *state)
{
	count_fn fn = READ_ONCE(count);

	fn(TX_PACKETS, 1);
	fn(TX_BYTES, skb->len);
	return NF_ACCEPT;
}

static unsigned int received(void *data, struct sk_buff *skb,
			     const struct nf_hook_state *state)
{
	count_fn fn = READ_ONCE(count);

	fn(RX_PACKETS, 1);
	fn(RX_BYTES, skb->len);
	return NF_ACCEPT;
}

static const struct nf_hook_ops hooks[] = {
	{
		.hook = sent,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_POST_ROUTING,
	},
	{
		.hook = received,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_PRE_ROUTING,
	},
};

static int __init lo_init(void)
{
	int err, i;

	err = statctr_ninit(statctr, COUNTERS, 0);
	if (err)
		return err;
	for (i = 0; i < COUNTERS; i++) {
		err = percpu_counter_init(&percpu[i], 0, GFP_KERNEL);
		if (err)
			goto err_destroy;
	}
	err = nf_register_net_hooks(&init_net, hooks, ARRAY_SIZE(hooks));
	if (err)
		goto err_destroy;
	return 0;

err_destroy:
	while (i--)
		percpu_counter_destroy(&percpu[i]);
	statctr_ncleanup(statctr, COUNTERS);
	return err;
}

static void __exit lo_exit(void)
{
	int i;

	nf_unregister_net_hooks(&init_net, hooks, ARRAY_SIZE(hooks));
	for (i = 0; i < COUNTERS; i++)
		percpu_counter_destroy(&percpu[i]);
	statctr_ncleanup(statctr, COUNTERS);
}

module_init(lo_init);
module_exit(lo_exit);

MODULE_AUTHOR("The kmmv maintainers");
MODULE_DESCRIPTION("kmmv: four counters per loopback packet");
MODULE_LICENSE("GPL");
