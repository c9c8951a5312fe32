/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The system's directories that kmmvctl uses. */
#ifndef KMMV_CTL_PLACES_H
#define KMMV_CTL_PLACES_H

/* All begin with the same root, which is "" but for tests. */
struct places {
	char *btf; /* /sys/kernel/btf */
	char *tracing; /* /sys/kernel/tracing */
	char *config; /* /sys/kernel/config */
	char *counters; /* kmmv/trace below it */
	char *run; /* /run/kmmvctl: what defined the counters */
	char *etc; /* /etc/kmmv */
};

/* ctl_places_set - 0, or -ENOMEM */
int ctl_places_set(struct places *places, const char *root);
void ctl_places_free(struct places *places);

#endif /* KMMV_CTL_PLACES_H */
