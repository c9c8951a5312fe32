// SPDX-License-Identifier: GPL-2.0-only
/* How kmmvprof finds the functions of a file, which is not trusted. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <lzma.h>
#include <unistd.h>

#include "proffiles.h"

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

uint64_t offset_of(const void *function)
{
	struct dl_find_object found;

	ck_assert_int_eq(_dl_find_object((void *)function, &found), 0);
	return offset_of_address((uintptr_t)function -
				 found.dlfo_link_map->l_addr);
}

int open_functions(struct prof_functions **f)
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
	/* Of 32 bits, with more sections than its header can count; of no bits. */
	copy[EI_CLASS] = ELFCLASS32;
	((Elf32_Ehdr *)copy)->e_shoff = 1;
	((Elf32_Ehdr *)copy)->e_shnum = 0;
	write_file(copy, length);
	ck_assert_int_eq(open_functions(&f), -EFBIG);
	copy[EI_CLASS] = ELFCLASSNONE;
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
	const ElfW(Off) most = (ElfW(Off))(sizeof(most) > 4 ? 8ULL << 30 : 1ULL << 30);
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

/* A copy of this program with other symbols, whose names are NAMES. */
static void write_symbols(const ElfW(Sym) *sym, size_t nr, const char *names,
			  size_t names_size)
{
	ElfW(Shdr) *symbols = section_of(SHT_SYMTAB), *strings;
	size_t start = (length + 7) / 8 * 8, size = nr * sizeof(*sym);
	char *copy = calloc(1, start + size + names_size);

	ck_assert_ptr_nonnull(copy);
	strings = (ElfW(Shdr) *)(bytes + ((ElfW(Ehdr) *)bytes)->e_shoff) +
		  symbols->sh_link;
	symbols->sh_offset = start;
	symbols->sh_size = size;
	symbols->sh_info = 0;
	strings->sh_offset = start + size;
	strings->sh_size = names_size;
	memcpy(copy, bytes, length);
	memcpy(copy + start, sym, size);
	memcpy(copy + start + size, names, names_size);
	write_file(copy, start + size + names_size);
	free(copy);
}

static ElfW(Sym) function_of(uint64_t address, uint64_t size, unsigned int name)
{
	return (ElfW(Sym)){
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		.st_shndx = 1,
		.st_value = address,
		.st_size = size,
		.st_name = name,
	};
}

/* A few megabytes: all symbols have one name, which is longer than what is kept. */
START_TEST(same_name)
{
	enum { SYMBOLS = 300000, NAME = 1 << 12 };
	ElfW(Sym) *sym = calloc(SYMBOLS, sizeof(*sym));
	uint64_t entry = ((ElfW(Ehdr) *)bytes)->e_entry;
	struct prof_functions *f;
	char names[NAME];
	size_t i;

	ck_assert_ptr_nonnull(sym);
	for (i = 0; i < SYMBOLS; i++)
		sym[i] = function_of(entry, 1, 1);
	memset(names, 'a', NAME);
	names[0] = names[NAME - 1] = '\0';
	write_symbols(sym, SYMBOLS, names, NAME);
	ck_assert_int_eq(open_functions(&f), -EFBIG);
	/* The same, a few times: a long name is cut. */
	write_symbols(sym, 3, names, NAME);
	ck_assert_int_eq(open_functions(&f), 0);
	ck_assert_uint_eq(strlen(prof_functions_at(f, offset_of_address(entry))),
			  1023);
	prof_functions_close(f);
	/* The last name does not end. */
	names[NAME - 1] = 'a';
	write_symbols(sym, 3, names, NAME);
	ck_assert_int_eq(open_functions(&f), -EFBIG);
	free(sym);
}
END_TEST

/* The last of those that contain ADDRESS; those that contain more come first. */
static size_t innermost(const ElfW(Sym) *sym, size_t nr, uint64_t address)
{
	size_t i, found = nr;

	for (i = 0; i < nr; i++) {
		if (address < sym[i].st_value ||
		    address - sym[i].st_value >= sym[i].st_size)
			continue;
		if (found == nr || sym[i].st_value > sym[found].st_value ||
		    (sym[i].st_value == sym[found].st_value &&
		     sym[i].st_size < sym[found].st_size))
			found = i;
	}
	return found;
}

