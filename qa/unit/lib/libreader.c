// SPDX-License-Identifier: GPL-2.0-only
/*
 * Readers: values and events of what is not there yet, comes late, is loaded again,
 * or is damaged.
 */
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "libringarea.h"

static struct area area;
static struct ring_area ring;
static struct kmmv_reader *reader;

static void setup(void)
{
	area_small(&area, true);
	area_share(&area);
	reader = kmmv_reader_open(area.dir);
	ck_assert_ptr_nonnull(reader);
}

static void teardown(void)
{
	kmmv_reader_close(reader);
	area_fini(&area);
}

static void expect_value(const char *family, const char *name, uint64_t value)
{
	uint64_t got = 1;
	int err = kmmv_read(reader, family, name, &got);

	ck_assert_msg(!err, "%s: %d: %s", name, err, kmmv_reader_error(reader));
	ck_assert_uint_eq(got, value);
}

static void expect_error(const char *family, const char *name, int err,
			 const char *why)
{
	uint64_t got = 1;

	ck_assert_int_eq(kmmv_read(reader, family, name, &got), err);
	ck_assert_uint_eq(got, 0);
	ck_assert_msg(strstr(kmmv_reader_error(reader), why) != NULL, "%s",
		      kmmv_reader_error(reader));
}

static int descriptors(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 64; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* A change of the table, as the kernel makes it: names, then the generation. */
static void change(const char *lines)
{
	area.header->gen1++;
	area_names(&area, "%send %" PRIu64 "\n", lines,
		   (uint64_t)area.header->gen1);
	area_put_names(&area);
	area.header->gen2 = area.header->gen1;
}

START_TEST(values)
{
	ck_assert_ptr_null(kmmv_reader_family(reader, "counter"));
	expect_value("counter", "zero", area_small_sum(0));
	ck_assert_int_eq(kmmv_reader_family(reader, "counter")->semantics,
			 KMMV_SEM_COUNTER);
	ck_assert_int_eq(kmmv_reader_family(reader, "mem.used")->semantics,
			 KMMV_SEM_INSTANT);
	ck_assert_ptr_null(kmmv_reader_family(reader, "none"));
	ck_assert_ptr_null(kmmv_reader_family(NULL, "counter"));
	expect_value("mem.used", "zero", area_small_sum(2));
	expect_value("mem.used", "\xc3\xa4\xff", area_small_sum(3));
	*area_value(&area, 1, 0) += 5;
	expect_value("counter", "zero", area_small_sum(0) + 5);
	expect_error("counter", "one = 1\\2", -ENOENT, "no active instance");
	expect_error("counter", "none", -ENOENT, "\"none\" of the family counter");
	expect_error("none", "zero", -ENOENT, "of the family none");
	expect_value("counter", "zero", area_small_sum(0) + 5);
}
END_TEST

/* An instance comes, goes, and comes back; its number is another one's. */
START_TEST(late)
{
	expect_error("counter", "late", -ENOENT, "no active instance");
	change("instance number=5 family=0 incarnation=0 state=active name=late\n");
	expect_value("counter", "late", area_small_sum(5));
	change("instance number=5 family=0 incarnation=0 state=inactive name=late\n");
	expect_error("counter", "late", -ENOENT, "no active instance");
	change("instance number=5 family=0 incarnation=0 state=active name=late\n");
	expect_value("counter", "late", area_small_sum(5));
	*area_incarnation(&area, 5) = 1;
	/* The names do not say it yet: no value of another instance. */
	expect_error("counter", "late", -EAGAIN, "try again");
	change("instance number=5 family=0 incarnation=1 state=active name=other\n"
	       "instance number=6 family=0 incarnation=0 state=active name=late\n");
	expect_value("counter", "late", area_small_sum(6));
	expect_value("counter", "other", area_small_sum(5));
}
END_TEST

/* The producer goes, and another one takes its place. */
START_TEST(reload)
{
	struct area old = area;
	int before;

	before = descriptors();
	expect_value("counter", "zero", area_small_sum(0));
	ck_assert_int_gt(descriptors(), before);
	area_small(&area, true);
	area.header->epoch = 78;
	*area_value(&area, 0, 0) = 1;
	area_names_start(&area);
	area_names(&area, "kmmv abi=1.0 epoch=78\n"
			  "family id=3 units=count semantics=counter name=counter\n"
			  "oneline id=3 text=A\n"
			  "instance number=1 family=3 incarnation=0 state=active name=zero\n"
			  "end 1\n");
	area_remove(old.dir);
	expect_error("counter", "zero", -ENOENT, old.dir);
	ck_assert_int_eq(descriptors(), before);
	expect_error("counter", "zero", -ENOENT, "counters");
	/* It comes at the old one's place, with other numbers. */
	area_remove(area.dir);
	strcpy(area.dir, old.dir);
	ck_assert_int_eq(mkdir(area.dir, 0755), 0);
	area_share(&area);
	expect_value("counter", "zero", area_small_sum(1));
	/* And is replaced at once. */
	area_share(&area);
	*area_value(&area, 0, 1) += 9;
	expect_value("counter", "zero", area_small_sum(1) + 9);
	kmmv_reader_detach(reader);
	ck_assert_int_eq(descriptors(), before + 2);
	kmmv_reader_detach(reader);
	expect_value("counter", "zero", area_small_sum(1) + 9);
	munmap(old.header, old.length);
	close(old.fd);
	free(old.names);
}
END_TEST

/* What is damaged is an error each time, and read once it is whole. */
START_TEST(damaged)
{
	area.header->magic++;
	expect_error("counter", "zero", -EPROTO, area.dir);
	expect_error("counter", "zero", -EPROTO, area.dir);
	area.header->magic--;
	expect_value("counter", "zero", area_small_sum(0));
	area.header->gen1++;
	expect_value("counter", "zero", area_small_sum(0));
	expect_error("counter", "none", -EAGAIN, "keep");
	area.header->gen1--;
	change("instance number=xy\n");
	expect_error("counter", "zero", -EBADMSG, "names");
	ck_assert_ptr_nonnull(strstr(area.names, "instance number=xy\n"));
	memcpy(strstr(area.names, "instance number=xy\n"), "oneline id=0 text=\n", 19);
	area_put_names(&area);
	expect_value("counter", "zero", area_small_sum(0));
}
END_TEST

START_TEST(no_reader)
{
	struct kmmv_followed event;
	uint64_t value = 1;

	ck_assert_int_eq(kmmv_read(NULL, "a", "b", &value), -ENOMEM);
	ck_assert_uint_eq(value, 0);
	ck_assert_int_eq(kmmv_follow(NULL, "a", &event, -1), -ENOMEM);
	ck_assert_str_eq(kmmv_reader_error(NULL), "out of memory");
	kmmv_reader_detach(NULL);
	kmmv_reader_close(NULL);
	kmmv_reader_close(kmmv_reader_open(NULL));
}
END_TEST

/* ---- events */

/* Make the ring "test" in the area's directory, or in one of its own. */
static void make_ring(void)
{
	char target[64], path[128];

	ring_init(&ring, 1, 4, 1);
	snprintf(path, sizeof(path), "%s/ring", area.dir);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/ring/test", area.dir);
	snprintf(target, sizeof(target), "/proc/self/fd/%d", ring.fd);
	ck_assert_int_eq(symlink(target, path), 0);
}

static void remove_ring(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/ring/test", area.dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/ring", area.dir);
	rmdir(path);
	ring_fini(&ring);
}

