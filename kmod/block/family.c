// SPDX-License-Identifier: GPL-2.0-only
/* The families of kmmv_block. */
#include <linux/kernel.h>

#include "block.h"

/* Help that several families have. */
#define HELP_OPERATIONS \
	"Requests of this kind that have ended, failed ones too. A request\n" \
	"that was merged into another one is counted with that. Equal to\n" \
	"/proc/diskstats for disks with requests whose iostats are on. With\n" \
	"the label counts = bios: bios that were submitted, as the driver\n" \
	"takes bios, not requests (device mapper, md, zram);\n" \
	"/proc/diskstats may count them differently. When such a driver\n" \
	"passes a bio on (nvme multipath, md linear), a device below that\n" \
	"takes bios, too, does not count it. With the label counts =\n" \
	"requests_untimed: requests that the kernel did not account are\n" \
	"included."

#define HELP_BYTES \
	"Bytes of completed parts of requests, failed ones too. 512 times\n" \
	"the sectors of /proc/diskstats for disks with requests whose\n" \
	"iostats are on. With the label counts = bios: bytes of the bios\n" \
	"that count as operations."

#define HELP_TIME \
	"Sum of the times from the allocation of each request to its end. A\n" \
	"rate of 1 second per second means that one was in flight on\n" \
	"average; the rate divided by that of the operations is their mean\n" \
	"time. What is counted without accounting, see the label counts,\n" \
	"has no time. Before 6.5 the kernel has no event for the end that it\n" \
	"accounts; there a time ends a little earlier than in\n" \
	"/proc/diskstats, where the last part of the request is completed."

#define HELP_MERGES \
	"Bios and requests of this kind that were merged into a request\n" \
	"that was waiting. They are not counted as operations; their bytes\n" \
	"are. Merges of discards are not counted, as the kernel has no\n" \
	"event for them."

#define HELP_ERRORS \
	"Parts of requests of all kinds that were completed with an error,\n" \
	"and bios that ended with one. Such a request also counts as an\n" \
	"operation. One that is tried again, by multipath for instance,\n" \
	"counts each time. Requests that pass through are not included, nor\n" \
	"are bios with REQ_NOWAIT that would have had to wait. A driver\n" \
	"that passes a bio on to another device (nvme multipath, md linear)\n" \
	"has its errors counted there only."

#define HELP_LATENCY(what, time) \
	"Of each disk, how many " what " took as long as the instance's\n" \
	"name says: sda/16us are those of at least 16 and less than 32\n" \
	"microseconds, sda/0us those of less than one, and sda/33554432us\n" \
	"all of at least 34 seconds. The times are those of\n" \
	"block.dev." time "_rawactive, of the disk and its partitions. An\n" \
	"instance is there once it has counted."

/*
 * None has a total: a disk may be made of others, whose instances count the same
 * data once more.
 */
