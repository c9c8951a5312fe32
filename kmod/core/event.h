/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KMMV_EVENT_H
#define KMMV_EVENT_H

#include <kmmv_deps.h>
#include <linux/kmmv_ring.h>

int kmmv_event_check(const struct kmmv_event_type *type);
bool kmmv_event_same(const struct kmmv_event_type *a,
		     const struct kmmv_event_type *b);
bool kmmv_event_nested(const struct kmmv_event_type *a,
		       const struct kmmv_event_type *b);
const char *kmmv_event_units(const struct kmmv_field *field);
const char *kmmv_event_kind(const struct kmmv_field *field);

#endif /* KMMV_EVENT_H */
