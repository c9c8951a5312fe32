#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A disk that stalls: the agent answers pmcd without the names whose numbers are not on
# disk, and shows them once they are.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# The daemon as it is shipped: see qa/agent/link.
# shellcheck disable=SC2034
impatient=yes
# shellcheck source=qa/agent/env
. qa/agent/env
# shellcheck source=qa/agent/ring
. qa/agent/ring
trap 'rm -f "$stalls"; kill $live_pid $pmcd_pid 2>/dev/null; rm -rf "$work"' EXIT

# fdatasync() returns once there is no file of this name. With a file NAME.slow it takes
# two seconds of the agent's clock, and that file gets a line for each, and for each time
# that the agent polls for a request.
stalls=$work/stalls
cat >"$work/stall.c" <<'C'
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int later;

static int say(const char *line)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s.slow", getenv("STALLS"));
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (write(fd, line, strlen(line)) < 0)
		abort();
	close(fd);
	return 1;
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	int rc = syscall(SYS_clock_gettime, id, ts);

	ts->tv_sec += __atomic_load_n(&later, __ATOMIC_RELAXED);
	return rc;
}

int fdatasync(int fd)
{
	while (access(getenv("STALLS"), F_OK) == 0)
		usleep(10000);
	if (say("sync\n"))
		__atomic_add_fetch(&later, 2, __ATOMIC_RELAXED);
	return syscall(SYS_fdatasync, fd);
}

int poll(struct pollfd *fds, nfds_t count, int ms)
{
	say("poll\n");
	return syscall(SYS_poll, fds, count, ms);
}

int __poll_chk(struct pollfd *fds, nfds_t count, int ms, size_t size)
{
	(void)size;
	return poll(fds, count, ms);
}
C
gcc -D_GNU_SOURCE -shared -fPIC -o "$work/stall.so" "$work/stall.c" || bail "does not build"
cat >"$work/daemon" <<E2
#!/bin/sh
export STALLS=$stalls LD_PRELOAD=$work/stall.so
exec $pmda_daemon "\$@"
E2
chmod 755 "$work/daemon"
pmda_daemon=$work/daemon

# machine GENERATION NAME...: it has these instances
machine()
{
	local generation=$1 n=0 name

	shift
	echo "set gen $generation"
	echo "set capacity 16"
	echo "family 0 counter count counter Counters"
	for name; do
		echo "inst $n 0 0 active $((n + 1)) $name"
		n=$((n + 1))
	done
}
# become GENERATION NAME...
become()
{
	mkdir -p "$work/next"
	machine "$@" | qa/agent/area.py "$work/next"
	serve_next "$work"
}
shown()
{
	pminfo -h "$host" -f kmmv.value.counter | lines | xargs
}
# shellcheck disable=SC2317 # called by wait_for
shows()
{
	[ "$(shown)" = "$1" ]
}
agent()
{
	pgrep -P "$pmcd_pid" -f "pmdakmmv -d"
}

machine 1 one | area
live
pmcd_start || bail "no pmcd"
host=unix:$work/pmcd.socket
ok "an instance has a value before the disk stalls" wait_for 60 shows "one 1"
before=$(agent)
like "the agent is a process of pmcd's" "$before" '^[0-9]+$'

touch "$stalls"
become 2 one two
wrong=''
for _ in $(seq 20); do
	now=$(shown)
	[ "$now" = "one 1" ] || wrong="$wrong; $now"
done
is "other instances have values while the disk stalls" "$wrong" ""
is "the reason why names wait is told" \
	"$(pminfo -h "$host" -f kmmv.control.error | lines)" \
	'"new names wait, as their numbers cannot be saved: the disk is slow"'
is "the agent is not replaced while the disk stalls" "$(agent)" "$before"

rm "$stalls"
ok "a name that waited is shown after the stall" wait_for 60 shows "one 1 two 2"
is "the agent is the same after the stall" "$(agent)" "$before"
is "the error ends with the stall" \
	"$(pminfo -h "$host" -f kmmv.control.error | lines)" '""'
like "the number of a name that waited is on disk" \
	"$(cat "$work/var/config/pmda/$domain.numbers")" \
	'\+ [0-9]+ 1 two'

# The agent ends while the disk stalls: it takes up where the file ends.
touch "$stalls"
become 3 one two three
is "a third name waits while the disk stalls" "$(shown)" "one 1 two 2"
kill -KILL "$before"
rm "$stalls"
ok "an agent after one that was killed shows the third name" \
	wait_for 60 shows "one 1 two 2 three 3"
is "the third name has the next number" \
	"$(grep -c ' 2 three$' "$work/var/config/pmda/$domain.numbers")" 1

# More names than the agent can save before pmcd's time limit, on a slow disk.
before=$(agent)
kill "$pmcd_pid"
wait "$pmcd_pid" 2>/dev/null
ended()
{
	[ ! -e "/proc/$before" ]
}
ok "the agent ends with pmcd" wait_for 60 ended
{
	echo "set capacity 20000"
	echo "family 0 counter count counter Counters"
	awk 'BEGIN { for (i = 0; i < 20000; i++) print "inst", i, "0 0 active 1 name" i }'
} | area
live
: >"$stalls.slow"
pmcd_start || bail "no second pmcd"
many()
{
	[ "$(pminfo -h "$host" -f kmmv.value.counter | grep -c inst)" = 20000 ]
}
ok "all 20000 names are shown in the end" wait_for 60 many
# A poll before the first batch is that of an agent whose real disk is late.
ok "the agent polls for requests after one batch" \
	test "$(sed '/poll/q' "$stalls.slow" | grep -c sync)" -le 1
like "the names are saved in several batches" \
	"$(grep -c sync "$stalls.slow")" '^([2-9]|[1-9][0-9]+)$'
finish
