#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Judge a dashboard of Grafana by what pmproxy answers: grafana.py FILE URL SPEC [HOST]

Each target is asked as grafana-pcp 6.1's data source asks it, and the answer gets the
units and legends that it gets there: PCP Valkey by /series/..., PCP Vector by
/pmapi/... SPEC is area.py's description of the machine: the latest values must be its
own. HOST is the value of $host. Lines "fault: ..." are faults, the status is 1 if there
is one; "PANEL<tab>LEGEND<tab>UNIT<tab>VALUE" is what a panel shows last, before rates
are made of counters.
"""
import hashlib
import http.client
import json
import re
import sys
import time
import urllib.parse

faults = []
WIDTH = 24
UNITS = {"nanosec": "ns", "microsec": "µs", "millisec": "ms", "sec": "s"}
BYTES = {"byte": ("binBps", "bytes"), "Kbyte": ("KiBs", "kbytes")}
RATES = ("cps", "iops", "pps")
NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_]*(\.[a-zA-Z][a-zA-Z0-9_]+)*$")


def fault(*words):
    faults.append(" ".join(map(str, words)))


def ask(url, path, **params):
    # Not urllib's "Connection: close": then pmproxy 6.0.3 breaks off long answers.
    link = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=600)
    link.request("GET", "/%s?%s" % (path, urllib.parse.urlencode(params)))
    reply = link.getresponse()
    text = reply.read().decode()
    link.close()
    if reply.status != 200:
        fault(path, params, "is refused:", text[:200])
        return {}
    return json.loads(text)


class Series:
    """A line of a panel: one instance's values."""
    def __init__(self, metric, desc, instance, labels, values):
        self.metric, self.instance = metric, instance
        self.sem, self.units, self.labels = desc["sem"], desc["units"], labels
        self.values = values
        self.legend = None

    def unit(self):
        """getFieldUnit(), with the conversions of counters"""
        if self.sem == "counter" and self.units in UNITS:
            return "percentunit"
        if self.units in BYTES:
            return BYTES[self.units][self.sem != "counter"]
        return UNITS.get(self.units, "")

    def name(self, form):
        """getFieldDisplayName()"""
        known = dict(self.labels, metric=self.metric,
                     metric0=self.metric.split(".")[-1])
        if self.instance is not None:
            known["instance"] = self.instance
        return re.sub(r"\$(\w+)", lambda m: str(known.get(m.group(1), m.group(0))), form)


class Valkey:
    kind = "performancecopilot-valkey-datasource"

    def __init__(self, url, host):
        self.url, self.host = url, host
        hosts = ask(url, "series/labels", names="hostname").get("hostname", [])
        if host not in hosts:
            fault("the variable host has", hosts, "not", host)

    def query(self, target):
        expr = target["expr"].replace("$host", self.host)
        ids = ask(self.url, "series/query", expr=expr)
        if not ids:
            return fault(expr, "has no series")
        series = ",".join(ids)
        names = {each["series"]: each["name"] for each in
                 ask(self.url, "series/metrics", series=series)}
        lines = []
        for desc in ask(self.url, "series/descs", series=series):
            desc["sem"], ident = desc["semantics"], desc["series"]
            known = {None: None}
            if desc["indom"] != "none":
                known = {each["instance"]: each["name"] for each in
                         ask(self.url, "series/instances", series=ident)}
            labels = {each["series"]: each["labels"] for each in
                      ask(self.url, "series/labels", series=",".join(
                          [ident] if None in known else known))}
            now = int(time.time())
            values = {}
            for each in sorted(ask(self.url, "series/values", series=ident,
                                   start=now - 3600, finish=now + 60, interval=1),
                               key=lambda each: each["timestamp"]):
                values.setdefault(each.get("instance"), []).append(each["value"])
            for inst, found in values.items():
                if inst not in known:
                    fault(expr, "has values of an unknown instance", inst)
                    continue
                lines.append(Series(names[ident], desc, known[inst],
                                    labels.get(inst or ident, {}), found))
        return lines


