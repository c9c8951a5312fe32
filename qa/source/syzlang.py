# SPDX-License-Identifier: GPL-2.0-only
"""What a description for syzkaller says, for a comparison with the headers.

    syzlang.py constants FILE       the constants that it needs
    syzlang.py structs FILE         its structures
    syzlang.py ioctls FILE HEADER...
                                    what is not as the headers' ioctls are
    syzlang.py members FILE STRUCT...
                                    "STRUCT MEMBER" of these
    syzlang.py asserts FILE CONSTANTS ARCHITECTURE STRUCT...
                                    C that can only be compiled if constants and
                                    these structures are as in its headers

Of the language it knows what qa/fuzz/syzkaller has.
"""
import re
import sys

INTS = {"int8": "unsigned char", "int16": "unsigned short",
        "int32": "unsigned int", "int64": "unsigned long long",
        "ptr64": "unsigned long long"}
# Types whose last option is the integer that has the value.
BASED = {"const", "flags", "len", "bytesize"}
# Syscalls that syzkaller takes for another of the same name.
OTHERS = {("386", "__NR_mmap"): "__NR_mmap2"}


def split(text):
    """At the commas outside all brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "[(") - (c in "])")
        if c == "," and not depth:
            parts.append(text[start:i].strip())
            start = i + 1
    return parts + [text[start:].strip()] if text.strip() else []


def kind(text):
    """"name[a, b]" -> (name, [a, b])"""
    found = re.fullmatch(r"(\w+)(?:\[(.*)\])?", text.strip())
    if not found:
        sys.exit(f"syzlang.py: no type: {text}")
    return found.group(1), split(found.group(2) or "")


class Description:
    def __init__(self, path):
        self.calls, self.resources, self.structs = {}, {}, {}
        self.includes, self.defines, self.words = [], {}, []
        inside = None
        for line in open(path):
            line = line.rstrip("\n")
            if not line or line.startswith(("#", "meta ")):
                continue
            found = re.fullmatch(r"include <(.*)>", line)
            if found:
                self.includes.append(found.group(1))
                continue
            self.words.append(re.sub(r'"(\\.|[^"\\])*"|`[^`]*`', "", line))
            if inside is not None:
                if line[0] in "}]":
                    inside = None
                    continue
                name, rest = line.split(None, 1)
                inside.append((name, re.sub(r"\s+\([a-z_]+\)$", "", rest)))
                continue
            self.top(line)
            found = re.fullmatch(r"(\w+) ([{\[])", line)
            if found:
                inside = []
                if found.group(2) == "{":
                    self.structs[found.group(1)] = inside

    def top(self, line):
        found = re.match(r"define (\w+)\s+(.*)", line)
        if found:
            self.defines[found.group(1)] = found.group(2)
        found = re.match(r"resource (\w+)\[(\w+)\]", line)
        if found:
            self.resources[found.group(1)] = found.group(2)
        found = re.match(r"(\w+(?:\$\w+)?)\((.*)\)(?: \w+)?$", line)
        if found:
            self.calls[found.group(1)] = [
                kind(argument.split(None, 1)[1])
                for argument in split(found.group(2))]

    def constants(self):
        names = {"__NR_" + call.split("$")[0] for call in self.calls}
        for line in self.words:
            line = re.sub(r"\w+\$\w+", "", line)
            names |= set(re.findall(r"\b[A-Z][A-Z0-9_]+\b", line))
        return names

    def in_c(self, name, text):
        """A member's declaration."""
        what, options = kind(text)
        while what in self.resources:
            what = self.resources[what]
        if what == "array":
            return self.in_c(f"{name}[{options[1]}]", options[0])
        if what in BASED:
            what = options[-1]
        if what in INTS:
            return f"{INTS[what]} {name};"
        if what in self.structs:
            return f"struct syz_{what} {name};"
        sys.exit(f"syzlang.py: {name}: no size known of {text}")


def values(path, arch):
    """The constants of one architecture; None is one that it has not."""
    found = {}
    lines = [line.strip() for line in open(path)
             if line.strip() and not line.startswith("#")]
    arches = lines[0].replace(",", "").split()
    if arches[:2] != ["arches", "="] or arch not in arches:
        sys.exit(f"syzlang.py: {path} is not about {arch}")
    for line in lines[1:]:
        name, rest = line.split(" = ")
        if name in found:
            sys.exit(f"syzlang.py: {path} has {name} twice")
        for part in rest.split(", "):
            *whose, value = part.split(":")
            if arch in whose or not whose and name not in found:
                found[name] = None if value == "???" else int(value)
    return found


