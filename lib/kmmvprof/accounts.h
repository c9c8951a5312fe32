/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts of samples: read, or lost by cause. */
#ifndef KMMV_PROF_ACCOUNTS_H
#define KMMV_PROF_ACCOUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "sample.h"

/* Counts of events, as far as read. */
struct prof_counts {
	uint64_t read;		/* samples */
	uint64_t malformed;	/* of no use, and not in read */
	uint64_t overwritten;	/* in the ring, or taken by its consumer */
	uint64_t dropped;	/* by the ring */
};

struct prof_accounts {
	struct prof_counts counts;
	uint64_t others;	/* of read: of modes or processes not asked for */
	/*
	 * Between the first and the last state that was read, in which the
	 * module says what it has taken and lost.
	 */
	uint64_t states;
	struct prof_sample_state first, last;
	struct prof_counts at_first, at_last;
};

/* Take over a state. */
void prof_accounts_state(struct prof_accounts *accounts,
			 const struct prof_sample_state *state);

/*
 * Events that were not counted may have followed the states so far: the next state is
 * the first one again.
 */
void prof_accounts_gap(struct prof_accounts *accounts);

/*
 * Between the states: taken = read + malformed + lost + overwritten + dropped +
 * inside. INSIDE may be negative: what was inside at the first was read since.
 */
struct prof_balance {
	uint64_t taken, lost, missed;
	struct prof_counts counts;
	int64_t inside;
};

/* False if there were fewer than two states. */
bool prof_accounts_balance(const struct prof_accounts *accounts,
			   struct prof_balance *balance);

#endif /* KMMV_PROF_ACCOUNTS_H */
