/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A ring for tests of the library: a sealed memfd, written by the rules of
 * <linux/kmmv_ring.h> with an encoder of its own, and a simulated kernel behind
 * the handle's ioctl.
 */
#ifndef LIBRINGAREA_H
#define LIBRINGAREA_H

#include "libarea.h"
#include "ring.h"

enum {
	RING_ROOM = PAGE - sizeof(struct kmmv_ring_page),
	RING_CPUS_MAX = 8,
};

/* The encoding of a time difference. */
enum ring_time { RING_AUTO, RING_EXTEND, RING_STAMP };

/* The writer of one CPU: its position, and its counts. */
struct ring_writer {
	struct kmmv_ring_page *page;
	struct kmmv_ring_writer *side;
	uint32_t id, pos;
	uint64_t seq, time, events, dropped;
};

struct ring_area {
	char dir[64];
	struct kmmv_ring_header *header;
	size_t length;
	int fd;
	struct ring_writer cpu[RING_CPUS_MAX];
};

/* The simulated kernel. */
struct ring_kernel {
	bool claimed;
	int claim_error, take_error, release_error;
	uint32_t too_many;	/* ranges that a take claims to have, 0: those it has */
	struct kmmv_ring_range ranges[64];
	uint32_t nr, given;
	uint32_t batch;		/* ranges of a take at most, 0: all */
	struct kmmv_ring_reader *starving;	/* each take leaves events there */
	struct kmmv_ring_release released[64];
	uint32_t nr_released;
	uint32_t takes, clocks;
	uint64_t ahead;		/* ring's clock less CLOCK_MONOTONIC */
	int clock_error;
};

static inline char *ring_at(const struct ring_area *a, uint32_t cpu,
			    uint64_t offset)
{
	return (char *)a->header + a->header->cpu_offset +
	       cpu * a->header->cpu_stride + offset;
}

static inline struct kmmv_ring_page *ring_page(const struct ring_area *a,
					       uint32_t cpu, uint32_t id)
{
	return (void *)ring_at(a, cpu, a->header->data_offset +
			       (uint64_t)id * PAGE);
}

static inline struct kmmv_ring_reader *ring_reader(const struct ring_area *a,
						   uint32_t cpu)
{
	return (void *)ring_at(a, cpu, a->header->reader_offset);
}

static inline uint64_t *ring_mask(const struct ring_area *a, uint32_t offset)
{
	return (uint64_t *)((char *)a->header + offset);
}

static inline void ring_alive(const struct ring_area *a, uint32_t cpu)
{
	__atomic_fetch_or(ring_mask(a, a->header->alive_offset), 1ULL << cpu,
			  __ATOMIC_RELEASE);
}

static inline const char *ring_path(const struct ring_area *a, const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/ring/%s", a->dir, name);
	return path;
}

