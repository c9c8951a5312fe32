// SPDX-License-Identifier: LGPL-2.1-or-later
/* kmmvdump: print the contents of an area, live or captured. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/kmmv.h>

#include "kmmvdump.h"

static const char *dir = KMMV_DEVICE_DIR;
static const char *family_wanted;
static bool per_cpu, all, header_only, names_only, as_json;
static bool following, rings;
static struct follow follow = { .ring = "default" };
static uint64_t max_age;

static const char *const states[] = { "active", "inactive", "free" };
static const char *const semantics[] = { "counter", "instant", "discrete" };

/* The values of all instances, as far as asked for. */
struct values {
	struct kmmv_info info;
	uint64_t *sums;
	int *status;
	uint64_t *cpu;	/* by number, then CPU; NULL if not asked for */
};

static int fail(struct kmmv *k)
{
	fprintf(stderr, "kmmvdump: %s\n", kmmv_error(k));
	return 1;
}

static bool is_wanted(const struct kmmv *k,
		      const struct kmmv_instance_info *in)
{
	const struct kmmv_family_info *f;

	if (!in || in->state == KMMV_FREE ||
	    (in->state == KMMV_INACTIVE && !all))
		return false;
	if (!family_wanted)
		return true;
	f = kmmv_family_by_id(k, in->family);
	return f && !strcmp(f->name, family_wanted);
}

static int read_percpu(struct kmmv *k, struct values *v)
{
	uint32_t n;

	v->cpu = calloc(v->info.nr_instances ?: 1,
			(size_t)v->info.nr_cpus * 8);
	if (!v->cpu)
		return -ENOMEM;
	for (n = 0; n < v->info.nr_instances; n++)
		kmmv_read_percpu(k, &n, 1,
				 v->cpu + (size_t)n * v->info.nr_cpus,
				 &v->status[n]);
	return 0;
}

static int read_values(struct kmmv *k, struct values *v)
{
	size_t nr;

	kmmv_get_info(k, &v->info);
	nr = v->info.nr_instances ? v->info.nr_instances : 1;
	v->sums = calloc(nr, sizeof(*v->sums));
	v->status = calloc(nr, sizeof(*v->status));
	if (!v->sums || !v->status)
		return -ENOMEM;
	if (per_cpu)
		return read_percpu(k, v);
	kmmv_read_all(k, v->sums, v->status, v->info.nr_instances);
	return 0;
}

static void free_values(struct values *v)
{
	free(v->sums);
	free(v->status);
	free(v->cpu);
}

static void print_cpus(const struct kmmv *k, const char *what,
		       bool (*has)(const struct kmmv *, uint32_t),
		       const struct kmmv_info *info)
{
	const char *separator = "";
	uint32_t cpu, last;

	printf("%-14s", what);
	for (cpu = 0; cpu < info->nr_cpus; cpu = last + 1) {
		last = cpu;
		if (!has(k, cpu))
			continue;
		while (last + 1 < info->nr_cpus && has(k, last + 1))
			last++;
		printf("%s%u", separator, cpu);
		if (last > cpu)
			printf("-%u", last);
		separator = ",";
	}
	printf("\n");
}

static void print_header(const struct kmmv *k, const struct kmmv_info *info)
{
	printf("%-14s%u.%u%s\n", "abi", info->major, info->minor,
	       info->features & KMMV_F_ATOMIC64 ? ", 64-bit values" :
						  ", values in two halves");
	printf("%-14s%" PRIu64 "\n", "epoch", info->epoch);
	printf("%-14s%" PRIu64 "\n", "generation", info->generation);
	printf("%-14s%u of %u, %u free\n", "instances", info->nr_instances,
	       info->capacity, info->slots_free);
	printf("%-14s%u\n", "families", info->nr_families);
	print_cpus(k, "cpus", kmmv_cpu_possible, info);
	print_cpus(k, "online", kmmv_cpu_online, info);
	if (info->live)
		printf("%-14s%" PRIu64 " bytes\n", "mapped", info->mapped);
	else
		printf("%-14scaptured\n", "source");
}

