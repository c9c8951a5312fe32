// SPDX-License-Identifier: LGPL-2.1-or-later
/* A profile as a table. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "section.h"

enum { NOTES_SHOWN = 10 };

/* ---- tables */

/* Print a line, cut to the report's width between characters. */
static void put_line(char *line, unsigned int width, FILE *out)
{
	size_t n = strlen(line);

	if (width && n > width)
		for (n = width; n && ((unsigned char)line[n] & 0xc0) == 0x80;)
			n--;
	while (n && line[n - 1] == ' ')
		n--;
	fprintf(out, "%.*s\n", (int)n, line);
}

/* Nanoseconds are shown as seconds. */
static void put_period(char *text, size_t size, uint64_t period, bool is_time)
{
	if (is_time)
		snprintf(text, size, "%" PRIu64 ".%03" PRIu64,
			 period / 1000000000, period / 1000000 % 1000);
	else
		snprintf(text, size, "%" PRIu64, period);
}

static int put_figures(const struct prof_report *report, uint32_t hundredths,
		       uint64_t samples, const char *period, const char *rest,
		       FILE *out)
{
	char *line;

	if (asprintf(&line, "%4u.%02u %9" PRIu64 " %12s  %s", hundredths / 100,
		     hundredths % 100, samples, period, rest) < 0)
		return -1;
	put_line(line, report->width, out);
	free(line);
	return 0;
}

/* The columns of ROW, each but the last as wide as WIDTHS says. */
static char *columns_of(const struct prof_report *report,
			const struct prof_row *row, const size_t *widths)
{
	size_t size = 1, n = 0;
	unsigned int i;
	char *text;

	for (i = 0; i < report->nr_columns; i++)
		size += widths[i] + 2;
	text = malloc(size);
	for (i = 0; text && i < report->nr_columns; i++)
		n += (size_t)snprintf(text + n, size - n, "%-*s%s",
				      (int)widths[i],
				      row->part[report->columns[i]],
				      i + 1 < report->nr_columns ? "  " : "");
	return text;
}

static int put_row(const struct prof_report *report,
		   const struct prof_section *s, size_t at,
		   const size_t *widths, FILE *out)
{
	const struct prof_row *row = &s->rows[at];
	char *columns = columns_of(report, row, widths), period[32];
	int err;

	if (!columns)
		return -1;
	put_period(period, sizeof(period), row->period, s->is_time);
	err = put_figures(report, s->hundredths[at], row->samples, period,
			  columns, out);
	free(columns);
	return err;
}

static int put_rest(const struct prof_report *report,
		    const struct prof_section *s, FILE *out)
{
	char period[32], rest[48];

	if (s->shown == s->nr)
		return 0;
	put_period(period, sizeof(period), s->rest_period, s->is_time);
	snprintf(rest, sizeof(rest), "(%zu more)", s->nr - s->shown);
	return put_figures(report, s->rest_hundredths, s->rest_samples, period,
			   rest, out);
}

static int put_head(const struct prof_report *report, bool is_time,
		    const size_t *widths, FILE *out)
{
	struct prof_row head;
	char *columns, *line;
	unsigned int i;
	int n;

	for (i = 0; i < PROF_PART_NR; i++)
		head.part[i] = prof_part_names[i];
	columns = columns_of(report, &head, widths);
	if (!columns)
		return -1;
	n = asprintf(&line, "%7s %9s %12s  %s", "percent", "samples",
		     is_time ? "seconds" : "count", columns);
	free(columns);
	if (n < 0)
		return -1;
	put_line(line, report->width, out);
	free(line);
	return 0;
}

static int put_section(const struct prof_profile *profile,
		       const struct prof_report *report,
		       const struct prof_section *s, FILE *out)
{
	const char *source = profile->accounts.last.source;
	size_t widths[PROF_PART_NR] = { 0 }, n, at;
	char period[32];
	unsigned int i;
	int err;

	for (i = 0; i < report->nr_columns; i++)
		widths[i] = strlen(prof_part_names[report->columns[i]]);
	for (at = 0; at < s->shown; at++)
		for (i = 0; i < report->nr_columns; i++) {
			n = strlen(s->rows[at].part[report->columns[i]]);
			if (n > widths[i])
				widths[i] = n;
		}
	put_period(period, sizeof(period), s->period, s->is_time);
	/* The name of any other event says its source. */
	if (strcmp(s->event, "default") != 0)
		source = "";
	fprintf(out, "event %s%s%s%s: %" PRIu64 " samples, %s %s\n", s->event,
		*source ? " (source " : "", source, *source ? ")" : "",
		s->samples, period, s->is_time ? "s" : "counted");
	err = put_head(report, s->is_time, widths, out);
	for (at = 0; at < s->shown && !err; at++)
		err = put_row(report, s, at, widths, out);
	return err ?: put_rest(report, s, out);
}

int prof_report_tables(struct prof_profile *profile,
		       const struct prof_report *report, FILE *out)
{
	struct prof_section section;
	size_t at = 0;
	int more, err = 0;

	prof_table_sort(&profile->table, report->by_samples);
	while ((more = prof_section_next(&profile->table, &at,
					 report->by_samples, report->threshold,
					 report->rows, &section)) > 0) {
		err = put_section(profile, report, &section, out);
		prof_section_free(&section);
		if (err)
			break;
		fputc('\n', out);
	}
	return more < 0 ? -1 : err;
}

/* ---- what is missing */

static void put_notes(struct prof_profile *profile, FILE *out)
{
	const struct prof_row *row;
	size_t i;

	prof_table_sort(&profile->notes, true);
	for (i = 0; i < profile->notes.nr && i < NOTES_SHOWN; i++) {
		row = &profile->notes.rows[i];
		fprintf(out, "%s %" PRIu64 " in %s: %s\n",
			i ? "   " : "functions not known:\n   ", row->samples,
			row->part[PROF_PART_IMAGE], row->part[PROF_PART_SYMBOL]);
	}
	if (profile->notes.nr > i)
		fprintf(out, "    and in %zu more\n", profile->notes.nr - i);
}

static void put_accounts(const struct prof_accounts *a, FILE *out)
{
	const struct prof_counts *c = &a->counts;
	struct prof_balance b;

	fprintf(out, "read %" PRIu64 " samples, of which %" PRIu64
		" were not asked for; %" PRIu64 " malformed\n", c->read,
		a->others, c->malformed);
	fprintf(out, "lost in the ring: %" PRIu64 " overwritten, %" PRIu64
		" dropped\n", c->overwritten, c->dropped);
	if (!prof_accounts_balance(a, &b)) {
		fprintf(out, "lost before the ring: unknown; the profiler reports it when it starts, stops or changes its rate\n");
		return;
	}
	fprintf(out, "between its first and last state here the profiler took %" PRIu64
		" = %" PRIu64 " read + %" PRIu64 " malformed + %" PRIu64
		" lost before the ring + %" PRIu64 " overwritten + %" PRIu64
		" dropped + %" PRId64 " inside\n", b.taken, b.counts.read,
		b.counts.malformed, b.lost, b.counts.overwritten,
		b.counts.dropped, b.inside);
	if (b.missed)
		fprintf(out, "and missed %" PRIu64
			" that were due: backed off, throttled or late\n",
			b.missed);
}

int prof_report_text(struct prof_profile *profile,
		     const struct prof_report *report, FILE *out)
{
	if (prof_report_tables(profile, report, out))
		return -1;
	put_notes(profile, out);
	put_accounts(&profile->accounts, out);
	return 0;
}
