// SPDX-License-Identifier: GPL-2.0-only
/*
 * What kmmvprof reads samples from, and what it makes of them. An input that begins
 * with '{' is a recording. Of any other, the first byte says which samples are wanted,
 * the next four how one field of their events is declared, and the rest is a list of
 * records, which a ring gets. Reports of what was read have no control characters, their
 * percentages add up, and what is recorded reads the same again.
 */
#include <check.h>
#include <jansson.h>
#include <time.h>

#include "../unit/lib/libringarea.h"
#include "image.h"
#include "input.h"
#include "reader.h"
#include "recording.h"
#include "report.h"
#include "section.h"
#include "utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	CPUS = 2,
	PAGES = 4,
	PAYLOAD_MAX = 1300,
	TYPE_SAMPLE = 20,
	TYPE_STATE = 21,
	TYPE_OTHER = 22,
	/* Few, so that they are reached. */
	ROWS_MAX = 12,
	NOTES_MAX = 3,
	/* More than there are. */
	ROWS_ALL = 1 << 20,
};

/* ---- time and files, simulated */

uint64_t __wrap_kmmv_ring_monotonic(void);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left);

/* A record that was held back is ripe when it is asked for next. */
uint64_t __wrap_kmmv_ring_monotonic(void)
{
	static uint64_t now;

	return now += 1000000;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
	(void)time;
	(void)left;
	return 0;
}

void prof_images_init(struct prof_images *images, const char *debug_dir,
		      struct prof_table *notes)
{
	memset(images, 0, sizeof(*images));
	images->debug_dir = debug_dir;
	images->notes = notes;
}

void prof_images_free(struct prof_images *images)
{
	(void)images;
}

void prof_images_round(struct prof_images *images)
{
	images->round++;
}

int prof_images_note(struct prof_images *images, const char *image, const char *why)
{
	struct prof_row note = { .samples = 1 };

	note.part[PROF_PART_IMAGE] = image;
	note.part[PROF_PART_SYMBOL] = why;
	return prof_table_add(images->notes, &note);
}

const char *prof_images_function(struct prof_images *images,
				 const struct prof_mapped *mapped, uint64_t offset)
{
	ck_assert_ptr_nonnull(mapped->path);
	if (offset % 2)
		return "function";
	ck_assert_int_eq(prof_images_note(images, mapped->path, "is not here"), 0);
	return PROF_IMAGE_UNKNOWN;
}

/* ---- the ring */

static struct area area;
static struct ring_area ring;
static struct kmmv_ring_header *pristine;
static int file;
static char file_path[64], beside_path[80];

static const struct field {
	unsigned int type, offset, size;
	const char *kind, *name;
} fields[] = {
	{ TYPE_SAMPLE, 0, 8, "time", "time" },
	{ TYPE_SAMPLE, 8, 8, "unsigned", "period" },
	{ TYPE_SAMPLE, 16, 8, "unsigned", "inode" },
	{ TYPE_SAMPLE, 24, 8, "unsigned", "offset" },
	{ TYPE_SAMPLE, 32, 4, "unsigned", "major" },
	{ TYPE_SAMPLE, 36, 4, "unsigned", "minor" },
	{ TYPE_SAMPLE, 40, 4, "unsigned", "cpu" },
	{ TYPE_SAMPLE, 44, 4, "unsigned", "pid" },
	{ TYPE_SAMPLE, 48, 4, "unsigned", "tgid" },
	{ TYPE_SAMPLE, 52, 1, "unsigned", "mode" },
	{ TYPE_SAMPLE, 53, 1, "unsigned", "found" },
	{ TYPE_SAMPLE, 54, 2, "unsigned", "flags" },
	{ TYPE_SAMPLE, 56, 16, "text", "command" },
	{ TYPE_SAMPLE, 72, 24, "text", "event" },
	{ TYPE_SAMPLE, 96, 1024, "text", "stack" },
	{ TYPE_STATE, 0, 8, "time", "time" },
	{ TYPE_STATE, 8, 8, "unsigned", "taken" },
	{ TYPE_STATE, 16, 8, "unsigned", "lost" },
	{ TYPE_STATE, 24, 8, "unsigned", "missed" },
	{ TYPE_STATE, 32, 4, "unsigned", "freq" },
	{ TYPE_STATE, 40, 16, "text", "what" },
	{ TYPE_STATE, 56, 16, "text", "source" },
};

