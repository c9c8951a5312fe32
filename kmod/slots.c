// SPDX-License-Identifier: GPL-2.0-only
/*
 * The slot store. Numbers are given out in ascending order, then those that
 * were given back, longest free first. Growth adds pages and moves nothing.
 *
 * Context: task, under the table's mutex, unless said otherwise.
 */
#include <kmmv_deps.h>
#include "slots.h"

/**
 * kmmv_slots_init() - an empty store
 * @slots: the store
 * @geom: layout; copied
 *
 * Return: 0 or -ENOMEM.
 */
int kmmv_slots_init(struct kmmv_slots *slots, const struct kmmv_geom *geom)
{
	memset(slots, 0, sizeof(*slots));
	slots->geom = *geom;
	slots->free_head = KMMV_NO_SLOT;

	slots->ctr = kvcalloc(geom->cpu_pages, sizeof(*slots->ctr), GFP_KERNEL);
	if (!slots->ctr)
		return -ENOMEM;
	slots->link = kvcalloc(geom->cpu_pages, sizeof(*slots->link),
			       GFP_KERNEL);
	if (!slots->link)
		goto err_free_ctr;
	slots->inc = kvcalloc(geom->inc_pages, sizeof(*slots->inc), GFP_KERNEL);
	if (!slots->inc)
		goto err_free_link;
	return 0;

err_free_link:
	kvfree(slots->link);
err_free_ctr:
	kvfree(slots->ctr);
	return -ENOMEM;
}

/**
 * kmmv_slots_fini() - free the store; nobody updates, maps or reads it
 * @slots: the store
 */
void kmmv_slots_fini(struct kmmv_slots *slots)
{
	u32 i;

	for (i = 0; i < slots->geom.cpu_pages; i++) {
		free_percpu(slots->ctr[i]);
		kfree(slots->link[i]);
	}
	for (i = 0; i < slots->geom.inc_pages; i++)
		free_page((unsigned long)slots->inc[i]);
	kvfree(slots->inc);
	kvfree(slots->link);
	kvfree(slots->ctr);
}

/* Pages behind number; what is allocated on the way to -ENOMEM is kept. */
static int slots_grow(struct kmmv_slots *slots, u32 number)
{
	u32 i = (number + KMMV_SLOT_BIAS) / KMMV_PER_PAGE;
	u64 __percpu *ctr;

	if (!slots->inc[number / KMMV_INC_PER_PAGE]) {
		u32 *page = (u32 *)get_zeroed_page(GFP_KERNEL);

		if (!page)
			return -ENOMEM;
		/* slots:H pairs with area:A. */
		smp_store_release(&slots->inc[number / KMMV_INC_PER_PAGE],
				  page);
	}
	if (!slots->link[i]) {
		slots->link[i] = kcalloc(KMMV_PER_PAGE, sizeof(u32),
					 GFP_KERNEL);
		if (!slots->link[i])
			return -ENOMEM;
	}
	if (!slots->ctr[i]) {
		/* Zeroed; on each CPU's own node; a page, so it can be mapped. */
		ctr = __alloc_percpu(PAGE_SIZE, PAGE_SIZE);
		if (!ctr)
			return -ENOMEM;
		/* slots:I pairs with area:B. */
		smp_store_release(&slots->ctr[i], ctr);
	}
	return 0;
}

static u32 *slots_link(struct kmmv_slots *slots, u32 number)
{
	u32 word = number + KMMV_SLOT_BIAS;

	return &slots->link[word / KMMV_PER_PAGE][word % KMMV_PER_PAGE];
}

/* It has been given out before, and given back since. */
static bool slots_reused(const struct kmmv_slots *slots, u32 number)
{
	return number >= KMMV_RESERVED && number - KMMV_RESERVED < slots->open;
}

/**
 * kmmv_slots_get() - take a number; nothing of it can be seen yet
 * @slots: the store
 * @number: result; kmmv_slots_publish() or kmmv_slots_cancel() comes next
 *
 * Return: 0; -ENOSPC when all numbers are taken; -ENOMEM.
 */
int kmmv_slots_get(struct kmmv_slots *slots, u32 *number)
{
	int err;

	if (slots->nr < slots->geom.capacity) {
		err = slots_grow(slots, slots->nr);
		if (err)
			return err;
		*number = slots->nr++;
		return 0;
	}
	if (slots->free_head == KMMV_NO_SLOT)
		return -ENOSPC;
	*number = slots->free_head;
	slots->free_head = *slots_link(slots, *number);
	slots->free--;
	return 0;
}

/**
 * kmmv_slots_cancel() - undo the last kmmv_slots_get()
 * @slots: the store
 * @number: what it gave
 */
void kmmv_slots_cancel(struct kmmv_slots *slots, u32 number)
{
	if (!slots_reused(slots, number)) {
		slots->nr--;
		return;
	}
	if (slots->free_head == KMMV_NO_SLOT)
		slots->free_tail = number;
	*slots_link(slots, number) = slots->free_head;
	slots->free_head = number;
	slots->free++;
}

/*
 * No pair is needed, nor would it have but one writer: until the next record
 * is out, every reader's incarnation of the number is an old one.
 */
