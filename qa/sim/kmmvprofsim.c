// SPDX-License-Identifier: GPL-2.0-only
/*
 * A simulated ring of the profiler, for kmmvprof: kmmvprofsim DIR PAGES SHIFT makes
 * DIR/ring/profile, a memfd with 2 CPUs, and writes what the lines of its input
 * say, until their end:
 *
 *	sample N CPU PERIOD MAJOR MINOR INODE OFFSET ON-CPU PID TGID MODE FOUND
 *	       INSTANCE COMMAND EVENT [STACK]	N samples
 *	time 0|1		the periods of what follows are in nanoseconds (1)
 *	state CPU TAKEN LOST MISSED FREQ WHAT SOURCE
 *	cut CPU SIZE		a sample of which only so many bytes are there
 *	other CPU		an event of another type
 *	drop CPU N
 *	ready			print "ready"
 *
 * Each payload begins with SHIFT bytes that belong to no field.
 */
#include <stdint.h>

/* No handle here has this ioctl. */
uint64_t kmmv_ring_monotonic(void);
#include "../unit/lib/libringarea.h"
#include "serve.h"

uint64_t kmmv_ring_monotonic(void)
{
	return 0;
}

enum { TYPE_SAMPLE = 20, TYPE_STATE = 21, TYPE_OTHER = 22, SHIFT_MAX = 64 };

struct sample {
	uint64_t time, period, inode, offset;
	uint32_t major, minor, cpu, pid, tgid;
	uint8_t mode, found;
	uint16_t flags;
	char command[16];
	char event[24];
	char stack[1024];
};

struct state {
	uint64_t time, taken, lost, missed;
	uint32_t freq, pad;
	char what[16];
	char source[16];
};

static const char *dir;
static uint32_t pages, shift, is_time = 1;
static uint64_t now = 1000000000;

static void put(struct ring_area *a, uint32_t cpu, uint16_t type,
		uint32_t instance, const void *payload, uint32_t size)
{
	unsigned char whole[SHIFT_MAX + sizeof(struct sample)] = { 0 };
	struct ring_writer *w = &a->cpu[cpu];

	ck_assert_uint_lt(cpu, 2);
	memcpy(whole + shift, payload, size);
	now += 1000;
	if (!w->page || w->pos + shift + size + 32 > RING_ROOM)
		ring_begin(a, cpu, w->page ? (w->id + 1) % pages : 0, now);
	ring_event(w, now, RING_AUTO, false, type, instance, whole,
		   shift + size);
	ring_commit(w);
}

static void put_samples(struct ring_area *a, const char *line)
{
	struct sample s = { 0 };
	uint32_t n, cpu, mode, found;
	int instance, words;

	words = sscanf(line, "sample %u %u %" SCNu64 " %u %u %" SCNu64 " %"
		       SCNu64 " %u %u %u %u %u %d %15s %23s %1023[^\n]", &n,
		       &cpu, &s.period, &s.major, &s.minor, &s.inode,
		       &s.offset, &s.cpu, &s.pid, &s.tgid, &mode, &found,
		       &instance, s.command, s.event, s.stack);
	ck_assert_msg(words >= 15, "%s", line);
	s.mode = (uint8_t)mode;
	s.found = (uint8_t)found;
	/* With one that no reader knows. */
	s.flags = (uint16_t)(is_time | 0x8000);
	while (n--) {
		s.time = now;
		put(a, cpu, TYPE_SAMPLE, (uint32_t)instance, &s,
		    (uint32_t)(offsetof(struct sample, stack) +
			       strlen(s.stack)));
	}
}

static void put_state(struct ring_area *a, const char *line)
{
	struct state s = { .time = now };
	uint32_t cpu;

	ck_assert_int_eq(sscanf(line, "state %u %" SCNu64 " %" SCNu64 " %"
				SCNu64 " %u %15s %15s", &cpu, &s.taken, &s.lost,
				&s.missed, &s.freq, s.what, s.source), 7);
	put(a, cpu, TYPE_STATE, KMMV_EVENT_NO_INSTANCE, &s, sizeof(s));
}

static void put_line(struct ring_area *a, const char *line)
{
	static const struct sample nothing;
	uint32_t cpu, n;

	if (!strncmp(line, "sample ", 7)) {
		put_samples(a, line);
	} else if (!strncmp(line, "state ", 6)) {
		put_state(a, line);
	} else if (sscanf(line, "cut %u %u", &cpu, &n) == 2) {
		ck_assert_uint_le(n, sizeof(nothing));
		put(a, cpu, TYPE_SAMPLE, KMMV_EVENT_NO_INSTANCE, &nothing, n);
	} else if (sscanf(line, "other %u", &cpu) == 1) {
		put(a, cpu, TYPE_OTHER, KMMV_EVENT_NO_INSTANCE, &nothing, 8);
	} else if (sscanf(line, "time %u", &n) == 1) {
		is_time = !!n;
	} else if (sscanf(line, "drop %u %u", &cpu, &n) == 2) {
		ring_drop(a, cpu, KMMV_DROP_FULL, n);
	} else {
		ck_assert_str_eq(line, "ready\n");
		puts("ready");
		fflush(stdout);
	}
}

/* The encoder's assertions need a test of Check. */
START_TEST(serve)
{
	char path[4096], target[64], line[2048];
	struct ring_area a;

	ring_init(&a, 2, pages, 1);
	snprintf(path, sizeof(path), "%s/ring", dir);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/ring/profile", dir);
	snprintf(target, sizeof(target), "/proc/%d/fd/%d", (int)getpid(), a.fd);
	unlink(path);
	ck_assert_int_eq(symlink(target, path), 0);
	while (fgets(line, sizeof(line), stdin))
		put_line(&a, line);
	unlink(path);
	ring_fini(&a);
}
END_TEST

int main(int argc, char **argv)
{
	TCase *tcase = tcase_create("serve");

	if (argc != 4)
		return 2;
	dir = argv[1];
	pages = (uint32_t)strtoul(argv[2], NULL, 10);
	shift = (uint32_t)strtoul(argv[3], NULL, 10);
	if (!pages || shift > SHIFT_MAX)
		return 2;
	tcase_add_test(tcase, serve);
	return serve_run(tcase);
}
