// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of an event in LTTng's ring buffer, for a client of the library that
 * LTTng's tracer and probes use: the same configuration, the same compact event
 * header, all calls inlined and none indirect, no filter, no context. The clock
 * is that of the other rings.
 *
 * Readers are timed here, too; see kmmv_ring_linux.c.
 */
#include <linux/cpuhotplug.h>
#include <linux/module.h>
#include <linux/trace_clock.h>

#include <wrapper/vmalloc.h>
#include <lttng/events.h>
#include <lttng/cpuhotplug.h>
#include <ringbuffer/config.h>
#include <ringbuffer/frontend_types.h>

#include "ringbench.h"

#define BATCH		2000
#define ID_BITS		5
#define STAMP_BITS	27
#define EVENT_ID	1
#define EXTENDED_ID	31

struct packet_header {
	u64	begin;
	u64	end;
	u64	size;
};

static unsigned int subbuf_pages = 1;
module_param(subbuf_pages, uint, 0444);
MODULE_PARM_DESC(subbuf_pages, "pages of a sub-buffer; the ring stays as large");

static struct lttng_kernel_ring_buffer_channel *channel;
static const struct lttng_kernel_ring_buffer_config config;

static inline notrace u64
lib_ring_buffer_clock_read(struct lttng_kernel_ring_buffer_channel *chan)
{
	return trace_clock_local();
}

static __always_inline size_t
record_header_size(const struct lttng_kernel_ring_buffer_config *config,
		   struct lttng_kernel_ring_buffer_channel *chan, size_t offset,
		   size_t *padding, struct lttng_kernel_ring_buffer_ctx *ctx,
		   void *client_ctx)
{
	size_t begin = offset;

	*padding = lib_ring_buffer_align(offset, lttng_alignof(u32));
	offset += *padding;
	if (likely(!(ctx->priv.rflags & RING_BUFFER_RFLAG_FULL_TIMESTAMP)))
		return offset + sizeof(u32) - begin;
	offset += 1;
	offset += lib_ring_buffer_align(offset, lttng_alignof(u64));
	offset += sizeof(u32);
	offset += lib_ring_buffer_align(offset, lttng_alignof(u64));
	return offset + sizeof(u64) - begin;
}

#include <ringbuffer/api.h>

static u64 clock_read(struct lttng_kernel_ring_buffer_channel *chan)
{
	return lib_ring_buffer_clock_read(chan);
}

static size_t header_size(const struct lttng_kernel_ring_buffer_config *config,
			  struct lttng_kernel_ring_buffer_channel *chan,
			  size_t offset, size_t *padding,
			  struct lttng_kernel_ring_buffer_ctx *ctx,
			  void *client_ctx)
{
	return record_header_size(config, chan, offset, padding, ctx,
				  client_ctx);
}

static size_t subbuffer_header_size(void)
{
	return sizeof(struct packet_header);
}

static struct packet_header *header_of(struct lttng_kernel_ring_buffer *buf,
				       unsigned int index)
{
	return lib_ring_buffer_offset_address(&buf->backend,
			index * buf->backend.chan->backend.subbuf_size);
}

static void buffer_begin(struct lttng_kernel_ring_buffer *buf, u64 stamp,
			 unsigned int index)
{
	struct packet_header *header = header_of(buf, index);

	header->begin = stamp;
	header->end = 0;
	header->size = ~0ULL;
}

static void buffer_end(struct lttng_kernel_ring_buffer *buf, u64 stamp,
		       unsigned int index, unsigned long size,
		       const struct lttng_kernel_ring_buffer_ctx *ctx)
{
	struct packet_header *header = header_of(buf, index);

	header->end = stamp;
	header->size = size;
}

static int buffer_create(struct lttng_kernel_ring_buffer *buf, void *priv,
			 int cpu, const char *name)
{
	return 0;
}

static void buffer_finalize(struct lttng_kernel_ring_buffer *buf, void *priv,
			    int cpu)
{
}

static const struct lttng_kernel_ring_buffer_config config = {
	.cb.ring_buffer_clock_read = clock_read,
	.cb.record_header_size = header_size,
	.cb.subbuffer_header_size = subbuffer_header_size,
	.cb.buffer_begin = buffer_begin,
	.cb.buffer_end = buffer_end,
	.cb.buffer_create = buffer_create,
	.cb.buffer_finalize = buffer_finalize,
	.timestamp_bits = STAMP_BITS,
	.alloc = RING_BUFFER_ALLOC_PER_CPU,
	.sync = RING_BUFFER_SYNC_PER_CPU,
	.mode = RING_BUFFER_OVERWRITE,
	.backend = RING_BUFFER_PAGE,
	.output = RING_BUFFER_MMAP,
	.oops = RING_BUFFER_OOPS_CONSISTENCY,
	.ipi = RING_BUFFER_IPI_BARRIER,
	.wakeup = RING_BUFFER_WAKEUP_BY_TIMER,
};