enum { FIELDS = sizeof(fields) / sizeof(*fields) };

static void end(void)
{
	free(pristine);
	unlink(area_path(&area, "ring"));
	unlink(beside_path);
	area_fini(&area);
	ring_fini(&ring);
	close(file);
}

static void begin(void)
{
	char target[80];

	area_small(&area, true);
	area_put_files(&area);
	ring_init(&ring, CPUS, PAGES, 1);
	snprintf(target, sizeof(target), "%s/ring", ring.dir);
	ck_assert_int_eq(symlink(target, area_path(&area, "ring")), 0);
	pristine = malloc(ring.length);
	ck_assert_ptr_nonnull(pristine);
	memcpy(pristine, ring.header, ring.length);
	file = memfd_create("recording", MFD_CLOEXEC);
	ck_assert_int_ge(file, 0);
	snprintf(file_path, sizeof(file_path), "/proc/self/fd/%d", file);
	snprintf(beside_path, sizeof(beside_path), "%s/recording", area.dir);
	atexit(end);
}

/* The field CHANGED is declared as the input says. */
static void put_names(struct input *in)
{
	uint64_t changed = number(in, 1), offset = number(in, 2);
	uint64_t size = number(in, 1);
	unsigned int i, type = 0;

	area_names_start(&area);
	area_names(&area, "kmmv abi=1.0 epoch=77\n"
		   "family id=0 units=count semantics=counter name=profile.symbol.samples\n"
		   "family id=1 units=count semantics=counter name=profile.image.samples\n"
		   "instance number=0 family=0 incarnation=3 state=active name=schedule\n"
		   "instance number=1 family=0 incarnation=3 state=active name=xmit [e1000]\n"
		   "instance number=2 family=1 incarnation=3 state=active name=/bin/a\n"
		   "instance number=3 family=1 incarnation=3 state=inactive name=b\xc2\x9b\xff\n"
		   "instance number=4 family=0 incarnation=3 state=active name= [\n"
		   "type id=22 name=profile.future\n");
	for (i = 0; i < FIELDS; i++) {
		const struct field *f = &fields[i];

		if (f->type != type)
			area_names(&area, "type id=%u name=profile.%s\n", f->type,
				   f->type == TYPE_SAMPLE ? "sample" : "state");
		type = f->type;
		area_names(&area, "field id=%u offset=%u size=%u kind=%s units=none name=%s\n",
			   type, i == changed ? (unsigned int)offset : f->offset,
			   i == changed ? (unsigned int)size : f->size, f->kind,
			   f->name);
	}
	area_names(&area, "end 1\n");
	area_put_names(&area);
}

/* The payload ends at the very end of an allocation. */
static void decode(const struct kmmv *names, uint16_t type, const void *payload,
		   uint32_t size)
{
	struct kmmv_record record = { .type = type, .size = size };
	static struct prof_sample sample;
	struct prof_sample_state state;
	void *copy = malloc(size);
	int kind;

	ck_assert(copy || !size);
	if (size)
		memcpy(copy, payload, size);
	record.payload = copy;
	kind = prof_sample_decode(names, &record, &sample, &state);
	free(copy);
	if (kind == PROF_SAMPLE_IS_SAMPLE) {
		ck_assert_uint_lt(sample.mode, PROF_SAMPLE_MODES);
		ck_assert_uint_lt(strnlen(sample.stack, sizeof(sample.stack)),
				  sizeof(sample.stack));
	} else if (kind != PROF_SAMPLE_IS_STATE && kind != PROF_SAMPLE_NONE) {
		ck_assert_int_eq(kind, -EBADMSG);
	}
}

