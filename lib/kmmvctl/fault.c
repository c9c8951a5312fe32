// SPDX-License-Identifier: LGPL-2.1-or-later
/* The reason of the last error, as text. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fault.h"

static char reason[1024];

int ctl_fault_set(int err, const char *format, ...)
{
	char text[sizeof(reason)];
	va_list args;

	/* An argument may be the last reason. */
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	strcpy(reason, text);
	return err;
}

void ctl_fault_add(const char *format, ...)
{
	size_t length = strlen(reason);
	va_list args;

	va_start(args, format);
	vsnprintf(reason + length, sizeof(reason) - length, format, args);
	va_end(args);
}

const char *ctl_fault_text(void)
{
	return reason;
}

int ctl_fault_memory(void)
{
	return ctl_fault_set(-ENOMEM, "out of memory");
}
