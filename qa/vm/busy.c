// SPDX-License-Identifier: GPL-2.0-only
/*
 * Spends time in two functions, about three to one, until SIGTERM, and then prints
 * the nanoseconds of CPU time that it spent in each, as it measured them, and the longest
 * of each: busy. With "made", both are code that it makes at run time, of which no file
 * has a name.
 *
 * A CPU that is emulated can stand still for many seconds. The clock of the CPU's time
 * goes on, and no timer expires, so nothing is sampled. So what is spent is the usual time
 * of a turn, which is the median, as often as there were turns. What is measured of either
 * is of one length: a longer time is interrupted more often, and its median is another.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/*
 * Some milliseconds: a reading of the clock is a small part, also where the kernel takes
 * a tenth of one for it, and all of them are a small part of what is sampled.
 */
enum { TURNS = 2500000 };

/* What was measured of a function. It ends after so many calls, if not before. */
enum { MOST = 300000 };
struct spent {
	double turn[MOST];	/* nanoseconds of a turn, in each call */
	double turns;		/* in all calls */
	uint64_t longest;	/* call, in nanoseconds */
	int n;			/* calls */
};
static struct spent often_spent, rarely_spent;

static volatile sig_atomic_t ended;

static void end(int signal)
{
	(void)signal;
	ended = 1;
}

static uint64_t cpu_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void spend(struct spent *spent, void (*code)(unsigned long),
		  unsigned long turns)
{
	uint64_t time = cpu_time();

	code(turns);
	time = cpu_time() - time;
	spent->turn[spent->n++] = (double)time / (double)turns;
	spent->turns += (double)turns;
	if (time > spent->longest)
		spent->longest = time;
}

static int compare(const void *a, const void *b)
{
	double one = *(const double *)a, other = *(const double *)b;

	return (one > other) - (one < other);
}

static uintmax_t usual(struct spent *spent)
{
	qsort(spent->turn, (size_t)spent->n, sizeof(*spent->turn), compare);
	return (uintmax_t)(spent->turn[spent->n / 2] * spent->turns);
}

__attribute__((noinline)) static void spend_often(unsigned long turns)
{
	while (turns--)
		__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void spend_rarely(unsigned long turns)
{
	while (turns--)
		__asm__ volatile("" ::: "memory");
}

/* A copy of code, which is as long as a page at most. */
static void (*make(void (*code)(unsigned long)))(unsigned long)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		exit(1);
	memcpy(page, (void *)(uintptr_t)code, 128);
	__builtin___clear_cache((char *)page, (char *)page + 4096);
	return (void (*)(unsigned long))(uintptr_t)page;
}

int main(int argc, char **argv)
{
	void (*often)(unsigned long) = spend_often;
	void (*rarely)(unsigned long) = spend_rarely;
	unsigned long turns;
	int i;

	if (argc == 2 && !strcmp(argv[1], "made")) {
		often = make(often);
		rarely = make(rarely);
	} else if (argc != 1) {
		return 2;
	}
	signal(SIGTERM, end);
	while (!ended && often_spent.n < MOST) {
		/* No beat with the sampling. */
		turns = TURNS + (unsigned long)random() % TURNS;
		for (i = 0; i < 3; i++)
			spend(&often_spent, often, turns);
		spend(&rarely_spent, rarely, turns);
	}
	printf("%ju %ju %ju %ju\n", usual(&often_spent), usual(&rarely_spent),
	       (uintmax_t)often_spent.longest, (uintmax_t)rarely_spent.longest);
	return 0;
}
