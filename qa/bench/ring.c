// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of an event in kmmv's ring natively: the module's core, with the
 * kernel's instructions for per-CPU data (a cmpxchg without lock, an add, an
 * increment); the CPU's buffer and the preemption count are at a GS base. The
 * ring overwrites, and has no reader.
 *
 * The clock is that of LTTng's user space tracer; with RING_TSC it is the time
 * stamp counter, scaled, as in the kernel.
 */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <err.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

static inline uint64_t ring_clock(void);
#define kmmv_ring_clock()	ring_clock()

#include <kmmv_deps.h>

#undef local64_add
#undef local64_cmpxchg
#undef local_inc
#undef local_dec
#undef cmpxchg_local

#define local64_add(n, l)						\
	asm volatile("addq %1, %0" : "+m"((l)->value) : "er"((s64)(n)))
#define local_inc(l)	asm volatile("incq %0" : "+m"((l)->value))
#define local_dec(l)	asm volatile("decq %0" : "+m"((l)->value))
#define cmpxchg_local(p, from, to)					\
	({ __typeof__(*(p)) was_ = (from);				\
	   asm volatile("cmpxchgq %2, %1"				\
			: "+a"(was_), "+m"(*(p))			\
			: "r"((__typeof__(*(p)))(to)) : "memory");	\
	   was_; })
#define local64_cmpxchg(l, from, to)					\
	((u64)cmpxchg_local(&(l)->value, from, to))

#include "../../kmod/core/ring_alloc.c"
#include "../../kmod/core/ring_write.c"
#include "../../kmod/core/ring_write.h"

#include "ringtime.h"

#define PAGES		64

/* At the GS base. */
struct cpu {
	u32			preempt;
	struct kmmv_ring_cpu	*rc;
};

#define GS(type, member)						\
	(*(type __seg_gs *)offsetof(struct cpu, member))

#ifdef RING_TSC
#define CLOCK	"tsc"
static u64 tsc_mult, tsc_begin;

/* Nanoseconds per tick in 32.32, measured over 100 ms. */
static void clock_init(void)
{
	struct timespec pause = { .tv_nsec = 100000000 }, begin, end;
	u64 ticks;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	ticks = __rdtsc();
	nanosleep(&pause, NULL);
	clock_gettime(CLOCK_MONOTONIC, &end);
	ticks = __rdtsc() - ticks;
	tsc_mult = (((end.tv_sec - begin.tv_sec) * 1000000000ULL +
		     end.tv_nsec - begin.tv_nsec) << 32) / ticks;
	tsc_begin = __rdtsc();
}

static inline uint64_t ring_clock(void)
{
	return (unsigned __int128)(__rdtsc() - tsc_begin) * tsc_mult >> 32;
}
#else
#define CLOCK	"clock_gettime"
static void clock_init(void)
{
}

static inline uint64_t ring_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}
#endif

/* Like kmmv_ring_write(), without waiting readers. */
static __attribute__((noipa)) int write_event(u16 type, u32 instance, const void *payload,
				size_t size)
{
	struct kmmv_event head = {
		.type = type,
		.incarnation = 1,
		.instance = instance,
	};
	struct kmmv_ring_result result;

	asm volatile("incl %0" : "+m"(GS(u32, preempt)));
	result = kmmv_ring_cpu_write(GS(struct kmmv_ring_cpu *, rc), head,
				     payload, size);
	asm volatile("decl %0" : "+m"(GS(u32, preempt)));
	return result.err | result.waits;
}

static int failed;

#define LOOP(bytes)							\
static void loop##bytes(void)						\
{									\
	u64 payload[bytes / 8] = { 0 };					\
	u32 n;								\
									\
	for (n = 0; n < ITERATIONS; n++) {				\
		payload[0] = n;						\
		failed |= write_event(KMMV_EVENT_FIRST, 1, payload,	\
				      bytes);				\
	}								\
}

LOOP(16)
LOOP(64)

static void loop_clock(void)
{
	u32 n;

	for (n = 0; n < ITERATIONS; n++) {
		u64 now = ring_clock();

		asm volatile("" : : "r"(now));
	}
}

/* The events must have been written. */
static void check(const struct kmmv_ring_cpu *rc, u64 events)
{
	const struct kmmv_ring_writer *writer = rc->writer;
	u64 written = writer->written +
		      local_read(&rc->commit->events) - rc->commit->events_done;

	if (failed || written != events)
		errx(1, "wrote %llu of %llu", (unsigned long long)written,
		     (unsigned long long)events);
}

int main(void)
{
	static struct cpu cpu;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
	clock_init();
	cpu.rc = kmmv_ring_cpu_alloc(0, PAGES, 2, true);
	if (!cpu.rc)
		errx(2, "no memory");
	if (syscall(SYS_arch_prctl, ARCH_SET_GS, &cpu))
		err(2, "GS base");
	time_events("clock " CLOCK, 16, loop_clock);
	time_events("kmmv " CLOCK, 16, loop16);
	time_events("kmmv " CLOCK, 64, loop64);
	check(cpu.rc, 2ULL * ROUNDS * ITERATIONS);
	kmmv_ring_cpu_free(cpu.rc);
	return 0;
}
