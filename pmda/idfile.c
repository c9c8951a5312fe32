// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The file of lasting numbers, $PCP_VAR_DIR/config/pmda/DOMAIN.numbers: text,
 * one record per line, appended to.
 *
 *	kmmv numbers 1			the first line
 *	+ SCOPE NUMBER NAME REST	given out; repeated with a new REST
 *	= SCOPE LIMIT			mark: numbers below were given out
 *	* SCOPE NUMBER			in use
 *	- SCOPE NUMBER SINCE		not in use since then, seconds
 *	! SCOPE NUMBER SINCE		forgotten by the kernel then
 *	x SCOPE NUMBER			purged
 *
 * A number is written and synced before a client learns of it. A last line
 * without a newline was cut short by a crash and is ignored. When most of the
 * file is garbage, a new file is written beside it, see idcopy.c; meanwhile records
 * are appended to both. Marks keep the numbers of purged names from being given
 * out again.
 *
 * One process writes, under a lock on a separate file, as this one is replaced.
 * After taking the lock, it reads what other processes wrote.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "idfile.h"

/* Lines that a file may have beyond twice its live records. */
#define SLACK 4096

static struct file {
	dev_t dev;
	ino_t ino;
	off_t length;	/* end of the last complete line */
	uint32_t lines;
	off_t damaged;	/* bytes of it in invalid lines */
} file; /* as last read or written */

static int fd = -1, lock = -1;
static bool rewrite;	/* the file cannot be appended to */
static bool lost;	/* records were lost: the file lacks known state */
static bool unread;	/* there was no memory to read the file */

/* Records that a job appends. */
static struct append {
	struct id_job job;
	struct id_records records;
	int fd, copy;
	struct file file;	/* without them */
	char path[ID_PATH_SIZE];
	bool unknown;		/* what the file has now */
	int copied;		/* result of writing to the copy */
	void (*late)(int rc);	/* if they are to be on disk */
	bool waiting;		/* their caller still waits */
	bool running;
} append;

/* A look whether the file is there. */
static struct look {
	struct id_job job;
	struct file file;
	char path[ID_PATH_SIZE];
	bool gone;
} look;

static const char *path(const char *suffix)
{
	static char text[ID_PATH_SIZE];

	agent_iddisk_path(text, suffix);
	return text;
}

/* -EINVAL if LINE is not a record, -ENOMEM if there is no memory for it. */
static int take(char *line)
{
	int scope, number, at = 0;
	unsigned int since = 0;
	char kind;

	if (sscanf(line, "%c %d %d%n", &kind, &scope, &number, &at) != 3 ||
	    !at || scope < 0 || number < 0)
		return -EINVAL;
	switch (kind) {
	case '+':
		if (line[at] != ' ' || !line[at + 1] || line[at + 1] == ' ')
			return -EINVAL;
		return agent_idtable_loaded(scope, number, line + at + 1);
	case '=':
		return agent_idtable_reserve(scope, number) ? 0 : -EINVAL;
	case '-':
	case '!':
		if (sscanf(line + at, "%u", &since) != 1)
			return -EINVAL;
		return agent_idtable_loaded_state(kind, scope, number, since);
	case '*':
	case 'x':
		return agent_idtable_loaded_state(kind, scope, number, 0);
	default:
		return -EINVAL;
	}
}

static bool is_same_file(const struct file *f, const struct stat *st)
{
	return f->dev == st->st_dev && f->ino == st->st_ino;
}

static int take_line(char *line, size_t length)
{
	if (strlen(line) != length)
		return -EINVAL;
	if (file.length == 0)
		return strcmp(line, ID_HEADER) == 0 ? 0 : -EINVAL;
	line[length - 1] = '\0';
	return take(line);
}

/* The first line tells other versions apart. */
static bool is_other_version(const char *line)
{
	return file.length == 0 && strncmp(line, "kmmv numbers ", 13) == 0 &&
	       strcmp(line, ID_HEADER) != 0;
}

