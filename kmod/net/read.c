// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads what the kernel has counted for a device, as /proc/net/dev does: under
 * RCU, without RTNL.
 *
 * Context of all: task, under kmmv_net_lock, which keeps the device. The lock
 * also protects this file's static buffers.
 */
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/u64_stats_sync.h>
#include <net/rtnetlink.h>

#include "kmmv_compat.h"
#include "net.h"

/*
 * With the old function for statistics, counts are longs. Without a function they are,
 * too, unless the kernel adds up what the driver has counted on each CPU.
 */
static bool is_narrow(const struct net_device *dev)
{
	const struct net_device_ops *ops = dev->netdev_ops;

	if (BITS_PER_LONG != 32 || ops->ndo_get_stats64)
		return false;
	return ops->ndo_get_stats || !kmmv_net_read_parts(dev);
}

/* The sums are those of /proc/net/dev. */
static void read_columns(struct net_device *dev, u64 *column)
{
	static struct rtnl_link_stats64 s;

	dev_get_stats(dev, &s);
	column[KMMV_NET_IN_BYTES] = s.rx_bytes;
	column[KMMV_NET_IN_PACKETS] = s.rx_packets;
	column[KMMV_NET_IN_ERRORS] = s.rx_errors;
	column[KMMV_NET_IN_DROPS] = s.rx_dropped + s.rx_missed_errors;
	column[KMMV_NET_IN_FIFO] = s.rx_fifo_errors;
	column[KMMV_NET_IN_FRAME] = s.rx_length_errors + s.rx_over_errors +
				    s.rx_crc_errors + s.rx_frame_errors;
	column[KMMV_NET_IN_MCASTS] = s.multicast;
	column[KMMV_NET_OUT_BYTES] = s.tx_bytes;
	column[KMMV_NET_OUT_PACKETS] = s.tx_packets;
	column[KMMV_NET_OUT_ERRORS] = s.tx_errors;
	column[KMMV_NET_OUT_DROPS] = s.tx_dropped;
	column[KMMV_NET_OUT_FIFO] = s.tx_fifo_errors;
	column[KMMV_NET_OUT_CARRIER] =
		s.tx_carrier_errors + s.tx_aborted_errors +
		s.tx_window_errors + s.tx_heartbeat_errors;
	column[KMMV_NET_COLLISIONS] = s.collisions;
}

/* A driver's counts on each CPU, by the CPU's place among possible ones. */
static u64 *raw[KMMV_NET_PER_CPU];

static void read_tstats(const struct pcpu_sw_netstats *stats, unsigned int i)
{
	unsigned int start;

	do {
		start = kmmv_u64_stats_begin(&stats->syncp);
		raw[KMMV_NET_IN_BYTES][i] = u64_stats_read(&stats->rx_bytes);
		raw[KMMV_NET_IN_PACKETS][i] = u64_stats_read(&stats->rx_packets);
		raw[KMMV_NET_OUT_BYTES][i] = u64_stats_read(&stats->tx_bytes);
		raw[KMMV_NET_OUT_PACKETS][i] = u64_stats_read(&stats->tx_packets);
	} while (kmmv_u64_stats_retry(&stats->syncp, start));
}

static void read_dstats(const struct pcpu_dstats *stats, unsigned int i)
{
	unsigned int start;

	do {
		start = kmmv_u64_stats_begin(&stats->syncp);
		raw[KMMV_NET_IN_BYTES][i] = kmmv_dstats_read(&stats->rx_bytes);
		raw[KMMV_NET_IN_PACKETS][i] = kmmv_dstats_read(&stats->rx_packets);
		raw[KMMV_NET_OUT_BYTES][i] = kmmv_dstats_read(&stats->tx_bytes);
		raw[KMMV_NET_OUT_PACKETS][i] = kmmv_dstats_read(&stats->tx_packets);
	} while (kmmv_u64_stats_retry(&stats->syncp, start));
}

/*
 * The loopback's counts are of both directions, a dummy's of what it sends, a
 * monitor's of what it receives: see kmmv_spread.whole.
 */
