// SPDX-License-Identifier: GPL-2.0-or-later
/* What is wrong, for the log and for kmmv.control.error. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "agent.h"

/* Since the last attach, the newest first, each once. */
#define ERRORS_MAX 8
static char errors[ERRORS_MAX][512];

void agent_error(const char *fmt, ...)
{
	char text[sizeof(errors[0])];
	va_list ap;
	int i;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* A condition that lasts is logged once, whatever else is wrong. */
	for (i = 0; i < ERRORS_MAX; i++) {
		if (strcmp(text, errors[i]) == 0)
			return;
	}
	memmove(errors[1], errors[0], (ERRORS_MAX - 1) * sizeof(errors[0]));
	memcpy(errors[0], text, sizeof(errors[0]));
	pmNotifyErr(LOG_WARNING, "%s", text);
}

const char *agent_error_text(void)
{
	static char all[ERRORS_MAX * (sizeof(errors[0]) + 2)];
	size_t at = 0;
	int i;

	all[0] = '\0';
	for (i = 0; i < ERRORS_MAX && errors[i][0]; i++)
		at += pmsprintf(all + at, sizeof(all) - at, "%s%s",
				i ? "; " : "", errors[i]);
	return all;
}

void agent_error_clear(void)
{
	memset(errors, 0, sizeof(errors));
}