static const struct kmmv_family disk_families[KMMV_BLOCK_ITEMS] = {
	[KMMV_BLOCK_OPERATIONS + STAT_READ] = {
		.name = "block.dev.read",
		.units = KMMV_UNITS_COUNT,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_NO_TOTAL,
		.oneline = "Reads completed, by disk",
		.help = HELP_OPERATIONS,
	},
	[KMMV_BLOCK_OPERATIONS + STAT_WRITE] = {
		.name = "block.dev.write",
		.units = KMMV_UNITS_COUNT,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_NO_TOTAL,
		.oneline = "Writes completed, by disk",
		.help = HELP_OPERATIONS,
	},
	[KMMV_BLOCK_OPERATIONS + STAT_DISCARD] = {
		.name = "block.dev.discard",
		.units = KMMV_UNITS_COUNT,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_NO_TOTAL,
		.oneline = "Discards completed, by disk",
		.help = HELP_OPERATIONS,
	},
	[KMMV_BLOCK_OPERATIONS + STAT_FLUSH] = {
		.name = "block.dev.flush",
		.units = KMMV_UNITS_COUNT,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_NO_TOTAL,
		.oneline = "Flushes completed, by disk",
		.help = "Flushes that the block layer has sent to the disk, each for all\n"
			"requests that were waiting for one; of a disk with the label\n"
			"counts = bios, bios without data that ask for a flush. Equal to\n"
			"/proc/diskstats for disks with requests whose iostats are on.",
	},
	[KMMV_BLOCK_BYTES + STAT_READ] = {
		.name = "block.dev.read_bytes",
		.units = KMMV_UNITS_BYTES,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_NO_TOTAL,
		.oneline = "Bytes of reads, by disk",
		.help = HELP_BYTES,
	},
	[KMMV_BLOCK_BYTES + STAT_WRITE] = {
		.name = "block.dev.write_bytes",
		.units = KMMV_UNITS_BYTES,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_NO_TOTAL,
		.oneline = "Bytes of writes, by disk",
		.help = HELP_BYTES,
	},
	[KMMV_BLOCK_BYTES + STAT_DISCARD] = {
		.name = "block.dev.discard_bytes",
		.units = KMMV_UNITS_BYTES,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_NO_TOTAL,
		.oneline = "Bytes of discards, by disk",
		.help = HELP_BYTES,
	},
	[KMMV_BLOCK_TIME + STAT_READ] = {
		.name = "block.dev.read_rawactive",
		.units = KMMV_UNITS_NSEC,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_NO_TOTAL,
		.oneline = "Time of reads, by disk",
		.help = HELP_TIME,
	},
	[KMMV_BLOCK_TIME + STAT_WRITE] = {
		.name = "block.dev.write_rawactive",
		.units = KMMV_UNITS_NSEC,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_NO_TOTAL,
		.oneline = "Time of writes, by disk",
		.help = HELP_TIME,
	},
	[KMMV_BLOCK_TIME + STAT_DISCARD] = {
		.name = "block.dev.discard_rawactive",
		.units = KMMV_UNITS_NSEC,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_NO_TOTAL,
		.oneline = "Time of discards, by disk",
		.help = HELP_TIME,
	},
	[KMMV_BLOCK_TIME + STAT_FLUSH] = {
		.name = "block.dev.flush_rawactive",
		.units = KMMV_UNITS_NSEC,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_NO_TOTAL,
		.oneline = "Time of flushes, by disk",
		.help = "Sum of the times from the start of each flush to its end.",
	},
	[KMMV_BLOCK_MERGES + STAT_READ] = {
		.name = "block.dev.read_merge",
		.units = KMMV_UNITS_COUNT,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_NO_TOTAL,
		.oneline = "Reads merged, by disk",
		.help = HELP_MERGES,
	},
	[KMMV_BLOCK_MERGES + STAT_WRITE] = {
		.name = "block.dev.write_merge",
		.units = KMMV_UNITS_COUNT,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_NO_TOTAL,
		.oneline = "Writes merged, by disk",
		.help = HELP_MERGES,
	},
	[KMMV_BLOCK_ERRORS] = {
		.name = "block.dev.errors",
		.units = KMMV_UNITS_COUNT,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_NO_TOTAL,
		.oneline = "Operations that failed, by disk",
		.help = HELP_ERRORS,
	},
	[KMMV_BLOCK_PASSTHROUGH] = {
		.name = "block.dev.passthrough",
		.units = KMMV_UNITS_COUNT,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_NO_TOTAL,
		.oneline = "Requests that passed through, by disk",
		.help = "Requests with commands of the device's own, of user space (SG_IO)\n"
			"or of the driver. The kernel does not account them, and they are\n"
			"in no other metric here. Where it is told to (iostats_passthrough)\n"
			"they count as reads and writes instead.",
	},
	[KMMV_BLOCK_INFLIGHT] = {
		.name = "block.dev.inflight",
		.units = KMMV_UNITS_COUNT,
		.semantics = KMMV_INSTANT,
		.flags = KMMV_NO_TOTAL | KMMV_FROM_SOURCE,
		.oneline = "Operations in flight, by disk",
		.help = "Requests and bios that the kernel accounts as begun and not ended,\n"
			"at the time of the copy, those of the disk's partitions too.\n"
			"Requests that wait in the scheduler are included; kernels before\n"
			"6.16 leave these out in /proc/diskstats.",
	},
};

