/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's statistics, parsed from text, to compare kmmv.value.stat.* with.
 */
#ifndef QA_PROC_H
#define QA_PROC_H

#include <stddef.h>
#include <stdint.h>

enum proc_file {
	PROC_STAT,
	PROC_SOFTIRQS,
	PROC_INTERRUPTS,
	PROC_VMSTAT,
	PROC_FILES,
};

/* The family below "stat." that mirrors each file. */
extern const char *const proc_family[PROC_FILES];

struct proc_value {
	enum proc_file file;
	int cpu;		/* -1 for a total */
	char name[40];
	uint64_t value;		/* times in clock ticks, proc_hz() a second */
	char rest[128];		/* the text after an interrupt's numbers, first CPU */
};

struct proc {
	struct proc_value *values;	/* in the order of the files */
	size_t nr;
	size_t room;
	char *text;			/* of the file being parsed */
	size_t length;
};

struct proc *proc_new(void);
void proc_free(struct proc *proc);

/* Read all four files, of vmstat the events. Exits on unexpected text. */
void proc_read(struct proc *proc);

/* Return: the value with the same file, name and CPU, or NULL. */
const struct proc_value *proc_find(const struct proc *proc, const struct proc_value *like);

long proc_hz(void);

#endif /* QA_PROC_H */
