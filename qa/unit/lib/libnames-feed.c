// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names that are fed to a handle, split anywhere, begun again: what is found by them, and
 * which changes are told.
 */
#include "libnames.h"
#include "handle.h"

static void compare(const struct kmmv *a, const struct kmmv *b)
{
	const struct kmmv_instance_info *x, *y;
	uint32_t i;

	ck_assert_uint_eq(a->table.nr, b->table.nr);
	ck_assert_uint_eq(a->table.nr_families, b->table.nr_families);
	ck_assert_uint_eq(a->table.nr_hashed, b->table.nr_hashed);
	ck_assert_uint_eq(a->stream.generation, b->stream.generation);
	for (i = 0; i < a->table.nr_families; i++) {
		ck_assert_str_eq(kmmv_family(a, i)->name,
				 kmmv_family(b, i)->name);
		ck_assert_str_eq(kmmv_family(a, i)->oneline,
				 kmmv_family(b, i)->oneline);
		ck_assert_str_eq(kmmv_family(a, i)->help,
				 kmmv_family(b, i)->help);
	}
	for (i = 0; i < a->table.nr; i++) {
		x = kmmv_instance(a, i);
		y = kmmv_instance(b, i);
		ck_assert(!x == !y);
		if (!x)
			continue;
		ck_assert_str_eq(x->name, y->name);
		ck_assert_pstr_eq(x->label_key, y->label_key);
		ck_assert_pstr_eq(x->label, y->label);
		ck_assert_int_eq(x->state, y->state);
		ck_assert_uint_eq(x->incarnation, y->incarnation);
		ck_assert_uint_eq(x->family, y->family);
	}
}

/* A handle to which the test gives the names. */
static struct kmmv *open_unfed(void)
{
	struct kmmv *fed;

	area_put_files(&area);
	area_put(&area, "names", START END, strlen(START END));
	ck_assert_int_eq(area_open(&area, &fed), 0);
	return fed;
}

static void feed(struct kmmv *to, const char *text, size_t length, size_t step)
{
	size_t n;

	for (; length; text += n, length -= n) {
		n = length < step ? length : step;
		/* A separate copy, so that an over-read is detected. */
		char *piece = malloc(n);

		memcpy(piece, text, n);
		ck_assert_int_eq(kmmv_names_feed(to, piece, n), 0);
		free(piece);
	}
}

START_TEST(split_anywhere)
{
	struct kmmv *pieces;
	size_t step;

	k = open_unfed();
	feed(k, area.names, area.names_length, area.names_length);
	for (step = 1; step < 200; step++) {
		pieces = open_unfed();
		feed(pieces, area.names, area.names_length, step);
		compare(k, pieces);
		ck_assert(pieces->stream.complete && !pieces->stream.len);
		kmmv_close(pieces);
	}
}
END_TEST

/* Begun again after each byte, as after EFAULT: the same table. */
START_TEST(restarted_anywhere)
{
	struct kmmv *again;
	size_t i;

	k = open_unfed();
	feed(k, area.names, area.names_length, area.names_length);
	for (i = 0; i < area.names_length; i++) {
		again = open_unfed();
		feed(again, area.names, i, area.names_length);
		kmmv_names_restart(again);
		feed(again, area.names, area.names_length, area.names_length);
		compare(k, again);
		kmmv_close(again);
	}
}
END_TEST

/* A name's family and text lead to its number, whatever it was before. */
START_TEST(lookup_follows)
{
	k = open_unfed();
	feed(k, area.names, area.names_length, 7);
	ck_assert_uint_eq(kmmv_lookup(k, "counter", "one = 1\\2")->number, 1);
	ck_assert_str_eq(kmmv_instance(k, 1)->label, "blk=1 2");

#define TELL(text) ck_assert_int_eq(kmmv_names_feed(k, text, strlen(text)), 0)
	/* Forgotten; the name comes back with another number. */
	TELL("instance number=1 family=0 incarnation=1 state=free name=\nend 2\n");
	ck_assert_ptr_null(kmmv_lookup(k, "counter", "one = 1\\2"));
	ck_assert_ptr_null(kmmv_instance(k, 1)->label);
	TELL("instance number=5 family=0 incarnation=0 state=active name=one = 1\\\\2\n"
	     "instance number=1 family=7 incarnation=1 state=active name=new\nend 3\n");
	ck_assert_uint_eq(kmmv_lookup(k, "counter", "one = 1\\2")->number, 5);
	ck_assert_uint_eq(kmmv_lookup(k, "mem.used", "new")->number, 1);
	ck_assert_ptr_null(kmmv_lookup(k, "counter", "new"));
	/* A label is added, changed and removed with its instance's lines. */
	TELL("instance number=5 family=0 incarnation=0 state=inactive name=one = 1\\\\2\n"
	     "label number=5 incarnation=0 key=a text=b\nend 4\n");
	ck_assert_str_eq(kmmv_instance(k, 5)->label_key, "a");
	ck_assert_str_eq(kmmv_instance(k, 5)->label, "b");
	ck_assert_int_eq(kmmv_instance(k, 5)->state, KMMV_INACTIVE);
	TELL("instance number=5 family=0 incarnation=0 state=active name=one = 1\\\\2\nend 5\n");
	ck_assert_ptr_null(kmmv_instance(k, 5)->label);
	ck_assert_uint_eq(kmmv_lookup(k, "counter", "one = 1\\2")->number, 5);
}
END_TEST

