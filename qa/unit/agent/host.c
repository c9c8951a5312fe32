// SPDX-License-Identifier: GPL-2.0-only
/*
 * The common part of the agent's tests: its host, their clock and poll(), and
 * frequent queries.
 */
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>

#include "host.h"

struct host host;
struct area area;
struct fake fake;

void setup(void)
{
	area_small(&area, true);
	area_share(&area);
	host_write(area.dir, "ring/default", "");
	host_write(area.dir, "sim/default.stats", "0 1 1 2 3 4\n1 1 5 6 7 8\n");
	host_init(area.dir);
}

void teardown(void)
{
	host_fini(area.dir);
	area_fini(&area);
}

TCase *add_case(Suite *suite, const char *name, void (*begin)(void))
{
	TCase *tcase = tcase_create(name);

	/* Sanitizers and load make machines slow. */
	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, begin, teardown);
	suite_add_tcase(suite, tcase);
	return tcase;
}

static void stop_in_time(void)
{
	if (!fake.stop || fake.stop_after--)
		return;
	fake.wall += fake.stop;
	fake.boot += fake.stop;
	fake.stop = 0;
}

int clock_gettime(clockid_t clock, struct timespec *ts)
{
	if (fake.boot && clock == CLOCK_BOOTTIME) {
		stop_in_time();
		*ts = (struct timespec){ .tv_sec = fake.boot };
		return 0;
	}
	if (!fake.on || clock != CLOCK_MONOTONIC)
		return syscall(SYS_clock_gettime, clock, ts);
	ts->tv_sec = fake.ms / 1000;
	ts->tv_nsec = fake.ms % 1000 * 1000000;
	return 0;
}

/* Replaces the library's. */
time_t time(time_t *result)
{
	struct timespec ts;

	stop_in_time();
	ts.tv_sec = fake.wall;
	if (!fake.wall)
		syscall(SYS_clock_gettime, CLOCK_REALTIME, &ts);
	if (result)
		*result = ts.tv_sec;
	return ts.tv_sec;
}

unsigned int host_refreshes;
uint64_t host_max_age;
int host_refresh_error;

/* Before the library's: the area is no device, which could copy. */
int kmmv_refresh(struct kmmv *k, uint64_t max_age_ns, uint64_t *age_ns)
{
	(void)k;
	(void)age_ns;
	host_max_age = max_age_ns;
	host_refreshes++;
	return host_refresh_error;
}

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	if (!fake.on)
		return syscall(SYS_poll, fds, count, timeout);
	fds[0].revents = 0;
	if (timeout >= 0 && fake.ms + timeout < fake.next) {
		fake.ms += timeout;
		fake.quiet++;
		return 0;
	}
	fake.ms = fake.next;
	fake.next += fake.step;
	fds[0].revents = POLLIN;
	if (count < 2 || !fake.woken)
		return 1;
	fds[1].revents = POLLIN;
	return 2;
}

int __pmdaInFd(pmdaInterface *dispatch)
{
	(void)dispatch;
	return 0;
}

int __pmdaMainPDU(pmdaInterface *dispatch)
{
	(void)dispatch;
	return fake.requests-- > 0 ? 0 : -1;
}

bool told_of(const char *text)
{
	pmValueSet *set = host_fetch("kmmv.control.error");
	bool found = strstr(set->vlist[0].value.pval->vbuf, text);

	free(set);
	return found;
}

int records_of(int ctx)
{
	pmValueSet *set;
	int rc;

	host.dispatch.version.seven.ext->e_context = ctx;
	set = host_fetch("kmmv.ring.records");
	rc = set->numval;
	free(set);
	return rc;
}

void reload_types(const char *types)
{
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 0), 0);
	host_write(area.dir, "sim/types", types);
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 1), 0);
}

void seven_comes(void)
{
	char line[128];

	free(host_fetch("kmmv.ring.records"));
	snprintf(line, sizeof(line),
		 "%lld000000000 0 0 0 0 4294967295 0 17 07\n",
		 (long long)time(NULL) + 3600);
	host_write(area.dir, "ring/default", line);
}

bool has_metric(const char *name)
{
	pmID pmid;

	return CALL(pmid, name, &pmid) >= 0;
}
