/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KMMV_NAMES_H
#define KMMV_NAMES_H

#include <kmmv_deps.h>
#include "table.h"

/* A hold of the lock ends after this many records, or bytes and one record. */
#define KMMV_HOLD_RECORDS	16
#define KMMV_HOLD_BYTES		1024

/**
 * struct kmmv_cursor - a reader's place in the names stream
 * @table: whose names
 * @change: of the last record written to @text
 * @text: room for KMMV_HOLD_BYTES + KMMV_TEXT_MAX, or NULL
 * @size: bytes in @text
 * @given: bytes of those that the reader has been given
 * @started: the first line was written
 * @ended: an end line was written
 * @generation: in the last end line written
 * @idle: an end line was given to the reader
 * @idle_at: generation of the last end line given; this and @idle are also read
 *	without a lock
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
