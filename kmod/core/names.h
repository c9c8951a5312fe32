/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KMMV_NAMES_H
#define KMMV_NAMES_H

#include <kmmv_deps.h>
#include "table.h"

/* A hold of the lock ends after so many records, or bytes and one record. */
#define KMMV_HOLD_RECORDS	16
#define KMMV_HOLD_BYTES		1024

/**
 * struct kmmv_cursor - a reader's place in the stream of names
 * @table: whose names
 * @change: of the record that was told last
 * @text: what has been told, room for KMMV_HOLD_BYTES + KMMV_TEXT_MAX, or NULL
 * @size: bytes of it
 * @given: bytes of it that the reader has been given
 * @started: the first line has been told
 * @ended: an end line has been told
 * @generation: in the last one
 * @idle: an end line has been given
 * @idle_at: generation of the last one given; these two are looked at without a
 *	lock, too
 */
struct kmmv_cursor {
	struct kmmv_table	*table;
	u64			change;
	char			*text;
	size_t			size;
	size_t			given;
	bool			started;
	bool			ended;
	bool			idle;
	unsigned long		generation;
	unsigned long		idle_at;
};

void kmmv_cursor_init(struct kmmv_cursor *cursor, struct kmmv_table *table);
void kmmv_cursor_fini(struct kmmv_cursor *cursor);
void kmmv_cursor_rewind(struct kmmv_cursor *cursor);
ssize_t kmmv_cursor_text(struct kmmv_cursor *cursor, size_t wanted,
			 const char **text);
void kmmv_cursor_given(struct kmmv_cursor *cursor, size_t size);
bool kmmv_cursor_ready(const struct kmmv_cursor *cursor);

#endif /* KMMV_NAMES_H */
