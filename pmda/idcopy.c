// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A new file of lasting numbers, which is written beside the file, a batch at a time,
 * and then replaces it. See idfile.h.
 *
 * A step is a job: the agent's thread puts the records, the job writes them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "idfile.h"

/* Entries per step. */
#define STEP 4096

static int copy = -1;		/* the new file */
static off_t length;
static uint32_t lines, cursor;
static bool walked;		/* it has all names */
static bool outdated;		/* it lacks records that were lost */
static int last_rc;		/* of the last step, if not yet returned */

static struct step {
	struct id_job job;
	struct id_records records;
	int fd;
	struct id_old before;
	int kept;	/* result of keeping the damaged file */
	struct stat st;
	bool replaced;
	char file[ID_PATH_SIZE], new[ID_PATH_SIZE], old[ID_PATH_SIZE];
} step;

int agent_idcopy_write(int to, const char *text, size_t size)
{
	while (size) {
		ssize_t n = write(to, text, size);

		if (n >= 0) {
			text += n;
			size -= n;
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

static void set_paths(void)
{
	agent_iddisk_path(step.file, "");
	agent_iddisk_path(step.new, ".new");
	agent_iddisk_path(step.old, ".damaged");
}

static void run_discard(struct id_job *job)
{
	unlink(step.new);
	job->rc = 0;
}

static void discarded(struct id_job *job)
{
	(void)job;
}

/* No job runs. */
static void discard(void)
{
	if (copy < 0)
		return;
	close(copy);
	copy = -1;
	agent_idtable_walk_end();
	set_paths();
	step.job.run = run_discard;
	step.job.ended = discarded;
	agent_iddisk_begin(&step.job);
}

/* Write the records, to disk. */
static void run_write(struct id_job *job)
{
	job->rc = agent_idcopy_write(step.fd, step.records.text,
				     step.records.used);
	if (job->rc == 0 && fdatasync(step.fd) < 0)
		job->rc = -errno;
}

static void run_begin(struct id_job *job)
{
	unlink(step.new);
	step.fd = open(step.new,
		       O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC,
		       0644);
	if (step.fd < 0)
		job->rc = -errno;
	else
		run_write(job);
}

static void written(struct id_job *job)
{
	free(step.records.text);
	copy = step.fd;
	length += step.records.used;
	lines += step.records.count;
	last_rc = job->rc;
	if (job->rc < 0)
		discard();
}

static int sync_directory(char *path)
{
	char *end = strrchr(path, pmPathSeparator());
	int dir, rc = 0;

	*end = '\0';
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || fsync(dir) < 0)
		rc = -errno;
	if (dir >= 0)
		close(dir);
	return rc;
}

/* The damaged file is kept for inspection. */
static int keep_damaged(void)
{
	unlink(step.old);
	return link(step.file, step.old) < 0 ? -errno : 0;
}

/* Records that were appended to both files are on the disk of the old one alone. */
static void run_finish(struct id_job *job)
{
	step.kept = 0;
	step.replaced = fdatasync(step.fd) == 0 &&
			fstat(step.fd, &step.st) == 0;
	if (step.replaced && step.before.damaged)
		step.kept = keep_damaged();
	step.replaced = step.replaced && rename(step.new, step.file) == 0;
	if (!step.replaced) {
		job->rc = -errno;
		return;
	}
	/* The last reference to the old file, whose blocks are freed. */
	if (step.before.fd >= 0)
		close(step.before.fd);
	/* Until the directory is on disk, a crash brings the old file back. */
	job->rc = sync_directory(step.new);
}

static void finished(struct id_job *job)
{
	if (step.kept < 0)
		agent_error(NULL, "%s cannot be kept: %s", step.file,
			    pmErrStr(step.kept));
	last_rc = job->rc;
	if (!step.replaced) {
		discard();
		return;
	}
	copy = -1;
	step.before.replaced(step.fd, &step.st, length, lines, job->rc == 0);
}

/* No job runs. */
static int run_step(void (*run)(struct id_job *),
		    void (*ended)(struct id_job *), bool wait)
{
	int rc;

	set_paths();
	step.fd = copy;
	step.job.run = run;
	step.job.ended = ended;
	last_rc = 0;
	agent_iddisk_begin(&step.job);
	rc = agent_iddisk_settle(wait);
	if (rc < 0)
		return rc;
	rc = last_rc;
	last_rc = 0;
	return rc < 0 ? rc : copy >= 0;
}

static int write_records(void (*run)(struct id_job *), bool wait)
{
	step.records = agent_idrecord_take();
	if (!step.records.failed)
		return run_step(run, written, wait);
	free(step.records.text);
	discard();
	return -ENOMEM;
}

int agent_idcopy_step(const struct id_old *old, bool wait)
{
	int rc = last_rc;

	last_rc = 0;
	if (rc < 0)
		return rc;
	if (outdated)
		discard();
	outdated = false;
	rc = agent_iddisk_settle(wait);
	if (rc < 0)
		return rc;
	if (copy < 0) {
		walked = false;
		length = lines = cursor = 0;
		/* Pending records are part of what is written now. */
		agent_idrecord_drop();
		agent_idrecord_begin();
		return write_records(run_begin, wait);
	}
	if (walked) {
		step.before = *old;
		return run_step(run_finish, finished, wait);
	}
	walked = !agent_idtable_walk(&cursor, STEP, agent_idrecord_entry);
	return write_records(run_write, wait);
}

int agent_idcopy_fd(void)
{
	return copy;
}

void agent_idcopy_restart(void)
{
	outdated = copy >= 0;
}

void agent_idcopy_appended(int rc, size_t size, uint32_t count)
{
	length += size;
	lines += count;
	if (rc < 0)
		discard();
}
