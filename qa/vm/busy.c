// SPDX-License-Identifier: GPL-2.0-only
/*
 * Spends time in two functions, about three to one, until SIGTERM, and then prints
 * the nanoseconds of CPU time that it spent in each, as it measured them: busy. With
 * "made", both are code that it makes at run time, of which no file has a name.
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
	uint64_t begin, middle, spent[2] = { 0, 0 };
	unsigned long turns;

	if (argc == 2 && !strcmp(argv[1], "made")) {
		often = make(often);
		rarely = make(rarely);
	} else if (argc != 1) {
		return 2;
	}
	signal(SIGTERM, end);
	while (!ended) {
		/* No beat with the sampling. */
		turns = TURNS + (unsigned long)random() % TURNS;
		begin = cpu_time();
		often(3 * turns);
		middle = cpu_time();
		rarely(turns);
		spent[0] += middle - begin;
		spent[1] += cpu_time() - middle;
	}
	printf("%ju %ju\n", (uintmax_t)spent[0], (uintmax_t)spent[1]);
	return 0;
}
