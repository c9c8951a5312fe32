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
 * file is garbage, a new file is written beside it, a batch at a time between
 * requests, and then replaces it; meanwhile records are appended to both. Marks
 * keep the numbers of purged names from being given out again.
 *
 * One process writes, under a lock on a separate file, as this one is replaced.
 * After taking the lock, it reads what other processes wrote.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "idtable.h"

#define HEADER "kmmv numbers 1\n"
/* Lines that a file may have beyond twice its live records. */
#define SLACK 4096
/* Entries per step of rewriting the file. */
#define STEP 4096

static struct file {
	dev_t dev;
	ino_t ino;
	off_t length;	/* end of the last complete line */
	uint32_t lines;
	off_t damaged;	/* bytes of it in invalid lines */
} file; /* as last read or written */

static int fd = -1, lock = -1;
static int copy = -1;	/* the new file, during a rewrite */
static off_t copy_length;
static uint32_t copy_lines, cursor;
static bool rewrite;	/* the file cannot be appended to */
static bool lost;	/* records were lost: the file lacks known state */
static bool unread;	/* there was no memory to read the file */

static struct {
	char *text;
	size_t used, room;
	uint32_t records;
	bool failed;
	bool states;	/* has states; only names can be taken back */
} batch;

static const char *path(const char *suffix)
{
	static char text[MAXPATHLEN];
	int sep = pmPathSeparator();

	pmsprintf(text, sizeof(text), "%s%cconfig%cpmda%c%d.numbers%s",
		  pmGetConfig("PCP_VAR_DIR"), sep, sep, sep, agent_domain,
		  suffix);
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
		return strcmp(line, HEADER) == 0 ? 0 : -EINVAL;
	line[length - 1] = '\0';
	return take(line);
}

/* The first line tells other versions apart. */
static bool is_other_version(const char *line)
{
	return file.length == 0 && strncmp(line, "kmmv numbers ", 13) == 0 &&
	       strcmp(line, HEADER) != 0;
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
		agent_error(NULL, "%s is damaged: invalid records are ignored",
			    path(""));
		/* Not again if only other agents' records were appended. */
		if (file.dev != before.dev || file.ino != before.ino ||
		    file.damaged != before.damaged)
			agent_idtable_skip(file.damaged);
	}
	return 0;
}

bool agent_idfile_is_unread(void)
{
	return unread;
}

