// SPDX-License-Identifier: GPL-2.0-only
/*
 * The CPUs' buffers of raw samples: made before the first event there, freed when
 * their size changes.
 *
 * Memory ordering:
 *
 *	buffer:A  a CPU's buffer before its pointer, release - sample:A  acquire
 *	    a handler or a drain that finds a buffer finds it made.
 */
#include "profile.h"

#define SAMPLES_DEFAULT 256
/* Size of a raw sample without a stack, with what the buffer adds. */
#define SAMPLE_BYTES \
	(sizeof(struct kmmv_profile_raw) + sizeof(struct kmmv_event) + 4)

static u32 samples = SAMPLES_DEFAULT;

/* Pages of a CPU's page ring; the consumer has two more. */
static u32 buffer_pages(void)
{
	return max_t(u32, KMMV_RING_PAGES_MIN,
		     DIV_ROUND_UP(samples, KMMV_RING_PAGE_ROOM / SAMPLE_BYTES));
}

/**
 * kmmv_profile_buffer_make() - make a CPU's buffer, if it has none
 * @cpu: which
 *
 * Context: task, under kmmv_profile_lock.
 * Return: 0; -ENOMEM.
 */
int kmmv_profile_buffer_make(int cpu)
{
	struct kmmv_profile_cpu *of = per_cpu_ptr(kmmv_profile_cpus, cpu);
	struct kmmv_ring_cpu *rc;

	if (of->rc)
		return 0;
	rc = kmmv_ring_cpu_alloc(cpu, buffer_pages(), 1, false);
	if (!rc)
		return -ENOMEM;
	/* buffer:A pairs with sample:A: the buffer is made. */
	smp_store_release(&of->rc, rc);
	return 0;
}

/**
 * kmmv_profile_buffers_free() - free all buffers
 *
 * Context: task, under kmmv_profile_lock or at the end. Nothing samples, and the
 * buffers are empty.
 */
void kmmv_profile_buffers_free(void)
{
	int cpu;

	mutex_lock(&kmmv_profile_drain_lock);
	for_each_possible_cpu(cpu) {
		struct kmmv_profile_cpu *of =
			per_cpu_ptr(kmmv_profile_cpus, cpu);

		kmmv_ring_cpu_free(of->rc);
		of->rc = NULL;
	}
	mutex_unlock(&kmmv_profile_drain_lock);
}

/**
 * kmmv_profile_buffers_resize() - have buffers made anew with another size
 * @nr: samples without stacks
 *
 * Context: as kmmv_profile_buffers_free().
 */
void kmmv_profile_buffers_resize(u32 nr)
{
	kmmv_profile_buffers_free();
	samples = nr;
}

u32 kmmv_profile_get_buffer(void)
{
	return READ_ONCE(samples);
}