static void read_lstats(const struct pcpu_lstats *stats, unsigned int i)
{
	unsigned int start;
	u64 bytes, packets;

	do {
		start = kmmv_u64_stats_begin(&stats->syncp);
		bytes = u64_stats_read(&stats->bytes);
		packets = u64_stats_read(&stats->packets);
	} while (kmmv_u64_stats_retry(&stats->syncp, start));
	raw[KMMV_NET_IN_BYTES][i] = bytes;
	raw[KMMV_NET_OUT_BYTES][i] = bytes;
	raw[KMMV_NET_IN_PACKETS][i] = packets;
	raw[KMMV_NET_OUT_PACKETS][i] = packets;
}

static void read_cpus(const struct net_device *dev)
{
	unsigned int i = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		switch (dev->pcpu_stat_type) {
		case NETDEV_PCPU_STAT_TSTATS:
			read_tstats(per_cpu_ptr(dev->tstats, cpu), i);
			break;
		case NETDEV_PCPU_STAT_DSTATS:
			read_dstats(per_cpu_ptr(dev->dstats, cpu), i);
			break;
		default:
			read_lstats(per_cpu_ptr(dev->lstats, cpu), i);
			break;
		}
		i++;
	}
}

/**
 * kmmv_net_read_parts() - how many CPUs have parts of a device's counts
 * @dev: the device
 *
 * Return: that of the possible CPUs; 0 if the driver does not say where they are.
 */
unsigned int kmmv_net_read_parts(const struct net_device *dev)
{
	switch (dev->pcpu_stat_type) {
	case NETDEV_PCPU_STAT_TSTATS:
	case NETDEV_PCPU_STAT_DSTATS:
	case NETDEV_PCPU_STAT_LSTATS:
		return num_possible_cpus();
	default:
		return 0;
	}
}

/**
 * kmmv_net_is_veth() - whether a device is an end of a veth
 * @dev: the device
 *
 * A veth shows as received what its peer has sent. When one of the two is to be
 * removed, the driver first separates them. Then it shows less.
 *
 * Return: true for a veth.
 */
bool kmmv_net_is_veth(const struct net_device *dev)
{
	return dev->rtnl_link_ops && dev->netdev_ops->ndo_get_peer_dev &&
	       !strcmp(dev->rtnl_link_ops->kind, "veth");
}

/**
 * kmmv_net_read_peer() - the other end of a veth
 * @dev: the device
 *
 * Return: its device, to compare only; NULL for other devices, and for a veth that
 * has none yet, or no longer.
 */
struct net_device *kmmv_net_read_peer(struct net_device *dev)
{
	struct net_device *peer = NULL;

	rcu_read_lock();
	if (kmmv_net_is_veth(dev))
		peer = dev->netdev_ops->ndo_get_peer_dev(dev);
	rcu_read_unlock();
	return peer;
}

static bool has_traffic(const u64 *column)
{
	int i;

	for (i = 0; i < KMMV_NET_PER_CPU; i++)
		if (column[i])
			return true;
	return false;
}

/*
 * Some drivers give no counts of a device that is down or that they set up
 * again, or they leave out queues. Then its counts may be those of the kernel's
 * core alone. @up: it was up before it was read. A driver stops a device after
 * it no longer runs, and starts it before it is up.
 */
static void take(struct kmmv_net_device *device, bool up, const u64 *before,
		 const u64 *after)
{
	struct kmmv_parts parts = { .nr = device->nr };
	struct kmmv_totals totals = {
		.narrow = is_narrow(device->dev),
		.less = !up || !netif_running(device->dev) ||
			!has_traffic(after),
	};
	bool fell = false;
	int i;

	if (device->untold && !totals.less) {
		device->untold = false;
		device->kept = true;
	}
	for (i = 0; i < KMMV_NET_COLUMNS; i++) {
		if (i < KMMV_NET_PER_CPU) {
			parts.part = device->part + i * device->nr;
			parts.raw = raw[i];
		}
		totals.before = before[i];
		totals.after = after[i];
		fell |= kmmv_spread_read(&device->spread[i],
					 i < KMMV_NET_PER_CPU ? &parts : NULL,
					 &totals);
	}
	if (fell)
		kmmv_net_self_add(KMMV_NET_RESETS, 1);
	kmmv_net_self_add(KMMV_NET_DEVICES, 1);
}

