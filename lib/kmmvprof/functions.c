// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The functions of an ELF file. libdwfl finds the symbols; they are copied, so
 * that no file stays open.
 */
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "elflimits.h"
#include "functions.h"

/* No real program has more; files are not trusted. */
enum { SEGMENTS_MAX = 1024, NAME_MAX_SHOWN = 1023 };
/* Bytes of a file's functions. */
#define FUNCTIONS_MAX	(256ULL << 20)

struct segment {
	uint64_t offset, size, address;
};

struct function {
	uint64_t address, size;
	uint64_t reach;		/* without a size: bytes to its section's end */
	uint64_t end;		/* greatest end of a block, see block_of() */
	size_t name;		/* in names */
	unsigned int rank;	/* of several at one address, the lowest wins */
};

struct prof_functions {
	struct segment *segments;
	size_t nr_segments;
	struct function *by_address;
	size_t nr, room;
	char *names;
	size_t names_used, names_room;
};

/* ---- segments */

static int read_segments(struct prof_functions *f, Elf *elf)
{
	GElf_Ehdr header;
	GElf_Phdr ph;
	size_t n, i;

	/* Other kinds are not mapped by exec, and libdwfl would relocate them. */
	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header) ||
	    (header.e_type != ET_EXEC && header.e_type != ET_DYN))
		return -ENOEXEC;
	if (elf_getphdrnum(elf, &n) || !n || n > SEGMENTS_MAX)
		return -ENOEXEC;
	f->segments = calloc(n, sizeof(*f->segments));
	if (!f->segments)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD ||
		    !(ph.p_flags & PF_X))
			continue;
		f->segments[f->nr_segments++] = (struct segment){
			ph.p_offset, ph.p_filesz, ph.p_vaddr
		};
	}
	return f->nr_segments ? 0 : -ENOEXEC;
}

static bool address_of(const struct prof_functions *f, uint64_t offset,
		       uint64_t *address)
{
	const struct segment *s;

	for (s = f->segments; s < f->segments + f->nr_segments; s++) {
		if (offset < s->offset || offset - s->offset >= s->size)
			continue;
		*address = s->address + (offset - s->offset);
		return true;
	}
	return false;
}

static bool is_code(const struct prof_functions *f, uint64_t address)
{
	const struct segment *s;

	for (s = f->segments; s < f->segments + f->nr_segments; s++)
		if (address >= s->address && address - s->address < s->size)
			return true;
	return false;
}

/* ---- symbols */

/*
 * Of aliases take a sized one, then the more public one, then the one with fewer
 * underscores in front: write rather than __write. At most 99 underscores count, so
 * that they do not outweigh the rest.
 */
static unsigned int rank_of(const GElf_Sym *sym, const char *name)
{
	unsigned int rank = sym->st_size ? 0 : 1000;
	size_t n;

	if (GELF_ST_TYPE(sym->st_info) == STT_NOTYPE)
		rank += 500;
	switch (GELF_ST_BIND(sym->st_info)) {
	case STB_GLOBAL:
		break;
	case STB_WEAK:
		rank += 100;
		break;
	default:
		rank += 200;
	}
	n = strspn(name, "_");
	return rank + (unsigned int)(n < 99 ? n : 99);
}

static int add_name(struct prof_functions *f, const char *name, size_t *at)
{
	size_t n = strnlen(name, NAME_MAX_SHOWN), room = f->names_room;
	char *names;

	/* Any number of symbols can have the same long name. */
	if (n >= FUNCTIONS_MAX - f->names_used)
		return -EFBIG;
	while (room - f->names_used <= n)
		room = room ? room * 2 : 4096;
	if (room != f->names_room) {
		names = realloc(f->names, room);
		if (!names)
			return -ENOMEM;
		f->names = names;
		f->names_room = room;
	}
	*at = f->names_used;
	memcpy(f->names + *at, name, n);
	f->names[*at + n] = '\0';
	f->names_used += n + 1;
	return 0;
}

/* How far a label may reach, which is no further than its section. */
static uint64_t reach_of(const GElf_Sym *sym, Elf *elf, GElf_Word section)
{
	Elf_Scn *scn = elf_getscn(elf, section);
	uint64_t end;
	GElf_Shdr sh;

	if (sym->st_size || !scn || !gelf_getshdr(scn, &sh))
		return 0;
	end = sh.sh_addr + sh.sh_size;
	return sym->st_value >= sh.sh_addr && sym->st_value < end ?
		       end - sym->st_value : 0;
}

/* The table of strings that the symbols of ELF have. */
struct strings {
	const Elf *elf;
	const char *bytes;
	size_t size;
};

static bool has(const struct strings *strings, const char *name)
{
	return (uintptr_t)name - (uintptr_t)strings->bytes < strings->size;
}

