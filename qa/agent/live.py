#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Serve a captured area as a live one: live.py DIR [PAUSE]

DIR/counters becomes a link to a sealed memfd with its contents. Each line on
standard input names a directory with a captured area of the same geometry,
which is taken over by the writer's rules: gen1, the header, the incarnations, the
values, the names, gen2, with PAUSE seconds after each. Two instances of one
number need two incarnations: nothing else tells a reader that the value is not
the name's.

One of another epoch is a module that is loaded anew: both files go, and other ones
come after PAUSE seconds. Who has mapped the old area keeps it as it was. The answer
to each, and to the start, is a line "done".
"""
import fcntl
import mmap
import os
import shutil
import struct
import sys
import time

F_ADD_SEALS, F_SEAL_SHRINK = 1033, 2
EPOCH, GEN1, GEN2 = slice(32, 40), slice(40, 48), slice(48, 56)
CPU_OFFSET = 72

where = sys.argv[1]
pause = float(sys.argv[2]) if len(sys.argv) > 2 else 0
path = os.path.join(where, "counters")
names = os.path.join(where, "names")


def read(directory):
    with open(os.path.join(directory, "counters"), "rb") as file:
        return file.read()


class Served:
    """An area in memory."""

    def __init__(self, data):
        self.fd = os.memfd_create("kmmv", os.MFD_ALLOW_SEALING)
        os.write(self.fd, data)
        self.area = mmap.mmap(self.fd, len(data))
        fcntl.fcntl(self.fd, F_ADD_SEALS, F_SEAL_SHRINK)
        os.symlink("/proc/%d/fd/%d" % (os.getpid(), self.fd), path)

    def write(self, part, source):
        self.area[part] = source[part]
        time.sleep(pause)

    def change(self, data, next_dir):
        assert len(data) == len(self.area)
        assert data[GEN1] != self.area[GEN1]
        values = struct.unpack_from("=Q", data, CPU_OFFSET)[0]
        self.write(GEN1, data)
        self.write(slice(0, GEN1.start), data)
        self.write(slice(GEN2.stop, values), data)
        self.write(slice(values, len(data)), data)
        take_names(next_dir)
        time.sleep(pause)
        self.write(GEN2, data)

    def end(self):
        os.unlink(path)
        os.unlink(names)
        self.area.close()
        os.close(self.fd)


def take_names(next_dir):
    shutil.copy(os.path.join(next_dir, "names"), os.path.join(where, "new"))
    os.rename(os.path.join(where, "new"), names)


first = read(where)
os.unlink(path)
served = Served(first)
print("done", flush=True)
for line in sys.stdin:
    next_dir = line.strip()
    data = read(next_dir)
    if data[EPOCH] == served.area[EPOCH]:
        served.change(data, next_dir)
    else:
        served.end()
        time.sleep(pause)
        take_names(next_dir)
        served = Served(data)
    print("done", flush=True)
