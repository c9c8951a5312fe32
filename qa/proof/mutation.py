# SPDX-License-Identifier: GPL-2.0-only
"""The mutations of a C file that change one token or leave out one statement.

clang's lexer says where the tokens are.
"""
import collections
import hashlib
import re
import subprocess

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
    """Name, begin and end of functions: a brace behind a parenthesis."""
    i = 0
    while i < len(tokens):
        if tokens[i].kind == "l_brace":
            end = matching(tokens, i)
            if tokens[i - 1].kind == "r_paren":
                yield tokens[opening(tokens, i - 1) - 1].text, i, end
            i = end
        i += 1


def opening(tokens, close):
    """The index of the parenthesis that the one at CLOSE closes."""
    depth, i = 0, close
    while True:
        depth += tokens[i].kind == "r_paren"
        depth -= tokens[i].kind == "l_paren"
        if not depth:
            return i
        i -= 1


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


class Mutation(collections.namedtuple(
        "Mutation", "file at old new what function line change")):
    """The bytes OLD at AT of FILE become NEW; CHANGE says it in words."""

    __slots__ = ()

    def key(self):
        """What it is, wherever its function is in the file."""
        return self.file, self.function, self.change

    def part(self, of):
        """The part of all mutations, of so many, in which it is."""
        text = "\n".join(self.key())
        return int(hashlib.sha256(text.encode()).hexdigest(), 16) % of

    def __str__(self):
        return "%s:%d: %s(): %s" % (self.file, self.line, self.function,
                                    self.change)


def in_words(raw, at, old, new, what):
    """What is changed, in one line."""
    if what == "a statement left out":
        return "%s: %s" % (what, " ".join(old.split()))
    to = at + len(old.encode())
    begin = raw.rfind(b"\n", 0, at) + 1
    end = raw.find(b"\n", to)
    return " ".join(("%s: %s => %s" % (
        what, raw[begin:end].decode(),
        raw[begin:at].decode() + new + raw[to:end].decode())).split())


def mutations(file):
    """Each possible mutation of FILE."""
    with open(file, "rb") as f:
        raw = f.read()
    tokens = tokens_of(file, raw.decode())
    found = []

    def add(first, last, new, what):
        at, end = tokens[first].at, tokens[last].at + len(
            tokens[last].text.encode())
        found.append((at, what, new, raw[at:end].decode(), name))

    for name, begin, end in bodies(tokens):
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
    result, seen = [], collections.Counter()
    for at, what, new, old, name in sorted(found):
        change = in_words(raw, at, old, new, what)
        # The second of the same in a function.
        seen[name, change] += 1
        if seen[name, change] > 1:
            change += " (%d)" % seen[name, change]
        result.append(Mutation(file, at, old, new, what, name,
                               raw[:at].count(b"\n") + 1, change))
    return result


def is_cast(tokens, close):
    inside = tokens[opening(tokens, close) + 1:close]
    return bool(inside) and (inside[-1].kind == "star" or
                             inside[0].text in WORDS)
