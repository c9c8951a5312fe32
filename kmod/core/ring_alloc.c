// SPDX-License-Identifier: GPL-2.0-only
/*
 * The buffer of one CPU: its memory, and the state in which it begins.
 *
 * Context: task, before writers and readers know the buffer, or after the last.
 */
#include <kmmv_deps.h>
#include "ring.h"

/*
 * A buffer may have a million pages; allocating or freeing them does not
 * reschedule by itself.
 */
static void pause_between(u32 i)
{
	if (i % 1024 == 0)
		cond_resched();
}

/* The first @nr pages have memory. */
static void pages_free(struct kmmv_buffer_page *pages, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++) {
		free_page((unsigned long)pages[i].data);
		pause_between(i);
	}
	kvfree(pages);
}

static struct kmmv_buffer_page *pages_alloc(int cpu, u32 nr)
{
	struct kmmv_buffer_page *pages;
	u32 i;

	pages = kmmv_zeroed_of(cpu, nr, sizeof(*pages));
	if (!pages)
		return NULL;
	for (i = 0; i < nr; i++) {
		pages[i].data = (void *)kmmv_zeroed_page_of(cpu);
		if (!pages[i].data)
			goto err_free;
		pause_between(i);
	}
	return pages;

err_free:
	pages_free(pages, i);
	return NULL;
}

/*
 * Pages 0 to ring_pages - 1 form the ring, with the tail on page 0; the others
 * are spares.
 */
static void ring_init(struct kmmv_ring_cpu *rc)
{
	struct kmmv_buffer_page *page;
	u64 now;
	u32 i;

	for (i = 0; i < rc->ring_pages; i++) {
		page = &rc->pages[i];
		if (i == rc->ring_pages - 1)
			atomic64_set(&page->link, KMMV_LINK_HEAD);
		else
			atomic64_set(&page->link,
				     kmmv_link_next(0, i + 1,
						    KMMV_LINK_NORMAL));
		local64_set(&page->word, i ? KMMV_WORD_CLOSED : 0);
	}
	for (; i < rc->nr_pages; i++) {
		local64_set(&rc->pages[i].word, KMMV_WORD_CLOSED);
		rc->spares[rc->nr_spares++] = i;
	}
	for (i = 0; i < rc->nr_pages; i++)
		rc->pages[i].rebase = KMMV_NO_REBASE;
	page = &rc->pages[0];
	preempt_disable_notrace();
	now = kmmv_ring_clock();
	preempt_enable_notrace();
	local64_set(&page->base, now);
	local64_set(&page->word, now << KMMV_WORD_STAMP_SHIFT);
	page->seq = 1;
	page->data->seq = 1;
	rc->writer->seq = 1;
	rc->tail = page;
	rc->commit = page;
	rc->entry = rc->ring_pages - 1;
}

/**
 * kmmv_ring_cpu_alloc() - allocate an empty buffer
 * @cpu: the CPU; memory is allocated on its node
 * @ring_pages: KMMV_RING_PAGES_MIN or more
 * @spares: pages that a consumer can have besides one
 * @overwrite: mode
 *
 * Context: task, may sleep.
 * Return: the buffer, or NULL without memory.
 */
struct kmmv_ring_cpu *kmmv_ring_cpu_alloc(int cpu, u32 ring_pages, u32 spares,
					  bool overwrite)
{
	struct kmmv_ring_cpu *rc;

	rc = kmmv_zeroed_of(cpu, 1, sizeof(*rc));
	if (!rc)
		return NULL;
	rc->cpu = cpu;
	rc->overwrite = overwrite;
	rc->ring_pages = ring_pages;
	rc->nr_pages = ring_pages + spares + 1;
	rc->queue = kmmv_zeroed_of(cpu, rc->nr_pages, sizeof(*rc->queue));
	if (!rc->queue)
		goto err_free_rc;
	rc->spares = kmmv_zeroed_of(cpu, rc->nr_pages, sizeof(*rc->spares));
	if (!rc->spares)
		goto err_free_queue;
	rc->writer = (void *)kmmv_zeroed_page_of(cpu);
	if (!rc->writer)
		goto err_free_spares;
	rc->reader = (void *)kmmv_zeroed_page_of(cpu);
	if (!rc->reader)
		goto err_free_writer;
	rc->pages = pages_alloc(cpu, rc->nr_pages);
	if (!rc->pages)
		goto err_free_reader;
	ring_init(rc);
	return rc;

err_free_reader:
	free_page((unsigned long)rc->reader);
err_free_writer:
	free_page((unsigned long)rc->writer);
err_free_spares:
	kvfree(rc->spares);
err_free_queue:
	kvfree(rc->queue);
err_free_rc:
	kvfree(rc);
	return NULL;
}

/**
 * kmmv_ring_cpu_free() - free a buffer that is not written, read or mapped
 * @rc: the CPU's buffer, or NULL
 *
 * Context: task, may sleep.
 */
void kmmv_ring_cpu_free(struct kmmv_ring_cpu *rc)
{
	if (!rc)
		return;
	pages_free(rc->pages, rc->nr_pages);
	free_page((unsigned long)rc->reader);
	free_page((unsigned long)rc->writer);
	kvfree(rc->spares);
	kvfree(rc->queue);
	kvfree(rc);
}
