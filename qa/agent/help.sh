#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# beside: yes
# Help: each metric and each instance domain has a line and a text that says more. The
# fixed metrics' is in help/metrics, which PCP's chkhelp(1) reads, too; that of families
# is the modules', and the agent's for all of them.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/agent/env
. qa/agent/env
PATH=$PATH:/usr/lib/pcp/bin

# ---- families of our own modules

# silent DIR: families without a line or a text
silent()
{
	/usr/bin/python3 - "$1" <<'P'
import glob
import re
import sys
for path in sorted(glob.glob(sys.argv[1] + "/kmod/**/*.c", recursive=True)):
    with open(path, encoding="utf-8") as source:
        text = source.read()
    for array, body in re.findall(
            r"\nstatic const struct kmmv_family \w+(\[\w*\])? = \{(.*?)\n\};", text, re.S):
        for entry in re.split(r"\n\t\[", body)[1:] if array else [body]:
            name = re.search(r"\.name = ([^,]*),", entry)
            print("family", name[1])
            for word in ("oneline", "help"):
                if not re.search(r"\.%s =\s+(\"[^\"]|\w)" % word, entry):
                    print("no", word, name[1])
P
}
said=$(silent .)
note "$(grep -c '^family' <<<"$said") families"
ok "more than 60 families are found" test "$(grep -c '^family' <<<"$said")" -gt 60
is "each family has a line and a text" "$(grep '^no ' <<<"$said")" ""
mkdir -p "$work/tree"
cp --parents -r kmod/stat "$work/tree"
sed -i '/\.name = "stat\.softirq"/,/^};/{/\.help = /,/",$/d}' "$work/tree/kmod/stat/cpu.c"
is "a family without a text is found" "$(silent "$work/tree" | grep '^no ')" \
	'no help "stat.softirq"'

# ---- what the agent says

qa/agent/machine.py area 10 >"$work/machine" || bail "no machine"
# Families have the text that the modules give them.
awk '{ print } /^family / { print "help", $2, "Text of " $3 }' "$work/machine" | area
info -m kmmv | sed -n '/^kmmv/s, PMID: ,\t,p' | sort >"$work/all"
ok "there are more than 200 metrics" test "$(wc -l <"$work/all")" -gt 200
info -tT kmmv >"$work/help"

# poor FILE: metrics in the output of pminfo -tT without a line, or without a text that
# says more
poor()
{
	awk '
	function end() {
		if (name && (line == "" || text == "" || text == line))
			print name
	}
	/^kmmv\.[^ ]+ \[.*\]$|^kmmv\.[^ ]+ *(One-line.*)?$/ {
		end()
		name = $1
		line = $0
		sub(/^[^ ]+ ?/, "", line)
		gsub(/^\[|\]$/, "", line)
		text = ""
		seen++
		next
	}
	/^$|^Help:$|^Full Help/ { next }
	{ text = text (text == "" ? "" : "\n") $0 }
	END { end(); print seen }' "$1"
}
is "each metric has a line, and a text that says more" "$(poor "$work/help")" \
	"$(wc -l <"$work/all")"
awk '/^kmmv.ring.discarded / { print; print "Help:"; print "Events discarded by their writer"; off = 1; next }
	/^kmmv/ { off = 0 } !off' "$work/help" >"$work/less"
is "a metric without a text is found" \
	"$(poor "$work/less" | head -n 1)" kmmv.ring.discarded

info -d kmmv | sed -n 's/.*InDom: \([0-9]*\.[0-9]*\) .*/\1/p' | sort -u >"$work/domains"
ok "there are more than 100 instance domains" test "$(wc -l <"$work/domains")" -gt 100
db_start dso
while read -r indom; do
	text=$(db "text indom $indom" | sed '/^pmInDom/d')
	line=$(sed -n '1s/^\[\(.*\)\]$/\1/p' <<<"$text")
	more=$(sed 1d <<<"$text")
	[ -n "$line" ] && [ -n "$more" ] && [ "$more" != "$line" ] || echo "$indom"
done <"$work/domains" >"$work/poor"
is "each instance domain has a line, and a text that says more" "$(cat "$work/poor")" ""
like "an unknown instance domain has no text" "$(db "text indom $domain.1000")" "Error"
db_stops "dbpmda ends"

# ---- chkhelp

# chkhelp reads names from a file, and the agent's exist at run time only.
/usr/bin/python3 - "$work/all" >"$work/pmns" <<'P'
import sys
tree = {}
for line in open(sys.argv[1], encoding="ascii"):
    name, pmid = line.split()
    *path, leaf = name.split(".")
    node = tree
    for part in path:
        node = node.setdefault(part, {})
    node[leaf] = pmid.replace(".", ":")


def show(path, node):
    """A node, then those below it."""
    print(path or "root", "{")
    for name, what in node.items():
        print("\t" + name if isinstance(what, dict) else "\t%s\t%s" % (name, what))
    print("}")
    for name, what in node.items():
        if isinstance(what, dict):
            show("%s.%s" % (path, name) if path else name, what)


show("", tree)
P
check()
{
	chkhelp -n "$work/pmns" "$@" 2>&1
}
help=$work/pmdas/kmmv/help
# libpcp itself adds event.flags and event.missed to each name space.
check -e "$help" | sed -n 's/^ *kmmv/kmmv/p' | sort >"$work/elsewhere"
is "chkhelp finds help for all that is not a family's" \
	"$(grep -vE '^kmmv\.(value|percpu|all)\.' "$work/elsewhere")" ""
is "chkhelp finds no help for metrics of families" "$(wc -l <"$work/elsewhere")" \
	"$(cut -f 1 "$work/all" | grep -cE '^kmmv\.(value|percpu|all)\.')"
is "the help file has exactly the metrics that are no family's" "$(check -p -O "$help" |
	sed -n 's/^PMID [0-9.]* \([^:]*\):.*/\1/p' | sort)" \
	"$(cut -f 1 "$work/all" | comm -23 - "$work/elsewhere")"
is "the help file has no instance domain" "$(check -i "$help")" ""
# What chkhelp reads, and what a client gets.
is "chkhelp and pminfo show the same texts" "$(check -p -H "$help" |
	sed -n 's/^PMID [0-9.]* \([^:]*\):\(.*\)/\1 \2/p' | sort)" \
	"$(comm -23 <(cut -f 1 "$work/all") "$work/elsewhere" | while read -r name; do
		echo "$name $(awk -v name="$name" '
			$1 == name { on = 1; next }
			on == 2 { print; exit }
			on && /^Help:$/ { on = 2 }' "$work/help")"
	done)"
grep -v "kmmv.ring.clients" help/metrics >"$work/fewer"
mkdir "$work/broken"
(cd "$work/broken" && newhelp -n "$work/pmns" -o help <"$work/fewer") >/dev/null 2>&1
is "chkhelp finds a metric without help" \
	"$(check -e "$work/broken/help" | sed -n 's/^ *kmmv/kmmv/p' |
	sort | comm -13 "$work/elsewhere" -)" kmmv.ring.clients
finish