static void write_event(uint16_t type, uint32_t instance, const char *payload)
{
	struct ring_writer *w = &ring.cpu[0];

	if (!w->page)
		ring_begin(&ring, 0, 0, 1000);
	ring_event(w, w->time + 1000, RING_AUTO, false, type, instance, payload,
		   (uint32_t)strlen(payload) + 1);
	ring_commit(w);
}

static struct kmmv_followed event;

/* The next event, which is there. */
static void follow(const char *type, const char *family, const char *instance)
{
	int n = kmmv_follow(reader, "test", &event, 10000);

	ck_assert_msg(n == 1, "%d: %s", n, kmmv_reader_error(reader));
	ck_assert_str_eq(event.type, type);
	ck_assert_str_eq(event.family, family);
	ck_assert_str_eq(event.instance, instance);
	/* Only a kernel knows the time of day of the ring's clock. */
	ck_assert_uint_eq(event.realtime, 0);
}

START_TEST(events)
{
	char text[32];

	make_ring();
	ck_assert_int_eq(kmmv_follow(reader, "test", &event, 0), 0);
	write_event(17, 3, "12345678abwho is it");
	write_event(KMMV_EVENT_MARK, KMMV_EVENT_NO_INSTANCE, "mark");
	/* ring_event() writes the incarnation 3. */
	follow("disk.done", "", "");
	ck_assert_uint_eq(event.nr_fields, 3);
	ck_assert_int_eq(kmmv_field_text(&event.fields[2], &event.record, text,
					 sizeof(text)), 9);
	ck_assert_str_eq(text, "who is it");
	follow("mark", "", "");
	ck_assert_int_eq(kmmv_follow(reader, "test", &event, 20), 0);
	/* Values and events of one reader. */
	expect_value("counter", "zero", area_small_sum(0));
	/* A type and an instance that are newer than the names. */
	change("instance number=5 family=7 incarnation=3 state=active name=late\n"
	       "type id=18 name=late.done\nabout id=18 text=Late\n");
	write_event(18, 5, "x");
	follow("late.done", "mem.used", "late");
	write_event(99, 5, "unknown");
	follow("", "mem.used", "late");
	ck_assert_ptr_null(event.fields);
	remove_ring();
}
END_TEST

