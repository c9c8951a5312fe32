/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A live view of where time is spent. */
#ifndef KMMV_PROF_TOP_H
#define KMMV_PROF_TOP_H

#include "profile.h"
#include "reader.h"
#include "report.h"

struct prof_top {
	struct prof_reader *reader;
	struct prof_profile *profile;	/* whose table has all columns' parts */
	struct prof_report report;
	bool batch;		/* print, do not draw */
	uint64_t interval;	/* milliseconds */
	uint64_t frames;	/* 0: without end */
	const volatile int *ended;
	void (*printing)(bool printing);	/* begins, and has ended */
};

/* Show the samples of each interval. -1 after a message. */
int prof_top_run(struct prof_top *top);

#endif /* KMMV_PROF_TOP_H */
