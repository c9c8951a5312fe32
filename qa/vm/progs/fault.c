// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each allocation of an operation fails in turn: fault OPERATION ARGUMENT...
 *
 *	load FILE [PARAMETERS]	load a module, and unload it; the allocations of the
 *				loader itself do not fail
 *	mkdir DIRECTORY		make it, and remove it
 *	write FILE TEXT [UNDO]	write TEXT, and UNDO to undo it
 *	call TEXT [UNDO]...	commands of the test client; %d is N in TEXT, and the
 *				result of TEXT in each UNDO
 *	open FILE		open it, and close it
 *	map FILE		map its first page, with the file open, and unmap it
 *	read FILE		read the open file to its end
 *
 * The kernel (CONFIG_FAULT_INJECTION, Documentation/fault-injection) makes the
 * Nth allocation of this thread in the operation fail. N counts up until the
 * operation has fewer allocations. Each time it has to fail with ENOMEM or to
 * succeed; then it is undone without faults. Prints "N faults, N refused", and
 * errors; status 1 if there were any.
 *
 * A module's own allocations are the last of many that loading it takes. N counts
 * down from the last one until the loader does not come to the tracepoint
 * module_load, which is where the module begins.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALL	"/sys/kernel/debug/kmmv_client/call"
#define TRACING	"/sys/kernel/tracing/"

enum { FAULTS_MAX = 100000 };

static int fail_nth;
static char **argument;
static int fd = -1;
static int nth;			/* which allocation is to fail */
static int number;		/* the result of call */
static void *page;
static char buffer[1 << 16];

static void die(const char *what)
{
	perror(what);
	exit(2);
}

/* Make the next operation's COUNTth allocation fail; 0: none. */
static void arm(int count)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%d", count);

	if (pwrite(fail_nth, text, length, 0) != length)
		die("fail-nth");
}

/* Return: allocations left before the one that is to fail; 0 if it has failed. */
static int disarm(void)
{
	char text[16] = "";

	if (pread(fail_nth, text, sizeof(text) - 1, 0) < 1)
		die("fail-nth");
	arm(0);
	return atoi(text);
}

static int put(const char *file, const char *text)
{
	int to = open(file, O_WRONLY);
	int rc;

	if (to < 0)
		return -errno;
	rc = write(to, text, strlen(text)) < 0 ? -errno : 0;
	close(to);
	return rc;
}

static void open_it(void)
{
	fd = open(argument[0], O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		die(argument[0]);
}

static void close_it(void)
{
	close(fd);
	fd = -1;
}

/* ---- operations: preparation, operation, undoing of a success, cleaning up */

static void module_file(void)
{
	fd = open(argument[0], O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die(argument[0]);
}

static int load(void)
{
	const char *parameters = argument[1] ? argument[1] : "";

	return syscall(SYS_finit_module, fd, parameters, 0) < 0 ? -errno : 0;
}

static void unload(void)
{
	char name[64], *end;

	snprintf(name, sizeof(name), "%s", strrchr(argument[0], '/') ?
			 strrchr(argument[0], '/') + 1 : argument[0]);
	end = strchr(name, '.');
	if (end)
		*end = '\0';
	if (syscall(SYS_delete_module, name, 0) < 0)
		die("unload");
}

static int make_directory(void)
{
	return mkdir(argument[0], 0755) < 0 ? -errno : 0;
}

static void remove_directory(void)
{
	if (rmdir(argument[0]) < 0)
		die(argument[0]);
}

static int write_file(void)
{
	return put(argument[0], argument[1]);
}

static void write_undo(void)
{
	if (argument[2] && put(argument[0], argument[2]) < 0)
		die(argument[2]);
}

/* The format is the test's own argument. */
static void call_before(void)
{
	snprintf(buffer, sizeof(buffer), argument[0], nth);
	fd = open(CALL, O_WRONLY);
	if (fd < 0)
		die(CALL);
}

static int call(void)
{
	return write(fd, buffer, strlen(buffer)) < 0 ? -errno : 0;
}

static int read_result(void)
{
	FILE *file = fopen(CALL, "r");
	int result;

	if (!file || fscanf(file, "%d", &result) != 1)
		die(CALL);
	fclose(file);
	return result;
}

static int call_result(void)
{
	number = read_result();
	return number;
}

static void call_undo(void)
{
	char text[256];
	int i;

	for (i = 1; argument[i]; i++) {
		snprintf(text, sizeof(text), argument[i], number);
		if (put(CALL, text) < 0 || read_result() < 0)
			die(text);
	}
}

static int open_file(void)
{
	fd = open(argument[0], O_RDONLY | O_NONBLOCK);
	return fd < 0 ? -errno : 0;
}

static int map(void)
{
	page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	*(volatile char *)page;
	return 0;
}

static void unmap(void)
{
	munmap(page, 4096);
}

static int read_all(void)
{
	ssize_t n;

	do
		n = read(fd, buffer, sizeof(buffer));
	while (n > 0);
	return n < 0 && errno != EAGAIN ? -errno : 0;
}

static const struct operation {
	const char *name;
	void (*before)(void);
	int (*run)(void);
	int (*result)(void);
	void (*undo)(void);
	void (*after)(void);
} operations[] = {
	{ "load", module_file, load, NULL, unload, close_it },
	{ "mkdir", NULL, make_directory, NULL, remove_directory, NULL },
	{ "write", NULL, write_file, NULL, write_undo, NULL },
	{ "call", call_before, call, call_result, call_undo, close_it },
	{ "open", NULL, open_file, NULL, close_it, NULL },
	{ "map", open_it, map, NULL, unmap, close_it },
	{ "read", open_it, read_all, NULL, NULL, close_it },
};

static const struct operation *find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		if (strcmp(operations[i].name, name) == 0)
			return &operations[i];
	}
	fprintf(stderr, "no operation %s\n", name);
	exit(2);
}