/* After kmmv_reader_detach() all is read again; nothing is kept open. */
START_TEST(detached)
{
	static const char *const impossible[] = { "", ".", "..", "a/b" };
	int before;
	size_t i;

	make_ring();
	before = descriptors();
	write_event(KMMV_EVENT_MARK, 0, "1");
	follow("mark", "", "");
	ck_assert_int_eq(kmmv_follow(reader, "test", &event, 0), 0);
	kmmv_reader_detach(reader);
	ck_assert_int_eq(descriptors(), before);
	follow("mark", "", "");
	ck_assert_int_eq(kmmv_follow(reader, "other", &event, 0), 0);
	follow("mark", "", "");
	ck_assert_int_eq(kmmv_follow(reader, "0123456789012345678901234567890123",
				     &event, -1), -ENAMETOOLONG);
	/* It would be waited for without end. */
	for (i = 0; i < sizeof(impossible) / sizeof(impossible[0]); i++)
		ck_assert_int_eq(kmmv_follow(reader, impossible[i], &event, -1),
				 -EINVAL);
	remove_ring();
}
END_TEST

/* Losses that no event follows. */
START_TEST(losses)
{
	make_ring();
	write_event(KMMV_EVENT_MARK, 0, "1");
	follow("mark", "", "");
	ring_drop(&ring, 0, KMMV_DROP_FULL, 7);
	follow("", "", "");
	ck_assert_uint_eq(event.record.dropped, 7);
	remove_ring();
}
END_TEST

/* What comes while the reader waits: each of its naps is a step. */
static void (*steps)(int n);
static int naps;

int nanosleep(const struct timespec *time, struct timespec *rest)
{
	(void)rest;
	ck_assert_int_lt(naps, 1000);
	if (steps)
		steps(++naps);
	return -clock_nanosleep(CLOCK_MONOTONIC, 0, time, NULL);
}

/* A file that is there, and cannot be opened: as of a module that is being loaded. */
static void begin_to_load(const char *file)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(name.sun_path, sizeof(name.sun_path), "%s", area_path(&area, file));
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&name, sizeof(name)), 0);
	close(fd);
}