static void put_record(struct input *in, const struct kmmv *names, uint64_t *now)
{
	static const uint16_t types[] = { TYPE_SAMPLE, TYPE_STATE, TYPE_OTHER };
	uint64_t kind = number(in, 1) % 4, cpu = number(in, 1) % CPUS;
	uint32_t instance = (uint32_t)number(in, 1);
	uint32_t size = (uint32_t)number(in, 2) % PAYLOAD_MAX;
	struct ring_writer *w = &ring.cpu[cpu];

	if (kind == 3) {
		ring_drop(&ring, (uint32_t)cpu, KMMV_DROP_FULL, size);
		return;
	}
	if (size > (size_t)(in->end - in->at))
		size = (uint32_t)(in->end - in->at);
	decode(names, types[kind], in->at, size);
	*now += 1000;
	if (!w->page || w->pos + size + 32 > RING_ROOM)
		ring_begin(&ring, (uint32_t)cpu,
			   w->page ? (w->id + 1) % PAGES : 0, *now);
	ring_event(w, *now, RING_AUTO, false, types[kind],
		   instance == UINT8_MAX ? KMMV_EVENT_NO_INSTANCE : instance,
		   in->at, size);
	ring_commit(w);
	in->at += size;
}

static void put_ring(struct input *in)
{
	uint64_t now = 1000000000;
	struct kmmv *names;
	uint32_t cpu;

	if (area_open(&area, &names))
		return;

	memcpy(ring.header, pristine, ring.length);
	for (cpu = 0; cpu < CPUS; cpu++)
		ring.cpu[cpu] = (struct ring_writer){
			.side = ring.cpu[cpu].side,
		};
	while (in->at < in->end)
		put_record(in, names, &now);
	kmmv_close(names);
}

/* ---- messages */

static FILE *terminal;
static char *message;
static size_t message_size;

/*
 * What is printed for people has no control characters: C0, DEL, C1, and bytes that are C1
 * in other character sets.
 */
static void check_plain(const char *text)
{
	size_t n;

	for (; *text; text += n ? n : 1) {
		const unsigned char *at = (const unsigned char *)text;

		n = kmmv_utf8_size(text);
		ck_assert(*at == '\n' || (*at >= ' ' && *at != 0x7f));
		ck_assert(n || *at >= 0xa0);
		ck_assert(*at != 0xc2 || !n || at[1] >= 0xa0);
	}
}

static void messages_begin(void)
{
	terminal = stderr;
	stderr = open_memstream(&message, &message_size);
	ck_assert_ptr_nonnull(stderr);
}

/* An error is said in one line, success in none. */
static void messages_end(int err)
{
	fclose(stderr);
	stderr = terminal;
	ck_assert_int_eq(err, *message ? -1 : 0);
	check_plain(message);
	if (err) {
		ck_assert_int_eq(strncmp(message, "kmmvprof: ", 10), 0);
		ck_assert_ptr_eq(strchr(message, '\n'),
				 message + message_size - 1);
	}
	free(message);
}

/* ---- profiles */

static void init(struct prof_profile *p, unsigned int parts, size_t rows)
{
	memset(p, 0, sizeof(*p));
	prof_table_init(&p->table, parts, rows);
	prof_table_init(&p->notes,
			1U << PROF_PART_IMAGE | 1U << PROF_PART_SYMBOL,
			rows == ROWS_ALL ? ROWS_ALL : NOTES_MAX);
}

static void fini(struct prof_profile *p)
{
	prof_table_free(&p->table);
	prof_table_free(&p->notes);
}