static void print_families(const struct kmmv *k)
{
	const struct kmmv_family_info *f;
	uint32_t i;

	for (i = 0; (f = kmmv_family(k, i)); i++)
		if (!family_wanted || !strcmp(f->name, family_wanted))
			printf("family %s (%s, %s): %s\n", f->name, f->units,
			       semantics[f->semantics], f->oneline);
}

/* A level may be negative, and is stored modulo 2^64 like a counter. */
static const char *value_text(const struct kmmv_family_info *f, uint64_t value)
{
	static char text[24];

	if (!f || f->semantics == KMMV_SEM_COUNTER)
		snprintf(text, sizeof(text), "%" PRIu64, value);
	else
		snprintf(text, sizeof(text), "%" PRId64, (int64_t)value);
	return text;
}

static void print_value(const struct values *v, uint32_t number,
			const struct kmmv_family_info *f,
			const struct kmmv *k)
{
	uint32_t cpu;

	if (v->status[number]) {
		printf(" ?");
		return;
	}
	if (!v->cpu) {
		printf(" %s", value_text(f, v->sums[number]));
		return;
	}
	for (cpu = 0; cpu < v->info.nr_cpus; cpu++)
		if (kmmv_cpu_possible(k, cpu))
			printf(" %s",
			       value_text(f, v->cpu[(size_t)number *
						    v->info.nr_cpus + cpu]));
}

static void print_instance(const struct kmmv *k, const struct values *v,
			   const struct kmmv_instance_info *in)
{
	const struct kmmv_family_info *f = kmmv_family_by_id(k, in->family);

	printf("%s[\"%s\"]", f ? f->name : "?", in->name);
	if (names_only)
		printf(" number %u.%u", in->number, in->incarnation);
	else
		print_value(v, in->number, f, k);
	if (in->state != KMMV_ACTIVE)
		printf(" (%s)", states[in->state]);
	if (in->label)
		printf(" %s=\"%s\"", in->label_key, in->label);
	printf("\n");
}

static void print_text(const struct kmmv *k, const struct values *v)
{
	const struct kmmv_instance_info *in;
	uint32_t n;

	if (!family_wanted)
		print_header(k, &v->info);
	if (header_only)
		return;
	print_families(k);
	for (n = 0; n < v->info.nr_instances; n++) {
		in = kmmv_instance(k, n);
		if (is_wanted(k, in))
			print_instance(k, v, in);
	}
}

/* JSON must be UTF-8: each invalid byte becomes U+FFFD. */
static json_t *json_text(const char *text)
{
	json_t *whole = json_string(text), *part;
	char *copy, *to;

	if (whole)
		return whole;
	copy = malloc(strlen(text) * 3 + 1);
	if (!copy)
		return json_null();
	for (to = copy; *text; text++) {
		part = json_stringn(text, 1);
		if (part)
			*to++ = *text;
		else
			to = stpcpy(to, "\xef\xbf\xbd");
		json_decref(part);
	}
	*to = '\0';
	whole = json_string(copy);
	free(copy);
	return whole ? whole : json_null();
}

static json_t *json_cpus(const struct kmmv *k,
			 bool (*has)(const struct kmmv *, uint32_t),
			 const struct kmmv_info *info)
{
	json_t *array = json_array();
	uint32_t cpu;

	for (cpu = 0; cpu < info->nr_cpus; cpu++)
		if (has(k, cpu))
			json_array_append_new(array, json_integer(cpu));
	return array;
}

/* As a string: JSON's numbers do not hold unsigned 64 bits. */
static json_t *json_u64(uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return json_string(text);
}

static json_t *json_value(const struct kmmv_family_info *f, uint64_t value)
{
	return json_string(value_text(f, value));
}

