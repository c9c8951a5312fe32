/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps the CPU time of something periodic below a ceiling, by making its period
 * a power of two times as long.
 *
 *	above the ceiling	twice as long, at once
 *	below a quarter of it	halved, after eight such looks in a row: this at
 *				most doubles the cost, so the period does not
 *				oscillate
 *
 * Callers serialise calls on one of them. Context: any.
 */
#ifndef KMMV_BACKOFF_H
#define KMMV_BACKOFF_H

#include <kmmv_deps.h>

#define KMMV_BACKOFF_MAX	1024
#define KMMV_BACKOFF_CALM	8

/**
 * struct kmmv_backoff - state; begin with a factor of 1 and all else 0
 * @factor: how many times as long the period is
 * @calm: looks in a row that found less than a quarter of the ceiling
 */
struct kmmv_backoff {
	u32	factor;
	u32	calm;
};

int kmmv_backoff_look(struct kmmv_backoff *backoff, u64 spent, u64 time,
		      u32 ceiling);

#endif /* KMMV_BACKOFF_H */
