// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pmdakmmv: the kernel's mapped counters as PCP metrics. Options, dispatch, and
 * the two ways to start: as a daemon of pmcd, or as a DSO in pmcd or in a
 * client with a local context.
 */
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "access.h"
#include "clock.h"
#include "provider.h"
#include "reading.h"
#include "domain.h"

/* For how long the agent gives out numbers before it answers. */
#define START_MS 1000

static const char *device;
static const char *rings;

static pmLongOptions longopts[] = {
	PMDA_OPTIONS_HEADER("Options"),
	PMOPT_DEBUG,
	{ "max-age", 1, 'a', "MSEC", "maximum age of mirrored counters" },
	{ "percpu-limit", 1, 'c', "N",
	  "maximum number of instances of a per-CPU metric" },
	PMDAOPT_DOMAIN,
	{ "device", 1, 'f', "DIR", "directory of the device nodes" },
	{ "keep-days", 1, 'k', "N",
	  "days after which a name not in use is purged" },
	PMDAOPT_LOGFILE,
	{ "keep-names", 1, 'n', "N",
	  "maximum number of names kept that the kernel forgot" },
	{ "queue", 1, 'q', "KBYTES", "maximum size of a ring's event queue" },
	{ "rings", 1, 'r', "NAME,...", "rings whose events clients can read" },
	PMDAOPT_USERNAME,
	PMOPT_HELP,
	PMDA_OPTIONS_END
};

static pmdaOptions opts = {
	.short_options = "D:a:c:d:f:k:l:n:q:r:U:?",
	.long_options = longopts,
};

static void end_context(int ctx)
{
	agent_provider_end(ctx);
	agent_access_end(ctx);
}

static void take_over(struct kmmv *handle, const struct changes *changes)
{
	if (!agent_provider_sync(handle, changes) && !agent_pmns_is_due())
		return;
	agent_pmns_rebuild();
	pmdaExtSetFlags(agent_ext, PMDA_EXT_NAMES_CHANGE);
}

/* Families and event fields of the file have metrics, also without the device. */
static void numbers_loaded(void)
{
	agent_provider_load();
	agent_pmns_rebuild();
	pmdaExtSetFlags(agent_ext, PMDA_EXT_NAMES_CHANGE);
}

static void init(pmdaInterface *dispatch)
{
	if (dispatch->status != 0)
		return;
	dispatch->version.seven.fetch = agent_fetch;
	dispatch->version.seven.desc = agent_desc;
	dispatch->version.seven.instance = agent_instance;
	dispatch->version.seven.text = agent_text;
	dispatch->version.seven.store = agent_store;
	dispatch->version.seven.pmid = agent_pmns_pmid;
	dispatch->version.seven.name = agent_pmns_name;
	dispatch->version.seven.children = agent_pmns_children;
	dispatch->version.seven.attribute = agent_access_attribute;
	dispatch->version.seven.label = agent_label;
	pmdaSetEndContextCallBack(dispatch, end_context);
	pmdaSetCommFlags(dispatch, PMDA_FLAG_AUTHORIZE);
	pmdaInit(dispatch, NULL, 0, NULL, 0);
	if (dispatch->status != 0)
		return;
	agent_domain = dispatch->domain;
	agent_ext = dispatch->version.seven.ext;
	agent_attach_init(device, take_over, agent_provider_forget);
	agent_access_init();
	agent_ring_init(rings);
}

/* Takes time that grows with the names ever seen; requests wait meanwhile. */
static void start(const pmdaInterface *dispatch, bool writer)
{
	uint64_t began = agent_now_ms();

	if (dispatch->status != 0)
		return;
	agent_id_init(&agent_instance_id_ops);
	agent_pmns_rebuild();
	agent_id_load(writer, numbers_loaded);
	agent_attach_sync();
	/*
	 * Names get numbers in batches: do all before the first request, unless that takes
	 * long. The last batch and the first request wait for the disk as one request does.
	 */
	while (agent_now_ms() - began < START_MS && agent_id_work() == 0) {
		agent_id_answered();
		agent_attach_sync();
	}
}

