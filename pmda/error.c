// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Errors, for the log and for kmmv.control.error. The subject of an error is an
 * address that is never dereferenced. The code that finds a subject in order
 * settles its errors.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "agent.h"

/* Errors kept, the newest first, and how many of them are shown. */
#define ERRORS_MAX 64
#define SHOWN_MAX  8
#define TEXT_SIZE  512

static struct error {
	const void *about;
	char *text;
	bool doubted;
} errors[ERRORS_MAX];

static int nr_errors;
static bool full; /* further errors are neither kept nor logged */

const char agent_table_errors[1], agent_name_errors[1];

void agent_error(const void *about, const char *fmt, ...)
{
	char text[TEXT_SIZE];
	va_list ap;
	char *copy;
	int i;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/*
	 * A condition that lasts is logged once, whatever other errors there
	 * are.
	 */
	for (i = 0; i < nr_errors; i++) {
		if (errors[i].about == about &&
		    strcmp(text, errors[i].text) == 0) {
			errors[i].doubted = false;
			return;
		}
	}
	if (full)
		return;
	pmNotifyErr(LOG_WARNING, "%s", text);
	full = nr_errors == ERRORS_MAX;
	copy = full ? NULL : strdup(text);
	if (!copy)
		return;
	memmove(&errors[1], &errors[0], nr_errors * sizeof(errors[0]));
	nr_errors++;
	errors[0] = (struct error){ .about = about, .text = copy };
}

const char *agent_error_text(void)
{
	static char all[(SHOWN_MAX + 1) * (TEXT_SIZE + 2)];
	size_t at = 0;
	int i;

	all[0] = '\0';
	for (i = 0; i < nr_errors && i < SHOWN_MAX; i++)
		at += pmsprintf(all + at, sizeof(all) - at, "%s%s",
				i ? "; " : "", errors[i].text);
	if (nr_errors > SHOWN_MAX)
		pmsprintf(all + at, sizeof(all) - at, "; and %s%d more",
			  full ? "at least " : "", nr_errors - SHOWN_MAX);
	return all;
}

void agent_error_begin(const void *about)
{
	int i;

	for (i = 0; i < nr_errors; i++)
		errors[i].doubted |= errors[i].about == about;
}

void agent_error_end(const void *about)
{
	int i, kept = 0;

	for (i = 0; i < nr_errors; i++) {
		if (errors[i].about == about && errors[i].doubted)
			free(errors[i].text);
		else
			errors[kept++] = errors[i];
	}
	full = full && kept == nr_errors;
	nr_errors = kept;
}

bool agent_error_has(const void *about)
{
	int i;

	for (i = 0; i < nr_errors; i++) {
		if (errors[i].about == about)
			return true;
	}
	return full;
}

void agent_error_settle(const void *about)
{
	agent_error_begin(about);
	agent_error_end(about);
}