def ioctls(description, headers):
    text = "".join(open(header).read() for header in headers)
    text = text.replace("\\\n", " ")
    there = set()
    for name, how, rest in re.findall(
            r"^#define\s+(KMMV_\w*IOC_\w+)\s+_(IO[WR]*)\((.*)\)", text, re.M):
        there.add(name)
        device = "ring" if name.startswith("KMMV_RING_") else "counters"
        arguments = description.calls.get("ioctl$" + name)
        if not arguments:
            print(f"{name} is not described")
            continue
        wanted = [("fd_kmmv_" + device, []), ("const", [name])]
        if arguments[:2] != wanted:
            print(f"{name}: not fd_kmmv_{device} and const[{name}]")
        if how == "IO":
            if len(arguments) > 2:
                print(f"{name} has no argument")
            continue
        way = {"IOR": "out", "IOW": "in", "IOWR": "inout"}[how]
        of = rest.split(",")[2].split()[-1]
        got = arguments[2] if len(arguments) == 3 else ("", [])
        what = kind(got[1][1]) if len(got[1]) == 2 else ("", [])
        if what[0] == "flags":
            what = kind(what[1][-1])
        want = {"__u32": "int32", "__u64": "int64"}.get(of, of)
        if got[0] != "ptr" or got[1][:1] != [way] or what[0] != want:
            print(f"{name}: not ptr[{way}, {want}]")
    for call in sorted(description.calls):
        if re.match(r"ioctl\$KMMV_", call) and call[6:] not in there:
            print(f"{call[6:]} is no ioctl of the headers")


def asserts(description, constants, arch, structs):
    for include in description.includes:
        print(f"#include <{include.removeprefix('uapi/')}>")
    # Of those described, only arm64 has the generic numbers.
    print("#include <%s/unistd.h>" % ("asm-generic" if arch == "arm64" else "asm"))
    print("#include <stddef.h>")
    for name, value in description.defines.items():
        print(f"#define {name} ({value})")
    there = values(constants, arch)
    for name in sorted(description.constants() - set(there)):
        print(f'_Static_assert(0, "{name}: no number for {arch}");')
    for name in sorted(set(there) - description.constants()):
        print(f'_Static_assert(0, "{name}: a number that nothing needs");')
    for name, value in there.items():
        if value is None:
            print(f"#ifdef {name}")
            print(f'_Static_assert(0, "{name}: {arch} has it");')
            print("#endif")
            continue
        name = OTHERS.get((arch, name), name)
        print(f"_Static_assert((unsigned long long)({name}) == {value}ULL, "
              f'"{name}: not {value} for {arch}");')
    done = set()

    def struct(name):
        if name in done:
            return
        done.add(name)
        for _, text in description.structs[name]:
            for other in re.findall(r"\w+", text):
                if other in description.structs and "ptr" not in text:
                    struct(other)
        print(f"struct syz_{name} {{")
        for member, text in description.structs[name]:
            print("\t" + description.in_c(member, text))
        print("};")

    for name in structs:
        struct(name)
        print(f"_Static_assert(sizeof(struct {name}) == sizeof(struct syz_{name}),"
              f' "{name}: another size");')
        for member, _ in description.structs[name]:
            print(f"_Static_assert(offsetof(struct {name}, {member}) == "
                  f"offsetof(struct syz_{name}, {member}),"
                  f' "{name}.{member}: another offset");')
            print(f"_Static_assert(sizeof(((struct {name} *)0)->{member}) == "
                  f"sizeof(((struct syz_{name} *)0)->{member}),"
                  f' "{name}.{member}: another length");')


def main():
    mode, description = sys.argv[1], Description(sys.argv[2])
    if mode == "constants":
        print(*sorted(description.constants()), sep="\n")
    elif mode == "structs":
        print(*sorted(description.structs), sep="\n")
    elif mode == "ioctls":
        ioctls(description, sys.argv[3:])
    elif mode == "members":
        for name in sys.argv[3:]:
            for member, _ in description.structs[name]:
                print(name, member)
    elif mode == "asserts":
        asserts(description, *sys.argv[3:5], sys.argv[5:])


main()
