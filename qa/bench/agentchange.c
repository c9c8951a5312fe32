// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the agent's own code costs, as a daemon has it: the agent in this
 * process, on a simulated area whose names come as a device's do, only those
 * that changed.
 *
 *	agentchange DIR WHAT INSTANCES ROUNDS
 *
 * DIR is empty, on a file system whose syncs count. WHAT is one of
 *
 *	old	an instance is added, whose name has a number
 *	new	an instance is added, whose name has none
 *	fetch	all values are fetched
 *	memory	nothing but that, and what the process has in memory after it
 *
 * measured() is called ROUNDS times: callgrind's --toggle-collect counts what is
 * done there. Prints the median of the thread's CPU time in it, in nanoseconds,
 * the system's included; or kB.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <linux/kmmv.h>

#include "../../lib/handle.h"
#include "agent.h"
#undef main

enum { CPUS = 4, PAGE = 4096 };

void kmmv_init(pmdaInterface *dispatch);
void measured(bool fetches);

static struct kmmv_header *area;
static const char *dir;
static int names[2];
static pmdaInterface dispatch;
static pmID pmid;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t round_up(uint64_t n)
{
	return (n + PAGE - 1) / PAGE * PAGE;
}

static const char *path(const char *name)
{
	static char text[2][4096];
	static int turn;

	turn = !turn;
	snprintf(text[turn], sizeof(text[0]), "%s/%s", dir, name);
	return text[turn];
}

/* In a memfd that cannot shrink, as the library wants it. */
static void make_counters(uint32_t nr, uint32_t capacity)
{
	struct kmmv_header h = {
		.magic = KMMV_MAGIC,
		.major = KMMV_ABI_MAJOR,
		.minor = KMMV_ABI_MINOR,
		.size = sizeof(h),
		.features_compat = KMMV_F_ATOMIC64,
		.epoch = 77,
		.gen1 = 1,
		.gen2 = 1,
		.page_size = PAGE,
		.nr_cpus = CPUS,
		.capacity = capacity,
		.nr_instances = nr,
		.incarnation_offset = PAGE,
		.possible_offset = sizeof(h),
		.mask_size = 8,
		.online_offset = sizeof(h) + 8,
		.cpu_offset = PAGE + round_up(capacity * 4ULL),
		.cpu_stride = round_up(capacity * 8ULL),
	};
	char target[64];
	uint64_t *masks;
	int fd;

	h.length = h.cpu_offset + CPUS * h.cpu_stride;
	fd = memfd_create("counters", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0 || ftruncate(fd, h.length) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) < 0)
		die("memfd");
	area = mmap(NULL, h.length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (area == MAP_FAILED)
		die("mmap");
	*area = h;
	masks = (uint64_t *)((char *)area + h.possible_offset);
	masks[0] = masks[1] = (1 << CPUS) - 1;
	snprintf(target, sizeof(target), "/proc/self/fd/%d", fd);
	if (symlink(target, path("counters")) < 0)
		die("symlink");
}

static void make_names(uint32_t nr)
{
	FILE *file = fopen(path("names"), "w");
	uint32_t n;

	if (!file)
		die("names");
	fputs("kmmv abi=1.0 epoch=77\n"
	      "family id=0 units=count semantics=counter name=counter\n", file);
	for (n = 0; n < nr; n++)
		fprintf(file, "instance number=%u family=0 incarnation=0 state=active name=instance%u\n",
			n, n);
	fputs("end 1\n", file);
	fclose(file);
}