/* A device, counters, the device of a ring, a ring, an event. */
static void comes(int n)
{
	switch (n) {
	case 1:
		begin_to_load("counters");
		expect_error("counter", "zero", -ENOENT, "is being loaded");
		break;
	case 2:
		area_share(&area);
		break;
	case 3:
		ck_assert_int_eq(mkdir(area_path(&area, "ring"), 0755), 0);
		begin_to_load("ring/test");
		break;
	case 4:
		ck_assert_int_eq(unlink(area_path(&area, "ring/test")), 0);
		make_ring();
		break;
	case 8:
		write_event(KMMV_EVENT_MARK, 0, "1");
		break;
	}
}

START_TEST(waits)
{
	area_fini(&area);
	area_small(&area, true);
	kmmv_reader_close(reader);
	reader = kmmv_reader_open(area.dir);
	ck_assert_int_eq(kmmv_follow(reader, "test", &event, 60), 0);
	steps = comes;
	ck_assert_int_eq(kmmv_follow(reader, "test", &event, -1), 1);
	ck_assert_int_eq(naps, 8);
	remove_ring();
}
END_TEST

/* All goes, comes back as after a reload, and has an event. */
static void reloads(int n)
{
	if (n == 3) {
		remove_ring();
		area_remove(area.dir);
	} else if (n == 50) {
		ck_assert_int_eq(mkdir(area.dir, 0755), 0);
		area.header->epoch++;
		memcpy(strstr(area.names, "epoch=77"), "epoch=78", 8);
		area_share(&area);
	} else if (n == 55) {
		make_ring();
	} else if (n == 60) {
		write_event(KMMV_EVENT_MARK, KMMV_EVENT_NO_INSTANCE, "2");
	}
}

/* A reader that waits at a ring does not end when that goes. */
START_TEST(reload_while_it_waits)
{
	int before = descriptors();

	make_ring();
	write_event(KMMV_EVENT_MARK, KMMV_EVENT_NO_INSTANCE, "1");
	follow("mark", "", "");
	steps = reloads;
	ck_assert_int_eq(kmmv_follow(reader, "test", &event, -1), 1);
	ck_assert_int_ge(naps, 60);
	ck_assert_str_eq((const char *)event.record.payload, "2");
	ck_assert_str_eq(event.type, "mark");
	remove_ring();
	kmmv_reader_detach(reader);
	/* The area has another descriptor; its first one is still there. */
	ck_assert_int_eq(descriptors(), before + 1);
}
END_TEST

/* However late the first nap ends, the reader tries once more after it. */
static void give_permission(int n)
{
	if (n == 1) {
		ck_assert_int_eq(seteuid(0), 0);
		make_ring();
		write_event(KMMV_EVENT_MARK, 0, "1");
	}
}

/* Without permission a wait ends, after a while in which it may come. */
START_TEST(denied)
{
	static const int timeouts[] = { -1, 200, 0 };
	bool root = !geteuid();
	uint64_t before;
	int i, n;

	ck_assert_int_eq(fchmod(area.fd, 0), 0);
	if (root)
		ck_assert_int_eq(seteuid(65534), 0);
	expect_error("counter", "zero", -EACCES, area.dir);
	/* In one call, and in several. */
	for (i = 0; i < 3; i++) {
		before = kmmv_ring_monotonic();
		do {
			n = kmmv_follow(reader, "test", &event, timeouts[i]);
		} while (!n);
		ck_assert_int_eq(n, -EACCES);
		ck_assert_uint_ge(kmmv_ring_monotonic() - before, 1000000000);
	}
	if (root) {
		steps = give_permission;
		ck_assert_int_eq(kmmv_follow(reader, "test", &event, -1), 1);
		remove_ring();
	}
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("libreader");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, values);
	tcase_add_test(tcase, late);
	tcase_add_test(tcase, reload);
	tcase_add_test(tcase, damaged);
	tcase_add_test(tcase, no_reader);
	tcase_add_test(tcase, events);
	tcase_add_test(tcase, detached);
	tcase_add_test(tcase, losses);
	tcase_add_test(tcase, waits);
	tcase_add_test(tcase, reload_while_it_waits);
	tcase_add_test(tcase, denied);
	return run_suite("libreader", tcase);
}
