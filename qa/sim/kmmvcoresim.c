// SPDX-License-Identifier: GPL-2.0-only
/*
 * A simulated ring with the module's own core: kmmvcoresim DIR INCARNATION PAGES VALUE
 * [busy] makes DIR/ring/default, a memfd with 2 CPUs, in which kmod/core/ring*.c write events,
 * and serves its device's calls, see ringcall.h: claims, takes and the rest go to the
 * same core. It prints "done" when it is there, and once it has done what a line of
 * its input says:
 *
 *	put CPU COUNT		events of type 16, of instance CPU, whose payload is a
 *				number of 8 bytes: VALUE, and one more with each event
 *	mark CPU TEXT
 *	large CPU COUNT		events that no page has room for
 *	busy 0|1		whether there is another consumer, as the argument says
 *	end			the ring is gone
 *
 * Nothing is taken or read of it while a line is done.
 */
#include <poll.h>
#include <stdint.h>
#include <time.h>

#include "../unit/lib/libringarea.h"
#include "../unit/lib/libringcore.h"
#include "ringcall.h"
#include "serve.h"

enum { CPUS = 2, SPARES = 2, FILES = 16, LARGE = 5000 };

struct event {
	struct kmmv_event head;
	unsigned char payload[LARGE];
};

static const char *dir;
static uint64_t incarnation, value;
static uint32_t pages;

static struct ring_area area;
static struct kmmv_ring_cpu *cores[CPUS];
static int files[FILES], nr_files;
static int consumer = -1;	/* the connection that is */
static bool busy, lit;		/* lit: the pipe has something */
static uint32_t watermark;
static int wake[2];