static json_t *json_header(const struct kmmv *k, const struct kmmv_info *info)
{
	json_t *o = json_object();

	json_object_set_new(o, "major", json_integer(info->major));
	json_object_set_new(o, "minor", json_integer(info->minor));
	json_object_set_new(o, "features", json_u64(info->features));
	json_object_set_new(o, "epoch", json_u64(info->epoch));
	json_object_set_new(o, "generation", json_u64(info->generation));
	json_object_set_new(o, "capacity", json_integer(info->capacity));
	json_object_set_new(o, "instances", json_integer(info->nr_instances));
	json_object_set_new(o, "slots_free", json_integer(info->slots_free));
	json_object_set_new(o, "mapped", json_u64(info->mapped));
	json_object_set_new(o, "live", json_boolean(info->live));
	json_object_set_new(o, "possible",
			    json_cpus(k, kmmv_cpu_possible, info));
	json_object_set_new(o, "online", json_cpus(k, kmmv_cpu_online, info));
	return o;
}

static json_t *json_family(const struct kmmv_family_info *f)
{
	json_t *o = json_object();

	json_object_set_new(o, "id", json_integer(f->id));
	json_object_set_new(o, "name", json_text(f->name));
	json_object_set_new(o, "units", json_text(f->units));
	json_object_set_new(o, "semantics",
			    json_string(semantics[f->semantics]));
	json_object_set_new(o, "since",
			    json_string(f->since_boot ? "boot" : "load"));
	json_object_set_new(o, "total", json_boolean(f->total));
	json_object_set_new(o, "source", json_boolean(f->source));
	json_object_set_new(o, "oneline", json_text(f->oneline));
	json_object_set_new(o, "help", json_text(f->help));
	return o;
}

static void json_values(json_t *o, const struct kmmv *k,
			const struct kmmv_family_info *f,
			const struct values *v, uint32_t number)
{
	const uint64_t *cpu_values;
	json_t *array;
	uint32_t cpu;

	if (v->status[number]) {
		json_object_set_new(o, "error",
				    json_integer(v->status[number]));
		return;
	}
	if (!v->cpu) {
		json_object_set_new(o, "value", json_value(f, v->sums[number]));
		return;
	}
	cpu_values = v->cpu + (size_t)number * v->info.nr_cpus;
	array = json_array();
	for (cpu = 0; cpu < v->info.nr_cpus; cpu++)
		json_array_append_new(array, kmmv_cpu_possible(k, cpu) ?
						     json_value(f, cpu_values[cpu]) :
						     json_null());
	json_object_set_new(o, "values", array);
}

static json_t *json_instance(const struct kmmv *k, const struct values *v,
			     const struct kmmv_instance_info *in)
{
	const struct kmmv_family_info *f = kmmv_family_by_id(k, in->family);
	json_t *o = json_object();

	json_object_set_new(o, "number", json_integer(in->number));
	json_object_set_new(o, "incarnation", json_integer(in->incarnation));
	json_object_set_new(o, "family", json_text(f ? f->name : "?"));
	json_object_set_new(o, "state", json_string(states[in->state]));
	json_object_set_new(o, "name", json_text(in->name));
	if (in->label)
		json_object_set_new(o, "label", json_pack("{s:o, s:o}", "key",
							  json_text(in->label_key),
							  "text",
							  json_text(in->label)));
	if (!names_only)
		json_values(o, k, f, v, in->number);
	return o;
}

static int print_json(const struct kmmv *k, const struct values *v)
{
	json_t *root = json_object(), *array;
	const struct kmmv_family_info *f;
	const struct kmmv_instance_info *in;
	uint32_t i;
	int err;

	json_object_set_new(root, "header", json_header(k, &v->info));
	if (!header_only) {
		array = json_array();
		for (i = 0; (f = kmmv_family(k, i)); i++)
			if (!family_wanted || !strcmp(f->name, family_wanted))
				json_array_append_new(array, json_family(f));
		json_object_set_new(root, "families", array);
		array = json_array();
		for (i = 0; i < v->info.nr_instances; i++) {
			in = kmmv_instance(k, i);
			if (is_wanted(k, in))
				json_array_append_new(array,
						      json_instance(k, v, in));
		}
		json_object_set_new(root, "instances", array);
	}
	err = json_dumpf(root, stdout, JSON_INDENT(1));
	json_decref(root);
	printf("\n");
	return err ? -EIO : 0;
}

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
	"  -N, --count N       exit after N lines\n"
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

