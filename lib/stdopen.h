/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Standard descriptors that are closed when a command starts. */
#ifndef KMMV_LIB_STDOPEN_H
#define KMMV_LIB_STDOPEN_H

#include <fcntl.h>
#include <stdbool.h>

/*
 * Open each of 0, 1 and 2 that is closed: otherwise the next open() would get it, and
 * messages would be written into that file. It is opened in the wrong direction, so
 * that reading input and writing output fail with EBADF, as before. False, with errno,
 * on error.
 */
static inline bool kmmv_stdopen(void)
{
	int fd;

	for (fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) != -1)
			continue;
		/* open() takes the lowest free number, which is this one. */
		if (open("/dev/null", fd ? O_RDONLY : O_WRONLY) < 0)
			return false;
	}
	return true;
}

#endif /* KMMV_LIB_STDOPEN_H */
