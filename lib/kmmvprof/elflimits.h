/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Limits for files that anyone may have written, before libelf and libdwfl read them. */
#ifndef KMMV_PROF_ELFLIMITS_H
#define KMMV_PROF_ELFLIMITS_H

#include <gelf.h>
#include <stdbool.h>
#include <sys/resource.h>

/*
 * Open FILE for libdwfl, without mapping it: 0; -ENOEXEC: it is no ELF file; -EFBIG: its
 * symbols are not consistent, or would take more memory or time than any program's do.
 */
int prof_elf_open(int file, struct Elf **elf);

/* Hide from libdwfl, in ELF's memory, what it would read beyond its end, or for ever. */
int prof_elf_hide(Elf *elf);

/*
 * Limit the memory of this process: the size of compressed data is known only after it is
 * expanded. True if it is limited, and *WAS is what RLIMIT_AS was.
 */
bool prof_elf_limit_memory(struct rlimit *was);

#endif /* KMMV_PROF_ELFLIMITS_H */
