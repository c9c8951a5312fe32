#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Mutants that cannot be made: the file does not have their lines exactly once.

Prints one line for each: the list, the mutant, the file, how often the file has the
lines. The last line is the number of mutants.
"""
import glob


def mutants():
    """Each mutant's list, name, file and old lines (see mutants.sh)."""
    for name in sorted(glob.glob("qa/proof/mutants/*")):
        with open(name, encoding="utf-8") as text:
            paragraphs = text.read().split("\n\n")
        for paragraph in paragraphs:
            lines = paragraph.splitlines()
            words = dict(line.split(": ", 1) for line in lines
                         if line.startswith(("mutant: ", "file: ")))
            if words:
                old = "".join(line[1:] + "\n" for line in lines if line[:1] == "-")
                yield name, words["mutant"], words["file"], old


def main():
    """Compare whole lines."""
    total = 0
    for name, mutant, file, old in mutants():
        total += 1
        with open(file, encoding="utf-8") as source:
            count = ("\n" + source.read()).count("\n" + old)
        if count != 1:
            print(f"{name}: {mutant}: {file} has its lines {count} times")
    print(total)


main()
