// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lasting numbers: giving them out and purging them. The table in memory is in
 * idtable.c, the file in idfile.c. See id.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "clock.h"
#include "idfile.h"

/* Names per batch: bounds what one request writes and waits for. */
#define BATCH 4096
/* Between attempts to save numbers. */
#define RETRY_MS 1000
/*
 * A reload takes less: a name is recorded as not in use only after that time.
 */
#define SETTLE_SECONDS 600
#define LOOK_MS	       (60 * 1000)
/* Clocks are read in seconds, one after the other, and wall time is adjusted. */
#define STEP_SECONDS 10

uint32_t agent_id_days = 30;
uint32_t agent_id_names = 2048;

static const struct id_ops *ops;
static bool writer, lasting;
static bool pending;
static bool unsaved;	/* numbers cannot be saved, which was said */
static uint64_t retry_ms, look_ms, compact_ms;
static void (*on_loaded)(void);
static bool load_failed;	/* which was said */
static bool loaded_late;	/* by open_file(): on_loaded() is to be called */

/* Names of this batch, which are removed if it cannot be saved. */
static struct id *batch[BATCH];
static uint32_t nr_batch;
static bool in_flight; /* a job still writes it: its names are hidden */

void agent_id_init(const struct id_ops *id_ops)
{
	ops = id_ops;
}

static void put_state(struct id *id)
{
	if (lasting && !id->own)
		agent_idrecord_state(id);
}

/*
 * What this process recorded before the clock was set has a wrong time. Others may
 * have had the right one.
 */
static void time_changed(struct id *id)
{
	if (id->recorded && id->on_disk == id->state)
		put_state(id);
}

/*
 * The time, for names not in use. Only wall time goes on from one boot to the next,
 * as the file needs. But a machine without a clock of its own begins in the past:
 * when its clock is set, no name is older than before. The time since the boot
 * tells that from a time for which the machine was suspended, which counts.
 *
 * A clock that is set back makes no time later than now.
 */
static uint32_t now_seconds(void)
{
	static int64_t offset;
	static bool known;
	int64_t now = time(NULL), before, step;
	struct timespec boot;

	/* A stop between the two would look like a clock that is set. */
	do {
		before = now;
		clock_gettime(CLOCK_BOOTTIME, &boot);
		now = time(NULL);
	} while (now != before);
	step = known ? now - boot.tv_sec - offset : 0;
	offset = now - boot.tv_sec;
	known = true;
	if (step > STEP_SECONDS)
		agent_idlist_shift(step, now, time_changed);
	else if (step < -STEP_SECONDS)
		agent_idlist_shift(0, now, time_changed);
	return now;
}

static void wait_to_retry(void)
{
	pending = true;
	retry_ms = agent_now_ms() + RETRY_MS;
}

static void saved(void)
{
	retry_ms = 0;
	if (!unsaved)
		return;
	unsaved = false;
	agent_error_settle(&pending);
	pmNotifyErr(LOG_INFO, "numbers are saved again");
}

static void load(void)
{
	int rc = agent_idfile_load();

	load_failed = rc < 0;
	if (rc < 0)
		agent_error(&on_loaded, "saved numbers cannot be read: %s",
			    pmErrStr(rc));
	else
		agent_error_settle(&on_loaded);
	if (rc == 0)
		saved();
	if (agent_idfile_is_unread())
		wait_to_retry();
	else
		on_loaded();
}

void agent_id_load(bool may_write, void (*loaded)(void))
{
	writer = may_write;
	on_loaded = loaded;
	load();
	/* From here on it is noticed that the clock is set. */
	now_seconds();
}

void agent_id_own(uid_t uid, gid_t gid)
{
	agent_idfile_own(uid, gid);
}

static void user_gone(struct id *id)
{
	if (agent_idscope_is_instance(id->scope) && id->user)
		ops->purged(id);
}

void agent_id_lasting(bool on)
{
	on = on && writer;
	/* Names seen in captured files get lasting numbers now. */
	if (on && !lasting)
		agent_idtable_drop_own(user_gone);
	lasting = on;
	retry_ms = 0;
}

/* ---- giving out numbers ---- */

static void failed(int rc)
{
	unsaved = true;
	wait_to_retry();
	agent_error_begin(&pending);
	agent_error(&pending,
		    "new names wait, as their numbers cannot be saved: %s",
		    rc == -EBUSY       ? "another agent is running" :
		    rc == -EINPROGRESS ? "the disk is slow" :
		    rc == -ESTALE      ? "their file was removed or replaced" :
					 pmErrStr(rc));
	agent_error_end(&pending);
}

