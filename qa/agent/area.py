#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write a captured area from a short description: area.py DIR <SPEC

    set KEY VALUE           epoch, cpus, possible, online (masks), gen, major,
                            minor, incompat, free, capacity
    family ID NAME UNITS SEMANTICS ONELINE
    help ID TEXT
    inst NUMBER FAMILY INCARNATION STATE V0,V1,... NAME
    many FIRST COUNT FAMILY V0,V1,... PREFIX
    label NUMBER KEY TEXT
    type ID NAME
    field ID OFFSET SIZE KIND UNITS NAME

UNITS "-" are none. Values are per CPU; missing ones are 0. A name may hold any
bytes, and so may a label; \\xNN makes one. Written from the ABI's header,
independently of libkmmv.
"""
import os
import re
import struct
import sys

PAGE = 4096
FEATURE_ATOMIC64 = 1


def up(size):
    return (size + PAGE - 1) // PAGE * PAGE


def unescape(text):
    return re.sub(rb"\\x([0-9a-f]{2})",
                  lambda m: bytes([int(m.group(1), 16)]), text)


class Area:
    def __init__(self):
        self.set = {b"epoch": 77, b"cpus": 4, b"possible": None,
                    b"online": None, b"gen": 42, b"major": 1, b"minor": 0,
                    b"incompat": 0, b"free": 900, b"capacity": 0}
        self.names = []
        self.insts = {}

    def instance(self, number, family, inc, state, values, name):
        self.insts[number] = (inc, [int(v, 0) for v in values.split(b",")])
        name = unescape(name).replace(b"\\", b"\\\\")
        self.names.append(b"instance number=%d family=%s incarnation=%d "
                          b"state=%s name=%s" %
                          (number, family, inc, state, name))

    def line(self, line):
        word, _, rest = line.partition(b" ")
        if word == b"set":
            key, value = rest.split()
            self.set[key] = int(value, 0)
        elif word == b"family":
            ident, name, units, sem, oneline = rest.split(b" ", 4)
            units = b"" if units == b"-" else units
            # semantics, and after commas other keys: since=boot, ...
            sem = sem.replace(b",", b" ")
            self.names.append(b"family id=%s units=%s semantics=%s name=%s" %
                              (ident, units.replace(b"~", b" "), sem, name))
            self.names.append(b"oneline id=%s text=%s" % (ident, oneline))
        elif word == b"help":
            ident, text = rest.split(b" ", 1)
            self.names.append(b"help id=%s text=%s" % (ident, text))
        elif word == b"inst":
            number, family, inc, state, values, name = rest.split(b" ", 5)
            self.instance(int(number), family, int(inc), state, values, name)
        elif word == b"many":
            first, count, family, values, prefix = rest.split(b" ", 4)
            for i in range(int(count)):
                self.instance(int(first) + i, family, 0, b"active", values,
                              b"%s%d" % (prefix, i))
        elif word == b"type":
            ident, name = rest.split(b" ", 1)
            self.names.append(b"type id=%s name=%s" % (ident, name))
            self.names.append(b"about id=%s text=" % ident)
        elif word == b"field":
            self.names.append(b"field id=%s offset=%s size=%s kind=%s "
                              b"units=%s name=%s" %
                              tuple(rest.split(b" ", 5)))
        elif word == b"label":
            number, key, text = rest.split(b" ", 2)
            text = unescape(text.replace(rb"\x5c", rb"\\"))
            inc = self.insts[int(number)][0]
            self.names.append(b"label number=%s incarnation=%d key=%s "
                              b"text=%s" % (number, inc, key, text))

    def counters(self):
        s = self.set
        cpus = s[b"cpus"]
        possible = s[b"possible"] if s[b"possible"] is not None else (1 << cpus) - 1
        online = s[b"online"] if s[b"online"] is not None else possible
        count = max(self.insts, default=-1) + 1
        capacity = max(count, s[b"capacity"], 1)
        words = (cpus + 63) // 64
        mask = words * 8
        header_size = struct.calcsize("=QHHIQQQQQIIIIQQQQQIIII8Q")
        possible_at = 512
        online_at = possible_at + mask
        inc_at = up(online_at + mask)
        cpu_at = inc_at + up(4 * capacity)
        counter_at = 64
        stride = up(counter_at + 8 * capacity)
        length = cpu_at + stride * cpus
        out = bytearray(length)
        struct.pack_into("=QHHIQQQQQIIIIQQQQQIIII", out, 0,
                         0x6b6d6d7663747273, s[b"major"], s[b"minor"],
                         header_size, FEATURE_ATOMIC64, s[b"incompat"],
                         s[b"epoch"], s[b"gen"], s[b"gen"], PAGE, cpus,
                         capacity, count, cpu_at, stride, counter_at, inc_at,
                         length, possible_at, online_at, mask, s[b"free"])
        out[possible_at:possible_at + mask] = possible.to_bytes(mask, "little")
        out[online_at:online_at + mask] = online.to_bytes(mask, "little")
        for number, (inc, values) in self.insts.items():
            struct.pack_into("=I", out, inc_at + 4 * number, inc)
            for cpu, value in enumerate(values[:cpus]):
                struct.pack_into("=Q", out, cpu_at + cpu * stride +
                                 counter_at + 8 * number, value)
        return bytes(out)

    def text(self):
        s = self.set
        first = b"kmmv abi=%d.%d epoch=%d" % (s[b"major"], s[b"minor"],
                                              s[b"epoch"])
        return b"\n".join([first] + self.names + [b"end %d" % s[b"gen"], b""])


def write(path, data):
    with open(path + ".new", "wb") as out:
        out.write(data)
    os.rename(path + ".new", path)


def main():
    area = Area()
    for line in sys.stdin.buffer:
        line = line.rstrip(b"\n")
        if line and not line.startswith(b"#"):
            area.line(line)
    os.makedirs(sys.argv[1], exist_ok=True)
    write(os.path.join(sys.argv[1], "counters"), area.counters())
    write(os.path.join(sys.argv[1], "names"), area.text())


main()
