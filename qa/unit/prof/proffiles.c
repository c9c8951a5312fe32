// SPDX-License-Identifier: GPL-2.0-only
/* How kmmvprof finds files, which may change meanwhile. */
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "proffiles.h"

/* Memory is limited while a file is read: what is beyond is an error. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static char dir[64];
char path[80];
char *bytes;
size_t length;

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

bool can_follow(void)
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

void write_file(const char *from, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, from, n), (ssize_t)n);
	close(fd);
}

struct prof_mapped mapped_of(void)
{
	struct prof_mapped m = { .path = path, .process = (uint64_t)getpid() };
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	m.major = major(st.st_dev);
	m.minor = minor(st.st_dev);
	m.inode = st.st_ino;
	return m;
}

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
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

int main(void)
{
	TCase *tcase = tcase_create("proffiles");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, by_path);
	tcase_add_test(tcase, changed);
	tcase_add_test(tcase, no_regular_file);
	tcase_add_test(tcase, no_permission);
	tcase_add_test(tcase, by_mapping);
	add_functions(tcase);
	add_images(tcase);
	return run_suite("proffiles", tcase);
}