/* A last line that is cut short is no error, unless reading failed there. */
static int take_lines(FILE *in)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	int rc = 0;

	for (;;) {
		n = getline(&line, &room, in);
		if (n < 0) {
			rc = feof(in) ? 0 : -errno;
			break;
		}
		if (line[n - 1] != '\n') {
			rc = ferror(in) ? -EIO : 0;
			break;
		}
		if (is_other_version(line))
			rc = -EOPNOTSUPP;
		else
			rc = take_line(line, n);
		if (rc < 0 && rc != -EINVAL)
			break;
		if (rc == -EINVAL)
			file.damaged += n;
		rc = 0;
		file.length += n;
		file.lines++;
	}
	/* No agent makes a file without its first line. */
	if (rc == 0 && !file.length)
		file.damaged = n > 0 ? n : 1;
	free(line);
	return rc;
}

/*
 * Read IN, which replaced the file BEFORE, or was appended to it. Another agent's
 * rewrite has no record of what it purged: forget that here, too, and write again what
 * is in use.
 */
static int take_file(FILE *in, const struct file *before)
{
	struct stat st;

	if (fstat(fileno(in), &st) < 0 || !S_ISREG(st.st_mode))
		return -EINVAL;
	file.dev = st.st_dev;
	file.ino = st.st_ino;
	if (before->ino && !is_same_file(before, &st)) {
		agent_idtable_unload();
		lost = true;
	}
	return take_lines(in);
}

int agent_idfile_load(void)
{
	struct file before = file;
	FILE *in;
	int rc;

	memset(&file, 0, sizeof(file));
	in = fopen(path(""), "re");
	rc = in ? take_file(in, &before) : -errno;
	if (in)
		fclose(in);
	agent_idlist_sort();
	unread = rc == -ENOMEM;
	if (rc == -ENOENT)
		return 0;
	/*
	 * After a read error, what was read is used. After -ENOMEM all is read
	 * again, as unread records may change those that were read.
	 */
	if (unread)
		agent_idtable_unload();
	if (rc < 0) {
		/* This process reads the file again before it writes. */
		file = before;
		file.length = 0;
		return rc;
	}
	if (file.damaged) {
		agent_error(NULL, file.length ?
			    "%s is damaged: invalid records are ignored" :
			    "%s is damaged: it has no first line",
			    path(""));
		/* Not again if only other agents' records were appended. */
		if (file.dev != before.dev || file.ino != before.ino ||
		    file.damaged != before.damaged)
			agent_idtable_skip(file.length ? file.damaged : INT_MAX);
	}
	return 0;
}

bool agent_idfile_is_unread(void)
{
	return unread;
}

/*
 * Only the agent's user may lock it: another user that held the lock would keep names
 * from getting numbers. An earlier version made a file that all could read.
 */
static int open_lock(void)
{
	struct stat st;
	int new;

	new = open(path(".lock"), O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
		   0600);
	if (new >= 0 && fstat(new, &st) == 0 && st.st_mode & 0077 &&
	    st.st_nlink == 1)
		fchmod(new, 0600);
	return new;
}

static int take_lock(void)
{
	if (lock >= 0)
		return 0;
	lock = open_lock();
	if (lock < 0)
		return -errno;
	if (flock(lock, LOCK_EX | LOCK_NB) < 0) {
		int rc = -errno;

		close(lock);
		lock = -1;
		return rc == -EWOULDBLOCK ? -EBUSY : rc;
	}
	return 0;
}

/* Records of known names were lost. */
static void lose(void)
{
	lost = true;
	agent_idcopy_restart();
}

static void replaced(int new, const struct stat *st, off_t length,
		     uint32_t lines, bool on_disk)
{
	fd = new;
	file.dev = st->st_dev;
	file.ino = st->st_ino;
	file.length = length;
	file.lines = lines;
	file.damaged = 0;
	lost = false;
	rewrite = !on_disk;
	agent_error_settle(&file);
}

