// SPDX-License-Identifier: GPL-2.0-only
/* The cost of counting: the source's own families. */
#include "block.h"

static const struct kmmv_family work_family = {
	.name = "block.work",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.flags = KMMV_NO_TOTAL,
	.oneline = "Work done to count the operations of disks and partitions",
	.help = "hits: completions of requests, or of parts of them, and bios submitted to\n"
		"drivers that take bios, that were looked at. From Linux 6.5 the end of a\n"
		"request is looked at once more, and is another hit.",
};

static const struct kmmv_family took_family = {
	.name = "block.took",
	.units = KMMV_UNITS_NSEC,
	.semantics = KMMV_COUNTER,
	.flags = KMMV_NO_TOTAL,
	.oneline = "Time that counting the operations of disks and partitions took",
	.help = "hits: an estimate: on each CPU, one hit in 1024 is timed, and counts 1024\n"
		"times. A hit in which an interrupt arrived is among them.",
};

DEFINE_PER_CPU(u32, kmmv_block_ticks);
struct kmmv_slot kmmv_block_hits;
struct kmmv_slot kmmv_block_took;

static int work_instance;
static int took_instance;

int kmmv_block_cost_init(void)
{
	int err;

	work_instance = kmmv_add(kmmv_register_family(&work_family), "hits");
	err = kmmv_get_slot(work_instance, &kmmv_block_hits);
	if (err)
		return err;
	took_instance = kmmv_add(kmmv_register_family(&took_family), "hits");
	err = kmmv_get_slot(took_instance, &kmmv_block_took);
	if (err)
		perf_del(work_instance);
	return err;
}

void kmmv_block_cost_exit(void)
{
	perf_del(took_instance);
	perf_del(work_instance);
}
