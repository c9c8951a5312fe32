// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tracepoints, and what is counted in them.
 *
 * Handlers run in any context that completes requests, hard interrupts included,
 * and on newer kernels with preemption on. They allocate nothing and wait for
 * nothing. request.h says what a completion counts for.
 *
 * A partition's counts are also its disk's, as in /proc/diskstats.
 */
#include <linux/blk-mq.h>
#include <linux/ktime.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <trace/events/block.h>

#include "kmmv_compat.h"
#include "block.h"
#include "request.h"

/* Under RCU: see show.c for what is counted early. */
static __always_inline void add(struct kmmv_block_counter *counter, u64 n)
{
	struct kmmv_slot *slot = rcu_dereference(counter->shown);

	if (likely(slot)) {
		kmmv_slot_add(*slot, n);
		return;
	}
	atomic64_add(n, &counter->early);
	kmmv_block_want();
}

static void count(struct kmmv_block_dev *dev, unsigned int item, u64 n)
{
	struct kmmv_block_dev *whole = READ_ONCE(dev->whole);

	add(&dev->item[item], n);
	if (whole)
		add(&whole->item[item], n);
}

static void count_time(struct kmmv_block_dev *dev, unsigned int group,
		       u64 started)
{
	struct kmmv_block_dev *whole = READ_ONCE(dev->whole) ?: dev;
	u64 now = ktime_get_ns();
	u64 nsec = now > started ? now - started : 0;

	count(dev, KMMV_BLOCK_TIME + group, nsec);
	add(&whole->latency[0][group][kmmv_latency_bucket(nsec)], 1);
}

/* The kernel includes its requests in /proc/diskstats. */
static bool is_accounted(struct request *rq)
{
	return rq->part && (rq->rq_flags & RQF_IO_STAT);
}

/* The whole disk of a queue, which may have none, or no longer. */
static struct block_device *disk_of(struct request *rq)
{
	struct gendisk *disk = READ_ONCE(rq->q->disk);

	return disk ? disk->part0 : NULL;
}

/* Not NULL for a request that was begun by a bio. */
static struct block_device *device_of(struct request *rq, bool accounted)
{
	if (accounted)
		return rq->part;
	if (rq->bio && rq->bio->bi_bdev && !blk_rq_is_passthrough(rq))
		return rq->bio->bi_bdev;
	return disk_of(rq);
}

static void mark_untimed(struct kmmv_block_dev *dev)
{
	struct kmmv_block_dev *whole = READ_ONCE(dev->whole);

	if (READ_ONCE(dev->kind) == KMMV_BLOCK_REQUESTS) {
		WRITE_ONCE(dev->kind, KMMV_BLOCK_UNTIMED);
		kmmv_block_want();
	}
	if (whole)
		mark_untimed(whole);
}

static void count_request(struct kmmv_block_dev *dev, struct request *rq,
			  unsigned int counts, unsigned int completed)
{
	unsigned int group = op_stat_group(req_op(rq));

	/* In sectors, as the kernel does. */
	if (counts & KMMV_REQUEST_BYTES && completed >> SECTOR_SHIFT)
		count(dev, KMMV_BLOCK_BYTES + group,
		      (u64)(completed >> SECTOR_SHIFT) << SECTOR_SHIFT);
	if (counts & KMMV_REQUEST_OPERATION) {
		count(dev, KMMV_BLOCK_OPERATIONS + group, 1);
		if (counts & KMMV_REQUEST_TIME)
			count_time(dev, group, rq->start_time_ns);
		else
			mark_untimed(dev);
	}
	if (counts & KMMV_REQUEST_FLUSH) {
		count(dev, KMMV_BLOCK_OPERATIONS + STAT_FLUSH, 1);
		count_time(dev, STAT_FLUSH, rq->start_time_ns);
	}
	if (counts & KMMV_REQUEST_ERROR)
		count(dev, KMMV_BLOCK_ERRORS, 1);
	/* Before a disk is added, its address may be another's. */
	if (counts & KMMV_REQUEST_PASSTHROUGH && kmmv_block_device_there(dev))
		count(dev, KMMV_BLOCK_PASSTHROUGH, 1);
}

static void on_rq_complete(void *data, struct request *rq, blk_status_t error,
			   unsigned int nr_bytes)
{
	u64 began = kmmv_block_cost_begin();
	bool accounted = is_accounted(rq);
	struct kmmv_request request = {
		.accounted = accounted,
		.ends_apart = KMMV_BLOCK_ENDS_APART,
		.passthrough = blk_rq_is_passthrough(rq),
		.flush = req_op(rq) == REQ_OP_FLUSH,
		.sequence = rq->rq_flags & RQF_FLUSH_SEQ,
		.data = rq->bio,
		/* biotail stays when all bios of the request have ended. */
		.ended = !rq->bio && rq->biotail,
		.failed = error != BLK_STS_OK,
		.completed = nr_bytes,
		.left = blk_rq_bytes(rq),
	};
	unsigned int counts = kmmv_request_counts(&request);
	struct kmmv_block_dev *dev;

	if (counts) {
		rcu_read_lock();
		dev = kmmv_block_device_find(device_of(rq, accounted));
		if (dev)
			count_request(dev, rq, counts, nr_bytes);
		rcu_read_unlock();
	}
	kmmv_block_cost_end(began);
}

#ifdef KMMV_HAVE_BLOCK_IO_DONE
/* The end of a request, where the kernel accounts it. */
static void on_io_done(void *data, struct request *rq)
{
	struct kmmv_block_dev *dev;
	u64 began;

	if (!is_accounted(rq) || rq->rq_flags & RQF_FLUSH_SEQ)
		return;
	began = kmmv_block_cost_begin();
	rcu_read_lock();
	dev = kmmv_block_device_find(rq->part);
	if (dev)
		count_request(dev, rq,
			      KMMV_REQUEST_OPERATION | KMMV_REQUEST_TIME, 0);
	rcu_read_unlock();
	kmmv_block_cost_end(began);
}
#endif