static int rewrite_step(bool wait)
{
	struct id_old old = {
		.fd = fd,
		.damaged = file.damaged,
		.replaced = replaced,
	};

	return agent_idcopy_step(&old, wait);
}

/* A request goes on until it has waited for long enough; otherwise a step is done. */
static int rewrite_all(bool wait)
{
	int rc;

	do {
		rc = rewrite_step(wait);
	} while (rc > 0 && wait);
	return rc > 0 ? -EINPROGRESS : rc;
}

/* Read what others wrote meanwhile; *THERE: the file exists. */
static int reread(bool *there)
{
	struct stat st;

	*there = false;
	if (stat(path(""), &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	*there = true;
	if (is_same_file(&file, &st) && st.st_size == file.length)
		return 0;
	return agent_idfile_load();
}

/* A line that was cut short is cut off. */
static bool cut(void)
{
	struct stat st;

	return fstat(fd, &st) == 0 &&
	       (st.st_size == file.length || ftruncate(fd, file.length) == 0);
}

static int open_to_append(void)
{
	bool there;
	int rc;

	rc = reread(&there);
	if (rc < 0)
		return rc;
	if (there)
		fd = open(path(""),
			  O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
	/* The file may be root's; the directory suffices to replace it. */
	rewrite = fd < 0 || file.damaged || !file.length || lost;
	if (!rewrite && !cut())
		rewrite = true;
	return 0;
}

int agent_idfile_open(bool wait)
{
	int rc = agent_iddisk_settle(wait);

	if (rc < 0)
		return rc;
	if (fd >= 0 && lost)
		rewrite = true;
	if (fd >= 0 && !rewrite)
		return 0;
	rc = take_lock();
	if (rc == 0 && !rewrite)
		rc = open_to_append();
	if (rc < 0)
		return rc;
	return rewrite ? rewrite_all(wait) : 0;
}

/* Whether the next agent would not find F, this agent's file, at PATH. */
static bool is_replaced(const struct file *f, const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno == ENOENT || errno == ENOTDIR;
	return !is_same_file(f, &st);
}

/* If a failure cannot be undone, it is unknown what is on disk. */
static void run_append(struct id_job *job)
{
	const struct id_records *r = &append.records;

	append.copied = 0;
	append.unknown = is_replaced(&append.file, append.path);
	if (append.unknown) {
		job->rc = -ESTALE;
		return;
	}
	job->rc = agent_idcopy_write(append.fd, r->text, r->used);
	if (job->rc == 0 && append.late && fdatasync(append.fd) < 0) {
		job->rc = -errno;
		append.unknown = true;
	}
	if (job->rc < 0 && ftruncate(append.fd, append.file.length) < 0)
		append.unknown = true;
	if (job->rc == 0 && append.copy >= 0)
		append.copied =
			agent_idcopy_write(append.copy, r->text, r->used);
}

static void appended(struct id_job *job)
{
	const struct id_records *r = &append.records;

	append.running = false;
	rewrite |= append.unknown;
	if (job->rc == 0) {
		file.length += r->used;
		file.lines += r->count;
		if (append.copy >= 0)
			agent_idcopy_appended(append.copied, r->used, r->count);
	} else if (r->known || !append.late) {
		/* The copy lacks them, like the file. */
		lose();
	}
	free(r->text);
	if (append.late && !append.waiting)
		append.late(job->rc);
}

static int append_records(struct id_records records, void (*late)(int rc))
{
	append.records = records;
	append.job.run = run_append;
	append.job.ended = appended;
	append.fd = fd;
	append.copy = agent_idcopy_fd();
	append.file = file;
	agent_iddisk_path(append.path, "");
	append.late = late;
	append.waiting = append.running = true;
	agent_iddisk_begin(&append.job);
	/* It may begin another job as it ends. */
	agent_iddisk_settle(late != NULL);
	append.waiting = false;
	return append.running ? -EINPROGRESS : append.job.rc;
}

int agent_idfile_commit(void (*late)(int rc))
{
	struct id_records records;
	int rc;

	if (!agent_idrecord_pending())
		return 0;
	rc = agent_iddisk_settle(late != NULL);
	if (rc < 0 && !late)
		return rc;
	records = agent_idrecord_take();
	if (records.failed)
		rc = -ENOMEM;
	else if (rc < 0 || fd < 0 || rewrite)
		rc = -EAGAIN;
	if (rc == 0) {
		rc = append_records(records, late);
	} else {
		free(records.text);
		if (records.known || !late)
			lose();
	}
	if (pmDebugOptions.appl0)
		pmNotifyErr(LOG_DEBUG, "numbers: %u records, %zu bytes%s: %d",
			    records.count, records.used, late ? ", synced" : "",
			    rc);
	return rc;
}

static void run_look(struct id_job *job)
{
	job->rc = 0;
	look.gone = is_replaced(&look.file, look.path);
}

static void looked(struct id_job *job)
{
	(void)job;
	if (look.gone)
		lose();
}

/* Check whether the file was removed or replaced. */
static void look_for_file(bool wait)
{
	if (!file.ino || agent_iddisk_settle(wait) < 0)
		return;
	look.job.run = run_look;
	look.job.ended = looked;
	look.file = file;
	agent_iddisk_path(look.path, "");
	agent_iddisk_begin(&look.job);
	agent_iddisk_settle(wait);
}

int agent_idfile_save(bool wait)
{
	static bool has_looked; /* for what is to be saved, which is not done */
	int rc;

	/*
	 * On a slow disk, another look would be as late as the last one. What
	 * appends looks itself.
	 */
	if (!has_looked)
		look_for_file(wait);
	has_looked = false;
	if (!agent_idrecord_pending() && !lost && !rewrite)
		return 0;
	rc = agent_idfile_open(wait);
	if (rc == 0)
		return agent_idfile_commit(NULL);
	has_looked = rc == -EINPROGRESS;
	if (!has_looked) {
		agent_idrecord_drop();
		lose();
	}
	return rc;
}

bool agent_idfile_is_long(void)
{
	return agent_idcopy_fd() >= 0 ||
	       (fd >= 0 && !rewrite &&
		file.lines > 2 * agent_idtable_count() + SLACK);
}

int agent_idfile_compact(void)
{
	int rc = agent_iddisk_settle(false);

	if (rc < 0 || !agent_idfile_is_long())
		return rc;
	/* Pending records belong in the old file, too, if it can have them. */
	rc = rewrite ? 0 : agent_idfile_commit(NULL);
	if (rc != -EINPROGRESS)
		rc = rewrite_step(false);
	if (rc < 0 && rc != -EINPROGRESS)
		agent_error(&file, "%s cannot be rewritten: %s", path(""),
			    pmErrStr(rc));
	return rc;
}

/*
 * Give files that an earlier agent made as root to the agent's user. Do not
 * follow symbolic or hard links: the directory is not root's.
 */
void agent_idfile_own(uid_t uid, gid_t gid)
{
	static const char *const suffixes[] = { "", ".lock" };
	struct stat st;
	size_t i;
	int file_fd;

	for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		file_fd = open(path(suffixes[i]), O_RDONLY | O_NOFOLLOW |
							  O_NONBLOCK |
							  O_CLOEXEC);
		if (file_fd < 0)
			continue;
		if (fstat(file_fd, &st) == 0 && S_ISREG(st.st_mode) &&
		    st.st_nlink == 1 && fchown(file_fd, uid, gid) < 0)
			agent_error(NULL, "%s cannot be given to user %u: %s",
				    path(suffixes[i]), (unsigned int)uid,
				    osstrerror());
		close(file_fd);
	}
}
