// SPDX-License-Identifier: GPL-2.0-or-later
/* Decimal numbers in what users, clients and the kernel write. */
#include <errno.h>
#include <stdlib.h>
#include "agent.h"

bool agent_number(const char *text, const char **end, uint32_t *value)
{
	unsigned long n;
	char *last;

	/* strtoul(3) takes blanks and signs, too. */
	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	n = strtoul(text, &last, 10);
	if (errno || n > UINT32_MAX)
		return false;
	*value = n;
	*end = last;
	return true;
}

bool agent_number_alone(const char *text, uint32_t *value)
{
	const char *end;

	return agent_number(text, &end, value) && !*end;
}

bool agent_number_id(const char *text, uint32_t *id)
{
	return agent_number_alone(text, id) && *id != UINT32_MAX;
}
