// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tap.h"

#define CLIENT	"/sys/kernel/debug/kmmv_client/call"

static int count, failed;
static sigjmp_buf after_signal;

bool ok(bool passed, const char *format, ...)
{
	va_list arguments;

	failed += !passed;
	printf("%sok %d - ", passed ? "" : "not ", ++count);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
	fflush(stdout);
	return passed;
}

void note(const char *format, ...)
{
	va_list arguments;

	printf("# ");
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
	fflush(stdout);
}

void bail(const char *format, ...)
{
	va_list arguments;

	printf("Bail out! ");
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf(": %s\n", strerror(errno));
	exit(1);
}

int finish(void)
{
	printf("1..%d\n", count);
	return failed ? 1 : 0;
}

static const char *client_call(const char *format, va_list arguments)
{
	static char text[4096];
	ssize_t n;
	int fd;

	n = vsnprintf(text, sizeof(text), format, arguments);
	fd = open(CLIENT, O_RDWR);
	if (fd < 0 || n < 0 || write(fd, text, n) != n)
		bail("client: %s", text);
	n = pread(fd, text, sizeof(text) - 1, 0);
	if (n < 0)
		bail("client: no answer");
	text[n] = '\0';
	close(fd);
	return text;
}

const char *client_text(const char *format, ...)
{
	va_list arguments;
	const char *text;

	va_start(arguments, format);
	text = client_call(format, arguments);
	va_end(arguments);
	return text;
}

int64_t client(const char *format, ...)
{
	va_list arguments;
	int64_t value;

	va_start(arguments, format);
	value = strtoll(client_call(format, arguments), NULL, 0);
	va_end(arguments);
	return value;
}

static void signalled(int number)
{
	siglongjmp(after_signal, number);
}

static int guarded(const void *address, uint64_t *value)
{
	static const int signals[] = { SIGBUS, SIGSEGV };
	struct sigaction old[2], action = { .sa_handler = signalled };
	int i, number;

	for (i = 0; i < 2; i++)
		sigaction(signals[i], &action, &old[i]);
	number = sigsetjmp(after_signal, 1);
	if (number)
		goto restore;
	if (value)
		*value = *(const volatile uint64_t *)address;
	else
		(void)*(const volatile char *)address;
restore:
	for (i = 0; i < 2; i++)
		sigaction(signals[i], &old[i], NULL);
	return number;
}

bool peek(const void *address, uint64_t *value)
{
	return !guarded(address, value);
}

int touch(const void *address)
{
	return guarded(address, NULL);
}

pid_t start_process(int (*function)(int), int argument, int (*other)(void))
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		bail("fork");
	if (pid == 0)
		_exit(function ? function(argument) : other());
	return pid;
}

bool set_online(int cpu, bool online)
{
	char path[64];
	bool done;
	int fd;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online",
		 cpu);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return false;
	done = write(fd, online ? "1" : "0", 1) == 1;
	close(fd);
	return done;
}

/* Who returns so late was not woken, but looked again. */
#define POLL_MS		600000
#define WOKEN_S		590

int poll_woken(int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	struct timespec begin, end;
	int n;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	n = poll(&wait, 1, POLL_MS);
	clock_gettime(CLOCK_MONOTONIC, &end);
	if (n < 0)
		return -1;
	return end.tv_sec - begin.tv_sec < WOKEN_S ? wait.revents : 0;
}
