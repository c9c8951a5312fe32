// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions of a program's file, as kmmvprof finds them. If the input does not
 * begin as ELF does, there are two files, and bytes 1 and 2 say how long the first one,
 * the program, is. If byte 0 is even, the second one is the debugging information that a
 * build id of 01 02 03, or a link to "link.debug", leads to. If it is odd, the second one
 * is compressed, and the last section of the program, if it is of 64 bits. If the input
 * has an odd length, no path leads to the program, but its mapping does.
 */
#include <check.h>
#include <elf.h>
#include <lzma.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>

#include "../unit/lib/libarea.h"
#include "image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Memory is limited while a file is read: what is beyond is an error. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

enum {
	NAME_MAX_SHOWN = 1023,
	/* Offsets at which functions are looked for. */
	OFFSETS = 256,
	DESCRIPTORS = 64,
};

static const char *const folders[] = {
	"", "/.build-id", "/.build-id/01",
};

static const char *const links[] = {
	"/.build-id/01/0203.debug", "/link.debug",
};

enum { FOLDERS = sizeof(folders) / sizeof(*folders) };
enum { LINKS = sizeof(links) / sizeof(*links) };

static char dir[64];
static int program = -1, debug;

static const char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s%s", dir, name);
	return path;
}

static void end(void)
{
	int i;

	for (i = 0; i < LINKS; i++)
		unlink(path_of(links[i]));
	for (i = FOLDERS; i--;)
		rmdir(path_of(folders[i]));
}

static void begin(void)
{
	char target[64];
	int i;

	program = memfd_create("program", MFD_CLOEXEC);
	debug = memfd_create("debug", MFD_CLOEXEC);
	ck_assert(program >= 0 && debug >= 0);
	snprintf(dir, sizeof(dir), "%s/elf.XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	for (i = 1; i < FOLDERS; i++)
		ck_assert_int_eq(mkdir(path_of(folders[i]), 0755), 0);
	snprintf(target, sizeof(target), "/proc/self/fd/%d", debug);
	for (i = 0; i < LINKS; i++)
		ck_assert_int_eq(symlink(target, path_of(links[i])), 0);
	atexit(end);
}

static void put(int fd, const uint8_t *bytes, size_t n)
{
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	ck_assert_int_eq(pwrite(fd, bytes, n, 0), (ssize_t)n);
}

/* Put BYTES, compressed, at the end of the program of SIZE bytes, as its last section. */
static void put_last_section(const uint8_t *bytes, size_t n, size_t size)
{
	static uint8_t packed[1 << 16];
	size_t length = 0;
	Elf64_Ehdr eh;
	Elf64_Shdr sh;
	off_t at;

	if (pread(program, &eh, sizeof(eh), 0) != sizeof(eh) || !eh.e_shnum)
		return;
	at = (off_t)(eh.e_shoff + (eh.e_shnum - 1) * sizeof(sh));
	if (pread(program, &sh, sizeof(sh), at) != sizeof(sh) ||
	    lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, bytes, n, packed,
				    &length, sizeof(packed)) != LZMA_OK)
		return;
	sh.sh_offset = size;
	sh.sh_size = length;
	ck_assert_int_eq(pwrite(program, &sh, sizeof(sh), at), sizeof(sh));
	ck_assert_int_eq(pwrite(program, packed, length, (off_t)size),
			 (ssize_t)length);
}

/* A name, or the name of what is not known and a note that says why. */
static const char *look(struct prof_images *images,
			const struct prof_mapped *mapped, uint64_t offset)
{
	uint64_t before = images->notes->samples;
	const char *name = prof_images_function(images, mapped, offset);
	const struct prof_table *notes = images->notes;

	ck_assert_ptr_nonnull(name);
	ck_assert_uint_gt(strlen(name), 0);
	ck_assert_uint_le(strlen(name), NAME_MAX_SHOWN);
	ck_assert_uint_le(notes->samples - before, 1);
	if (notes->samples == before)
		return name;
	ck_assert_str_eq(name, PROF_IMAGE_UNKNOWN);
	ck_assert_uint_ge(strlen(notes->rows[notes->nr - 1]
					 .part[PROF_PART_SYMBOL]), 10);
	return name;
}

/*
 * All of a small file, the values in it, as each might be an offset of a segment, and
 * none.
 */
static void look_around(struct prof_images *images,
			const struct prof_mapped *mapped, const uint8_t *bytes,
			size_t n)
{
	size_t step = n / OFFSETS + 1, at;
	const char *name;
	uint64_t value;

	for (at = 0; at < n; at += step)
		look(images, mapped, at);
	for (at = 0; at + 8 <= n; at += (step + 7) / 8 * 8) {
		memcpy(&value, bytes + at, 8);
		name = look(images, mapped, value);
		/* A file that was read is asked again. */
		ck_assert_ptr_eq(look(images, mapped, value), name);
	}
	look(images, mapped, UINT64_MAX);
}

/* A bit for each of the first descriptors that is open. */
static uint64_t descriptors(void)
{
	uint64_t open = 0;
	int fd;

	for (fd = 0; fd < DESCRIPTORS; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			open |= 1ULL << fd;
	return open;
}

/* The limit on memory and the descriptors are as before. */
static void check_left(const struct rlimit *was, uint64_t open)
{
	struct rlimit is;

	ck_assert_int_eq(getrlimit(RLIMIT_AS, &is), 0);
	ck_assert_uint_eq(is.rlim_cur, was->rlim_cur);
	ck_assert_uint_eq(descriptors(), open);
}

static void read_program(const uint8_t *bytes, size_t n, const char *path)
{
	struct prof_mapped mapped = {
		.path = path,
		.process = (uint64_t)getpid(),
	};
	struct prof_images images;
	struct prof_table notes;
	struct rlimit was;
	uint64_t open = descriptors();
	struct stat st;

	ck_assert_int_eq(getrlimit(RLIMIT_AS, &was), 0);
	ck_assert_int_eq(fstat(program, &st), 0);
	mapped.major = major(st.st_dev);
	mapped.minor = minor(st.st_dev);
	mapped.inode = st.st_ino;
	prof_table_init(&notes, 1U << PROF_PART_IMAGE | 1U << PROF_PART_SYMBOL,
			10);
	prof_images_init(&images, dir, &notes);
	look_around(&images, &mapped, bytes, n);
	check_left(&was, open);
	ck_assert_uint_eq(images.nr, 1);
	prof_images_free(&images);
	prof_table_free(&notes);
}

/* Make the files. Return: the program's bytes, of *N, NULL if it is no such input. */
static const uint8_t *put_files(const uint8_t *data, size_t size, size_t *n)
{
	const uint8_t *bytes = data, *second;

	*n = size;
	if (*data != ELFMAG0) {
		if (size < 3)
			return NULL;
		*n = data[1] | (size_t)data[2] << 8;
		bytes += 3;
		size -= 3;
	}
	if (*n > size)
		return NULL;
	second = bytes + *n;
	size -= *n;
	put(program, bytes, *n);
	put(debug, second, *data % 2 ? 0 : size);
	if (*data % 2 && size)
		put_last_section(second, size, *n);
	return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *bytes;
	char path[64];
	void *at;
	size_t n;

	if (program < 0)
		begin();
	bytes = size ? put_files(data, size, &n) : NULL;
	if (!bytes)
		return -1;
	if (size % 2) {
		at = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, program, 0);
		ck_assert_ptr_ne(at, MAP_FAILED);
		read_program(bytes, n, "/nonexistent");
		munmap(at, PAGE);
	} else {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", program);
		read_program(bytes, n, path);
	}
	return 0;
}
