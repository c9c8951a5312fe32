#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# What shows the counters as text, on an archive of a machine whose counts are known,
# and live: pcp-kmmv(1), sections of pmrep.conf(5) and pcp-dstat(5), derived metrics.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/agent/env
. qa/agent/env
# shellcheck source=qa/agent/ring
. qa/agent/ring

pmcd_pid=
trap 'kill $live_pid $pmcd_pid 2>/dev/null; rm -rf "$work"' EXIT
archive=$work/archive
qa/agent/machine.py archive "$archive" -p net.out.drops/eth0=7,0,0,0 \
	ring.lost=0,2,0,0 || bail "no archive"

# pcp(1) is not used: it would look for the installed program.
show()
{
	COLUMNS=${columns:-80} timeout 600 /usr/bin/python3 pmda/site/pcp-kmmv \
		"$@" 2>&1
}

# row TEXT WORD: the first row with that first word, its columns by one blank
row()
{
	awk -v word="$2" '$1 == word { $1 = $1; print; exit }' <<<"$1"
}

# ---- pcp-kmmv

once=(-a "$archive" -z -t 10 -s 1)
text=$(show "${once[@]}" cpu)
is "cpu: a CPU has its shares of time" \
	"$(row "$text" cpu0)" "cpu0 22.0 2.0 12.0 58.0 2.0 1.0 2.0 1.0"
is "cpu: another CPU has its shares of time" \
	"$(row "$text" cpu3)" "cpu3 4.0 2.0 2.0 88.0 2.0 1.0 0.0 1.0"
text=$(show "${once[@]}" irq)
is "irq: an interrupt has its rates" "$(row "$text" 24)" "24 240 60 60 60 60"
is "irq: the most frequent interrupt is first" \
	"$(awk 'NR > 2 && NF { print $1 }' <<<"$text" | xargs)" \
	"26 LOC 24 25 RES CAL"
text=$(show "${once[@]}" disk)
is "disk: a disk has its rates and mean times" "$(row "$text" sda)" \
	"sda 100 409.6k 0.50 40 655.4k 2.00 0.13 1 0"
is "README.md shows the view disk as it is" \
	"$(grep -A 4 '^    \$ pcp kmmv .* disk$' README.md | sed 1d)" \
	"$(sed '/^$/d; s/^/    /' <<<"$text")"
text=$(show "${once[@]}" net)
is "net: a network device has its rates and losses" "$(row "$text" eth0)" \
	"eth0 990 1.0M 1.00 700 200.0k 0.99 0"
text=$(show "${once[@]}" ring)
is "ring: a CPU of a ring has its rates" \
	"$(row "$text" default::cpu1)" "default::cpu1 250 250 0 2 0.80 50"
text=$(show "${once[@]}" profile)
is "profile: a function has its samples" \
	"$(row "$text" function)" "function clear_page_rep 9 27.27"
is "profile: commands have their samples, others last" \
	"$(awk '$1 == "command" { print $2, $3 }' <<<"$text" |
	xargs)" "postgres 32 python3 18 nginx 15 kworker/2:1 7 others 9"
is "profile: names that are left out count among others" "$(/usr/bin/python3 - <<'P'
import importlib.machinery
tool = importlib.machinery.SourceFileLoader("tool", "pmda/site/pcp-kmmv").load_module()
class Source:
    def rates(self, name):
        return {"f%d" % i: i for i in range(1, 9)} | {"others": 4} \
            if "symbol" in name else {}
view = tool.Profile()
print(*(" ".join(row[1:3]) for row in view.rows(Source())),
      len(view.objects(Source())), sep=", ")
P
)" "f8 8, f7 7, f6 6, f5 5, f4 4, others 10, 9"
is "a metric that replaces another of its name is looked up" "$(/usr/bin/python3 - <<'P'
import importlib.machinery, types
import cpmapi
from pcp import pmapi
tool = importlib.machinery.SourceFileLoader("tool", "pmda/site/pcp-kmmv").load_module()
class Context:
    pmid = 1
    def pmTraversePMNS(self, prefix, found):
        found(prefix)
    def pmLookupName(self, names, relaxed):
        return [self.pmid for name in names]
    def pmLookupDesc(self, pmid):
        units = pmapi.pmUnits(0, 0, 1, 0, 0, 0)
        return types.SimpleNamespace(contents=types.SimpleNamespace(
            type=cpmapi.PM_TYPE_U64, sem=cpmapi.PM_SEM_COUNTER, units=units))
