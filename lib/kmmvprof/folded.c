// SPDX-License-Identifier: LGPL-2.1-or-later
/* A profile as folded stacks, which tools for flame graphs read. */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "report.h"

/* Within a frame, ';' would begin another. */
static void put_frame(const char *from, size_t n, FILE *out)
{
	for (; n--; from++)
		fputc(*from == ';' ? ':' : *from, out);
}

/* STACK is innermost first, with ';' between; print it outermost first. */
static void put_stack(const char *stack, FILE *out)
{
	const char *begin, *end = stack + strlen(stack);

	for (;; end = begin - 1) {
		for (begin = end; begin > stack && begin[-1] != ';';)
			begin--;
		if (end > begin) {
			fputc(';', out);
			put_frame(begin, (size_t)(end - begin), out);
		}
		if (begin == stack)
			return;
	}
}

static void put_row(const struct prof_row *row, bool with_event,
		    bool by_samples, FILE *out)
{
	const char *const *part = row->part;

	if (with_event) {
		put_frame(part[PROF_PART_EVENT],
			  strlen(part[PROF_PART_EVENT]), out);
		fputc(';', out);
	}
	put_frame(part[PROF_PART_COMMAND], strlen(part[PROF_PART_COMMAND]), out);
	fputc(';', out);
	/* Modules are beside their functions in a stack. */
	if (strspn(part[PROF_PART_STACK], ";") !=
	    strlen(part[PROF_PART_STACK])) {
		fputs("[kernel]", out);
		put_stack(part[PROF_PART_STACK], out);
	} else {
		put_frame(part[PROF_PART_IMAGE],
			  strlen(part[PROF_PART_IMAGE]), out);
		fputc(';', out);
		put_frame(part[PROF_PART_SYMBOL],
			  strlen(part[PROF_PART_SYMBOL]), out);
	}
	fprintf(out, " %" PRIu64 "\n", by_samples ? row->samples : row->period);
}

int prof_report_folded(struct prof_profile *profile, bool by_samples, FILE *out)
{
	const struct prof_table *table = &profile->table;
	bool several;
	size_t i;

	prof_table_sort(&profile->table, by_samples);
	several = table->nr &&
		  strcmp(table->rows[0].part[PROF_PART_EVENT],
			 table->rows[table->nr - 1].part[PROF_PART_EVENT]) != 0;
	for (i = 0; i < table->nr; i++)
		put_row(&table->rows[i], several, by_samples, out);
	return 0;
}
