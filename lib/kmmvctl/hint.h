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

/* kmmv_hint_begin - @wanted has to outlive @h */
void kmmv_hint_begin(struct hint *h, const char *wanted);

/* kmmv_hint_offer - a name that exists; it is copied if it is near */
void kmmv_hint_offer(struct hint *h, const char *name);

/* kmmv_hint_say - append "; near: A, B" to the reason, if there are some */
void kmmv_hint_say(const struct hint *h);

#endif /* KMMV_CTL_HINT_H */
