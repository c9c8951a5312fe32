/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rings as objects (rings.c): named and held (ringhold.c), with device nodes
 * (ringnode.c), configured (ringfs.c, ringattr.c), made by modules (ringmade.c),
 * opened (ringdev.c), mapped (ringarea.c), read (ringtake.c, ringblock.c),
 * waited for (ringpoll.c, ringwake.c), written by kernel code (ringwriter.c)
 * and by traced counters (hit.c). Each has one portable buffer per CPU
 * (ringbuffers.c, ring.h).
 *
 * Lifetime. A ring that is held, by an open file or by kernel code, cannot be
 * removed: its directory in configfs is depended on. A ring's buffers stay
 * while it has files, so a mapping holds no reference of its own.
 */
#ifndef KMMV_RINGS_H
#define KMMV_RINGS_H

#include <linux/configfs.h>
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/rcupdate.h>

#include "module.h"
#include "ring.h"

#define KMMV_RING_DEFAULT		"default"
#define KMMV_RING_PAGES_DEFAULT		64
#define KMMV_RING_SPARES_DEFAULT	8
/* Number of minor numbers. */
#define KMMV_RINGS_MAX			4096
/*
 * Limit of a ring's open files, since all are looked at with interrupts
 * disabled; how many of them are reserved for CAP_SYS_ADMIN. share.h has the
 * limits of one user without it.
 */
#define KMMV_RING_FILES_MAX		256
#define KMMV_RING_FILES_ADMIN		32
/* Limit of waiters on each file, since all are woken so. */
#define KMMV_RING_WAITERS_MAX		8

/**
 * struct kmmv_ring_side - a CPU's buffer, for all but writers
 * @lock: serialises the consumer's functions; innermost
 * @rc: the buffer; NULL for a CPU that was not online since the buffers were
 *	made
 */
struct kmmv_ring_side {
	struct mutex		lock;
	struct kmmv_ring_cpu	*rc;
};

/**
 * struct kmmv_ring_file - an open device
 * @ring: of which it is a file
 * @link: in kmmv_ring.files
 * @uid: the user to whom it is charged, see kmmv_user()
 * @turn: serialises read() and the consumer's ioctls; held while data are
 *	copied to user space, hence only waited for interruptibly; outside all
 *	other locks
 * @lock: serialises poll() and changes of what it depends on: @consumer,
 *	@watermark, @cpu, @crowded; outside the sides' locks
 * @wait: tasks that poll
 * @crowded: see kmmv_poll_wait()
 * @consumer: the file claimed the ring; stays set
 * @waits: there may be a waiter in @wait; under kmmv_ring.lock
 * @seen: position of the ring up to which its waiters know; likewise
 * @watermark: bytes on one CPU that wake the consumer
 * @next: CPU at which the next read() or take of all CPUs begins
 * @ranges: for what a take gives, kept for the next one; under @turn
 * @nr_ranges: room there; grows to what takes ask for
 * @copy: a page, for snapshots by read()
 * @peek: another one, for poll()
 * @cpu: place of a snapshot reader on each CPU
 */
struct kmmv_ring_file {
	struct kmmv_ring	*ring;
	struct list_head	link;
	kuid_t			uid;
	struct mutex		turn;
	struct mutex		lock;
	wait_queue_head_t	wait;
	bool			crowded;
	bool			consumer;
	bool			waits;
	u64			seen;
	u32			watermark;
	u32			next;
	struct kmmv_ring_range	*ranges;
	u32			nr_ranges;
	struct kmmv_ring_page	*copy;
	struct kmmv_ring_page	*peek;
	struct kmmv_ring_cursor	cpu[];
};

/* While a file waits, the ring is armed or quiet; see ringwake.c. */
enum kmmv_ring_watch {
	KMMV_RING_IDLE,		/* the timer is not under way */
	KMMV_RING_ARMED,	/* likewise; the next commit reports */
	KMMV_RING_QUIET,	/* the timer will look */
};

/**
 * struct kmmv_ring_home - where rings are made and removed
 * @keep: keep the ring from being removed; 0 or -ENOENT. Called under hold_lock
 *	of ringhold.c, for a ring that is not leaving
 * @let_go: allow it to be removed again
 */
struct kmmv_ring_home {
	int	(*keep)(struct kmmv_ring *ring);
	void	(*let_go)(struct kmmv_ring *ring);
};

