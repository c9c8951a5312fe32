// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Error messages. A handle keeps the message of its last failure; that of a
 * failed kmmv_open() outlives the handle, one per thread.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "handle.h"

static _Thread_local char open_error[sizeof(((struct kmmv *)0)->error)];

int kmmv_fail(struct kmmv *k, int err, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(k->error, sizeof(k->error), format, ap);
	va_end(ap);
	return err;
}

int kmmv_bad_line(struct kmmv *k, const char *format, ...)
{
	char what[sizeof(k->error)];
	va_list ap;

	va_start(ap, format);
	vsnprintf(what, sizeof(what), format, ap);
	va_end(ap);
	return kmmv_fail(k, -EBADMSG, "%s/names: line %llu: %s", k->dir,
			 (unsigned long long)k->stream.lines, what);
}

int kmmv_fail_nomem(struct kmmv *k)
{
	return kmmv_fail(k, -ENOMEM, "%s: out of memory", k->dir ?: "kmmv");
}

void kmmv_fail_open(const struct kmmv *k)
{
	if (k)
		memcpy(open_error, k->error, sizeof(open_error));
	else
		snprintf(open_error, sizeof(open_error), "out of memory");
}

const char *kmmv_error(const struct kmmv *k)
{
	return k ? k->error : open_error;
}
