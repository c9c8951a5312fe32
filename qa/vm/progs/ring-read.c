// SPDX-License-Identifier: GPL-2.0-only
/*
 * Readers that take from a ring or read() it: each item of each range is checked, and so is
 * that no event is there twice or missing. ring-snapshot.c has those that copy its pages.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ring-read.h"
#include "tap.h"

#define DELTA_BITS	KMMV_RING_DELTA_BITS
#define RANGES_MAX	256

/* ---- checks of what was read */

void reader_init(struct reader *reader, struct ring *ring)
{
	memset(reader, 0, sizeof(*reader));
	reader->ring = ring;
	reader->nr_cpus = ring->map ? ring->header.nr_cpus : 64;
	reader->tracks = calloc(reader->nr_cpus, sizeof(*reader->tracks));
}

void reader_finding(struct reader *reader, const char *format, ...)
{
	va_list arguments;

	if (reader->errors++)
		return;
	va_start(arguments, format);
	vsnprintf(reader->first, sizeof(reader->first), format, arguments);
	va_end(arguments);
}

uint64_t reader_events(const struct reader *reader)
{
	uint64_t sum = 0;
	uint32_t cpu;

	for (cpu = 0; cpu < reader->nr_cpus; cpu++)
		sum += reader->tracks[cpu].events;
	return sum;
}

uint64_t reader_lost(const struct reader *reader)
{
	uint64_t sum = 0;
	uint32_t cpu;

	for (cpu = 0; cpu < reader->nr_cpus; cpu++)
		sum += reader->tracks[cpu].lost;
	return sum;
}

/* Check an event's payload, of so many bytes with the zeroes behind it. */
static void check_record(struct reader *reader, struct track *track,
			 uint32_t cpu, const void *payload, uint32_t room)
{
	const uint8_t *bytes = payload;
	struct ring_record record;
	uint32_t i, word, source;

	if (room < sizeof(record)) {
		reader_finding(reader, "CPU %u: a record of %u bytes", cpu,
			       room);
		return;
	}
	memcpy(&record, payload, sizeof(record));
	if (((record.size + 3) & ~3U) != room || record.cpu != cpu ||
	    record.context >= RING_CONTEXTS ||
	    record.writer >= RING_RECORD_WRITERS) {
		reader_finding(reader,
			       "CPU %u, %u bytes: writer %u, CPU %u, context %u, %u bytes",
			       cpu, room, record.writer, record.cpu,
			       record.context, record.size);
		return;
	}
	word = ring_record_seed(&record);
	for (i = sizeof(record); i < room; i++) {
		if (i % 4 == 0)
			word = ring_record_next(word);
		if (bytes[i] != (i < record.size ?
					 (uint8_t)(word >> i % 4 * 8) : 0)) {
			reader_finding(reader,
				       "CPU %u: byte %u of %u is another one's",
				       cpu, i, record.size);
			return;
		}
	}

	source = record.writer * RING_CONTEXTS + record.context;
	if (track->sources[source].storm != record.storm)
		track->sources[source].seq = 0;
	if (record.storm < track->sources[source].storm ||
	    record.seq <= track->sources[source].seq)
		reader_finding(reader,
			       "CPU %u: writer %u, context %u: %u.%u after %u.%u",
			       cpu, record.writer, record.context,
			       record.storm, record.seq,
			       track->sources[source].storm,
			       track->sources[source].seq);
	track->sources[source].storm = record.storm;
	track->sources[source].seq = record.seq;
	track->seen[record.context]++;
	reader->last = record;
}

/* Read an item without data. Return: bytes in all, 0 if it is malformed. */
static uint32_t read_time(const uint32_t *item, uint32_t room, uint64_t *time)
{
	uint64_t delta = item[0] >> KMMV_RING_TYPE_BITS, whole;
	uint32_t type = item[0] & 31;

	if (type == KMMV_RING_PADDING && !delta)
		return room;
	if (room < 8)
		return 0;
	if (type == KMMV_RING_PADDING) {
		*time += delta - 1;
		return item[1] < 4 || item[1] % 4 || item[1] > room - 4 ?
			       0 : item[1] + 4;
	}
	whole = ((uint64_t)item[1] << DELTA_BITS) + delta;
	if (type == KMMV_RING_TIME_EXTEND) {
		*time += whole;
		return 8;
	}
	whole |= *time & ~((1ULL << 59) - 1);
	*time = whole < *time ? whole + (1ULL << 59) : whole;
	return 8;
}