/* Opening reads an unread file. Families are loaded later: they may be visited now. */
static bool open_file(void)
{
	int rc = agent_idfile_open(true);

	if (rc < 0) {
		failed(rc);
		return false;
	}
	if (load_failed) {
		agent_error_settle(&on_loaded);
		saved();
		load_failed = false;
		loaded_late = pending = true;
	}
	return true;
}

/* Whether one more can be added to the batch. */
static bool may_add(void)
{
	if (nr_batch == BATCH || (retry_ms && agent_now_ms() < retry_ms)) {
		pending = true;
		return false;
	}
	return nr_batch || open_file();
}

/* SHOWN: whose number it is, for the user. */
static struct id *add(const void *about, int scope, int number,
		      const char *name, const char *rest, const char *shown)
{
	struct id *id;

	/* Also one of this process's own: the name may be hidden. */
	if (agent_idfile_is_unread() || in_flight) {
		pending = true;
		return NULL;
	}
	if (lasting && !may_add())
		return NULL;
	if (number >= 0 && agent_id_by_number(scope, number))
		number = -1;
	/* Another agent may have saved the name meanwhile. */
	id = lasting ? agent_id_find(scope, name) : NULL;
	if (id)
		return id;
	if (number < 0)
		number = agent_idtable_next(scope, !lasting);
	if (number < 0) {
		agent_error(about, "%s: no free number", shown);
		return NULL;
	}
	id = agent_idtable_add(scope, number, name, strlen(name), rest,
			       !lasting);
	if (!id) {
		agent_error(about, "%s: no memory for its number", shown);
		/* The next listing asks for a block again. */
		if (!agent_idscope_is_block(scope))
			wait_to_retry();
		return NULL;
	}
	if (!lasting)
		return id;
	agent_idrecord_name(id);
	batch[nr_batch++] = id;
	agent_idtable_reserve(scope, number + 1);
	return id;
}

struct id *agent_id_add(const void *about, int scope, int number,
			const char *name, const char *rest)
{
	return add(about, scope, number, name, rest, name);
}

struct id *agent_id_add_block(const struct id *inst, uint32_t block,
			      const char *shown)
{
	char name[32];

	if (inst->own && lasting)
		return NULL;
	pmsprintf(name, sizeof(name), "%d.%u", inst->number, block);
	return add(inst, inst->scope + 1, -1, name, "", shown);
}

bool agent_id_describe(struct id *id, const char *rest)
{
	if (!agent_idtable_describe(id, rest))
		return false;
	if (lasting && !id->own)
		agent_idrecord_rest(id);
	return true;
}

/*
 * Let the next attempt give out the same numbers. A dead one is a block that was purged
 * with its instance while it was hidden.
 */
static void take_back(void)
{
	uint32_t i;

	for (i = nr_batch; i-- > 0;) {
		agent_idtable_give_back(batch[i]->scope, batch[i]->number);
		if (!batch[i]->dead)
			agent_idtable_remove(batch[i]);
	}
}

static void hide(void)
{
	uint32_t i;

	for (i = 0; i < nr_batch; i++) {
		agent_id_hold(batch[i]);
		agent_idlist_hide(batch[i]);
	}
	in_flight = true;
}

static void landed(int rc)
{
	uint32_t i, now = now_seconds();

	if (rc < 0)
		take_back();
	for (i = 0; i < nr_batch; i++) {
		if (!batch[i]->dead)
			agent_idlist_show(batch[i], now);
		agent_id_release(batch[i]->name);
	}
	nr_batch = 0;
	in_flight = false;
	if (rc < 0) {
		failed(rc);
	} else {
		saved();
		pending = true;
	}
}

bool agent_id_commit(void)
{
	int rc;

	if (!nr_batch || in_flight)
		return !nr_batch;
	rc = agent_idfile_commit(landed);
	if (rc == -EINPROGRESS) {
		hide();
		failed(rc);
		return false;
	}
	if (rc < 0) {
		take_back();
		failed(rc);
	} else {
		saved();
	}
	nr_batch = 0;
	return rc == 0;
}

bool agent_id_batch_full(void)
{
	/* While one is in flight, names that have numbers are bound. */
	if (nr_batch < BATCH || in_flight)
		return false;
	/* The caller has more to add. */
	pending = true;
	return true;
}

