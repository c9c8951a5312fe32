#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Judge what pmproxy's REST API says of metrics: restapi.py URL PREFIX INFO SPEC [series]

INFO is what pminfo -dtT prints of the same metrics, SPEC area.py's description of the
machine. With series it is asked for what it has loaded into the key server, too. Each
line of output is a fault; the status is 1 if there is one.
"""
import re
import sys
sys.dont_write_bytecode = True
from grafana import ask, fault, faults, machine

TYPES = {"64-bit unsigned int": "u64", "32-bit unsigned int": "u32",
         "64-bit int": "64", "32-bit int": "32", "string": "string", "double": "double",
         "event record array": "event"}
HOST = {"agent", "domainname", "hostname", "machineid"}
VIEWS = ("value", "percpu", "all")


def info_of(path):
    """{name: (type, indom, semantics, units, oneline, help)}"""
    info, name = {}, None
    with open(path, encoding="utf-8") as file:
        for line in file:
            line = line.rstrip("\n")
            match = re.fullmatch(r"(kmmv\.\S+) \[(.*)\]", line)
            if match:
                name = match.group(1)
                info[name] = [None] * 4 + [match.group(2), []]
            elif line.startswith("    Data Type: "):
                kind, _, indom = line[15:].partition("  InDom: ")
                info[name][:2] = [TYPES.get(kind, kind), indom.split(" ")[0]]
            elif line.startswith("    Semantics: "):
                info[name][2:4] = line[15:].split("  Units: ")
            elif line != "Help:" and name:
                info[name][5].append(line)
    return info


def judge_metric(each, known, where, expected):
    kind, indom, sem, units, oneline, text = known
    for key, want in (("type", kind), ("sem", sem), ("units", units),
                      ("text-oneline", oneline),
                      ("text-help", "\n".join(text).rstrip("\n"))):
        if each.get(key, "") != want:
            fault(where, "has the", key, repr(each.get(key)), "not", repr(want))
    has = each.get("indom", "none")
    if has != ("none" if indom == "PM_INDOM_NULL" else indom):
        fault(where, "is of the domain", has, "not", indom)
    _, view, family = (each["name"] + "..").split(".", 2)
    labels = each["labels"]
    want = set(HOST)
    # pmproxy has no label of a domain without instances.
    if has != "none" and expected.get(each["name"], True):
        want.add("indom_name")
    if view in VIEWS:
        want.add("family")
        if labels.get("family") != family.rstrip("."):
            fault(where, "is of the family", labels.get("family"))
    if set(labels) != want:
        fault(where, "has the labels", sorted(labels), "not", sorted(want))


def judge_values(url, on, each, expected):
    name = each["name"]
    fetched = ask(url, "pmapi/fetch", names=name, **on).get("values", [])
    if [value["name"] for value in fetched] != [name]:
        fault(name, "is fetched as", [value["name"] for value in fetched])
        return
    instances = fetched[0]["instances"]
    ids = [value["instance"] for value in instances]
    if len(set(ids)) != len(ids):
        fault(name, "has an instance twice")
    if each.get("indom", "none") == "none":
        if len(ids) > 1 or ids not in ([None], [-1], []):
            fault(name, "has instances", ids)
        known = {ids[0]: {"name": None}} if ids else {}
    else:
        indom = ask(url, "pmapi/indom", name=name, **on)
        known = {inst["instance"]: inst for inst in indom["instances"]}
        names = [inst["name"].split(" ")[0] for inst in known.values()]
        if len(indom["instances"]) != len(known) or len(set(names)) != len(names):
            fault(name, "has an instance twice in its domain")
        if not indom.get("text-oneline"):
            fault(name, "has a domain without help")
        for inst in known.values():
            own = set(inst["labels"]) - HOST - {"indom_name", "family"}
            if len(own) > 3 or inst["labels"].get("name") == inst["name"]:
                fault(name, inst["name"], "has the labels", own)
    want = expected.get(name)
    if want is not None:
        if len(ids) != len(want):
            fault(name, "has", len(ids), "values, not", len(want))
        for value in instances:
            inst = known.get(value["instance"], {}).get("name", "nobody")
            if inst in want and value["value"] != want[inst]:
                fault(name, inst, "is", value["value"], "not", want[inst])


def judge_series(url, each):
    name = each["name"]
    ids = ask(url, "series/query", expr=name)
    if ids != [each["series"]]:
        fault(name, "has the series", ids, "not", each["series"])
        return
    names = ask(url, "series/metrics", series=ids[0])
    if names != [{"series": ids[0], "name": name}]:
        fault(name, "is the series of", names)
    desc = ask(url, "series/descs", series=ids[0])[0]
    for ours, theirs in (("pmid", "pmid"), ("type", "type"), ("sem", "semantics"),
                         ("units", "units")):
        if desc[theirs] != each[ours]:
            fault(name, "has in Redis the", theirs, desc[theirs], "not", each[ours])
    if desc["indom"] == "none":
        return
    instances = ask(url, "series/instances", series=ids[0])
    if len({inst["name"] for inst in instances}) != len(instances):
        fault(name, "has in Redis an instance twice")
    for labels in ask(url, "series/labels",
                      series=",".join(inst["instance"] for inst in instances)):
        own = set(labels["labels"]) - HOST - {"indom_name", "family"}
        if len(own) > 3:
            fault(name, "has in Redis the labels", own)


def main():
    url, prefix, info, spec = sys.argv[1:5]
    known, expected = info_of(info), machine(spec)
    context = ask(url, "pmapi/context", hostspec="localhost", polltimeout=600)
    on = {"context": context["context"]}
    metrics = ask(url, "pmapi/metric", prefix=prefix, **on)["metrics"]
    for key in ("name", "pmid", "series"):
        each = [metric[key] for metric in metrics]
        for value in {value for value in each if each.count(value) > 1}:
            fault(value, "is there twice")
    for each in metrics:
        if each["name"] not in known:
            fault(each["name"], "is not there for pminfo")
            continue
        judge_metric(each, known.pop(each["name"]), each["name"], expected)
        if not each["name"].startswith(("kmmv.ring.event.", "kmmv.ring.records")):
            judge_values(url, on, each, expected)
            if "series" in sys.argv[5:] and expected.get(each["name"], True):
                judge_series(url, each)
    for name in known:
        fault(name, "is missing")
    print("\n".join(faults), end="\n" if faults else "")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
