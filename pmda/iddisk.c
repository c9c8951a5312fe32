// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A thread that waits for the disk. It exists while a job runs: jobs are as rare as new
 * names. See idfile.h.
 *
 * A job is the thread's from pthread_create() to pthread_join(), which order what both
 * threads do to it.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "clock.h"
#include "idfile.h"

uint32_t agent_iddisk_patience = 3000;
/* How long an otherwise idle disk takes, in milliseconds. */
uint32_t agent_iddisk_moment = 20;

static struct id_job *current;
static pthread_t thread;
static int ended = -1;		/* readable once the thread is about to end */
static uint32_t waited_ms;	/* by this request */
static bool is_late;		/* a request has waited for the job in vain */

void agent_iddisk_path(char *path, const char *suffix)
{
	int sep = pmPathSeparator();

	pmsprintf(path, ID_PATH_SIZE, "%s%cconfig%cpmda%c%d.numbers%s",
		  pmGetConfig("PCP_VAR_DIR"), sep, sep, sep, agent_domain,
		  suffix);
}

static void *run(void *arg)
{
	struct id_job *job = arg;

	job->run(job);
	eventfd_write(ended, 1);
	return NULL;
}

static bool start(struct id_job *job)
{
	sigset_t all, before;
	int rc;

	if (ended < 0)
		ended = eventfd(0, EFD_CLOEXEC);
	if (ended < 0)
		return false;
	/* Signals are for the agent's thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&thread, NULL, run, job);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc == 0;
}

void agent_iddisk_begin(struct id_job *job)
{
	if (start(job)) {
		current = job;
		return;
	}
	/* Without a thread, the agent waits as long as it takes. */
	job->run(job);
	job->ended(job);
}

static bool wait_for(uint32_t ms)
{
	struct timespec timeout = { ms / 1000, ms % 1000 * 1000000L };
	struct pollfd pfd = { .fd = ended, .events = POLLIN };

	return ppoll(&pfd, 1, &timeout, NULL) == 1;
}

static void join(void)
{
	struct id_job *job = current;
	eventfd_t value;

	pthread_join(thread, NULL);
	eventfd_read(ended, &value);
	current = NULL;
	is_late = false;
	job->ended(job);
}

/* A request waits for one job after the other, but not again for one that is late. */
static bool wait_as_request(void)
{
	uint64_t since = agent_now_ms();
	bool has_ended;

	if (is_late || waited_ms >= agent_iddisk_patience)
		has_ended = wait_for(0);
	else
		has_ended = wait_for(agent_iddisk_patience - waited_ms);
	waited_ms += agent_now_ms() - since;
	is_late = !has_ended;
	return has_ended;
}

static bool wait_a_moment(void)
{
	return wait_for(is_late ? 0 : agent_iddisk_moment);
}

static bool do_not_wait(void)
{
	return wait_for(0);
}

static int settle(bool (*has_ended)(void))
{
	while (current) {
		if (!has_ended())
			return -EINPROGRESS;
		join();
	}
	return 0;
}

int agent_iddisk_settle(bool wait)
{
	return settle(wait ? wait_as_request : wait_a_moment);
}

void agent_iddisk_poll(void)
{
	settle(do_not_wait);
}

void agent_iddisk_new_request(void)
{
	waited_ms = 0;
}

void agent_iddisk_end(void)
{
	is_late = false;
	agent_iddisk_settle(true);
}