/*
 * Read a data item's size and array. Return: bytes in all, 0 if it is
 * malformed.
 */
static uint32_t read_data(const uint32_t *item, uint32_t room,
			  const void **array, uint32_t *size)
{
	uint32_t type = item[0] & 31;

	if (type) {
		*array = item + 1;
		*size = 4 * type;
		return *size + 4 <= room ? *size + 4 : 0;
	}
	if (room < 8 || item[1] < 8 || item[1] % 4 || item[1] > room - 4)
		return 0;
	*array = item + 2;
	*size = item[1] - 4;
	/* A short item has its length in its type. */
	return *size > 4 * KMMV_RING_TYPE_LEN_MAX ? item[1] + 4 : 0;
}

/* The time at an offset, and the events before it. */
static bool page_until(const struct kmmv_ring_page *page, uint32_t offset,
		       uint64_t *time, uint64_t *events)
{
	const uint32_t *item;
	const void *array;
	uint32_t at, n, size;

	*time = page->time;
	*events = page->first;
	for (at = 0; at < offset; at += n) {
		item = (const uint32_t *)(page->data + at);
		if ((item[0] & 31) > KMMV_RING_TYPE_LEN_MAX) {
			n = read_time(item, offset - at, time);
		} else {
			n = read_data(item, offset - at, &array, &size);
			*time += item[0] >> KMMV_RING_TYPE_BITS;
			++*events;
		}
		if (!n)
			return false;
	}
	return true;
}

static bool check_event(struct reader *reader, struct track *track,
			uint32_t cpu, const uint32_t *item, const void *array,
			uint32_t size)
{
	const struct kmmv_event *event = array;

	if (size < sizeof(*event)) {
		reader_finding(reader, "CPU %u: an event of %u bytes", cpu,
			       size);
		return false;
	}
	track->time += item[0] >> KMMV_RING_TYPE_BITS;
	track->events++;
	track->expected++;
	if (reader->loose && event->type < KMMV_EVENT_FIRST)
		return true;
	if (event->type < KMMV_EVENT_FIRST || event->incarnation ||
	    event->instance != KMMV_EVENT_NO_INSTANCE)
		reader_finding(reader, "CPU %u: type %u, instance %u.%u", cpu,
			       event->type, event->instance,
			       event->incarnation);
	else
		check_record(reader, track, cpu, event + 1,
			     size - sizeof(*event));
	return true;
}

/* @data: from @range->offset on */
static void check_items(struct reader *reader, struct track *track,
			const struct kmmv_ring_range *range, const void *data)
{
	uint32_t at, n, size, extra = 0, kind;
	const uint32_t *item;
	const void *array;
	bool timed = false;

	for (at = range->offset; at < range->end; at += n) {
		item = (const uint32_t *)((const char *)data + at -
					  range->offset);
		kind = item[0] & 31;
		/* The first item of a page has the page's time. */
		if (at == 0 && (kind >= KMMV_RING_TIME_EXTEND ||
				item[0] >> KMMV_RING_TYPE_BITS >
					(kind == KMMV_RING_PADDING)))
			reader_finding(reader,
				       "CPU %u: a page begins with %#x",
				       range->cpu, item[0]);
		/* A time is followed by its event, whose delta is 0. */
		if (timed && (kind >= KMMV_RING_TIME_EXTEND ||
			      item[0] >> KMMV_RING_TYPE_BITS !=
				      (kind == KMMV_RING_PADDING)))
			reader_finding(reader, "CPU %u: %#x behind a time",
				       range->cpu, item[0]);
		if (kind > KMMV_RING_TYPE_LEN_MAX) {
			timed = kind != KMMV_RING_PADDING;
			n = read_time(item, range->end - at, &track->time);
			extra = timed ? n : 0;
		} else {
			timed = false;
			n = read_data(item, range->end - at, &array, &size);
			if (n && !check_event(reader, track, range->cpu, item,
					      array, size))
				n = 0;
			track->bytes += n + extra;
			extra = 0;
		}
		if (!n) {
			reader_finding(reader,
				       "CPU %u, page %llu: no item at %u of %u: %#x",
				       range->cpu,
				       (unsigned long long)range->seq, at,
				       range->end, item[0]);
			return;
		}
	}
	if (timed)
		reader_finding(reader, "CPU %u: a time and nothing behind it",
			       range->cpu);
}

