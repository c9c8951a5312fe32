// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmmvctl on types that the test made: what the tests share, and those of what is neither
 * a path nor a file.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "config.h"
#include "configfs.h"
#include "ctl.h"
#include "ctlbtf.h"
#include "hint.h"
#include "suite.h"

char root[] = "/tmp/kmmv-ctl.XXXXXX";
struct places places;
struct hooks *hooks;
const char *machine;

/* In place of the C library's. */
int uname(struct utsname *name)
{
	memset(name, 0, sizeof(*name));
	strcpy(name->machine, machine);
	return 0;
}

static void setup(void)
{
	machine = "x86_64";
	strcpy(root + strlen(root) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	ck_assert_int_eq(ctl_btf_write(root, false), 0);
	ck_assert_int_eq(ctl_places_set(&places, root), 0);
}

static void teardown(void)
{
	static const char *const parts[] = { "/sys/kernel/btf/vmlinux",
					     "/sys/kernel/btf/qa_mod",
					     "/sys/kernel/btf",
					     "/sys/kernel",
					     "/sys",
					     "/file",
					     "" };
	char path[256];
	unsigned int i;

	ctl_hooks_close(hooks);
	hooks = NULL;
	ctl_places_free(&places);
	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		snprintf(path, sizeof(path), "%s%s", root, parts[i]);
		remove(path);
	}
}

struct counter *make(const char *what, const char *name, const char *attribute,
		     const char *text)
{
	struct counter *c;

	ck_assert_int_eq(ctl_counter_new("qa", &c), 0);
	ck_assert_int_eq(ctl_counter_set(c, what, name, false), 0);
	ck_assert_msg(!ctl_counter_set(c, attribute, text, false), "%s: %s",
		      text, ctl_fault_text());
	return c;
}

int read_text(const char *text, struct counter **counters)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/file", root);
	f = fopen(path, "w");
	fputs(text, f);
	fclose(f);
	*counters = NULL;
	return ctl_config_read(path, counters);
}

/* An attribute that can be opened and not read. */
START_TEST(unreadable_attribute)
{
	static const char *const parts[] = { "config", "config/kmmv",
					     "config/kmmv/trace",
					     "config/kmmv/trace/qa",
					     "config/kmmv/trace/qa/error" };
	const int count = sizeof(parts) / sizeof(*parts);
	char path[256], *text;
	int i;

	for (i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/sys/kernel/%s", root,
			 parts[i]);
		ck_assert_int_eq(mkdir(path, 0700), 0);
	}
	ck_assert_int_eq(ctl_configfs_get(&places, "qa", "error", &text),
			 -EISDIR);
	ck_assert_ptr_null(text);
	ck_assert_ptr_nonnull(strstr(ctl_fault_text(), "Is a directory"));
	while (i--) {
		snprintf(path, sizeof(path), "%s/sys/kernel/%s", root,
			 parts[i]);
		ck_assert_int_eq(rmdir(path), 0);
	}
}
END_TEST

START_TEST(hints)
{
	static const char *const names[] = { "vfs_read", "vfs_readv",
					     "vfs_write", "vfs_rename",
					     "ext4_file_read" };
	struct hint h;
	unsigned int i;

	ctl_hint_begin(&h, "vfs_raed");
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		ctl_hint_offer(&h, names[i]);
	ctl_fault_set(0, "x");
	ctl_hint_say(&h);
	ck_assert_str_eq(ctl_fault_text(), "x; near: vfs_read, vfs_readv");
	ctl_hint_begin(&h, "zzzzzzzz");
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		ctl_hint_offer(&h, names[i]);
	ck_assert_uint_eq(h.nr, 0);
}
END_TEST

/* The nearest three, each once, wherever they come. */
START_TEST(nearest_hints)
{
	static const char *const names[] = { "reabXY", "readXY",   "readXY",
					     "readX",  "readX_ZZ", "readX_" };
	char far[100];
	struct hint h;
	unsigned int i;

	ctl_hint_begin(&h, "readX_Y");
	memset(far, 'x', sizeof(far) - 1);
	far[sizeof(far) - 1] = '\0';
	ctl_hint_offer(&h, far);
	ck_assert_uint_eq(h.nr, 0);
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		ctl_hint_offer(&h, names[i]);
	ctl_fault_set(0, "x");
	ctl_hint_say(&h);
	ck_assert_str_eq(ctl_fault_text(), "x; near: readXY, readX_, reabXY");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ctl");
	TCase *t = tcase_create("types");

	tcase_add_checked_fixture(t, setup, teardown);
	add_paths(t);
	tcase_add_test(t, unreadable_attribute);
	suite_add_tcase(s, t);
	t = tcase_create("files");
	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	add_files(t);
	add_texts(t);
	tcase_add_test(t, hints);
	tcase_add_test(t, nearest_hints);
	suite_add_tcase(s, t);
	return run_all(s);
}
