// SPDX-License-Identifier: GPL-2.0-only
/*
 * A simulated ring for kmmvdump: kmmvringsim DIR makes DIR/ring/default, a
 * memfd with some events of all kinds, prints "ready", and adds for each line of
 * input a mark, if the line begins with a letter, as many drops as it says, or a hit.
 */
#include <ctype.h>
#include <stdint.h>

/* No handle here has this ioctl. */
uint64_t kmmv_ring_monotonic(void);
#include "../unit/lib/libringarea.h"
#include "serve.h"

uint64_t kmmv_ring_monotonic(void)
{
	return 0;
}

static void some_events(struct ring_area *a)
{
	static const char mark[] = "a \"mark\"\nof two lines";
	unsigned char payload[32] = { 0 };
	uint64_t began = 1234567890123;
	uint16_t flags = 0xbeef;

	ring_hit(a, 0, 1000, -5);
	ring_begin(a, 1, 0, 1500000000);
	ring_event(&a->cpu[1], 1500000000, RING_AUTO, false, KMMV_EVENT_MARK,
		   KMMV_EVENT_NO_INSTANCE, mark, sizeof(mark) - 1);
	memcpy(payload, &began, 8);
	memcpy(payload + 8, &flags, 2);
	strcpy((char *)payload + 10, "someone");
	ring_event(&a->cpu[1], 1500000001, RING_AUTO, false, 17, 1, payload, 30);
	ring_event(&a->cpu[1], 1500000002, RING_AUTO, false, 40, 9,
		   "\1\2\3\xff", 4);
	/* A field that the payload lacks. */
	ring_event(&a->cpu[1], 1500000003, RING_AUTO, false, 17, 1, payload, 4);
	ring_commit(&a->cpu[1]);
}

static void put_mark(struct ring_area *a, uint64_t time, const char *line)
{
	ring_event(&a->cpu[0], time, RING_AUTO, false, KMMV_EVENT_MARK,
		   KMMV_EVENT_NO_INSTANCE, line, strcspn(line, "\n"));
	ring_commit(&a->cpu[0]);
}

static const char *dir;

/* The encoder's assertions need a test of Check. */
START_TEST(serve)
{
	uint64_t time = 2000000000, drops;
	char path[4096], target[64], line[1024];
	struct ring_area a;

	ring_init(&a, 2, 4, 1);
	some_events(&a);
	snprintf(path, sizeof(path), "%s/ring", dir);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/ring/default", dir);
	snprintf(target, sizeof(target), "/proc/%d/fd/%d", (int)getpid(), a.fd);
	unlink(path);
	ck_assert_int_eq(symlink(target, path), 0);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		drops = strtoull(line, NULL, 10);
		if (isalpha((unsigned char)*line))
			put_mark(&a, time += 1000000000, line);
		else if (drops)
			ring_drop(&a, 0, KMMV_DROP_FULL, drops);
		else
			ring_hit(&a, 0, time += 1000000000, 7);
	}
	unlink(path);
	ring_fini(&a);
}
END_TEST

int main(int argc, char **argv)
{
	TCase *tcase = tcase_create("serve");

	if (argc != 2)
		return 2;
	dir = argv[1];
	tcase_add_test(tcase, serve);
	return serve_run(tcase);
}
