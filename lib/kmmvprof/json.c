// SPDX-License-Identifier: LGPL-2.1-or-later
/* A profile as JSON. */
#include <stdlib.h>

#include "jsontext.h"
#include "report.h"
#include "section.h"

static int set_u64(json_t *o, const char *name, uint64_t value)
{
	return json_object_set_new(o, name, kmmv_json_u64(value));
}

/* A percentage, as the hundredths that add up. */
static int set_percent(json_t *o, uint32_t hundredths)
{
	return json_object_set_new(o, "percent",
				   json_real(hundredths / 100.0));
}

static int add_row(json_t *array, const struct prof_report *report,
		   const struct prof_row *row, uint32_t hundredths)
{
	json_t *o = json_object();
	unsigned int i;
	int err;

	err = set_percent(o, hundredths) ?:
	      set_u64(o, "samples", row->samples) ?:
	      set_u64(o, "period", row->period);
	for (i = 0; i < report->nr_columns && !err; i++)
		err = json_object_set_new(o, prof_part_names[report->columns[i]],
					  kmmv_json_text(row->part[report->columns[i]]));
	if (!err)
		return json_array_append_new(array, o);
	json_decref(o);
	return -1;
}

static int add_rest(json_t *o, const struct prof_section *s)
{
	json_t *rest;

	if (s->shown == s->nr)
		return 0;
	rest = json_object();
	return json_object_set_new(o, "more", rest) ?:
	       set_percent(rest, s->rest_hundredths) ?:
	       set_u64(rest, "rows", s->nr - s->shown) ?:
	       set_u64(rest, "samples", s->rest_samples) ?:
	       set_u64(rest, "period", s->rest_period);
}

static int add_section(json_t *array, const struct prof_report *report,
		       const struct prof_section *s)
{
	json_t *o = json_object(), *rows = json_array();
	size_t at;
	int err;

	err = json_array_append_new(array, o) ?:
	      json_object_set_new(o, "rows", rows) ?:
	      json_object_set_new(o, "event", kmmv_json_text(s->event)) ?:
	      json_object_set_new(o, "unit",
				  json_string(s->is_time ? "ns" : "count")) ?:
	      set_u64(o, "samples", s->samples) ?:
	      set_u64(o, "period", s->period) ?: add_rest(o, s);
	for (at = 0; at < s->shown && !err; at++)
		err = add_row(rows, report, &s->rows[at], s->hundredths[at]);
	return err;
}

static int add_sections(json_t *array, struct prof_profile *profile,
			const struct prof_report *report)
{
	struct prof_section section;
	int more, err = 0;
	size_t at = 0;

	prof_table_sort(&profile->table, report->by_samples);
	while (!err && (more = prof_section_next(&profile->table, &at,
						 report->by_samples,
						 report->threshold,
						 report->rows, &section)) != 0) {
		if (more < 0)
			return -1;
		err = add_section(array, report, &section);
		prof_section_free(&section);
	}
	return err;
}

static int add_notes(json_t *array, struct prof_profile *profile)
{
	const struct prof_row *row;
	json_t *o;
	size_t i;
	int err = 0;

	prof_table_sort(&profile->notes, true);
	for (i = 0; i < profile->notes.nr && !err; i++) {
		row = &profile->notes.rows[i];
		o = json_object();
		err = json_array_append_new(array, o) ?:
		      set_u64(o, "samples", row->samples) ?:
		      json_object_set_new(o, "image",
					  kmmv_json_text(row->part[PROF_PART_IMAGE])) ?:
		      json_object_set_new(o, "reason",
					  kmmv_json_text(row->part[PROF_PART_SYMBOL]));
	}
	return err;
}

static int add_accounts(json_t *o, const struct prof_accounts *a)
{
	json_t *between = json_object();
	struct prof_balance b;
	int err;

	err = json_object_set_new(o, "between_states", between) ?:
	      set_u64(o, "read", a->counts.read) ?:
	      set_u64(o, "not_asked_for", a->others) ?:
	      set_u64(o, "malformed", a->counts.malformed) ?:
	      set_u64(o, "overwritten", a->counts.overwritten) ?:
	      set_u64(o, "dropped", a->counts.dropped);
	if (err || !prof_accounts_balance(a, &b))
		return err;
	return set_u64(between, "taken", b.taken) ?:
	       set_u64(between, "read", b.counts.read) ?:
	       set_u64(between, "malformed", b.counts.malformed) ?:
	       set_u64(between, "lost", b.lost) ?:
	       set_u64(between, "overwritten", b.counts.overwritten) ?:
	       set_u64(between, "dropped", b.counts.dropped) ?:
	       set_u64(between, "missed", b.missed) ?:
	       json_object_set_new(between, "inside", json_integer(b.inside));
}

int prof_report_json(struct prof_profile *profile,
		     const struct prof_report *report, FILE *out)
{
	json_t *root = json_object(), *events = json_array();
	json_t *notes = json_array(), *accounts = json_object();
	int err;

	err = json_object_set_new(root, "events", events) ?:
	      json_object_set_new(root, "functions_not_known", notes) ?:
	      json_object_set_new(root, "accounts", accounts) ?:
	      json_object_set_new(root, "source",
				  kmmv_json_text(profile->accounts.last.source)) ?:
	      add_sections(events, profile, report) ?:
	      add_notes(notes, profile) ?:
	      add_accounts(accounts, &profile->accounts) ?:
	      json_dumpf(root, out, JSON_INDENT(1) | JSON_REAL_PRECISION(5));
	json_decref(root);
	fputc('\n', out);
	return err ? -1 : 0;
}