bool agent_id_pending(void)
{
	agent_iddisk_poll();
	if (in_flight || !pending || (retry_ms && agent_now_ms() < retry_ms))
		return false;
	pending = false;
	if (agent_idfile_is_unread()) {
		load();
	} else if (loaded_late) {
		loaded_late = false;
		on_loaded();
	}
	return !pending;
}

/* ---- state ---- */

/*
 * Put off purging a count that may return with its name: it would be in the total
 * twice.
 */
static bool put_off(struct id *id, uint32_t now)
{
	if (!id->user || !ops->may_return(id))
		return false;
	agent_idlist_put_off(id, now);
	return true;
}

void agent_id_set_state(struct id *id, int state)
{
	if (id->state == state)
		return;
	agent_idlist_set_state(id, state,
				state == ID_USED ? 0 : now_seconds());
	/* Now, so that it is not one of agent_id_names. */
	if (state == ID_FORGOTTEN)
		put_off(id, id->since);
	/* A name that is away may be back soon: see note_away(). */
	if (state != ID_AWAY && id->on_disk != state)
		put_state(id);
}

static void purge(struct id *id)
{
	user_gone(id);
	if (lasting && !id->own)
		agent_idrecord_purged(id);
	agent_idtable_remove(id);
}

/*
 * Put off purging a name that a client may still ask for, until it fetches again. It stays
 * one of agent_id_names: many such names do not add to the others that are kept.
 */
static bool requeue(struct id *id, uint32_t now)
{
	if (!id->user || !ops->is_awaited(id))
		return false;
	agent_idlist_requeue(id, now);
	return true;
}

/* Each name is visited once: those that are not purged are behind all others then. */
static uint32_t purge_list(const struct id_list *list, uint32_t keep,
			   uint32_t budget)
{
	uint32_t now = now_seconds(), n, most = list->count;

	if (most > budget)
		most = budget;
	for (n = 0; n < most; n++) {
		struct id *id = list->oldest;
		bool old = now - id->since >= agent_id_days * 86400ULL &&
			   now > id->since;

		if (!old && list->count <= keep)
			break;
		if (!put_off(id, now) && !requeue(id, now))
			purge(id);
	}
	return n;
}

void agent_id_purge(void)
{
	uint32_t n = purge_list(agent_idlist_of_state(ID_FORGOTTEN),
				agent_id_names, 4 * BATCH);

	n += purge_list(agent_idlist_of_state(ID_AWAY), UINT32_MAX, 4 * BATCH - n);
	purge_list(agent_idlist_kept(), UINT32_MAX, 4 * BATCH - n);
}

/* Record names that have been away for SETTLE_SECONDS as not in use. */
static void note_away(void)
{
	uint32_t now = now_seconds(), n = 0;
	struct id *id;

	for (id = agent_idlist_of_state(ID_AWAY)->oldest; id && n < BATCH;
	     id = id->newer) {
		if (now - id->since < SETTLE_SECONDS || now < id->since)
			break;
		if (id->on_disk == ID_AWAY || id->own)
			continue;
		put_state(id);
		n++;
	}
}

int agent_id_work(void)
{
	uint64_t now = agent_now_ms();
	bool is_long;
	int rc;

	if (!writer)
		return -1;
	if (agent_iddisk_settle(false) == -EINPROGRESS)
		return AGENT_ID_POLL_MS;
	if (pending)
		return retry_ms > now ? (int)(retry_ms - now) : 0;
	if (!lasting)
		return -1;
	is_long = agent_idfile_is_long() && now >= compact_ms;
	if (now < look_ms && !is_long)
		return (int)(look_ms - now);
	if (now >= look_ms) {
		if (load_failed)
			open_file();
		note_away();
		agent_id_purge();
		if (agent_idfile_save(false) == -EINPROGRESS)
			return AGENT_ID_POLL_MS;
		/* Errors about names that are gone: no attempt settles them. */
		agent_error_end(&pending);
		agent_error_begin(&pending);
		look_ms = now + LOOK_MS;
	}
	rc = is_long ? agent_idfile_compact() : 0;
	if (rc > 0)
		return 0;
	if (rc == -EINPROGRESS)
		return AGENT_ID_POLL_MS;
	if (rc < 0)
		compact_ms = now + LOOK_MS;
	return LOOK_MS;
}

void agent_id_close(void)
{
	agent_iddisk_new_request();
	agent_iddisk_end();
	if (lasting)
		agent_idfile_save(true);
	agent_iddisk_end();
}

void agent_id_answered(void)
{
	agent_iddisk_new_request();
}
