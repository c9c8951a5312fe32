// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules of the mapping; each was violated by some kernel's code once.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/kmmv.h>

#include "device.h"
#include "tap.h"

#define COUNT	1234567

static struct kmmv_header header;
static long page;
static int number;	/* an instance; CPU 0 counted COUNT */

static uint64_t offset_of(uint32_t cpu, uint32_t instance)
{
	return header.cpu_offset + cpu * header.cpu_stride +
	       header.counter_offset + instance * sizeof(uint64_t);
}

static int device(void)
{
	return device_open(COUNTERS);
}

static char *map_all(void)
{
	return device_map(COUNTERS, header.length);
}

static bool reads_count(const char *map)
{
	uint64_t value;

	return peek(map + offset_of(0, number), &value) && value == COUNT;
}

static void find_geometry(void)
{
	int fd = device();
	void *map;

	page = sysconf(_SC_PAGESIZE);
	map = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		bail("mmap of the header");
	memcpy(&header, map, sizeof(header));
	munmap(map, page);
	close(fd);
}

static void setup(void)
{
	char *map;

	ok(header.magic == KMMV_MAGIC && (long)header.page_size == page,
	   "the header says what it is");
	number = client("add mapping");
	client("adjust task 0 %d %d", number, COUNT);
	map = map_all();
	ok(reads_count(map), "a count is at its place");
	ok(munmap(map, header.length) == 0, "the mapping goes");
}

static void refuses_open(void)
{
	ok(open(COUNTERS, O_RDWR) < 0 && errno == EACCES,
	   "no open for reading and writing");
	ok(open(COUNTERS, O_WRONLY) < 0 && errno == EACCES,
	   "no open for writing");
	ok(open(NAMES, O_RDWR) < 0 && errno == EACCES,
	   "no open of the names for writing");
}

static void refuses_mmap(void)
{
	device_refuses_mappings(COUNTERS, header.length);
	device_refuses(COUNTERS, "whose end is just below the wrap", PROT_READ,
		       MAP_SHARED, (uint64_t)INT64_MAX - 3 * page + 1, 2 * page,
		       EINVAL);
}

static void maps_parts(void)
{
	uint64_t at = offset_of(0, number) & ~(page - 1);
	int fd = device();
	char *map = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, at);
	uint64_t value = 0;

	ok(map != MAP_FAILED &&
	   peek(map + offset_of(0, number) % page, &value) && value == COUNT,
	   "one page from the middle is mapped by its offset");
	munmap(map, page);
	map = mmap(NULL, page, PROT_READ, MAP_SHARED | MAP_POPULATE, fd,
		   header.length - page);
	ok(map != MAP_FAILED && touch(map) == SIGBUS,
	   "the last page can be mapped, and is not there");
	munmap(map, page);
	close(fd);
	map = map_all();
	ok(reads_count(map), "it stays when the file is closed");
	munmap(map, header.length);
}

static void keeps_protection(void)
{
	char *map = map_all();

	ok(mprotect(map, page, PROT_READ | PROT_WRITE) < 0 && errno == EACCES,
	   "mprotect for writing is refused");
	ok(mprotect(map, page, PROT_WRITE) < 0 && errno == EACCES,
	   "mprotect for writing alone is refused");
	ok(mprotect(map, page, PROT_READ | PROT_EXEC) < 0 && errno == EACCES,
	   "mprotect for execution is refused");
	ok(mprotect(map, page, PROT_NONE) == 0 && touch(map) == SIGSEGV &&
	   mprotect(map, page, PROT_READ) == 0 && touch(map) == 0,
	   "mprotect to nothing and back");
	ok(reads_count(map), "the count is still there");
	munmap(map, header.length);
}

static void moves(void)
{
	char *map = map_all(), *other, *grown;
	uint64_t length = header.length;

	grown = mremap(map, length, length + page, 0);
	ok(grown == MAP_FAILED, "mremap does not grow it in place");
	grown = mremap(map, length, length + page, MREMAP_MAYMOVE);
	ok(grown == MAP_FAILED && errno == EFAULT,
	   "mremap does not grow it elsewhere");
	ok(reads_count(map), "the count is still there");
	other = mmap(NULL, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	other = mremap(map, length, length, MREMAP_MAYMOVE | MREMAP_FIXED,
		       other);
	ok(other != MAP_FAILED && reads_count(other), "mremap moves it");
	ok(touch(map) == SIGSEGV, "and nothing is left at the old place");
	grown = mremap(other, 0, length, MREMAP_MAYMOVE);
	ok((grown == MAP_FAILED || reads_count(grown)) && reads_count(other),
	   "mremap of nothing is refused, or a second mapping");
	if (grown != MAP_FAILED)
		munmap(grown, length);
	other = mremap(other, length, length / 2 & ~(page - 1), 0);
	ok(other != MAP_FAILED, "mremap shrinks it");
	munmap(other, length);
}

static void splits(void)
{
	char *map = map_all();
	uint64_t at = offset_of(0, number) & ~(page - 1);

	ok(munmap(map + page, at - page) == 0, "a hole in the middle");
	ok(touch(map) == 0 && reads_count(map), "both sides can be read");
	ok(touch(map + page) == SIGSEGV, "the hole cannot");
	ok(munmap(map, page) == 0 && reads_count(map),
	   "without its head, the rest can be read");
	ok(munmap(map, header.length) == 0, "the rest goes");
}

static int child_reads(const char *map)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(reads_count(map) ? 42 : 1);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		bail("fork");
	return status;
}

