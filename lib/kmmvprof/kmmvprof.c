// SPDX-License-Identifier: LGPL-2.1-or-later
/* kmmvprof: where the time goes, by the samples of kmmv_profile.ko. */
#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digits.h"
#include "pmu.h"
#include "reader.h"
#include "recording.h"
#include "report.h"
#include "stdopen.h"
#include "top.h"

/* Rows of a table, about 300 bytes each at most without stacks; notes. */
enum { ROWS_MAX = 1 << 20, NOTES_MAX = 1000 };
enum { COLUMNS_MAX = 2 * PROF_PART_NR };

enum command { REPORT, FOLDED, TOP, RECORD, EVENTS, NR_COMMANDS };

static const char *const commands[NR_COMMANDS] = {
	"report", "folded", "top", "record", "events",
};

static enum command command;
static struct prof_reader_options options = {
	.dir = KMMV_DEVICE_DIR,
	.ring = "profile",
	.debug_dir = "/usr/lib/debug",
};
static enum prof_part columns[COLUMNS_MAX];
static struct prof_report report = { .columns = columns };
static const char *input, *output;
static const char *sysfs = PROF_PMU_DIR;
static char **names;	/* operands of events */
static char process[24];
static uint64_t duration;	/* milliseconds; 0: what the ring holds */
static uint64_t frames;
static bool as_json, batch;
static bool weighted;	/* --weight was given */

static volatile sig_atomic_t ended;

static void end(int signal)
{
	(void)signal;
	ended = 1;
}