/* Functions overlap in any way. */
START_TEST(overlapping)
{
	enum { SYMBOLS = 150, BYTES = 600 };
	uint64_t entry = ((ElfW(Ehdr) *)bytes)->e_entry, at;
	ElfW(Sym) sym[SYMBOLS];
	struct prof_functions *f;
	unsigned int round, found;
	char names[8 * SYMBOLS];
	const char *name;
	size_t i, nr;

	srandom(7);
	for (i = 0; i < SYMBOLS; i++)
		snprintf(names + 8 * i, 8, "f%zu", i);
	for (round = 0; round < 40; round++) {
		nr = (size_t)random() % SYMBOLS + 1;
		for (i = 0; i < nr; i++) {
			sym[i] = function_of(entry + (uint64_t)random() % BYTES,
					     1ULL << random() % 9,
					     (unsigned int)(8 * i));
			sym[i].st_size += (uint64_t)random() % 8;
		}
		write_symbols(sym, nr, names, sizeof(names));
		ck_assert_int_eq(open_functions(&f), 0);
		for (at = entry; at < entry + BYTES; at++) {
			name = prof_functions_at(f, offset_of_address(at));
			i = innermost(sym, nr, at);
			ck_assert(!name == (i == nr));
			if (!name)
				continue;
			/* Of aliases it is any. */
			ck_assert_int_eq(sscanf(name, "f%u", &found), 1);
			ck_assert_uint_eq(sym[found].st_value, sym[i].st_value);
			ck_assert_uint_eq(sym[found].st_size, sym[i].st_size);
		}
		prof_functions_close(f);
	}
}
END_TEST

/* One that contains all of them does not make looking for it take longer. */
START_TEST(long_function)
{
	enum { SYMBOLS = 1000000, LOOKS = 1000000 };
	ElfW(Sym) *sym = calloc(SYMBOLS, sizeof(*sym));
	uint64_t entry = ((ElfW(Ehdr) *)bytes)->e_entry;
	struct prof_functions *f;
	size_t i;

	ck_assert_ptr_nonnull(sym);
	sym[0] = function_of(entry, 1000, 1);
	for (i = 1; i < SYMBOLS; i++)
		sym[i] = function_of(entry + 1, 1, 3);
	write_symbols(sym, SYMBOLS, "\0a\0b", 5);
	ck_assert_int_eq(open_functions(&f), 0);
	for (i = 0; i < LOOKS; i++)
		ck_assert_str_eq(prof_functions_at(f, offset_of_address(entry + 2 +
								     i % 500)),
				 "a");
	prof_functions_close(f);
	free(sym);
}
END_TEST

/* Compress SIZE bytes. */
static uint8_t *pack(const void *from, size_t size, size_t *packed)
{
	size_t room = lzma_stream_buffer_bound(size);
	uint8_t *to = malloc(room);

	ck_assert_ptr_nonnull(to);
	*packed = 0;
	ck_assert_int_eq(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, from,
						 size, to, packed, room),
			 LZMA_OK);
	return to;
}

static ElfW(Shdr) *section_named(const char *name)
{
	const ElfW(Ehdr) *eh = (void *)bytes;
	ElfW(Shdr) *sh = (void *)(bytes + eh->e_shoff);
	const char *names = bytes + sh[eh->e_shstrndx].sh_offset;
	unsigned int i;

	for (i = 1; i < eh->e_shnum; i++)
		if (!strcmp(names + sh[i].sh_name, name))
			return &sh[i];
	ck_abort_msg("no section %s", name);
}

/*
 * This program, stripped, with its symbols in a compressed section. 0: they are good; 1:
 * there are fewer than local ones; 2: the same, and the section has the first name; 3:
 * the last name does not end; 4: they have another entry point, and there is a section of
 * prelink(8) that is too short.
 */
START_TEST(compressed)
{
	static char names[] = "\0.gnu_debugdata\0.gnu.prelink_undo";
	ElfW(Ehdr) *eh = (void *)bytes;
	ElfW(Shdr) *sh = (void *)(bytes + eh->e_shoff);
	ElfW(Shdr) *symbols = section_of(SHT_SYMTAB);
	/* Two sections that nothing needs. */
	ElfW(Shdr) *debugdata = section_named(".note.gnu.build-id");
	ElfW(Shdr) *undo = section_named(".comment");
	struct prof_functions *f;
	char *copy, *last;
	const char *found;
	uint8_t *packed;
	size_t size;

	if (_i == 1 || _i == 2)
		symbols->sh_info = symbols->sh_size / sizeof(ElfW(Sym)) + 1;
	last = bytes + sh[symbols->sh_link].sh_offset +
	       sh[symbols->sh_link].sh_size - 1;
	if (_i == 3)
		*last = '_';
	eh->e_entry += _i == 4;
	packed = pack(bytes, length, &size);
	*last = '\0';
	eh->e_entry -= _i == 4;
	symbols->sh_type = SHT_PROGBITS;
	sh[eh->e_shstrndx].sh_offset = length + (_i == 2);
	sh[eh->e_shstrndx].sh_size = sizeof(names) - (_i == 2);
	for (; sh < (ElfW(Shdr) *)(bytes + eh->e_shoff) + eh->e_shnum; sh++)
		sh->sh_name = _i == 2 ? 14 : 0;
	debugdata->sh_name = _i == 2 ? 0 : 1;
	debugdata->sh_offset = length + sizeof(names);
	debugdata->sh_size = size;
	if (_i == 4) {
		undo->sh_name = 16;
		undo->sh_size = 1;
	}
	copy = malloc(length + sizeof(names) + size);
	ck_assert_ptr_nonnull(copy);
	memcpy(copy, bytes, length);
	memcpy(copy + length, names, sizeof(names));
	memcpy(copy + length + sizeof(names), packed, size);
	write_file(copy, length + sizeof(names) + size);
	ck_assert_int_eq(open_functions(&f), 0);
	found = prof_functions_at(f, offset_of(open_functions));
	if (!_i || _i == 3) {
		ck_assert_ptr_nonnull(found);
		ck_assert_str_eq(found, "open_functions");
	} else {
		ck_assert_ptr_null(found);
	}
	prof_functions_close(f);
	free(packed);
	free(copy);
}
END_TEST

