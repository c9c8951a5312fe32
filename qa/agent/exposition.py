#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
r"""Judge what pmproxy's /metrics says: exposition.py PREFIX INFO SPEC <TEXT

TEXT is in Prometheus's text format 0.0.4. INFO is what pminfo -dt prints of the same
metrics, SPEC area.py's description of the machine. Each line of output is a fault;
the status is 1 if there is one. prometheus_client's parser must agree with the one
here, which knows the grammar and skips nothing. pmproxy of PCP 6.0.3 writes a byte
beyond ASCII as \xNN, which is no escape of the format: that is read as the byte.
"""
import re
import sys
from prometheus_client.parser import text_string_to_metric_families

faults = []
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"')
NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
TYPES = {"counter": "counter", "instant": "gauge", "discrete": "gauge"}
# Labels that say which host a series is from: no driver may set them.
ORIGIN = ("agent", "hostname", "machineid", "domainname")


def fault(*words):
    faults.append(" ".join(map(str, words)))


def unescape(text):
    return re.sub(r"\\(.)", lambda m: "\n" if m.group(1) == "n" else m.group(1), text)


def labels_of(text, where):
    """The labels between braces, or None."""
    labels, at = {}, 0
    while at < len(text):
        match = LABEL.match(text, at)
        if not match:
            fault(where, "is no label:", text[at:])
            return None
        if match.group(1) in labels:
            fault(where, "has the label", match.group(1), "twice")
        labels[match.group(1)] = unescape(match.group(2))
        at = match.end()
        if at < len(text) and text[at] != ",":
            fault(where, "has no comma before:", text[at:])
            return None
        at += 1
    return labels


def metrics_of(text):
    """{name: what is said of it, with its samples}, each once and in one place"""
    metrics, at = {}, None
    for line in text.split("\n")[:-1]:
        match = re.fullmatch(r"# PCP5 (\S+) (\S+) (\S+) (\S+) (\S+) ?(.*)", line)
        if match:
            name = match.group(1).replace(".", "_")
            if name in metrics:
                fault(name, "is there twice")
            at = {"pcp": match.group(1), "sem": match.group(5),
                  "units": match.group(6), "samples": {}, "help": None, "type": None}
            metrics[name] = at
            continue
        match = re.fullmatch(r"# (HELP|TYPE) (%s) (.*)" % NAME, line)
        if match:
            key = match.group(1).lower()
            if not at or match.group(2) != name:
                fault(match.group(2), "has", key, "in another's place")
                continue
            if at[key] is not None or at["samples"]:
                fault(name, "has", key, "twice or too late")
            at[key] = match.group(3)
            if re.search(r"\\[^\\n]", at[key]) and key == "help":
                fault(name, "has an escape in its help that is none")
            continue
        match = re.fullmatch(r"(%s)(?:\{(.*)\})? (\S+)" % NAME, line)
        if not match:
            fault("no line of the format:", repr(line))
            continue
        if not at or match.group(1) != name:
            fault(match.group(1), "has a sample in another's place")
            continue
        labels = labels_of(match.group(2) or "", name)
        if labels is None:
            continue
        key = tuple(sorted(labels.items()))
        if key in at["samples"]:
            fault(name, "has a series twice:", key)
        if not re.fullmatch(r"-?[0-9]+", match.group(3)):
            fault(name, "has the value", match.group(3))
        at["samples"][key] = match.group(3)
    return metrics


def info_of(path):
    """{PCP's name: (semantics, units, help)} of what is a number"""
    info = {}
    with open(path, encoding="utf-8") as file:
        for block in file.read().strip().split("\n\n"):
            match = re.match(r"(\S+) (?:\[(.*)\]|One-line Help:.*)\n"
                             r" *Data Type: (.*?)  InDom: (\S+).*\n"
                             r" *Semantics: (\S+)  Units: (.*)$", block)
            if not match:
                fault("pminfo:", repr(block))
            elif "integer" in match.group(3) or " int" in match.group(3):
                units = match.group(6)
                info[match.group(1)] = (match.group(5), "none" if units == "none"
                                        else units, match.group(2))
    return info