context = Context()
source = tool.Source(context, False)
for context.pmid in 1, 1, 2:
    source.look_up(["a"])
    print(source.descs["a"][0], source.now)
    source.now = {"a": {"x": 1}}
P
)" "1 {}
1 {'a': {'x': 1}}
2 {}"
text=$(show "${once[@]}")
like "the default view has a family's rates" \
	"$text" "^stat\.softirq +NET_RX +1\.6k/s +1\.6k/s"
like "the default view has units of bytes" "$text" "^net\.in\.bytes +eth0 +1\.0MB/s"
longer()
{
	/usr/bin/python3 -X utf8 -c 'import sys
print(*(line for line in sys.stdin if len(line) > 1 + int(sys.argv[1])))' "$1" <<<"$text"
}
is "no line is longer than 80 columns" "$(longer 80)" ""
like "rows that are left out are counted" "$(show "${once[@]}" -n 3)" \
	"^and [0-9]+ more$"
text=$(columns=40 show "${once[@]}" disk)
is "no line is longer than 40 columns if there are no more" "$(longer 40)" ""
like "columns that are left out are counted" "$text" "^columns that do not fit: [1-9]"
is "a report ends with the archive" \
	"$(show -a "$archive" -z -t 50 net | grep -c '^eth0')" 2
is "JSON has the host, the time and numbers" \
	"$(show "${once[@]}" -j disk | /usr/bin/python3 -c '
import json, sys
for line in sys.stdin:
	doc = json.loads(line)
	print(doc["host"], doc["time"], *(row["r_await"] for row in doc["rows"]))')" \
	"box 1700000010.0 0.5 4.0"
not_ok "an unknown view is refused" show -a "$archive" nosuch
like "an unknown view is named" "$tap_text" "no such view: nosuch"
not_ok "a number of rows that is no number is refused" show -a "$archive" -n x
qa/agent/machine.py archive "$work/plain" -s 5 || bail "no archive"
not_ok "an archive without what the view needs is refused" show -a "$work/plain" cpu
like "the message says which view has no metrics" \
	"$tap_text" "box has no metrics for the view cpu"

# One that rises is first: its rate is doubled half way.
/usr/bin/python3 - "$work/rise" <<'P' || bail "no archive"
import sys
sys.path.insert(0, "qa/agent")
import machine
box = machine.Machine([])
plain = box.values
box.values = lambda family, name, t: [
    v + (400 * max(t - 60, 0) if (family, name) == ("stat.softirq", "NET_RX") else 0)
    for v in plain(family, name, t)]
machine.Archive(box, sys.argv[1], False, False).write(machine.BEGIN, 120, 10)
P
text=$(LC_ALL=C.UTF-8 PYTHONIOENCODING=utf-8 show -a "$work/rise" -z -t 10 -S +50 -s 2 -n 1)
like "a row that changes is first" \
	"$text" "^stat\.softirq +NET_RX +3\.2k/s +1\.6k/s .*▅█$"

# ---- other units

/usr/bin/python3 - "$work/units" <<'P' || bail "no archive"
import sys
from pcp import pmi
import cpmapi as c
log = pmi.pmiLogImport(sys.argv[1])
log.pmiSetTimezone("UTC")
count, level = c.PM_SEM_COUNTER, c.PM_SEM_INSTANT
metrics = (("moved", count, (1, 0, 0, c.PM_SPACE_KBYTE, 0, 0), 3),
           ("busy", count, (0, 1, 0, 0, c.PM_TIME_USEC, 0), 250000),
           ("cache", level, (1, 0, 0, c.PM_SPACE_MBYTE, 0, 0), 5),
           ("delay", level, (0, 1, 0, 0, c.PM_TIME_MSEC, 0), 7),
           ("pace", level, (1, -1, 0, c.PM_SPACE_KBYTE, c.PM_TIME_MSEC, 0), 2),
           ("sheep", level, (0, 0, 1, 0, 0, 3), 4))
for i, (name, sem, units, _) in enumerate(metrics):
    log.pmiAddMetric("kmmv.value.mine." + name, log.pmiID(389, 100, i), c.PM_TYPE_U64,
                     c.PM_INDOM_NULL, sem, log.pmiUnits(*units))