/* Whether the loader came to where the module begins, since this was last asked. */
static bool module_began(void)
{
	FILE *file = fopen(TRACING "trace", "r");
	char line[512];
	bool began = false;

	if (!file)
		die(TRACING "trace");
	while (fgets(line, sizeof(line), file))
		began |= strstr(line, "module_load:") != NULL;
	fclose(file);
	if (truncate(TRACING "trace", 0) < 0)
		die(TRACING "trace");
	return began;
}

static int faults, refused, bad;

/* The operation with a fault at @nth. Return: what is left of disarm(). */
static int try_it(const struct operation *op)
{
	int rc, left;

	if (op->before)
		op->before();
	arm(nth);
	rc = op->run();
	left = disarm();
	if (rc == 0 && op->result) {
		rc = op->result();
		rc = rc < 0 ? rc : 0;
	}
	faults += !left;
	refused += rc < 0;
	if (rc < 0 && (left || rc != -ENOMEM)) {
		printf("%s allocation %d: %s\n",
		       left ? "with every one, also" : "without", nth,
		       strerror(-rc));
		bad = 1;
	}
	if (rc == 0 && op->undo)
		op->undo();
	if (op->after)
		op->after();
	return left;
}

static void each_of_module(const struct operation *op)
{
	int last;

	if (put(TRACING "events/module/module_load/enable", "1") < 0)
		die("module_load");
	module_began();
	nth = FAULTS_MAX;
	last = FAULTS_MAX - try_it(op);
	if (!module_began())
		bad = 1;
	for (nth = last; nth > 0; nth--) {
		try_it(op);
		if (!module_began())
			break;
	}
	put(TRACING "events/module/module_load/enable", "0");
	/* The last one was the loader's. */
	faults--;
	refused--;
	printf("%d faults, %d refused, after %d of the loader\n", faults,
	       refused, nth);
}

int main(int argc, char **argv)
{
	const struct operation *op;
	int left;

	if (argc < 3)
		return 2;
	op = find(argv[1]);
	argument = argv + 2;
	fail_nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (fail_nth < 0)
		die("fail-nth");

	if (op->run == load) {
		each_of_module(op);
		return bad;
	}
	nth = 0;
	do {
		nth++;
		left = try_it(op);
	} while (!left && nth < FAULTS_MAX);
	printf("%d faults, %d refused\n", faults, refused);
	return bad || !left;
}
