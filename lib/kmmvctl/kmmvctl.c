// SPDX-License-Identifier: LGPL-2.1-or-later
/* kmmvctl: counters of kmmv_trace by the names of what they count. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apply.h"
#include "config.h"
#include "configfs.h"
#include "define.h"
#include "fault.h"
#include "saved.h"
#include "show.h"
#include "stdopen.h"

static struct places places;
static struct hooks *hooks;
static bool verbose, as_json, only_say, to_prune, if_running;

static int fail(void)
{
	fprintf(stderr, "kmmvctl: %s\n", ctl_fault_text());
	return 1;
}

static int finish(int err)
{
	return err ? fail() : 0;
}

static int do_list(int argc, char **argv)
{
	(void)argc;
	return finish(ctl_list(&places, argv, verbose, as_json));
}

static int do_export(int argc, char **argv)
{
	(void)argc;
	return finish(ctl_export(&places, argv));
}

static int do_describe(int argc, char **argv)
{
	return finish(ctl_describe(&places, &hooks, argv[0],
				   argc > 1 ? argv[1] : NULL));
}

/* "NAME=TEXT", NAME being an attribute */
static int set_attribute(struct counter *c, char *argument)
{
	char *equals = strchr(argument, '=');

	if (!equals)
		return ctl_fault_set(-EINVAL, "%s: not ATTRIBUTE=TEXT",
				     argument);
	*equals = '\0';
	return ctl_counter_set(c, argument, equals + 1, false);
}

/* Print the attributes that the module would get. */
static void print_defined(const struct counter *c)
{
	unsigned int i;

	for (i = 0; i < NR_ATTRIBUTES; i++)
		if (c->attr[i])
			printf("%s: %s: %s\n", c->name, ctl_attribute_names[i],
			       c->attr[i]);
}

static int do_add(int argc, char **argv)
{
	struct counter *c;
	int i, lock, err;

	err = ctl_counter_new(argv[0], &c);
	if (err)
		return fail();
	for (i = 1; !err && i < argc; i++)
		err = set_attribute(c, argv[i]);
	if (!err && only_say) {
		err = ctl_define(&places, &hooks, c);
		if (!err)
			print_defined(c);
	}
	if (!err && !only_say) {
		err = ctl_configfs_ready(&places);
		lock = err ?: ctl_saved_lock(&places);
		err = lock < 0 ? lock : ctl_add(&places, &hooks, c);
		if (lock >= 0)
			close(lock);
	}
	if (err)
		fail();
	ctl_counter_free(c);
	return !!err;
}

static int remove_one(const char *name)
{
	int err = ctl_configfs_remove(&places, name);

	if (!err)
		ctl_saved_remove(&places, name);
	return err;
}

static int enable_one(const char *name)
{
	return ctl_enable(&places, &hooks, name);
}

static int disable_one(const char *name)
{
	int err = ctl_configfs_put(&places, name, "enable", "0");

	if (!err)
		ctl_saved_unmark_left(&places, name);
	return err;
}

/* Go on with the next counter after a failure. */
static int change_each(char **argv, int (*change)(const char *name))
{
	int lock, err, status = 0;

	err = ctl_configfs_ready(&places);
	lock = err ?: ctl_saved_lock(&places);
	if (lock < 0)
		return fail();
	for (; *argv; argv++) {
		if (strchr(*argv, '/') || !ctl_configfs_has(&places, *argv))
			err = ctl_fault_set(-ENOENT, "there is no counter %s",
					    *argv);
		else
			err = change(*argv);
		if (err)
			status = fail();
	}
	close(lock);
	return status;
}

static int do_remove(int argc, char **argv)
{
	(void)argc;
	return change_each(argv, remove_one);
}

static int do_enable(int argc, char **argv)
{
	(void)argc;
	return change_each(argv, enable_one);
}

static int do_disable(int argc, char **argv)
{
	(void)argc;
	return change_each(argv, disable_one);
}