/* The percentages of an event add up to 100, and fall. */
static void check_sections(struct prof_profile *p, const struct prof_report *report)
{
	uint64_t samples = 0, period = 0, hundredths;
	struct prof_section s;
	size_t at = 0, i;
	int more;

	prof_table_sort(&p->table, report->by_samples);
	while ((more = prof_section_next(&p->table, &at, report->by_samples,
					 report->threshold, report->rows, &s)) > 0) {
		hundredths = s.rest_hundredths;
		for (i = 0; i < s.shown; i++) {
			hundredths += s.hundredths[i];
			if (i)
				ck_assert_uint_le(s.hundredths[i],
						  s.hundredths[i - 1]);
		}
		for (; i < s.nr; i++)
			ck_assert(report->rows ||
				  s.hundredths[i] < report->threshold);
		if (s.samples)
			ck_assert_uint_eq(hundredths, 10000);
		samples += s.samples;
		period += s.period;
		prof_section_free(&s);
	}
	ck_assert_int_eq(more, 0);
	ck_assert_uint_eq(samples, p->table.samples);
	ck_assert_uint_eq(period, p->table.period);
}

static void show_text(struct prof_profile *p, const struct prof_report *report)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(prof_report_text(p, report, out), 0);
	fclose(out);
	ck_assert_uint_eq(strlen(text), size);
	check_plain(text);
	ck_assert_int_eq(text[size - 1], '\n');
	free(text);
}

static void show_json(struct prof_profile *p, const struct prof_report *report)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	json_t *root;

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(prof_report_json(p, report, out), 0);
	fclose(out);
	root = json_loads(text, 0, NULL);
	ck_assert_ptr_nonnull(root);
	ck_assert_uint_eq(json_array_size(json_object_get(root, "functions_not_known")),
			  p->notes.nr);
	json_decref(root);
	free(text);
}

/* A line for each row, which ends with a number. */
static void show_folded(struct prof_profile *p, bool by_samples)
{
	char *text, *line, *rest;
	size_t size, lines = 0, n;
	FILE *out = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(prof_report_folded(p, by_samples, out), 0);
	fclose(out);
	check_plain(text);
	for (rest = text; (line = strsep(&rest, "\n")) && *line; lines++) {
		n = strlen(line);
		while (n && line[n - 1] >= '0' && line[n - 1] <= '9')
			n--;
		ck_assert(n && line[n] && line[n - 1] == ' ');
		ck_assert_ptr_nonnull(strchr(line, ';'));
	}
	ck_assert_uint_eq(lines, p->table.nr);
	free(text);
}

static void show(struct prof_profile *p)
{
	static const struct prof_report styles[] = {
		{ .by_samples = false },
		{ .by_samples = true, .threshold = 500, .width = 40 },
		{ .by_samples = false, .threshold = 1, .rows = 3 },
	};
	enum prof_part columns[PROF_PART_NR];
	struct prof_report report;
	unsigned int nr = 0;
	size_t i;

	for (i = PROF_PART_MODE; i <= PROF_PART_SYMBOL; i++)
		if (p->table.parts & 1U << i)
			columns[nr++] = i;
	for (i = 0; i < sizeof(styles) / sizeof(*styles); i++) {
		report = styles[i];
		report.columns = columns;
		report.nr_columns = nr;
		check_sections(p, &report);
		show_text(p, &report);
		show_json(p, &report);
	}
	if (p->table.parts == PROF_PARTS_ALL) {
		show_folded(p, true);
		show_folded(p, false);
	}
}

/* ---- recordings */

static int read_recording(struct prof_profile *p, const char *path,
			  unsigned int modes, const char *process)
{
	int err;

	messages_begin();
	err = prof_recording_read(path, modes, process, p);
	messages_end(err);
	return err;
}

static void write_recording(const struct prof_profile *p, const char *path)
{
	int err;

	messages_begin();
	err = prof_recording_write(p, path);
	messages_end(err);
	ck_assert_int_eq(err, 0);
}

static char *contents(const char *path, size_t *size)
{
	FILE *from = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;
	ssize_t n;

	ck_assert_ptr_nonnull(from);
	n = getdelim(&text, &room, '\0', from);
	ck_assert_int_gt(n, 0);
	*size = (size_t)n;
	fclose(from);
	return text;
}

