/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How often a source is copied, however many readers ask for it.
 *
 * Who asks says how old values may be; who asks for the youngest, in a loop and
 * from many tasks, is not to keep the kernel copying. So copies rest: after one
 * that took T none is begun for nine times T, and whoever asks meanwhile has to
 * do with what there is, and is told its age.
 *
 *	nine times	all readers together cost a tenth of one CPU at most
 *	1 ms or more	nor are the lines of small machines taken from their CPUs
 *			again and again
 *	100 ms or less	a copy that took long, as one does whose reader was not
 *			let run, does not leave values to age for seconds. More
 *			than a tenth of a CPU is spent only where a copy takes
 *			11 ms of it
 *
 * The rest is of the copies that readers ask for. Callers serialise calls on one
 * pace. Context: any; nothing here sleeps.
 */
#ifndef KMMV_PACE_H
#define KMMV_PACE_H

#include <kmmv_deps.h>

#define KMMV_PACE_SHARE		9
#define KMMV_PACE_REST_MIN	1000000ULL	/* nanoseconds */
#define KMMV_PACE_REST_MAX	100000000ULL

/**
 * struct kmmv_pace - the copies of one source
 * @copies: that were completed
 * @begun: when the last one of them was, in nanoseconds; no value is older
 * @ended: when it was complete
 *
 * All zero is a source that was never copied.
 */
struct kmmv_pace {
	u64	copies;
	u64	begun;
	u64	ended;
};

bool kmmv_pace_due(const struct kmmv_pace *pace, u64 asked, u64 max_age,
		   u64 now);
void kmmv_pace_copied(struct kmmv_pace *pace, u64 begun, u64 ended);
u64 kmmv_pace_rest(const struct kmmv_pace *pace);

#endif /* KMMV_PACE_H */