/* A partition gets no flushes, and nothing passes through it. */
static const struct kmmv_family partition_families[KMMV_BLOCK_ITEMS] = {
	[KMMV_BLOCK_OPERATIONS + STAT_READ] = {
		.name = "block.partitions.read",
		.units = KMMV_UNITS_COUNT,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_NO_TOTAL,
		.oneline = "Reads completed, by partition",
		.help = HELP_OPERATIONS,
	},
	[KMMV_BLOCK_OPERATIONS + STAT_WRITE] = {
		.name = "block.partitions.write",
		.units = KMMV_UNITS_COUNT,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_NO_TOTAL,
		.oneline = "Writes completed, by partition",
		.help = HELP_OPERATIONS,
	},
	[KMMV_BLOCK_OPERATIONS + STAT_DISCARD] = {
		.name = "block.partitions.discard",
		.units = KMMV_UNITS_COUNT,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_NO_TOTAL,
		.oneline = "Discards completed, by partition",
		.help = HELP_OPERATIONS,
	},
	[KMMV_BLOCK_BYTES + STAT_READ] = {
		.name = "block.partitions.read_bytes",
		.units = KMMV_UNITS_BYTES,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_NO_TOTAL,
		.oneline = "Bytes of reads, by partition",
		.help = HELP_BYTES,
	},
	[KMMV_BLOCK_BYTES + STAT_WRITE] = {
		.name = "block.partitions.write_bytes",
		.units = KMMV_UNITS_BYTES,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_NO_TOTAL,
		.oneline = "Bytes of writes, by partition",
		.help = HELP_BYTES,
	},
	[KMMV_BLOCK_BYTES + STAT_DISCARD] = {
		.name = "block.partitions.discard_bytes",
		.units = KMMV_UNITS_BYTES,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_NO_TOTAL,
		.oneline = "Bytes of discards, by partition",
		.help = HELP_BYTES,
	},
	[KMMV_BLOCK_TIME + STAT_READ] = {
		.name = "block.partitions.read_rawactive",
		.units = KMMV_UNITS_NSEC,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_NO_TOTAL,
		.oneline = "Time of reads, by partition",
		.help = HELP_TIME,
	},
	[KMMV_BLOCK_TIME + STAT_WRITE] = {
		.name = "block.partitions.write_rawactive",
		.units = KMMV_UNITS_NSEC,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_NO_TOTAL,
		.oneline = "Time of writes, by partition",
		.help = HELP_TIME,
	},
	[KMMV_BLOCK_TIME + STAT_DISCARD] = {
		.name = "block.partitions.discard_rawactive",
		.units = KMMV_UNITS_NSEC,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_NO_TOTAL,
		.oneline = "Time of discards, by partition",
		.help = HELP_TIME,
	},
	[KMMV_BLOCK_MERGES + STAT_READ] = {
		.name = "block.partitions.read_merge",
		.units = KMMV_UNITS_COUNT,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_NO_TOTAL,
		.oneline = "Reads merged, by partition",
		.help = HELP_MERGES,
	},
	[KMMV_BLOCK_MERGES + STAT_WRITE] = {
		.name = "block.partitions.write_merge",
		.units = KMMV_UNITS_COUNT,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_NO_TOTAL,
		.oneline = "Writes merged, by partition",
		.help = HELP_MERGES,
	},
	[KMMV_BLOCK_ERRORS] = {
		.name = "block.partitions.errors",
		.units = KMMV_UNITS_COUNT,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_NO_TOTAL,
		.oneline = "Operations that failed, by partition",
		.help = HELP_ERRORS,
	},
	[KMMV_BLOCK_INFLIGHT] = {
		.name = "block.partitions.inflight",
		.units = KMMV_UNITS_COUNT,
		.semantics = KMMV_INSTANT,
		.flags = KMMV_NO_TOTAL | KMMV_FROM_SOURCE,
		.oneline = "Operations in flight, by partition",
		.help = "Requests and bios that the kernel accounts as begun and not ended,\n"
			"at the time of the copy. Requests that wait in the scheduler are\n"
			"included; kernels before 6.16 leave these out in /proc/diskstats.",
	},
};

