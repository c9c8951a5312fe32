/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Limits how often a source is copied, however many readers ask for it.
 *
 * A reader says how old values may be. Many tasks that ask for new values in a
 * loop must not keep the kernel copying. So the source rests: after a copy that
 * took time T, none is begun for nine times T. A reader that asks meanwhile
 * gets the last copy, and its age.
 *
 *	nine times	all readers together cost a tenth of one CPU at most
 *	1 ms or more	small machines' CPUs do not lose their cache lines again
 *			and again
 *	100 ms or less	values do not age for seconds after a copy that took
 *			long, as when its task was preempted. Copies cost more
 *			than a tenth of a CPU only if each takes 11 ms of it
 *
 * The rest applies to all copies but the first and the last. Readers that wait
 * are woken by the same rule: a reader can lengthen a wake-up, and the kernel
 * pays for it. Callers serialise calls on one pace. Context: any; nothing here
 * sleeps.
 */
#ifndef KMMV_PACE_H
#define KMMV_PACE_H

#include <kmmv_deps.h>

#define KMMV_PACE_SHARE		9
#define KMMV_PACE_REST_MIN	1000000ULL	/* nanoseconds */
#define KMMV_PACE_REST_MAX	100000000ULL

/**
 * struct kmmv_pace - the copies of one source
 * @copies: copies completed
 * @begun: when the last of them was begun, in nanoseconds; no value is older
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
u64 kmmv_pace_rest_after(u64 took);
u64 kmmv_pace_rest(const struct kmmv_pace *pace);

#endif /* KMMV_PACE_H */
