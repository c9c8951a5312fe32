/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions of an ELF file, by file offset. */
#ifndef KMMV_PROF_FUNCTIONS_H
#define KMMV_PROF_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

struct prof_functions;

/*
 * Read the symbols of FILE, which is read, not mapped: truncating it must not end
 * this program. Symbols come from the file, or from debugging
 * information in DEBUG_DIR (by build id or name), or from the file's own compressed
 * symbols; the last two need libdw. A file without section headers has none of its
 * own. FILE stays open. -ENOEXEC: it is no ELF file with segments; -EFBIG: its symbols
 * are not consistent, or would take more memory or time than any program's do; -ENOMEM.
 */
int prof_functions_open(int file, const char *debug_dir,
			struct prof_functions **functions);
void prof_functions_close(struct prof_functions *functions);

/* Bytes of memory. */
size_t prof_functions_bytes(const struct prof_functions *functions);

/* How many there are. */
size_t prof_functions_nr(const struct prof_functions *functions);

/* The function at OFFSET of the file, NULL if none is known. */
const char *prof_functions_at(const struct prof_functions *functions, uint64_t offset);

#endif /* KMMV_PROF_FUNCTIONS_H */
