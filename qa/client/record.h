/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the commands "ring ..." share: writers and their records.
 */
#ifndef KMMV_CLIENT_RECORD_H
#define KMMV_CLIENT_RECORD_H

#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/kmmv_ring.h>

#include "client.h"
#include "ring.h"

#define SMALL		64	/* bytes that are written, not reserved */

/* The results of the tries of one context on one CPU. */
struct tally {
	u64	tries;
	u64	committed;
	u64	discarded;
	u64	dropped[KMMV_DROP_NR];
	u64	bytes;
	u64	dropped_bytes;
	u64	other;
};

/* The records of a source are in sequence. */
struct source {
	u32	seq;
	u32	random;
};

struct writer {
	u32			id;
	struct kmmv_ring	*ring;
	struct source		sources[CLIENT_CONTEXTS];

	/* in a storm */
	u16			storm;
	struct task_struct	*task;
	struct hrtimer		timer;
	struct tasklet_struct	tasklet;
	int			cpu;	/* -1: rover */
	bool			nmi;
	unsigned long		asks;	/* bit 0: for an NMI, see ask_nmi() */
	bool			finished;
	u64			quota;
	u64			committed[CLIENT_CONTEXTS];
	u64			misplaced;
	u64			broken;
};

DECLARE_PER_CPU(struct tally, client_tallies[CLIENT_CONTEXTS]);
extern int client_record_type;
extern struct kmmv_ring_head client_record_head;

int client_record_reserve(struct writer *writer, struct tally *tally,
			  int context, u32 size, struct kmmv_ring_entry *entry,
			  u32 *seq);
void client_record_finish(struct writer *writer, struct tally *tally,
			  struct kmmv_ring_entry *entry, int context, u32 seq,
			  u32 size, bool discard);
int client_record_write(struct writer *writer, int context, u32 size,
			bool discard);
void client_records_clear(void);

void client_ring_storm(struct kmmv_ring *ring, u64 records, bool nmi,
		       char *text, size_t size);

int client_moment_later(struct kmmv_ring *ring, const char *text);
int client_moment_waking(struct kmmv_ring *ring, const char *text);
int client_moment_nmi(struct kmmv_ring *ring);
/* No record comes to RING any more, which is about to be put. */
void client_moment_end(const struct kmmv_ring *ring);
void client_moment_init(void);
void client_moment_exit(void);

#endif /* KMMV_CLIENT_RECORD_H */