static void forks(void)
{
	char *map = map_all();
	int status;

	status = child_reads(map);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 42,
	   "a child reads what its parent mapped");
	/* Accepted or refused, neither may break a reference count. */
	note("MADV_DONTFORK: %s",
	     madvise(map, header.length, MADV_DONTFORK) ? strerror(errno) :
							  "done");
	status = child_reads(map);
	ok(WIFEXITED(status), "MADV_DONTFORK, and a child");
	note("MADV_DOFORK: %s",
	     madvise(map, header.length, MADV_DOFORK) ? strerror(errno) :
							"done");
	status = child_reads(map);
	ok(WIFEXITED(status), "MADV_DOFORK, and a child");
	ok(madvise(map, header.length, MADV_DODUMP) < 0 && errno == EINVAL,
	   "MADV_DODUMP is refused");
	ok(reads_count(map), "the parent still reads");
	munmap(map, header.length);
}

static bool has_flag(const char *flags, const char *flag)
{
	return strstr(flags, flag);
}

static void flags_are(void)
{
	char *map = map_all();
	char line[512], flags[512] = "";
	unsigned long from, to;
	bool mine = false;
	FILE *file = fopen("/proc/self/smaps", "r");

	if (!file)
		bail("smaps");
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			mine = from == (unsigned long)map;
		if (mine && !strncmp(line, "VmFlags:", 8))
			snprintf(flags, sizeof(flags), "%s", line + 8);
	}
	fclose(file);
	flags[strcspn(flags, "\n")] = '\0';
	note("VmFlags:%s", flags);
	/* A file that is not open for writing has "ms", may be shared. */
	ok(has_flag(flags, " rd") && has_flag(flags, " ms") &&
	   has_flag(flags, " io") && has_flag(flags, " pf") &&
	   has_flag(flags, " dd") && has_flag(flags, " de"),
	   "shared, device memory, not dumped, not expanded");
	ok(!has_flag(flags, " wr") && !has_flag(flags, " ex") &&
	   !has_flag(flags, " mw") && !has_flag(flags, " me"),
	   "never written or executed");
	munmap(map, header.length);
}

static void no_page_is_taken(void)
{
	char *map = map_all(), *buffer = malloc(page);
	struct iovec local = { .iov_base = buffer, .iov_len = page };
	struct iovec remote = { .iov_base = map, .iov_len = page };
	ssize_t n;
	int fds[2];

	touch(map);
	if (pipe(fds))
		bail("pipe");
	n = vmsplice(fds[1], &remote, 1, 0);
	ok(n < 0 && errno == EFAULT, "vmsplice takes no page of it");
	n = vmsplice(fds[1], &remote, 1, SPLICE_F_GIFT);
	ok(n < 0 && errno == EFAULT, "vmsplice takes none as a gift");
	ok(write(fds[1], map, page) == page &&
	   read(fds[0], buffer, page) == page && !memcmp(buffer, &header, 16),
	   "write copies it, as from any memory");
	n = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
	ok(n < 0 && errno == EFAULT, "process_vm_readv gets nothing");
	n = process_vm_writev(getpid(), &local, 1, &remote, 1, 0);
	ok(n < 0 && errno == EFAULT, "process_vm_writev writes nothing");
	close(fds[0]);
	close(fds[1]);
	free(buffer);
	munmap(map, header.length);
}

/* Direct I/O to a block device, which the script gives. */
static void no_direct_write(const char *path)
{
	char *map = map_all();
	int fd = open(path, O_WRONLY | O_DIRECT);
	ssize_t n;

	if (fd < 0)
		bail("O_DIRECT on %s", path);
	n = write(fd, map, page);
	ok(n < 0 && errno == EFAULT, "a direct write takes no page of it");
	close(fd);
	munmap(map, header.length);
}