def spec_of(path):
    """{family: (semantics, units, help)}, {(family, number): (name, label)}"""
    families, insts, ids = {}, {}, {}
    with open(path, encoding="latin-1") as file:
        for line in file:
            words = line.rstrip("\n").split(" ")
            if words[0] == "family":
                ids[words[1]] = words[2]
                families[words[2]] = (words[4].split(",")[0], words[3],
                                      " ".join(words[5:]))
            elif words[0] == "inst" and words[4] == "active":
                insts.setdefault(ids[words[2]], []).append(words[1])
    return families, insts


def main():
    prefix, info, spec = sys.argv[1:4]
    text = re.sub(rb"(?<!\\)((?:\\\\)*)\\x([89a-f][0-9a-f])",
                  lambda m: m.group(1) + bytes([int(m.group(2), 16)]),
                  sys.stdin.buffer.read()).decode("utf-8")
    if not text.endswith("\n"):
        fault("the last line has no end")
    metrics = metrics_of(text)
    expected = info_of(info)
    families, insts = spec_of(spec)

    # What prometheus_client makes of it: the same series.
    theirs = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            theirs.setdefault(sample.name, []).append(
                (tuple(sorted(sample.labels.items())), sample.value))
    for name, at in metrics.items():
        # It takes counters' suffix off and puts it on again.
        ours = sorted((key, float(value)) for key, value in at["samples"].items())
        other = sorted(theirs.pop(name, []) + theirs.pop(name + "_total", []))
        if ours != other:
            fault(name, "is something else for prometheus_client:",
                  [pair for pair in zip(ours, other) if pair[0] != pair[1]][:1],
                  len(ours), len(other))
    for name in theirs:
        fault(name, "is only there for prometheus_client")

    host = None
    for name, at in metrics.items():
        if not at["pcp"].startswith(prefix):
            fault(name, "was not asked for")
        known = expected.pop(at["pcp"], None)
        if known is None:
            fault(name, "is no number for pminfo")
            continue
        sem, units, oneline = known
        if (at["sem"], at["units"] or "none") != (sem, units):
            fault(name, "is", at["sem"], at["units"], "not", sem, units)
        if at["type"] != TYPES[sem]:
            fault(name, "has the type", at["type"])
        if unescape(at["help"] or "") != oneline:
            fault(name, "has the help", at["help"], "not", oneline)
        if not at["samples"]:
            fault(name, "has no sample")
        view, _, family = at["pcp"].partition(".")[2].partition(".")
        if family in families and view in ("value", "percpu", "all"):
            sem, units, oneline = families[family]
            units = {"-": "none", "nanosecond": "nanosec"}.get(units, units)
            if (at["sem"], at["units"] or "none", at["type"]) != \
                    (sem, units, TYPES[sem]):
                fault(name, "is not its family's", sem, units)
            if not at["help"] or not at["help"].startswith(oneline):
                fault(name, "has not its family's help")
            count = len(insts.get(family, []))
            count = {"value": count, "all": 1, "percpu": 4 * count}[view]
            if len(at["samples"]) != count:
                fault(name, "has", len(at["samples"]), "series, not", count)
        domain = None
        for key in at["samples"]:
            labels = dict(key)
            seen = [labels.get(k) for k in ORIGIN]
            host = host or seen
            if seen != host:
                fault(name, "is of another host:", seen)
            domain = domain or labels.get("indom_name")
            if labels.get("indom_name") != domain:
                fault(name, "is of another domain:", labels.get("indom_name"))
            if "device" in labels and labels["device"].startswith("/"):
                fault(name, "has the agent's device")
            if labels.get("name") == labels.get("instname") and "name" in labels:
                fault(name, "has its name twice:", labels["name"])
            if labels.get("family", family) != family:
                fault(name, "is of another family:", labels["family"])
            if not labels.get("cpu", "0").isdigit():
                fault(name, "is of no CPU:", labels["cpu"])
            if view == "value" and not labels["instid"].isdigit():
                fault(name, "has another number:", labels["instid"])
    for name in expected:
        if name.startswith(prefix):
            fault(name, "is missing")
    for family in insts:
        name = "kmmv_value_" + family.replace(".", "_")
        if "kmmv.value".startswith(prefix) and name not in metrics:
            fault(name, "is missing")
    print("\n".join(faults), end="\n" if faults else "")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
