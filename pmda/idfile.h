/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file of lasting numbers, for id.c. The table in memory is in idtable.h.
 *
 * What writes, and may wait for the disk, runs in a thread, one job at a time. The
 * agent's thread has all else, also what opens and reads the file: it begins a job, and
 * takes over its result. -EINPROGRESS is not an error: a job still runs, or there is
 * more to do.
 */
#ifndef KMMV_IDFILE_H
#define KMMV_IDFILE_H

#include <sys/stat.h>
#include "idtable.h"

/* ---- iddisk.c ---- */

/* The path of the file, or of one beside it with the suffix. */
enum { ID_PATH_SIZE = MAXPATHLEN };
void agent_iddisk_path(char *path, const char *suffix);

struct id_job {
	/* In the thread: sets RC. What the job has is its own until it has ended. */
	void (*run)(struct id_job *job);
	/* In the agent's thread, after that; may begin another one. */
	void (*ended)(struct id_job *job);
	int rc;			/* 0 or -errno */
};

/*
 * How long a request waits for the disk, in milliseconds: pmcd ends an agent that does
 * not answer within 5 s.
 */
extern uint32_t agent_iddisk_patience;
/* And how long the agent does between requests. */
extern uint32_t agent_iddisk_moment;

/* No other job runs. */
void agent_iddisk_begin(struct id_job *job);
/*
 * Wait until no job runs, WAIT: as long as a request may, otherwise for a moment.
 * -EINPROGRESS if one still does.
 */
int agent_iddisk_settle(bool wait);
/* Take over the results of jobs that have ended. */
void agent_iddisk_poll(void);
/* From here on the next request waits. */
void agent_iddisk_new_request(void);
/* The agent ends: wait once more, also for a job that is late. */
void agent_iddisk_end(void);

/* ---- idrecord.c ---- */

/* The first line. */
#define ID_HEADER "kmmv numbers 1\n"

/* Records that are not in the file yet. */
struct id_records {
	char *text;
	size_t used, room;
	uint32_t count;
	bool failed;		/* there was no memory for one */
	bool known;		/* not only new names, which can be taken back */
};

void agent_idrecord_name(const struct id *id);
/* Again, with another rest. */
void agent_idrecord_rest(const struct id *id);
void agent_idrecord_state(struct id *id);
void agent_idrecord_purged(const struct id *id);
/* The first line, the marks, and the families and fields in order. */
void agent_idrecord_begin(void);
/* An instance is put before its blocks. Returns how many were put. */
uint32_t agent_idrecord_entry(struct id *id);
/* Whether there are any, or were any that had no memory. */
bool agent_idrecord_pending(void);
/* Take them; the text is the caller's to free. */
struct id_records agent_idrecord_take(void);
void agent_idrecord_drop(void);

/* ---- idfile.c ---- */

/*
 * Read the file into the table. After an error, the table has a part of it; for want of
 * memory, none of its instances, and the file is to be read again before names are
 * looked up: it is unread.
 */
int agent_idfile_load(void);
bool agent_idfile_is_unread(void);
/*
 * Get the file ready for new records: -errno if they cannot be saved. No job runs
 * after it has returned 0.
 */
int agent_idfile_open(bool wait);
/*
 * Write the records put so far. With LATE, wait until they are on disk; if that takes
 * longer than a request may, return -EINPROGRESS, and LATE gets the result when the job
 * ends. Without LATE, the result of such a job is not reported.
 */
int agent_idfile_commit(void (*late)(int rc));
/*
 * Write pending records, or the whole file if it lacks some; opens it if need be.
 * -EINPROGRESS: call it again.
 */
int agent_idfile_save(bool wait);
/*
 * Do a step of rewriting the file without its garbage: 1 if there is more to
 * do.
 */
int agent_idfile_compact(void);
bool agent_idfile_is_long(void);
void agent_idfile_own(uid_t uid, gid_t gid);

/* ---- idcopy.c ---- */

/* The file that is written anew. */
struct id_old {
	int fd;			/* or -1; the last step closes it */
	bool damaged;		/* it is kept */
	/* FD is the file now; ON_DISK: it still is after a crash. */
	void (*replaced)(int fd, const struct stat *st, off_t length,
			 uint32_t lines, bool on_disk);
};

/*
 * Do the next step of writing the table into a new file, which replaces the OLD one with
 * the last step: 1 if there is more to do. No job runs. WAIT as in agent_iddisk_settle();
 * the result of a step that returned -EINPROGRESS is returned by the next call.
 */
int agent_idcopy_step(const struct id_old *old, bool wait);
/* The new file, or -1. */
int agent_idcopy_fd(void);
/* Records were lost that it may lack: begin it again. */
void agent_idcopy_restart(void);
/* A job has written COUNT records of SIZE bytes to it, too, or failed to. */
void agent_idcopy_appended(int rc, size_t size, uint32_t count);
/* Write all of it. */
int agent_idcopy_write(int to, const char *text, size_t size);

#endif /* KMMV_IDFILE_H */
