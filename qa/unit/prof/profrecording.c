// SPDX-License-Identifier: GPL-2.0-only
/* How kmmvprof reads a recording, which may be any file. */
#include <sys/mman.h>

#include "../lib/libarea.h"
#include "recording.h"

/* All numbers of the accounts. */
static const char *const numbers[] = {
	"counts.read", "counts.malformed", "counts.overwritten",
	"counts.dropped", "others", "states", "at_first.read",
	"at_first.malformed", "at_first.overwritten", "at_first.dropped",
	"at_last.read", "at_last.malformed", "at_last.overwritten",
	"at_last.dropped", "first.taken", "first.lost", "first.missed",
	"last.taken", "last.lost", "last.missed", "last.freq",
};

static int fd;
static char path[64];

static void setup(void)
{
	fd = memfd_create("recording", MFD_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
}

static void teardown(void)
{
	close(fd);
}

/* A recording of one row, with SIZE bytes of AFTER behind it in its line. */
static void write_recording(char after, size_t size)
{
	char *bytes = malloc(size + 1);
	size_t i;

	ck_assert_ptr_nonnull(bytes);
	memset(bytes, after, size);
	ck_assert_int_gt(dprintf(fd, "{\"kmmvprof\":1,\"accounts\":{"), 0);
	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		dprintf(fd, "\"%s\":\"0\",", numbers[i]);
	dprintf(fd, "\"source\":\"\"}}\n{\"event\":\"e\",\"mode\":\"user\",\"command\":\"c\",\"process\":\"1\",\"thread\":\"1\",\"cpu\":\"0\",\"image\":\"i\",\"symbol\":\"s\",\"stack\":\"\",\"samples\":\"3\",\"period\":\"4\"}");
	ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
	dprintf(fd, "\n{\"end\":\"1\"}\n");
	free(bytes);
}

static int read_recording(struct prof_profile *p)
{
	memset(p, 0, sizeof(*p));
	prof_table_init(&p->table, PROF_PARTS_ALL, 10);
	prof_table_init(&p->notes,
			1U << PROF_PART_IMAGE | 1U << PROF_PART_SYMBOL, 10);
	return prof_recording_read(path, (1U << PROF_SAMPLE_MODES) - 1, NULL, p);
}

static void fini(struct prof_profile *p)
{
	prof_table_free(&p->table);
	prof_table_free(&p->notes);
}

START_TEST(a_row)
{
	struct prof_profile p;

	write_recording(' ', 100);
	ck_assert_int_eq(read_recording(&p), 0);
	ck_assert_uint_eq(p.table.nr, 1);
	ck_assert_uint_eq(p.table.samples, 3);
	ck_assert_uint_eq(p.table.period, 4);
	fini(&p);
}
END_TEST

/* A file may be a hole, all of which would be one line. */
START_TEST(long_line)
{
	struct prof_profile p;

	write_recording(' ', 1 << 20);
	ck_assert_int_eq(read_recording(&p), -1);
	ck_assert_uint_eq(p.table.nr, 0);
	fini(&p);
}
END_TEST

/* What is behind a NUL is not left out. */
START_TEST(zero_byte)
{
	struct prof_profile p;
	off_t length;

	write_recording('\0', 1);
	ck_assert_int_eq(read_recording(&p), -1);
	fini(&p);
	/* Nor behind the last line, which has no newline then. */
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	lseek(fd, 0, SEEK_SET);
	write_recording(' ', 1);
	length = lseek(fd, 0, SEEK_CUR);
	ck_assert_int_eq(pwrite(fd, "\0more", 5, length - 1), 5);
	ck_assert_int_eq(read_recording(&p), -1);
	fini(&p);
	/* Nor a line that begins with one. */
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	ck_assert_int_eq(pwrite(fd, "\0\n", 2, 0), 2);
	ck_assert_int_eq(read_recording(&p), -1);
	fini(&p);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("profrecording");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, a_row);
	tcase_add_test(tcase, long_line);
	tcase_add_test(tcase, zero_byte);
	return run_suite("profrecording", tcase);
}
