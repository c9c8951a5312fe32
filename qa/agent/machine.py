#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A machine whose counts are known, with all families of our own modules.

    machine.py area SECONDS [SET...]            lines for area.py, at that time
    machine.py archive NAME [OPTION] [SET...]   an archive of it
        -s SECONDS  how long (120)      -t SECONDS  interval (1)
        -p          kmmv.percpu, too    -P          PCP's own metrics, too
        -b BEGIN    when it begins, in seconds since 1970
        -w          rates go up and down, as for pictures

The families with their units and semantics are those of pmda/family.c, which
qa/agent/tables.sh compares with the modules, and those of two counters of kmmv_trace.
The profiler takes 100 samples a second of each CPU, which agree with the CPUs' times.
A SET changes how much an instance
grows in a second, or the value of a level: FAMILY/INSTANCE=R0,R1,... for each CPU;
FAMILY/INSTANCE= takes the instance away. Below control. and ring. there is one
number. Without -b the archive begins at a fixed time, not at the clock's.
"""
import getopt
import math
import re
import sys
import zlib

CPUS = 4
BEGIN = 1700000000
DOMAIN = 389
FIRST = 16              # cluster and serial of family 0, pmda/agent.h
FREE = 240              # the first family without a fixed number, pmda/agent.h

# Per cent of each CPU; together as in qa/agent/views.c.
CPU = {"user": (22, 8, 6, 4), "nice": (2, 2, 2, 2), "system": (12, 6, 4, 2),
       "idle": (58, 78, 83, 88), "iowait": (2, 2, 2, 2), "irq": (1, 1, 1, 1),
       "softirq": (2, 2, 1, 0), "steal": (1, 1, 1, 1)}
SOFTIRQ = {"TIMER": 250, "NET_RX": 400, "NET_TX": 40, "BLOCK": 30,
           "TASKLET": 5, "SCHED": 120, "HRTIMER": 2, "RCU": 90, "HI": 1,
           "IRQ_POLL": 0}
IRQ = {"LOC": 250, "RES": 20, "CAL": 10, "24": 60, "25": 60, "26": 300}
ACTION = {"24": "nvme0q1", "25": "nvme0q2", "26": "eth0-rx"}
VM = {"pgfault": 5000, "pgmajfault": 1, "pgalloc_normal": 900, "pgfree": 950,
      "pgscan_kswapd": 0, "pswpin": 0, "pswpout": 0}
# reads and writes a second, bytes of one, nanoseconds of one
DISK = {"sda": (100, 40, 4096, 16384, 500000, 2000000),
        "sdb": (10, 20, 65536, 65536, 4000000, 8000000)}
# bytes and packets in and out, and drops of those in
NET = {"lo": (50000, 100, 50000, 100, 0), "eth0": (1000000, 990, 200000, 700, 10)}
RING = {"reserved": 1000, "written": 1000, "read": 1000, "overwritten": 0,
        "discarded": 0, "lost": 0, "dropped.full": 0, "dropped.commit": 0,
        "dropped.nested": 0, "dropped.too_large": 0, "dropped.nmi": 0,
        "starved": 0, "inside": 200, "size": 262144}
# Families of the counters of kmmv_trace, and hits a second by key
TRACE = {"trace.switches": {"postgres": 900, "python3": 500, "swapper/0": 1500,
                            "others": 100},
         "trace.writes": {"64": 20, "512": 80, "4096": 40}}
# Samples a second by what ran on each CPU: CPU's user and nice, system to softirq, rest
SAMPLES = {"user": (24, 10, 8, 6), "kernel": (15, 9, 6, 3), "idle": (61, 81, 86, 91)}
# The same by name, with the wave that it follows: sums agree at any time
SYMBOL = {"clear_page_rep": (9, "a"), "copy_user_generic_string": (7, "b"),
          "_raw_spin_lock": (5, "b"), "nvme_irq [nvme]": (4, "a"),
          "tcp_sendmsg_locked": (3, "b"), "others": (5, "a")}
COMMAND = {"postgres": (32, "c"), "python3": (18, "a"), "nginx": (15, "b"),
           "kworker/2:1": (7, "c"), "others": (9, "c")}
IMAGE = {"[kernel]": (33, "kernel"), "/usr/lib/postgresql/15/bin/postgres": (21, "c"),
         "/usr/bin/python3.11": (14, "c"),
         "/usr/lib/x86_64-linux-gnu/libc.so.6": (7, "c"),
         "[anonymous]": (2, "c"), "others": (4, "c")}
LEVELS = {"inside", "size", "block.dev.inflight", "block.partitions.inflight",
          "stat.copied", "profile.source", "profile.period"}
# Families whose instances do not add up, but for those of block and net
NO_TOTAL = {"profile." + key for key in ("missed", "work", "error", "source", "period")}
CONTROL = {"attached": (20, 1), "capacity": (8, 262144),
           "slots_free": (9, 200000), "cpus.possible": (10, CPUS),
           "cpus.online": (11, CPUS), "percpu.omitted": (19, 0),
           "resets": (15, 0)}
UNITS = {"0,0,1,0,0,0": "count", "0,1,0,0,0,0": "nanosecond",
         "1,0,0,0,0,0": "byte", "0,0,0,0,0,0": "-"}


def more(wave, t):
    """By how much what grows 1 a second has grown more than t."""
    if wave == "kernel":
        return (18 * more("a", t) + 15 * more("b", t)) / 33
    grown = 0
    phase = zlib.crc32(wave.encode()) % 628 / 100
    for height, turn in ((0.5, 2 * math.pi / 1200), (0.3, 2 * math.pi / 270)):
        grown += height / turn * (math.cos(phase) - math.cos(turn * t + phase))
    return grown


def wave_of(family, name):
    """A disk's latencies follow its reads."""
    table = {"profile.symbol.samples": SYMBOL, "profile.command.samples": COMMAND,
             "profile.image.samples": IMAGE}.get(family)
    if table:
        return table[name][1]
    if family == "profile.samples":
        return {"user": "c"}.get(name, name)
    return name.split("/")[0]


