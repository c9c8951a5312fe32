#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Mutants that cannot be made: the file does not have their lines exactly once.

With -c, those that do not compile, too. Prints one line for each of them: the list,
the mutant and why. The last line is the number of mutants.
"""
import glob
import os
import queue
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache


class Mutant:
    """A paragraph of a list (see mutants.sh)."""

    def __init__(self, name, paragraph):
        self.list, lines = name, paragraph.splitlines()
        words = dict(line.split(": ", 1) for line in lines
                     if line.startswith(("mutant: ", "file: ", "kill: ")))
        self.name, self.file = words.get("mutant"), words.get("file")
        self.kill = words.get("kill", "").split()
        self.old, self.new = ("".join(line[1:] + "\n" for line in lines
                                      if line[:1] == sign) for sign in "-+")

    def text(self):
        """The mutated file; None unless the file has the lines exactly once."""
        with open(self.file, encoding="utf-8") as source:
            text = "\n" + source.read()
        if text.count("\n" + self.old) != 1:
            return None
        return text.replace("\n" + self.old, "\n" + self.new)[1:]


def mutants():
    """Those of all lists."""
    for name in sorted(glob.glob("qa/proof/mutants/*")):
        with open(name, encoding="utf-8") as text:
            for paragraph in text.read().split("\n\n"):
                mutant = Mutant(name, paragraph)
                if mutant.name:
                    yield mutant


@lru_cache(maxsize=None)
def commands(program):
    """What compiles the program's files, without what it writes."""
    lines = subprocess.run(
        ["make", "-n", "-B", "-f", "qa/GNUmakefile", "build/qa/" + program],
        stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")
    found = []
    for line in lines:
        words = shlex.split(line) if " -c " in line else []
        if "-o" in words:
            del words[words.index("-o"):words.index("-o") + 2]
            found.append([w for w in words if w not in ("-c", "-MMD", "-MP")])
    return found


@lru_cache(maxsize=None)
def reads(command):
    """The files that a command compiles."""
    out = subprocess.run([*shlex.split(command), "-MM"], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    return {os.path.normpath(w) for w in out.split()[1:] if w != "\\"}


def command_for(mutant):
    """A command of the first test that has the file."""
    tests = [mutant.kill[-1]] if mutant.kill[0] != "litmus" else []
    for command in (c for t in tests for c in commands(t)):
        if mutant.file in reads(shlex.join(command)):
            return command
    return None


def copy_tree(to):
    """The sources, below TO."""
    for part in ("kmod", "lib", "pmda", "qa"):
        for folder, _, names in os.walk(part):
            os.makedirs(os.path.join(to, folder))
            for name in names:
                if name.endswith((".c", ".h")):
                    shutil.copy(os.path.join(folder, name), os.path.join(to, folder))


def compile_it(mutant, text, trees):
    """What the compiler says of the mutant, in one of the trees."""
    command = command_for(mutant)
    if not command:
        return "" if mutant.kill[0] == "litmus" else "its test does not have the file"
    tree = trees.get()
    try:
        with open(os.path.join(tree, mutant.file), "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run([*command, "-fsyntax-only", "-w"], cwd=tree,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
    finally:
        shutil.copy(mutant.file, os.path.join(tree, mutant.file))
        trees.put(tree)
    if not done.returncode:
        return ""
    return next((x for x in done.stdout.split("\n") if "error:" in x), done.stdout)


def fault(mutant, trees):
    """What is wrong with the mutant, or an empty string."""
    text = mutant.text()
    if text is None:
        return f"{mutant.file} does not have its lines once"
    said = compile_it(mutant, text, trees) if "-c" in sys.argv else ""
    return "it does not compile: " + said if said else ""


def main():
    """All of them, one per processor at a time."""
    every = list(mutants())
    trees = queue.Queue()
    with tempfile.TemporaryDirectory() as base, \
            ThreadPoolExecutor(os.cpu_count()) as pool:
        for i in range(os.cpu_count()):
            trees.put(os.path.join(base, str(i)))
            copy_tree(os.path.join(base, str(i)))
        said = pool.map(fault, every, [trees] * len(every))
        for mutant, why in zip(every, said):
            if why:
                print(f"{mutant.list}: {mutant.name}: {why}")
    print(len(every))


main()
