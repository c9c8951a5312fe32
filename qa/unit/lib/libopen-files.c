// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opening files that are too short, sparse, of another kind or not there: each only costs
 * an error, and none is waited for. A memfd that may shrink is an ordinary file.
 */
#include <sys/wait.h>

#include "libopen.h"

struct area area;

/* Each length of the header's page, and around the ends of the areas. */
START_TEST(truncated)
{
	const size_t ends[] = { PAGE, PAGE + 32, 2 * PAGE, 3 * PAGE, 5 * PAGE,
				area.length };
	struct kmmv *k;
	size_t length, i;
	int d;

	area_put_files(&area);
	for (length = 0; length < PAGE; length += length < 256 ? 1 : 61) {
		area_put(&area, "counters", area.header, length);
		ck_assert_msg(area_open(&area, &k) == -ENODATA,
			      "%zu bytes: %s", length, kmmv_error(NULL));
	}
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		for (d = -9; d <= 9; d++) {
			length = ends[i] + (size_t)d;
			if (length >= area.length)
				break;
			area_put(&area, "counters", area.header, length);
			ck_assert_int_eq(area_open(&area, &k), -ENODATA);
		}
}
END_TEST

START_TEST(truncated_memfd)
{
	const size_t lengths[] = { 0, 1, 8, 191, 192, 4095, 4096, 8192,
				   area.length - 1 };
	struct kmmv *k;
	size_t i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		area_share_length(&area, lengths[i]);
		ck_assert_int_eq(area_open(&area, &k), -ENODATA);
		close(area.fd);
	}
	area.fd = -1;
}
END_TEST

/* A captured file that shrinks while it is open is not read again. */
START_TEST(truncated_later)
{
	uint64_t sums[8];
	struct kmmv *k;

	area_put_files(&area);
	ck_assert_int_eq(area_open(&area, &k), 0);
	ck_assert_int_eq(truncate(area_path(&area, "counters"), 0), 0);
	ck_assert_int_eq(truncate(area_path(&area, "names"), 0), 0);
	ck_assert_int_eq(kmmv_read_all(k, sums, NULL, 8), 4);
	ck_assert_uint_eq(sums[3], area_small_sum(3));
	area_use(k);
	kmmv_close(k);
}
END_TEST

