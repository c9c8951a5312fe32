// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The mapping of the device. It appears and is removed with the module;
 * kmmv.control.state and kmmv.control.error show why there is none. The agent
 * itself stays up.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "agent.h"
#include "clock.h"

/* Between attempts to open a device that could not be opened. */
#define RETRY_MS 1000

static struct kmmv *handle;
static void (*on_sync)(struct kmmv *handle, const struct changes *changes);
static void (*on_forget)(void);
static char *device;
static bool wanted = true;
static int why = -ENOENT;	/* why there is no mapping */
static uint64_t tried_ms;	/* of the last attempt; 0: none yet */
static uint64_t stale_ms;	/* of the last reopening at once */
static uint64_t retries, rereads;	/* of closed mappings */
static uint64_t taken;	/* times the tables were taken over */
static uint64_t known;	/* of the handle's changes */
static bool all_due;	/* numbers or memory were refused: look at all again */
static uint64_t due_ms;	/* not before; a change of the tables does so, too */

static void open_failed(int rc)
{
	why = rc;
	agent_error_begin(&handle);
	agent_error(&handle, "%s", kmmv_error(NULL));
	agent_error_end(&handle);
}

/*
 * The only place that closes the handle, for a detach, an error or a new epoch.
 * What was learned through it is dropped first.
 */
static void close_handle(void)
{
	struct kmmv_info info;

	if (!handle)
		return;
	kmmv_get_info(handle, &info);
	retries += info.retries;
	rereads += info.rereads;
	on_forget();
	agent_error_settle(agent_table_errors);
	kmmv_close(handle);
	handle = NULL;
}

/*
 * Visit what has changed, which may be one of a million instances. Errors of
 * the tables stay until all has been checked again: while there are any, all is
 * visited.
 */
static void take_over(void)
{
	struct changes changes = { 0 };
	int n = kmmv_changes(handle, &known, &changes.number);

	changes.all = n < 0 || all_due || agent_error_has(agent_table_errors);
	changes.count = n < 0 ? 0 : n;
	all_due = false;
	if (changes.all)
		agent_error_begin(agent_table_errors);
	on_sync(handle, &changes);
	if (changes.all)
		agent_error_end(agent_table_errors);
	taken++;
}

static bool try_open(void)
{
	struct kmmv_info info;
	int rc;

	tried_ms = agent_now_ms();
	rc = kmmv_open(device, &handle);
	if (rc < 0) {
		handle = NULL;
		open_failed(rc);
		return false;
	}
	why = 0;
	agent_error_settle(&handle);
	kmmv_get_info(handle, &info);
	pmNotifyErr(LOG_INFO, "attached %s, ABI %u.%u, epoch %llu", device,
		    info.major, info.minor, (unsigned long long)info.epoch);
	agent_id_lasting(info.live);
	take_over();
	return true;
}

/*
 * Open a new epoch at once, so that a reload costs no fetch. A file that is
 * stale on each open is retried at intervals only.
 */
static bool reopen(int rc)
{
	uint64_t now = agent_now_ms();

	agent_error(&handle, "%s", kmmv_error(handle));
	close_handle();
	why = rc;
	if (rc != -ESTALE || (stale_ms && now - stale_ms < RETRY_MS)) {
		tried_ms = now;
		return false;
	}
	stale_ms = now;
	return try_open();
}

bool agent_attach_sync(void)
{
	int rc;

	/* Kept until the tables are taken over, which -EAGAIN may put off. */
	if (agent_id_pending())
		all_due = true;
	if (handle) {
		rc = kmmv_update(handle);
		if (rc > 0 ||
		    (rc == 0 && all_due && agent_now_ms() >= due_ms))
			take_over();
		if (rc >= 0)
			return true;
		/* What is known remains valid while the table changes. */
		if (rc == -EAGAIN)
			return true;
		return reopen(rc);
	}
	if (!wanted || (tried_ms && agent_now_ms() - tried_ms < RETRY_MS))
		return false;
	return try_open();
}

void agent_attach_no_memory(const char *fmt, ...)
{
	char what[AGENT_NAME_SIZE];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	agent_error(agent_table_errors, "no memory for %s", what);
	all_due = true;
	due_ms = agent_now_ms() + RETRY_MS;
}

bool agent_attach_changed(void)
{
	uint64_t before = taken;

	agent_attach_sync();
	return taken != before;
}

struct kmmv *agent_attach_handle(void)
{
	return handle;
}

bool agent_attach_possible(uint32_t cpu)
{
	return handle && kmmv_cpu_possible(handle, cpu);
}

void agent_attach_init(const char *dir,
		       void (*sync)(struct kmmv *handle,
				    const struct changes *changes),
		       void (*forget)(void))
{
	on_sync = sync;
	on_forget = forget;
	device = strdup(dir);
	if (!device)
		pmNoMem("device directory", strlen(dir) + 1, PM_FATAL_ERR);
}

void agent_attach_close(void)
{
	close_handle();
}

void agent_attach_want(bool on)
{
	if (on && !wanted)
		tried_ms = 0;
	wanted = on;
	if (!on) {
		agent_error_settle(&handle);
		agent_error_settle(agent_name_errors);
	}
	if (!on && handle) {
		close_handle();
		why = -ENOENT;
		pmNotifyErr(LOG_INFO, "detached %s", device);
	}
}

bool agent_attach_wanted(void)
{
	return wanted;
}

const char *agent_attach_device(void)
{
	return device;
}

/* Why there is no handle, as kmmv.control.state and as the status of a value. */
static const struct reason {
	int why;
	const char *state;
	int status;
} reasons[] = {
	{ -ENOENT, "absent", -ENODEV },
	{ -ENODEV, "absent", -ENODEV },
	{ -ENXIO, "absent", -ENODEV },
	{ -ENOTDIR, "absent", -ENODEV },
	{ -EACCES, "denied", PM_ERR_PERMISSION },
	{ -EPERM, "denied", PM_ERR_PERMISSION },
	{ -EOPNOTSUPP, "unsupported", PM_ERR_APPVERSION },
	{ -EPROTO, "invalid", -EBADMSG },
	{ -EBADMSG, "invalid", -EBADMSG },
	{ -ENODATA, "invalid", -EBADMSG },
	{ -ESTALE, "busy", PM_ERR_AGAIN },
	{ -EAGAIN, "busy", PM_ERR_AGAIN },
};

/* NULL: any other. */
static const struct reason *find_reason(void)
{
	size_t i;

	for (i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (reasons[i].why == why)
			return &reasons[i];
	}
	return NULL;
}

const char *agent_attach_state(void)
{
	const struct reason *r = find_reason();

	if (handle)
		return "attached";
	if (!wanted)
		return "detached";
	return r ? r->state : "failed";
}

int agent_attach_status(void)
{
	const struct reason *r = find_reason();

	if (handle || !wanted)
		return PM_ERR_AGAIN;
	return r ? r->status : why;
}

void agent_attach_counts(uint64_t *nr_retries, uint64_t *nr_rereads)
{
	struct kmmv_info info;

	*nr_retries = retries;
	*nr_rereads = rereads;
	if (!handle)
		return;
	kmmv_get_info(handle, &info);
	*nr_retries += info.retries;
	*nr_rereads += info.rereads;
}
