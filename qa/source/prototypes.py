# SPDX-License-Identifier: GPL-2.0-only
"""The functions that a preprocessed header declares or defines.

prototypes.py HEADER <PREPROCESSED: a line "NAME void|value PARAMETER..." for each
function from a file whose name ends with HEADER. Names that begin with "__" are
skipped: they are not for clients.
"""
import re
import sys


def text_of(header, lines):
    inside = False
    for line in lines:
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            inside = marker.group(1).endswith(header)
        elif inside:
            yield line


def declarations(text):
    """Each text outside all braces, up to a semicolon or a body."""
    depth, start = 0, 0
    for i, c in enumerate(text):
        if c == "{":
            if not depth:
                yield text[start:i]
            depth += 1
        elif c == "}":
            depth -= 1
            start = i + 1
        elif c == ";" and not depth:
            yield text[start:i]
            start = i + 1


def main():
    text = "".join(text_of(sys.argv[1], sys.stdin))
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", " ", text)
    seen = set()
    for declaration in declarations(text):
        declaration = " ".join(declaration.split())
        found = re.match(r"((?:\w+[ *]+)+)(\w+) ?\((.*)\)$", declaration)
        if not found or declaration.startswith("typedef"):
            continue
        kind, name, parameters = found.groups()
        if name.startswith("__") or name in seen:
            continue
        seen.add(name)
        names = [re.search(r"(\w+)$", p.strip()).group(1)
                 for p in parameters.split(",")]
        void = re.sub(r"\b(static|inline|extern)\b", "", kind).strip() == "void"
        print(name, "void" if void else "value",
              *[n for n in names if n != "void"])


main()
