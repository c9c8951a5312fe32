/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The handle, and declarations shared by the library's files. Inline functions are
 * in arena.h and identity.h.
 *
 * Everything outside the mapping is private to this reader: the geometry is
 * copied from the header once, validated, and not read again. Other values read
 * from the mapping are checked against that copy before use.
 */
#ifndef KMMV_LIB_HANDLE_H
#define KMMV_LIB_HANDLE_H

#include <sys/types.h>
#include <linux/kmmv.h>

#include "libkmmv.h"
#include "arena.h"

enum kmmv_kind {
	KMMV_CAPTURED,		/* regular files, read into memory */
	KMMV_SEALED,		/* a memfd that cannot shrink, mapped */
	KMMV_DEVICE,		/* mapped */
};

/* The counters of one possible CPU. */
struct kmmv_area {
	const uint64_t *kvalues;	/* indexed by instance number */
	const struct kmmv_pair *kpair;	/* NULL if a value is one load */
	uint32_t cpu;
};

/* What the names say of an instance; its number is its index. */
struct kmmv_instance {
	uint32_t incarnation;
	uint32_t family;	/* its id */
	uint32_t name : KMMV_ARENA_BITS; /* 0: "" */
	uint32_t labelled : 1;	/* behind the name: key, NUL, text */
	uint32_t state : 2;
};
_Static_assert(sizeof(struct kmmv_instance) == 12, "there are many");

/*
 * The part of an instance that look-ups read: in an array of its own, as they read it
 * in no order, and a large table is in no cache.
 */
struct kmmv_link {
	uint32_t next;		/* in its hash chain, number + 1; 0 ends */
	uint32_t hash : 28;	/* of its identity, if it is named */
	uint32_t seen : 1;	/* a record for the number was read */
	uint32_t named : 1;	/* active or inactive */
	uint32_t linked : 1;	/* is in its hash chain */
	uint32_t changed : 1;	/* is in table.changed */
};

enum {
	/* Memory for a number without a name that no caller has asked for. */
	KMMV_INSTANCE_SIZE = sizeof(struct kmmv_instance) +
			     sizeof(struct kmmv_link) + sizeof(uint32_t) + 1,
};

/* The instances that callers asked for, see info.c. */
struct kmmv_infos {
	uint32_t given;		/* since the memory was last given back */
	struct kmmv_instance_info info[];	/* by number */
};

struct kmmv_family {
	struct kmmv_family_info info;
	char *name, *units, *oneline, *help;	/* owned */
	uint32_t next_id;	/* in the id's chain, index + 1; 0 ends */
	uint32_t next_name;	/* in the name's chain, index + 1; 0 ends */
};

struct kmmv_field {
	struct kmmv_field_info info;	/* its strings are those below */
	char *name, *units;	/* owned */
};

/* An event type. */
struct kmmv_type {
	struct kmmv_type_info info;	/* fields: as of the last "end" */
	char *name, *oneline;	/* owned */
	struct kmmv_field *fields;
	uint32_t nr_fields;
	struct kmmv_field_info *shown;	/* array for info.fields */
	uint32_t told;		/* fields since the last "type" line */
};

enum { KMMV_FAMILY_BITS = 8, KMMV_FAMILY_HEADS = 1 << KMMV_FAMILY_BITS };

/* See changes.c. */
enum { KMMV_CHANGES_KEPT = 4096 };

struct kmmv_log {
	uint32_t *numbers;	/* with a record, in order of the batches */
	uint32_t nr;		/* up to twice KMMV_CHANGES_KEPT */
	uint64_t first;		/* the place of the first one */
};

/* The table, from the names read so far. */
struct kmmv_table {
	/* By number. Names and labels are in the arena. */
	struct kmmv_instance *instances;
	struct kmmv_link *links;
	struct kmmv_infos *infos;	/* mapped */
	size_t infos_size;
	struct kmmv_arena arena;
	/*
	 * Indexed by number, for the read path, which checks values against
	 * them. As of the last "end", so that no caller gets values of
	 * instances that were not reported to it.
	 */
	uint32_t *incarnations;
	uint8_t *readable;	/* 1 if active or inactive */
	uint32_t nr;		/* numbers below have an entry */
	uint32_t room;

	uint32_t *heads;	/* from identity to number + 1 */
	uint32_t nr_heads;	/* a power of two, up to 1 << 28 */
	uint32_t nr_hashed;
	uint64_t seed;		/* random: names that share a chain cannot be chosen */

	uint32_t *changed;	/* numbers with a record since "end" */
	uint32_t nr_changed, changed_room;
	struct kmmv_log log;	/* the same, of the last batches */

	struct kmmv_family *families;
	uint32_t nr_families, families_room;
	const char **family_order;	/* their names, sorted */
	uint32_t family_ids[KMMV_FAMILY_HEADS];
	uint32_t family_names[KMMV_FAMILY_HEADS];
	bool families_changed;

	struct kmmv_type *types;
	uint32_t nr_types, types_room;
	uint32_t nr_shown;	/* as of the last "end" */
	bool types_changed;
	bool types_grown;	/* a type or a field is new */
};

