// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of an event in the kernel's own ring buffer, by its API for modules;
 * and the cost of its clock, which kmmv's rings use too.
 *
 * Readers are timed here, too, apart from the writes: a batch for which the
 * ring has room is written, and read by event and by page. Their lines are
 * "read by HOW", ticks per event, and "written, read by HOW".
 */
#include <linux/ring_buffer.h>
#include <linux/trace_clock.h>

#include <asm/local.h>

#include "ringbench.h"

#define BATCH	2000

static struct trace_buffer *buffer;

/* Since 6.3 it has no argument for the event. */
static __always_inline void unlock_commit(struct ring_buffer_event *event)
{
#ifdef RING_COMMIT_ALONE
	ring_buffer_unlock_commit(buffer);
#else
	ring_buffer_unlock_commit(buffer, event);
#endif
}

static __always_inline int reserve_and_commit(const void *payload, size_t size)
{
	struct ring_buffer_event *event = ring_buffer_lock_reserve(buffer, size);

	if (unlikely(!event))
		return -EBUSY;
	memcpy(ring_buffer_event_data(event), payload, size);
	unlock_commit(event);
	return 0;
}

static __always_inline void clock(void)
{
	u64 now = trace_clock_local();

	asm volatile("" : : "r" (now));
}

RING_TIMED(clock, 16, clock())
RING_TIMED_BOTH(reserve, err |= reserve_and_commit(&payload, size))
RING_TIMED_BOTH(write, err |= ring_buffer_write(buffer, size, &payload))

static const struct ring_operation operations[] = {
	{ "clock", 16, time_clock_16 },
	RING_OPERATIONS(reserve),
	RING_OPERATIONS(write),
};

/* ---- readers; each says how many events it found */

static u32 read_events(int cpu, u64 *sum)
{
	struct ring_buffer_event *event;
	unsigned long lost;
	u32 events = 0;
	u64 stamp;

	for (;;) {
		event = ring_buffer_consume(buffer, cpu, &stamp, &lost);
		if (!event)
			return events;
		*sum += *(u64 *)ring_buffer_event_data(event) + stamp;
		events++;
	}
}

#ifdef RING_READ_PAGE_VOID
/* The page of ring_buffer_read_page(); the same since 2.6.30. */
struct read_page {
	u64	stamp;
	local_t	commit;
	u8	data[];
};

static u32 walk(const struct read_page *page, u64 *sum)
{
	u32 at = 0, events = 0, size, type_len;
	u32 end = local_read(&page->commit) & 0xfffff;
	const struct ring_buffer_event *event;
	u64 stamp = page->stamp;

	while (at < end) {
		event = (const void *)(page->data + at);
		type_len = event->type_len;
		stamp += event->time_delta;
		size = 4;
		if (type_len && type_len <= RINGBUF_TYPE_DATA_TYPE_LEN_MAX) {
			*sum += *(const u64 *)event->array + stamp;
			size += type_len * 4;
			events++;
		} else if (!type_len) {
			*sum += *(const u64 *)(event->array + 1) + stamp;
			size += ALIGN(event->array[0], 4);
			events++;
		} else if (type_len == RINGBUF_TYPE_PADDING) {
			if (!event->time_delta)
				break;
			size += event->array[0];
		} else {
			stamp += (u64)event->array[0] << 27;
			size += 4;
		}
		at += size;
	}
	return events;
}

static void *read_page;

static u32 read_pages(int cpu, u64 *sum)
{
	u32 events = 0;

	while (ring_buffer_read_page(buffer, &read_page, PAGE_SIZE, cpu, 0) >= 0)
		events += walk(read_page, sum);
	return events;
}
#endif

static int time_reader(struct seq_file *file, const char *how, int bytes,
		       u64 (*write)(u32 n, int *error),
		       u32 (*read)(int cpu, u64 *sum))
{
	u64 writing = U64_MAX, reading = U64_MAX, begin, took, sum = 0;
	int i, cpu, err = 0;
	u32 events;

	for (i = 0; i < RING_ROUNDS && !err; i++) {
		ring_buffer_reset(buffer);
		preempt_disable();
		cpu = smp_processor_id();
		writing = min(writing, write(BATCH, &err));
		begin = rdtsc_ordered();
		events = read(cpu, &sum);
		took = rdtsc_ordered() - begin;
		preempt_enable();
		reading = min(reading, took);
		if (events != BATCH)
			err = -EIO;
		cond_resched();
	}
	asm volatile("" : : "r" (sum));
	seq_printf(file, "read by %s\t%d\t%llu\n", how, bytes,
		   DIV_ROUND_CLOSEST_ULL(reading, BATCH));
	seq_printf(file, "written, read by %s\t%d\t%llu\n", how, bytes,
		   DIV_ROUND_CLOSEST_ULL(writing, BATCH));
	return err;
}

static int kmmv_ring_linux_show(struct seq_file *file, void *unused)
{
	int err;

	seq_printf(file, "tsc_khz\t0\t%u\n", tsc_khz);
	err = ring_bench(file, operations, ARRAY_SIZE(operations));
	err = err ?: time_reader(file, "event", 16, time_reserve_16,
				 read_events);
	err = err ?: time_reader(file, "event", 64, time_reserve_64,
				 read_events);
#ifdef RING_READ_PAGE_VOID
	err = err ?: time_reader(file, "page", 16, time_reserve_16, read_pages);
	err = err ?: time_reader(file, "page", 64, time_reserve_64, read_pages);
#endif
	return err;
}
DEFINE_SHOW_ATTRIBUTE(kmmv_ring_linux);

static struct dentry *file;

static int __init linux_init(void)
{
	buffer = ring_buffer_alloc(RING_PAGES * PAGE_SIZE, RB_FL_OVERWRITE);
	if (!buffer)
		return -ENOMEM;
#ifdef RING_READ_PAGE_VOID
	read_page = ring_buffer_alloc_read_page(buffer, 0);
	if (IS_ERR(read_page)) {
		ring_buffer_free(buffer);
		return PTR_ERR(read_page);
	}
#endif
	file = debugfs_create_file("kmmv_ring_linux", 0400, NULL, NULL,
				   &kmmv_ring_linux_fops);
	return 0;
}

static void __exit linux_exit(void)
{
	debugfs_remove(file);
#ifdef RING_READ_PAGE_VOID
	ring_buffer_free_read_page(buffer, 0, read_page);
#endif
	ring_buffer_free(buffer);
}

module_init(linux_init);
module_exit(linux_exit);

MODULE_DESCRIPTION("Cost of an event in the kernel's ring buffer");
MODULE_LICENSE("GPL");