static __always_inline int write_event(const void *payload, size_t size)
{
	struct lttng_kernel_ring_buffer_ctx ctx;
	u32 id_time, id = EVENT_ID;
	u8 extended = EXTENDED_ID;
	int cpu, err;

	lib_ring_buffer_ctx_init(&ctx, NULL, size, 1, NULL);
	cpu = lib_ring_buffer_get_cpu(&config);
	if (unlikely(cpu < 0))
		return -EPERM;
	memset(&ctx.priv, 0, sizeof(ctx.priv));
	ctx.priv.chan = channel;
	ctx.priv.reserve_cpu = cpu;
	err = lib_ring_buffer_reserve(&config, &ctx, NULL);
	if (unlikely(err))
		goto put;
	lib_ring_buffer_backend_get_pages(&config, &ctx,
					  &ctx.priv.backend_pages);
	if (likely(!ctx.priv.rflags)) {
		id_time = EVENT_ID | (u32)ctx.priv.timestamp << ID_BITS;
		lib_ring_buffer_write(&config, &ctx, &id_time, sizeof(id_time));
	} else {
		lib_ring_buffer_write(&config, &ctx, &extended, 1);
		lib_ring_buffer_align_ctx(&ctx, lttng_alignof(u64));
		lib_ring_buffer_write(&config, &ctx, &id, sizeof(id));
		lib_ring_buffer_align_ctx(&ctx, lttng_alignof(u64));
		lib_ring_buffer_write(&config, &ctx, &ctx.priv.timestamp,
				      sizeof(u64));
	}
	lib_ring_buffer_align_ctx(&ctx, ctx.largest_align);
	lib_ring_buffer_write(&config, &ctx, payload, size);
	lib_ring_buffer_commit(&config, &ctx);
put:
	lib_ring_buffer_put_cpu(&config);
	return err;
}

RING_TIMED_BOTH(lttng, err |= write_event(&payload, size))

static const struct ring_operation operations[] = {
	RING_OPERATIONS(lttng),
};

/* ---- by sub-buffer; the one that is being written is closed first */

static u32 walk(const u8 *data, int bytes, u64 *sum)
{
	const struct packet_header *header = (const void *)data;
	u32 at = sizeof(*header), end = header->size, events = 0, delta;
	u64 stamp = header->begin;

	while (at < end) {
		at = ALIGN(at, lttng_alignof(u32));
		if ((data[at] & EXTENDED_ID) == EXTENDED_ID) {
			at = ALIGN(at + 1, lttng_alignof(u64)) + sizeof(u32);
			at = ALIGN(at, lttng_alignof(u64));
			stamp = *(const u64 *)(data + at);
			at += sizeof(u64);
		} else {
			delta = (*(const u32 *)(data + at) >> ID_BITS) -
				(u32)stamp;
			stamp += delta & ((1U << STAMP_BITS) - 1);
			at += sizeof(u32);
		}
		*sum += *(const u64 *)(data + at) + stamp;
		at += bytes;
		events++;
	}
	return events;
}

static u32 read_subbuffers(struct lttng_kernel_ring_buffer *buf, int bytes,
			   u64 *sum)
{
	u32 events = 0;

	lib_ring_buffer_switch(&config, buf, SWITCH_ACTIVE);
	while (!lib_ring_buffer_get_next_subbuf(buf)) {
		events += walk(lib_ring_buffer_read_offset_address(
				       &buf->backend, 0), bytes, sum);
		lib_ring_buffer_put_next_subbuf(buf);
	}
	return events;
}

