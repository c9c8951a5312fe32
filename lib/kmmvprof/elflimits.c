// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What libelf and libdwfl must not be given, as they trust files: what takes memory or
 * time without bound, and what they read beyond its end.
 */
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elflimits.h"

/* Bytes of a file's symbols, any number in a sparse file. */
#define SYMBOLS_MAX	(256ULL << 20)
/* Bytes of notes, of which one is the build id. */
#define NOTES_MAX	(1ULL << 20)
/* Of memory while libdw reads, which expands what is compressed. */
#define ROOM_MAX	(512ULL << 20)
/* The section of a stripped file's symbols, compressed. */
#define DEBUGDATA	".gnu_debugdata"
/* What the headers were before prelink(8) changed the file. */
#define PRELINK		".gnu.prelink_undo"
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL	8U
#endif

/* ---- before libelf opens it, and before libdwfl does */

static bool is_zero(const unsigned char *bytes, size_t n)
{
	while (n--)
		if (*bytes++)
			return false;
	return true;
}

/*
 * If the header cannot hold the number of sections, it has zero, and the first section
 * has the number. libelf would allocate memory for each when it opens the file. Zero is
 * zero in either byte order.
 */
static int check_header(int file)
{
	unsigned char bytes[sizeof(Elf64_Ehdr)] = { 0 };
	size_t offset, number;

	if (pread(file, bytes, sizeof(bytes), 0) < 0)
		return -ENOEXEC;
	if (memcmp(bytes, ELFMAG, SELFMAG))
		return 0;
	if (bytes[EI_CLASS] == ELFCLASS32) {
		offset = offsetof(Elf32_Ehdr, e_shoff);
		number = offsetof(Elf32_Ehdr, e_shnum);
	} else {
		offset = offsetof(Elf64_Ehdr, e_shoff);
		number = offsetof(Elf64_Ehdr, e_shnum);
	}
	return is_zero(bytes + number, 2) &&
	       !is_zero(bytes + offset, bytes[EI_CLASS] == ELFCLASS32 ? 4 : 8) ?
		       -EFBIG : 0;
}

/* Symbols, and their names. */
static bool is_symbols(const GElf_Shdr *sh)
{
	return sh->sh_type == SHT_SYMTAB || sh->sh_type == SHT_DYNSYM ||
	       sh->sh_type == SHT_STRTAB || sh->sh_type == SHT_SYMTAB_SHNDX;
}

/*
 * Whether the last name of a table ends. If it does not, libelf looks for the end of one
 * before it each time that it looks up a name: through all of the table, for each section.
 */
static bool has_end(Elf_Scn *scn, const GElf_Shdr *sh)
{
	const Elf_Data *data;

	if (sh->sh_type != SHT_STRTAB || !sh->sh_size)
		return true;
	/* libelf keeps it: what the file's owner writes later is not read. */
	data = elf_rawdata(scn, NULL);
	return !data || !data->d_size || !((char *)data->d_buf)[data->d_size - 1];
}

/* Symbols of a stripped file, compressed. */
static bool is_debugdata(Elf *elf, const GElf_Shdr *sh)
{
	const char *name = NULL;
	size_t names;

	if (!elf_getshdrstrndx(elf, &names))
		name = elf_strptr(elf, names, sh->sh_name);
	return name && !strcmp(name, DEBUGDATA);
}

/*
 * Symbol sections are never compressed in practice; a compressed one could expand to
 * any size.
 */
static int check_sections(Elf *elf)
{
	uint64_t total = 0;
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &sh) || !is_symbols(&sh))
			continue;
		if (sh.sh_flags & SHF_COMPRESSED ||
		    sh.sh_size > SYMBOLS_MAX - total || !has_end(scn, &sh))
			return -EFBIG;
		total += sh.sh_size;
	}
	/* With names of sections, which are not too long either. */
	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_size > SYMBOLS_MAX &&
		    is_debugdata(elf, &sh))
			return -EFBIG;
	return 0;
}

int prof_elf_open(int file, Elf **elf)
{
	int err = check_header(file);

	if (err)
		return err;
	*elf = elf_begin(file, ELF_C_READ, NULL);
	if (!*elf)
		return -ENOEXEC;
	err = check_sections(*elf);
	if (err)
		elf_end(*elf);
	return err;
}

/* ---- memory */