static uint64_t clock_of(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- the device */

static int claim(int file, struct ring_call *call)
{
	if (busy || (consumer >= 0 && consumer != file))
		return -EBUSY;
	consumer = file;
	watermark = 1;
	call->pid = getpid();
	call->wake = wake[0];
	return 0;
}

static int take(struct ring_call *call)
{
	uint32_t room = call->take.nr < CALL_RANGES ? call->take.nr : CALL_RANGES;

	call->take.nr = core_take_all(cores, CPUS, call->ranges, room);
	return call->take.nr ? 0 : -EAGAIN;
}

static int consume(int file, struct ring_call *call)
{
	if (consumer != file)
		return -EPERM;
	if (call->request == KMMV_RING_IOC_TAKE)
		return take(call);
	if (call->release.cpu >= CPUS)
		return -EINVAL;
	return core_release(cores[call->release.cpu], call->release.seq,
			    call->release.end);
}

static int get_stats(struct kmmv_ring_stats *stats)
{
	uint32_t cpu = stats->cpu;

	if (cpu >= CPUS)
		return -EINVAL;
	core_stats(cores[cpu], stats);
	stats->enabled = 1;
	return 0;
}

/* At one time, as the module reads them with interrupts disabled. */
static int get_clocks(struct kmmv_ring_clock *clocks)
{
	/* The core's clock here. */
	do {
		clocks->ring = clocks->monotonic = clock_of(CLOCK_MONOTONIC);
		clocks->realtime = clock_of(CLOCK_REALTIME);
	} while (clock_of(CLOCK_MONOTONIC) - clocks->monotonic > 100000);
	return 0;
}

static int answer(int file, struct ring_call *call)
{
	switch (call->request) {
	case KMMV_RING_IOC_CLAIM:
		return claim(file, call);
	case KMMV_RING_IOC_TAKE:
	case KMMV_RING_IOC_RELEASE:
		return consume(file, call);
	case KMMV_RING_IOC_WATERMARK:
		watermark = call->watermark;
		return 0;
	case KMMV_RING_IOC_STATS:
		return get_stats(&call->stats);
	case KMMV_RING_IOC_CLOCK:
		return get_clocks(&call->clock);
	default:
		return -ENOTTY;
	}
}

static void closed(int i)
{
	uint32_t cpu;

	if (files[i] == consumer) {
		consumer = -1;
		for (cpu = 0; cpu < CPUS; cpu++)
			core_return(cores[cpu]);
	}
	close(files[i]);
	files[i] = files[--nr_files];
}

/* A file that is open makes a call, or was closed. */
static void serve_file(int i)
{
	static struct ring_call call;

	if (recv(files[i], &call, sizeof(call), 0) != sizeof(call)) {
		closed(i);
		return;
	}
	call.err = answer(files[i], &call);
	if (send(files[i], &call, sizeof(call), MSG_NOSIGNAL) != sizeof(call))
		closed(i);
}

/* As the module wakes a consumer: while a CPU has as much as its watermark. */
static void tell_consumer(void)
{
	bool ready = false;
	uint32_t cpu;
	char byte = 0;

	for (cpu = 0; consumer >= 0 && cpu < CPUS; cpu++)
		ready |= core_ready(cores[cpu], watermark);
	if (ready == lit)
		return;
	if (ready)
		ck_assert_int_eq(write(wake[1], &byte, 1), 1);
	else
		ck_assert_int_eq(read(wake[0], &byte, 1), 1);
	lit = ready;
}

/* ---- the writer */

static void put(uint32_t cpu, uint32_t count, uint32_t size)
{
	struct event e = {
		.head = { .type = KMMV_EVENT_FIRST, .instance = cpu },
	};

	for (; count; count--, value++) {
		memcpy(e.payload, &value, sizeof(value));
		core_put(cores[cpu], &e, (uint32_t)sizeof(e.head) + size);
	}
}

static void put_mark(uint32_t cpu, const char *text)
{
	struct event e = {
		.head = { .type = KMMV_EVENT_MARK,
			  .instance = KMMV_EVENT_NO_INSTANCE },
	};
	uint32_t size = (uint32_t)strcspn(text, "\n");

	memcpy(e.payload, text, size);
	ck_assert(core_put(cores[cpu], &e, (uint32_t)sizeof(e.head) + size));
}

static void do_line(const char *line)
{
	uint32_t cpu = 0, count;
	int at = 0;

	if (sscanf(line, "put %u %u", &cpu, &count) == 2 && cpu < CPUS)
		put(cpu, count, 8);
	else if (sscanf(line, "large %u %u", &cpu, &count) == 2 && cpu < CPUS)
		put(cpu, count, LARGE);
	else if (sscanf(line, "mark %u %n", &cpu, &at) == 1 && at && cpu < CPUS)
		put_mark(cpu, line + at);
	else if (sscanf(line, "busy %u", &count) == 1)
		busy = count;
	else
		ck_abort_msg("%s", line);
	tell_consumer();
	puts("done");
	fflush(stdout);
}

/* ---- the ring */

static int listen_on(int fd)
{
	struct sockaddr_un address;
	socklen_t length = ring_call_address(fd, &address);
	int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(s, 0);
	ck_assert_int_eq(bind(s, (struct sockaddr *)&address, length), 0);
	ck_assert_int_eq(listen(s, FILES), 0);
	return s;
}

static void serve_until_end(int listener)
{
	struct pollfd fds[FILES + 2];
	char line[1024];
	int i, nr;

	for (;;) {
		fds[0] = (struct pollfd){ .fd = 0, .events = POLLIN };
		fds[1] = (struct pollfd){ .fd = listener, .events = POLLIN };
		nr = nr_files;
		for (i = 0; i < nr; i++)
			fds[i + 2] = (struct pollfd){ .fd = files[i],
						      .events = POLLIN };
		ck_assert_int_gt(poll(fds, (nfds_t)nr + 2, -1), 0);
		/* From the end: one that is closed changes those behind it. */
		for (i = nr; i--;) {
			if (fds[i + 2].revents)
				serve_file(i);
		}
		if (fds[1].revents) {
			ck_assert_int_lt(nr_files, FILES);
			files[nr_files] = accept4(listener, NULL, NULL,
						  SOCK_CLOEXEC);
			ck_assert_int_ge(files[nr_files++], 0);
		}
		tell_consumer();
		if (!fds[0].revents)
			continue;
		if (!fgets(line, sizeof(line), stdin) || !strcmp(line, "end\n"))
			return;
		do_line(line);
	}
}

/* The area's assertions need a test of Check. */
START_TEST(serve)
{
	char path[4096], target[64];
	uint32_t cpu;
	int listener;

	setvbuf(stdin, NULL, _IONBF, 0);
	ring_init(&area, CPUS, pages, SPARES);
	/* Its own name is not needed, and would stay if this is killed. */
	unlink(ring_path(&area, "test"));
	rmdir(ring_path(&area, ""));
	rmdir(area.dir);
	area.header->incarnation = incarnation;
	for (cpu = 0; cpu < CPUS; cpu++) {
		cores[cpu] = core_make(ring_at(&area, cpu, 0), (int)cpu, pages,
				       SPARES, true);
		ck_assert_ptr_nonnull(cores[cpu]);
	}
	ck_assert_int_eq(pipe2(wake, O_CLOEXEC | O_NONBLOCK), 0);
	listener = listen_on(area.fd);
	snprintf(path, sizeof(path), "%s/ring", dir);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/ring/default", dir);
	snprintf(target, sizeof(target), "/proc/%d/fd/%d", (int)getpid(),
		 area.fd);
	ck_assert_int_eq(symlink(target, path), 0);
	puts("done");
	fflush(stdout);
	serve_until_end(listener);
	unlink(path);
	for (cpu = 0; cpu < CPUS; cpu++)
		core_free(cores[cpu]);
	ring_fini(&area);
}
END_TEST

int main(int argc, char **argv)
{
	TCase *tcase = tcase_create("serve");

	if (argc < 5 || argc > 6)
		return 2;
	busy = argc == 6;
	dir = argv[1];
	incarnation = strtoull(argv[2], NULL, 10);
	pages = (uint32_t)strtoul(argv[3], NULL, 10);
	value = strtoull(argv[4], NULL, 10);
	tcase_add_test(tcase, serve);
	return serve_run(tcase);
}
