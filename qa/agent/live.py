#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Serve a captured area as a live one: live.py DIR

DIR/counters becomes a link to a sealed memfd with its contents. Each line on
standard input names a directory with a captured area of the same geometry,
which is taken over by the writer's rules: gen1, all the rest, names, gen2. The
answer to each, and to the start, is a line "done".
"""
import fcntl
import mmap
import os
import shutil
import sys

F_ADD_SEALS, F_SEAL_SHRINK = 1033, 2
GEN1, GEN2 = slice(40, 48), slice(48, 56)

where = sys.argv[1]
path = os.path.join(where, "counters")
with open(path, "rb") as file:
    first = file.read()
fd = os.memfd_create("kmmv", os.MFD_ALLOW_SEALING)
os.write(fd, first)
area = mmap.mmap(fd, len(first))
fcntl.fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK)
os.unlink(path)
os.symlink("/proc/%d/fd/%d" % (os.getpid(), fd), path)
print("done", flush=True)

for line in sys.stdin:
    source = line.strip()
    with open(os.path.join(source, "counters"), "rb") as file:
        data = file.read()
    assert len(data) == len(first)
    area[GEN1] = data[GEN1]
    area[:GEN1.start] = data[:GEN1.start]
    area[GEN2.stop:] = data[GEN2.stop:]
    shutil.copy(os.path.join(source, "names"), os.path.join(where, "new"))
    os.rename(os.path.join(where, "new"), os.path.join(where, "names"))
    area[GEN2] = data[GEN2]
    print("done", flush=True)
