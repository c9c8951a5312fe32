// SPDX-License-Identifier: GPL-2.0-only
/*
 * Spends time in two functions, three to one, and says where they are in its file:
 * burn ROUNDS [PAGES [PROGRAM]]. Prints "NAME BEGIN END", offsets, for each. PAGES of
 * memory are touched, once each. At the end it becomes PROGRAM.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHUNK 20000UL

/* Sections of their own, whose ends the linker tells. */
extern const char __start_burn_first[], __stop_burn_first[];
extern const char __start_burn_second[], __stop_burn_second[];

__attribute__((noinline, section("burn_first"))) static void
first(unsigned long turns)
{
	while (turns--)
		__asm__ volatile("" ::: "memory");
}

__attribute__((noinline, section("burn_second"))) static void
second(unsigned long turns)
{
	while (turns--)
		__asm__ volatile("" ::: "memory");
}

/* The first object is the program. */
static int find(struct dl_phdr_info *info, size_t size, void *argument)
{
	uintptr_t *at = argument;
	int i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type == PT_LOAD && *at >= begin &&
		    *at - begin < info->dlpi_phdr[i].p_filesz) {
			*at = *at - begin + info->dlpi_phdr[i].p_offset;
			return 1;
		}
	}
	return -1;
}

static void tell(const char *name, const char *begin, const char *end)
{
	uintptr_t at = (uintptr_t)begin;

	if (dl_iterate_phdr(find, &at) != 1)
		exit(1);
	printf("%s %ju %ju\n", name, (uintmax_t)at,
	       (uintmax_t)(at + (end - begin)));
}

static void touch(unsigned long pages)
{
	size_t size = sysconf(_SC_PAGESIZE), i;
	char *memory = mmap(NULL, pages * size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* Huge pages have fewer faults; a kernel for real time has none. */
	if (memory == MAP_FAILED ||
	    (madvise(memory, pages * size, MADV_NOHUGEPAGE) && errno != EINVAL))
		exit(1);
	for (i = 0; i < pages; i++)
		((volatile char *)memory)[i * size] = 1;
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;

	tell("first", __start_burn_first, __stop_burn_first);
	tell("second", __start_burn_second, __stop_burn_second);
	fflush(stdout);
	if (argc > 2)
		touch(strtoul(argv[2], NULL, 10));
	while (rounds--) {
		first(3 * CHUNK);
		second(CHUNK);
	}
	if (argc > 3) {
		execl(argv[3], argv[3], NULL);
		exit(1);
	}
	return 0;
}
