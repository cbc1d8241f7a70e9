# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compares a page with the JSON and the trace of the same report, and looks whether it is sound HTML.

Nothing here is taken from the code that makes pages: what the page should say is computed anew.

usage: page_check.py PAGE REPORT.json [TRACE [COMMAND...]]
"""

import base64
import collections
import hashlib
import json
import sys
from xml.etree import ElementTree

USES = ["created", "freed", "sets", "gets", "absent", "deletes", "copies"]


def words(text):
    """With each run of white space as one space."""
    return " ".join(text.split())


def words_in(element):
    return words("".join(element.itertext()))


def every(element, tag, style):
    """The elements within one that have a class."""
    return [one for one in element.iter(tag) if style in one.get("class", "").split()]


class Page:
    """A page: it is XML, too."""

    def __init__(self, path):
        self.root = ElementTree.parse(path).getroot()
        self.ids = {one.get("id"): one for one in self.root.iter() if one.get("id")}

    def rows(self, id_):
        """The rows of a table's body: for each cell its value and text."""
        rows = self.ids[id_].find("tbody")
        return [[(cell.get("data-v"), words_in(cell)) for cell in row] for row in rows]


def origin(line):
    if not line["function"]:
        return line["library"] or "(unknown)"
    return line["library"] + ("" if line["function"].startswith("+") else ": ") + line["function"]


def shown(number):
    return f"{number:,}" if number else "–"


