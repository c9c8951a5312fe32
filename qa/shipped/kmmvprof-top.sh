#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kmmvprof top: lines of batches, and a screen.

cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/shipped/prof
. qa/shipped/prof

kernel 10 1000000 0 $schedule x >"$work/lines"
serve "$dir" <"$work/lines"
shows()
{
	grep -q ' 100.00 .* later$' "$work/top"
}
# Samples come until they are seen. If the frames are over before, it begins again.
end=$((SECONDS + 1200))
for ((begun = 0; begun == 0 || SECONDS < end; begun++)); do
	: >"$work/top"
	$prof top -B -N 3 -d 1 -b command -D "$dir" >"$work/top" &
	top_pid=$!
	until shows; do
		kill -0 $top_pid 2>/dev/null || break
		kernel 3 1000000 0 $schedule later >&8
		sleep 0.1
	done
	wait $top_pid
	status=$?
	if shows || [ $status -ne 0 ]; then
		break
	fi
done
is "top: ends after its frames" $status 0
is "top: three frames are printed" "$(grep -c '^kmmvprof: 1.0 s, ' "$work/top")" 3
ok "top: samples that come are shown" shows
not_ok "top: samples that were there are not shown" grep -q ' x$' "$work/top"
is "top: no line is longer than 80 columns" "$(awk 'length > 80' "$work/top")" ""
# ncurses 6.6 keeps some of its memory after delscreen().
echo "leak:libncursesw" >"$work/suppressed"
cat >"$work/terminal.py" <<'E2'
import os, pty, sys
class Top:
    """kmmvprof top on a terminal: PROGRAM DIR of the command line, with OPTIONS."""
    def __init__(self, *options, columns=80):
        self.seen = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="vt100", LINES="24", COLUMNS=str(columns))
            program, directory = sys.argv[1:3]
            os.execv(program, [program, "top", "-d", "0.5", "-D", directory, *options])
    def until(self, *texts):
        while not any(text in self.seen for text in texts):
            self.seen += os.read(self.fd, 4096)
    def press(self, keys):
        os.write(self.fd, keys)
    def quit(self):
        self.press(b"q")
        try:
            while os.read(self.fd, 4096):
                pass
        except OSError:
            pass
        return os.waitpid(self.pid, 0)[1]
E2
# on_terminal: a Python script that uses it, and what that prints
on_terminal()
{
	LSAN_OPTIONS=suppressions=$work/suppressed:print_suppressions=0 \
		PYTHONPATH=$work timeout 600 python3 -B - "$prof" "$dir" 2>&1
}
is "top: draws, and ends with q" "$(on_terminal <<'E2'
from terminal import Top
top = Top()
top.until(b"to quit")
print("status", top.quit())
E2
)" "status 0"
# Samples come until another view has shown them.
while [ ! -e "$work/viewed" ]; do
	kernel 3 1000000 0 $schedule Quickly
	sleep 0.1
done >&8 &
feeder=$!
is "top: a key changes the view" "$(on_terminal <<'E2'
from terminal import Top
top = Top(columns=40)
top.until(b"[kernel]")
by_symbol = b"Quickly" in top.seen
top.seen = b""
top.press(b"xc")
top.until(b"Quickly")
print("status", top.quit(), by_symbol)
E2
)" "status 0 False"
: >"$work/viewed"
wait $feeder
# Rows that were asked for, of more that there is room for.
while [ ! -e "$work/limited" ]; do
	printf '%s\n%s\n' "$(kernel 30 1000000 0 $schedule x)" \
		"$(kernel 2 1000000 0 $e1000 x)"
	sleep 0.1
done >&8 &
feeder=$!
is "top: no more rows than asked for" "$(on_terminal <<'E2'
from terminal import Top
top = Top("-n", "1")
top.until(b"1 more", b"e1000_xmit")
print("status", top.quit(), b"e1000_xmit" in top.seen)
E2
)" "status 0 False"
: >"$work/limited"
wait $feeder
# nohup(1): it goes on.
frames()
{
	[ "$(grep -c '^kmmvprof: ' "$work/hangup")" -ge "$1" ]
}
(trap '' HUP; exec "$prof" top -B -d 0.1 -D "$dir" >"$work/hangup") &
top_pid=$!
ok "top: a frame is printed before the hang-up" wait_for 600 frames 1
kill -HUP $top_pid
ok "top: a hang-up that is ignored does not end top" \
	wait_for 600 frames $(($(grep -c '^kmmvprof: ' "$work/hangup") + 3))
kill -TERM $top_pid
wait $top_pid
is "top: another signal ends top" $? 0
# The ring fails while it is drawn; xterm has another screen, on which that happens.
cat >"$work/fails.c" <<'E2'
#include <unistd.h>
struct kmmv_ring;
struct kmmv_record;
int __real_kmmv_ring_next(struct kmmv_ring *ring, struct kmmv_record *record);
int __wrap_kmmv_ring_next(struct kmmv_ring *ring, struct kmmv_record *record);
int __wrap_kmmv_ring_next(struct kmmv_ring *ring, struct kmmv_record *record)
{
	return access(FAILS, F_OK) ? __real_kmmv_ring_next(ring, record) : -74;
}
E2
gcc -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DKMMV_VERSION="\"$version\"" \
	-DFAILS="\"$work/fails\"" -Wl,--wrap=kmmv_ring_next -Ikmod/include/uapi -Ilib \
	-o "$work/failing" "$work/fails.c" lib/*.c lib/kmmvprof/*.c -ljansson -ldw -lelf \
	-lncursesw -ltinfo || bail "does not build"
timeout 600 python3 - "$work/failing" "$dir" "$work/fails" >"$work/drawn" 2>&1 <<'E2'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(TERM="xterm", LINES="24", COLUMNS="80")
    os.execv(sys.argv[1], [sys.argv[1], "top", "-d", "0.5", "-D", sys.argv[2]])
seen = b""
while b"to quit" not in seen:
    seen += os.read(fd, 4096)
open(sys.argv[3], "w").close()
try:
    while more := os.read(fd, 4096):
        seen += more
except OSError:
    pass
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
# The message has no more than the command's name, as the ring knows of no error.
there, left, after = seen.rpartition(b"\x1b[?1049l")
print(status, len(left) > 0, there.count(b"kmmvprof: \r\n"),
      after.count(b"kmmvprof: \r\n"))
E2
is "top: an error is told after the screen is left" "$(cat "$work/drawn")" \
	"1 True 0 1"
dies "top: no such terminal" 1 'set TERM, or use --batch' \
	env TERM=nonsense "$prof" top -D "$dir"
finish
