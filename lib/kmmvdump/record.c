// SPDX-License-Identifier: LGPL-2.1-or-later
/* kmmvdump: the line of an event. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "follow.h"

/* FORMAT is for strftime(3), for all but the fraction of a second. */
static void print_time(struct kmmv_ring *r, uint64_t time, const char *format)
{
	uint64_t realtime;
	struct tm tm;
	time_t seconds;
	char text[32];

	if (kmmv_ring_realtime(r, time, &realtime)) {
		printf("%" PRIu64 ".%09" PRIu64, time / 1000000000,
		       time % 1000000000);
		return;
	}
	seconds = (time_t)(realtime / 1000000000);
	localtime_r(&seconds, &tm);
	strftime(text, sizeof(text), format, &tm);
	printf("%s.%09" PRIu64, text, realtime % 1000000000);
}

static void print_bytes(const struct kmmv_record *record)
{
	const unsigned char *bytes = record->payload;
	uint32_t i;

	printf(" bytes=");
	for (i = 0; i < record->size; i++)
		printf("%02x", bytes[i]);
}

/* 0 or -ENOMEM */
static int print_field(struct kmmv_ring *r, const struct kmmv_field_info *field,
		       const struct kmmv_record *record)
{
	char text[256], *longer;
	int n = kmmv_field_text(field, record, text, sizeof(text));
	uint64_t time;
	bool is_text = field->kind == KMMV_TEXT &&
		       field->offset <= record->size;
	const char *quote = is_text ? "\"" : "";

	if (field->kind == KMMV_TIME && field->size == sizeof(time) &&
	    field->offset + sizeof(time) <= record->size) {
		memcpy(&time, (const char *)record->payload + field->offset,
		       sizeof(time));
		printf(" %s=", field->name);
		print_time(r, time, "%FT%T");
		return 0;
	}
	if ((size_t)n < sizeof(text)) {
		printf(" %s=%s%s%s", field->name, quote, text, quote);
		return 0;
	}
	longer = malloc((size_t)n + 1);
	if (!longer)
		return -ENOMEM;
	kmmv_field_text(field, record, longer, (size_t)n + 1);
	printf(" %s=%s%s%s", field->name, quote, longer, quote);
	free(longer);
	return 0;
}

static void print_instance(const struct kmmv *k,
			   const struct kmmv_record *record,
			   const struct kmmv_instance_info *in)
{
	const struct kmmv_family_info *f;

	if (in) {
		f = kmmv_family_by_id(k, in->family);
		printf(" %s[\"", f ? f->name : "?");
		dump_name(in->name);
		printf("\"]");
	} else if (record->instance == KMMV_EVENT_NO_INSTANCE) {
		printf(" -");
	} else {
		printf(" #%u", record->instance);
	}
}

int dump_record(struct kmmv_ring *r, const struct kmmv *k, const char *ring,
		const struct follow *f, const struct kmmv_record *record,
		const struct kmmv_instance_info *in)
{
	const struct kmmv_type_info *type;
	int lines = 0, err = 0;
	uint32_t i;

	if (record->lost || record->dropped) {
		print_time(r, record->time, "%F %T");
		printf(" cpu %u %s lost %" PRIu64 " dropped %" PRIu64 "\n",
		       record->cpu, ring, record->lost, record->dropped);
		lines++;
	}
	if (!record->type || !dump_is_followed(k, f, in))
		return lines;
	type = kmmv_type_by_id(k, record->type);
	print_time(r, record->time, "%F %T");
	printf(" cpu %u %s ", record->cpu, ring);
	if (type)
		printf("%s", type->name);
	else
		printf("type-%u", record->type);
	print_instance(k, record, in);
	for (i = 0; type && i < type->nr_fields && !err; i++)
		err = print_field(r, &type->fields[i], record);
	if (!type)
		print_bytes(record);
	printf("\n");
	return err ?: lines + 1;
}
