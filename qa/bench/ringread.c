// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of reading an event from user space, in the virtual machine:
 *
 *	ringread linux		by page, from a trace instance's trace_pipe_raw
 *	ringread NAME		a kmmv ring: by event (libkmmv), by page (read()),
 *				mapped (take, release), take and release alone
 *	ringread -w NAME	only prints how many events were written there
 *
 * A batch for which there is room is written (to trace_marker_raw; by
 * kmmv_ring_bench.ko) and then read to its end. Lines: HOW, bytes of payload,
 * ticks per event, tab-separated; the cost of writing is in "written, HOW".
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#endif

#include <libkmmv.h>
#include <linux/kmmv_ring.h>

#define BATCH	2000
#define ROUNDS	16
#define PAGE	4096
#define RANGES	64

#define COST	"/sys/kernel/debug/kmmv_ring/cost"
#define TOOK	"/sys/kernel/debug/kmmv_ring/took"
#define TRACE	"/sys/kernel/tracing/instances/kmmv_bench/"

static uint64_t sum;

#if defined(__x86_64__) || defined(__i386__)

static uint64_t ticks(void)
{
	/* The intrinsic wants a compiler that may use SSE2. */
	__asm__ volatile("lfence" ::: "memory");
	return __rdtsc();
}

#elif defined(__aarch64__)

static uint64_t ticks(void)
{
	uint64_t now;

	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(now) : : "memory");
	return now;
}

#else
#error "no clock is known for this machine"
#endif

static int open_file(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	if (fd < 0)
		err(2, "%s", path);
	return fd;
}

static void put(const char *path, const char *text)
{
	int fd = open_file(path, O_WRONLY);

	if (write(fd, text, strlen(text)) < 0)
		err(2, "%s: %s", path, text);
	close(fd);
}

/*
 * Both rings have the same events. PAYLOAD: where the payload is in the data.
 * Its words are added up, so that they are read.
 */
static int walk(const uint8_t *data, uint32_t at, uint32_t end, uint64_t *from,
		uint32_t payload)
{
	uint64_t time = *from;
	const uint32_t *event;
	uint32_t type_len;
	int events = 0;

	while (at < end) {
		event = (const uint32_t *)(data + at);
		type_len = *event & 31;
		time += *event >> 5;
		if (type_len == KMMV_RING_PADDING) {
			if (!(*event >> 5))
				break;
			time--;
			at += 4 + event[1];
			continue;
		}
		if (type_len > KMMV_RING_PADDING) {
			time += (uint64_t)event[1] << 27;
			at += 8;
			continue;
		}
		at += 4 + (type_len ? type_len * 4 : (event[1] + 3) / 4 * 4);
		event += type_len ? 1 : 2;
		sum += *(const uint64_t *)((const uint8_t *)event + payload) +
		       time;
		events++;
	}
	*from = time;
	return events;
}

/* ---- the kernel's ring */

static int marker, pipe_raw;

static void linux_open(void)
{
	if (mkdir("/sys/kernel/tracing/instances/kmmv_bench", 0700) &&
	    errno != EEXIST)
		err(2, "a trace instance");
	put(TRACE "trace_clock", "local");
	put(TRACE "buffer_size_kb", "256");
	marker = open_file(TRACE "trace_marker_raw", O_WRONLY);
	pipe_raw = open_file(TRACE "per_cpu/cpu0/trace_pipe_raw",
			     O_RDONLY | O_NONBLOCK);
}

static uint64_t linux_write(int bytes)
{
	static uint32_t entry[32] = { 1 };	/* an id, the payload */
	uint64_t begin = ticks();
	int i;

	for (i = 0; i < BATCH; i++)
		if (write(marker, entry, sizeof(*entry) + bytes) < 0)
			err(2, "trace_marker_raw");
	return ticks() - begin;
}