static const struct kmmv_family latency_families[NR_STAT_GROUPS] = {
	[STAT_READ] = {
		.name = "block.latency.read",
		.units = KMMV_UNITS_COUNT,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_NO_TOTAL,
		.oneline = "Histogram of the times of reads, by disk and power of two",
		.help = HELP_LATENCY("reads", "read"),
	},
	[STAT_WRITE] = {
		.name = "block.latency.write",
		.units = KMMV_UNITS_COUNT,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_NO_TOTAL,
		.oneline = "Histogram of the times of writes, by disk and power of two",
		.help = HELP_LATENCY("writes", "write"),
	},
	[STAT_DISCARD] = {
		.name = "block.latency.discard",
		.units = KMMV_UNITS_COUNT,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_NO_TOTAL,
		.oneline = "Histogram of the times of discards, by disk and power of two",
		.help = HELP_LATENCY("discards", "discard"),
	},
	[STAT_FLUSH] = {
		.name = "block.latency.flush",
		.units = KMMV_UNITS_COUNT,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_NO_TOTAL,
		.oneline = "Histogram of the times of flushes, by disk and power of two",
		.help = HELP_LATENCY("flushes", "flush"),
	},
};

static const struct kmmv_family failed_family = {
	.name = "block.failed",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.oneline = "Failures to show a disk, a partition or a bucket",
	.help = "How often an instance or its label could not be made, because there was no\n"
		"instance number or no memory left, or new devices could not be counted at\n"
		"all for want of memory. It is tried again a second later. A counter that\n"
		"lacked only its instance has counted meanwhile, and nothing of that is lost.\n"
		"Operations of a device that could not be counted are lost.",
};

static int disk_family[KMMV_BLOCK_ITEMS];
static int partition_family[KMMV_BLOCK_ITEMS];
static int latency_family[NR_STAT_GROUPS];
static int failed_id;

/* Families without a name are left out. */
static int register_all(const struct kmmv_family *families, int *id,
			unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		id[i] = families[i].name ? kmmv_register_family(&families[i]) :
					   -ENOENT;
		if (families[i].name && id[i] < 0)
			return id[i];
	}
	return 0;
}

int kmmv_block_family_init(void)
{
	int err;

	err = register_all(disk_families, disk_family,
			   ARRAY_SIZE(disk_families));
	err = err ?: register_all(partition_families, partition_family,
				  ARRAY_SIZE(partition_families));
	err = err ?: register_all(latency_families, latency_family,
				  ARRAY_SIZE(latency_families));
	if (err)
		return err;
	failed_id = kmmv_register_family(&failed_family);
	return min(failed_id, 0);
}

/**
 * kmmv_block_family_item() - the family of an item
 * @dev: of which device
 * @item: enum kmmv_block_item
 *
 * Return: the family; -ENOENT if such devices have no such counter.
 */
int kmmv_block_family_item(const struct kmmv_block_dev *dev, unsigned int item)
{
	return dev->whole ? partition_family[item] : disk_family[item];
}

/* The family of a histogram, by enum stat_group. */
int kmmv_block_family_latency(unsigned int group)
{
	return latency_family[group];
}

/* The family of failures. */
int kmmv_block_family_failed(void)
{
	return failed_id;
}
