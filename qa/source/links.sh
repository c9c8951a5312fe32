#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The pages' links to files and headings of this tree lead somewhere, and README.md has no
# figure of what kmmv costs that help/costs.md has not.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh

work=$(mktemp -d) || bail "no directory"
trap 'rm -rf "$work"' EXIT

cat >"$work/links.py" <<'P'
import os
import re
import sys


def text(path):
    """Without what is code."""
    with open(path, encoding="utf-8") as page:
        return re.sub(r"`[^`]*`", lambda m: m[0].strip("`").replace("]", ""),
                      re.sub(r"(?m)^ {4}.*$", "", page.read()))


def headings(path):
    """As GitHub and others name them."""
    return {re.sub(r"[^\w -]", "", h.lower()).strip().replace(" ", "-")
            for h in re.findall(r"(?m)^#+ (.*)$", text(path))}


for path in sys.argv[1:]:
    for target in re.findall(r"\]\(([^)\s]+)\)", text(path)):
        if re.match(r"\w+:", target):
            continue
        name, _, heading = target.partition("#")
        to = os.path.join(os.path.dirname(path), name) if name else path
        if not os.path.exists(to):
            print(path, target, "no such file")
        elif heading and heading not in headings(to):
            print(path, target, "no such heading")
P
dead()
{
	python3 "$work/links.py" "$@" 2>&1
}

mapfile -t pages < <(find . -name '*.md' ! -path './build/*' ! -path './.git/*' |
	sed 's,^\./,,' | sort)
is "every link leads somewhere" "$(dead "${pages[@]}")" ""
printf '# A page\n\n[a](#a-page) [b](#b) [c](none.md)\n\n    [d](code)\n' \
	>"$work/bad.md"
is "a link that leads nowhere is found" "$(dead "$work/bad.md" | sed "s,^$work/,,")" \
	"bad.md #b no such heading
bad.md none.md no such file"

# figures FILE: those of the sections that say what kmmv costs, and of its tables
figures()
{
	awk '/^## / { on = /^## (Why not|What it costs)/ } on' "$1" |
		grep -oE '[0-9]+(\.[0-9]+)?' | grep -E '[0-9]{3}|\.' | sort -u
}

# missing FILE: its figures that help/costs.md does not have
missing()
{
	figures "$1" | while read -r n; do
		# Microseconds there may be milliseconds: 7400 is 7.4 ms.
		grep -qwF -e "$n" -e "${n}x" -e "$(awk -v n="$n" 'BEGIN { print n / 1000 " ms" }')" \
			help/costs.md || echo "$n"
	done
}
ok "README.md has figures of what kmmv costs" test "$(figures README.md | wc -l)" -ge 20
is "help/costs.md has all figures of README.md" "$(missing README.md)" ""
sed 's/| 15708 /| 15709 /' README.md >"$work/other.md"
is "a figure that help/costs.md has not is found" "$(missing "$work/other.md")" 15709
finish