/* Begin a page that is new to the reader. */
static void begin_page(struct reader *reader, struct track *track,
		       const struct kmmv_ring_range *range, uint64_t time)
{
	if (track->known && range->seq <= track->seq)
		reader_finding(reader, "CPU %u: page %llu after %llu",
			       range->cpu, (unsigned long long)range->seq,
			       (unsigned long long)track->seq);
	if (track->known && time < track->time)
		reader_finding(reader, "CPU %u: time %llu after %llu",
			       range->cpu, (unsigned long long)time,
			       (unsigned long long)track->time);
	if (!track->known)
		track->expected = range->first - range->lost;
	track->lost += range->lost;
	track->told += range->dropped;
	track->expected += range->lost;
	if (range->first != track->expected)
		reader_finding(reader,
			       "CPU %u, page %llu: begins with event %llu, not %llu, %llu lost",
			       range->cpu, (unsigned long long)range->seq,
			       (unsigned long long)range->first,
			       (unsigned long long)track->expected,
			       (unsigned long long)range->lost);
	track->expected = range->first;
	track->known = true;
	track->seq = range->seq;
	track->time = time;
}

/**
 * reader_range() - check what was read
 * @reader: its reader
 * @range: its range
 * @time: of the page, or of the event before, if @range->offset is not 0
 * @data: at @range->offset
 */
void reader_range(struct reader *reader, const struct kmmv_ring_range *range,
		  uint64_t time, const void *data)
{
	struct track *track;
	uint64_t before;

	if (range->cpu >= reader->nr_cpus || range->offset >= range->end) {
		reader_finding(reader, "a range of CPU %u, %u to %u",
			       range->cpu, range->offset, range->end);
		return;
	}
	track = &reader->tracks[range->cpu];
	if (range->offset == 0) {
		begin_page(reader, track, range, time);
	} else if (!track->known) {
		track->known = true;
		track->seq = range->seq;
		track->time = time;
	} else if (range->seq != track->seq || range->offset != track->end ||
		   time != track->time || range->lost || range->dropped) {
		reader_finding(reader,
			       "CPU %u: page %llu from %u, time %llu, after page %llu to %u, time %llu",
			       range->cpu, (unsigned long long)range->seq,
			       range->offset, (unsigned long long)time,
			       (unsigned long long)track->seq, track->end,
			       (unsigned long long)track->time);
		track->seq = range->seq;
	}
	before = track->events;
	check_items(reader, track, range, data);
	if (range->flags & KMMV_RANGE_AGAIN)
		track->again += track->events - before;
	track->end = range->end;
}

/* Check a range of the mapping. */
static void check_taken(struct reader *reader,
			const struct kmmv_ring_range *range)
{
	const struct kmmv_ring_page *page;
	struct track *track;
	uint64_t time, events;

	if (range->cpu >= reader->nr_cpus ||
	    range->id >= reader->ring->header.nr_pages) {
		reader_finding(reader, "CPU %u, page %u", range->cpu,
			       range->id);
		return;
	}
	page = ring_page(reader->ring, range->cpu, range->id);
	track = &reader->tracks[range->cpu];
	if (page->seq != range->seq || page->first != range->first ||
	    page->commit < range->end ||
	    !page_until(page, range->offset, &time, &events)) {
		reader_finding(reader,
			       "CPU %u: page %u is %llu from %llu, not %llu from %llu",
			       range->cpu, range->id,
			       (unsigned long long)page->seq,
			       (unsigned long long)page->first,
			       (unsigned long long)range->seq,
			       (unsigned long long)range->first);
		return;
	}
	if (range->offset && !track->known)
		track->expected = events;
	reader_range(reader, range, time, page->data + range->offset);
	if (range->offset == 0 && track->told != page->dropped &&
	    !reader->loose)
		reader_finding(reader,
			       "CPU %u, page %llu: %llu dropped, told of %llu",
			       range->cpu, (unsigned long long)range->seq,
			       (unsigned long long)page->dropped,
			       (unsigned long long)track->told);
}

