/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of families, read once for each request. */
#ifndef KMMV_AGENT_READING_H
#define KMMV_AGENT_READING_H

#include "provider.h"

extern uint64_t agent_reading_max_age;	/* nanoseconds */

/* Have mirrored counters copied, once for all that ask in this REQUEST. */
void agent_reading_copy(uint64_t request);
/* Read all bound instances of F; others of this REQUEST use these values. */
void agent_reading_all(struct family *f, uint64_t request);
/* The sum of all that F ever counted; false if there is nothing to read. */
bool agent_reading_total(struct family *f, uint64_t request, uint64_t *total);
pmValueSet *agent_reading_sums(struct family *f, pmID pmid,
			       const struct request *req);
/* The values of each CPU. */
pmValueSet *agent_reading_cells(struct family *f, pmID pmid,
				const struct request *req);

#endif /* KMMV_AGENT_READING_H */
