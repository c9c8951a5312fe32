// SPDX-License-Identifier: LGPL-2.1-or-later
/* kmmvdump: print the contents of an area, live or captured: options and main(). */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <linux/kmmv.h>

#include "digits.h"
#include "kmmvdump.h"
#include "stdopen.h"

static struct dump wanted = { .dir = KMMV_DEVICE_DIR };
static struct follow follow = { .ring = "default" };
static bool following, rings;
static uint64_t max_age;

static const char usage[] =
	"usage: kmmvdump [options]\n"
	"  -d, --device DIR    device directory, or captured files (" KMMV_DEVICE_DIR ")\n"
	"  -f, --family NAME   only this family\n"
	"  -c, --per-cpu       a value for each possible CPU, not their sum\n"
	"  -a, --all           inactive instances, too\n"
	"  -H, --header        the header only\n"
	"  -n, --names         numbers, not values\n"
	"  -r, --max-age MS    maximum age of mirrored counters (0: as young as possible)\n"
	"  -j, --json\n"
	"  -C, --capture DIR   write a copy of the area to DIR\n"
	"events:\n"
	"  -F, --follow [RING] print events as they arrive (default: ring \"default\")\n"
	"  -R, --ring NAME     the same, of ring NAME\n"
	"  -x, --consume       remove them from the ring\n"
	"  -o, --own[=MODE,PAGES] use a temporary ring\n"
	"  -i, --instance GLOB only instances that match; with --own, trace them\n"
	"  -N, --count N       exit after at least N lines\n"
	"  -L, --rings         list the rings\n"
	"  -h, --help\n"
	"  -V, --version\n";

