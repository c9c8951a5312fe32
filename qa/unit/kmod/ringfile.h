/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of a ring's read() and of its consumer's ioctls share: a ring with
 * real buffers, two files of it, and what the kernel's other side does.
 */
#ifndef RINGFILE_H
#define RINGFILE_H

#include "ringdev.h"
#include "quiet.h"

/* CPUs 0, 1 and 4 have buffers; 2 is not possible, and 3 never was online. */
enum { CPUS = 5, NOT_POSSIBLE = 2, NO_BUFFER = 3, EVENTS = 128 };
#define BUFFERS		(1 << 0 | 1 << 1 | 1 << 4)
#define POSSIBLE	(BUFFERS | 1 << NO_BUFFER)

/* What read() wants room for. */
#define LARGEST_BLOCK	(sizeof(struct kmmv_ring_block) + PAGE_SIZE -	\
			 sizeof(struct kmmv_ring_page))

extern struct kmmv_ring ring;
/* The one that the tests are about, and the one that is beside it. */
extern struct kmmv_ring_file *mine, *other;

/*
 * Memory of user space, and nothing besides; which access to it fails, counting from
 * 1, if any; and how many there have been.
 */
extern struct user {
	u8 *at;
	size_t size;
	long fails_in;
	int accesses;
} user;

/* Which look for a signal finds one, counting from 1, as do all after it. */
extern int signal_in;

/* How often the file was said to have something, and whether it had each time. */
extern int agains;
extern bool ready_again;

void ring_start(u32 pages, u32 spares);
void ring_stop(void);
void user_start(size_t size);

/* The next event of a CPU, and so many, of which a page has room for a few. */
void event_write(int cpu, u32 size);
void events_write(int cpu, int nr);
#define PER_PAGE	3
/* So many events have been written, and read one by one in this order. */
extern u32 written[CPUS], seen[CPUS];
void all_seen(void);

/* The CPUs of what was read last, and the flags. */
extern int order[EVENTS * CPUS];
extern u64 flags[EVENTS * CPUS];
int blocks_see(size_t size);
void ranges_see(const struct kmmv_ring_range *ranges, u32 nr);

/* Writers are in the way of all readers of a CPU, or not any more. */
void writers_busy(int cpu, bool busy);

/* Calls of a file: they leave no lock, and no memory of user space allowed. */
ssize_t read_of(struct kmmv_ring_file *rf, size_t size);
long take_of(struct kmmv_ring_file *rf, void *argument);
long release_of(struct kmmv_ring_file *rf, void *argument);
long claim_of(struct kmmv_ring_file *rf);

/* Counts of all CPUs. */
struct kmmv_ring_counts counts_of(void);
u64 returned_of(void);

void add_take(TCase *tcase);

#endif /* RINGFILE_H */
