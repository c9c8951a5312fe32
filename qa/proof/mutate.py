#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Mutations by chance: does any test notice one changed token?

qa/proof/mutate.py [-n N] [-s SEED] [-t SECONDS] [-u] [-l] [DIR | FILE]...

Of each folder's functions (kmod/core, lib, pmda), or of a file's, N mutations
are drawn: a condition negated, a comparison off by one, an operator swapped, a
constant changed, a statement left out. clang's lexer says where the tokens are.
A mutation that compiles to the same code is dropped. Each of the others is built
into the unit programs (under ASan and UBSan) that have the file, until one fails;
then the scripts of the folder run, unless -u limits it to unit programs. -t leaves
out tests that take longer than that unmutated. A test that uses ten times the CPU
time hangs, which is shown. -l lists all possible mutations, and runs none.

A survivor is a test that is missing, or code that makes no difference. Neither
is an error: the exit status says only whether everything passed unmutated.
"""
import argparse
import glob
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

FOLDERS = {
    "kmod/core": ["kmod/core/*.c"],
    "lib": ["lib/*.c", "lib/kmmvctl/*.c", "lib/kmmvdump/*.c", "lib/kmmvprof/*.c"],
    "pmda": ["pmda/*.c"],
}
SCRIPTS = {
    "kmod/core": [],
    "lib": ["qa/shipped/kmmvctl.sh", "qa/shipped/kmmvdump.sh",
            "qa/shipped/kmmvprof.sh"],
    "pmda": sorted(set(glob.glob("qa/agent/*.sh")) -
                   {"qa/agent/" + s for s in
                    # Tests of installed files, and slow ones.
                    ("install.sh", "views.sh", "valgrind.sh", "web.sh",
                     "boot.sh", "unstarted.sh")}),
}
SWAPS = {
    "less": "<=", "lessequal": "<", "greater": ">=", "greaterequal": ">",
    "equalequal": "!=", "exclaimequal": "==", "ampamp": "||", "pipepipe": "&&",
    "plus": "-", "minus": "+", "slash": "*", "percent": "/", "amp": "|",
    "pipe": "&", "caret": "|", "lessless": ">>", "greatergreater": "<<",
    "plusequal": "-=", "minusequal": "+=", "plusplus": "--",
    "minusminus": "++", "ampequal": "|=", "pipeequal": "&=",
}
BINARY_ONLY = ("plus", "minus", "amp")
ASSIGN = {"equal", "plusequal", "minusequal", "starequal", "slashequal",
          "ampequal", "pipeequal", "lesslessequal", "greatergreaterequal"}
WORDS = {"return", "goto", "if", "else", "for", "while", "do", "switch",
         "case", "default", "sizeof", "static", "const", "struct", "union",
         "enum", "unsigned", "signed", "int", "long", "char", "bool", "void",
         "volatile"}
DRAWN = {"true": "false", "false": "true"}
LOC = re.compile(r"\tLoc=<(.*):(\d+):(\d+)(?: <Spelling=.*>)?>$")


class Token:
    def __init__(self, kind, text, first, at):
        self.kind, self.text, self.first, self.at = kind, text, first, at


def tokens_of(file, text):
    """Tokens of FILE outside directives, comments and white space."""
    out = subprocess.run(
        ["clang", "-fsyntax-only", "-Xclang", "-dump-raw-tokens", file],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True).stdout
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line.encode()) + 1)
    raw = text.encode()
    found, pending = [], ""
    for line in out.decode().split("\n"):
        pending += line
        where = LOC.search(line)
        if not where:
            pending += "\n"
            continue
        kind = pending.split(" ", 1)[0]
        first = "[StartOfLine]" in pending
        spelling = pending[len(kind) + 2:pending.rindex("'")]
        pending = ""
        if kind in ("unknown", "comment", "eof"):
            continue
        # clang's columns are in bytes, like positions here.
        at = starts[int(where.group(2)) - 1] + int(where.group(3)) - 1
        end = at + len(spelling.encode())
        if raw[at:end].decode() != spelling:
            spelling = spelling.split("'\t")[0].split("'  ")[0]
        found.append(Token(kind, spelling, first, at))
    result, directive = [], False
    for token in found:
        if token.first:
            directive = token.kind == "hash"
        if not directive:
            result.append(token)
    return result


def matching(tokens, i):
    """The index of the parenthesis or brace that closes the one at I."""
    depth = 0
    while True:
        depth += tokens[i].text in "([{"
        depth -= tokens[i].text in ")]}"
        if not depth:
            return i
        i += 1


def bodies(tokens):
    """The extents of functions: a brace behind a parenthesis."""
    i = 0
    while i < len(tokens):
        if tokens[i].kind == "l_brace":
            end = matching(tokens, i)
            if tokens[i - 1].kind == "r_paren":
                yield i, end
            i = end
        i += 1


def is_statement(part):
    """Whether it is a call or a store, and no declaration."""
    words = [t.text for t in part]
    if words in (["break"], ["continue"]):
        return True
    if not part or words[0] in WORDS:
        return False
    for i, t in enumerate(part):
        if t.kind in ASSIGN:
            # `type name =` and `type *name =`, but not `*name =`
            names = [p for p in part[:i] if p.kind != "star"]
            return not any(a.kind == b.kind == "raw_identifier"
                           for a, b in zip(names, names[1:]))
        if t.kind in ("plusplus", "minusminus"):
            return True
        if t.kind == "l_paren":
            if matching(part, i) == len(part) - 1:
                return i > 0
        elif t.kind in ("l_brace", "colon"):
            return False
    return False


def statements(tokens, begin, end):
    start = begin + 1
    i = start
    while i < end:
        kind, text = tokens[i].kind, tokens[i].text
        if kind in ("l_brace", "r_brace", "colon") or text in ("else", "do"):
            start = i + 1
        elif kind == "l_paren":
            close = matching(tokens, i)
            if i and tokens[i - 1].text in ("if", "while", "for", "switch"):
                start = close + 1
            elif tokens[i - 1].text.endswith("for_each") or \
                    "for_each" in tokens[i - 1].text:
                start = close + 1
            i = close
        elif kind == "semi":
            if is_statement(tokens[start:i]):
                yield start, i
            start = i + 1
        i += 1


def number(text):
    digits = text.rstrip("uUlL")
    suffix = text[len(digits):]
    value = int(digits, 0) if not re.fullmatch("0[0-7]+", digits) else \
        int(digits, 8)
    return [("0" if value == 1 else str(value + 1)) + suffix]


def mutations(file):
    """(position, old bytes, new text, what) of each possible mutation of FILE."""
    with open(file, "rb") as f:
        raw = f.read()
    tokens = tokens_of(file, raw.decode())
    found = []

    def add(first, last, new, what):
        at, end = tokens[first].at, tokens[last].at + len(
            tokens[last].text.encode())
        found.append((file, at, raw[at:end].decode(), new, what))

    for begin, end in bodies(tokens):
        for i in range(begin + 1, end):
            t, before = tokens[i], tokens[i - 1]
            if t.text in ("if", "while") and tokens[i + 1].kind == "l_paren":
                close = matching(tokens, i + 1)
                at, to = tokens[i + 1].at, tokens[close].at + 1
                add(i + 1, close, "(!" + raw[at:to].decode() + ")",
                    "a condition negated")
            elif t.kind in SWAPS:
                if t.kind in BINARY_ONLY and not (
                        before.kind in ("raw_identifier", "numeric_constant",
                                        "r_square") or
                        # not a cast
                        before.kind == "r_paren" and
                        not is_cast(tokens, i - 1)):
                    continue
                if before.text in ("return", "case", "sizeof"):
                    continue
                add(i, i, SWAPS[t.kind], "an operator")
            elif t.kind == "exclaim":
                add(i, i, "!!", "no negation")
            elif t.kind == "numeric_constant" and \
                    re.fullmatch("(0[xX][0-9a-fA-F]+|[0-9]+)[uUlL]*", t.text):
                for new in number(t.text):
                    add(i, i, new, "a constant")
            elif t.text in DRAWN:
                add(i, i, DRAWN[t.text], "a constant")
        for first, semi in statements(tokens, begin, end):
            add(first, semi, ";", "a statement left out")
    return sorted(found, key=lambda m: (m[1], m[4], m[3]))


def is_cast(tokens, close):
    depth, i = 0, close
    while True:
        depth += tokens[i].kind == "r_paren"
        depth -= tokens[i].kind == "l_paren"
        if not depth:
            break
        i -= 1
    inside = tokens[i + 1:close]
    return bool(inside) and (inside[-1].kind == "star" or
                             inside[0].text in WORDS)


# ---- building and running, all of it in the copy


def quiet(command, **more):
    return subprocess.run(command, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          errors="replace", check=False, **more)


ENV = dict(os.environ, LC_ALL="C", KMMV_AS_BUILT="1", CK_DEFAULT_TIMEOUT="60",
           CK_VERBOSITY="silent", CK_TAP_LOG_FILE_NAME="-",
           ASAN_OPTIONS="detect_leaks=1:strict_string_checks=1:"
           "hard_rss_limit_mb=2000:quarantine_size_mb=64")
for variable in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES"):
    ENV.pop(variable, None)


class Object:
    """One source with one set of flags, shared by all programs that have it."""

    every = {}

    def __init__(self, compiler, flags, source):
        self.command, self.source = [compiler, *flags], source
        self.to = "build/mutate/%d.o" % len(Object.every)
        self.version = None
        out = quiet([*self.command, "-MM", source]).stdout
        self.depends = set(os.path.normpath(w)
                           for w in out.split()[1:] if w != "\\")

    @staticmethod
    def of(compiler, flags, source):
        key = (compiler, *flags, source)
        if key not in Object.every:
            Object.every[key] = Object(compiler, flags, source)
        return Object.every[key]

    def build(self, mutation):
        """What was wrong, or None."""
        version = mutation if mutation and mutation[0] in self.depends else ()
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

    def __init__(self, name):
        self.name = name
        out = quiet(["make", "-n", "-B", "-f", "qa/GNUmakefile",
                     "CFLAGS=-Wno-error -w -g0", "build/qa/asan/" + name],
                    env=ENV).stdout
        lines = out.split("\n")
        words = shlex.split(next(x for x in lines if " -o build/qa/asan/" in x))
        self.sources = [shlex.split(x)[-1] for x in lines
                        if " -c " in x and " -o build/qa/o/asan/" in x]
        flags, libs, skip = [], [], False
        for word in words[1:]:
            if skip:
                skip = False
            elif word == "-o":
                skip = True
            elif word.endswith(".o"):
                pass
            elif word.startswith(("-l", "-Wl,", "-L")) or word.endswith(".a"):
                libs.append(word)
            else:
                flags.append(word)
        self.compiler, self.flags, self.libs = words[0], flags, libs
        os.makedirs("build/mutate", exist_ok=True)
        self.to = "build/mutate/" + name
        self.objects = [Object.of(self.compiler, flags, s)
                        for s in self.sources]
        self.seconds, self.limit, self.kills = 0, None, 0

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
        self.seconds, self.limit, self.kills = 0, None, 0

    def has(self, _file):
        return True

    def build(self, _mutation=None):
        done = quiet(["make", "-s", "lib", "pmda"], env=ENV)
        return done.stdout if done.returncode else None

    def run(self):
        return run(["bash", self.name], self.limit, 8 << 30)


def run(command, limit, memory):
    """passed, failed or hung, and what it said"""
    def limits():
        if limit:
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 10))
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, env=ENV,
                                 stdout=said, stderr=subprocess.STDOUT,
                                 start_new_session=True, preexec_fn=limits)
        # The limit of CPU time does not end a process that waits.
        try:
            status = child.wait(60 * (limit or 60) + 600)
        except subprocess.TimeoutExpired:
            status = -signal.SIGXCPU
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()
        said.seek(0)
        text = said.read().decode(errors="replace")
    bad = [x for x in text.split("\n") if x.startswith("not ok")]
    if status == -signal.SIGXCPU or any(
            "CPU time limit" in x or "Test timeout" in x for x in bad[:1]):
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


def code_of(program, file):
    """The code that -O2 makes of it, without line numbers."""
    flags = [f for f in program.flags
             if not f.startswith(("-O", "-g", "-fsanitize", "-fno-san"))]
    to = "build/mutate/code.o"
    done = quiet([program.compiler, *flags, "-O2", "-g0", "-c", "-o", to, file])
    if done.returncode:
        return None
    with open(to, "rb") as f:
        return f.read()


def judge(mutation, units, scripts, most):
    """A verdict, and the test that gave it."""
    file, at, old, new, _what = mutation
    with open(file, "rb") as f:
        raw = f.read()
    changed = raw[:at] + new.encode() + raw[at + len(old.encode()):]
    mine = [u for u in units if u.has(file)]
    # Code that is the same in one program may differ in another's build.
    ways = {(u.compiler, *u.flags): u for u in mine
            if file in u.sources}.values()

    def put(content):
        with open(file, "wb") as f:
            f.write(content)

    try:
        before = [code_of(u, file) for u in ways]
        put(changed)
        after = [code_of(u, file) for u in ways]
        if None in after:
            return "did not compile", ""
        if ways and after == before:
            return "same code", ""
        # The test that has detected most runs first.
        for test in sorted(mine, key=lambda t: (-t.kills, t.seconds)) + scripts:
            put(raw)
            if not is_fit(test, most):
                continue
            put(changed)
            if test.build(mutation):
                return "did not compile", ""
            verdict, _ = test.run()
            if verdict != "passed":
                test.kills += 1
                return ("hung" if verdict == "hung" else "killed"), test.name
        return "survived", ""
    finally:
        put(raw)


def describe(mutation, pristine):
    file, at, old, new, what = mutation
    with open(os.path.join(pristine, file), "rb") as f:
        raw = f.read()
    line = raw[:at].count(b"\n") + 1
    begin = raw.rfind(b"\n", 0, at) + 1
    end = raw.find(b"\n", at + len(old.encode()))
    whole = raw[begin:end].decode()
    changed = (raw[begin:at].decode() + new +
               raw[at + len(old.encode()):end].decode())
    if what == "a statement left out":
        return "%s:%d: %s: %s" % (file, line, what, " ".join(old.split()))
    return "%s:%d: %s: %s  =>  %s" % (file, line, what, " ".join(whole.split()),
                                      " ".join(changed.split()))


def unit_names():
    out = quiet(["make", "-s", "-f", "qa/GNUmakefile", "list"], env=ENV).stdout
    for line in out.split("\n"):
        words = line.split()
        if len(words) == 3 and words[0] == "asan":
            yield words[1]


def copy_tree(to):
    for part in ("kmod", "lib", "pmda", "help", "qa"):
        shutil.copytree(part, os.path.join(to, part), symlinks=True,
                        ignore=shutil.ignore_patterns("*.o", "*.ko", "*.cmd"))
    for file in os.listdir("."):
        if os.path.isfile(file):
            shutil.copy2(file, to)


COLUMNS = ("did not compile", "same code", "killed", "hung", "survived")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("-n", type=int, default=60)
    parser.add_argument("-s", type=int, default=1)
    parser.add_argument("-t", type=float, default=30)
    parser.add_argument("-u", action="store_true")
    parser.add_argument("-l", action="store_true")
    parser.add_argument("where", nargs="*", default=list(FOLDERS))
    args = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))

    drawn = {}
    for where in args.where:
        where = where.rstrip("/")
        files = sorted(f for p in FOLDERS.get(where, [where])
                       for f in glob.glob(p))
        if not files:
            sys.exit("mutate: no folder or file %s" % where)
        every = [m for f in files for m in mutations(f)]
        if args.l:
            for m in every:
                print(describe(m, "."))
            continue
        drawn[where] = random.Random(args.s).sample(every,
                                                    min(args.n, len(every)))
    if args.l:
        return 0

    os.makedirs("build", exist_ok=True)
    base = tempfile.mkdtemp(prefix="mutate.", dir="build")
    try:
        pristine = os.path.abspath(base + "/pristine")
        tree = os.path.abspath(base + "/tree")
        os.mkdir(pristine)
        copy_tree(pristine)
        shutil.copytree(pristine, tree, symlinks=True)
        os.chdir(tree)
        return judge_all(drawn, args, pristine)
    except Unfit as e:
        print("mutate: unmutated, %s" % e)
        return 1
    finally:
        os.chdir("/")
        shutil.rmtree(os.path.dirname(pristine))


def judge_all(drawn, args, pristine):
    files = {m[0] for ms in drawn.values() for m in ms}
    units = [p for p in map(Program, unit_names())
             if any(p.has(f) for f in files)]
    counts, survivors = {}, []
    for where, list_ in drawn.items():
        names = []
        if not args.u:
            names = next((SCRIPTS[d] for d in FOLDERS
                          if where == d or where.startswith(d + "/")), [])
        scripts = [Script(n) for n in names]
        counts[where] = dict.fromkeys(COLUMNS, 0)
        for m in list_:
            if args.u and not any(p.has(m[0]) for p in units):
                print("%s: no unit program has it" % describe(m, pristine))
                continue
            begin = time.monotonic()
            verdict, by = judge(m, units, scripts, args.t)
            counts[where][verdict] += 1
            print("%s: %s%s (%.0f s)" % (describe(m, pristine), verdict,
                                         " by " + by if by else "",
                                         time.monotonic() - begin))
            if verdict == "survived":
                survivors.append(m)
    print("\n%-12s %6s %s %8s" % (
        "", "made", " ".join("%15s" % c for c in COLUMNS), "noticed"))
    for where, c in counts.items():
        real = c["killed"] + c["hung"] + c["survived"]
        print("%-12s %6d %s %8s" % (
            where, sum(c.values()), " ".join("%15d" % c[x] for x in COLUMNS),
            "%d %%" % (100 * (real - c["survived"]) / real) if real else "-"))
    if survivors:
        print("\nsurvivors:")
        for m in survivors:
            print("  " + describe(m, pristine))
    return 0


if __name__ == "__main__":
    sys.exit(main())
