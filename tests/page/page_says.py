# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compares a page, as a browser shows it, with the JSON and the trace that it was made from.

Nothing here is taken from the code that makes pages: what the page should say is computed anew.
"""

import json
import re

NUMBERS = [
    "created",
    "freed",
    "leaked",
    "sets",
    "gets",
    "absent",
    "deletes",
    "copies",
    "deleted_with_object",
    "attached",
    "copy_calls",
    "delete_calls",
    "failed",
    "callback_ns",
    "callback_own_ns",
]
SIZES = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}


def origin(line):
    if not line["function"]:
        return line["library"] or "(unknown)"
    return line["library"] + ("" if line["function"].startswith("+") else ": ") + line["function"]


def number(text):
    """What a text in the page means, and how far off it may be: times are shown to three digits."""
    text = text.replace("\u00a0", " ").strip()
    if text in ("–", ""):
        return 0, 0
    match = re.fullmatch(r"([\d,.]+) (ns|µs|ms|s)", text)
    if match:
        value = float(match.group(1).replace(",", "")) * SIZES[match.group(2)]
        return value, max(0.51, 0.0051 * value)
    return int(text.replace(",", "")), 0


class Says:
    def __init__(self, browser, page, report, trace=None):
        self.browser, self.page = browser, page
        self.failures, self.checks = [], 0
        with open(report, encoding="utf-8") as file:
            self.report = json.load(file)
        self.sum = self.report["sum"]
        self.per_rank = self.report["per_rank"]
        self.events = []
        if trace:
            with open(trace, encoding="utf-8") as file:
                self.events = [e for e in json.load(file)["traceEvents"] if e["ph"] == "X"]

    def ok(self, condition, what):
        self.checks += 1
        if not condition:
            self.failures.append(what)

    def equal(self, found, expected, what):
        self.ok(found == expected, f"{what}: {found!r:.200}, not {expected!r:.200}")

    def shows(self, text, expected, what):
        value, off = number(text)
        self.ok(abs(value - expected) <= off, f"{what}: it says {text!r}, which is not {expected}")

    def ask(self, expression):
        return self.browser.ask(expression)

    def cells(self, table):
        """The rows of a table's body: for each cell its value, if it has one, and its text."""
        return self.ask(
            "[...document.querySelectorAll(%s)].filter(r => !r.hidden && !r.classList.contains('more')).map(r => [...r.cells].map(c =>"
            "[c.dataset.value === undefined ? null : Number(c.dataset.value), c.textContent]))"
            % json.dumps(table + " > tbody > tr")
        )

    def opened(self):
        self.ready = self.browser.open(self.page)
        self.browser.settle()
        self.ok(self.ready >= 0, "the page was not drawn to its end")

    def all_rows(self, table):
        """Presses "Show all" below a table, where it is."""
        self.ask(
            "(b => { if (b && !b.hidden) b.click(); })(document.querySelector(%s).closest('.table').querySelector(':scope > button'))"
            % json.dumps(table)
        )
        self.browser.settle()

    def total(self, name):
        return sum(line[name] for line in self.sum["keyvals"])

    def figures(self):
        expected = {
            name: self.total(name)
            for name in ("created", "sets", "gets", "absent", "copies", "callback_own_ns", "failed")
        }
        expected["callbacks"] = self.total("copy_calls") + self.total("delete_calls")
        expected["left"] = self.total("leaked") + self.total("attached")
        expected["misuse"] = sum(one["times"] for one in self.sum["misuse"].values())
        found = self.ask(
            "[...document.querySelectorAll('.figure')].map(f => [f.dataset.name, Number(f.dataset.value), f.querySelector('b').textContent])"
        )
        self.equal(sorted(name for name, _, _ in found), sorted(expected), "figures")
        for name, value, text in found:
            self.equal(value, expected[name], "figure " + name)
            self.shows(text, expected[name], "figure " + name)
        title = self.ask("document.getElementById('title').textContent").replace("\u00a0", " ")
        self.ok(
            f"{self.report['ranks']:,} rank" in title and self.report["mpi"] in title,
            f"the title is {title!r}",
        )
        facts = self.ask("document.getElementById('facts').textContent")
        self.ok(
            ("MPI_Init to MPI_Finalize: " in facts) == self.report["finalized"],
            f"the facts are {facts!r}",
        )
        self.shows(
            re.search(r": (.*?) ·", facts).group(1),
            self.sum["seconds"] * 1e9,
            "the time from MPI_Init on",
        )

    COLUMNS = [
        "created",
        "freed",
        "sets",
        "gets",
        "absent",
        "deletes",
        "copies",
        "callbacks",
        "callback_own_ns",
    ]

    def users(self):
        self.all_rows("#users-table")
        rows = self.cells("#users-table")
        self.equal(len(rows), len(self.sum["keyvals"]), "lines of keyvals")
        expected = {}
        for line in self.sum["keyvals"]:
            values = dict(line, callbacks=line["copy_calls"] + line["delete_calls"])
            place = not line["function"] or line["function"].startswith("+")
            text = origin(line) if place else line["function"] + line["library"]
            text += "made there" if line["named_by"] == "caller" else ""
            text += "" if line["kind"] == "communicator" else line["kind"]
            expected.setdefault(text, []).append([values[name] for name in self.COLUMNS])
        for name, *cells in rows:
            numbers = [value for value, _ in cells]
            self.ok(
                numbers in expected.get(name[1], []),
                f"keyvals of {name[1]!r:.100}: {numbers}, not {expected.get(name[1])}",
            )
            for value, text in cells:
                self.shows(text, value, name[1])
        foot = self.ask(
            "[...document.querySelectorAll('#users-table tfoot td')].map(c => [Number(c.dataset.value), c.textContent])"
        )
        for name, (value, text) in zip(self.COLUMNS, foot):
            right = (
                self.total("copy_calls") + self.total("delete_calls")
                if name == "callbacks"
                else self.total(name)
            )
            self.equal(value, right, "all " + name)
            self.shows(text, right, "all " + name)

    def details(self):
        """Each row, opened, has each number."""
        found = self.ask(
            "[...document.querySelectorAll('#users-table > tbody > tr:not(.more)')].map(r => { const b = r.querySelector('.expander');"
            "b.click(); const more = r.nextElementSibling; const made = [[...more.querySelectorAll('dd')].map(d => d.textContent),"
            "[...more.querySelectorAll('td[data-name]')].map(c => [c.dataset.name, Number(c.dataset.value)])];"
            "b.click(); return made; })"
        )
        expected = sorted(
            [
                line["library"] or "unknown",
                line["function"] or "unknown",
                [line[n] for n in NUMBERS],
            ]
            for line in self.sum["keyvals"]
        )
        self.equal(
            sorted(
                [texts[0], texts[1], [value for _, value in numbers]] for texts, numbers in found
            ),
            expected,
            "opened rows",
        )
        self.ok(
            all([n for n, _ in numbers] == NUMBERS for _, numbers in found),
            "names of numbers in opened rows",
        )

    def findings(self):
        text = self.ask("document.querySelector('#findings').innerText").replace("\u00a0", " ")
        values = self.ask(
            "[...document.querySelectorAll('#findings b.count')].map(b => Number(b.dataset.value))"
        )
        expected = [line["leaked"] for line in self.sum["keyvals"] if line["leaked"]]
        expected += [line["failed"] for line in self.sum["keyvals"] if line["failed"]]
        expected += [one["times"] for one in self.sum["misuse"].values()]
        left = {}
        for one in self.sum["attached"]:
            fate = 2 if one["deleted_by_finalize"] else 1 if one["predefined"] else 0
            key = (one["kind"], one["library"], one["function"], fate)
            left[key] = left.get(key, 0) + one["attributes"]
        expected += left.values()
        self.equal(sorted(values), sorted(expected), "what is wrong")
        if not expected and not self.sum.get("objects"):
            self.ok("Nothing is left behind" in text, "it doesn't say that nothing is left behind")
        for name, one in self.sum["misuse"].items():
            self.ok(f"{one['times']:,} × {name}" in text, f"misuse {name}")
        if self.sum.get("objects"):
            self.all_rows("#objects-table")
            rows = self.cells("#objects-table")
            prefix = {"dup": "dup at ", "use": "used at "}
            expected = {}
            for o in self.sum["objects"]:
                place = (prefix[o["from"]] + o["place"] if o["place"] else "unknown", o["kind"])
                expected[place] = expected.get(place, 0) + o["count"]
            self.equal(
                sorted([row[0][1], row[1][1], row[3][0]] for row in rows),
                sorted([*place, n] for place, n in expected.items()),
                "objects never freed",
            )
            for o in self.sum["objects"][:5]:
                self.ok(
                    any(o["object"] in row[2][1] for row in rows), f"no object {o['object']!r:.80}"
                )

    def of_rank(self, part, name):
        if name == "misuse":
            return sum(one["times"] for one in part["misuse"].values())
        if name == "objects":
            return sum(one["count"] for one in part.get("objects", []))
        if name == "seconds":
            return part["seconds"]
        return sum(line[name] for line in part["keyvals"])

    def ranks(self):
        if len(self.per_rank) < 2:
            return
        spread = self.ask(
            "[...document.querySelectorAll('#spread-table tbody tr')].map(r => [r.dataset.name, [...r.cells].slice(1).map(c =>"
            "[Number(c.dataset.value), c.textContent])])"
        )
        differ = [
            name
            for name in NUMBERS + ["misuse", "objects", "seconds"]
            if name not in ("freed", "deleted_with_object", "callback_ns")
            and len({self.of_rank(part, name) for part in self.per_rank}) > 1
        ]
        self.equal(
            sorted(name for name, _ in spread),
            sorted(differ) if len(self.per_rank) > 8 else [],
            "numbers that differ between ranks",
        )
        for name, cells in spread:
            values = sorted(self.of_rank(part, name) for part in self.per_rank)
            n = len(values)
            right = [
                values[0],
                values[(n - 1) // 4],
                values[(n - 1) // 2],
                values[n - 1 - (n - 1) // 4],
                values[-1],
            ]
            self.equal([value for value, _ in cells[:5]], right, "over the ranks: " + name)
            for i in (0, 4):
                at = int(re.search(r"\(rank (\d+)\)", cells[i][1]).group(1))
                one = next(part for part in self.per_rank if part["rank"] == at)
                self.equal(self.of_rank(one, name), right[i], f"rank {at}: {name}")
        heads = self.ask(
            "[...document.querySelectorAll('#ranks-table thead th')].map(h => h.dataset.key)"
        )
        rows = self.cells("#ranks-table")
        by_rank = {part["rank"]: part for part in self.per_rank}
        self.ok(rows, "no rows of ranks")
        for row in rows:
            part = by_rank[row[0][0]]
            for head, (value, text) in zip(heads[1:], row[1:]):
                if head in NUMBERS:
                    self.equal(value, self.of_rank(part, head), f"rank {part['rank']}: {head}")
                    self.shows(text, value, f"rank {part['rank']}: {head}")
                elif head == "host":
                    self.equal(text, part["host"], f"rank {part['rank']}: host")
                elif head == "pid":
                    self.equal(value, part["pid"], f"rank {part['rank']}: pid")

    def timeline(self):
        text = self.ask("document.querySelector('#timeline').textContent").replace("\u00a0", " ")
        if not self.events:
            self.ok("There is no timeline" in text, "a timeline of nothing")
            return
        self.ok(
            f"{len(self.events):,} event" in text, f"it doesn't say {len(self.events):,} events"
        )
        rows = self.cells("#events-table")
        longest = sorted((round(e["dur"] * 1000) for e in self.events), reverse=True)[: len(rows)]
        self.equal([row[1][0] for row in rows], longest, "the longest events")
        for row in rows:
            self.ok(
                any(
                    round(e["ts"] * 1000) == row[0][0]
                    and round(e["dur"] * 1000) == row[1][0]
                    and e["pid"] == row[3][0]
                    for e in self.events
                ),
                f"no such event: {row}",
            )

    def changes(self, old_path):
        with open(old_path, encoding="utf-8") as file:
            old = json.load(file)
        rows = {
            name: values
            for name, *values in self.ask(
                "[...document.querySelectorAll('#changes-totals tbody tr')].map(r => [r.dataset.name, Number(r.cells[1].dataset.value), Number(r.cells[2].dataset.value)])"
            )
        }
        for name, values in rows.items():
            right = [
                r["sum"]["seconds"]
                if name == "seconds"
                else sum(line[name] for line in r["sum"]["keyvals"])
                for r in (old, self.report)
            ]
            self.equal(values, right, "compared: " + name)
        self.ok(len(rows) >= 10, "too little is compared")
        key = lambda line: (line["kind"], line["library"], line["function"], line["named_by"])
        was, now = ({key(line): line for line in r["sum"]["keyvals"]} for r in (old, self.report))
        if old["ranks_heard_of"] != self.report["ranks_heard_of"]:
            return
        expected = 0
        names = [name for name in rows if name != "seconds"]
        changed = False
        for one in set(was) | set(now):
            here, there = was.get(one, {}), now.get(one, {})
            differ = [n for n in names if here.get(n, 0) != there.get(n, 0)]
            changed |= any(not n.endswith("_ns") for n in differ)
            expected += len(differ) or (0 if one in was and one in now else 1)
        if self.ask("!!document.querySelector('#changes-table')"):
            self.all_rows("#changes-table")
            self.equal(len(self.cells("#changes-table")), expected, "lines of changes")
        else:
            self.ok(not changed, "no changes by function")

    def says_right(self):
        self.figures()
        self.findings()
        self.users()
        self.details()
        self.ranks()
        self.timeline()