static void handle_signals(void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
	struct sigaction hangup;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* nohup(1) has it ignored. */
	if (!sigaction(SIGHUP, NULL, &hangup) && hangup.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
}

/*
 * A signal ends the reading of samples. While printing, it ends the program: a write
 * may wait for a reader without end, and stdio loses a write that is interrupted.
 */
static void print_signals(bool printing)
{
	handle_signals(printing ? SIG_DFL : end, 0);
}

static const char usage[] =
	"usage: kmmvprof report|folded|top|record [options]\n"
	"       kmmvprof events [-S DIR] [PMU/EVENT/...]\n"
	"  report              a table of symbols, images, commands, ...\n"
	"  folded              stacks for flame graphs, a line each\n"
	"  top                 a table of the last seconds, again and again\n"
	"  record -o FILE      a file for report and folded\n"
	"  events              the names that sysfs has for events, as numbers for\n"
	"                      events/NAME/event of the profiler\n"
	"which samples:\n"
	"  -d, --duration S    those of the next S seconds (default: what the ring holds;\n"
	"                      top: an interval of 2 s)\n"
	"  -i, --input FILE    those of a recording\n"
	"  -k, --kernel        of the kernel, -u of processes, -I of idle CPUs; several of\n"
	"  -u, --user          these may be given (default: all)\n"
	"  -I, --idle\n"
	"  -p, --process ID    of one process\n"
	"  -x, --consume       take them out of the ring\n"
	"  -R, --ring NAME     (profile)\n"
	"  -D, --device DIR    (" KMMV_DEVICE_DIR ")\n"
	"  -g, --debug-dir DIR with debugging information (/usr/lib/debug)\n"
	"how they are shown:\n"
	"  -b, --by LIST       of symbol, image, command, process, thread, cpu, mode;\n"
	"                      separated by commas (symbol)\n"
	"  -w, --weight WHAT   period (report, top) or samples (folded)\n"
	"  -t, --threshold P   leave out rows below P percent\n"
	"  -n, --rows N        the first N rows\n"
	"  -j, --json          report as JSON\n"
	"  -o, --output FILE   of record\n"
	"  -B, --batch         top: print, do not draw\n"
	"  -N, --frames N      top: end after N intervals\n"
	"  -S, --sysfs DIR     of events (" PROF_PMU_DIR ")\n"
	"  -h, --help\n"
	"  -V, --version\n";

static const struct option long_options[] = {
	{ "duration", required_argument, NULL, 'd' },
	{ "input", required_argument, NULL, 'i' },
	{ "kernel", no_argument, NULL, 'k' },
	{ "user", no_argument, NULL, 'u' },
	{ "idle", no_argument, NULL, 'I' },
	{ "process", required_argument, NULL, 'p' },
	{ "consume", no_argument, NULL, 'x' },
	{ "ring", required_argument, NULL, 'R' },
	{ "device", required_argument, NULL, 'D' },
	{ "debug-dir", required_argument, NULL, 'g' },
	{ "by", required_argument, NULL, 'b' },
	{ "weight", required_argument, NULL, 'w' },
	{ "threshold", required_argument, NULL, 't' },
	{ "rows", required_argument, NULL, 'n' },
	{ "json", no_argument, NULL, 'j' },
	{ "output", required_argument, NULL, 'o' },
	{ "batch", no_argument, NULL, 'B' },
	{ "frames", required_argument, NULL, 'N' },
	{ "sysfs", required_argument, NULL, 'S' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

/* ---- the command line */

static bool bad(const char *text, const char *why)
{
	fprintf(stderr, "kmmvprof: %s: %s\n", text, why);
	return false;
}

static bool parse_number(const char *text, const char *what, uint64_t max,
			 uint64_t *value)
{
	char why[64];

	if (kmmv_digits_parse(text, value) && *value && *value <= max)
		return true;
	snprintf(why, sizeof(why), "not a number of %s", what);
	return bad(text, why);
}

/* A decimal number in units of 1/SCALE, which is a power of 10. */
static bool parse_decimal(const char *text, const char *what, uint64_t scale,
			  uint64_t max, uint64_t *value)
{
	const char *at = text;
	uint64_t n = 0;
	char why[64];
	bool digits = false;

	for (; *at >= '0' && *at <= '9' && n <= max; at++, digits = true)
		n = n * 10 + (uint64_t)(*at - '0');
	n *= scale;
	if (*at == '.')
		for (at++; *at >= '0' && *at <= '9' && scale > 1; at++) {
			scale /= 10;
			n += (uint64_t)(*at - '0') * scale;
			digits = true;
		}
	*value = n;
	if (digits && !*at && n && n <= max)
		return true;
	snprintf(why, sizeof(why), "not a number of %s", what);
	return bad(text, why);
}

static void add_column(enum prof_part part)
{
	unsigned int i;

	for (i = 0; i < report.nr_columns; i++)
		if (columns[i] == part)
			return;
	columns[report.nr_columns++] = part;
}

/* A symbol is one of an image, a process has a command. */
static bool parse_column(const char *name)
{
	unsigned int i;

	for (i = PROF_PART_MODE; i <= PROF_PART_SYMBOL; i++) {
		if (strcmp(name, prof_part_names[i]) != 0)
			continue;
		if (i == PROF_PART_SYMBOL)
			add_column(PROF_PART_IMAGE);
		add_column(i);
		if (i == PROF_PART_PROCESS || i == PROF_PART_THREAD)
			add_column(PROF_PART_COMMAND);
		return true;
	}
	return bad(name, "not one of symbol, image, command, process, thread, cpu, mode");
}

static bool parse_columns(char *list)
{
	char *name;

	report.nr_columns = 0;
	while ((name = strsep(&list, ",")))
		if (!parse_column(name))
			return false;
	return true;
}

static bool parse_weight(const char *text)
{
	weighted = true;
	report.by_samples = !strcmp(text, "samples");
	return report.by_samples || !strcmp(text, "period") ||
	       bad(text, "weight must be period or samples");
}

static bool parse_process(const char *text)
{
	if (!parse_number(text, "a process", INT32_MAX, &options.process))
		return false;
	snprintf(process, sizeof(process), "%" PRIu64, options.process);
	return true;
}

/* 100 years of milliseconds: added to the clock, they do not overflow. */
#define DURATION_MAX	(100 * 366 * 86400000ULL)

/* False after a message; *HANDLED is false for what is no value. */
static bool parse_value(int c, bool *handled)
{
	uint64_t value = 0;
	bool good = true;

	*handled = true;
	switch (c) {
	case 'd':
		return parse_decimal(optarg, "seconds", 1000, DURATION_MAX,
				     &duration);
	case 'p':
		return parse_process(optarg);
	case 'b':
		return parse_columns(optarg);
	case 'w':
		return parse_weight(optarg);
	case 't':
		good = parse_decimal(optarg, "percent", 100, 10000, &value);
		report.threshold = (unsigned int)value;
		return good;
	case 'n':
		good = parse_number(optarg, "rows", SIZE_MAX, &value);
		report.rows = (size_t)value;
		return good;
	case 'N':
		return parse_number(optarg, "frames", UINT64_MAX, &frames);
	case 'i':
		input = optarg;
		return true;
	case 'o':
		output = optarg;
		return true;
	case 'R':
		options.ring = optarg;
		return true;
	case 'D':
		options.dir = optarg;
		return true;
	case 'S':
		sysfs = optarg;
		return true;
	case 'g':
		options.debug_dir = optarg;
		return *optarg == '/' || bad(optarg, "not an absolute path");
	default:
		*handled = false;
		return true;
	}
}

/* The options that each command takes. */
static const char *const taken[NR_COMMANDS] = {
	[REPORT] = "DIRbdgijknptuwx", [FOLDED] = "DIRdgikpuwx",
	[TOP] = "BDINRbdgknptuwx",    [RECORD] = "DIRdgkopux",
	[EVENTS] = "S",
};

/* Whether the command takes the options, and they go together. */
static bool parse_together(const bool *given)
{
	const struct option *o;
	char text[32], why[32];

	for (o = long_options; o->name; o++) {
		if (!given[o->val] || strchr(taken[command], o->val))
			continue;
		snprintf(text, sizeof(text), "--%s", o->name);
		snprintf(why, sizeof(why), "is not for %s", commands[command]);
		return bad(text, why);
	}
	if (*names && command != EVENTS)
		return bad(*names, "more than one command");
	if (command == RECORD && !output)
		return bad("record", "needs --output, the file to write");
	if (input && (duration || options.consume))
		return bad("--input", "is no ring: without --duration and --consume");
	return true;
}

static bool parse_command(const char *name)
{
	for (command = 0; command < NR_COMMANDS; command++)
		if (!strcmp(name, commands[command]))
			return true;
	return bad(name, "not one of report, folded, top, record, events");
}

/* 0 to go on, otherwise the exit status plus 1. */
static int parse(int argc, char **argv)
{
	bool given[UCHAR_MAX + 1] = { false }, handled;
	int c;

	add_column(PROF_PART_IMAGE);
	add_column(PROF_PART_SYMBOL);
	while ((c = getopt_long(argc, argv, "d:i:kuIp:xR:D:g:b:w:t:n:jo:BN:S:hV",
				long_options, NULL)) != -1) {
		if (!parse_value(c, &handled))
			return 3;
		given[(unsigned char)c] = true;
		if (handled)
			continue;
		switch (c) {
		case 'k':
			options.modes |= 1U << PROF_SAMPLE_KERNEL;
			break;
		case 'u':
			options.modes |= 1U << PROF_SAMPLE_USER;
			break;
		case 'I':
			options.modes |= 1U << PROF_SAMPLE_IDLE;
			break;
		case 'x':
			options.consume = true;
			break;
		case 'j':
			as_json = true;
			break;
		case 'B':
			batch = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return 1;
		case 'V':
			puts("kmmvprof " KMMV_VERSION);
			return 1;
		default:
			fputs(usage, stderr);
			return 3;
		}
	}
	if (!options.modes)
		options.modes = (1U << PROF_SAMPLE_MODES) - 1;
	if (optind == argc) {
		fputs(usage, stderr);
		return 3;
	}
	names = argv + optind + 1;
	return parse_command(argv[optind]) && parse_together(given) ? 0 : 3;
}

/* ---- what is done */

static unsigned int parts_wanted(void)
{
	unsigned int parts = 1U << PROF_PART_EVENT, i;

	if (command == RECORD)
		return PROF_PARTS_ALL;
	if (command == FOLDED)
		return parts | 1U << PROF_PART_COMMAND | 1U << PROF_PART_IMAGE |
		       1U << PROF_PART_SYMBOL | 1U << PROF_PART_STACK;
	for (i = 0; i < report.nr_columns; i++)
		parts |= 1U << columns[i];
	return parts;
}

/* Return: 0 or -1. */
static int collect(struct prof_profile *p)
{
	struct prof_reader *reader;
	int err;

	if (input)
		return prof_recording_read(input, options.modes,
					   *process ? process : NULL, p);
	options.fresh = duration;
	if (prof_reader_open(&options, &reader))
		return -1;
	err = prof_reader_read(reader, duration, &ended, &p->table,
			       &p->notes);
	p->accounts = *prof_reader_accounts(reader);
	prof_reader_close(reader);
	return err;
}

/* An empty profile is an error: say what the cause may be. */
static int complain_empty(const struct prof_accounts *a)
{
	if (a->others)
		fprintf(stderr, "kmmvprof: none of %" PRIu64 " samples matches the options\n",
			a->others);
	else if (input)
		fprintf(stderr, "kmmvprof: %s: no samples\n", input);
	else
		fprintf(stderr, "kmmvprof: no samples; is the profiler on (echo 1 >/sys/kernel/config/kmmv/profile/enable)? Otherwise wait longer (--duration)\n");
	return -1;
}

static int show(struct prof_profile *p)
{
	int err;

	print_signals(true);
	if (command == FOLDED)
		err = prof_report_folded(p, !weighted || report.by_samples,
					 stdout);
	else if (as_json)
		err = prof_report_json(p, &report, stdout);
	else
		err = prof_report_text(p, &report, stdout);
	if (err)
		fprintf(stderr, "kmmvprof: out of memory, or the output cannot be written\n");
	return err;
}

/* Print each event that is found, also after one that is not. */
static int run_events(void)
{
	struct prof_pmu_event event;
	char why[256];
	int status = 0;

	if (!*names && prof_pmu_list(sysfs, stdout, why, sizeof(why))) {
		fprintf(stderr, "kmmvprof: %s\n", why);
		return -1;
	}
	for (; *names; names++) {
		if (prof_pmu_resolve(sysfs, *names, &event, why, sizeof(why))) {
			fprintf(stderr, "kmmvprof: %s: %s\n", *names, why);
			status = -1;
			continue;
		}
		printf("%" PRIu32 ":0x%" PRIx64 "\n", event.type, event.config);
	}
	return status;
}

static int run_once(struct prof_profile *p)
{
	if (collect(p))
		return -1;
	if (!p->table.samples)
		return complain_empty(&p->accounts);
	if (command != RECORD)
		return show(p);
	/* Write all: otherwise the new file would be left beside the old one. */
	if (prof_recording_is_file(output))
		handle_signals(end, SA_RESTART);
	else
		print_signals(true);
	return prof_recording_write(p, output);
}

static int run_top(struct prof_profile *p)
{
	struct prof_top top = {
		.profile = p,
		.report = report,
		.batch = batch,
		.interval = duration ?: 2000,
		.frames = frames,
		.ended = &ended,
		.printing = print_signals,
	};
	int err;

	/* As wide as top(1) prints. */
	top.report.width = 80;
	/* A terminal shows as many as it has room for. */
	if (!top.report.rows)
		top.report.rows = batch ? 20 : SIZE_MAX;
	options.fresh = true;
	if (prof_reader_open(&options, &top.reader))
		return -1;
	err = prof_top_run(&top);
	prof_reader_close(top.reader);
	return err;
}

static int print_flushed(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	if (errno != EPIPE)
		perror("kmmvprof");
	return -1;
}

int main(int argc, char **argv)
{
	struct prof_profile p = { 0 };
	int status, err;

	if (!kmmv_stdopen()) {
		perror("kmmvprof: /dev/null");
		return 1;
	}
	setlocale(LC_ALL, "");
	/*
	 * libdw would ask servers for what programs run here, by build ids that the
	 * files' owners choose, and wait for the answers.
	 */
	unsetenv("DEBUGINFOD_URLS");
	status = parse(argc, argv);
	if (status == 1 && print_flushed())
		return 1;
	if (status)
		return status - 1;
	print_signals(command == EVENTS || input);
	prof_table_init(&p.table, parts_wanted(), ROWS_MAX);
	prof_table_init(&p.notes,
			1U << PROF_PART_IMAGE | 1U << PROF_PART_SYMBOL,
			NOTES_MAX);
	if (command == EVENTS)
		err = run_events();
	else
		err = command == TOP ? run_top(&p) : run_once(&p);
	prof_table_free(&p.table);
	prof_table_free(&p.notes);
	return err || print_flushed() ? 1 : 0;
}
