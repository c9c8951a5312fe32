// SPDX-License-Identifier: GPL-2.0-only
/*
 * The statctr paper's loopback experiment: four counters per packet, packets
 * and bytes out and in, of the type that the parameter mode says. The hooks are
 * there in every mode, so that only the counters differ.
 */
#include <linux/module.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/percpu_counter.h>
#include <linux/skbuff.h>
#include <linux/statctr.h>
#include <net/net_namespace.h>

enum { NONE, GLOBAL, ATOMIC, PERCPU_COUNTER, STATCTR };

static int mode;
module_param(mode, int, 0644);

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

static void count(int i, unsigned int n)
{
	switch (READ_ONCE(mode)) {
	case GLOBAL:
		WRITE_ONCE(global[i], global[i] + n);
		break;
	case ATOMIC:
		atomic64_add(n, &atomic[i]);
		break;
	case PERCPU_COUNTER:
		percpu_counter_add(&percpu[i], n);
		break;
	case STATCTR:
		statctr_add(&statctr[i], n);
		break;
	}
}

static unsigned int sent(void *data, struct sk_buff *skb,
			 const struct nf_hook_state *state)
{
	count(TX_PACKETS, 1);
	count(TX_BYTES, skb->len);
	return NF_ACCEPT;
}

static unsigned int received(void *data, struct sk_buff *skb,
			     const struct nf_hook_state *state)
{
	count(RX_PACKETS, 1);
	count(RX_BYTES, skb->len);
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