def spread(rate):
    """Over CPUs, all on the first if it is small."""
    each = rate // CPUS
    return [rate - each * (CPUS - 1)] + [each] * (CPUS - 1)


def bucket(time):
    """Nanoseconds to the name of a latency's bucket."""
    us = time // 1000
    return "%dus" % (1 << (us.bit_length() - 1) if us else 0)


def block(rates):
    for disk, (reads, writes, rsize, wsize, rtime, wtime) in DISK.items():
        for kind, n, size, time in (("read", reads, rsize, rtime),
                                    ("write", writes, wsize, wtime),
                                    ("discard", 0, 0, 0), ("flush", 1, 0, 90000)):
            for where, name in (("dev", disk), ("partitions", disk + "1")):
                if kind != "flush" or where == "dev":
                    family = "block.%s.%s" % (where, kind)
                    rates[family, name] = spread(n)
                    rates[family + "_rawactive", name] = spread(n * time)
                    if kind != "flush":
                        rates[family + "_bytes", name] = spread(n * size)
                    if kind in ("read", "write"):
                        rates[family + "_merge", name] = spread(n // 10)
            # Nine of ten at the mean, the rest at an eighth and eight times.
            family = "block.latency." + kind
            for share, at in ((1, time // 8), (8, time), (1, time * 8)):
                if n:
                    rates[family, "%s/%s" % (disk, bucket(at))] = \
                        spread(n * share // 10)
        for where, name in (("dev", disk), ("partitions", disk + "1")):
            rates["block.%s.errors" % where, name] = spread(0)
            rates["block.%s.inflight" % where, name] = [1, 0, 0, 0]
        rates["block.dev.passthrough", disk] = spread(0)
    rates["block.failed", "instances"] = spread(0)
    rates["block.work", "hits"] = spread(400)
    rates["block.took", "hits"] = spread(100000)


def net(rates):
    for name, (ibytes, ipackets, obytes, opackets, drops) in NET.items():
        for key, rate in (("in.bytes", ibytes), ("in.packets", ipackets),
                          ("in.drops", drops), ("in.errors", 0),
                          ("in.fifo", 0), ("in.frame", 0), ("in.mcasts", 1),
                          ("out.bytes", obytes), ("out.packets", opackets),
                          ("out.errors", 0), ("out.drops", 0), ("out.fifo", 0),
                          ("out.carrier", 0), ("collisions", 0)):
            rates["net." + key, name] = spread(rate)
    for key, name, rate in (("work", "copies", 1), ("work", "devices", 2),
                            ("work", "forgotten", 0), ("took", "copies", 20000),
                            ("took", "rest", 1000000), ("failed", "devices", 0),
                            ("failed", "names", 0), ("resets", "devices", 0)):
        rates["net." + key, name] = spread(rate)


def stat(rates):
    for name, shares in CPU.items():
        rates["stat.cpu", name] = [s * 10000000 for s in shares]
    rates["stat.guest", "user"] = [40000000] * CPUS
    rates["stat.guest", "nice"] = [0] * CPUS
    for name, rate in SOFTIRQ.items():
        rates["stat.softirq", name] = [rate] * CPUS
    for name, rate in IRQ.items():
        rates["stat.irq", name] = [rate] * CPUS
    for name, rate in VM.items():
        rates["stat.vm", name] = spread(rate)
    rates["stat.paged", "pgpgin"] = spread(400000)
    rates["stat.paged", "pgpgout"] = spread(900000)
    rates["stat.copied", "monotonic"] = [123456789, 0, 0, 0]
    for name in ("cpu", "softirq", "irq", "vm"):
        rates["stat.resets", name] = spread(0)
    rates["stat.failed", "irq"] = spread(0)
    rates["stat.work", "copies"] = spread(1)
    rates["stat.work", "lines"] = spread(6)
    rates["stat.took", "copies"] = spread(30000)
    rates["stat.took", "rest"] = spread(1000000)


def trace(rates):
    for family, keys in TRACE.items():
        name = family.split(".")[1]
        hits = sum(keys.values())
        for key, rate in keys.items():
            rates[family, key] = spread(rate)
        rates["trace.stat.hits", name] = spread(hits)
        rates["trace.stat.cost", name] = spread(hits * 50)
        rates["trace.stat.faults", name] = spread(0)
        rates["trace.stat.lost", name] = spread(0)


def profile(rates):
    for name, counts in SAMPLES.items():
        rates["profile.samples", name] = list(counts)
    for key, names in (("symbol", SYMBOL), ("command", COMMAND), ("image", IMAGE)):
        for name, (rate, _) in names.items():
            rates["profile.%s.samples" % key, name] = spread(rate)
        rates["profile.error", key] = [1, 0, 0, 0]
    for key, name, rate in (("lost", "overflow", 0), ("lost", "ring", 0),
                            ("missed", "backoff", 0), ("missed", "throttled", 0),
                            ("missed", "late", 1),
                            ("work", "delivered", sum(rate for rate, _ in COMMAND.values())),
                            ("work", "idle", sum(SAMPLES["idle"])),
                            ("work", "no_mm", 1), ("work", "no_mapping", 2),
                            ("work", "no_symbol", 0), ("work", "backoffs", 0),
                            ("work", "drains", 8), ("work", "failed", 0),
                            ("overhead", "handler", 40000),
                            ("overhead", "worker", 720000)):
        rates["profile." + key, name] = spread(rate)
    for name in ("pmu", "cpu-clock", "timer"):
        rates["profile.source", name] = [int(name == "cpu-clock"), 0, 0, 0]
    rates["profile.period", "default"] = [10000000, 0, 0, 0]


class Machine:
    def __init__(self, sets):
        self.families = {}      # name: (fid, semantics, units)
        with open("pmda/family.c", encoding="ascii") as source:
            text = source.read()
        with open("pmda/agent.h", encoding="ascii") as source:
            bases = dict(re.findall(r"(FAMILY_\w+) = (\d+),", source.read()))
        for base, offset, name, sem, units in re.findall(
                r'\{ (FAMILY_\w+) \+ (\d+), "([\w.]+):(\w+):([\d,]+)" \}', text):
            self.families[name] = (int(bases[base]) + int(offset), sem, units)
        for i, name in enumerate(TRACE):
            self.families[name] = (FREE + i, "counter", "0,0,1,0,0,0")
        rates = {("counter", "requests"): spread(10),
                 ("core.refused", "instances"): spread(0)}
        stat(rates)
        block(rates)
        net(rates)
        trace(rates)
        profile(rates)
        self.rates = rates
        self.control = {key: value for key, (_, value) in CONTROL.items()}
        self.ring = {key: spread(value) for key, value in RING.items()}
        for key, value in (word.split("=") for word in sets):
            self.set(key, value)
        for family, name in rates:
            assert family in self.families, family
        self.wave = False

    def set(self, key, value):
        family, _, name = key.partition("/")
        if family.startswith("control."):
            assert family[8:] in self.control, key
            self.control[family[8:]] = int(value)
        elif family.startswith("ring."):
            assert family[5:] in self.ring, key
            self.ring[family[5:]] = [int(v) for v in value.split(",")]
        elif value:
            self.rates[family, name] = [int(v) for v in value.split(",")]
        else:
            del self.rates[family, name]

    def grown(self, what, rate, t, wave=""):
        """A counter after t seconds, or a level."""
        if what in LEVELS:
            return rate
        if self.wave and not what.endswith((".took", ".overhead")):
            return int(rate * (t + more(wave, t)))
        return int(rate * t)

    def values(self, family, name, t):
        each = self.rates[family, name]
        if self.wave and name == "idle" and family in ("stat.cpu", "profile.samples"):
            # All others come from it, so that each CPU has all time.
            others = [(r, more(wave_of(f, n), t)) for (f, n), r in self.rates.items()
                      if f == family and n != "idle"]
            return [int(rate * t - sum(r[i] * grown for r, grown in others))
                    for i, rate in enumerate(each)]
        return [self.grown(family, rate, t, wave_of(family, name)) for rate in each]


def print_area(machine, t):
    since = {"stat": "since=boot"}
    ids = {}
    print("set epoch 7\nset cpus %d\nset capacity 1024\nset free 512" % CPUS)
    for ident, (name, (_, sem, units)) in enumerate(machine.families.items()):
        words = [sem]
        source = name.split(".")[0]
        if source in since:
            words.append(since[source])
        if source in ("block", "net") and \
                name.split(".")[-1] not in ("failed", "took", "resets") or \
                name in NO_TOTAL:
            words.append("total=no")
        ids[name] = ident
        print("family", ident, name, UNITS[units], ",".join(words), "Help of", name)
    # Who is there without a SET has the same number on each machine, and no two
    # names the same incarnation. What returns goes on, with its incarnation.
    numbers = {what: number for number, what in enumerate(Machine([]).rates)}
    for what in machine.rates:
        number = numbers.setdefault(what, len(numbers))
        family, name = what
        incarnation = zlib.crc32("/".join(what).encode())
        print("inst", number, ids[family], incarnation, "active",
              ",".join(map(str, machine.values(family, name, t))), name)
        if family == "stat.irq" and name in ACTION:
            print("label", number, "action", ACTION[name])


class Archive:
    def __init__(self, machine, name, percpu, pcp):
        from pcp import pmi
        import cpmapi as c
        self.c = c
        self.log = pmi.pmiLogImport(name)
        self.log.pmiSetHostname("box")
        self.log.pmiSetTimezone("UTC")
        self.machine = machine
        self.domains = {}
        self.rows = []          # (handle, function of the time)
        m = machine
        for (family, name) in m.rates:
            fid, sem, units = m.families[family]
            sem = {"counter": c.PM_SEM_COUNTER, "instant": c.PM_SEM_INSTANT,
                   "discrete": c.PM_SEM_DISCRETE}[sem]
            units = self.units(*map(int, units.split(",")))
            serial = FIRST + 2 * fid
            shown = name.replace(" ", "_")      # as the agent has it
            self.add("value." + family, (FIRST + fid, 0), serial, sem, units, shown,
                     lambda t, f=family, n=name: sum(m.values(f, n, t)))
            for cpu in range(CPUS if percpu else 0):
                self.add("percpu." + family, (FIRST + fid, 1), serial + 1, sem,
                         units, "%s::cpu%d" % (shown, cpu),
                         lambda t, f=family, n=name, i=cpu: m.values(f, n, t)[i])
        count = self.units(0, 0, 1, 0, 0, 0)
        for key, (item, _) in CONTROL.items():
            if key == "resets":
                self.add("control.resets", (0, item), None, c.PM_SEM_COUNTER, count,
                         "", lambda t: int(m.control["resets"] * t))
                continue
            self.add("control." + key, (0, item), None, c.PM_SEM_INSTANT,
                     self.units(0, 0, 0, 0, 0, 0) if key == "attached" else count,
                     "", lambda t, k=key: m.control[k], c.PM_TYPE_U32)
        for item, key in enumerate(m.ring):
            for cpu in range(CPUS):
                self.add("ring." + key, (1, item), 1,
                         c.PM_SEM_INSTANT if key in LEVELS else c.PM_SEM_COUNTER,
                         count, "default::cpu%d" % cpu,
                         lambda t, k=key, i=cpu: m.grown(k, m.ring[k][i], t,
                                                         "cpu%d" % i))
        if pcp:
            self.linux()

    def units(self, *parts):
        return self.log.pmiUnits(*parts)

    def add(self, metric, number, serial, sem, units, inst, value, typed=None,
            prefix="kmmv.", domain=DOMAIN):
        log, c = self.log, self.c
        indom = c.PM_INDOM_NULL if serial is None else \
            log.pmiInDom(domain, serial)
        if metric not in self.domains:
            self.domains[metric] = True
            log.pmiAddMetric(prefix + metric, log.pmiID(domain, *number),
                             typed or c.PM_TYPE_U64, indom, sem, units)
        if serial is not None:
            known = self.domains.setdefault((domain, serial), {})
            if inst not in known:
                known[inst] = len(known)
                log.pmiAddInstance(indom, inst, known[inst])
        self.rows.append((log.pmiGetHandle(prefix + metric, inst), value))

    def linux(self):
        """What PCP's linux agent would have of the same machine."""
        c, m = self.c, self.machine
        ms = self.units(0, 1, 0, 0, c.PM_TIME_MSEC, 0)
        count = self.units(0, 0, 1, 0, 0, 0)
        for i, (key, names) in enumerate((
                ("user", ("user",)), ("nice", ("nice",)), ("sys", ("system",)),
                ("idle", ("idle",)), ("wait.total", ("iowait",)),
                ("intr", ("irq", "softirq")), ("steal", ("steal",)))):
            self.add("all.cpu." + key, (0, 20 + i), None, c.PM_SEM_COUNTER, ms, "",
                     lambda t, ns=names: sum(sum(m.values("stat.cpu", n, t))
                                             for n in ns) // 1000000,
                     prefix="kernel.", domain=60)
        for i, key in enumerate(("read", "write")):
            for disk in DISK:
                self.add("dev." + key, (0, 4 + i), 1, c.PM_SEM_COUNTER, count,
                         disk, lambda t, k=key, d=disk: sum(
                             m.values("block.dev." + k, d, t)),
                         prefix="disk.", domain=60)

    def write(self, begin, seconds, interval):
        for step in range(int(seconds / interval)):
            t = step * interval
            for handle, value in self.rows:
                self.log.pmiPutValueHandle(handle, str(value(t)))
            self.log.pmiWrite(int(begin + t), int(t * 1000000) % 1000000)
        self.log.pmiEnd()


def main():
    what, name = sys.argv[1:3]
    opts, sets = getopt.getopt(sys.argv[3:], "s:t:b:pPw")
    opts = dict(opts)
    machine = Machine(sets)
    machine.wave = "-w" in opts
    if what == "area":
        print_area(machine, float(name))
    else:
        archive = Archive(machine, name, "-p" in opts, "-P" in opts)
        archive.write(int(opts.get("-b", BEGIN)), int(opts.get("-s", 120)),
                      float(opts.get("-t", 1)))


if __name__ == "__main__":
    main()
