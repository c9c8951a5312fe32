// SPDX-License-Identifier: GPL-2.0-only
/* How kmmvprof finds files and their functions, whoever changes them. */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "functions.h"
#include "image.h"
#include "../lib/libarea.h"
#include "locate.h"

/* Memory is limited while a file is read: what is beyond is an error. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static char dir[64], path[80];
static char *bytes;
static size_t length;

/* A copy of this program. */
static void setup(void)
{
	struct stat st;
	int fd = open("/proc/self/exe", O_RDONLY);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	length = (size_t)st.st_size;
	bytes = malloc(length);
	ck_assert_ptr_nonnull(bytes);
	ck_assert_int_eq(read(fd, bytes, length), (ssize_t)length);
	close(fd);
	snprintf(dir, sizeof(dir), "%s/prof.XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chmod(dir, 0755), 0);
	snprintf(path, sizeof(path), "%s/file", dir);
}

static void teardown(void)
{
	unlink(path);
	rmdir(dir);
	free(bytes);
}

/* Only with capabilities the mapping of another file can be followed. */
static bool can_follow(void)
{
	DIR *links = opendir("/proc/self/map_files");
	const struct dirent *entry;
	int fd = -1;

	while (links && fd < 0 && (entry = readdir(links)))
		if (*entry->d_name != '.')
			fd = openat(dirfd(links), entry->d_name,
				    O_RDONLY | O_CLOEXEC);
	if (links)
		closedir(links);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void write_file(const char *from, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, from, n), (ssize_t)n);
	close(fd);
}

