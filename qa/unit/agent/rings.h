/* SPDX-License-Identifier: GPL-2.0-only */
/* What the tests of rings share. */
#ifndef RINGS_H
#define RINGS_H

/* The agent's, not the library's. */
#include "../../../pmda/ring.h"

/* The agent's ring, of which there is one. */
struct ring *only_ring(void);

/* Fail unless kmmv.ring.reader of the only ring is WORD. */
void reader_is(const char *word);

#endif /* RINGS_H */