class Check:
    def __init__(self, page, report, trace=None):
        self.page = Page(page)
        self.root = self.page.root
        self.failures, self.checks = [], 0
        with open(report, encoding="utf-8") as file:
            self.report = json.load(file)
        self.sum = self.report["sum"]
        self.events = []
        if trace:
            with open(trace, encoding="utf-8") as file:
                events = json.load(file)["traceEvents"]
            self.events = [event for event in events if event["ph"] == "X"]

    def ok(self, condition, what):
        self.checks += 1
        if not condition:
            self.failures.append(what)

    def equal(self, found, expected, what):
        self.ok(found == expected, f"{what}: {found!r:.300}, not {expected!r:.300}")

    def says(self, where, *texts):
        """Whether a part of the page has all these texts."""
        for text in map(words, texts):
            self.ok(text in where, f"no {text!r} in {where:.3000}")

    def head(self):
        text = words_in(self.root.find("body/header"))
        self.says(text, f"{self.report['ranks']:,} rank", self.report["mpi"])
        self.says(text, *(self.report.get(known, "") for known in ("command", "job", "started")))
        self.equal("from MPI_Init to MPI_Finalize (" in text, self.report["finalized"], text)
        for kind, most in self.sum["most_alive"].items():
            self.says(text, f"{most:,} {kind}" if most else "")
        if (self.report.get("exit_code") or 0) > 0:
            self.says(text, f"exit code {self.report['exit_code']}")

    def findings(self):
        """Everything that was left behind, failed or misused is there, with its number and names."""
        text = words_in(self.page.ids["findings"])

        def plural(number, noun):
            return f"{number:,} {noun}{'' if number == 1 else 's'}"

        left = collections.Counter()
        for one in self.sum["attached"]:
            self.says(text, f"on {one['object']}")
            key = origin(one), one["kind"], one["predefined"], one["deleted_by_finalize"]
            left[key] += one["attributes"]
        self.says(text, *(f"{plural(n, 'attribute')} of {key[0]}" for key, n in left.items()))
        for one in self.sum.get("made", ()):
            if one["made"] > one["freed"]:
                alive = f"{one['made'] - one['freed']:,} of {plural(one['made'], one['kind'])}"
                self.says(text, alive, one["place"])
        for line in self.sum["keyvals"]:
            if line["leaked"]:
                self.says(text, f"{plural(line['leaked'], 'keyval')} of {origin(line)}")
                self.says(text, *(f"made at {place}" for place in line.get("leaked_at", ())))
            if line["failed"]:
                calls = plural(line["copy_calls"] + line["delete_calls"], "call")
                self.says(text, f"{line['failed']:,} of {calls} of {origin(line)}")
                self.says(text, f"the last with code {line['last_failure']}")
        for name, one in self.sum["misuse"].items():
            self.says(text, f"{one['times']:,} x {name}", one.get("what", ""), one.get("rule", ""))
            self.says(text, *(f"at {place}" for place in one["places"]))

    def users(self):
        by_function, by_library = [], {}
        for line in self.sum["keyvals"]:
            numbers = [line[name] for name in USES]
            numbers += [line["copy_calls"] + line["delete_calls"], line["callback_own_ns"]]
            by_function.append(numbers)
            library = by_library.setdefault(line["library"], [0] * len(numbers))
            by_library[line["library"]] = [a + b for a, b in zip(library, numbers)]
        for id_, expected in (("by-function", by_function), ("by-library", by_library.values())):
            cells = [row[1:] for row in self.page.rows(id_)] if by_function else []
            found = [[int(value) for value, _ in row] for row in cells]
            self.equal(sorted(found), sorted(expected), id_)
            for row in cells:  # of which the last is a time
                self.equal([text for _, text in row[:-1]], [shown(int(n)) for n, _ in row[:-1]], id_)
        if by_function:
            named = [row[0][1] for row in self.page.rows("by-function")]
            for line, text in zip(self.sum["keyvals"], named):
                self.says(text, *(line[name] for name in ("library", "function", "made_at")))

    def ranks(self):
        parts = self.report["per_rank"]
        if len(parts) < 2:
            return
        columns = [words_in(one) for one in self.page.ids["by-rank"].iter("th")]
        rows = {row[0][1].split()[1]: row for row in self.page.rows("by-rank")}
        self.equal(sorted(rows, key=int), [str(part["rank"]) for part in parts], "ranks")
        for part in parts:
            row = {label: text for label, (_, text) in zip(columns, rows[str(part["rank"])])}
            self.equal([row["host"], row["process"]], [part["host"], str(part["pid"])], "a rank")
            for label, name in (("gets, found", "gets"), ("attributes left", "attached")):
                if label in row:
                    total = sum(line[name] for line in part["keyvals"])
                    self.equal(row[label], shown(total), label)

    def timeline(self, file):
        text = words_in(self.page.ids["timeline"])
        if not self.events:
            self.says(text, "There is no timeline")
            return
        failed = sum(event["args"].get("code", 0) != 0 for event in self.events)
        self.says(text, f"{len(self.events):,} event", file, "Perfetto")
        self.says(text, f"{failed:,} of them failed" if failed else "")
        longest = sorted((round(event["dur"] * 1000) for event in self.events), reverse=True)
        took = sorted((int(row[2][0]) for row in self.page.rows("events")), reverse=True)
        self.equal(took[:20], longest[:20], "the longest events")

    def sound(self):
        """Nothing comes from elsewhere, nothing runs but the page's own script, tables are whole."""
        tags = {one.tag for one in self.root.iter()}
        self.ok(not tags & {"img", "link", "iframe", "object", "svg", "canvas"}, tags)
        policy = next(one for one in self.root.iter("meta") if one.get("http-equiv"))
        for tag in ("script", "style"):
            inside = [one.text for one in self.root.iter(tag)]
            hashed = base64.b64encode(hashlib.sha256(inside[0].encode()).digest()).decode()
            self.equal(len(inside), 1, tag)
            self.ok(f"{tag}-src 'sha256-{hashed}'" in policy.get("content"), tag)
        ids = [one.get("id") for one in self.root.iter() if one.get("id")]
        self.equal(sorted(ids), sorted(set(ids)), "ids given twice")
        known = {"class", "id", "href", "lang", "charset", "content", "http-equiv", "name"}
        known |= {"scope", "data-v", "aria-label"}
        for one in self.root.iter():
            self.ok(set(one.keys()) <= known, f"attributes {one.attrib}")
            where = one.get("href", "#")
            self.ok(where.startswith("#") or where == "https://ui.perfetto.dev", where)
            self.ok(not where.startswith("#") or where[1:] in [*ids, ""], f"a dead link {where}")
        for table in self.root.iter("table"):
            heads = list(table.iter("th"))
            self.ok(all(one.get("scope") == "col" for one in heads), "scopes")
            for row in self.page.rows(table.get("id")):
                self.equal(len(row), len(heads), f"cells in a row of {table.get('id')}")

    def all(self, trace_file=""):
        self.head()
        self.findings()
        self.users()
        self.ranks()
        self.timeline(trace_file)
        self.sound()
        return self


def main(page, report, trace=None, *command):
    check = Check(page, report, trace).all(trace or "")
    check.says(words_in(check.root.find("body/header")), " ".join(command))
    for failure in check.failures[:20]:
        print("FAILED:", failure)
    print(f"{page}: {check.checks} checks, {len(check.failures)} failed")
    return bool(check.failures)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
