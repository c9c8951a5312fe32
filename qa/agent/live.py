#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Serve a captured area as a live one: live.py DIR [PAUSE]

DIR/counters becomes a link to a sealed memfd with its contents. Each line on
standard input names a directory with a captured area of the same geometry,
which is taken over by the writer's rules: gen1, the header and the incarnations,
the values, the names, gen2, with PAUSE seconds after each. Two instances of one
number need two incarnations: nothing else tells a reader that the value is not
the name's. The answer to each, and to the start, is a line "done".
"""
import fcntl
import mmap
import os
import shutil
import struct
import sys
import time

F_ADD_SEALS, F_SEAL_SHRINK = 1033, 2
GEN1, GEN2 = slice(40, 48), slice(48, 56)
CPU_OFFSET = 72

where = sys.argv[1]
pause = float(sys.argv[2]) if len(sys.argv) > 2 else 0
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


def write(part, source):
    area[part] = source[part]
    time.sleep(pause)


for line in sys.stdin:
    next_dir = line.strip()
    with open(os.path.join(next_dir, "counters"), "rb") as file:
        data = file.read()
    assert len(data) == len(first)
    values = struct.unpack_from("=Q", data, CPU_OFFSET)[0]
    write(GEN1, data)
    write(slice(0, GEN1.start), data)
    write(slice(GEN2.stop, values), data)
    write(slice(values, len(data)), data)
    shutil.copy(os.path.join(next_dir, "names"), os.path.join(where, "new"))
    os.rename(os.path.join(where, "new"), os.path.join(where, "names"))
    time.sleep(pause)
    write(GEN2, data)
    print("done", flush=True)
