/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Standard descriptors that a command is started without. */
#ifndef KMMV_LIB_STDOPEN_H
#define KMMV_LIB_STDOPEN_H

#include <fcntl.h>
#include <stdbool.h>

/*
 * Have a file behind each of 0, 1 and 2, or what is opened next has that descriptor, and
 * messages are written into it. It is open in the wrong direction: to read input and to
 * write output fail with EBADF, as before. False, with errno, if that cannot be.
 */
static inline bool kmmv_stdopen(void)
{
	int fd;

	for (fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) != -1)
			continue;
		/* The lowest number that is free: this one. */
		if (open("/dev/null", fd ? O_RDONLY : O_WRONLY) < 0)
			return false;
	}
	return true;
}

#endif /* KMMV_LIB_STDOPEN_H */