/* The end of an event near the middle of a range. */
static uint32_t middle(const struct reader *reader,
		       const struct kmmv_ring_range *range)
{
	const struct kmmv_ring_page *page;
	uint32_t at, n, size, kind, half = range->offset + (range->end -
							    range->offset) / 2;
	const uint32_t *item;
	const void *array;
	uint64_t time = 0;

	page = ring_page(reader->ring, range->cpu, range->id);
	for (at = range->offset; at < range->end; at += n) {
		item = (const uint32_t *)(page->data + at);
		kind = item[0] & 31;
		n = kind > KMMV_RING_TYPE_LEN_MAX ?
			    read_time(item, range->end - at, &time) :
			    read_data(item, range->end - at, &array, &size);
		if (!n)
			break;
		if (at + n > half && kind < KMMV_RING_TIME_EXTEND)
			return at + n;
	}
	return range->end;
}

static void release(struct reader *reader, const struct kmmv_ring_range *ranges,
		    int nr, int how)
{
	int i, err = 0;
	uint32_t part;

	if (how == 0)
		err = ring_release_all(reader->ring);
	for (i = 0; i < nr && how && !err; i++) {
		part = middle(reader, &ranges[i]);
		if (how == 1 && part < ranges[i].end)
			err = ring_release(reader->ring, ranges[i].cpu,
					   ranges[i].seq, part);
		if (!err)
			err = ring_release(reader->ring, ranges[i].cpu,
					   ranges[i].seq, ranges[i].end);
	}
	if (err)
		reader_finding(reader, "release: %s", strerror(-err));
}

/**
 * reader_take() - the consumer: take over the mapping, check, release
 * @reader: its ring claimed
 * @nr: pages at most
 * @release_them: whether to release them
 *
 * Return: ranges, 0 if there was nothing, -EAGAIN if none could be taken.
 */
int reader_take(struct reader *reader, uint32_t nr, bool release_them)
{
	struct kmmv_ring_range ranges[RANGES_MAX];
	static unsigned int turn;
	int i, n;

	n = ring_take(reader->ring, KMMV_RING_ALL_CPUS, ranges,
		      nr < RANGES_MAX ? nr : RANGES_MAX);
	if (n < 0 && n != -EAGAIN)
		reader_finding(reader, "take: %s", strerror(-n));
	for (i = 0; i < n; i++)
		check_taken(reader, &ranges[i]);
	if (release_them && n > 0)
		release(reader, ranges, n, turn++ % 3);
	return n;
}

/**
 * reader_read() - read() and check, consuming or not
 * @reader: whose ring need not be mapped
 * @fd: to be read
 *
 * Return: blocks, or -errno.
 */
int reader_read(struct reader *reader, int fd)
{
	static uint64_t buffer[65536 / 8];
	const struct kmmv_ring_block *block;
	ssize_t n = read(fd, buffer, sizeof(buffer)), at;
	uint64_t time;
	int blocks = 0;

	if (n < 0)
		return -errno;
	for (at = 0; at < n; at += block->size) {
		block = (const void *)((const char *)buffer + at);
		if (n - at < (ssize_t)sizeof(*block) || block->size % 8 ||
		    block->size > (uint64_t)(n - at) ||
		    block->size != ((sizeof(*block) + block->range.end -
				     block->range.offset + 7) & ~7ULL)) {
			reader_finding(reader,
				       "a block of %llu in %zd of %zd bytes",
				       (unsigned long long)block->size, at, n);
			break;
		}
		time = block->time;
		reader_range(reader, &block->range, time, block + 1);
		blocks++;
	}
	return blocks;
}

/**
 * reader_drain() - check all that is there
 * @claimed: by taking it; else by read()
 *
 * Return: events.
 */
int reader_drain(struct reader *reader, bool claimed)
{
	uint64_t before = reader_events(reader);
	int n;

	do
		n = claimed ? reader_take(reader, 16, true) :
			      reader_read(reader, reader->ring->fd);
	while (n > 0 || n == -EAGAIN);
	return reader_events(reader) - before;
}