static int take_lock(void)
{
	if (lock >= 0)
		return 0;
	lock = open(path(".lock"), O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
		    0644);
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

static int write_all(int to, const char *text, size_t size)
{
	while (size) {
		ssize_t n = write(to, text, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		size -= n;
	}
	return 0;
}

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...)
{
	size_t need;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	need = batch.used + n + 1;
	if (need > batch.room) {
		size_t room = need < 4096 ? 8192 : 2 * need;
		char *text = realloc(batch.text, room);

		if (!text) {
			batch.failed = true;
			return;
		}
		batch.text = text;
		batch.room = room;
	}
	va_start(ap, format);
	vsnprintf(batch.text + batch.used, n + 1, format, ap);
	va_end(ap);
	if (strchr("*-!x", batch.text[batch.used]))
		batch.states = true;
	batch.used += n;
	batch.records++;
}

static void drop(void)
{
	batch.used = 0;
	batch.records = 0;
	batch.failed = false;
	batch.states = false;
}

void agent_idfile_put_name(const struct id *id)
{
	const char *rest = agent_id_rest(id);

	put("+ %d %d %s%s%s\n", id->scope, id->number, id->name,
	    *rest ? " " : "", rest);
}

void agent_idfile_put_state(struct id *id)
{
	static const char kinds[] = {
		[ID_USED] = '*', [ID_AWAY] = '-', [ID_FORGOTTEN] = '!'
	};

	if (id->state == ID_USED)
		put("* %d %d\n", id->scope, id->number);
	else
		put("%c %d %d %u\n", kinds[id->state], id->scope, id->number,
		    id->since);
	id->on_disk = id->state;
	id->recorded = true;
}

void agent_idfile_put_purged(const struct id *id)
{
	put("x %d %d\n", id->scope, id->number);
}

static int compare_order(const void *a, const void *b)
{
	const struct id *x = *(struct id *const *)a;
	const struct id *y = *(struct id *const *)b;

	return x->order < y->order ? -1 : x->order > y->order;
}

/* The marks, and the families in order. */
static void put_marks(void)
{
	static struct id *list[MAX_FAMILIES];
	int scope, i, count = 0;

	for (scope = 0; scope < NR_SCOPES; scope++) {
		if (agent_id_limit(scope))
			put("= %d %d\n", scope, agent_id_limit(scope));
	}
	/* Of families with one name, the last in order is current. */
	for (i = 0; i < agent_id_limit(SERIAL_FAMILIES); i++) {
		struct id *id = agent_id_by_number(SERIAL_FAMILIES, i);

		if (id && !id->own)
			list[count++] = id;
	}
	qsort(list, count, sizeof(*list), compare_order);
	for (i = 0; i < count; i++)
		agent_idfile_put_name(list[i]);
}

/* Put an instance before its blocks, which mean nothing without it. */
static uint32_t put_entry(struct id *id)
{
	struct id *block;
	uint32_t n = 1;

	if (id->own || id->scope == SERIAL_FAMILIES ||
	    agent_idtable_is_block(id->scope))
		return 0;
	agent_idfile_put_name(id);
	if (!agent_idtable_is_instance(id->scope))
		return n;
	if (id->on_disk != ID_USED)
		agent_idfile_put_state(id);
	for (block = id->blocks; block; block = block->blocks, n++) {
		if (!block->own)
			agent_idfile_put_name(block);
	}
	return n;
}

static void abort_copy(void)
{
	if (copy < 0)
		return;
	close(copy);
	copy = -1;
	agent_idtable_walk_end();
	unlink(path(".new"));
}

/* Write the batch to the copy only. */
static int flush_copy(void)
{
	int rc = batch.failed ? -ENOMEM :
				write_all(copy, batch.text, batch.used);

	if (rc == 0 && fdatasync(copy) < 0)
		rc = -errno;
	copy_length += batch.used;
	copy_lines += batch.records;
	drop();
	return rc;
}

static int begin_copy(void)
{
	int rc;

	unlink(path(".new"));
	copy = open(path(".new"),
		    O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
	if (copy < 0)
		return -errno;
	copy_length = copy_lines = cursor = 0;
	put(HEADER);
	put_marks();
	rc = flush_copy();
	if (rc < 0)
		abort_copy();
	return rc;
}

static int sync_directory(void)
{
	char *end, *name = strdup(path(""));
	int dir, rc = 0;

	end = name ? strrchr(name, pmPathSeparator()) : NULL;
	if (!end) {
		free(name);
		return -ENOMEM;
	}
	*end = '\0';
	dir = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || fsync(dir) < 0)
		rc = -errno;
	if (dir >= 0)
		close(dir);
	free(name);
	return rc;
}

/* Keep the damaged file FROM for inspection. */
static void keep_damaged(const char *from)
{
	unlink(path(".damaged"));
	if (link(from, path(".damaged")) < 0)
		agent_error(NULL, "%s cannot be kept: %s", from, osstrerror());
}

static int finish_copy(void)
{
	char *to = strdup(path(""));
	struct stat st;
	int rc = 0;

	if (!to)
		return -ENOMEM;
	if (file.damaged)
		keep_damaged(to);
	if (fstat(copy, &st) < 0 || rename(path(".new"), to) < 0)
		rc = -errno;
	free(to);
	if (rc < 0) {
		abort_copy();
		return rc;
	}
	if (fd >= 0)
		close(fd);
	fd = copy;
	copy = -1;
	file.dev = st.st_dev;
	file.ino = st.st_ino;
	file.length = copy_length;
	file.lines = copy_lines;
	file.damaged = 0;
	lost = false;
	agent_error_settle(&copy);
	/* Until the directory is on disk, a crash brings the old file back. */
	rc = sync_directory();
	rewrite = rc < 0;
	return rc;
}

/* Write a batch to the copy; put the copy in place after the last one. */
static int step_copy(void)
{
	bool more;
	int rc;

	more = agent_idtable_walk(&cursor, STEP, put_entry);
	rc = flush_copy();
	if (rc < 0) {
		abort_copy();
		return rc;
	}
	return more ? 1 : finish_copy();
}

static int rewrite_all(void)
{
	int rc;

	abort_copy();
	/* Pending records are part of what is written now. */
	drop();
	rc = begin_copy();
	if (rc < 0)
		return rc;
	do {
		rc = step_copy();
	} while (rc > 0);
	return rc;
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

int agent_idfile_open(void)
{
	bool there;
	int rc;

	if (fd >= 0 && lost)
		rewrite = true;
	if (fd >= 0 && !rewrite)
		return 0;
	rc = take_lock();
	if (rc < 0)
		return rc;
	if (!rewrite) {
		rc = reread(&there);
		if (rc < 0)
			return rc;
		if (there)
			fd = open(path(""), O_WRONLY | O_APPEND | O_NOFOLLOW |
						    O_CLOEXEC);
		/*
		 * The file may be root's; the directory suffices to replace it.
		 */
		rewrite = fd < 0 || file.damaged || !file.length || lost;
		if (!rewrite && ftruncate(fd, file.length) < 0)
			rewrite = true;
	}
	return rewrite ? rewrite_all() : 0;
}

/* If a failure cannot be undone, it is unknown what is on disk: rewrite. */
static int append(bool sync)
{
	int rc = batch.failed ? -ENOMEM :
				write_all(fd, batch.text, batch.used);

	if (rc == 0 && sync && fdatasync(fd) < 0) {
		rc = -errno;
		rewrite = true;
	}
	if (rc < 0 && ftruncate(fd, file.length) < 0)
		rewrite = true;
	return rc;
}

int agent_idfile_commit(bool sync)
{
	int rc;

	if (!batch.used && !batch.failed)
		return 0;
	rc = fd < 0 || rewrite ? -EAGAIN : append(sync);
	if (pmDebugOptions.appl0)
		pmNotifyErr(LOG_DEBUG, "numbers: %u records, %zu bytes%s: %d",
			    batch.records, batch.used, sync ? ", synced" : "",
			    rc);
	if (rc == 0) {
		file.length += batch.used;
		file.lines += batch.records;
		if (copy >= 0 &&
		    write_all(copy, batch.text, batch.used) < 0)
			abort_copy();
		copy_length += batch.used;
		copy_lines += batch.records;
	} else if (batch.states || !sync) {
		/* The copy has them no more than the file. */
		abort_copy();
		lost = true;
	}
	drop();
	return rc;
}

int agent_idfile_save(void)
{
	int rc;

	if (!batch.used && !batch.failed && !lost)
		return 0;
	rc = agent_idfile_open();
	if (rc < 0) {
		drop();
		lost = true;
		return rc;
	}
	return agent_idfile_commit(false);
}

bool agent_idfile_is_long(void)
{
	return copy >= 0 || (fd >= 0 && !rewrite &&
			     file.lines > 2 * agent_idtable_count() + SLACK);
}

int agent_idfile_compact(void)
{
	int rc;

	if (!agent_idfile_is_long())
		return 0;
	/* Pending records belong in the old file, too. */
	agent_idfile_commit(false);
	rc = copy >= 0 ? step_copy() : begin_copy();
	if (rc < 0) {
		agent_error(&copy, "%s cannot be rewritten: %s", path(""),
			    pmErrStr(rc));
		return rc;
	}
	return copy >= 0;
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
