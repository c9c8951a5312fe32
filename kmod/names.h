/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KMMV_NAMES_H
#define KMMV_NAMES_H

#include <kmmv_deps.h>
#include "table.h"

/**
 * struct kmmv_cursor - a reader's place in the stream of names
 * @record: in the list of changes: what is behind it has been given
 * @table: whose names
 * @rest: text that the reader's buffers had no room for, or NULL
 * @rest_size: bytes of it
 * @rest_given: bytes given of it
 * @started: the first line has been given
 * @ended: an end line has been given
 * @generation: in that line
 */
struct kmmv_cursor {
	struct kmmv_record	record;
	struct kmmv_table	*table;
	char			*rest;
	size_t			rest_size;
	size_t			rest_given;
	bool			started;
	bool			ended;
	unsigned long		generation;
};

void kmmv_cursor_init(struct kmmv_cursor *cursor, struct kmmv_table *table);
void kmmv_cursor_fini(struct kmmv_cursor *cursor);
void kmmv_cursor_rewind(struct kmmv_cursor *cursor);
ssize_t kmmv_cursor_read(struct kmmv_cursor *cursor, char *buffer, size_t size);
bool kmmv_cursor_ready(struct kmmv_cursor *cursor);

#endif /* KMMV_NAMES_H */