/*
 * A fault in one file does not stop the others from being read. Return: 0, or 1 after
 * messages.
 */
static int read_files(char **argv, struct counter **counters)
{
	int status = 0;

	for (; *argv; argv++)
		status |= finish(ctl_config_read(*argv, counters));
	return status;
}

/* Those that the service applies. */
static int read_system(struct counter **counters)
{
	char *file = NULL, *dir = NULL;
	int status = 0;

	/* What it leads to may not be mounted yet. */
	if (!ctl_config_is_absent(places.etc) && access(places.etc, F_OK))
		return finish(ctl_fault_set(-errno, "%s: %s", places.etc,
					    strerror(errno)));
	if (asprintf(&file, "%s/trace.conf", places.etc) < 0 ||
	    asprintf(&dir, "%s/trace.d", places.etc) < 0)
		return finish(ctl_fault_memory());
	if (!ctl_config_is_absent(file))
		status = finish(ctl_config_read(file, counters));
	status |= finish(ctl_config_read_dir(dir, counters));
	free(file);
	free(dir);
	return status;
}

/* After the files have been read. */
static int apply_counters(struct apply *apply, struct counter *counters,
			  bool of_system)
{
	int lock = -1, err;

	err = ctl_configfs_ready(&places);
	if (!err && !only_say) {
		lock = ctl_saved_lock(&places);
		err = lock < 0 ? lock : 0;
	}
	if (!err && !only_say && of_system)
		err = ctl_saved_mark(&places);
	if (!err)
		err = ctl_apply(apply, counters);
	if (err < 0)
		fail();
	if (lock >= 0)
		close(lock);
	ctl_hooks_close(apply->hooks);
	return !!err;
}

/* Exit status: the only failures are tracepoints or functions missing now. */
#define ONLY_MISSING 3

static int do_apply(int argc, char **argv)
{
	struct apply apply = { .places = &places,
			       .only_say = only_say,
			       .prune = to_prune,
			       .verbose = verbose,
			       .quiet = if_running };
	struct counter *counters = NULL;
	int status;

	if (if_running && !ctl_saved_is_marked(&places))
		return 0;
	status = argc ? read_files(argv, &counters) : read_system(&counters);
	/* Nothing is pruned after a file that could not be read. */
	if (status)
		apply.prune = false;
	if (counters || apply.prune)
		status |= apply_counters(&apply, counters, !argc);
	ctl_counter_free_all(counters);
	if (!status && apply.missing)
		status = ONLY_MISSING;
	return if_running ? 0 : status;
}

static int do_check(int argc, char **argv)
{
	struct counter *counters = NULL, *c;
	int status;

	status = argc ? read_files(argv, &counters) : read_system(&counters);
	for (c = counters; c; c = c->next) {
		if (c->fault) {
			ctl_fault_set(-EINVAL, "%s", c->fault);
			status = fail();
		} else if (ctl_define(&places, &hooks, c)) {
			fprintf(stderr, "kmmvctl: %s: %s: %s\n", c->where ?: "",
				c->name, ctl_fault_text());
			status = 1;
		} else if (verbose) {
			print_defined(c);
		}
	}
	ctl_counter_free_all(counters);
	return status;
}

static const struct command {
	const char *name;
	/* The letters of its options, besides -r, which each command takes. */
	const char *options;
	const char *arguments;
	int least, most;
	int (*call)(int argc, char **argv);
} commands[] = {
	{ "list", "jv", "[NAME...]", 0, -1, do_list },
	{ "add", "n", "NAME ATTRIBUTE=TEXT...", 2, -1, do_add },
	{ "remove", "", "NAME...", 1, -1, do_remove },
	{ "enable", "", "NAME...", 1, -1, do_enable },
	{ "disable", "", "NAME...", 1, -1, do_disable },
	{ "describe", "", "TRACEPOINT|FUNCTION [PATH]", 1, 2, do_describe },
	{ "apply", "inpv", "[FILE...]", 0, -1, do_apply },
	{ "check", "v", "[FILE...]", 0, -1, do_check },
	{ "export", "", "[NAME...]", 0, -1, do_export },
};

