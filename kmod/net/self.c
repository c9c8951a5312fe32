// SPDX-License-Identifier: GPL-2.0-only
/* The source's own families: what it did, what went back, what failed. */
#include <linux/kernel.h>

#include "net.h"

static const struct kmmv_family work_family = {
	.name = "net.work",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.flags = KMMV_NO_TOTAL | KMMV_FROM_SOURCE,
	.oneline = "Work done to copy the counts of network devices",
	.help = "copies: number of copies. devices: devices that were read. forgotten: names\n"
		"that were gone for so long, or for which there was so little room, that\n"
		"their counts went over to the instance others.",
};

static const struct kmmv_family took_family = {
	.name = "net.took",
	.units = KMMV_UNITS_NSEC,
	.semantics = KMMV_COUNTER,
	.flags = KMMV_FROM_SOURCE,
	.oneline = "Time that copies of network devices' counts took, and of the rest after",
	.help = "copies: time to make them. rest: after each copy there is no other for nine\n"
		"times as long as it took, but 1 ms at least and 100 ms at most; readers\n"
		"that ask meanwhile get the last copy.",
};

static const struct kmmv_family failed_family = {
	.name = "net.failed",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.flags = KMMV_FROM_SOURCE,
	.oneline = "Network devices that could not be followed, and names not shown",
	.help = "devices: how often there was no memory to follow a device; it is tried again\n"
		"with the next copy. Until then, one that got another name counts under its\n"
		"earlier name. names: how often a name got no instances of its own, as\n"
		"there were too many names, no number or no memory left, or as it has control\n"
		"characters. What such a device counts is in the instance others, as long as\n"
		"it has that name.",
};

static const struct kmmv_family resets_family = {
	.name = "net.resets",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.flags = KMMV_FROM_SOURCE,
	.oneline = "Counts of network devices that went back",
	.help = "How often a copy found a device's count less than before, as when its driver\n"
		"started again from 0. A device that is down may tell less: that does not\n"
		"count. The value shown never falls.",
};

static const struct {
	const struct kmmv_family *family;
	const char *name;
} selves[KMMV_NET_SELF] = {
	[KMMV_NET_COPIES]		= { &work_family, "copies" },
	[KMMV_NET_DEVICES]		= { &work_family, "devices" },
	[KMMV_NET_FORGOTTEN]		= { &work_family, "forgotten" },
	[KMMV_NET_TOOK]			= { &took_family, "copies" },
	[KMMV_NET_REST]			= { &took_family, "rest" },
	[KMMV_NET_FAILED_DEVICES]	= { &failed_family, "devices" },
	[KMMV_NET_FAILED_NAMES]		= { &failed_family, "names" },
	[KMMV_NET_RESETS]		= { &resets_family, "values" },
};

static int number[KMMV_NET_SELF];

/* Copies were made before this load, and their counts are still shown. */
bool kmmv_net_was_loaded;

static void drop(int nr)
{
	while (nr--)
		perf_del(number[nr]);
}

/* Called before all others, which report here. */
int kmmv_net_self_init(void)
{
	u64 copies;
	int i;

	for (i = 0; i < KMMV_NET_SELF; i++) {
		number[i] = kmmv_add(kmmv_register_family(selves[i].family),
				     selves[i].name);
		if (number[i] < 0) {
			drop(i);
			return number[i];
		}
	}
	kmmv_read(number[KMMV_NET_COPIES], &copies);
	kmmv_net_was_loaded = copies;
	return 0;
}

void kmmv_net_self_exit(void)
{
	drop(KMMV_NET_SELF);
}

/* Count for an instance of the families above. Context: any. */
void kmmv_net_self_add(enum kmmv_net_self self, u64 delta)
{
	perf_adjust(number[self], delta);
}
