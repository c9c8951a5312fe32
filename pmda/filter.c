// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Filters: words KEY=VALUE, all of which an event must match. Keys are family,
 * instance and type, with a pattern as in fnmatch(3), and cpu, with numbers and
 * ranges as in 0,2-5. An empty filter matches every event.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "ring.h"

#define BLANKS " \t\r\n"

void agent_filter_clear(struct filter *f)
{
	free(f->family);
	free(f->instance);
	free(f->type);
	memset(f, 0, sizeof(*f));
}

static int parse_cpus(struct filter *f, const char *text)
{
	if (f->nr_cpus)
		return PM_ERR_CONV;
	do {
		uint32_t first, last;

		if (f->nr_cpus == FILTER_RANGES ||
		    !agent_number(text, &text, &first))
			return PM_ERR_CONV;
		last = first;
		if (*text == '-') {
			text++;
			if (!agent_number(text, &text, &last) || last < first)
				return PM_ERR_CONV;
		}
		f->cpus[f->nr_cpus].first = first;
		f->cpus[f->nr_cpus++].last = last;
	} while (*text++ == ',');
	return text[-1] ? PM_ERR_CONV : 0;
}

static int parse_word(struct filter *f, char *word)
{
	char *value = strchr(word, '=');
	char **pattern;

	if (!value || !value[1])
		return PM_ERR_CONV;
	*value++ = '\0';
	if (strcmp(word, "cpu") == 0)
		return parse_cpus(f, value);
	if (strcmp(word, "family") == 0)
		pattern = &f->family;
	else if (strcmp(word, "instance") == 0)
		pattern = &f->instance;
	else if (strcmp(word, "type") == 0)
		pattern = &f->type;
	else
		return PM_ERR_CONV;
	if (*pattern)
		return PM_ERR_CONV;
	*pattern = strdup(value);
	return *pattern ? 0 : -ENOMEM;
}

int agent_filter_parse(struct filter *f, const char *text)
{
	char *copy = strdup(text), *word, *save = NULL;
	int rc = 0;

	memset(f, 0, sizeof(*f));
	if (!copy)
		return -ENOMEM;
	for (word = strtok_r(copy, BLANKS, &save); word && rc == 0;
	     word = strtok_r(NULL, BLANKS, &save))
		rc = parse_word(f, word);
	free(copy);
	if (rc == PM_ERR_CONV)
		pmNotifyErr(LOG_INFO, "invalid filter \"%s\": see pmdakmmv(1)",
			    text);
	if (rc < 0)
		agent_filter_clear(f);
	return rc;
}

bool agent_filter_cpu(const struct filter *f, uint32_t cpu)
{
	int i;

	if (!f || !f->nr_cpus)
		return true;
	for (i = 0; i < f->nr_cpus; i++) {
		if (cpu >= f->cpus[i].first && cpu <= f->cpus[i].last)
			return true;
	}
	return false;
}

static bool matches(const char *pattern, const char *text)
{
	return !pattern || (text && fnmatch(pattern, text, 0) == 0);
}

bool agent_filter_match(const struct filter *f, const struct entry *e,
			const char *type)
{
	return !f || (agent_filter_cpu(f, e->cpu) && matches(f->type, type) &&
		      matches(f->family, e->family) &&
		      matches(f->instance, e->instance));
}