static int linux_by_page(int bytes)
{
	static uint64_t page[PAGE / 8];
	int events = 0;

	(void)bytes;
	while (read(pipe_raw, page, PAGE) > 0)
		/* struct trace_entry, the id */
		events += walk((const uint8_t *)(page + 2), 0,
			       page[1] & 0xfffff, page, 12);
	return events;
}

/* ---- kmmv's */

static struct kmmv_ring *handle;
static int cost, ring = -1;
static uint8_t *map;
static const struct kmmv_ring_header *header;
static const char *name;

static uint64_t kmmv_write(int bytes)
{
	char text[32];
	int took, length;

	length = snprintf(text, sizeof(text), "write %d %d", bytes, BATCH);

	if (write(cost, text, length) < 0)
		err(2, "%s", COST);
	took = open_file(TOOK, O_RDONLY);
	length = read(took, text, sizeof(text) - 1);
	if (length < 0)
		err(2, "%s", TOOK);
	close(took);
	text[length] = 0;
	return strtoull(text, NULL, 10);
}

static int by_event(int bytes)
{
	struct kmmv_record record;
	int got, events = 0;

	while ((got = kmmv_ring_next(handle, &record)) > 0) {
		if (!record.type)
			continue;
		if (bytes && (record.size != (uint32_t)bytes || record.lost))
			errx(1, "a record of %u bytes, %llu lost before it",
			     record.size, (unsigned long long)record.lost);
		sum += *(const uint64_t *)record.payload + record.time;
		events++;
	}
	if (got < 0)
		errx(2, "%s: %s", name, kmmv_ring_error(handle));
	return events;
}

static int by_page(int bytes)
{
	static uint8_t buffer[4 * PAGE] __attribute__((aligned(8)));
	const struct kmmv_ring_block *block;
	ssize_t length, at;
	uint64_t time;
	int events = 0;

	(void)bytes;
	while ((length = read(ring, buffer, sizeof(buffer))) > 0)
		for (at = 0; at < length; at += block->size) {
			block = (const void *)(buffer + at);
			time = block->time;
			events += walk((const uint8_t *)(block + 1), 0,
				       block->range.end - block->range.offset,
				       &time, sizeof(struct kmmv_event));
		}
	if (length < 0 && errno != EAGAIN)
		err(2, "%s", name);
	return events;
}

static int mapped(int bytes)
{
	struct kmmv_ring_range ranges[RANGES];
	struct kmmv_ring_take take = {
		.cpu = KMMV_RING_ALL_CPUS,
		.ranges = (uintptr_t)ranges,
	};
	struct kmmv_ring_release release = {
		.cpu = KMMV_RING_ALL_CPUS,
	};
	const struct kmmv_ring_page *page;
	static uint64_t time;	/* one CPU's */
	int events = 0;
	uint32_t i;

	(void)bytes;
	for (;;) {
		take.nr = RANGES;
		if (ioctl(ring, KMMV_RING_IOC_TAKE, &take)) {
			if (errno == EAGAIN)
				return events;
			err(2, "%s: take", name);
		}
		if (!take.nr)
			return events;
		for (i = 0; i < take.nr; i++) {
			page = (const void *)(map + header->cpu_offset +
				ranges[i].cpu * header->cpu_stride +
				header->data_offset +
				(uint64_t)ranges[i].id * header->page_size);
			if (!ranges[i].offset)
				time = page->time;
			events += walk(page->data, ranges[i].offset,
				       ranges[i].end, &time,
				       sizeof(struct kmmv_event));
		}
		if (ioctl(ring, KMMV_RING_IOC_RELEASE, &release))
			err(2, "%s: release", name);
	}
}

