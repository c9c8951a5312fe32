// SPDX-License-Identifier: GPL-2.0-only
#include <pthread.h>
#include <sys/syscall.h>
#include "numbers.h"
#include "provider.h"

void put_names(const char *lines)
{
	uint64_t generation = area.header->gen1 + 1;

	__atomic_store_n(&area.header->gen1, generation, __ATOMIC_RELEASE);
	area_names_start(&area);
	area_names(&area, "kmmv abi=1.0 epoch=77\n" TABLE "%send %llu\n", lines,
		   (unsigned long long)generation);
	area_put_names(&area);
	__atomic_store_n(&area.header->gen2, generation, __ATOMIC_RELEASE);
}

void names_are(const char *lines)
{
	put_names(lines);
	ck_assert(agent_attach_sync());
}

void begin_machine(const char *numbers)
{
	area_init(&area, 4, 16, 8, true);
	host_init(area.dir);
	if (numbers)
		host_write(host.var, NUMBERS, numbers);
}

void begin_attached(const char *lines)
{
	area_names(&area, "kmmv abi=1.0 epoch=77\n" TABLE "%send 1\n", lines);
	area_share(&area);
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 0), 0);
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 1), 0);
	ck_assert(agent_attach_sync());
}

void load_numbers(bool writer)
{
	agent_id_load(writer, agent_provider_load);
}

void begin_lasting(const char *numbers)
{
	begin_machine(numbers);
	load_numbers(true);
	begin_attached("");
}

void setup_lasting(void)
{
	begin_lasting(NULL);
}

void setup_long(void)
{
	enum { NAMES = 6000, GARBAGE = 3 * NAMES };
	char *text, *at;
	int n;

	text = malloc((NAMES + GARBAGE) * 32);
	ck_assert_ptr_nonnull(text);
	at = text + sprintf(text, HEADER);
	for (n = 0; n < NAMES; n++)
		at += sprintf(at, "+ 16 %d n%d\n", n, n);
	for (n = 0; n < GARBAGE; n++)
		at += sprintf(at, "* 16 0\n");
	begin_lasting(text);
	free(text);
}

int on_disk(const char *begin)
{
	FILE *file = fopen(host_path(NUMBERS), "r");
	char line[512];
	int found = 0;

	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file))
		found += strncmp(line, begin, strlen(begin)) == 0;
	fclose(file);
	return found;
}

bool is_rewritten(void)
{
	return access(host_path(NUMBERS ".new"), F_OK) == 0;
}

void wait_for_disk(void)
{
	while (agent_iddisk_settle(true) < 0)
		agent_iddisk_new_request();
}

int work(void)
{
	int ms;

	do {
		ms = agent_id_work();
		wait_for_disk();
	} while (ms == AGENT_ID_POLL_MS);
	return ms;
}

void work_at(uint64_t seconds)
{
	fake.on = true;
	fake.ms = seconds * 1000;
	work();
	fake.on = false;
}

struct disk disk;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool waits;
static bool dirty;	/* the new file was written to since fdatasync() */

static bool is_new(const char *path)
{
	size_t length = strlen(path);

	return length > 4 && strcmp(path + length - 4, ".new") == 0;
}

/* The path of FD, if that is the file of numbers or the new one; "" otherwise. */
static void path_of(int fd, char *path, size_t size)
{
	char link[64];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, size - 1);
	path[length < 0 ? 0 : length] = '\0';
	if (!strstr(path, ".numbers"))
		path[0] = '\0';
}

ssize_t write(int fd, const void *from, size_t size)
{
	char path[256];
	int error = 0;

	path_of(fd, path, sizeof(path));
	if (path[0])
		error = is_new(path) ? disk.copy_error : disk.write_error;
	if (error) {
		errno = error;
		return -1;
	}
	if (is_new(path))
		dirty = true;
	return syscall(SYS_write, fd, from, size);
}

int rename(const char *from, const char *to)
{
	disk.unsynced += is_new(from) && dirty;
	if (disk.rename_error && strstr(from, ".numbers")) {
		errno = disk.rename_error;
		return -1;
	}
	return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

static void wait_while(const bool *stalls)
{
	pthread_mutex_lock(&lock);
	waits = *stalls;
	pthread_cond_broadcast(&changed);
	while (*stalls)
		pthread_cond_wait(&changed, &lock);
	waits = false;
	pthread_mutex_unlock(&lock);
}

int unlink(const char *path)
{
	if (is_new(path))
		wait_while(&disk.unlink_stalls);
	return syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

/* Replaces the library's. */
int fdatasync(int fd)
{
	char path[256];

	wait_while(&disk.stalls);
	usleep(disk.delay);
	disk.syncs++;
	if (disk.error) {
		errno = disk.error;
		return -1;
	}
	path_of(fd, path, sizeof(path));
	if (is_new(path))
		dirty = false;
	return syscall(SYS_fdatasync, fd);
}

int fsync(int fd)
{
	disk.fsyncs++;
	if (!disk.fsync_error)
		return syscall(SYS_fsync, fd);
	errno = disk.fsync_error;
	return -1;
}

void disk_stalls(void)
{
	agent_iddisk_patience = agent_iddisk_moment = 10;
	disk.syncs = 0;
	disk.stalls = true;
}

static bool is_waited_for(void)
{
	bool waited_for;

	pthread_mutex_lock(&lock);
	waited_for = waits;
	pthread_mutex_unlock(&lock);
	return waited_for;
}

void disk_is_waited_for(void)
{
	do {
		agent_iddisk_poll();
		usleep(1000);
	} while (!is_waited_for());
}

void work_waits_for_disk(void)
{
	do {
		ck_assert_int_eq(agent_id_work(), AGENT_ID_POLL_MS);
		usleep(1000);
	} while (!is_waited_for());
}

void disk_lets_go(int error)
{
	pthread_mutex_lock(&lock);
	disk.error = error;
	disk.stalls = disk.unlink_stalls = false;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

void disk_goes_on(int error)
{
	disk_lets_go(error);
	agent_iddisk_patience = agent_iddisk_moment = HOST_PATIENCE;
	wait_for_disk();
}

struct family *family(const char *name)
{
	struct family *f = agent_family_by_name(name);

	ck_assert_ptr_nonnull(f);
	return f;
}

int number_of(const char *name, const char *inst)
{
	struct id *id = agent_id_find(agent_scope_of(family(name)), inst);

	return id && id->user ? id->number : -1;
}