/* A file without sections, which programs run as well. */
struct bare {
	ElfW(Ehdr) eh;
	ElfW(Phdr) load, dynamic, notes[1000];
	ElfW(Dyn) dyn[5];
	ElfW(Sym) sym[2];
	char names[16];
	uint32_t hash[6];
};

static void make_bare(struct bare *bare, size_t hole)
{
	enum { ADDRESS = 0x10000 };
	ElfW(Sym) *sym = &bare->sym[1];

	memset(bare, 0, sizeof(*bare));
	memcpy(&bare->eh, bytes, sizeof(bare->eh));
	bare->eh.e_type = ET_DYN;
	bare->eh.e_phoff = offsetof(struct bare, load);
	bare->eh.e_phnum = 2 + sizeof(bare->notes) / sizeof(*bare->notes);
	bare->eh.e_shoff = bare->eh.e_shnum = bare->eh.e_shstrndx = 0;
	bare->load = (ElfW(Phdr)){
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_vaddr = ADDRESS,
		.p_filesz = sizeof(*bare) + hole,
		.p_memsz = sizeof(*bare) + hole,
		.p_align = 4096,
	};
	bare->dynamic = (ElfW(Phdr)){
		.p_type = PT_DYNAMIC,
		.p_offset = offsetof(struct bare, dyn),
		.p_filesz = sizeof(bare->dyn),
	};
	bare->dyn[0].d_tag = DT_SYMTAB;
	bare->dyn[0].d_un.d_ptr = ADDRESS + offsetof(struct bare, sym);
	bare->dyn[1].d_tag = DT_STRTAB;
	bare->dyn[1].d_un.d_ptr = ADDRESS + offsetof(struct bare, names);
	bare->dyn[2].d_tag = DT_STRSZ;
	bare->dyn[2].d_un.d_val = 4;
	memset(bare->names, 'a', sizeof(bare->names));
	*sym = function_of(ADDRESS + offsetof(struct bare, names), 4, 1);
}

/*
 * 0: the names do not end; 1: the hash table has no end before the file's; 2: a thousand
 * segments of notes, each all of a file that takes no room on the disk.
 */
START_TEST(no_sections)
{
	static struct bare bare;
	size_t hole = _i ? 400 << 20 : 0, i;
	struct prof_functions *f;

	make_bare(&bare, hole);
	if (_i == 1) {
		bare.dyn[3].d_tag = DT_GNU_HASH;
		bare.dyn[3].d_un.d_ptr = bare.load.p_vaddr +
					 offsetof(struct bare, hash);
		bare.hash[0] = 1;
	}
	for (i = 0; _i == 2 && i < sizeof(bare.notes) / sizeof(*bare.notes); i++)
		bare.notes[i] = (ElfW(Phdr)){
			.p_type = PT_NOTE,
			.p_offset = sizeof(bare),
			.p_filesz = hole,
		};
	write_file((char *)&bare, sizeof(bare));
	ck_assert_int_eq(truncate(path, (off_t)(sizeof(bare) + hole)), 0);
	ck_assert_int_eq(open_functions(&f), 0);
	ck_assert_uint_eq(prof_functions_nr(f), 0);
	prof_functions_close(f);
}
END_TEST

void add_functions(TCase *tcase)
{
	tcase_add_test(tcase, functions);
	tcase_add_test(tcase, hostile);
	tcase_add_loop_test(tcase, sparse, 0, 5);
	tcase_add_test(tcase, same_name);
	tcase_add_test(tcase, overlapping);
	tcase_add_test(tcase, long_function);
	tcase_add_loop_test(tcase, compressed, 0, 5);
	tcase_add_loop_test(tcase, no_sections, 0, 3);
}
