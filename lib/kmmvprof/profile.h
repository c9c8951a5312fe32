/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Samples, and counts of those that are missing. */
#ifndef KMMV_PROF_PROFILE_H
#define KMMV_PROF_PROFILE_H

#include "accounts.h"
#include "table.h"

struct prof_profile {
	struct prof_table table;
	struct prof_table notes;	/* image, and as symbol a reason */
	struct prof_accounts accounts;
};

#endif /* KMMV_PROF_PROFILE_H */
