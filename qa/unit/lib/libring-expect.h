/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of libring share: a ring, its kernel, and what is expected of the
 * ring's reader.
 */
#ifndef LIBRING_EXPECT_H
#define LIBRING_EXPECT_H

#include "libringarea.h"

extern struct ring_area area;
extern struct ring_kernel kernel;
extern struct kmmv_ring *ring;

/*
 * So many allocations have memory, and the one behind them has none; -1: all have.
 */
extern int allocations_left;

void setup(void);
void teardown(void);

void check_record(const struct kmmv_record *record, uint32_t cpu, uint64_t time,
		  int64_t delta);

/* The next record is this hit, with nothing lost. */
void expect(uint32_t cpu, uint64_t time, int64_t delta);
void expect_loss(uint32_t cpu, uint64_t time, int64_t delta, uint64_t lost,
		 uint64_t dropped);
void expect_none(void);
void expect_only_losses(uint32_t cpu, uint64_t lost, uint64_t dropped);

/* The tests of the other files. */
void add_open(TCase *tcase);
void add_snapshot(TCase *tcase);
void add_order(TCase *tcase);
void add_consumer(TCase *tcase);

#endif /* LIBRING_EXPECT_H */
