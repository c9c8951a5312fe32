#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Names that come and are forgotten, like containers': churn.py DIR COUNT

DIR has a captured area with one family, 0, and COUNT instances. It becomes a
live area, see live.py. Each line on standard input forgets all of its names and
gives their numbers to COUNT new ones; the answer is a line "done".
"""
import fcntl
import mmap
import os
import struct
import sys

F_ADD_SEALS, F_SEAL_SHRINK = 1033, 2
GEN1, GEN2, INCARNATIONS = 40, 48, 96

where, count = sys.argv[1], int(sys.argv[2])
path = os.path.join(where, "counters")
with open(path, "rb") as file:
    first = file.read()
with open(os.path.join(where, "names"), "rb") as file:
    head = b"".join(line for line in file
                    if not line.startswith((b"instance", b"end")))
fd = os.memfd_create("kmmv", os.MFD_ALLOW_SEALING)
os.write(fd, first)
area = mmap.mmap(fd, len(first))
fcntl.fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK)
os.unlink(path)
os.symlink("/proc/%d/fd/%d" % (os.getpid(), fd), path)
gen, = struct.unpack_from("=Q", first, GEN1)
incarnations, = struct.unpack_from("=Q", first, INCARNATIONS)
print("done", flush=True)

seen = 0
for step, line in enumerate(sys.stdin, 1):
    gen += 1
    struct.pack_into("=Q", area, GEN1, gen)
    struct.pack_into("=%dI" % count, area, incarnations, *[step] * count)
    with open(os.path.join(where, "new"), "wb") as file:
        file.write(head)
        file.write(b"".join(
            b"instance number=%d family=0 incarnation=%d state=active "
            b"name=veth%07x\n" % (n, step, seen + n) for n in range(count)))
        file.write(b"end %d\n" % gen)
    os.rename(os.path.join(where, "new"), os.path.join(where, "names"))
    struct.pack_into("=Q", area, GEN2, gen)
    seen += count
    print("done", flush=True)