for t in range(0, 30, 10):
    for name, sem, _, n in metrics:
        log.pmiPutValue("kmmv.value.mine." + name, "",
                        str(n * t if sem == count else n))
    log.pmiWrite(1700000000 + t, 0)
log.pmiEnd()
P
once_units=(-a "$work/units" -z -t 10 -s 1)
is "other units than bytes and nanoseconds have the right prefix" \
	"$(show "${once_units[@]}" |
	awk 'NR > 2 && NF { print $1, $2 }' | sort | xargs)" \
	"mine.busy 25.0% mine.cache 5.2MB mine.delay 7.0ms mine.moved 3.1kB/s\
 mine.pace 2.0MB/s mine.sheep 4.0k"
is "JSON has numbers in the unit that it says" \
	"$(show "${once_units[@]}" -j | /usr/bin/python3 -c '
import json, sys
rows = sorted(json.loads(sys.stdin.readline())["rows"], key=lambda row: row["metric"])
print(*("%s %g%s" % (r["metric"][16:], r["now"], r["unit"]) for r in rows))')" \
	"busy 2.5e+08ns/s cache 5.24288e+06B delay 7e+06ns moved 3072B/s pace 2.048e+06B/s\
 sheep 4000"

# ---- PCP 7

# From 7.0 on pmFetch() and pmSetMode() are what they were for high resolution.
cat >"$work/seven.py" <<'P'
import runpy
import sys
from pcp import pmapi
if dict(pmapi.pmResult._fields_)["timestamp"] is pmapi.timeval:
    pmapi.pmResult = pmapi.pmHighResResult
    for name in ("pmFetch", "pmSetMode"):
        setattr(pmapi.pmContext, name, getattr(pmapi.pmContext, name + "HighRes"))
    pmapi.pmContext.pmFreeResult = staticmethod(pmapi.pmContext.pmFreeHighResResult)
    for name in ("Origin", "Start", "Finish", "Interval", "Alignment"):
        setattr(pmapi.pmOptions, "pmGetOption" + name,
                getattr(pmapi.pmOptions, "pmGetOptionHighRes" + name))
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
P
seven()
{
	COLUMNS=80 timeout 600 /usr/bin/python3 "$work/seven.py" pmda/site/pcp-kmmv "$@" 2>&1
}
for view in top cpu net; do
	is "the view $view is the same by PCP 7's calls" \
		"$(seven -a "$archive" -z -t 2.5 -S +20 -T +40 "$view")" \
		"$(show -a "$archive" -z -t 2.5 -S +20 -T +40 "$view")"
done
like "an interval with a fraction is taken by PCP 7's calls" \
	"$(seven -a "$archive" -z -t 2.5 -s 1 net)" \
	"every 2\.5s"

# ---- live, with labels

qa/agent/machine.py area 1000 >"$work/machine" || bail "no machine"
area <"$work/machine"
live
pmcd_start || bail "no pmcd"
host=unix:$work/pmcd.socket
text=$(show -h "$host" -t 0.5 -s 1 irq)
like "pcp kmmv runs live" "$text" "every 0\.[5-9]|every [1-9]"
like "pcp kmmv says so when nothing is counted" "$text" "nothing to show"
show -h "$host" -t 3600 -T 2 irq >/dev/null
is "pcp kmmv ends at -T, within an interval" $? 0
like "pcp kmmv does not end before -T" \
	"$(show -h "$host" -t 0.5 -s 1 -T 2000 irq)" "nothing to show"
text=$(/usr/bin/python3 - "$host" <<'P'
import importlib.machinery, sys
from pcp import pmapi
import cpmapi as c
tool = importlib.machinery.SourceFileLoader("tool", "pmda/site/pcp-kmmv").load_module()
source = tool.Source(pmapi.pmContext(c.PM_CONTEXT_HOST, sys.argv[1]), False)
source.look_up(tool.Irq.prefixes)
print(sorted(source.labels("kmmv.value.stat.irq", "action").items()))
P
)
like "an interrupt's action is the kernel's label" "$text" "\('26', 'eth0-rx'\)"

# ---- pmrep, dstat

