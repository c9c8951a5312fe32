/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names that are near to one that does not exist. */
#ifndef KMMV_CTL_HINT_H
#define KMMV_CTL_HINT_H

/* The names that are nearest so far. */
struct hint {
	const char *wanted;
	char best[3][64];
	unsigned int distance[3];
	unsigned int nr;
};

/* ctl_hint_begin - @wanted has to outlive @h */
void ctl_hint_begin(struct hint *h, const char *wanted);

/* ctl_hint_offer - a name that exists; it is copied if it is near */
void ctl_hint_offer(struct hint *h, const char *name);

/* ctl_hint_say - append "; near: A, B" to the reason, if there are some */
void ctl_hint_say(const struct hint *h);

#endif /* KMMV_CTL_HINT_H */