static void proc_mem(void)
{
	int fd = open("/proc/self/mem", O_RDWR);
	char *map = map_all();
	uint64_t value = 0;
	ssize_t n;

	if (fd < 0)
		bail("/proc/self/mem");
	touch(map);
	/* PFN mappings have an access method only if a driver provides one. */
	n = pread(fd, &value, sizeof(value), (off_t)(uintptr_t)map);
	ok(n < 0 || value == KMMV_MAGIC, "/proc/self/mem gives it or does not");
	value = 0;
	n = pwrite(fd, &value, sizeof(value), (off_t)(uintptr_t)map);
	ok(n < 0 && errno == EIO, "/proc/self/mem does not write it");
	peek(map, &value);
	ok(value == KMMV_MAGIC, "nothing was written");
	close(fd);
	munmap(map, header.length);
}

static void sigbus_past_the_end(void)
{
	char *map = map_all();
	uint64_t per_page = page / sizeof(uint64_t), value;
	uint32_t nr = ((const struct kmmv_header *)map)->nr_instances;
	uint32_t end = (nr + per_page - 1) / per_page * per_page;
	const uint64_t *possible;
	uint32_t cpu, wrong = 0, impossible = 0;

	possible = (const uint64_t *)(map + header.possible_offset);
	for (cpu = 0; cpu < header.nr_cpus; cpu++) {
		bool is = possible[cpu / 64] >> cpu % 64 & 1;

		impossible += !is;
		wrong += peek(map + offset_of(cpu, nr - 1), &value) != is;
		wrong += touch(map + offset_of(cpu, end)) != SIGBUS;
	}
	note("%u CPU areas, %u of CPUs that are not possible", header.nr_cpus,
	     impossible);
	ok(!wrong, "possible CPUs have pages up to the last instance, no more");
	ok(touch(map + offset_of(0, header.capacity - 1)) == SIGBUS,
	   "the last instance of the capacity is not there yet");
	ok(touch(map + header.incarnation_offset) == 0 &&
	   touch(map + header.cpu_offset - page) == SIGBUS,
	   "incarnations have pages up to the last instance, no more");
	munmap(map, header.length);
}

/* The pages contain nothing but the known instances. */
static void nothing_else_on_pages(void)
{
	char *map = map_all();
	const struct kmmv_header *h = (const void *)map;
	uint64_t per_page = page / sizeof(uint64_t), value, bytes = 0;
	uint32_t end, cpu, i, stray = 0, used;
	const unsigned char *tail;

	end = (h->nr_instances + per_page - 1) / per_page * per_page;
	for (cpu = 0; cpu < header.nr_cpus; cpu++)
		for (i = 0; i < end; i++) {
			if (!peek(map + offset_of(cpu, i), &value))
				break;
			/* Kernel addresses have their highest bits set. */
			if (value >> 47 || (i >= h->nr_instances && value))
				stray++;
			bytes += sizeof(value);
		}
	ok(!stray && bytes, "nothing but counters in %llu bytes of counters",
	   (unsigned long long)bytes);
	used = header.online_offset + header.mask_size;
	tail = (const unsigned char *)map;
	for (stray = 0, i = used; i < (uint32_t)page; i++)
		stray += tail[i] != 0;
	for (i = 0; i < 8; i++)
		stray += h->reserved[i] != 0;
	ok(!stray, "nothing behind the header's %u bytes", used);
	munmap(map, header.length);
}

static void ioctls(void)
{
	struct kmmv_refresh refresh = { .max_age = 1000000 };
	int fd = device();

	ok(ioctl(fd, _IO(KMMV_IOC_MAGIC, 99), 0) < 0 && errno == ENOTTY,
	   "an unknown ioctl is ENOTTY");
	ok(ioctl(fd, KMMV_IOC_REFRESH, NULL) < 0 && errno == EFAULT,
	   "a refresh of nowhere is EFAULT");
	ok(ioctl(fd, KMMV_IOC_REFRESH, &refresh) == 0,
	   "a refresh without sources is done");
	ok(read(fd, &refresh, sizeof(refresh)) < 0 && errno == EINVAL,
	   "the counters cannot be read");
	close(fd);
}

/* Hold the whole mapping, with no file open, until standard input ends. */
static int hold(void)
{
	char *map = map_all();
	char c;

	if (touch(map))
		bail("touch");
	printf("mapped\n");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		continue;
	return touch(map);
}

int main(int argc, char **argv)
{
	find_geometry();
	if (argc > 1 && !strcmp(argv[1], "hold"))
		return hold();
	setup();
	refuses_open();
	refuses_mmap();
	maps_parts();
	keeps_protection();
	moves();
	splits();
	forks();
	flags_are();
	no_page_is_taken();
	if (argc > 1)
		no_direct_write(argv[1]);
	proc_mem();
	sigbus_past_the_end();
	nothing_else_on_pages();
	ioctls();
	client("del %d", number);
	return finish();
}