static const char *default_device(void)
{
	const char *dir = getenv("KMMV_DEVICE_DIR");

	return dir && *dir ? dir : KMMV_DEVICE_DIR;
}

static const char *default_rings(void)
{
	const char *names = getenv("KMMV_RINGS");

	return names ? names : "default";
}

static void help_path(char *path, size_t size)
{
	int sep = pmPathSeparator();

	pmsprintf(path, size, "%s%ckmmv%chelp", pmGetConfig("PCP_PMDAS_DIR"),
		  sep, sep);
}

void __PMDA_INIT_CALL kmmv_init(pmdaInterface *dispatch)
{
	char help[MAXPATHLEN];

	help_path(help, sizeof(help));
	device = default_device();
	rings = default_rings();
	pmdaDSO(dispatch, PMDA_INTERFACE_7, "kmmv", help);
	init(dispatch);
	start(dispatch, false);
}

static void usage(const char *what, uint32_t most)
{
	pmprintf("%s: %s takes a number up to %u\n", pmGetProgname(), what,
		 most);
	opts.errors++;
}

static void get_options(int argc, char **argv, pmdaInterface *dispatch)
{
	uint32_t n;
	int c;

	while ((c = pmdaGetOptions(argc, argv, &opts, dispatch)) != EOF) {
		switch (c) {
		case 'a':
			if (agent_number_alone(opts.optarg, &n))
				agent_reading_max_age = n * 1000000ULL;
			else
				usage("--max-age", UINT32_MAX);
			break;
		case 'c':
			if (!agent_number_alone(opts.optarg, &agent_percpu_limit) ||
			    agent_percpu_limit > AGENT_PERCPU_MAX)
				usage("--percpu-limit", AGENT_PERCPU_MAX);
			break;
		case 'f':
			device = opts.optarg;
			break;
		case 'k':
			if (!agent_number_alone(opts.optarg, &agent_id_days) ||
			    !agent_id_days || agent_id_days > 36500)
				usage("--keep-days", 36500);
			break;
		case 'n':
			if (!agent_number_alone(opts.optarg, &agent_id_names))
				usage("--keep-names", UINT32_MAX);
			break;
		case 'q':
			if (agent_number_alone(opts.optarg, &n) &&
			    n <= AGENT_QUEUE_MAX / 1024)
				agent_queue_bytes = n * 1024ULL;
			else
				usage("--queue", AGENT_QUEUE_MAX / 1024);
			break;
		case 'r':
			rings = opts.optarg;
			break;
		}
	}
	if (opts.errors || opts.optind != argc) {
		pmdaUsageMessage(&opts);
		exit(1);
	}
}

/* pmcd starts agents as root; this one only needs its user's group. */
static void drop_privileges(void)
{
	struct passwd *user;

	if (geteuid() != 0)
		return;
	if (!opts.username)
		pmGetUsername(&opts.username);
	user = getpwnam(opts.username);
	if (user)
		agent_id_own(user->pw_uid, user->pw_gid);
	pmSetProcessIdentity(opts.username);
}

int main(int argc, char **argv)
{
	static pmdaInterface dispatch;
	char help[MAXPATHLEN];

	pmSetProgname(argv[0]);
	help_path(help, sizeof(help));
	device = default_device();
	rings = default_rings();
	pmdaDaemon(&dispatch, PMDA_INTERFACE_7, pmGetProgname(), KMMV,
		   "kmmv.log", help);
	get_options(argc, argv, &dispatch);
	pmdaOpenLog(&dispatch);
	agent_domain = dispatch.domain;
	drop_privileges();
	init(&dispatch);
	pmdaConnect(&dispatch);
	start(&dispatch, true);
	agent_loop(&dispatch);
	agent_attach_close();
	agent_id_close();
	exit(0);
}
