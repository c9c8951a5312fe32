// SPDX-License-Identifier: GPL-2.0-only
/* What kmmvprof keeps of files that it has read, while they change. */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proffiles.h"

/* When the file was changed; the clock of that is a coarse one. */
static uint64_t ctime_ns(void)
{
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	return (uint64_t)st.st_ctim.tv_sec * 1000000000 +
	       (uint64_t)st.st_ctim.tv_nsec;
}

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

/* Files of two devices can have one number. */
START_TEST(devices)
{
	struct prof_table notes;
	struct prof_images images;
	struct prof_mapped m;
	uint64_t offset = offset_of(open_functions), *number;
	unsigned int i;

	prof_table_init(&notes, 1U << PROF_PART_IMAGE | 1U << PROF_PART_SYMBOL,
			10);
	prof_images_init(&images, "/nonexistent", &notes);
	write_file(bytes, length);
	m = mapped_of();
	for (i = 0; i < 4; i++) {
		number = i % 2 ? &m.major : &m.minor;
		ck_assert_str_eq(prof_images_function(&images, &m, offset),
				 "open_functions");
		*number ^= 1;
		ck_assert_str_eq(prof_images_function(&images, &m, offset),
				 PROF_IMAGE_UNKNOWN);
		*number ^= 1;
	}
	ck_assert_uint_eq(images.nr, 3);
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

void add_images(TCase *tcase)
{
	tcase_add_test(tcase, images);
	tcase_add_test(tcase, devices);
	tcase_add_test(tcase, touched);
	tcase_add_loop_test(tcase, images_by_mapping, 0, 3);
}