/* A memfd without the seal is an ordinary file. */
START_TEST(unsealed_memfd)
{
	struct kmmv_info info;
	char target[64];
	struct kmmv *k;

	area.fd = memfd_create("counters", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	ck_assert_int_eq(write(area.fd, area.header, area.length),
			 (ssize_t)area.length);
	snprintf(target, sizeof(target), "/proc/self/fd/%d", area.fd);
	ck_assert_int_eq(symlink(target, area_path(&area, "counters")), 0);
	area_put_names(&area);
	ck_assert_int_eq(area_open(&area, &k), 0);
	kmmv_get_info(k, &info);
	ck_assert(!info.live);
	ck_assert_int_eq(ftruncate(area.fd, 0), 0);
	area_use(k);
	kmmv_close(k);
}
END_TEST

/* A sealed memfd of which only the first page takes memory. */
static void share_sparse(void)
{
	struct kmmv_header *h = area.header;
	char target[64];

	area.fd = memfd_create("counters", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	ck_assert_int_ge(area.fd, 0);
	ck_assert_int_eq(pwrite(area.fd, h, PAGE, 0), PAGE);
	ck_assert_int_eq(ftruncate(area.fd, (off_t)h->length), 0);
	ck_assert_int_eq(fcntl(area.fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	snprintf(target, sizeof(target), "/proc/self/fd/%d", area.fd);
	ck_assert_int_eq(symlink(target, area_path(&area, "counters")), 0);
}

/* A file that claims much memory for a few bytes of disk. */
START_TEST(sparse_giant)
{
	struct kmmv_header *h = area.header;
	struct kmmv *k;
	int fd;

	/* 1: one that cannot shrink is mapped, and names make the table long. */
	h->capacity = h->nr_instances = 40u << 20;
	h->cpu_offset = PAGE + area_round(h->capacity * 4ULL);
	h->cpu_stride = area_round(h->capacity * 8ULL);
	h->length = h->cpu_offset + 4 * h->cpu_stride;
	area_mask(&area, h->possible_offset)[0] = 1;
	area_mask(&area, h->online_offset)[0] = 1;
	if (_i) {
		share_sparse();
	} else {
		area_put(&area, "counters", h, PAGE);
		fd = open(area_path(&area, "counters"), O_WRONLY);
		ck_assert_int_eq(ftruncate(fd, (off_t)h->length), 0);
		close(fd);
	}
	area_names_start(&area);
	area_names(&area, "kmmv abi=1.0 epoch=77\n"
			  "family id=0 units=count semantics=counter name=a\n"
			  "instance number=41943039 family=0 incarnation=0 state=active name=b\n"
			  "end 1\n");
	area_put_names(&area);
	ck_assert_int_eq(area_open(&area, &k), -ENOMEM);
	ck_assert_ptr_nonnull(strstr(kmmv_error(NULL), "41943040 instances"));
}
END_TEST

/* It claims it later. */
START_TEST(sparse_grows)
{
	struct kmmv_header *h = area.header;
	const uint32_t nr = 40u << 20;
	struct kmmv *k;

	h->capacity = nr;
	h->cpu_offset = PAGE + area_round(h->capacity * 4ULL);
	h->cpu_stride = area_round(h->capacity * 8ULL);
	h->length = h->cpu_offset + 4 * h->cpu_stride;
	share_sparse();
	area_put_names(&area);
	ck_assert_int_eq(area_open(&area, &k), 0);
	ck_assert_int_eq(kmmv_update(k), 0);
	ck_assert_int_eq(pwrite(area.fd, &nr, sizeof(nr),
				offsetof(struct kmmv_header, nr_instances)), 4);
	ck_assert_int_eq(kmmv_update(k), -ENOMEM);
	ck_assert_ptr_nonnull(strstr(kmmv_error(k), "41943040 instances"));
	kmmv_close(k);
}
END_TEST

static void check_odd(int expected, const char *words)
{
	struct kmmv *k;

	alarm(1200); /* it must not wait for a writer */
	ck_assert_int_eq(area_open(&area, &k), expected);
	ck_assert_msg(strstr(kmmv_error(NULL), words) != NULL, "%s",
		      kmmv_error(NULL));
}

START_TEST(odd_files)
{
	static const char *const names[] = { "counters", "names" };
	const char *name = names[_i];

	check_odd(-ENOENT, "modprobe");
	area_put_files(&area);
	remove(area_path(&area, name));
	check_odd(-ENOENT, name);
	ck_assert_int_eq(mkfifo(area_path(&area, name), 0644), 0);
	check_odd(-EPROTO, "neither a device nor a file");
	remove(area_path(&area, name));
	ck_assert_int_eq(mkdir(area_path(&area, name), 0755), 0);
	check_odd(-EPROTO, "neither a device nor a file");
	rmdir(area_path(&area, name));
	ck_assert_int_eq(symlink(name, area_path(&area, name)), 0);
	check_odd(-ELOOP, name);
	remove(area_path(&area, name));
	ck_assert_int_eq(symlink("/dev/zero", area_path(&area, name)), 0);
	check_odd(_i ? -EBADMSG : -EPROTO, _i ? "longer than" : "not a kmmv file");
	remove(area_path(&area, name));
	area_put(&area, name, "", 0);
	check_odd(_i ? -EBADMSG : -ENODATA, "truncated");
}
END_TEST

START_TEST(no_directory)
{
	struct kmmv *k;

	ck_assert_int_eq(kmmv_open("/nonexistent", &k), -ENOENT);
	ck_assert_ptr_null(k);
	ck_assert_int_eq(kmmv_open("", &k), -ENOENT);
	area_put_files(&area);
	ck_assert_int_eq(kmmv_open(area_path(&area, "names"), &k), -ENOTDIR);
}
END_TEST

/* Without permission; root becomes nobody for it. */
START_TEST(not_permitted)
{
	struct kmmv *k;
	int status, err;
	pid_t child;

	area_put_files(&area);
	ck_assert_int_eq(chmod(area.dir, 0755), 0);
	ck_assert_int_eq(chmod(area_path(&area, _i ? "names" : "counters"), 0),
			 0);
	child = fork();
	if (!child) {
		if (!geteuid() && setuid(65534))
			_exit(99);
		err = area_open(&area, &k);
		if (err == -EACCES && !strstr(kmmv_error(NULL), "group"))
			_exit(98);
		_exit(-err);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(WEXITSTATUS(status), EACCES);
}
END_TEST

void add_files(TCase *tcase)
{
	tcase_add_test(tcase, truncated);
	tcase_add_test(tcase, truncated_memfd);
	tcase_add_test(tcase, truncated_later);
	tcase_add_test(tcase, unsealed_memfd);
	tcase_add_loop_test(tcase, sparse_giant, 0, 2);
	tcase_add_test(tcase, sparse_grows);
	tcase_add_loop_test(tcase, odd_files, 0, 2);
	tcase_add_test(tcase, no_directory);
	tcase_add_loop_test(tcase, not_permitted, 0, 2);
}