/* The agent as a daemon, which may write, at the area. */
static void begin(uint32_t nr, uint32_t capacity)
{
	struct kmmv *k;
	int work;

	if (mkdir(path("config"), 0755) < 0 ||
	    mkdir(path("config/pmda"), 0755) < 0)
		die(dir);
	setenv("PCP_VAR_DIR", dir, 1);
	setenv("PCP_PMDAS_DIR", dir, 1);
	setenv("KMMV_DEVICE_DIR", dir, 1);
	dispatch.comm.pmda_interface = PMDA_INTERFACE_7;
	dispatch.domain = 389;
	kmmv_init(&dispatch);
	agent_id_load(true, agent_family_load);
	make_counters(nr, capacity);
	make_names(nr);
	agent_attach_want(false);
	agent_attach_want(true);
	do {
		agent_attach_sync();
		work = agent_id_work();
	} while (work == 0 || work == AGENT_ID_POLL_MS);
	k = agent_attach_handle();
	if (!k || agent_instance_active() != nr) {
		fprintf(stderr, "agentchange: %u of %u: %s\n", agent_instance_active(), nr, agent_error_text());
		exit(1);
	}
	if (pipe2(names, O_NONBLOCK) < 0)
		die("pipe");
	pmid = pmID_build(389, FIRST_CLUSTER, ITEM_SUM);
}

/* From now on the names are a stream. */
static void stream(void)
{
	struct kmmv *k = agent_attach_handle();

	k->kind = KMMV_DEVICE;
	k->names_fd = names[0];
}

/* A change of the table: this record. */
static void change(uint32_t number, uint32_t incarnation, const char *state,
		   const char *name, uint32_t of)
{
	uint64_t generation = area->gen1 + 1;
	char text[256];
	int n;

	area->gen1 = generation;
	((uint32_t *)((char *)area + area->incarnation_offset))[number] =
		incarnation;
	n = snprintf(text, sizeof(text), "instance number=%u family=0 incarnation=%u state=%s name=",
		     number, incarnation, state);
	if (*name)
		n += snprintf(text + n, sizeof(text) - n, "%s%u", name, of);
	n += snprintf(text + n, sizeof(text) - n, "\nend %llu\n",
		      (unsigned long long)generation);
	if (number >= area->nr_instances)
		area->nr_instances = number + 1;
	if (write(names[1], text, n) != n)
		die("pipe");
	area->gen2 = generation;
}

__attribute__((noinline)) void measured(bool fetches)
{
	pmdaResult *result;

	if (!fetches) {
		agent_attach_sync();
		return;
	}
	if (agent_fetch(1, &pmid, &result, agent_ext) < 0 ||
	    result->vset[0]->numval <= 0) {
		fprintf(stderr, "agentchange: no values\n");
		exit(1);
	}
	free(result->vset[0]);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The process's memory, without the counters, which are the kernel's. */
static void tell_memory(void)
{
	unsigned long anonymous = 0, files = 0;
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		sscanf(line, "RssAnon: %lu", &anonymous);
		sscanf(line, "RssFile: %lu", &files);
	}
	if (!anonymous)
		die("/proc/self/status");
	printf("%lu\n", anonymous + files);
}

int main(int argc, char **argv)
{
	uint32_t nr, rounds, i, number;
	bool fetches, is_new;
	uint64_t *took;

	if (argc != 5) {
		fprintf(stderr, "usage: agentchange DIR WHAT INSTANCES ROUNDS\n");
		return 1;
	}
	dir = argv[1];
	is_new = strcmp(argv[2], "new") == 0;
	fetches = !is_new && strcmp(argv[2], "old") != 0;
	nr = atoi(argv[3]);
	rounds = atoi(argv[4]);
	took = calloc(rounds, sizeof(*took));
	if (!took || !nr || !rounds)
		return 1;
	begin(nr, nr + rounds + 1);
	if (!fetches)
		stream();
	for (i = 0; i < rounds; i++) {
		uint64_t start;

		number = nr + i;
		if (is_new) {
			change(number, 0, "active", "new", i);
		} else if (!fetches) {
			change(nr / 2, i + 1, "free", "", 0);
			agent_attach_sync();
			change(nr / 2, i + 1, "active", "instance", nr / 2);
		}
		start = now_ns();
		measured(fetches);
		took[i] = now_ns() - start;
	}
	if (agent_instance_active() != nr + (is_new ? rounds : 0)) {
		fprintf(stderr, "agentchange: %u are active\n",
			agent_instance_active());
		return 1;
	}
	qsort(took, rounds, sizeof(*took), compare);
	if (strcmp(argv[2], "memory") == 0)
		tell_memory();
	else
		printf("%llu\n", (unsigned long long)took[rounds / 2]);
	fflush(stdout);
	_exit(0);
}