/*
 * A line as the module writes it, which is not split, and one that is, as it has another
 * key, tell the same.
 */
START_TEST(plain_or_split)
{
	static const char *const lines[] = {
		"instance number=5 family=0 incarnation=0 state=inactive name=a = b",
		"instance number=5 family=0 incarnation=2 state=active name= c ",
		"instance number=5 family=7 incarnation=3 state=active name=d=",
		"instance number=5 family=0 incarnation=4 state=free name=",
	};
	const struct kmmv_instance_info *in, *other;
	struct kmmv *split = open_unfed();
	char text[128];
	unsigned int i;

	k = open_unfed();
	feed(k, area.names, area.names_length, 7);
	feed(split, area.names, area.names_length, 7);
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		sprintf(text, "%s\nend %u\n", lines[i], i + 2);
		TELL(text);
		sprintf(text, "instance later=1%s\nend %u\n",
			strchr(lines[i], ' '), i + 2);
		ck_assert_int_eq(kmmv_names_feed(split, text, strlen(text)), 0);
		in = kmmv_instance(k, 5);
		other = kmmv_instance(split, 5);
		ck_assert_int_eq(in->state, other->state);
		ck_assert_uint_eq(in->family, other->family);
		ck_assert_uint_eq(in->incarnation, other->incarnation);
		ck_assert_str_eq(in->name, other->name);
		ck_assert_str_eq(in->name, strstr(lines[i], "name=") + 5);
	}
	kmmv_close(split);
}
END_TEST

/* Generations wrap at 32 bits if only halves are atomic. */
START_TEST(generations)
{
	static const struct {
		uint64_t stream, target;
		bool atomic, halves;
	} pairs[] = {
		{ 5, 5, true, true }, { 5, 6, false, false },
		{ 6, 5, true, true }, { 0, UINT64_MAX, true, true },
		{ UINT64_MAX, 0, false, false },
		{ 0, UINT32_MAX, false, true },
		{ UINT32_MAX, 0, true, false },
	};
	size_t i;

	k = open_unfed();
	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		k->stream.generation = pairs[i].stream;
		k->header.features_compat = KMMV_F_ATOMIC64;
		ck_assert(kmmv_names_reached(k, pairs[i].target) ==
			  pairs[i].atomic);
		k->header.features_compat = 0;
		ck_assert(kmmv_names_reached(k, pairs[i].target) ==
			  pairs[i].halves);
		k->stream.complete = false;
		ck_assert(!kmmv_names_reached(k, pairs[i].target));
		k->stream.complete = true;
	}
}
END_TEST

/* How many names are compared when each of NR is looked up once. */
static uint64_t compared_of(uint32_t nr)
{
	const struct kmmv_table *t;
	uint64_t compared = 0, length;
	uint32_t i, number;
	char name[32];

	area_fini(&area);
	area_init(&area, 1, nr, nr, true);
	area_names(&area, START FAMILY);
	area.names = realloc(area.names, (size_t)nr * 80 + 8192);
	for (i = 0; i < nr; i++)
		area.names_length += (size_t)sprintf(
			area.names + area.names_length,
			"instance number=%u family=0 incarnation=0 state=active name=i%u\n",
			i, i);
	area_names(&area, END);
	area_put_files(&area);
	ck_assert_int_eq(area_open(&area, &k), 0);
	for (i = 0; i < nr; i++) {
		sprintf(name, "i%u", i);
		ck_assert_uint_eq(kmmv_lookup(k, "a", name)->number, i);
	}
	t = &k->table;
	for (i = 0; i < t->nr_heads; i++) {
		length = 0;
		for (number = t->heads[i]; number;
		     number = t->links[number - 1].next)
			compared += ++length;
	}
	kmmv_close(k);
	k = NULL;
	return compared;
}

