// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the tests of ringfile share: the ring, what user space and the rest of the
 * module do, and what is expected of events.
 */
#include "ring_page.h"
#include "ring_write.h"
#include "ringfile.h"

struct kmmv_ring ring;
struct kmmv_ring_file *mine, *other;
struct user user;
int signal_in, agains;
bool ready_again;
u32 written[CPUS], seen[CPUS];
int order[EVENTS * CPUS];
u64 flags[EVENTS * CPUS];

static struct kmmv_ring_side side[CPUS];
static u32 sizes[CPUS][EVENTS];
static u64 stamps[CPUS][EVENTS];

/* Of a call: its file, and whether user space may be written to. */
static struct kmmv_ring_file *calling;
static bool allowed;

/* ---- user space */

/* It may take any time, so the only lock is one that no other caller needs. */
static void expect_turn(void)
{
	ck_assert_int_eq(shim_locks_held, 1);
	ck_assert_int_ne(pthread_mutex_trylock(&calling->turn.mutex), 0);
}

static bool is_user(const void *at, size_t size)
{
	size_t offset = (uintptr_t)at - (uintptr_t)user.at;

	return offset <= user.size && size <= user.size - offset;
}

/* Copy, or a part, if at is where that fails. Return: how much was not copied. */
static size_t copy(void *to, const void *from, size_t size, const void *at)
{
	size_t n = size;

	if (!size)
		return 0;
	expect_turn();
	ck_assert(!allowed);
	user.accesses++;
	if (!is_user(at, size))
		return size;
	if (user.fails_in && !--user.fails_in)
		n = size / 2;
	memcpy(to, from, n);
	return size - n;
}

unsigned long copy_to_user(void *to, const void *from, unsigned long size)
{
	return copy(to, from, size, to);
}

unsigned long copy_from_user(void *to, const void *from, unsigned long size)
{
	return copy(to, from, size, from);
}

unsigned long clear_user(void *to, unsigned long size)
{
	static const u8 zeroes[8];

	ck_assert_uint_le(size, sizeof(zeroes));
	return copy(to, zeroes, size, to);
}

/* A word is there or it is not. */
bool shim_user_put(void *to, const void *from, size_t size, bool many)
{
	expect_turn();
	ck_assert_int_eq(many, allowed);
	user.accesses++;
	if (!is_user(to, size) || (user.fails_in && !--user.fails_in))
		return false;
	memcpy(to, from, size);
	return true;
}

/* Of addresses alone: it accesses nothing. */
bool user_write_access_begin(void *to, size_t size)
{
	ck_assert(!allowed);
	allowed = is_user(to, size);
	return allowed;
}

void user_write_access_end(void)
{
	ck_assert(allowed);
	allowed = false;
}

void user_start(size_t size)
{
	free(user.at);
	user = (struct user){ .at = malloc(size), .size = size };
	memset(user.at, 0xee, size);
}

bool signal_pending(struct task_struct *task)
{
	(void)task;
	if (signal_in > 1) {
		signal_in--;
		return false;
	}
	return signal_in == 1;
}

/* ---- the rest of the module */

struct kmmv_ring_cpu *kmmv_ringarea_buffer(const struct kmmv_ring *of, u32 cpu)
{
	ck_assert_uint_lt(cpu, CPUS);
	return of->side[cpu].rc;
}

void kmmv_ring_again(struct kmmv_ring_file *rf)
{
	int cpu;
	bool ready = false;

	ck_assert_ptr_eq(rf, calling);
	for_each_possible_cpu(cpu)
		ready = ready || (side[cpu].rc &&
				  kmmv_ring_cpu_ready(side[cpu].rc, 1));
	ready_again = ready_again && ready;
	agains++;
}

/* ---- calls */

static void call(struct kmmv_ring_file *rf)
{
	calling = rf;
	agains = 0;
	ready_again = true;
	user.accesses = 0;
}

static void called(void)
{
	ck_assert_int_eq(shim_locks_held, 0);
	ck_assert(!allowed);
	signal_in = 0;
}

ssize_t read_of(struct kmmv_ring_file *rf, size_t size)
{
	struct file file = { .private_data = rf };
	ssize_t n;

	call(rf);
	n = kmmv_ringblock_read(&file, (char *)user.at, size, NULL);
	called();
	return n;
}

