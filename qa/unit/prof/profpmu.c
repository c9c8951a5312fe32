// SPDX-License-Identifier: GPL-2.0-only
/* Events by sysfs's names, in a tree of files made here. */
#include <errno.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../lib/libarea.h"
#include "pmu.h"

static char dir[64];
static struct prof_pmu_event event;
static char why[256];

__attribute__((format(printf, 2, 3))) static void
file(const char *text, const char *format, ...)
{
	char name[128], path[256], *slash;
	va_list args;
	FILE *to;

	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	for (slash = path + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		ck_assert(!mkdir(path, 0755) || errno == EEXIST);
	}
	to = fopen(path, "w");
	ck_assert_ptr_nonnull(to);
	fputs(text, to);
	ck_assert_int_eq(fclose(to), 0);
}

static void setup(void)
{
	snprintf(dir, sizeof(dir), "/tmp/pmu.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	file("4\n", "cpu/type");
	file("config:0-7\n", "cpu/format/event");
	file("config:8-15\n", "cpu/format/umask");
	file("config:18\n", "cpu/format/edge");
	file("config:0-3,32-35,63\n", "cpu/format/parts");
	file("config1:0-63\n", "cpu/format/offcore_rsp");
	file("config\n", "cpu/format/whole");
	file("config:9-3\n", "cpu/format/odd");
	file("config:0-64\n", "cpu/format/long");
	file("config:1x\n", "cpu/format/rest");
	file("event=0x2e,umask=0x41\n", "cpu/events/cache-misses");
	file("2.5\n", "cpu/events/cache-misses.scale");
	file("event=0xb7,umask=1,offcore_rsp=0x3f80\n", "cpu/events/offcore");
	file("event=0x2,umask=?\n", "cpu/events/chosen");
	/* An event must not lead to another, or to itself. */
	file("itself\n", "cpu/events/itself");
	file("", "cpu/events/empty");
	file("x\n", "bad/type");
	file("4294967296\n", "large/type");
	file("11", "none/type");
}

static void teardown(void)
{
	char command[80];

	snprintf(command, sizeof(command), "rm -r %s", dir);
	ck_assert_int_eq(system(command), 0);
}

static int find(const char *text)
{
	return prof_pmu_resolve(dir, text, &event, why, sizeof(why));
}

#define ck_is(text, type_, config_)					\
	do {								\
		ck_assert_int_eq(find(text), 0);			\
		ck_assert_uint_eq(event.type, type_);			\
		ck_assert_uint_eq(event.config, config_);		\
	} while (0)

#define ck_refuses(text, err, part)					\
	do {								\
		ck_assert_int_eq(find(text), err);			\
		ck_assert_msg(strstr(why, part) != NULL, "%s", why);	\
	} while (0)

START_TEST(found)
{
	ck_is("cpu/cache-misses/", 4, 0x412e);
	ck_is("cpu/cache-misses", 4, 0x412e);
	ck_is("cpu/event=0x3c/", 4, 0x3c);
	ck_is("cpu/event=60,umask=0x2,edge/", 4, 0x4023c);
	ck_is("cpu/cache-misses,edge=1/", 4, 0x4412e);
	ck_is("cpu/config=0xffffffffffffffff/", 4, UINT64_MAX);
	ck_is("cpu/whole=0x123456789a/", 4, 0x123456789a);
	/* The lowest bits first. */
	ck_is("cpu/parts=0x1f5/", 4, 1ULL << 63 | 0xfULL << 32 | 5);
	ck_is("cpu/offcore_rsp=0,event=1/", 4, 1);
	ck_is("none/config=1/", 11, 1);
}
END_TEST

START_TEST(refused)
{
	ck_refuses("cpu", -EINVAL, "not PMU/EVENT/");
	ck_refuses("cpu/", -EINVAL, "not PMU/EVENT/");
	ck_refuses("cpu//", -EINVAL, "not PMU/EVENT/");
	ck_refuses("/cache-misses/", -EINVAL, "not PMU/EVENT/");
	ck_refuses("../cpu/cache-misses/", -EINVAL, "not PMU/EVENT/");
	ck_refuses("none/x/../../cpu/events/cache-misses/", -ENOENT, "");
	ck_refuses("gpu/busy/", -ENOENT, "gpu");
	ck_refuses("bad/x/", -EINVAL, "type of bad");
	ck_refuses("large/x/", -EINVAL, "type of large");
	ck_refuses("cpu/misses/", -ENOENT, "neither an event nor a field misses");
	ck_refuses("cpu/itself/", -ENOENT, "itself");
	ck_refuses("cpu/empty/", -EINVAL, "not FIELD=NUMBER");
	ck_refuses("cpu/cache-misses,/", -EINVAL, "not FIELD=NUMBER");
	ck_refuses("cpu/event=0x1g/", -EINVAL, "event=0x1g is not");
	ck_refuses("cpu/event=-1/", -EINVAL, "event=-1 is not");
	ck_refuses("cpu/event=/", -EINVAL, "event= is not");
	ck_refuses("cpu/=1/", -EINVAL, "=1 is not");
	ck_refuses("cpu/config=0x10000000000000000/", -EINVAL, "is not");
	ck_refuses("cpu/event=0x100/", -ERANGE, "0x100");
	ck_refuses("cpu/edge=2/", -ERANGE, "0x2");
	ck_refuses("cpu/chosen/", -EINVAL, "give umask a value");
	ck_refuses("cpu/offcore/", -EOPNOTSUPP, "config1");
	ck_refuses("cpu/odd=1/", -EINVAL, "9-3");
	ck_refuses("cpu/long=1/", -EINVAL, "0-64");
	ck_refuses("cpu/rest=1/", -EINVAL, "1x");
}
END_TEST

START_TEST(listed)
{
	char text[2048] = "";
	FILE *to = fmemopen(text, sizeof(text), "w");

	ck_assert_ptr_nonnull(to);
	ck_assert_int_eq(prof_pmu_list(dir, to, why, sizeof(why)), 0);
	ck_assert_int_eq(fclose(to), 0);
	ck_assert_ptr_nonnull(strstr(text, "cpu/cache-misses/"));
	ck_assert_ptr_nonnull(strstr(text, " 4:0x412e\n"));
	ck_assert_ptr_nonnull(strstr(text, " - offcore_rsp is in config1"));
	ck_assert_ptr_null(strstr(text, "scale"));
	strcat(dir, "/none/events");
	ck_assert_int_eq(prof_pmu_list(dir, stdout, why, sizeof(why)), -ENOENT);
	ck_assert_ptr_nonnull(strstr(why, "/none/events: No such file"));
	dir[strlen(dir) - strlen("/none/events")] = '\0';
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("profpmu");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, found);
	tcase_add_test(tcase, refused);
	tcase_add_test(tcase, listed);
	return run_suite("profpmu", tcase);
}