rep()
{
	# Its module may be installed for the system's python only.
	/usr/bin/python3 "$(command -v pmrep)" -a "$archive" -z \
		-c pmda/site/pmrep.kmmv -t 10 -s 2 "$@" 2>&1 | tail -n "${tail:-8}" |
		sed 's/ \{1,\}/ /g; s/ $//'
}
like "pmrep :kmmv-cpu shows the CPUs' time" "$(rep :kmmv-cpu)" \
	" 10.00 2.00 6.00 2.00 1.00 1.25 1.00 76.75$"
like "pmrep :kmmv-disk shows a disk" \
	"$(rep :kmmv-disk)" " sda 100.00 400.00 40.00 640.00 1 0.00$"
like "pmrep :kmmv-net shows a network device" "$(rep :kmmv-net)" \
	" eth0 990.00 976.56 10.00 700.00 195.31 7.00$"
like "pmrep :kmmv-ring shows a CPU of a ring" "$(rep :kmmv-ring)" \
	" default::cpu1 250.00 250.00 0.00 2.00 0.80$"
text=$(tail=20 rep :kmmv-profile)
like "pmrep :kmmv-profile shows a command" "$text" " python3 ~ 18.00 ~$"
like "pmrep :kmmv-profile shows a name of three kinds" "$text" " others 5.00 9.00 4.00$"
mkdir -p "$work/.pcp/dstat"
cp pmda/site/dstat.kmmv "$work/.pcp/dstat/kmmv"
dstat()
{
	env -u PCP_VAR_DIR HOME="$work" PCP_ARCHIVE="$archive" timeout 600 /usr/bin/python3 \
		/usr/lib/pcp/bin/pcp-dstat --nocolor --noupdate "$1" 10 2 2>&1 |
		tail -n 1 | xargs
}
if [ -e /usr/lib/pcp/bin/pcp-dstat ]; then
	is "pcp dstat --kmmv-disk shows disks' rates" "$(dstat --kmmv-disk)" "110 60"
	is "pcp dstat --kmmv-net shows network devices' rates" \
		"$(dstat --kmmv-net)" "1025k 244k"
	is "pcp dstat --kmmv-ring shows rings' rates" "$(dstat --kmmv-ring)" "1000 2"
else
	# Debian's packages of PCP 7.2 do not have it.
	skip "pcp dstat shows rates" "machine: its PCP has no pcp-dstat"
fi

# ---- derived metrics

derived()
{
	PCP_DERIVED_CONFIG=$PWD/pmda/site/derived.conf pmval -a "$archive" -z -t 10 \
		-s 2 -f 2 ${2:+-i "$2"} "kmmv.derived.$1" 2>&1 | tail -n 1 | awk '{ print $NF }'
}
is "kmmv.derived.cpu is CPU time in per cent" \
	"$(derived cpu user) $(derived cpu idle)" "10.00 76.75"
is "kmmv.derived.percpu is each CPU's time in per cent" \
	"$(derived percpu user::cpu0)" "22.00"
is "kmmv.derived.guest is guests' time in per cent" "$(derived guest user)" "4.00"
is "kmmv.derived.ring is what a ring loses" \
	"$(derived ring.lost default::cpu1) $(derived ring.loss default::cpu1)" \
	"2.00 0.80"
is "each derived metric has one-line help" \
	"$(PCP_DERIVED_CONFIG=$PWD/pmda/site/derived.conf pminfo -a "$archive" \
	-t kmmv.derived | grep -vc '\[.*\]')" 0
/usr/bin/python3 - "$work/other" <<'P' || bail "no archive"
import sys
from pcp import pmi
import cpmapi as c
log = pmi.pmiLogImport(sys.argv[1])
log.pmiAddMetric("other.metric", log.pmiID(60, 0, 0), c.PM_TYPE_U32, c.PM_INDOM_NULL,
                 c.PM_SEM_INSTANT, log.pmiUnits(0, 0, 0, 0, 0, 0))
log.pmiPutValue("other.metric", "", "1")
log.pmiWrite(1700000000, 0)
log.pmiEnd()
P
is "derived metrics say nothing where there is no kmmv" \
	"$(PCP_DERIVED_CONFIG=$PWD/pmda/site/derived.conf pminfo -a "$work/other" \
		-f other.metric 2>&1 | xargs)" "other.metric value 1"
finish
