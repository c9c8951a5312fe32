// SPDX-License-Identifier: GPL-2.0-only
/*
 * Linked into kmmvdump and kmmvprof by --wrap of these functions: a consumer that needs
 * no kernel, to which a signal comes with record SIGNALLED. When it ends, it says how many
 * records it has consumed.
 */
#include <signal.h>
#include <stdio.h>

#include "libkmmv.h"

int __real_kmmv_ring_next(struct kmmv_ring *ring, struct kmmv_record *record);
int __wrap_kmmv_ring_next(struct kmmv_ring *ring, struct kmmv_record *record);
int __wrap_kmmv_ring_claim(struct kmmv_ring *ring);
void __real_kmmv_ring_close(struct kmmv_ring *ring);
void __wrap_kmmv_ring_close(struct kmmv_ring *ring);

static int given, consumed;

int __wrap_kmmv_ring_claim(struct kmmv_ring *ring)
{
	(void)ring;
	return 0;
}

int __wrap_kmmv_ring_next(struct kmmv_ring *ring, struct kmmv_record *record)
{
	int n;

	/* All that were given before. */
	consumed = given;
	n = __real_kmmv_ring_next(ring, record);
	given += n == 1;
	if (given == SIGNALLED)
		raise(SIGTERM);
	return n;
}

void __wrap_kmmv_ring_close(struct kmmv_ring *ring)
{
	fprintf(stderr, "consumed %d\n", consumed);
	__real_kmmv_ring_close(ring);
}