static const struct option options[] = {
	{ "device", required_argument, NULL, 'd' },
	{ "family", required_argument, NULL, 'f' },
	{ "per-cpu", no_argument, NULL, 'c' },
	{ "all", no_argument, NULL, 'a' },
	{ "header", no_argument, NULL, 'H' },
	{ "names", no_argument, NULL, 'n' },
	{ "max-age", required_argument, NULL, 'r' },
	{ "json", no_argument, NULL, 'j' },
	{ "capture", required_argument, NULL, 'C' },
	{ "follow", no_argument, NULL, 'F' },
	{ "ring", required_argument, NULL, 'R' },
	{ "consume", no_argument, NULL, 'x' },
	{ "own", optional_argument, NULL, 'o' },
	{ "instance", required_argument, NULL, 'i' },
	{ "count", required_argument, NULL, 'N' },
	{ "rings", no_argument, NULL, 'L' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};
static bool given[UCHAR_MAX + 1];	/* by letter */

static bool parse_number(const char *text, uint64_t min, uint64_t max,
			 const char *what, uint64_t *value)
{
	if (kmmv_digits_parse(text, value) && *value >= min && *value <= max)
		return true;
	fprintf(stderr, "kmmvdump: %s: not a number of %s\n", text, what);
	return false;
}

/* MODE, PAGES, or both; modifies TEXT. */
static bool parse_own(char *text)
{
	char *comma = text ? strchr(text, ',') : NULL;
	uint64_t pages = 0;

	follow.own = true;
	if (comma)
		*comma++ = '\0';
	else if (text && *text >= '0' && *text <= '9')
		comma = text;
	if (comma && !parse_number(comma, 1, UINT32_MAX, "pages", &pages))
		return false;
	follow.own_pages = (unsigned int)pages;
	if (!text || !*text || comma == text)
		return true;
	follow.own_mode = text;
	if (!strcmp(text, "overwrite") || !strcmp(text, "consume"))
		return true;
	fprintf(stderr, "kmmvdump: %s: mode must be overwrite or consume\n",
		text);
	return false;
}

/* Is each of the options that were given among ALLOWED? */
static bool only(const char *allowed)
{
	const struct option *o;

	for (o = options; o->name; o++)
		if (given[o->val] && !strchr(allowed, o->val))
			return false;
	return true;
}

/* An option of another form of the synopsis is refused. */
static bool parse_together(int argc, char **argv)
{
	if (given['F'] && !given['R'] && !follow.own && optind + 1 == argc)
		follow.ring = argv[optind++];
	if (optind != argc)
		return false;
	if (given['C'])
		return only("Cdr");
	if (rings)
		return only("Ld");
	/* A family has no header of its own. */
	if (only("dfcaHnrj"))
		return !(given['H'] && given['f']) || given['j'];
	follow.dir = wanted.dir;
	follow.family = wanted.family;
	if (follow.own && !follow.glob && !wanted.family) {
		fprintf(stderr,
			"kmmvdump: --own needs --instance or --family: what to trace\n");
		return false;
	}
	return follow.own ? only("oFxdfiN") : following && only("FRxdfiN");
}

/* 0 to go on, otherwise the exit status plus 1. */
static int parse(int argc, char **argv, const char **capture)
{
	int c;

	while ((c = getopt_long(argc, argv, "d:f:caHnr:jC:FR:xo::i:N:LhV",
				options, NULL)) != -1) {
		given[c] = true;
		switch (c) {
		case 'd':
			wanted.dir = optarg;
			break;
		case 'f':
			wanted.family = optarg;
			break;
		case 'c':
			wanted.per_cpu = true;
			break;
		case 'a':
			wanted.all = true;
			break;
		case 'H':
			wanted.header_only = true;
			break;
		case 'n':
			wanted.names_only = true;
			break;
		case 'r':
			if (!parse_number(optarg, 0, UINT64_MAX / 1000000,
					  "milliseconds", &max_age))
				return 3;
			max_age *= 1000000;
			break;
		case 'j':
			wanted.as_json = true;
			break;
		case 'C':
			*capture = optarg;
			break;
		case 'R':
			follow.ring = optarg;
			following = true;
			break;
		case 'F':
			following = true;
			break;
		case 'x':
			follow.consume = true;
			break;
		case 'o':
			if (!parse_own(optarg))
				return 3;
			break;
		case 'i':
			follow.glob = optarg;
			break;
		case 'N':
			if (!parse_number(optarg, 1, UINT64_MAX, "lines",
					  &follow.count))
				return 3;
			break;
		case 'L':
			rings = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return 1;
		case 'V':
			puts("kmmvdump " KMMV_VERSION);
			return 1;
		default:
			fputs(usage, stderr);
			return 3;
		}
	}
	if (parse_together(argc, argv))
		return 0;
	fputs(usage, stderr);
	return 3;
}

static int dump(struct kmmv *k)
{
	struct values v = { 0 };
	int err;

	if (wanted.family && !dump_has_family(k, wanted.family)) {
		fprintf(stderr, "kmmvdump: %s: no family %s\n", wanted.dir,
			wanted.family);
		return 1;
	}
	err = dump_read_values(k, &wanted, &v);
	if (!err && wanted.as_json)
		err = dump_json(k, &wanted, &v);
	else if (!err)
		dump_text(k, &wanted, &v);
	dump_free_values(&v);
	err = err ?: dump_flush();
	if (err == -EPIPE)
		return 1;
	return err ? dump_complain(strerror(-err)) : 0;
}

int main(int argc, char **argv)
{
	const char *capture = NULL;
	struct kmmv *k;
	int status, err;

	if (!kmmv_stdopen()) {
		perror("kmmvdump: /dev/null");
		return 1;
	}
	status = parse(argc, argv, &capture);
	if (status == 1 && (fflush(stdout) || ferror(stdout)))
		return dump_complain(strerror(errno));
	if (status)
		return status - 1;
	err = dump_output();
	if (err)
		return dump_complain(strerror(-err));
	if (rings)
		return dump_rings(wanted.dir);
	if (following || follow.own)
		return dump_follow(&follow);
	if (kmmv_open(wanted.dir, &k))
		return dump_complain(kmmv_error(NULL));
	err = kmmv_refresh(k, max_age, NULL);
	if (!err)
		err = kmmv_update(k);
	/*
	 * -EAGAIN: the table was complete when opened, so the values are good.
	 */
	if (err < 0 && err != -EAGAIN)
		status = dump_complain(kmmv_error(k));
	else if (capture)
		status = kmmv_capture(k, capture) ? dump_complain(kmmv_error(k)) : 0;
	else
		status = dump(k);
	kmmv_close(k);
	return status;
}
