// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rules.h"
#include "tap.h"

int late(void)
{
	struct reader reader, look, again;
	struct kmmv_ring_stats stats;
	struct ring ring, other;
	pid_t pid;
	int n;

	create("mode=overwrite pages=4 spares=2");
	open_reader(&reader, &ring, true);
	open_reader(&look, &other, false);
	ok(ring_alive(&ring, 2) && !ring_alive(&ring, 3) &&
		   touch((const char *)ring_writer(&ring, 3)) == SIGBUS,
	   "a CPU that never was has no buffer");
	ok(!ring_stats(&ring, 3, &stats) && errno == ENODEV &&
		   ring_take(&ring, 3, NULL, 1) == 0,
	   "no accounts, and there is nothing of it");
	ok(!ring_alive(&ring, 1) && !ring_stats(&ring, 1, &stats) &&
		   errno == ENODEV,
	   "nor has one before others that have");
	stats_of(&ring, KMMV_RING_ALL_CPUS, &stats);
	ok(stats.cpu == KMMV_RING_ALL_CPUS && !stats.events.reserved,
	   "the sum is of those that have");

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(poll_woken(ring.fd) == POLLIN ? 42 : 1);
	usleep(300000);
	ok(set_online(3, true), "it comes");
	ok(ring_alive(&ring, 3) &&
		   touch((const char *)ring_writer(&ring, 3)) == 0 &&
		   ring_page(&ring, 3, 0)->seq == 1,
	   "the old mapping has its buffer");
	ok(ring_stats(&ring, 3, &stats) && stats.cpu == 3,
	   "it has accounts");
	client("ring write %d hardirq 3 500 20", number);
	waitpid(pid, &n, 0);
	ok(WIFEXITED(n) && WEXITSTATUS(n) == 42,
	   "its first record wakes a reader that waited before");
	ok(reader_snapshot(&look) == 20 && !look.errors,
	   "a snapshot reader sees them");
	ok(set_online(3, false), "it goes");
	ok(ring_alive(&ring, 3), "its buffer stays");
	/* A consumer takes one page and leaves it. */
	n = reader_take(&reader, 1, false);
	ok(n == 1 && !reader.errors && reader_events(&reader) > 5,
	   "its records can be taken");
	ring_close(&ring);
	open_reader(&again, &ring, true);
	drain(&again);
	ok(!again.errors && reader_events(&again) == 20 &&
		   again.tracks[3].again == reader.tracks[3].events,
	   "and again, from the first one that was not released");
	stats_of(&ring, 3, &stats);
	ok(stats.events.released == 20 && conserved(&stats.events) &&
		   conserved(&stats.bytes),
	   "the accounts add up");
	ok(set_online(3, true) &&
		   client("ring write %d task 3 24 3", number) == 0 &&
		   drain(&again) == 3 && !again.errors,
	   "it comes again, and writes on");
	set_online(3, false);
	ring_close(&ring);
	ring_close(&other);
	removes();
	return finish();
}
