// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/stat, /proc/softirqs, /proc/interrupts and the events of /proc/vmstat.
 */
#include <ctype.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proc.h"

const char *const proc_family[PROC_FILES] = {
	[PROC_STAT] = "cpu",
	[PROC_SOFTIRQS] = "softirq",
	[PROC_INTERRUPTS] = "irq",
	[PROC_VMSTAT] = "vm",
};

static const char *const path[PROC_FILES] = {
	[PROC_STAT] = "/proc/stat",
	[PROC_SOFTIRQS] = "/proc/softirqs",
	[PROC_INTERRUPTS] = "/proc/interrupts",
	[PROC_VMSTAT] = "/proc/vmstat",
};

long proc_hz(void)
{
	return sysconf(_SC_CLK_TCK);
}

struct proc *proc_new(void)
{
	struct proc *proc = calloc(1, sizeof(*proc));

	if (!proc)
		err(2, "memory");
	return proc;
}

void proc_free(struct proc *proc)
{
	free(proc->values);
	free(proc->text);
	free(proc);
}

static void read_text(struct proc *proc, const char *file)
{
	int fd = open(file, O_RDONLY);
	size_t at = 0;
	ssize_t got;

	if (fd < 0)
		err(2, "%s", file);
	for (;;) {
		if (proc->length - at < 4096) {
			proc->length = 2 * proc->length + 65536;
			proc->text = realloc(proc->text, proc->length);
			if (!proc->text)
				err(2, "memory");
		}
		got = read(fd, proc->text + at, proc->length - at - 1);
		if (got < 0)
			err(2, "%s", file);
		if (!got)
			break;
		at += got;
	}
	proc->text[at] = '\0';
	close(fd);
}

static struct proc_value *add(struct proc *proc, enum proc_file file, const char *name,
			      int cpu, uint64_t number)
{
	struct proc_value *value;

	if (proc->nr == proc->room) {
		proc->room = 2 * proc->room + 256;
		proc->values = realloc(proc->values, proc->room * sizeof(*value));
		if (!proc->values)
			err(2, "memory");
	}
	value = &proc->values[proc->nr++];
	value->file = file;
	value->cpu = cpu;
	value->value = number;
	value->rest[0] = '\0';
	snprintf(value->name, sizeof(value->name), "%s", name);
	return value;
}

static void parse_stat(struct proc *proc, char *line)
{
	static const char *const times[] = {
		"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal",
		"guest", "guest_nice",
	};
	char *at;
	size_t i;
	int cpu;

	if (strncmp(line, "cpu", 3) || !isdigit(line[3]))
		return;
	cpu = strtol(line + 3, &at, 10);
	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		add(proc, PROC_STAT, times[i], cpu, strtoull(at, &at, 10));
}

/* "CPU0 CPU2 CPU3": the CPU of each column. */
static int parse_header(char *line, int *cpus, int room)
{
	int nr = 0;

	for (line = strstr(line, "CPU"); line && nr < room; line = strstr(line, "CPU"))
		cpus[nr++] = strtol(line + 3, &line, 10);
	return nr;
}

static void parse_columns(struct proc *proc, enum proc_file file, char *line,
			  const int *cpus, int nr)
{
	struct proc_value *value = NULL;
	char *at = strchr(line, ':'), *end;
	size_t first = proc->nr;
	uint64_t number;
	int i;

	if (!at)
		return;
	*at++ = '\0';
	while (*line == ' ')
		line++;
	for (i = 0; i < nr; i++) {
		number = strtoull(at, &end, 10);
		if (end == at)
			break;		/* ERR and MIS have a single number */
		add(proc, file, line, cpus[i], number);
		at = end;
	}
	if (proc->nr == first)
		errx(2, "%s: no numbers in the line of %s", path[file], line);
	value = &proc->values[first];
	if (isdigit(line[0]))
		snprintf(value->rest, sizeof(value->rest), "%s", at);
}

static void parse_vmstat(struct proc *proc, char *line)
{
	char *at = strchr(line, ' ');

	if (!at)
		return;
	*at++ = '\0';
	add(proc, PROC_VMSTAT, line, -1, strtoull(at, NULL, 10));
}

static void parse(struct proc *proc, enum proc_file file)
{
	int cpus[4096], nr = 0, inside = 0;
	char *line, *next;

	for (line = proc->text; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		switch (file) {
		case PROC_STAT:
			parse_stat(proc, line);
			break;
		case PROC_VMSTAT:
			/* The events are between these two. */
			if (!strncmp(line, "pgpgin ", 7))
				inside = 1;
			if (!strncmp(line, "nr_unstable ", 12))
				inside = 0;
			if (inside)
				parse_vmstat(proc, line);
			break;
		default:
			if (!nr)
				nr = parse_header(line, cpus, 4096);
			else
				parse_columns(proc, file, line, cpus, nr);
		}
	}
}

void proc_read(struct proc *proc)
{
	int file;

	proc->nr = 0;
	for (file = 0; file < PROC_FILES; file++) {
		read_text(proc, path[file]);
		parse(proc, file);
	}
}

const struct proc_value *proc_find(const struct proc *proc, const struct proc_value *like)
{
	const struct proc_value *value;
	size_t i;

	for (i = 0; i < proc->nr; i++) {
		value = &proc->values[i];
		if (value->file == like->file && value->cpu == like->cpu &&
		    !strcmp(value->name, like->name))
			return value;
	}
	return NULL;
}