static void slots_clear(struct kmmv_slots *slots, u32 number)
{
	u64 __percpu *ctr = kmmv_slots_ctr(slots, number);
	int cpu;

	for_each_possible_cpu(cpu) {
#if KMMV_ATOMIC64
		WRITE_ONCE(*per_cpu_ptr(ctr, cpu), 0);
#else
		u32 *half = (u32 *)per_cpu_ptr(ctr, cpu);

		WRITE_ONCE(half[0], 0);
		WRITE_ONCE(half[1], 0);
#endif
	}
}

/**
 * kmmv_slots_publish() - the number counts from 0, from now on
 * @slots: the store
 * @number: from kmmv_slots_get()
 */
void kmmv_slots_publish(struct kmmv_slots *slots, u32 number)
{
	if (number < KMMV_RESERVED)
		return;
	if (slots_reused(slots, number)) {
		slots_clear(slots, number);
		return;
	}
	/* slots:A pairs with slots:B: whoever sees the number sees its page. */
	smp_store_release(&slots->open, number - KMMV_RESERVED + 1);
}

/**
 * kmmv_slots_put() - give a number back under its next incarnation
 * @slots: the store
 * @number: nobody updates it any more
 */
void kmmv_slots_put(struct kmmv_slots *slots, u32 number)
{
	u32 *page = slots->inc[number / KMMV_INC_PER_PAGE];
	u32 *inc = &page[number % KMMV_INC_PER_PAGE];

	WRITE_ONCE(*inc, *inc + 1);
	/*
	 * slots:C pairs with read_status:A: values before the incarnation. A
	 * full barrier, because the next owner counts on other CPUs: the
	 * incarnation has to have reached every CPU before any of them can
	 * count.
	 */
	smp_mb();

	*slots_link(slots, number) = KMMV_NO_SLOT;
	if (slots->free_head == KMMV_NO_SLOT)
		slots->free_head = number;
	else
		*slots_link(slots, slots->free_tail) = number;
	slots->free_tail = number;
	slots->free++;
}

/**
 * kmmv_slots_incarnation() - how often a number was given back
 * @slots: the store
 * @number: was given out
 */
u32 kmmv_slots_incarnation(const struct kmmv_slots *slots, u32 number)
{
	return slots->inc[number / KMMV_INC_PER_PAGE]
			 [number % KMMV_INC_PER_PAGE];
}

/**
 * kmmv_slots_sum() - the counter over all possible CPUs
 * @slots: the store
 * @number: was given out
 *
 * Context: any; NMI where KMMV_ATOMIC64.
 */
u64 kmmv_slots_sum(struct kmmv_slots *slots, u32 number)
{
	u64 __percpu *ctr = kmmv_slots_ctr(slots, number);
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += kmmv_ctr_read(slots, ctr, cpu);
	return sum;
}

/**
 * kmmv_slots_left() - numbers that can still be given out
 * @slots: the store
 */
u32 kmmv_slots_left(const struct kmmv_slots *slots)
{
	return slots->geom.capacity - slots->nr + slots->free;
}

#if !KMMV_ATOMIC64

static struct kmmv_pair __percpu *slots_pair(struct kmmv_slots *slots)
{
	return (struct kmmv_pair __percpu *)slots->ctr[0];
}

/* The halves in the order in which they lie; both ends of the pair see both. */
static void pair_store(struct kmmv_pair *pair, u64 *ctr, u64 value)
{
	u32 *half = (u32 *)ctr;
	u32 halves[2];

	memcpy(halves, &value, sizeof(value));
	WRITE_ONCE(pair->begun, pair->begun + 1);
	/* slots:D pairs with slots:G, read_pair:B: who sees it sees begun. */
	smp_store_release(&half[0], halves[0]);
	/* slots:D for the other half. */
	smp_store_release(&half[1], halves[1]);
	/* slots:E pairs with slots:F, read_pair:A: who sees done sees both. */
	smp_store_release(&pair->done, pair->begun);
}

void kmmv_ctr_add(struct kmmv_slots *slots, u64 __percpu *ctr, s64 delta)
{
	unsigned long flags;
	u64 *mine;

	local_irq_save(flags);
	mine = this_cpu_ptr(ctr);
	pair_store(this_cpu_ptr(slots_pair(slots)), mine, *mine + delta);
	local_irq_restore(flags);
}

/*
 * Only for the CPU itself, or for one that cannot count: a pair has one writer.
 */
void kmmv_ctr_store(struct kmmv_slots *slots, u64 __percpu *ctr, int cpu,
		    u64 value)
{
	unsigned long flags;

	local_irq_save(flags);
	pair_store(per_cpu_ptr(slots_pair(slots), cpu), per_cpu_ptr(ctr, cpu),
		   value);
	local_irq_restore(flags);
}

/* Spins while @cpu is between two stores; never on a context below itself. */
u64 kmmv_ctr_read(struct kmmv_slots *slots, u64 __percpu *ctr, int cpu)
{
	struct kmmv_pair *pair = per_cpu_ptr(slots_pair(slots), cpu);
	u32 *half = (u32 *)per_cpu_ptr(ctr, cpu);
	u32 halves[2], done;
	u64 value;

	do {
		/* slots:F pairs with slots:E. */
		done = smp_load_acquire(&pair->done);
		/* slots:G pairs with slots:D. */
		halves[0] = smp_load_acquire(&half[0]);
		/* slots:G for the other half. */
		halves[1] = smp_load_acquire(&half[1]);
	} while (READ_ONCE(pair->begun) != done);
	memcpy(&value, halves, sizeof(value));
	return value;
}

#endif /* !KMMV_ATOMIC64 */