/* As mapped(), but looks at no event. */
static int take_release(int bytes)
{
	struct kmmv_ring_range ranges[RANGES];
	struct kmmv_ring_take take = {
		.cpu = KMMV_RING_ALL_CPUS,
		.ranges = (uintptr_t)ranges,
	};
	struct kmmv_ring_release release = {
		.cpu = KMMV_RING_ALL_CPUS,
	};
	const volatile struct kmmv_ring_reader *reader =	/* one CPU's */
		(const void *)(map + header->cpu_offset +
			       header->reader_offset);
	uint64_t before = reader->released;

	(void)bytes;
	for (;;) {
		take.nr = RANGES;
		if (ioctl(ring, KMMV_RING_IOC_TAKE, &take)) {
			if (errno == EAGAIN)
				break;
			err(2, "%s: take", name);
		}
		if (!take.nr)
			break;
		if (ioctl(ring, KMMV_RING_IOC_RELEASE, &release))
			err(2, "%s: release", name);
	}
	return reader->released - before;
}

static void handle_open(bool claim)
{
	int error = kmmv_ring_open(KMMV_DEVICE_DIR, name, &handle);

	if (error)
		errx(2, "%s: %s", name, strerror(-error));
	error = claim ? kmmv_ring_claim(handle) : 0;
	if (error)
		errx(2, "%s: claim: %s", name, strerror(-error));
}

static void raw_open(void)
{
	char path[64];

	snprintf(path, sizeof(path), KMMV_DEVICE_DIR "/ring/%s", name);
	ring = open_file(path, O_RDONLY | O_NONBLOCK);
	header = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, ring, 0);
	if (header == MAP_FAILED)
		err(2, "%s", path);
	map = mmap(NULL, header->length, PROT_READ, MAP_SHARED, ring, 0);
	if (map == MAP_FAILED)
		err(2, "%s", path);
	if (ioctl(ring, KMMV_RING_IOC_CLAIM))
		err(2, "%s: claim", path);
}

/* ---- */

static void measure(const char *how, int bytes, uint64_t (*fill)(int bytes),
		    int (*drain)(int bytes))
{
	uint64_t begin, time, writing = UINT64_MAX, reading = UINT64_MAX;
	int i, events;

	drain(0);	/* older events */
	for (i = 0; i < ROUNDS; i++) {
		time = fill(bytes);
		if (time < writing)
			writing = time;
		begin = ticks();
		events = drain(bytes);
		time = ticks() - begin;
		if (time < reading)
			reading = time;
		if (events != BATCH)
			errx(1, "%s: read %d of %d events", how, events, BATCH);
	}
	printf("%s\t%d\t%.1f\n", how, bytes, (double)reading / BATCH);
	printf("written, %s\t%d\t%.1f\n", how, bytes, (double)writing / BATCH);
}

static void written(void)
{
	struct kmmv_ring_stats stats;
	int error;

	handle_open(false);
	error = kmmv_ring_get_stats(handle, KMMV_RING_ALL_CPUS, &stats);
	if (error)
		errx(2, "%s: %s", name, strerror(-error));
	printf("%llu\n", (unsigned long long)stats.events.written);
}

int main(int argc, char **argv)
{
	name = argc > 1 ? argv[argc - 1] : "";
	if (argc == 3 && !strcmp(argv[1], "-w")) {
		written();
		return 0;
	}
	if (argc != 2)
		errx(2, "usage: ringread linux | NAME | -w NAME");
	if (!strcmp(name, "linux")) {
		linux_open();
		measure("trace_pipe_raw", 16, linux_write, linux_by_page);
		measure("trace_pipe_raw", 64, linux_write, linux_by_page);
		return 0;
	}
	cost = open_file(COST, O_WRONLY);
	handle_open(true);
	measure("kmmv_ring_next", 16, kmmv_write, by_event);
	measure("kmmv_ring_next", 64, kmmv_write, by_event);
	kmmv_ring_close(handle);
	raw_open();
	measure("read", 16, kmmv_write, by_page);
	measure("read", 64, kmmv_write, by_page);
	measure("mapped", 16, kmmv_write, mapped);
	measure("mapped", 64, kmmv_write, mapped);
	measure("take, release", 16, kmmv_write, take_release);
	measure("take, release", 64, kmmv_write, take_release);
	return 0;
}
