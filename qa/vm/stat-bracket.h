/* SPDX-License-Identifier: GPL-2.0-only */
/* The values of kmmv.value.stat.* between two readings of /proc. */
#ifndef QA_STAT_BRACKET_H
#define QA_STAT_BRACKET_H

/* CPUs that were offline: their idle and iowait are not compared. */
extern int was_away[64], nr_away;

void bracket(int rounds);

#endif /* QA_STAT_BRACKET_H */
