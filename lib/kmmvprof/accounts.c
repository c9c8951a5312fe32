// SPDX-License-Identifier: LGPL-2.1-or-later
/* Counts of samples read and lost, between the profiler's states. */
#include "accounts.h"
#include "text.h"

void prof_accounts_state(struct prof_accounts *accounts,
			 const struct prof_sample_state *state)
{
	/* The module counts from 0 when it is loaded again. */
	if (!accounts->states || state->taken < accounts->last.taken ||
	    state->lost < accounts->last.lost ||
	    state->missed < accounts->last.missed) {
		accounts->states = 0;
		accounts->first = *state;
		accounts->at_first = accounts->counts;
	}
	accounts->states++;
	accounts->last = *state;
	prof_text_clean(accounts->last.source);
	accounts->at_last = accounts->counts;
}

void prof_accounts_gap(struct prof_accounts *accounts)
{
	accounts->states = 0;
}

bool prof_accounts_balance(const struct prof_accounts *accounts,
			   struct prof_balance *balance)
{
	const struct prof_counts *from = &accounts->at_first;
	const struct prof_counts *to = &accounts->at_last;
	struct prof_counts *counts = &balance->counts;

	if (accounts->states < 2)
		return false;
	balance->taken = accounts->last.taken - accounts->first.taken;
	balance->lost = accounts->last.lost - accounts->first.lost;
	balance->missed = accounts->last.missed - accounts->first.missed;
	counts->read = to->read - from->read;
	counts->malformed = to->malformed - from->malformed;
	counts->overwritten = to->overwritten - from->overwritten;
	counts->dropped = to->dropped - from->dropped;
	balance->inside = (int64_t)(balance->taken - balance->lost -
				    counts->read - counts->malformed -
				    counts->overwritten - counts->dropped);
	return true;
}
