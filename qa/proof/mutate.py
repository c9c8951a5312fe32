#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Mutations by chance: does any test notice one changed token?

qa/proof/mutate.py [-n N] [-s SEED] [-k K/M] [-t SECONDS] [-ulcp] [DIR | FILE]...

Of each folder's functions (kmod/core, lib, pmda), or of a file's, N mutations
are drawn: a condition negated, a comparison off by one, an operator swapped, a
constant changed, a statement left out (qa/proof/mutation.py). A mutation that
compiles to the same code is dropped. Each of the others is built into the unit
programs (under ASan and UBSan) that have the file, until one fails; then the scripts
of the folder run; with -u only a command's own, for the files of lib/kmmvctl,
lib/kmmvdump and lib/kmmvprof. -t leaves out tests that take longer than that
unmutated. A test that uses ten times the CPU time hangs, which is shown. -l lists the
mutations that are drawn, all of them without -n and -k, and runs none.

-k K/M draws those whose hash modulo M is K. The hash is of the file, the function
and the change, so that a change of one function draws no others elsewhere; part
K/M is in part K/(M/2).

A survivor is a test that is missing, or code that makes no difference; for the
latter, qa/proof/survivors says why. Neither is an error: the exit status says only
whether everything passed unmutated. -p is for qa/proof/mutations.sh: a line of
verdict, test and mutation for each, in an order that depends on the last commit and
until the time $KMMV_UNTIL. -c runs nothing: it prints what is wrong in
qa/proof/survivors, and how many it has.
"""
import argparse
import collections
import functools
import glob
import hashlib
import os
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from mutation import mutations

FOLDERS = {
    "kmod/core": ["kmod/core/*.c"],
    "lib": ["lib/*.c", "lib/kmmvctl/*.c", "lib/kmmvdump/*.c", "lib/kmmvprof/*.c"],
    "pmda": ["pmda/*.c"],
}
COMMANDS = {"lib/%s/" % c: sorted(glob.glob("qa/shipped/%s*.sh" % c))
            for c in ("kmmvctl", "kmmvdump", "kmmvprof")}
SCRIPTS = {
    **COMMANDS,
    "kmod/core": [],
    "lib": sorted(glob.glob("qa/shipped/kmmv*.sh")),
    "pmda": sorted(set(glob.glob("qa/agent/*.sh")) -
                   {"qa/agent/" + s for s in
                    # Tests of installed files, and slow ones.
                    ("install.sh", "views.sh", "valgrind.sh", "web.sh",
                     "boot.sh", "unstarted.sh")}),
}
SURVIVORS = "qa/proof/survivors"


# ---- building and running, all of it in the copy


def quiet(command, **more):
    return subprocess.run(command, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          errors="replace", check=False, **more)


# Check's limits are wall time.
ENV = dict(os.environ, LC_ALL="C", KMMV_AS_BUILT="1", CK_DEFAULT_TIMEOUT="60",
           CK_TIMEOUT_MULTIPLIER="5", CK_VERBOSITY="silent", CK_TAP_LOG_FILE_NAME="-",
           ASAN_OPTIONS="detect_leaks=1:strict_string_checks=1:"
           "hard_rss_limit_mb=2000:quarantine_size_mb=64")
for variable in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES"):
    ENV.pop(variable, None)


@functools.lru_cache(maxsize=None)
def includes(file):
    """What it includes, as it says it."""
    with open(file, encoding="utf-8") as f:
        return re.findall(r'^#\s*include\s*[<"]([^>"]+)', f.read(), re.M)


def closure(source, flags):
    """The files of the tree that are compiled with SOURCE, or may be."""
    folders = [f[2:] for f in flags if f.startswith("-I")]
    found = set()

    def add(names, here):
        for name in names:
            path = next((p for p in (os.path.normpath(os.path.join(f, name))
                                     for f in (here, *folders))
                         if os.path.isfile(p)), None)
            if path and path not in found:
                found.add(path)
                add(includes(path), os.path.dirname(path))

    add([source, *(b for a, b in zip(flags, flags[1:]) if a == "-include")], "")
    return found


class Object:
    """One source with one set of flags, shared by all programs that have it."""

    every = {}

    def __init__(self, compiler, flags, source):
        self.command, self.source = [compiler, *flags], source
        self.to = "build/mutate/%d.o" % len(Object.every)
        self.version, self.depends = None, closure(source, flags)

    @staticmethod
    def of(compiler, flags, source):
        key = (compiler, *flags, source)
        if key not in Object.every:
            Object.every[key] = Object(compiler, flags, source)
        return Object.every[key]

    def build(self, mutation):
        """What was wrong, or None."""
        version = mutation if mutation and mutation.file in self.depends else ()
        if self.version == version:
            return None
        self.version = None
        done = quiet([*self.command, "-c", "-o", self.to, self.source])
        if done.returncode:
            return done.stdout
        self.version = version
        return None


class Program:
    """A unit program, and the objects that it is linked from."""

    def __init__(self, words):
        """WORDS link it."""
        self.name = words[words.index("-o") + 1].split("/")[-1]
        flags, libs, skip, self.sources = [], [], False, []
        for word in words[1:]:
            if skip:
                skip = False
            elif word == "-o":
                skip = True
            elif word.endswith(".o"):
                self.sources.append("/".join(word.split("/")[5:])[:-1] + "c")
            elif word.startswith(("-l", "-Wl,", "-L")) or word.endswith(".a"):
                libs.append(word)
            else:
                flags.append(word)
        self.compiler, self.flags, self.libs = words[0], flags, libs
        os.makedirs("build/mutate", exist_ok=True)
        self.to = "build/mutate/" + self.name
        self.objects = [Object.of(self.compiler, flags, s)
                        for s in self.sources]
        self.seconds, self.limit = 0, None
        self.kills = collections.Counter()

    def has(self, file):
        return any(file in o.depends for o in self.objects)

    def build(self, mutation=None):
        """What was wrong, or None."""
        for o in self.objects:
            why = o.build(mutation)
            if why:
                return why
        done = quiet([self.compiler, *self.flags, "-o", self.to,
                      *(o.to for o in self.objects), *self.libs, "-lm"])
        return done.stdout if done.returncode else None

    def run(self):
        return run([self.to], self.limit, 0)


class Script:
    def __init__(self, name):
        self.name = name
        self.seconds, self.limit = 0, None
        self.kills = collections.Counter()

    def has(self, _file):
        return True

    def build(self, _mutation=None):
        done = quiet(["make", "-s", "lib", "pmda"], env=ENV)
        return done.stdout if done.returncode else None

    def run(self):
        return run(["bash", self.name], self.limit, 8 << 30)


def run(command, limit, memory):
    """passed, failed or hung, and what it said until it failed"""
    def limits():
        if limit:
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 10))
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def stop():
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def said():
        # pread: the child's position in the file stays.
        return os.pread(out.fileno(), 1 << 24, 0).decode(errors="replace")

    status, bad = None, ""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, env=ENV,
                                 stdout=out, stderr=subprocess.STDOUT,
                                 start_new_session=True, preexec_fn=limits)
        # The limit of CPU time does not end a process that waits.
        end = time.monotonic() + 60 * (limit or 60) + 600
        try:
            while status is None and not bad and time.monotonic() < end:
                try:
                    status = child.wait(0.2)
                except subprocess.TimeoutExpired:
                    pass
                bad = next((x for x in said().split("\n")[:-1]
                            if x.startswith("not ok")), "")
            late = status is None and not bad
        finally:
            # It has a session of its own: nothing else ends it.
            stop()
            child.wait()
        text = said()
    if late or status == -signal.SIGXCPU or "CPU time limit" in bad or \
            "Test timeout" in bad:
        return "hung", text
    return ("failed" if status or bad else "passed"), text


def cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Unfit(Exception):
    """A test that does not pass unmutated."""


def is_fit(test, most):
    """Whether it passes unmutated, within the time; else it is not used."""
    if test.limit is None:
        why = test.build()
        if why:
            raise Unfit("%s does not build:\n%s" % (test.name, why))
        test.limit = int(10 * most)
        begin = cpu()
        verdict, text = test.run()
        test.seconds = cpu() - begin
        test.limit = int(10 * test.seconds) + 10
        if test.seconds > most:
            print("# %s takes %.0f s: left out" % (test.name, test.seconds))
        elif verdict != "passed":
            raise Unfit("%s %s:\n%s" % (test.name, verdict, text[-2000:]))
    return test.seconds <= most


CODE = {}


def code_of(program, file, compiler):
    """The code that -O2 makes of it, without line numbers."""
    flags = [f for f in program.flags
             if not f.startswith(("-O", "-g", "-fsanitize", "-fno-san"))]
    to = "build/mutate/code.o"
    done = quiet([compiler or program.compiler, *flags, "-O2", "-g0", "-c",
                  "-o", to, file])
    if done.returncode:
        return None
    with open(to, "rb") as f:
        return f.read()


def judge(mutation, units, scripts, most):
    """A verdict, and the test that gave it."""
    file, at, old, new = mutation[:4]
    with open(file, "rb") as f:
        raw = f.read()
    changed = raw[:at] + new.encode() + raw[at + len(old.encode()):]
    mine = [u for u in units if u.has(file)]
    # Code that is the same in one program may differ in another's build.
    ways = list({tuple(u.flags): u for u in mine if file in u.sources}.values())

    def put(content):
        with open(file, "wb") as f:
            f.write(content)

    def is_same(compiler=None):
        """Whether it makes the same code; None if it makes none."""
        for u in ways:
            key = (compiler, *u.flags, file)
            if key not in CODE:
                put(raw)
                CODE[key] = code_of(u, file, compiler)
                # Another compiler may have no such flag.
                if not CODE[key] and not compiler:
                    raise Unfit("%s does not compile" % file)
            put(changed)
            code = code_of(u, file, compiler)
            if None in (code, CODE[key]) or code != CODE[key]:
                return False if code else None
        return bool(ways)

    try:
        same = is_same()
        if same is None and ways:
            return "did not compile", ""
        if same:
            return "same code", ""
        # What detected most in this file comes first, then what is small.
        for test in sorted(mine, key=lambda t: (
                -t.kills[file], len(t.objects), t.seconds)) + scripts:
            put(raw)
            if not is_fit(test, most):
                continue
            put(changed)
            if test.build(mutation):
                return "did not compile", ""
            verdict, _ = test.run()
            if verdict != "passed":
                test.kills[file] += 1
                return ("hung" if verdict == "hung" else "killed"), test.name
        # Where one compiler finds no difference, there is none.
        return ("same code" if is_same("clang") else "survived"), ""
    finally:
        put(raw)


def unit_programs():
    """All of them, from what make would run."""
    done = quiet(["make", "-n", "-B", "-f", "qa/GNUmakefile",
                  "CFLAGS=-Wno-error -w -g0", "asan"], env=ENV)
    # It stops at a program that it cannot make, and the others would be missing.
    if done.returncode:
        raise Unfit("the unit programs are not known:\n" + done.stdout[-2000:])
    return [Program(shlex.split(line)) for line in
            done.stdout.replace("\\\n", " ").split("\n")
            if " -o build/qa/asan/" in line and " -c " not in line]


def copy_tree(to):
    for part in ("kmod", "lib", "pmda", "help", "qa"):
        shutil.copytree(part, os.path.join(to, part), symlinks=True,
                        ignore=shutil.ignore_patterns("*.o", "*.ko", "*.cmd"))
    for file in os.listdir("."):
        if os.path.isfile(file):
            shutil.copy2(file, to)


COLUMNS = ("did not compile", "same code", "killed", "hung", "survived")


def survivors():
    """Those of the file: their keys, and why they make no difference."""
    found, entry = {}, {}
    with open(SURVIVORS, encoding="utf-8") as f:
        text = f.read()
    for line in text.split("\n") + [""]:
        if line.startswith("#"):
            continue
        if line.startswith(("\t", " ")) and entry:
            entry[list(entry)[-1]] += " " + line.strip()
        elif line:
            name, _, value = line.partition(":")
            if name in entry:
                sys.exit("mutate: %s: what is this: %s" % (SURVIVORS, line))
            entry[name] = value.strip()
        elif entry:
            if list(entry) != ["file", "function", "change", "equivalent"] or \
                    not all(entry.values()):
                sys.exit("mutate: %s: not complete: %s" % (SURVIVORS, entry))
            *key, why = entry.values()
            if tuple(key) in found:
                sys.exit("mutate: %s: twice: %s" % (SURVIVORS, key))
            found[tuple(key)], entry = why, {}
    return found


def check_survivors():
    """Entries that no possible mutation has."""
    listed = survivors()
    possible = {m.key() for file in {key[0] for key in listed}
                if os.path.isfile(file) for m in mutations(file)}
    for key in listed:
        if key not in possible:
            print("%s: no mutation is %s in %s(): %s" % (SURVIVORS, *key))
    print(len(listed))


def draw(args):
    """Mutations by folder or file."""
    drawn = {}
    for where in args.where:
        where = where.rstrip("/")
        files = sorted(f for p in FOLDERS.get(where, [where])
                       for f in glob.glob(p))
        if not files:
            sys.exit("mutate: no folder or file %s" % where)
        every = [m for f in files for m in mutations(f)]
        if args.k:
            k, of = map(int, args.k.split("/"))
            every = [m for m in every if m.part(of) == k]
        elif not args.l or args.n:
            every = random.Random(args.s).sample(
                every, min(args.n or 60, len(every)))
        if args.p:
            commit = quiet(["git", "rev-parse", "HEAD"]).stdout
            every.sort(key=lambda m: hashlib.sha256(
                (commit + "\n".join(m.key())).encode()).digest())
        drawn[where] = every
    return drawn


def end(number, _frame):
    """A signal ends it once: what is cleaned up then is cleaned up."""
    signal.signal(number, signal.SIG_IGN)
    sys.exit(128 + number)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("-n", type=int)
    parser.add_argument("-s", type=int, default=1)
    parser.add_argument("-k")
    parser.add_argument("-t", type=float, default=30)
    for option in "ulcp":
        parser.add_argument("-" + option, action="store_true")
    parser.add_argument("where", nargs="*", default=list(FOLDERS))
    args = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)
    # A signal removes the copy, too.
    signal.signal(signal.SIGTERM, end)
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))

    if args.c:
        check_survivors()
        return 0
    drawn = draw(args)
    if args.l:
        for m in (m for ms in drawn.values() for m in ms):
            print(m)
        return 0

    os.makedirs("build", exist_ok=True)
    base = os.path.abspath(tempfile.mkdtemp(prefix="mutate.", dir="build"))
    try:
        copy_tree(base)
        os.chdir(base)
        return judge_all(drawn, args)
    except Unfit as e:
        print("unfit\t-\tno\tunmutated, %s" % str(e).strip().replace("\n", "; ")
              if args.p else "mutate: unmutated, %s" % e)
        return 1
    finally:
        os.chdir("/")
        shutil.rmtree(base)


def is_late():
    return time.time() >= float(os.environ.get("KMMV_UNTIL") or "inf")


SCRIPT = {}


def scripts_of(file, lists):
    """The scripts of the folder."""
    names = next((lists[d] for d in lists if file.startswith(d)), [])
    return [SCRIPT.setdefault(n, Script(n)) for n in names]


def judge_all(drawn, args):
    files = {m.file for ms in drawn.values() for m in ms}
    units = [p for p in unit_programs()
             if any(p.has(f) for f in files)]
    listed, counts, unlisted = survivors(), {}, []
    for where, list_ in drawn.items():
        counts[where] = dict.fromkeys((*COLUMNS, "listed"), 0)
        for m in list_:
            by, begin = "", time.monotonic()
            tests = scripts_of(m.file, COMMANDS if args.u else SCRIPTS)
            if not tests and not any(p.has(m.file) for p in units):
                verdict = "no test has it"
            elif args.p and is_late():
                verdict = "not run"
            else:
                verdict, by = judge(m, units, tests, args.t)
                if m.key() in listed and verdict == "survived":
                    verdict = "listed"
                counts[where][verdict] += 1
            if verdict == "survived":
                unlisted.append(m)
            if args.p:
                print("\t".join((verdict, by or "-",
                                 "yes" if m.key() in listed else "no", str(m))))
            else:
                print("%s: %s%s (%.0f s)" % (m, verdict, by and " by " + by,
                                             time.monotonic() - begin))
    if args.p:
        print("end\t-\tno\t-")
        return 0
    print("\n%-12s %6s %s %8s" % (
        "", "made", " ".join("%15s" % c for c in COLUMNS), "noticed"))
    for where, c in counts.items():
        # What is shown to make no difference is like the same code.
        c["same code"] += c["listed"]
        real = c["killed"] + c["hung"] + c["survived"]
        print("%-12s %6d %s %8s" % (
            where, sum(c[x] for x in COLUMNS),
            " ".join("%15d" % c[x] for x in COLUMNS),
            "%d %%" % (100 * (real - c["survived"]) / real) if real else "-"))
    if unlisted:
        print("\nsurvivors:")
        for m in unlisted:
            print("  %s" % m)
    return 0


if __name__ == "__main__":
    sys.exit(main())