long take_of(struct kmmv_ring_file *rf, void *argument)
{
	long err;

	call(rf);
	err = kmmv_ringtake_ioctl(rf, KMMV_RING_IOC_TAKE, argument);
	called();
	return err;
}

long release_of(struct kmmv_ring_file *rf, void *argument)
{
	long err;

	call(rf);
	err = kmmv_ringtake_ioctl(rf, KMMV_RING_IOC_RELEASE, argument);
	called();
	return err;
}

long claim_of(struct kmmv_ring_file *rf)
{
	long err;

	call(rf);
	err = kmmv_ringtake_claim(rf);
	called();
	return err;
}

/* ---- the ring */

/* As ringdev.c does. */
static struct kmmv_ring_file *file_new(void)
{
	struct kmmv_ring_file *rf;

	rf = calloc(1, sizeof(*rf) + CPUS * sizeof(rf->cpu[0]));
	rf->ring = &ring;
	rf->copy = malloc(PAGE_SIZE);
	mutex_init(&rf->turn);
	mutex_init(&rf->lock);
	return rf;
}

static void file_free(struct kmmv_ring_file *rf)
{
	mutex_destroy(&rf->lock);
	mutex_destroy(&rf->turn);
	kvfree(rf->ranges);
	free(rf->copy);
	free(rf);
}

void ring_start(u32 pages, u32 spares)
{
	int cpu;

	shim_nr_cpus = CPUS;
	shim_possible = POSSIBLE;
	shim_now = 1000;
	shim_interrupted = false;
	memset(written, 0, sizeof(written));
	memset(seen, 0, sizeof(seen));
	memset(&ring, 0, sizeof(ring));
	ring.side = side;
	spin_lock_init(&ring.lock);
	for (cpu = 0; cpu < CPUS; cpu++) {
		mutex_init(&side[cpu].lock);
		if (!(BUFFERS >> cpu & 1))
			continue;
		side[cpu].rc = kmmv_ring_cpu_alloc(cpu, pages, spares, false);
		ck_assert_ptr_nonnull(side[cpu].rc);
	}
	mine = file_new();
	other = file_new();
	user_start(EVENTS * PAGE_SIZE);
}

void ring_stop(void)
{
	int cpu;

	/* A test with a ring for each case has ended the last one. */
	if (!mine)
		return;
	file_free(mine);
	file_free(other);
	mine = NULL;
	for (cpu = 0; cpu < CPUS; cpu++) {
		kmmv_ring_cpu_free(side[cpu].rc);
		side[cpu].rc = NULL;
	}
	free(user.at);
	user.at = NULL;
	ck_assert_int_eq(shim_allocated, 0);
}

void writers_busy(int cpu, bool busy)
{
	struct kmmv_ring_cpu *rc = side[cpu].rc;
	u64 link;
	u32 i;

	for (i = 0; i < rc->nr_pages; i++) {
		/* A consumer finds no head, a copy finds more than a page. */
		link = atomic64_read(&rc->pages[i].link);
		if (kmmv_link_flag(link) ==
		    (busy ? KMMV_LINK_HEAD : KMMV_LINK_UPDATE))
			atomic64_set(&rc->pages[i].link, link ^
				     KMMV_LINK_HEAD ^ KMMV_LINK_UPDATE);
		rc->pages[i].data->commit ^= 1 << 15;
	}
}

struct kmmv_ring_counts counts_of(void)
{
	struct kmmv_ring_counts sum = {};
	struct kmmv_ring_stats stats;
	int cpu;

	for (cpu = 0; cpu < CPUS; cpu++) {
		if (!side[cpu].rc)
			continue;
		kmmv_ring_cpu_stats(side[cpu].rc, &stats);
		ck_assert_uint_eq(stats.anomalies, 0);
		sum.written += stats.events.written;
		sum.released += stats.events.released;
		sum.taken += stats.events.taken;
		sum.inside += stats.events.inside;
	}
	return sum;
}

u64 returned_of(void)
{
	u64 sum = 0;
	int cpu;

	for (cpu = 0; cpu < CPUS; cpu++)
		sum += side[cpu].rc ? side[cpu].rc->reader->returned : 0;
	return sum;
}