/* All CPUs are possible and alive, and nothing is written. */
static inline void ring_init(struct ring_area *a, uint32_t nr_cpus,
			     uint32_t ring_pages, uint32_t spares)
{
	struct kmmv_ring_header h = {
		.magic = KMMV_RING_MAGIC,
		.major = KMMV_RING_MAJOR,
		.minor = KMMV_RING_MINOR,
		.size = sizeof(h),
		.epoch = EPOCH,
		.incarnation = 5,
		.page_size = PAGE,
		.nr_cpus = nr_cpus,
		.nr_pages = ring_pages + spares + 1,
		.ring_pages = ring_pages,
		.spares = spares,
		.mode = KMMV_RING_OVERWRITE,
		.cpu_offset = PAGE,
		.writer_offset = 0,
		.reader_offset = PAGE,
		.data_offset = 2 * PAGE,
		.possible_offset = sizeof(h),
		.alive_offset = sizeof(h) + 8,
		.mask_size = 8,
		.name = "test",
	};
	char target[64];
	uint32_t cpu;

	h.cpu_stride = (h.nr_pages + 2ULL) * PAGE;
	h.length = PAGE + nr_cpus * h.cpu_stride;
	memset(a, 0, sizeof(*a));
	a->length = h.length;
	a->fd = memfd_create("ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	ck_assert_int_ge(a->fd, 0);
	ck_assert_int_eq(ftruncate(a->fd, (off_t)a->length), 0);
	ck_assert_int_eq(fcntl(a->fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	a->header = mmap(NULL, a->length, PROT_READ | PROT_WRITE, MAP_SHARED,
			 a->fd, 0);
	ck_assert_ptr_ne(a->header, MAP_FAILED);
	*a->header = h;
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		*ring_mask(a, h.possible_offset) |= 1ULL << cpu;
		*ring_mask(a, h.alive_offset) |= 1ULL << cpu;
		a->cpu[cpu].side = (void *)ring_at(a, cpu, h.writer_offset);
	}
	snprintf(a->dir, sizeof(a->dir), "%s/kmmv.XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	ck_assert_ptr_nonnull(mkdtemp(a->dir));
	ck_assert_int_eq(mkdir(ring_path(a, ""), 0755), 0);
	snprintf(target, sizeof(target), "/proc/self/fd/%d", a->fd);
	ck_assert_int_eq(symlink(target, ring_path(a, "test")), 0);
}

static inline void ring_fini(struct ring_area *a)
{
	unlink(ring_path(a, "test"));
	rmdir(ring_path(a, ""));
	rmdir(a->dir);
	munmap(a->header, a->length);
	close(a->fd);
}

/* ---- writing */

static inline void ring_store(__u64 *word, uint64_t value)
{
	__atomic_store_n((uint64_t *)word, value, __ATOMIC_RELEASE);
}

/* Go to page ID; complete the previous page. */
static inline void ring_begin(struct ring_area *a, uint32_t cpu, uint32_t id,
			      uint64_t time)
{
	struct ring_writer *w = &a->cpu[cpu];
	struct kmmv_ring_page *page = ring_page(a, cpu, id);

	ring_store(&page->seq, 0);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	ring_store(&page->commit, 0);
	ring_store(&page->dropped, w->dropped);
	ring_store(&page->first, w->events);
	ring_store(&page->time, time);
	w->page = page;
	w->id = id;
	w->pos = 0;
	w->time = time;
	ring_store(&page->seq, ++w->seq);
	ring_store(&w->side->seq, w->seq);
}

static inline void ring_word(struct ring_writer *w, uint32_t word)
{
	ck_assert(w->pos + 4 <= RING_ROOM);
	memcpy(w->page->data + w->pos, &word, 4);
	w->pos += 4;
}

/*
 * Write the words of time that TIME needs or HOW demands. Return: the delta
 * left.
 */
static inline uint32_t ring_time(struct ring_writer *w, uint64_t time,
				 enum ring_time how)
{
	uint64_t delta = time - w->time, value = how == RING_STAMP ? time : delta;

	w->time = time;
	if (how == RING_AUTO && delta < 1 << 27)
		return (uint32_t)delta;
	ring_word(w, (uint32_t)(value % (1 << 27)) << 5 |
			     (how == RING_STAMP ? 31 : 30));
	ring_word(w, (uint32_t)(value >> 27));
	return 0;
}

/* An event of SIZE bytes behind struct kmmv_event, not committed yet. */
static inline void ring_event(struct ring_writer *w, uint64_t time,
			      enum ring_time how, bool length, uint16_t type,
			      uint32_t instance, const void *payload,
			      uint32_t size)
{
	uint32_t delta = ring_time(w, time, how), whole = (size + 3) / 4 * 4 + 8;
	uint16_t head[2] = { type, 3 };
	uint32_t first;

	if (length || whole > 28 * 4) {
		ring_word(w, delta << 5);
		ring_word(w, whole + 4);
	} else {
		ring_word(w, delta << 5 | whole / 4);
	}
	memcpy(&first, head, 4);
	ring_word(w, first);
	ring_word(w, instance);
	ck_assert(w->pos + whole - 8 <= RING_ROOM);
	memset(w->page->data + w->pos, 0, whole - 8);
	memcpy(w->page->data + w->pos, payload, size);
	w->pos += whole - 8;
	w->events++;
}

/* A discarded event of SIZE bytes in all, DELTA after the previous one. */
static inline void ring_padding(struct ring_writer *w, uint32_t delta,
				uint32_t size)
{
	ring_word(w, (delta + 1) << 5 | 29);
	ring_word(w, size - 4);
	w->pos += size - 8;
	w->time += delta;
}

static inline void ring_commit(struct ring_writer *w)
{
	ring_store(&w->page->commit, w->pos);
}

/* A committed hit; on the next page if this one is full. */
static inline void ring_hit(struct ring_area *a, uint32_t cpu, uint64_t time,
			    int64_t delta)
{
	struct ring_writer *w = &a->cpu[cpu];

	if (!w->page || w->pos + 28 > RING_ROOM)
		ring_begin(a, cpu, w->page ? (w->id + 1) %
			   a->header->ring_pages : 0, time);
	ring_event(w, time, RING_AUTO, false, KMMV_EVENT_HIT, cpu, &delta, 8);
	ring_commit(w);
}

static inline void ring_drop(struct ring_area *a, uint32_t cpu,
			     enum kmmv_ring_drop why, uint64_t n)
{
	struct ring_writer *w = &a->cpu[cpu];

	w->dropped += n;
	__atomic_fetch_add((uint64_t *)&w->side->dropped[why], n,
			   __ATOMIC_RELEASE);
}

/* ---- the kernel */

static inline int ring_kernel_ioctl(struct kmmv_ring *r, unsigned long request,
				    void *arg)
{
	struct ring_kernel *k = r->private;
	struct kmmv_ring_take *take = arg;
	struct kmmv_ring_clock *clock = arg;
	uint32_t n;

	switch (request) {
	case KMMV_RING_IOC_CLAIM:
		k->claimed = !k->claim_error;
		return k->claim_error;
	case KMMV_RING_IOC_TAKE:
		k->takes++;
		if (k->take_error)
			return k->take_error;
		if (k->starving)
			ring_store(&k->starving->starved,
				   k->starving->starved + 1);
		n = k->nr - k->given;
		n = n < take->nr ? n : take->nr;
		n = k->batch && k->batch < n ? k->batch : n;
		memcpy((void *)(uintptr_t)take->ranges, k->ranges + k->given,
		       n * sizeof(k->ranges[0]));
		k->given += n;
		take->nr = k->too_many ? k->too_many : n;
		return take->nr ? 0 : -EAGAIN;
	case KMMV_RING_IOC_RELEASE:
		if (k->release_error)
			return k->release_error;
		ck_assert_uint_lt(k->nr_released, 64);
		k->released[k->nr_released++] =
			*(struct kmmv_ring_release *)arg;
		return 0;
	case KMMV_RING_IOC_CLOCK:
		k->clocks++;
		if (k->clock_error)
			return k->clock_error;
		clock->monotonic = kmmv_ring_monotonic();
		clock->ring = clock->monotonic + k->ahead;
		clock->realtime = clock->monotonic + 1000000000000ULL;
		return 0;
	default:
		return -ENOTTY;
	}
}

/* The bytes of the CPU's current page from OFFSET on. */
static inline struct kmmv_ring_range *ring_take(struct ring_kernel *k,
						const struct ring_area *a,
						uint32_t cpu, uint32_t offset)
{
	const struct ring_writer *w = &a->cpu[cpu];
	struct kmmv_ring_range *range = &k->ranges[k->nr++];

	ck_assert_uint_le(k->nr, 64);
	*range = (struct kmmv_ring_range){
		.cpu = cpu,
		.id = w->id,
		.offset = offset,
		.end = w->pos,
		.seq = w->seq,
		.first = w->page->first,
	};
	return range;
}

/* Open the ring, with a simulated kernel's ioctl if there is one. */
static inline struct kmmv_ring *ring_open(const struct ring_area *a,
					  struct ring_kernel *k)
{
	struct kmmv_ring *r;
	int err = kmmv_ring_open(a->dir, "test", &r);

	ck_assert_msg(!err, "%d: %s", err, kmmv_ring_error(NULL));
	if (k) {
		r->ioctl = ring_kernel_ioctl;
		r->private = k;
	}
	return r;
}

#endif /* LIBRINGAREA_H */
