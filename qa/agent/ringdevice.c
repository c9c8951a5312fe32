// SPDX-License-Identifier: GPL-2.0-only
/*
 * For LD_PRELOAD: the files of rings that kmmvcoresim simulates are devices. Their calls
 * go to it, see qa/sim/ringcall.h, and poll() waits for what wakes their consumer. All
 * else is the process's own: the agent and the library are those that were built.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "../sim/ringcall.h"

enum { FILES = 1024, POLLED = 128 };

/* Of a descriptor, each one more than it is, so that 0 is none. */
static struct file {
	int connection, wake;
} files[FILES];

static struct file *file_of(int fd)
{
	return fd >= 0 && fd < FILES && files[fd].connection ? &files[fd]
							     : NULL;
}

static struct file *connect_file(int fd)
{
	struct sockaddr_un address;
	socklen_t length = ring_call_address(fd, &address);
	int s;

	if (!length || fd >= FILES)
		return NULL;
	s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (s < 0)
		return NULL;
	if (connect(s, (struct sockaddr *)&address, length) < 0) {
		syscall(SYS_close, s);
		return NULL;
	}
	files[fd].connection = s + 1;
	return &files[fd];
}

static void open_wake(struct file *file, const struct ring_call *call)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", call->pid, call->wake);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		abort();
	file->wake = fd + 1;
}

static int result(int err)
{
	if (!err)
		return 0;
	errno = -err;
	return -1;
}

/* A ring that is gone has ended its connections. */
static int exchange(const struct file *file, struct ring_call *call)
{
	int s = file->connection - 1;

	if (send(s, call, sizeof(*call), MSG_NOSIGNAL) != sizeof(*call) ||
	    recv(s, call, sizeof(*call), 0) != sizeof(*call))
		return -ENODEV;
	return call->err;
}

static int call_ring(struct file *file, unsigned long request, void *arg)
{
	static _Thread_local struct ring_call call;
	struct kmmv_ring_take *take = arg;
	size_t size = _IOC_SIZE(request);
	int err;

	call.request = request;
	if (size)
		memcpy(&call.take, arg, size);
	err = exchange(file, &call);
	if (err)
		return result(err);
	if (request == KMMV_RING_IOC_CLAIM && !file->wake)
		open_wake(file, &call);
	if (request == KMMV_RING_IOC_TAKE) {
		take->nr = call.take.nr;
		memcpy((void *)(uintptr_t)take->ranges, call.ranges,
		       take->nr * sizeof(call.ranges[0]));
	} else if (_IOC_DIR(request) & _IOC_READ) {
		memcpy(arg, &call.take, size);
	}
	return 0;
}

int ioctl(int fd, unsigned long request, ...)
{
	struct file *file = file_of(fd);
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (_IOC_TYPE(request) != KMMV_RING_IOC_MAGIC)
		return (int)syscall(SYS_ioctl, fd, request, arg);
	if (!file)
		file = connect_file(fd);
	/* It is a file of the area, or the ring has gone since it was opened. */
	if (!file)
		return result(-ENOTTY);
	return call_ring(file, request, arg);
}

int close(int fd)
{
	struct file *file = file_of(fd);

	if (file) {
		syscall(SYS_close, file->connection - 1);
		if (file->wake)
			syscall(SYS_close, file->wake - 1);
		memset(file, 0, sizeof(*file));
	}
	return (int)syscall(SYS_close, fd);
}

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	struct timespec time = {
		.tv_sec = timeout / 1000,
		.tv_nsec = timeout % 1000 * 1000000L,
	};
	struct pollfd own[POLLED];
	nfds_t i;
	int n;

	if (count > POLLED)
		abort();
	for (i = 0; i < count; i++) {
		struct file *file = file_of(fds[i].fd);

		own[i] = fds[i];
		if (file && file->wake)
			own[i].fd = file->wake - 1;
	}
	n = ppoll(own, count, timeout < 0 ? NULL : &time, NULL);
	for (i = 0; n >= 0 && i < count; i++)
		fds[i].revents = own[i].revents;
	return n;
}

/* As poll() is called with _FORTIFY_SOURCE. */
int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t size);

int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t size)
{
	(void)size;
	return poll(fds, count, timeout);
}
