/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events by the names that sysfs has for them, as numbers for kmmv_profile:
 * Documentation/ABI/testing/sysfs-bus-event_source-devices-{events,format} of Linux.
 */
#ifndef KMMV_PROF_PMU_H
#define KMMV_PROF_PMU_H

#include <stdint.h>
#include <stdio.h>

#define PROF_PMU_DIR "/sys/bus/event_source/devices"

/* What perf_event_attr has: PMU and event. */
struct prof_pmu_event {
	uint32_t type;
	uint64_t config;
};

/*
 * Find what TEXT means below DIR: PMU/TERM,TERM.../ as for perf(1), a term being the
 * name of an event, that of a field, or FIELD=NUMBER. 0, or -errno and a line of text
 * in WHY:
 * -ENOENT	there is no such PMU, event or field
 * -EINVAL	TEXT is no event, or a file of sysfs is not understood
 * -ERANGE	a number has more bits than its field
 * -EOPNOTSUPP	it needs more than one number, which kmmv_profile does not take
 */
int prof_pmu_resolve(const char *dir, const char *text,
		     struct prof_pmu_event *event, char *why, size_t size);

/*
 * Print a line for each event below DIR: its name and numbers, or why it cannot be had.
 * 0, or -errno and a line of text in WHY.
 */
int prof_pmu_list(const char *dir, FILE *to, char *why, size_t size);

#endif /* KMMV_PROF_PMU_H */