#define NR_COMMANDS (sizeof(commands) / sizeof(*commands))

static void print_usage(FILE *to, const char *before, const struct command *c)
{
	const char *option;

	fprintf(to, "%s kmmvctl [-r DIR] %s ", before, c->name);
	for (option = c->options; *option; option++)
		fprintf(to, "[-%c] ", *option);
	fprintf(to, "%s\n", c->arguments);
}

static int usage(FILE *to)
{
	unsigned int i;

	for (i = 0; i < NR_COMMANDS; i++)
		print_usage(to, i ? "      " : "usage:", &commands[i]);
	return to == stdout ? 0 : 2;
}

static const struct option options[] = {
	{ "help", no_argument, NULL, 'h' },
	{ "if-running", no_argument, NULL, 'i' },
	{ "json", no_argument, NULL, 'j' },
	{ "dry-run", no_argument, NULL, 'n' },
	{ "prune", no_argument, NULL, 'p' },
	{ "root", required_argument, NULL, 'r' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

static const char *long_name(char letter)
{
	const struct option *o;

	for (o = options; o->name && o->val != letter; o++)
		;
	return o->name;
}

/*
 * An option that a command lacks is refused, not ignored: a user of -n with `remove'
 * expects that nothing is removed.
 */
static bool takes_all(const struct command *c, const char *given)
{
	given += strspn(given, c->options);
	if (!*given)
		return true;
	fprintf(stderr, "kmmvctl: %s has no option -%c (--%s)\n", c->name,
		*given, long_name(*given));
	return false;
}

/* @given: the options for the command, each once */
static int run(const char *given, int argc, char **argv)
{
	unsigned int i;

	for (i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(commands[i].name, argv[0]))
			break;
	if (i == NR_COMMANDS) {
		fprintf(stderr, "kmmvctl: no command %s\n", argv[0]);
		return usage(stderr);
	}
	argc--;
	if (!takes_all(&commands[i], given) || argc < commands[i].least ||
	    (commands[i].most >= 0 && argc > commands[i].most)) {
		print_usage(stderr, "usage:", &commands[i]);
		return 2;
	}
	return commands[i].call(argc, argv + 1);
}

/* STATUS, unless what was printed cannot be written. */
static int flushed(int status)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	/* The errno of an earlier write is lost. */
	ctl_fault_set(-EIO, "standard output: %s", strerror(errno ?: EIO));
	return fail();
}

int main(int argc, char **argv)
{
	char given[sizeof("ijnpv")] = "";
	const char *root = "";
	int option, status;

	if (!kmmv_stdopen()) {
		perror("kmmvctl: /dev/null");
		return 1;
	}
	while ((option = getopt_long(argc, argv, "hijnpr:vV", options, NULL)) !=
	       -1) {
		if (strchr("ijnpv", option) && !strchr(given, option))
			given[strlen(given)] = option;
		switch (option) {
		case 'h':
			return flushed(usage(stdout));
		case 'i':
			if_running = true;
			break;
		case 'j':
			as_json = true;
			break;
		case 'n':
			only_say = true;
			break;
		case 'p':
			to_prune = true;
			break;
		case 'r':
			root = optarg;
			break;
		case 'v':
			verbose = true;
			break;
		case 'V':
			printf("kmmvctl %s\n", KMMV_VERSION);
			return flushed(0);
		default:
			return usage(stderr);
		}
	}
	if (optind == argc)
		return usage(stderr);
	if (ctl_places_set(&places, root))
		return fail();
	status = flushed(run(given, argc - optind, argv + optind));
	ctl_hooks_close(hooks);
	ctl_places_free(&places);
	return status;
}