/* Position in the names stream. */
struct kmmv_stream {
	char line[KMMV_LINE_MAX];	/* start of an incomplete line */
	size_t len;
	uint64_t lines;		/* line number, for messages */
	bool started;		/* the first line was read */
	bool complete;		/* the last line was an "end" */
	bool again;		/* began again since the last "end" */
	uint64_t generation;	/* of the last "end" */
	bool changed;		/* changed since kmmv_update() reported */
	bool moved;		/* the same: a number is another instance's */
	uint32_t last;		/* number of the last instance line, plus 1 */
};

struct kmmv {
	enum kmmv_kind kind;
	char *dir;
	int counters_fd, names_fd;
	pid_t process;		/* that reads names_fd */
	dev_t dev;		/* of the sealed memfd opened */
	ino_t ino;

	struct kmmv_header header;	/* the copy; gen1.. are as of opening */
	const struct kmmv_header *kheader;
	const uint64_t *konline;
	const uint32_t *kincarnations;
	struct kmmv_area *areas;	/* possible CPUs, ascending */
	uint32_t nr_areas;
	uint64_t *possible, *online, *scratch;	/* masks, mask_words each */
	uint32_t mask_words;
	void *map;
	size_t map_length;
	void *memory;		/* of a captured area */

	uint32_t nr_instances;	/* as last read; only grows */
	uint32_t slots_free;
	uint64_t generation;
	uint64_t retries, rereads;
	int broken;		/* why the names cannot be followed, or 0 */

	struct kmmv_table table;
	struct kmmv_stream stream;
	char error[512];
};

/* error.c: set the message for kmmv_error() and return ERR. */
int kmmv_fail(struct kmmv *k, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* -EBADMSG, for the line of the names that was read last. */
int kmmv_bad_line(struct kmmv *k, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void kmmv_fail_open(const struct kmmv *k);
int kmmv_fail_nomem(struct kmmv *k);

/*
 * geometry.c: check the copied header against FILE_LENGTH bytes, and the masks.
 */
int kmmv_geometry_check(struct kmmv *k, uint64_t file_length);
int kmmv_geometry_masks(struct kmmv *k);
bool kmmv_mask_test(const uint64_t *mask, uint32_t cpu);
uint32_t kmmv_mask_weight(const uint64_t *mask, uint32_t words);

/* map.c */
int kmmv_map_open(struct kmmv *k, const char *dir);
void kmmv_map_close(struct kmmv *k);
bool kmmv_map_is_sealed(int fd);

/* names.c */
int kmmv_names_feed(struct kmmv *k, const char *bytes, size_t len);

/* stream.c: read on; TARGET is the generation to reach. */
void kmmv_names_restart(struct kmmv *k);
int kmmv_names_read(struct kmmv *k, uint64_t target);
bool kmmv_names_reached(const struct kmmv *k, uint64_t target);

/* table.c: take records, and check a batch when it is complete. */
int kmmv_table_init(struct kmmv *k);
void kmmv_table_fini(struct kmmv *k);
int kmmv_table_family(struct kmmv *k, const struct kmmv_family_info *info);
int kmmv_table_family_text(struct kmmv *k, uint32_t id, bool help,
			   const char *text);
int kmmv_table_instance(struct kmmv *k, const struct kmmv_instance_info *info);
int kmmv_table_label(struct kmmv *k, uint32_t number, uint32_t incarnation,
		     const char *key, const char *text);
int kmmv_table_end(struct kmmv *k);

/* info.c: room for instances below ROOM; give back what callers cannot use. */
int kmmv_infos_room(struct kmmv *k, uint32_t room);
void kmmv_infos_give_back(struct kmmv *k);
void kmmv_infos_fini(struct kmmv *k);
/* The same as kmmv_instance(), in *INFO; NUMBER has a record. */
void kmmv_infos_put(const struct kmmv *k, uint32_t number,
		    struct kmmv_instance_info *info);

/* types.c: the same, for event types. */
int kmmv_types_init(struct kmmv *k);
void kmmv_types_fini(struct kmmv *k);
int kmmv_types_type(struct kmmv *k, uint32_t id, const char *name);
int kmmv_types_about(struct kmmv *k, uint32_t id, const char *text);
int kmmv_types_field(struct kmmv *k, uint32_t id,
		     const struct kmmv_field_info *info);
int kmmv_types_end(struct kmmv *k);

/* changes.c */
int kmmv_changes_init(struct kmmv *k);
void kmmv_changes_fini(struct kmmv *k);
void kmmv_changes_add(struct kmmv *k, const uint32_t *numbers, uint32_t nr,
		      bool all);

/* extent.c */
int kmmv_extent_check(struct kmmv *k, uint32_t nr);
int kmmv_extent_read(struct kmmv *k);

/*
 * update.c: wait, a little longer each time; false after too many tries. Read the
 * header's words that belong to the table, of one generation. Read the names up to the
 * header's generation, and what depends on them.
 */
bool kmmv_retry(struct kmmv *k, unsigned int *tries);
int kmmv_update_words(struct kmmv *k);
int kmmv_read_on(struct kmmv *k);

#endif /* KMMV_LIB_HANDLE_H */