/**
 * struct kmmv_ring - a ring
 * @group: its directory; the last reference frees the structure
 * @link: in the list of rings
 * @name: of directory and device
 * @minor: number of its node
 * @home: where it was made; NULL for one that stays until the module is
 *	unloaded
 * @leaving: its directory is being removed, or is not made yet: it cannot be
 *	held
 * @users: open files and kernel code that hold it
 * @opened: open files
 * @ready: there are buffers, and it can be opened
 * @enabled: writers find the buffers
 * @overwrite: mode
 * @ring_pages: pages of each CPU's page ring
 * @spares: pages of each CPU that a consumer can have besides one
 * @follower: index of this ring as a follower of counters, 0 for none
 * @memory: pages that the buffers take
 * @header: mapped; NULL while there are no buffers
 * @side: by CPU
 * @lock: protects @files, @consumer and the state of waiting; irqsave
 * @files: open ones
 * @consumer: the file that claimed it
 * @watch: how waiting files are woken
 * @work: queued by a commit that found `waiting' set; its cache line is that of
 *	the state of waiting
 * @timer: looks for events while the ring is quiet
 * @next_look: earliest time to arm or to look again; the later the longer the
 *	last wake-up took
 * @rcu: runs when all writers that may have missed `waiting' are done
 * @rcu_queued: @rcu is queued
 * @rcu_again: the ring was armed again since then
 * @refused: events refused in NMI that are not counted yet
 * @refused_bytes: likewise
 * @live: by CPU: the buffer to write to, or NULL
 *
 * @follower is protected by the lock of hit.c. @refused and
 * @refused_bytes are atomic. Other members without a lock named here are
 * protected by rings_lock or hold_lock; rings.c and ringhold.c say which
 * members. Both locks nest inside the hotplug lock and outside all
 * others.
 *
 * @enabled, @overwrite, @ring_pages and @spares are also read without a lock,
 * to be shown: a value that changes meanwhile may be the old or the new one.
 */
struct kmmv_ring {
	struct config_group	group;
	struct list_head	link;
	char			name[KMMV_RING_NAME_MAX + 1];
	u32			minor;
	const struct kmmv_ring_home *home;
	bool			leaving;
	bool			ready;
	bool			enabled;
	bool			overwrite;
	u8			follower;
	u32			users;
	u32			opened;
	u32			ring_pages;
	u32			spares;
	u64			memory;
	struct kmmv_ring_header	*header;
	struct kmmv_ring_side	*side;

	spinlock_t		lock ____cacheline_aligned_in_smp;
	struct list_head	files;
	struct kmmv_ring_file	*consumer;
	enum kmmv_ring_watch	watch;
	struct irq_work		work;
	struct hrtimer		timer;
	ktime_t			next_look;
	struct rcu_head		rcu;
	bool			rcu_queued;
	bool			rcu_again;
	atomic_t		refused;
	atomic_t		refused_bytes;

	struct kmmv_ring_cpu	*live[] ____cacheline_aligned_in_smp;
};

/* Whether a CPU that user space names may have a buffer. */
static inline bool kmmv_rings_cpu_valid(u32 cpu)
{
	return cpu < nr_cpu_ids && cpu_possible(cpu);
}

/* rings.c */
struct kmmv_ring *kmmv_ring_new(const char *name);
void kmmv_ring_free(struct kmmv_ring *ring);
int kmmv_ring_show_up(struct kmmv_ring *ring);
void kmmv_ring_remove(struct kmmv_ring *ring);
int kmmv_ring_enable(struct kmmv_ring *ring, bool enable);
int kmmv_ring_set_mode(struct kmmv_ring *ring, bool overwrite);
int kmmv_ring_set_pages(struct kmmv_ring *ring, u32 pages);
int kmmv_ring_set_spares(struct kmmv_ring *ring, u32 spares);
int kmmv_rings_populate(unsigned int cpu);
void kmmv_rings_recheck(void);

/* ringwake.c */
void kmmv_ring_wake_init(struct kmmv_ring *ring);
void kmmv_ring_wake_drain(struct kmmv_ring *ring);
void kmmv_ring_wait(struct kmmv_ring_file *file, u64 seen, bool ready);
void kmmv_ring_recheck(struct kmmv_ring *ring);
void kmmv_ring_again(struct kmmv_ring_file *file);
u64 kmmv_ring_position(const struct kmmv_ring *ring);

/* ringattr.c */
struct config_item;
void kmmv_ringattr_init(struct kmmv_ring *ring, const char *name);
struct kmmv_ring *kmmv_to_ring(struct config_item *item);

/* ringfs.c */
int kmmv_ringfs_init(u32 pages);
void kmmv_ringfs_exit(void);
int kmmv_ringfs_register(void);
void kmmv_ringfs_unregister(void);
int kmmv_ringfs_check(const char *name);
int kmmv_ringfs_show(struct kmmv_ring *ring);
void kmmv_ringfs_hide(struct kmmv_ring *ring);
void kmmv_ringfs_unmake(struct kmmv_ring *ring);

/* ringmade.c */
void kmmv_ringmade_exit(void);

/* ringarea.c */
struct kmmv_ring_cpu *kmmv_ringarea_buffer(const struct kmmv_ring *ring,
					   u32 cpu);
void kmmv_ringarea_header(struct kmmv_ring *ring);
int kmmv_ringarea_mmap(struct file *file, struct vm_area_struct *vma);

/* ringdev.c */
extern const struct file_operations kmmv_ring_fops;

/* ringnode.c */
int kmmv_ringnode_init(const struct file_operations *fops);
void kmmv_ringnode_exit(void);
int kmmv_ringnode_make(struct kmmv_ring *ring);
void kmmv_ringnode_remove(struct kmmv_ring *ring);
void kmmv_ringnode_lead(struct kmmv_ring *ring, bool lead);
struct kmmv_ring *kmmv_ringnode_find(unsigned int minor);

/* hit.c */
void kmmv_hit(u32 instance, s64 delta, u8 index);
int kmmv_hit_unfollow(struct kmmv_ring *ring, int instance);
ssize_t kmmv_hit_list(struct kmmv_ring *ring, char *text, size_t size);
void kmmv_hit_end(struct kmmv_ring *ring);

#endif /* KMMV_RINGS_H */