static int time_reader(struct seq_file *file, int bytes,
		       u64 (*write)(u32 n, int *error))
{
	u64 writing = U64_MAX, reading = U64_MAX, begin, took, sum = 0;
	struct lttng_kernel_ring_buffer *buf;
	int i, err;
	u32 events;

	/* Its barriers send interrupts, which needs preemption enabled. */
	migrate_disable();
	buf = channel_get_ring_buffer(&config, channel, raw_smp_processor_id());
	err = lib_ring_buffer_open_read(buf);
	if (err)
		goto out;
	read_subbuffers(buf, bytes, &sum);
	for (i = 0; i < RING_ROUNDS && !err; i++) {
		writing = min(writing, write(BATCH, &err));
		begin = rdtsc_ordered();
		events = read_subbuffers(buf, bytes, &sum);
		took = rdtsc_ordered() - begin;
		reading = min(reading, took);
		if (events != BATCH)
			err = -EIO;
		cond_resched();
	}
	lib_ring_buffer_release_read(buf);
	asm volatile("" : : "r" (sum));
	seq_printf(file, "read by lttng\t%d\t%llu\n", bytes,
		   DIV_ROUND_CLOSEST_ULL(reading, BATCH));
	seq_printf(file, "written, read by lttng\t%d\t%llu\n", bytes,
		   DIV_ROUND_CLOSEST_ULL(writing, BATCH));
out:
	migrate_enable();
	return err;
}

static int kmmv_ring_lttng_show(struct seq_file *file, void *unused)
{
	int err;

	err = ring_bench(file, operations, ARRAY_SIZE(operations));
	/* The pages of a larger sub-buffer are not contiguous. */
	if (err || subbuf_pages > 1)
		return err;
	err = time_reader(file, 16, time_lttng_16);
	return err ?: time_reader(file, 64, time_lttng_64);
}
DEFINE_SHOW_ATTRIBUTE(kmmv_ring_lttng);

/* ---- what the tracer does for the library */

static int prepare(unsigned int cpu, struct hlist_node *node)
{
	struct lttng_cpuhp_node *of =
		container_of(node, struct lttng_cpuhp_node, node);

	return of->component == LTTNG_RING_BUFFER_BACKEND ?
		lttng_cpuhp_rb_backend_prepare(cpu, of) : 0;
}

static int dead(unsigned int cpu, struct hlist_node *node)
{
	struct lttng_cpuhp_node *of =
		container_of(node, struct lttng_cpuhp_node, node);

	return of->component == LTTNG_RING_BUFFER_FRONTEND ?
		lttng_cpuhp_rb_frontend_dead(cpu, of) : 0;
}

static int online(unsigned int cpu, struct hlist_node *node)
{
	struct lttng_cpuhp_node *of =
		container_of(node, struct lttng_cpuhp_node, node);

	return of->component == LTTNG_RING_BUFFER_FRONTEND ?
		lttng_cpuhp_rb_frontend_online(cpu, of) : 0;
}

static int offline(unsigned int cpu, struct hlist_node *node)
{
	struct lttng_cpuhp_node *of =
		container_of(node, struct lttng_cpuhp_node, node);

	return of->component == LTTNG_RING_BUFFER_FRONTEND ?
		lttng_cpuhp_rb_frontend_offline(cpu, of) : 0;
}

static int prepare_state, online_state;
static struct dentry *file;

static int __init lttng_init(void)
{
	wrapper_vmalloc_sync_mappings();
	prepare_state = cpuhp_setup_state_multi(CPUHP_BP_PREPARE_DYN,
						"kmmv/bench:prepare", prepare,
						dead);
	if (prepare_state < 0)
		return prepare_state;
	online_state = cpuhp_setup_state_multi(CPUHP_AP_ONLINE_DYN,
					       "kmmv/bench:online", online,
					       offline);
	if (online_state < 0) {
		cpuhp_remove_multi_state(prepare_state);
		return online_state;
	}
	lttng_rb_set_hp_prepare(prepare_state);
	lttng_rb_set_hp_online(online_state);
	channel = channel_create(&config, "kmmv", NULL, NULL,
				 subbuf_pages * PAGE_SIZE,
				 RING_PAGES / subbuf_pages, 0, 0);
	if (!channel) {
		cpuhp_remove_multi_state(online_state);
		cpuhp_remove_multi_state(prepare_state);
		return -ENOMEM;
	}
	file = debugfs_create_file("kmmv_ring_lttng", 0400, NULL, NULL,
				   &kmmv_ring_lttng_fops);
	return 0;
}

static void __exit lttng_exit(void)
{
	debugfs_remove(file);
	channel_destroy(channel);
	cpuhp_remove_multi_state(online_state);
	cpuhp_remove_multi_state(prepare_state);
}

module_init(lttng_init);
module_exit(lttng_exit);

MODULE_DESCRIPTION("Cost of an event in LTTng's ring buffer");
MODULE_LICENSE("GPL");
