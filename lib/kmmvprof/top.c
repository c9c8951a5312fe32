// SPDX-License-Identifier: LGPL-2.1-or-later
/* A live view of where time is spent. */
#include <curses.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "top.h"

/* How long a key may wait. */
enum { SLICE_MS = 100 };
/* Lines above the table: the title, the event and the head. */
enum { LINES_ABOVE = 3 };

static const enum prof_part by_symbol[] = { PROF_PART_IMAGE, PROF_PART_SYMBOL };
static const enum prof_part by_image[] = { PROF_PART_IMAGE };
static const enum prof_part by_command[] = { PROF_PART_COMMAND };
static const enum prof_part by_process[] = {
	PROF_PART_PROCESS, PROF_PART_COMMAND,
};
static const enum prof_part by_cpu[] = { PROF_PART_CPU };

static const struct view {
	int key;
	const enum prof_part *columns;
	unsigned int nr;
} views[] = {
	{ 's', by_symbol, 2 },	{ 'i', by_image, 1 }, { 'c', by_command, 1 },
	{ 'p', by_process, 2 }, { 'u', by_cpu, 1 },
};

/* Returns the parts that the table has to keep. */
static unsigned int parts_of(const struct prof_report *report)
{
	unsigned int parts = 1U << PROF_PART_EVENT, i;

	for (i = 0; i < report->nr_columns; i++)
		parts |= 1U << report->columns[i];
	return parts;
}

static void put_title(const struct prof_top *top,
		      const struct prof_counts *before, FILE *out)
{
	const struct prof_accounts *a = &top->profile->accounts;
	char line[256];

	snprintf(line, sizeof(line),
		 "kmmvprof: %" PRIu64 ".%" PRIu64 " s, %" PRIu64
		 " samples, lost in the ring %" PRIu64 "%s", top->interval / 1000,
		 top->interval / 100 % 10, top->profile->table.samples,
		 a->counts.overwritten + a->counts.dropped -
			 before->overwritten - before->dropped,
		 top->batch ? "" : "; keys: s i c p u, q to quit");
	if (top->report.width && strlen(line) > top->report.width)
		line[top->report.width] = '\0';
	fprintf(out, "%s\n", line);
}

static int no_memory(void)
{
	fprintf(stderr, "kmmvprof: out of memory\n");
	return -1;
}

static int put_frame(struct prof_top *top, const struct prof_counts *before,
		     FILE *out)
{
	put_title(top, before, out);
	return prof_report_tables(top->profile, &top->report, out) ?
		       no_memory() : 0;
}

/* ---- the terminal */

static int draw(struct prof_top *top, const struct prof_counts *before)
{
	size_t size, rows = top->report.rows, fit;
	char *text = NULL, *line, *rest;
	FILE *out;
	int y = 0, err;

	fit = LINES > LINES_ABOVE + 1 ? (size_t)(LINES - LINES_ABOVE - 1) : 1;
	out = open_memstream(&text, &size);
	if (!out)
		return no_memory();
	top->report.width = (unsigned int)COLS;
	top->report.rows = fit < rows ? fit : rows;
	err = put_frame(top, before, out);
	top->report.rows = rows;
	if (fclose(out) && !err)
		err = no_memory();
	if (err) {
		free(text);
		return err;
	}
	erase();
	for (rest = text; y < LINES && (line = strsep(&rest, "\n")); y++)
		mvaddnstr(y, 0, line, COLS);
	refresh();
	free(text);
	return 0;
}

/* False to quit. */
static bool take_keys(struct prof_top *top)
{
	size_t i;
	int key;

	while ((key = getch()) != ERR) {
		if (key == 'q')
			return false;
		for (i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
			if (views[i].key != key)
				continue;
			top->report.columns = views[i].columns;
			top->report.nr_columns = views[i].nr;
		}
	}
	return true;
}

/* ---- frames */

/* Returns 1 for another one, 0 at the end, -1 after a message. */
static int run_interval(struct prof_top *top)
{
	struct prof_profile *p = top->profile;
	uint64_t left = top->interval, slice;

	p->table.parts = parts_of(&top->report);
	prof_table_clear(&p->table);
	prof_table_clear(&p->notes);
	while (left && !*top->ended) {
		slice = top->batch || left < SLICE_MS ? left : SLICE_MS;
		if (prof_reader_read(top->reader, slice, top->ended,
				     &p->table, &p->notes))
			return -1;
		left -= slice;
		if (!top->batch && !take_keys(top))
			return 0;
		/* A key changed what is shown: begin again with that. */
		if (p->table.parts != parts_of(&top->report))
			return 1;
	}
	p->accounts = *prof_reader_accounts(top->reader);
	return !*top->ended;
}

static int print(struct prof_top *top, const struct prof_counts *before)
{
	int err;

	top->printing(true);
	err = put_frame(top, before, stdout);
	fflush(stdout);
	top->printing(false);
	return err;
}

static int run(struct prof_top *top)
{
	struct prof_counts before;
	uint64_t frame = 0;
	int more = 1, err;

	while (more > 0 && (!top->frames || frame < top->frames)) {
		before = prof_reader_accounts(top->reader)->counts;
		more = run_interval(top);
		if (more <= 0 ||
		    top->profile->table.parts != parts_of(&top->report))
			continue;
		frame++;
		err = top->batch ? print(top, &before) : draw(top, &before);
		if (err)
			return -1;
		if (ferror(stdout))
			return 0;
	}
	return more < 0 ? -1 : 0;
}

/*
 * Curses draws on a screen that the terminal leaves at the end, with all that is on it.
 * So what is printed to standard error meanwhile goes into *KEPT. Returns a copy of
 * standard error, or -1 if it is left as it is.
 */
static int keep_errors(FILE **kept)
{
	int copy = -1;

	*kept = tmpfile();
	fflush(stderr);
	if (*kept)
		copy = dup(STDERR_FILENO);
	if (copy >= 0)
		dup2(fileno(*kept), STDERR_FILENO);
	return copy;
}

static void print_errors(FILE *kept, int copy)
{
	char line[1024];

	if (copy >= 0) {
		fflush(stderr);
		dup2(copy, STDERR_FILENO);
		close(copy);
		rewind(kept);
		while (fgets(line, sizeof(line), kept))
			fputs(line, stderr);
	}
	if (kept)
		fclose(kept);
}

int prof_top_run(struct prof_top *top)
{
	SCREEN *screen;
	FILE *kept;
	int err, copy;

	if (top->batch)
		return run(top);
	screen = newterm(NULL, stdout, stdin);
	if (!screen) {
		fprintf(stderr, "kmmvprof: this is no terminal that curses knows; set TERM, or use --batch\n");
		return -1;
	}
	cbreak();
	noecho();
	curs_set(0);
	nodelay(stdscr, TRUE);
	copy = keep_errors(&kept);
	err = run(top);
	endwin();
	delscreen(screen);
	print_errors(kept, copy);
	return err;
}