/**
 * kmmv_net_read() - read a device
 * @device: has its device, and is not final
 *
 * A veth that is separated is left as it is, for kmmv_net_read_pair().
 *
 * Return: false for such a veth.
 */
bool kmmv_net_read(struct kmmv_net_device *device)
{
	static u64 before[KMMV_NET_COLUMNS], after[KMMV_NET_COLUMNS];
	struct net_device *dev = device->dev;
	bool up = READ_ONCE(dev->flags) & IFF_UP;

	rcu_read_lock();
	read_columns(dev, after);
	memcpy(before, after, sizeof(before));
	if (device->nr) {
		read_cpus(dev);
		read_columns(dev, after);
	}
	rcu_read_unlock();
	/* A separated veth stays so: this one was not when it was read. */
	if (device->peer && !kmmv_net_read_peer(dev))
		return false;
	take(device, up, before, after);
	return true;
}

/*
 * The device's own received count of column @i: bpf_redirect_peer() counts
 * there traffic that the peer has not sent.
 */
static u64 received(const struct kmmv_net_device *device, int i)
{
	unsigned int j;
	u64 sum = 0;

	for (j = 0; j < device->nr; j++)
		sum += raw[KMMV_NET_IN_BYTES + i][j];
	return sum;
}

/**
 * kmmv_net_read_pair() - read a veth and its peer for the last time
 * @device: has its device, separated, and through which nothing goes any more
 * @peer: the other end, likewise
 *
 * Each shows what it counts itself. The other end's counts have to be added:
 * traffic that it has sent is received here, and traffic that XDP there has
 * received was sent here. For drops and errors, this is not known.
 */
void kmmv_net_read_pair(struct kmmv_net_device *device,
			struct kmmv_net_device *peer)
{
	static u64 one[KMMV_NET_COLUMNS], two[KMMV_NET_COLUMNS];
	u64 xdp_one[2], xdp_two[2], out;
	int i;

	rcu_read_lock();
	read_columns(device->dev, one);
	read_columns(peer->dev, two);
	rcu_read_unlock();
	if (device->nr)
		read_cpus(device->dev);
	for (i = 0; i < 2; i++)
		xdp_one[i] = one[KMMV_NET_IN_BYTES + i] - received(device, i);
	if (peer->nr)
		read_cpus(peer->dev);
	for (i = 0; i < 2; i++)
		xdp_two[i] = two[KMMV_NET_IN_BYTES + i] - received(peer, i);
	for (i = 0; i < 2; i++) {
		out = one[KMMV_NET_OUT_BYTES + i];
		one[KMMV_NET_IN_BYTES + i] += two[KMMV_NET_OUT_BYTES + i];
		one[KMMV_NET_OUT_BYTES + i] += xdp_two[i];
		two[KMMV_NET_IN_BYTES + i] += out;
		two[KMMV_NET_OUT_BYTES + i] += xdp_one[i];
	}
	for (i = KMMV_NET_PER_CPU; i < KMMV_NET_COLUMNS; i++) {
		one[i] = max(one[i], device->spread[i].total.last);
		two[i] = max(two[i], peer->spread[i].total.last);
	}
	if (device->nr)
		read_cpus(device->dev);
	take(device, false, one, one);
	if (peer->nr)
		read_cpus(peer->dev);
	take(peer, false, two, two);
	device->final = true;
	peer->final = true;
}

void kmmv_net_read_exit(void)
{
	int i;

	for (i = 0; i < KMMV_NET_PER_CPU; i++)
		kfree(raw[i]);
}

int kmmv_net_read_init(void)
{
	int i;

	for (i = 0; i < KMMV_NET_PER_CPU; i++)
		raw[i] = kcalloc(num_possible_cpus(), sizeof(u64), GFP_KERNEL);
	for (i = 0; i < KMMV_NET_PER_CPU; i++) {
		if (!raw[i]) {
			kmmv_net_read_exit();
			return -ENOMEM;
		}
	}
	return 0;
}
