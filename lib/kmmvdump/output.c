// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * kmmvdump's standard output. After a write that failed, nothing more is written:
 * stdio would drop the text of that write, forget its errno, and go on with what is
 * printed next.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <unistd.h>

#include "kmmvdump.h"

/* errno of the first write that failed, or 0. */
static int failed;

static ssize_t write_on(void *unused, const char *text, size_t size)
{
	size_t done = 0;
	ssize_t n;

	(void)unused;
	while (!failed && done < size) {
		n = write(STDOUT_FILENO, text + done, size - done);
		if (n < 0)
			failed = errno;
		else
			done += (size_t)n;
	}
	return (ssize_t)done;
}

int dump_output(void)
{
	const cookie_io_functions_t functions = { .write = write_on };
	FILE *file = fopencookie(NULL, "w", functions);
	static char buffer[BUFSIZ];
	bool by_line;

	if (!file)
		return -errno;
	/* It cannot be written: an error also without any output. */
	if ((fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) == O_RDONLY)
		failed = EBADF;
	/* As stdio does for a terminal, and as `stdbuf -oL' asks for. */
	by_line = isatty(STDOUT_FILENO) || __flbf(stdout);
	/* With this buffer, stdio needs no memory: only a write can fail. */
	setvbuf(file, buffer, by_line ? _IOLBF : _IOFBF, sizeof(buffer));
	stdout = file;
	return 0;
}

int dump_flush(void)
{
	fflush(stdout);
	return -failed;
}

int dump_flushed(const volatile sig_atomic_t *ended)
{
	int err = dump_flush();

	if (!err || err == -EINTR)
		return 0;
	if (err == -EPIPE)
		return !ended || !*ended;
	return dump_complain(strerror(-err));
}

int dump_complain(const char *what)
{
	fprintf(stderr, "kmmvdump: %s\n", what);
	return 1;
}

bool dump_is_read(void)
{
	struct pollfd pollfd = { .fd = STDOUT_FILENO };

	/* An interrupted poll() is no error. */
	return poll(&pollfd, 1, 0) <= 0 || !(pollfd.revents & (POLLERR | POLLHUP));
}