static struct prof_mapped mapped_of(void)
{
	struct prof_mapped m = { .path = path, .process = (uint64_t)getpid() };
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	m.major = major(st.st_dev);
	m.minor = minor(st.st_dev);
	m.inode = st.st_ino;
	return m;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* When the file was changed; the clock of that is a coarse one. */
static uint64_t ctime_ns(void)
{
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	return (uint64_t)st.st_ctim.tv_sec * 1000000000 +
	       (uint64_t)st.st_ctim.tv_nsec;
}

static void is_found(const struct prof_mapped *m)
{
	char mapping[PROF_LOCATE_ROOM];
	const char *why = NULL;
	struct stat st;
	int fd = prof_locate(m, mapping, &why);

	ck_assert_msg(fd >= 0, "%s", why);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_uint_eq(st.st_ino, m->inode);
	close(fd);
}

static void is_not_found(const struct prof_mapped *m, const char *part)
{
	char mapping[PROF_LOCATE_ROOM];
	const char *why = NULL;

	ck_assert_int_eq(prof_locate(m, mapping, &why), -1);
	ck_assert_ptr_nonnull(why);
	ck_assert_msg(strstr(why, part), "%s", why);
}

/* ---- finding */

START_TEST(by_path)
{
	struct prof_mapped m, other;

	write_file(bytes, length);
	m = mapped_of();
	is_found(&m);
	other = m;
	other.inode += 1000000;
	is_not_found(&other, "another file");
	other = m;
	other.minor ^= 1;
	is_not_found(&other, "another file");
	m.since = now_ns();
	is_found(&m);
	/* The end of a path that was too long. */
	ck_assert_int_eq(chdir(dir), 0);
	m.path = "file";
	is_not_found(&m, "too long");
}
END_TEST

/* Another file at the path, or the same that was written to. */
START_TEST(changed)
{
	struct prof_mapped m;
	char kept[96];

	write_file(bytes, length);
	m = mapped_of();
	snprintf(kept, sizeof(kept), "%s/kept", dir);
	ck_assert_int_eq(rename(path, kept), 0);
	is_not_found(&m, "not here");
	write_file(bytes, length);
	is_not_found(&m, "another file");
	unlink(kept);
	m = mapped_of();
	/* A sample of before the last change. */
	m.since = now_ns() - 1000000000000;
	is_not_found(&m, "has changed");
}
END_TEST

START_TEST(no_regular_file)
{
	struct prof_mapped m;

	ck_assert_int_eq(mkfifo(path, 0600), 0);
	m = mapped_of();
	is_not_found(&m, "not a regular file");
	m.path = dir;
	is_not_found(&m, "not a regular file");
}
END_TEST

START_TEST(no_permission)
{
	struct prof_mapped m;

	write_file(bytes, length);
	ck_assert_int_eq(chmod(path, 0), 0);
	m = mapped_of();
	if (!geteuid())
		ck_assert_int_eq(setgroups(0, NULL) | setgid(65534) |
				 setuid(65534), 0);
	is_not_found(&m, "run this as root");
}
END_TEST

/* The mapping of a process leads to a file that was deleted, or has moved. */
START_TEST(by_mapping)
{
	char mapping[PROF_LOCATE_ROOM];
	struct prof_mapped m;
	const char *why;
	void *at;
	int fd;

	write_file(bytes, length);
	m = mapped_of();
	fd = open(path, O_RDONLY);
	at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne(at, MAP_FAILED);
	close(fd);
	m.since = now_ns();
	unlink(path);
	fd = prof_locate(&m, mapping, &why);
	/* Without capabilities the mapping cannot be followed. */
	if (fd < 0 && !can_follow())
		return;
	close(fd);
	is_found(&m);
	/* Another file has its path by now. */
	write_file("other", 5);
	is_found(&m);
	/* The next inode may be the other file's. */
	m.inode += 1000000;
	is_not_found(&m, "another file");
	m.inode -= 1000000;
	munmap(at, 4096);
	is_not_found(&m, "another file");
}
END_TEST

/* ---- functions */

/* The offset in the file of an address for which it was linked. */
static uint64_t offset_of_address(uint64_t address)
{
	const ElfW(Ehdr) *eh = (void *)bytes;
	const ElfW(Phdr) *ph = (void *)(bytes + eh->e_phoff);
	unsigned int i;

	for (i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD && address >= ph[i].p_vaddr &&
		    address - ph[i].p_vaddr < ph[i].p_filesz)
			return address - ph[i].p_vaddr + ph[i].p_offset;
	ck_abort();
}

/* The same of a function of this program. */
static uint64_t offset_of(const void *function)
{
	struct dl_find_object found;

	ck_assert_int_eq(_dl_find_object((void *)function, &found), 0);
	return offset_of_address((uintptr_t)function -
				 found.dlfo_link_map->l_addr);
}

static int open_functions(struct prof_functions **f)
{
	int fd = open(path, O_RDONLY), err;

	ck_assert_int_ge(fd, 0);
	err = prof_functions_open(fd, "/nonexistent", f);
	close(fd);
	return err;
}

START_TEST(functions)
{
	struct prof_functions *f;
	const char *name;

	write_file(bytes, length);
	ck_assert_int_eq(open_functions(&f), 0);
	name = prof_functions_at(f, offset_of(open_functions));
	ck_assert_ptr_nonnull(name);
	ck_assert_str_eq(name, "open_functions");
	ck_assert_str_eq(prof_functions_at(f, offset_of(write_file) + 1),
			 "write_file");
	/* No code. */
	ck_assert_ptr_null(prof_functions_at(f, 0));
	ck_assert_ptr_null(prof_functions_at(f, length));
	ck_assert_ptr_null(prof_functions_at(f, UINT64_MAX));
	prof_functions_close(f);
}
END_TEST

/* A file may be cut, or may have been written to fool its readers. */
START_TEST(hostile)
{
	ElfW(Ehdr) *eh = (void *)bytes;
	size_t table = eh->e_shoff, at, n;
	struct prof_functions *f;
	unsigned int round, i;
	char *copy;

	write_file("no ELF", 6);
	ck_assert_int_eq(open_functions(&f), -ENOEXEC);
	write_file("", 0);
	ck_assert_int_eq(open_functions(&f), -ENOEXEC);
	/* An object file, which libdwfl would relocate by callbacks that are not there. */
	copy = malloc(length);
	ck_assert_ptr_nonnull(copy);
	memcpy(copy, bytes, length);
	((ElfW(Ehdr) *)copy)->e_type = ET_REL;
	write_file(copy, length);
	ck_assert_int_eq(open_functions(&f), -ENOEXEC);
	free(copy);
	for (round = 0; round < 60; round++) {
		n = round < 30 ? length >> round : length - length / 31 * (round - 30);
		write_file(bytes, n);
		if (!open_functions(&f))
			prof_functions_close(f);
	}
	copy = malloc(length);
	ck_assert_ptr_nonnull(copy);
	srandom(7);
	for (round = 0; round < 150; round++) {
		memcpy(copy, bytes, length);
		for (i = 0; i < 8; i++) {
			at = (size_t)random() % 2048;
			if (round % 2 && table < length)
				at = table + at % (length - table);
			copy[at % length] = (char)random();
		}
		/* It is still an ELF file. */
		memcpy(copy, bytes, EI_NIDENT);
		write_file(copy, length);
		if (open_functions(&f))
			continue;
		prof_functions_at(f, offset_of(open_functions));
		prof_functions_close(f);
	}
	free(copy);
}
END_TEST

static ElfW(Shdr) *section_of(unsigned int type)
{
	const ElfW(Ehdr) *eh = (void *)bytes;
	ElfW(Shdr) *sh = (void *)(bytes + eh->e_shoff);
	unsigned int i;

	for (i = 0; i < eh->e_shnum; i++)
		if (sh[i].sh_type == type)
			return &sh[i];
	ck_abort_msg("no section of type %u", type);
}

/* What takes no room on a disk takes none in memory. */
START_TEST(sparse)
{
	static const unsigned int types[] = {
		SHT_SYMTAB, SHT_STRTAB, SHT_DYNSYM,
	};
	const uint64_t most = 8ULL << 30;
	struct prof_functions *f;
	ElfW(Ehdr) *eh = (void *)bytes;
	ElfW(Shdr) *sh;

	if (_i < 3) {
		sh = section_of(types[_i]);
		sh->sh_offset = length;
		sh->sh_size = most;
	} else if (_i == 3) {
		section_of(SHT_SYMTAB)->sh_flags |= SHF_COMPRESSED;
	} else {
		/* Sections, as many as the first one says. */
		sh = (void *)(bytes + eh->e_shoff);
		sh->sh_size = most / sizeof(*sh) / 2;
		eh->e_shnum = 0;
	}
	write_file(bytes, length);
	ck_assert_int_eq(truncate(path, (off_t)(length + most)), 0);
	ck_assert_int_eq(open_functions(&f), -EFBIG);
}
END_TEST

/* A few megabytes: all symbols have one name, which is longer than what is kept. */
START_TEST(same_name)
{
	enum { SYMBOLS = 300000, NAME = 1 << 12 };
	ElfW(Shdr) *symbols = section_of(SHT_SYMTAB), *names;
	ElfW(Sym) *sym, first;
	struct prof_functions *f;
	size_t size = sizeof(*sym) * SYMBOLS + NAME, i;
	char *copy = malloc(length + 8 + size), *to;

	ck_assert_ptr_nonnull(copy);
	names = (ElfW(Shdr) *)(bytes + ((ElfW(Ehdr) *)bytes)->e_shoff) +
		symbols->sh_link;
	first = (ElfW(Sym)){
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		.st_shndx = 1,
		.st_value = ((ElfW(Ehdr) *)bytes)->e_entry,
		.st_size = 1,
		.st_name = 1,
	};
	to = copy + (length + 7) / 8 * 8;
	symbols->sh_offset = (ElfW(Off))(to - copy);
	symbols->sh_size = sizeof(*sym) * SYMBOLS;
	symbols->sh_info = 0;
	for (sym = (void *)to, i = 0; i < SYMBOLS; i++)
		sym[i] = first;
	to += symbols->sh_size;
	memset(to, 'a', NAME);
	to[0] = to[NAME - 1] = '\0';
	names->sh_offset = (ElfW(Off))(to - copy);
	names->sh_size = NAME;
	memcpy(copy, bytes, length);
	to += NAME;
	write_file(copy, (size_t)(to - copy));
	ck_assert_int_eq(open_functions(&f), -EFBIG);
	/* The same, a few times: a long name is cut. */
	symbols->sh_size = 3 * sizeof(*sym);
	memcpy(copy, bytes, length);
	write_file(copy, (size_t)(to - copy));
	ck_assert_int_eq(open_functions(&f), 0);
	ck_assert_uint_eq(strlen(prof_functions_at(f, offset_of_address(
		first.st_value))), 1023);
	prof_functions_close(f);
	free(copy);
}
END_TEST

/* ---- images */

START_TEST(images)
{
	struct prof_table notes;
	struct prof_images images;
	struct prof_mapped m;
	uint64_t offset = offset_of(open_functions), was;
	unsigned int i;

	prof_table_init(&notes, 1U << PROF_PART_IMAGE | 1U << PROF_PART_SYMBOL,
			10);
	prof_images_init(&images, "/nonexistent", &notes);
	write_file(bytes, length);
	m = mapped_of();
	ck_assert_str_eq(prof_images_function(&images, &m, offset),
			 "open_functions");
	ck_assert_uint_eq(notes.nr, 0);
	/* What was read is kept, as the path may change. */
	unlink(path);
	ck_assert_str_eq(prof_images_function(&images, &m, offset),
			 "open_functions");
	/* Another file at the path is not the one of the samples. */
	write_file("no ELF", 6);
	prof_images_round(&images);
	ck_assert_str_eq(prof_images_function(&images, &m, offset),
			 "open_functions");
	/* What is written over is. */
	unlink(path);
	write_file(bytes, length);
	m = mapped_of();
	ck_assert_str_eq(prof_images_function(&images, &m, offset),
			 "open_functions");
	was = ctime_ns();
	do {
		write_file("no ELF", 6);
	} while (ctime_ns() == was);
	ck_assert_str_eq(prof_images_function(&images, &m, offset),
			 "open_functions");
	ck_assert_uint_eq(notes.nr, 0);
	prof_images_round(&images);
	ck_assert_str_eq(prof_images_function(&images, &m, offset),
			 PROF_IMAGE_UNKNOWN);
	prof_table_clear(&notes);
	unlink(path);
	m.inode += 1000000;
	for (i = 0; i < 5; i++)
		ck_assert_str_eq(prof_images_function(&images, &m, offset),
				 PROF_IMAGE_UNKNOWN);
	ck_assert_uint_eq(notes.nr, 1);
	ck_assert_uint_eq(notes.rows[0].samples, 5);
	/* A bounded number is kept. */
	for (i = 0; i < 2 * PROF_IMAGES_MAX; i++) {
		m.inode++;
		ck_assert_str_eq(prof_images_function(&images, &m, offset),
				 PROF_IMAGE_UNKNOWN);
	}
	ck_assert_uint_le(images.nr, PROF_IMAGES_MAX);
	prof_images_free(&images);
	prof_table_free(&notes);
}
END_TEST

/* A file that is touched is still that of samples of before. */
START_TEST(touched)
{
	struct prof_table notes;
	struct prof_images images;
	struct prof_mapped m;
	uint64_t offset = offset_of(open_functions);

	prof_table_init(&notes, 1U << PROF_PART_IMAGE | 1U << PROF_PART_SYMBOL,
			10);
	prof_images_init(&images, "/nonexistent", &notes);
	write_file(bytes, length);
	m = mapped_of();
	do
		m.since = now_ns();
	while (m.since < (uint64_t)ctime_ns());
	ck_assert_str_eq(prof_images_function(&images, &m, offset),
			 "open_functions");
	do
		ck_assert_int_eq(utimensat(AT_FDCWD, path, NULL, 0), 0);
	while ((uint64_t)ctime_ns() <= m.since);
	prof_images_round(&images);
	ck_assert_str_eq(prof_images_function(&images, &m, offset),
			 "open_functions");
	do
		m.since = now_ns();
	while (m.since < (uint64_t)ctime_ns());
	ck_assert_str_eq(prof_images_function(&images, &m, offset),
			 "open_functions");
	ck_assert_uint_eq(notes.nr, 0);
	prof_images_free(&images);
	prof_table_free(&notes);
}
END_TEST

/* A process that has the file mapped until it is killed. */
static pid_t map_elsewhere(int fd)
{
	pid_t pid;
	int ready[2];
	char c;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		if (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED ||
		    write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

static void end_process(pid_t pid)
{
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* What no path leads to is written over, as in a container. */
static void write_over(int fd)
{
	struct stat was, is;

	ck_assert_int_eq(fstat(fd, &was), 0);
	do {
		ck_assert_int_eq(pwrite(fd, "no ELF", 6, 0), 6);
		ck_assert_int_eq(fstat(fd, &is), 0);
	} while (is.st_ctim.tv_sec == was.st_ctim.tv_sec &&
		 is.st_ctim.tv_nsec == was.st_ctim.tv_nsec);
}

/*
 * 0: the process has it still mapped when it is written over; 1: another one has; 2:
 * none has, and what was read is kept.
 */
START_TEST(images_by_mapping)
{
	struct prof_table notes;
	struct prof_images images;
	struct prof_mapped m;
	uint64_t offset = offset_of(open_functions);
	const char *name;
	pid_t first, second = 0;
	int fd;

	prof_table_init(&notes, 1U << PROF_PART_IMAGE | 1U << PROF_PART_SYMBOL,
			10);
	prof_images_init(&images, "/nonexistent", &notes);
	write_file(bytes, length);
	m = mapped_of();
	fd = open(path, O_RDWR);
	ck_assert_int_ge(fd, 0);
	first = map_elsewhere(fd);
	m.process = (uint64_t)first;
	unlink(path);
	name = prof_images_function(&images, &m, offset);
	ck_assert_ptr_nonnull(name);
	/* Without capabilities the mapping cannot be followed. */
	if (strcmp(name, PROF_IMAGE_UNKNOWN) != 0 ||
	    can_follow()) {
		ck_assert_str_eq(name, "open_functions");
		if (_i == 1)
			second = map_elsewhere(fd);
		if (_i)
			end_process(first);
		if (second)
			m.process = (uint64_t)second;
		prof_images_round(&images);
		ck_assert_str_eq(prof_images_function(&images, &m, offset),
				 "open_functions");
		write_over(fd);
		ck_assert_str_eq(prof_images_function(&images, &m, offset),
				 "open_functions");
		prof_images_round(&images);
		ck_assert_str_eq(prof_images_function(&images, &m, offset),
				 _i == 2 ? "open_functions" : PROF_IMAGE_UNKNOWN);
		ck_assert_uint_eq(notes.nr, _i != 2);
		if (_i)
			first = 0;
	}
	if (first)
		end_process(first);
	if (second)
		end_process(second);
	close(fd);
	prof_images_free(&images);
	prof_table_free(&notes);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("proffiles");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, by_path);
	tcase_add_test(tcase, changed);
	tcase_add_test(tcase, no_regular_file);
	tcase_add_test(tcase, no_permission);
	tcase_add_test(tcase, by_mapping);
	tcase_add_test(tcase, functions);
	tcase_add_test(tcase, hostile);
	tcase_add_loop_test(tcase, sparse, 0, 5);
	tcase_add_test(tcase, same_name);
	tcase_add_test(tcase, images);
	tcase_add_test(tcase, touched);
	tcase_add_loop_test(tcase, images_by_mapping, 0, 3);
	return run_suite("proffiles", tcase);
}