class Vector:
    kind = "performancecopilot-vector-datasource"

    def __init__(self, url, host):
        self.url = url
        self.context = ask(url, "pmapi/context", hostspec=host, polltimeout=600)

    def query(self, target):
        if target.get("hostspec") != "$host":
            fault(target["expr"], "is not of $host")
        name = expr = target["expr"]
        on = {"context": self.context["context"]}
        if not NAME.match(expr):
            name = "derived_" + hashlib.md5(expr.encode()).hexdigest()
            if not ask(self.url, "pmapi/derive", name=name, expr=expr, **on).get("success"):
                return fault(expr, "is no expression")
        metrics = ask(self.url, "pmapi/metric", names=name, **on).get("metrics", [])
        if not metrics or "sem" not in metrics[0]:
            return fault(expr, "is no metric")
        desc = metrics[0]
        ask(self.url, "pmapi/fetch", names=name, **on)
        time.sleep(0.1)
        fetched = ask(self.url, "pmapi/fetch", names=name, **on).get("values")
        if not fetched:
            return fault(expr, "has no value")
        common, known = dict(self.context["labels"], **desc["labels"]), {}
        if "indom" in desc and desc["indom"] != "none":
            indom = ask(self.url, "pmapi/indom", name=name, **on)
            common.update(indom["labels"])
            known = {each["instance"]: each for each in indom["instances"]}
        lines = []
        for each in fetched[0]["instances"]:
            inst = known.get(each["instance"])
            if known and not inst:
                fault(expr, "has a value of an unknown instance", each)
                continue
            labels = dict(common, **inst["labels"]) if inst else common
            lines.append(Series(expr, desc, inst and inst["name"], labels,
                                [str(each["value"])]))
        return lines


def machine(path):
    """{metric: {instance: value}}"""
    values, ids, cpus = {}, {}, 0
    with open(path, encoding="latin-1") as file:
        for line in file:
            words = line.rstrip("\n").split(" ", 6)
            if words[:2] == ["set", "cpus"]:
                cpus = int(words[2])
            elif words[0] == "family":
                ids[words[1]] = words[2]
                for view in ("value", "percpu"):
                    values["kmmv.%s.%s" % (view, words[2])] = {}
            elif words[0] == "inst":
                family, name = ids[words[2]], words[6].replace(" ", "_")
                each = [int(word) for word in words[5].split(",")]
                each += [0] * (cpus - len(each))
                values["kmmv.value." + family][name] = sum(each)
                total = values.setdefault("kmmv.all." + family, {None: 0})
                total[None] += sum(each)
                for cpu, value in enumerate(each):
                    values["kmmv.percpu." + family]["%s::cpu%d" % (name, cpu)] = value
    return values


def regex(text):
    """stringToJsRegex()"""
    return re.compile(text[1:-1] if text.startswith("/") else "^%s$" % text)


def transform(lines, steps, where):
    for step in steps:
        options = step["options"]
        if step["id"] == "filterFieldsByName":
            keep = regex(options["include"]["pattern"])
            if not keep.search("time") or not keep.search("Time"):
                fault(where, "filters the time")
            lines = [line for line in lines if keep.search(line.legend)]
        elif step["id"] == "renameByRegex":
            for line in lines:
                line.legend = regex(options["regex"]).sub(options["renamePattern"],
                                                          line.legend)
        elif step["id"] == "reduce":
            if options["reducers"] != ["mean"]:
                fault(where, "has another column than Mean")
        elif step["id"] == "sortBy":
            if options["sort"] != [{"field": "Mean", "desc": True}]:
                fault(where, "is not in the order of its values")
        elif step["id"] != "limit":
            fault(where, "has the unknown transformation", step["id"])
    return lines