/* A request was merged into another one. */
static void on_rq_merge(void *data, struct request *rq)
{
	unsigned int group = op_stat_group(req_op(rq));
	struct kmmv_block_dev *dev;

	if (group > STAT_WRITE)
		return;
	rcu_read_lock();
	dev = kmmv_block_device_find(device_of(rq, is_accounted(rq)));
	if (dev)
		count(dev, KMMV_BLOCK_MERGES + group, 1);
	rcu_read_unlock();
}

/* A bio was merged into a request. */
static void on_bio_merge(void *data, struct bio *bio)
{
	unsigned int group = op_stat_group(bio_op(bio));
	struct kmmv_block_dev *dev;

	if (group > STAT_WRITE)
		return;
	rcu_read_lock();
	dev = kmmv_block_device_find(bio->bi_bdev);
	if (dev)
		count(dev, KMMV_BLOCK_MERGES + group, 1);
	rcu_read_unlock();
}

static bool takes_bios(const struct bio *bio)
{
	return !queue_is_mq(bdev_get_queue(bio->bi_bdev));
}

/* A bio was submitted; only of interest if there will be no request. */
static void on_bio_queue(void *data, struct bio *bio)
{
	unsigned int group = op_stat_group(bio_op(bio));
	struct kmmv_block_dev *dev;
	u64 began;

	if (!takes_bios(bio))
		return;
	began = kmmv_block_cost_begin();
	if (!bio->bi_iter.bi_size && op_is_flush(bio->bi_opf))
		group = STAT_FLUSH;
	rcu_read_lock();
	dev = kmmv_block_device_find(bio->bi_bdev);
	if (dev && group == STAT_FLUSH && READ_ONCE(dev->whole))
		dev = READ_ONCE(dev->whole);
	if (dev) {
		count(dev, KMMV_BLOCK_OPERATIONS + group, 1);
		if (bio->bi_iter.bi_size)
			count(dev, KMMV_BLOCK_BYTES + group,
			      bio->bi_iter.bi_size);
	}
	rcu_read_unlock();
	kmmv_block_cost_end(began);
}

static void on_bio_complete(void *data, struct request_queue *q,
			    struct bio *bio)
{
	struct kmmv_block_dev *dev;

	if (!bio->bi_status || !takes_bios(bio))
		return;
	/* Not a failure: it would have waited, and is sent again. */
	if (bio->bi_status == BLK_STS_AGAIN && bio->bi_opf & REQ_NOWAIT)
		return;
	rcu_read_lock();
	dev = kmmv_block_device_find(bio->bi_bdev);
	if (dev)
		count(dev, KMMV_BLOCK_ERRORS, 1);
	rcu_read_unlock();
}

/**
 * struct hook - a tracepoint with its handler
 * @name: of the tracepoint
 * @handler: of the tracepoint's own type
 * @tp: the tracepoint, found at load
 * @registered: the handler is called
 */
struct hook {
	const char		*name;
	void			*handler;
	struct tracepoint	*tp;
	bool			registered;
};

static struct hook hooks[] = {
	{ .name = "block_rq_complete", .handler = on_rq_complete },
#ifdef KMMV_HAVE_BLOCK_IO_DONE
	{ .name = "block_io_done", .handler = on_io_done },
#endif
	{ .name = "block_rq_merge", .handler = on_rq_merge },
	{ .name = "block_bio_backmerge", .handler = on_bio_merge },
	{ .name = "block_bio_frontmerge", .handler = on_bio_merge },
	{ .name = "block_bio_queue", .handler = on_bio_queue },
	{ .name = "block_bio_complete", .handler = on_bio_complete },
};

/* A kernel whose tracepoints have other arguments does not compile this. */
static void check_types(void)
{
	check_trace_callback_type_block_rq_complete(on_rq_complete);
#ifdef KMMV_HAVE_BLOCK_IO_DONE
	check_trace_callback_type_block_io_done(on_io_done);
#endif
	check_trace_callback_type_block_rq_merge(on_rq_merge);
	check_trace_callback_type_block_bio_backmerge(on_bio_merge);
	check_trace_callback_type_block_bio_frontmerge(on_bio_merge);
	check_trace_callback_type_block_bio_queue(on_bio_queue);
	check_trace_callback_type_block_bio_complete(on_bio_complete);
}

static void match(struct tracepoint *tp, void *data)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		if (!strcmp(tp->name, hooks[i].name))
			hooks[i].tp = tp;
}

static int register_one(struct hook *hook)
{
	int err;

	if (!hook->tp) {
		pr_err("the kernel has no tracepoint %s\n", hook->name);
		return -ENOENT;
	}
	err = tracepoint_probe_register(hook->tp, hook->handler, NULL);
	hook->registered = !err;
	return err;
}

/**
 * kmmv_block_hook_init() - begin to count
 *
 * Return: 0; -ENOENT if the kernel lacks a tracepoint; -ENOMEM.
 */
int kmmv_block_hook_init(void)
{
	int i, err;

	check_types();
	for_each_kernel_tracepoint(match, NULL);
	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		err = register_one(&hooks[i]);
		if (err) {
			kmmv_block_hook_exit();
			return err;
		}
	}
	return 0;
}

/**
 * kmmv_block_hook_exit() - stop counting: when it returns, no handler runs
 */
void kmmv_block_hook_exit(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		if (hooks[i].registered)
			tracepoint_probe_unregister(hooks[i].tp,
						    hooks[i].handler, NULL);
	tracepoint_synchronize_unregister();
}