static void find_strings(struct strings *strings, Elf *elf, const char *name)
{
	Elf_Scn *scn = NULL;
	Elf_Data *data;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_STRTAB)
			continue;
		data = elf_getdata(scn, NULL);
		if (!data || !data->d_buf)
			continue;
		*strings = (struct strings){ elf, data->d_buf, data->d_size };
		if (has(strings, name))
			return;
	}
	*strings = (struct strings){ .elf = elf };
}

/*
 * Copy NAME, which begins within a table of strings of ELF but need not end there: libdwfl
 * does not check that the table ends with a NUL. False if the table of ELF's symbols does
 * not have it.
 */
static bool copy_name(struct strings *strings, Elf *elf, const char *name,
		      char copy[NAME_MAX_SHOWN + 1])
{
	size_t n;

	/* Once for each file: there can be a million tables, and of symbols. */
	if (strings->elf != elf)
		find_strings(strings, elf, name);
	if (!has(strings, name))
		return false;
	n = strings->size - (size_t)(name - strings->bytes);
	n = strnlen(name, n < NAME_MAX_SHOWN ? n : NAME_MAX_SHOWN);
	memcpy(copy, name, n);
	copy[n] = '\0';
	return true;
}

static int add(struct prof_functions *f, const GElf_Sym *sym,
	       const char *name, uint64_t address, uint64_t reach)
{
	struct function *larger;
	size_t room, at;
	int err;

	if (f->nr == f->room) {
		room = f->room ? f->room * 2 : 64;
		if (room > FUNCTIONS_MAX / sizeof(*larger))
			return -EFBIG;
		larger = reallocarray(f->by_address, room, sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		f->by_address = larger;
		f->room = room;
	}
	err = add_name(f, name, &at);
	if (err)
		return err;
	f->by_address[f->nr++] = (struct function){
		.address = address,
		.size = sym->st_size,
		.reach = reach,
		.name = at,
		.rank = rank_of(sym, name),
	};
	return 0;
}

/* Labels of assembly have no type; those of ARM's mapping begin with '$'. */
static bool is_function(const GElf_Sym *sym, const char *name)
{
	int type = GELF_ST_TYPE(sym->st_info);

	return name && *name && *name != '$' && sym->st_shndx != SHN_UNDEF &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC ||
		type == STT_NOTYPE);
}

static int read_symbols(struct prof_functions *f, Dwfl_Module *module)
{
	int n = dwfl_module_getsymtab(module), i, err;
	struct strings strings = { NULL };
	char copy[NAME_MAX_SHOWN + 1];
	GElf_Addr address, bias;
	GElf_Word section;
	const char *name;
	GElf_Sym sym;
	Elf *elf;

	/* A file without symbols is no error. */
	if (!dwfl_module_getelf(module, &bias))
		return 0;
	for (i = 0; i < n; i++) {
		name = dwfl_module_getsym_info(module, i, &sym, &address,
					       &section, &elf, NULL);
		if (!is_function(&sym, name) || !is_code(f, address - bias))
			continue;
		if (!copy_name(&strings, elf, name, copy))
			continue;
		err = add(f, &sym, copy, address - bias,
			  reach_of(&sym, elf, section));
		if (err)
			return err;
	}
	return 0;
}

static int compare(const void *one, const void *two)
{
	const struct function *a = one, *b = two;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	/* The larger of two contains the other, which is found first. */
	if (a->size != b->size && a->size && b->size)
		return a->size > b->size ? -1 : 1;
	/* The one that is taken comes last. */
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return (a->name < b->name) - (a->name > b->name);
}

/*
 * Functions may overlap in any way, and one may reach over all others. Blocks as in a
 * Fenwick tree find the one that contains an address in a few steps: the block that ends
 * with function N, counted from 1, has as many functions as the lowest bit of N says.
 */
static size_t block_of(size_t n)
{
	return n & -n;
}

static void sort(struct prof_functions *f)
{
	struct function *at, *larger;
	size_t n, next;

	if (f->nr)
		qsort(f->by_address, f->nr, sizeof(*f->by_address), compare);
	for (n = 1; n <= f->nr; n++) {
		at = &f->by_address[n - 1];
		if (at->size > UINT64_MAX - at->address)
			at->size = UINT64_MAX - at->address;
		at->end = at->address + at->size;
	}
	/* Each block is a part of the one that ends NEXT. */
	for (n = 1; n <= f->nr; n++) {
		next = n + block_of(n);
		if (next > f->nr)
			continue;
		at = &f->by_address[n - 1];
		larger = &f->by_address[next - 1];
		if (larger->end < at->end)
			larger->end = at->end;
	}
}

/* ---- libdwfl */

/* Give libdwfl our ELF handle, which it ends: one of its own would map the file. */
static int find_elf(Dwfl_Module *module, void **userdata, const char *name,
		    Dwarf_Addr base, char **file_name, Elf **elfp)
{
	Elf **ours = *userdata;

	(void)module;
	(void)base;
	*file_name = strdup(name);
	*elfp = *ours;
	*ours = NULL;
	return -1;
}