/* EXACT: all texts are valid UTF-8, so that nothing is replaced. */
static void record(const struct prof_profile *p, bool exact)
{
	struct prof_profile again;
	size_t sizes[2];
	char *texts[2];

	write_recording(p, beside_path);
	init(&again, PROF_PARTS_ALL, ROWS_ALL);
	ck_assert_int_eq(read_recording(&again, beside_path,
					(1U << PROF_SAMPLE_MODES) - 1, NULL), 0);
	ck_assert_uint_eq(again.table.samples, p->table.samples);
	ck_assert_uint_eq(again.table.period, p->table.period);
	ck_assert_uint_eq(again.notes.samples, p->notes.samples);
	/* Into what is there. */
	write_recording(&again, file_path);
	texts[0] = contents(beside_path, &sizes[0]);
	texts[1] = contents(file_path, &sizes[1]);
	if (exact) {
		ck_assert_uint_eq(sizes[0], sizes[1]);
		ck_assert_int_eq(memcmp(texts[0], texts[1], sizes[0]), 0);
	}
	free(texts[0]);
	free(texts[1]);
	fini(&again);
}

static void read_file(const uint8_t *data, size_t size)
{
	enum {
		SOME = 1U << PROF_PART_EVENT | 1U << PROF_PART_COMMAND |
		       1U << PROF_PART_PROCESS,
	};
	struct prof_profile p, some;
	int err;

	ck_assert_int_eq(ftruncate(file, 0), 0);
	ck_assert_int_eq(pwrite(file, data, size, 0), (ssize_t)size);
	init(&p, PROF_PARTS_ALL, ROWS_MAX);
	init(&some, SOME, ROWS_ALL);
	err = read_recording(&some, file_path,
			     1U << PROF_SAMPLE_USER | 1U << PROF_SAMPLE_IDLE, "42");
	if (!err)
		show(&some);
	if (!read_recording(&p, file_path, (1U << PROF_SAMPLE_MODES) - 1, NULL)) {
		if (!err)
			ck_assert_uint_eq(some.table.samples +
					  some.accounts.others -
					  p.accounts.others, p.table.samples);
		ck_assert_uint_le(p.table.nr, 2 * ROWS_MAX + 1);
		ck_assert_uint_le(p.notes.nr, NOTES_MAX + 1);
		show(&p);
		record(&p, true);
	}
	fini(&p);
	fini(&some);
}

/* ---- rings */

static int read_samples(const struct prof_reader_options *options,
			struct prof_profile *p)
{
	static const volatile int never;
	struct prof_reader *reader;
	int err;

	if (prof_reader_open(options, &reader))
		return -1;
	err = prof_reader_read(reader, 0, &never, &p->table, &p->notes);
	p->accounts = *prof_reader_accounts(reader);
	prof_reader_close(reader);
	return err;
}

static void read_ring(struct input *in)
{
	uint64_t wanted = number(in, 1);
	const struct prof_reader_options options = {
		.dir = area.dir,
		.ring = "test",
		.debug_dir = "/nonexistent",
		.fresh = wanted & 1,
		.process = wanted & 2 ? 42 : 0,
		.modes = (unsigned int)(~wanted >> 2) % (1U << PROF_SAMPLE_MODES),
	};
	struct prof_profile p;
	int err;

	put_names(in);
	put_ring(in);
	init(&p, PROF_PARTS_ALL, ROWS_MAX);
	messages_begin();
	err = read_samples(&options, &p);
	messages_end(err);
	ck_assert_uint_eq(p.table.samples + p.accounts.others,
			  p.accounts.counts.read);
	if (!err) {
		show(&p);
		record(&p, false);
	}
	fini(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, data + size };

	if (!pristine)
		begin();
	if (!size)
		return -1;
	if (*data == '{')
		read_file(data, size);
	else
		read_ring(&in);
	return 0;
}