def judge_panel(panel, source, expected):
    where, lines = panel["title"], []
    unit = panel["fieldConfig"]["defaults"].get("unit")
    refs = [target["refId"] for target in panel["targets"]]
    if len(set(refs)) != len(refs):
        fault(where, "has a target's refId twice")
    if panel["datasource"] != {"type": source.kind, "uid": "${datasource}"}:
        fault(where, "has another data source:", panel["datasource"])
    for target in panel["targets"]:
        if target["format"] != "time_series" or not target["legendFormat"]:
            fault(where, "has a target without format or legend")
        found = source.query(target)
        if not found:
            fault(where, "has nothing for", target["expr"])
            continue
        for line in found:
            line.legend = line.name(target["legendFormat"])
            # What Grafana gets from a data source goes before the panel's own.
            if line.unit() and line.unit() != unit:
                fault(where, "has the unit", unit, "not", line.unit())
            elif not line.unit() and line.sem == "counter" and unit not in RATES:
                fault(where, "has the unit", unit, "which is no rate")
            elif not line.unit() and line.sem != "counter" and \
                    unit not in ("none", "short", "percentunit"):
                fault(where, "has the unit", unit, "for what is no rate")
            if unit == "percentunit" and line.sem != "counter" and \
                    not 0 <= float(line.values[-1]) <= 1:
                fault(where, "has a part that is none:", line.values[-1])
            # The machine's counters stand still, as those of an offline CPU do.
            if unit == "percentunit" and line.sem != "counter" and \
                    float(line.values[-1]):
                fault(where, "shows the part", line.values[-1], "of a CPU that is offline")
            metric = line.metric.replace(")", "").split(" ")[-1]
            want = expected.get(metric)
            if want and line.sem == "counter" and \
                    str(want.get(line.instance)) != line.values[-1]:
                fault(where, line.metric, line.instance, "is", line.values[-1], "not",
                      want.get(line.instance))
        lines += found
    lines = transform(lines, panel.get("transformations", []), where)
    if not lines:
        fault(where, "shows nothing")
    legends = [line.legend for line in lines]
    for legend in sorted(set(legends)):
        if "$" in legend:
            fault(where, "has a legend with", legend)
        if legends.count(legend) > 1:
            fault(where, "has the legend", legend, legends.count(legend), "times")
    for line in lines:
        print("\t".join((where, line.legend, unit or "", line.values[-1])))


def judge_layout(panels):
    taken = {}
    for panel in panels:
        at = panel["gridPos"]
        if at["x"] < 0 or at["x"] + at["w"] > WIDTH or min(at["w"], at["h"]) < 1:
            fault(panel["title"], "does not fit")
        for cell in ((x, y) for x in range(at["x"], at["x"] + at["w"])
                     for y in range(at["y"], at["y"] + at["h"])):
            if taken.setdefault(cell, panel) is not panel:
                fault(panel["title"], "is over", taken[cell]["title"])
                break
    for key in ("id", "gridPos"):
        each = [json.dumps(panel[key], sort_keys=True) for panel in panels]
        for value in set(each):
            if each.count(value) > 1:
                fault("the", key, value, "is there twice")


def main():
    path, url, spec = sys.argv[1:4]
    host = sys.argv[4]
    with open(path, encoding="utf-8") as file:
        board = json.load(file)
    variables = {each["name"]: each for each in board["templating"]["list"]}
    kinds = {source.kind: source for source in (Valkey, Vector)}
    source = kinds[variables["datasource"]["query"]](url, host)
    if set(variables) != {"datasource", "host"}:
        fault("unknown variables:", *variables)
    judge_layout(board["panels"])
    expected = machine(spec)
    for panel in board["panels"]:
        if panel["type"] == "row":
            continue
        if panel["type"] not in ("stat", "timeseries", "table"):
            fault(panel["title"], "is of the unknown type", panel["type"])
        judge_panel(panel, source, expected)
    print("\n".join("fault: " + each for each in faults), end="\n" if faults else "")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
