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
from html.parser import HTMLParser

USES = ["created", "freed", "sets", "gets", "absent", "deletes", "copies"]
# Which open elements an element ends, and where the search for them stops.
ENDS = {
    **dict.fromkeys(("td", "th"), ({"td", "th"}, "table")),
    "tr": ({"td", "th", "tr"}, "table"),
    **dict.fromkeys(("tbody", "tfoot", "thead"), ({"td", "th", "tr", "tbody", "thead"}, "table")),
    "li": ({"li"}, "ul"),
    **dict.fromkeys(("dt", "dd"), ({"dt", "dd"}, "dl")),
}
VOID = {"meta", "wbr"}


class Element:
    def __init__(self, tag, attributes):
        self.tag, self.attributes, self.inside = tag, dict(attributes), []

    def all(self, tag=None, style=None):
        """The elements within this one, in their order."""
        for one in self.inside:
            if isinstance(one, Element):
                styles = (one.attributes.get("class") or "").split()
                if tag in (None, one.tag) and (style is None or style in styles):
                    yield one
                yield from one.all(tag, style)

    def text(self):
        inside = (one if isinstance(one, str) else one.text() for one in self.inside)
        return "".join(inside).replace("\u00a0", " ")

    def words(self):
        return words(self.text())


class Parsed(HTMLParser):
    """A page as a tree."""

    def __init__(self, path):
        super().__init__()
        self.open = [Element("", {})]
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())
        self.ids = {one.attributes.get("id"): one for one in self.open[0].all()}

    def handle_starttag(self, tag, attrs):
        ends, within = ENDS.get(tag, ((), None))
        while ends and self.open[-1].tag in ends and self.open[-1].tag != within:
            self.open.pop()
        one = Element(tag, attrs)
        self.open[-1].inside.append(one)
        if tag not in VOID:
            self.open.append(one)

    def handle_endtag(self, tag):
        while self.open.pop().tag != tag:
            pass

    def handle_data(self, data):
        self.open[-1].inside.append(data)

    def rows(self, id_):
        """The rows of a table's bodies, without those of details: for each cell its value and text."""
        return [
            [(cell.attributes.get("data-v"), cell.words()) for cell in row.all("td")]
            for body in self.ids[id_].all("tbody")
            for row in body.all("tr")
            if row.attributes.get("class") != "more"
        ]


def words(text):
    """With each run of white space as one space, and no NUL, which HTML can't have."""
    return " ".join(text.replace("\0", "\ufffd").split())


def origin(line):
    if not line["function"]:
        return line["library"] or "(unknown)"
    return line["library"] + ("" if line["function"].startswith("+") else ": ") + line["function"]


def shown(number):
    return f"{number:,}" if number else "–"


class Check:
    def __init__(self, page, report, trace=None):
        self.page = Parsed(page)
        self.root = self.page.open[0]
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

    def total(self, *names):
        return sum(line[name] for line in self.sum["keyvals"] for name in names)

    def says(self, where, *texts):
        """Whether a part of the page has all these texts."""
        for text in map(words, texts):
            self.ok(text in where, f"no {text!r} in {where:.3000}")

    def head(self):
        text = next(self.root.all("header")).words()
        self.says(text, f"{self.report['ranks']:,} rank", self.report["mpi"])
        self.says(text, *(self.report.get(known, "") for known in ("command", "job", "started")))
        self.equal("from MPI_Init to MPI_Finalize (" in text, self.report["finalized"], text)
        for kind, most in self.sum["most_alive"].items():
            self.says(text, f"{most:,} {kind}" if most else "")
        if (self.report.get("exit_code") or 0) > 0:
            self.says(text, f"exit code {self.report['exit_code']}")
        misused = sum(one["times"] for one in self.sum["misuse"].values())
        figures = [self.total(name) for name in ("created", "sets", "gets", "absent", "copies")]
        figures += [self.total("copy_calls", "delete_calls"), self.total("leaked", "attached")]
        figures += [self.total("failed"), misused]
        found = [one.text() for one in next(self.root.all("ul", "figures")).all("b")]
        del found[6]  # a time
        self.equal(found, [f"{value:,}" for value in figures], "the figures")

    def findings(self):
        """Everything that was left behind, failed or misused is there, with its number and names."""
        text = self.page.ids["findings"].words()

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
            opened = [one.words() for one in self.page.ids["by-function"].all("tr", "more")]
            for line, text in zip(self.sum["keyvals"], opened):
                self.says(text, *(line[name] for name in ("library", "function", "made_at")))
                numbers = ("leaked", "attached", "deleted_with_object", "copy_calls", "failed")
                self.says(text, *(f"{line[name]:,}" for name in numbers if line[name]))

    def ranks(self):
        parts = self.report["per_rank"]
        if len(parts) < 2:
            return
        columns = [one.words() for one in self.page.ids["by-rank"].all("th")]
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
        text = self.page.ids["timeline"].words()
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
        self.equal(len(self.page.open), 1, "elements that are never closed")
        tags = {one.tag for one in self.root.all()}
        self.ok(not tags & {"img", "link", "iframe", "object", "svg", "canvas"}, tags)
        policy = next(one for one in self.root.all("meta") if "http-equiv" in one.attributes)
        for tag in ("script", "style"):
            inside = [one.text() for one in self.root.all(tag)]
            hashed = base64.b64encode(hashlib.sha256(inside[0].encode()).digest()).decode()
            self.equal(len(inside), 1, tag)
            self.ok(f"{tag}-src 'sha256-{hashed}'" in policy.attributes["content"], tag)
        ids = [one.attributes["id"] for one in self.root.all() if "id" in one.attributes]
        self.equal(sorted(ids), sorted(set(ids)), "ids given twice")
        for one in self.root.all():
            known = {"class", "id", "href", "lang", "charset", "content", "http-equiv", "name"}
            known |= {"scope", "colspan", "data-v", "aria-label"}
            self.ok(set(one.attributes) <= known, f"attributes {one.attributes}")
            where = one.attributes.get("href", "#")
            self.ok(where.startswith("#") or where == "https://ui.perfetto.dev", where)
            self.ok(not where.startswith("#") or where[1:] in [*ids, ""], f"a dead link {where}")
        for table in self.root.all("table"):
            heads = list(table.all("th"))
            self.ok(all(one.attributes.get("scope") == "col" for one in heads), "scopes")
            for row in self.page.rows(table.attributes["id"]):
                self.equal(len(row), len(heads), f"cells in a row of {table.attributes['id']}")

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
    check.says(next(check.root.all("header")).words(), " ".join(command))
    for failure in check.failures[:20]:
        print("FAILED:", failure)
    print(f"{page}: {check.checks} checks, {len(check.failures)} failed")
    return bool(check.failures)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