/* At most three for each name, however many there are. */
START_TEST(linear)
{
	ck_assert_uint_le(compared_of(4096), 3 * 4096);
	ck_assert_uint_le(compared_of(65536), 3 * 65536);
}
END_TEST

/* One instance that comes back, which is a batch. */
static void tell_again(uint32_t number)
{
	char text[128];

	sprintf(text, "instance number=%u family=0 incarnation=%u state=free name=\nend 2\n",
		number, number == 3 ? 5 : 9);
	ck_assert_int_eq(kmmv_names_feed(k, text, strlen(text)), 0);
}

/* Each caller is told of all that changed since it asked, or that it cannot be. */
START_TEST(changes)
{
	uint64_t known = 0, other, elsewhere, late;
	const uint32_t *numbers;
	struct kmmv *second;
	uint32_t i;

	k = open_unfed();
	ck_assert_int_eq(kmmv_changes(k, &known, &numbers), -EOVERFLOW);
	ck_assert_int_eq(kmmv_changes(k, &known, &numbers), 0);
	elsewhere = known;
	feed(k, area.names, area.names_length, area.names_length);
	ck_assert_int_eq(kmmv_changes(k, &known, &numbers), -EOVERFLOW);
	other = late = known;
	tell_again(4);
	ck_assert_int_eq(kmmv_changes(k, &known, &numbers), 1);
	ck_assert_uint_eq(numbers[0], 4);
	tell_again(2);
	ck_assert_int_eq(kmmv_changes(k, &other, &numbers), 2);
	ck_assert_uint_eq(numbers[0], 4);
	ck_assert_uint_eq(numbers[1], 2);
	ck_assert_int_eq(kmmv_changes(k, &other, &numbers), 0);
	ck_assert_int_eq(kmmv_changes(k, &known, &numbers), 1);
	ck_assert_uint_eq(numbers[0], 2);

	/* Not before the batch is complete. */
	TELL("instance number=0 family=0 incarnation=0 state=active name=zero\n");
	ck_assert_int_eq(kmmv_changes(k, &known, &numbers), 0);
	TELL("end 3\n");
	ck_assert_int_eq(kmmv_changes(k, &known, &numbers), 1);

	/* None is lost as the list goes on, to a caller that asks in time. */
	for (i = 0; i < 5 * KMMV_CHANGES_KEPT; i++) {
		if (i == 4 * KMMV_CHANGES_KEPT)
			ck_assert_int_eq(kmmv_changes(k, &other, &numbers),
					 -EOVERFLOW);
		tell_again(i % 2 ? 2 : 4);
		ck_assert_int_eq(kmmv_changes(k, &known, &numbers), 1);
		ck_assert_uint_eq(numbers[0], i % 2 ? 2 : 4);
	}
	ck_assert_int_eq(kmmv_changes(k, &late, &numbers), -EOVERFLOW);
	ck_assert_int_eq(kmmv_changes(k, &other, &numbers), KMMV_CHANGES_KEPT);
	for (i = 0; i < KMMV_CHANGES_KEPT; i++)
		ck_assert_uint_eq(numbers[i], i % 2 ? 2 : 4);

	/* Another handle, another family or type, and the names from their start. */
	second = open_unfed();
	ck_assert_int_eq(kmmv_changes(second, &elsewhere, &numbers),
			 -EOVERFLOW);
	kmmv_close(second);
	TELL("family id=9 units=count semantics=counter name=late\nend 4\n");
	ck_assert_int_eq(kmmv_changes(k, &known, &numbers), -EOVERFLOW);
	TELL("type id=99 name=late.type\nend 5\n");
	ck_assert_int_eq(kmmv_changes(k, &known, &numbers), -EOVERFLOW);
	kmmv_names_restart(k);
	TELL(START "end 6\n");
	ck_assert_int_eq(kmmv_changes(k, &known, &numbers), -EOVERFLOW);
	ck_assert_int_eq(kmmv_changes(k, &known, &numbers), 0);
}
END_TEST

void add_feed(TCase *tcase)
{
	tcase_add_test(tcase, split_anywhere);
	tcase_add_test(tcase, restarted_anywhere);
	tcase_add_test(tcase, lookup_follows);
	tcase_add_test(tcase, plain_or_split);
	tcase_add_test(tcase, generations);
	tcase_add_test(tcase, linear);
	tcase_add_test(tcase, changes);
}