/* ---- events */

static u32 word_of(int cpu, u32 id)
{
	return (u32)cpu << 16 | id;
}

void event_write(int cpu, u32 size)
{
	struct kmmv_event head = { .type = 16, .instance = cpu };
	u32 id = written[cpu]++, words[PAGE_SIZE / 4], i;

	ck_assert_uint_lt(id, EVENTS);
	for (i = 0; i < size / 4; i++)
		words[i] = word_of(cpu, id);
	sizes[cpu][id] = size;
	shim_now += 10;
	stamps[cpu][id] = shim_now;
	ck_assert_int_eq(kmmv_ring_cpu_write(side[cpu].rc, head, words,
					     size).err, 0);
}

/* Of two sizes, so that blocks end at multiples of 4 and of 8. */
void events_write(int cpu, int nr)
{
	while (nr--)
		event_write(cpu, 1000 + written[cpu] % 2 * 4);
}

/* The CPU's next event. */
static void event_sees(int cpu, const u32 *item, u32 size, u64 time)
{
	const struct kmmv_event *head = (const void *)(item + 2);
	u32 id = seen[cpu]++, i;

	/* All are so long that their length does not fit in the header. */
	ck_assert_uint_lt(id, written[cpu]);
	ck_assert_uint_eq(time, stamps[cpu][id]);
	ck_assert_uint_eq(size, 8 + sizeof(*head) + sizes[cpu][id]);
	ck_assert_uint_eq(head->instance, cpu);
	for (i = 0; i < sizes[cpu][id] / 4; i++)
		ck_assert_uint_eq(item[4 + i], word_of(cpu, id));
}

static void range_sees(const struct kmmv_ring_range *range, u64 time,
		       const u8 *data)
{
	u32 at, size, end = range->end - range->offset, type;
	int cpu = range->cpu;

	ck_assert_uint_lt(range->cpu, CPUS);
	ck_assert_uint_lt(range->offset, range->end);
	ck_assert_uint_eq(range->lost, 0);
	ck_assert_uint_eq(range->dropped, 0);
	if (!range->offset)
		ck_assert_uint_eq(range->first, seen[cpu]);
	for (at = 0; at < end; at += size) {
		const u32 *item = (const u32 *)(data + at);

		size = kmmv_ring_item_size(item, end - at);
		type = kmmv_ring_item_type(item);
		ck_assert_uint_gt(size, 0);
		ck_assert_uint_le(type, KMMV_RING_PADDING);
		if (type == KMMV_RING_PADDING)
			continue;
		time += *item >> KMMV_RING_TYPE_BITS;
		event_sees(cpu, item, size, time);
	}
}

/* Return: how many blocks that were. */
int blocks_see(size_t size)
{
	const struct kmmv_ring_block *block;
	const u8 *at = user.at, *end = at + size, *next;
	u32 bytes;
	int n = 0;

	for (; at < end; at = next) {
		block = (const void *)at;
		bytes = block->range.end - block->range.offset;
		next = at + block->size;
		ck_assert_uint_eq(block->size,
				  sizeof(*block) + (bytes + 7) / 8 * 8);
		ck_assert(next <= end);
		order[n] = block->range.cpu;
		flags[n++] = block->range.flags;
		at += sizeof(*block);
		range_sees(&block->range, block->time, at);
		for (at += bytes; at < next; at++)
			ck_assert_uint_eq(*at, 0);
	}
	return n;
}

void ranges_see(const struct kmmv_ring_range *ranges, u32 nr)
{
	const struct kmmv_ring_page *page;
	u32 i;

	for (i = 0; i < nr; i++) {
		ck_assert_uint_lt(ranges[i].cpu, CPUS);
		page = side[ranges[i].cpu].rc->pages[ranges[i].id].data;
		ck_assert_uint_eq(page->seq, ranges[i].seq);
		range_sees(&ranges[i],
			   kmmv_ring_page_time(page, ranges[i].offset),
			   page->data + ranges[i].offset);
		order[i] = ranges[i].cpu;
		flags[i] = ranges[i].flags;
	}
}

void all_seen(void)
{
	int cpu;

	for (cpu = 0; cpu < CPUS; cpu++)
		ck_assert_uint_eq(seen[cpu], written[cpu]);
}
