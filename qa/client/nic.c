// SPDX-License-Identifier: GPL-2.0-only
/*
 * A network device whose driver tells nothing while the device is down, as i40e and ena
 * do. The parameter `packets' is what it has sent, `drops' what it has dropped, which
 * others count and which it always tells.
 */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>

static unsigned long packets;
module_param(packets, ulong, 0644);
MODULE_PARM_DESC(packets, "what it has sent");

static unsigned long drops;
module_param(drops, ulong, 0644);
MODULE_PARM_DESC(drops, "what was dropped");

static bool opens;
module_param(opens, bool, 0644);
MODULE_PARM_DESC(opens, "as while its driver sets it up: it runs, and tells nothing");

static struct net_device *nic;

static netdev_tx_t nic_xmit(struct sk_buff *skb, struct net_device *dev)
{
	dev_kfree_skb_any(skb);
	return NETDEV_TX_OK;
}

static void nic_get_stats64(struct net_device *dev,
			    struct rtnl_link_stats64 *stats)
{
	stats->tx_dropped = READ_ONCE(drops);
	if (!netif_running(dev) || READ_ONCE(opens))
		return;
	stats->tx_packets = READ_ONCE(packets);
	stats->tx_bytes = 60 * stats->tx_packets;
}

static const struct net_device_ops nic_ops = {
	.ndo_start_xmit = nic_xmit,
	.ndo_get_stats64 = nic_get_stats64,
};

static void nic_setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = &nic_ops;
	dev->flags |= IFF_NOARP;
	eth_hw_addr_random(dev);
}

static int __init nic_init(void)
{
	int err;

	nic = alloc_netdev(0, "kmmvnic", NET_NAME_ENUM, nic_setup);
	if (!nic)
		return -ENOMEM;
	err = register_netdev(nic);
	if (err)
		free_netdev(nic);
	return err;
}

static void __exit nic_exit(void)
{
	unregister_netdev(nic);
	free_netdev(nic);
}

module_init(nic_init);
module_exit(nic_exit);

MODULE_DESCRIPTION("kmmv test: a network device that is silent while it is down");
MODULE_LICENSE("GPL");