/*
 * A file with debugging information has the same limits. The owner of the program's
 * file chooses its name, and how long a check of it takes: it is only looked for in the
 * directories that are meant for it.
 */
static int find_debuginfo(Dwfl_Module *module, void **userdata,
			  const char *modname, Dwarf_Addr base,
			  const char *file_name, const char *link, GElf_Word crc,
			  char **debuginfo)
{
	Elf *elf;
	int fd;

	if (link && strchr(link, '/'))
		return -1;
	fd = dwfl_standard_find_debuginfo(module, userdata, modname, base,
					  file_name, link, crc, debuginfo);
	if (fd < 0)
		return fd;
	if (!prof_elf_open(fd, &elf)) {
		elf_end(elf);
		return fd;
	}
	close(fd);
	free(*debuginfo);
	*debuginfo = NULL;
	return -1;
}

static int with_dwfl(struct prof_functions *f, Dwfl *dwfl, Elf **elf)
{
	uint64_t low = UINT64_MAX, high = 0;
	Dwfl_Module *module;
	void **userdata;
	size_t n, i;
	GElf_Phdr ph;

	/* The module is where it was linked for: its first segment's page. */
	elf_getphdrnum(*elf, &n);
	for (i = 0; i < n; i++) {
		if (!gelf_getphdr(*elf, (int)i, &ph) || ph.p_type != PT_LOAD)
			continue;
		if (low == UINT64_MAX)
			low = ph.p_align ? ph.p_vaddr & -ph.p_align :
					   ph.p_vaddr;
		if (ph.p_vaddr + ph.p_memsz > high)
			high = ph.p_vaddr + ph.p_memsz;
	}
	if (low >= high)
		return -ENOEXEC;
	if (prof_elf_hide(*elf))
		return -ENOMEM;
	dwfl_report_begin(dwfl);
	module = dwfl_report_module(dwfl, "image", low, high);
	if (!module)
		return -ENOMEM;
	dwfl_module_info(module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
	*userdata = elf;
	dwfl_report_end(dwfl, NULL, NULL);
	return read_symbols(f, module);
}

static int read_limited(struct prof_functions *f, int file,
			const char *debug_dir)
{
	/*
	 * Not a relative path: it would be beside the file, which anyone may
	 * own.
	 */
	char *places = (char *)debug_dir;
	const Dwfl_Callbacks callbacks = {
		.find_elf = find_elf,
		.find_debuginfo = find_debuginfo,
		.debuginfo_path = &places,
	};
	Dwfl *dwfl;
	Elf *elf;
	int err;

	elf_version(EV_CURRENT);
	err = prof_elf_open(file, &elf);
	if (err)
		return err;
	err = read_segments(f, elf);
	if (err)
		goto end;
	err = -ENOMEM;
	dwfl = dwfl_begin(&callbacks);
	if (!dwfl)
		goto end;
	err = with_dwfl(f, dwfl, &elf);
	dwfl_end(dwfl);
end:
	elf_end(elf);
	return err;
}

static int read_elf(struct prof_functions *f, int file, const char *debug_dir)
{
	struct rlimit was;
	bool limited = prof_elf_limit_memory(&was);
	int err = read_limited(f, file, debug_dir);

	if (!limited)
		return err;
	setrlimit(RLIMIT_AS, &was);
	return err == -ENOMEM ? -EFBIG : err;
}

int prof_functions_open(int file, const char *debug_dir,
			struct prof_functions **functions)
{
	struct prof_functions *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return -ENOMEM;
	err = read_elf(f, file, debug_dir);
	if (err) {
		prof_functions_close(f);
		return err;
	}
	sort(f);
	*functions = f;
	return 0;
}

void prof_functions_close(struct prof_functions *functions)
{
	if (!functions)
		return;
	free(functions->segments);
	free(functions->by_address);
	free(functions->names);
	free(functions);
}

size_t prof_functions_bytes(const struct prof_functions *functions)
{
	return functions->room * sizeof(*functions->by_address) +
	       functions->names_room;
}

size_t prof_functions_nr(const struct prof_functions *functions)
{
	return functions->nr;
}

/* The number of functions that begin at ADDRESS or before. */
static size_t begun(const struct prof_functions *f, uint64_t address)
{
	size_t low = 0, high = f->nr, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (f->by_address[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const char *prof_functions_at(const struct prof_functions *f, uint64_t offset)
{
	const struct function *at;
	uint64_t address;
	size_t n, i;

	if (!address_of(f, offset, &address))
		return NULL;
	n = begun(f, address);
	/* The innermost that contains the address. */
	for (i = n; i; i -= at->end > address ? 1 : block_of(i)) {
		at = &f->by_address[i - 1];
		if (address - at->address < at->size)
			return f->names + at->name;
	}
	/* A label without a size ends where the next symbol begins. */
	if (!n)
		return NULL;
	at = &f->by_address[n - 1];
	return address - at->address < at->reach ? f->names + at->name : NULL;
}