static bool parse_number(const char *text, uint64_t max, const char *what,
			 uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	if (!errno && !*end && *text >= '0' && *text <= '9' && *value <= max)
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
	if (comma && !parse_number(comma, UINT32_MAX, "pages", &pages))
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

/* Options for events do not combine with others. */
static bool parse_together(int argc, char **argv)
{
	bool events = following || follow.consume || follow.own ||
		      follow.glob || follow.count;

	if (following && optind + 1 == argc && !follow.own)
		follow.ring = argv[optind++];
	if (optind != argc)
		return false;
	if (rings)
		return !events && !as_json;
	if (!events)
		return true;
	follow.dir = dir;
	follow.family = family_wanted;
	if (follow.own && !follow.glob && !family_wanted) {
		fprintf(stderr, "kmmvdump: --own needs --instance or --family: what to trace\n");
		return false;
	}
	return (following || follow.own) && !as_json && !per_cpu &&
	       !header_only && !names_only && !all;
}

/* 0 to go on, otherwise the exit status plus 1. */
static int parse(int argc, char **argv, const char **capture)
{
	int c;

	while ((c = getopt_long(argc, argv, "d:f:caHnr:jC:FR:xo::i:N:LhV",
				options, NULL)) != -1) {
		switch (c) {
		case 'd':
			dir = optarg;
			break;
		case 'f':
			family_wanted = optarg;
			break;
		case 'c':
			per_cpu = true;
			break;
		case 'a':
			all = true;
			break;
		case 'H':
			header_only = true;
			break;
		case 'n':
			names_only = true;
			break;
		case 'r':
			if (!parse_number(optarg, UINT64_MAX / 1000000,
					  "milliseconds", &max_age))
				return 3;
			max_age *= 1000000;
			break;
		case 'j':
			as_json = true;
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
			if (!parse_number(optarg, UINT64_MAX, "lines",
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

static bool is_family(const struct kmmv *k, const char *name)
{
	const struct kmmv_family_info *f;
	uint32_t i;

	for (i = 0; (f = kmmv_family(k, i)); i++)
		if (!strcmp(f->name, name))
			return true;
	return false;
}

static int dump(struct kmmv *k)
{
	struct values v = { 0 };
	int err;

	if (family_wanted && !is_family(k, family_wanted)) {
		fprintf(stderr, "kmmvdump: %s: no family %s\n", dir,
			family_wanted);
		return 1;
	}
	err = read_values(k, &v);
	if (!err && as_json)
		err = print_json(k, &v);
	else if (!err)
		print_text(k, &v);
	free_values(&v);
	if (err || fflush(stdout)) {
		fprintf(stderr, "kmmvdump: %s\n", strerror(err ? -err : errno));
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *capture = NULL;
	struct kmmv *k;
	int status = parse(argc, argv, &capture), err;

	if (status)
		return status - 1;
	if (rings)
		return dump_rings(dir);
	if (following || follow.own)
		return dump_follow(&follow);
	if (kmmv_open(dir, &k))
		return fail(NULL);
	err = kmmv_refresh(k, max_age, NULL);
	if (!err)
		err = kmmv_update(k);
	/*
	 * -EAGAIN: the table was complete when opened, so the values are good.
	 */
	if (err < 0 && err != -EAGAIN)
		status = fail(k);
	else if (capture)
		status = kmmv_capture(k, capture) ? fail(k) : 0;
	else
		status = dump(k);
	kmmv_close(k);
	return status;
}