/* Bytes of this process's memory, or 0. */
static uint64_t memory_used(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	uint64_t pages = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%" SCNu64, &pages) != 1)
		pages = 0;
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

bool prof_elf_limit_memory(struct rlimit *was)
{
	uint64_t used = memory_used();
	struct rlimit less;

	if (getrlimit(RLIMIT_AS, was))
		was->rlim_cur = was->rlim_max = RLIM_INFINITY;
	less = *was;
	if (!used || less.rlim_cur - used < ROOM_MAX)
		return false;
	less.rlim_cur = used + ROOM_MAX;
	return !setrlimit(RLIMIT_AS, &less);
}

/* ---- what libdwfl is not to find */

/*
 * Take from ELF's memory what libdwfl would look for in a file without sections. It finds
 * the number of dynamic symbols in a time that is the square of the file's length, which
 * may be a hole, and their names have no end; it reads each segment of notes to its end,
 * even if all are one.
 */
static int drop_segments(Elf *elf)
{
	uint64_t left = NOTES_MAX;
	size_t n, i;
	GElf_Phdr ph;

	elf_getphdrnum(elf, &n);
	for (i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, (int)i, &ph))
			continue;
		if (ph.p_type == PT_NOTE && ph.p_filesz <= left)
			left -= ph.p_filesz;
		else if (ph.p_type == PT_NOTE || ph.p_type == PT_DYNAMIC)
			ph.p_type = PT_NULL;
		else
			continue;
		if (!gelf_update_phdr(elf, (int)i, &ph))
			return -ENOMEM;
	}
	return 0;
}

/* Whether symbols are as libdwfl takes them to be, the local ones a part of all. */
static bool has_good_symbols(Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_SYMTAB &&
		    (sh.sh_flags & SHF_COMPRESSED ||
		     sh.sh_entsize != gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT) ||
		     sh.sh_info > sh.sh_size / sh.sh_entsize))
			return false;
	return true;
}

/* Linux before 6.3 does not know the flag, and later ones may insist on it. */
static int memory_file(void)
{
	int fd = memfd_create("debugdata", MFD_CLOEXEC | MFD_NOEXEC_SEAL);

	return fd < 0 && errno == EINVAL ?
		       memfd_create("debugdata", MFD_CLOEXEC) : fd;
}

/* Expand the section SCN, as libdwfl does. */
static bool is_good_debugdata(Elf_Scn *scn)
{
	const Elf_Data *data = elf_rawdata(scn, NULL);
	int fd = data ? memory_file() : -1;
	bool good = false;
	Elf *elf;

	if (fd < 0)
		return false;
	if (write(fd, data->d_buf, data->d_size) == (ssize_t)data->d_size) {
		elf = dwelf_elf_begin(fd);
		good = elf && elf_kind(elf) == ELF_K_ELF && has_good_symbols(elf);
		elf_end(elf);
	}
	close(fd);
	return good;
}

/*
 * Hide sections that libdwfl would take as good. If compressed symbols are not consistent,
 * it frees them, and uses them nevertheless; of what prelink left behind it reads an ELF
 * header, however short it is. libdwfl stops at a section whose name cannot be read: the
 * name is set beyond the table, not to 0, as the table may begin with one of these names.
 */
static int drop_sections(Elf *elf)
{
	size_t names, header = gelf_fsize(elf, ELF_T_EHDR, 1, EV_CURRENT);
	bool good = true, expanded = false;
	Elf_Scn *scn = NULL;
	const char *name;
	GElf_Shdr sh;

	if (elf_getshdrstrndx(elf, &names))
		return 0;
	for (; (scn = elf_nextscn(elf, scn)); good = true) {
		name = gelf_getshdr(scn, &sh) ?
			       elf_strptr(elf, names, sh.sh_name) : NULL;
		if (name && !strcmp(name, PRELINK)) {
			good = sh.sh_size >= header;
		} else if (name && !strcmp(name, DEBUGDATA) && !expanded) {
			/* libdwfl looks at the first one alone. */
			good = is_good_debugdata(scn);
			expanded = true;
		}
		if (good)
			continue;
		sh.sh_name = UINT32_MAX;
		if (!gelf_update_shdr(scn, &sh))
			return -ENOMEM;
	}
	return 0;
}

int prof_elf_hide(Elf *elf)
{
	return drop_segments(elf) ?: drop_sections(elf);
}
