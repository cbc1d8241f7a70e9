# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Whether a page says what the text says, has the numbers of the JSON and the trace, and is sound HTML."""

import base64
import hashlib
from xml.etree import ElementTree

import findings
import reading
import text
import trace


def words(said):
    """With each run of white space as one space."""
    return " ".join(said.split())


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

    def numbers(self, id_):
        """The values in the columns after the first."""
        return [[int(value) for value, _ in row[1:]] for row in self.rows(id_)]


class Checks:
    """For a TestCase that has a page made of NAME.json and NAME.trace."""

    def checked(self, name):
        """The page, NAME.html."""
        page, report = Page(name + ".html"), reading.read(name + ".json")
        self.head(page, report)
        self.findings(page, report)
        self.users(page, report["sum"]["keyvals"])
        self.ranks(page, report["per_rank"])
        self.timeline(page, trace.read(name + ".trace").events, name + ".trace")
        self.sound(page)
        return page

    def says(self, there, *texts):
        """That a part of the page has all these texts."""
        for said in map(words, texts):
            self.assertIn(said, there)

    def head(self, page, report):
        header, headline = words_in(page.root.find("body/header")), text.headline(report)
        self.says(header, headline[1:], report["command"], text.span(report))
        self.says(header, *text.facts(report), *text.notes(report))

    def findings(self, page, report):
        there = words_in(page.ids["findings"])
        for one in [one for some in findings.of(report).values() for one in some]:
            self.says(there, one.what, one.why, *(part.text for part in one.parts))

    def users(self, page, lines):
        self.assertEqual(page.numbers("by-function"), [text.uses(line) for line in lines])
        columns = zip(*page.numbers("by-library"))
        self.assertEqual([sum(column) for column in columns], text.uses(reading.sums(lines)))
        for line, row in zip(lines, page.rows("by-function")):
            self.says(row[0][1], line["library"], line["function"], line["made_at"])
            for value, shown in row[1:-1]:  # the last is a time
                self.assertEqual(shown, f"{int(value):,}" if value != "0" else "–")

    def ranks(self, page, parts):
        columns = [words_in(one) for one in page.ids["by-rank"].iter("th")]
        rows = {row[0][1].split()[1]: row for row in page.rows("by-rank")}
        self.assertEqual(sorted(rows, key=int), [str(part["rank"]) for part in parts])
        for part in parts:
            row = {label: said for label, (_, said) in zip(columns, rows[str(part["rank"])])}
            self.assertEqual((row["host"], row["process"]), (words(part["host"]), str(part["pid"])))
            self.assertEqual(row["gets, found"], f"{reading.sums(part['keyvals'])['gets']:,}")

    def timeline(self, page, events, file):
        failed = sum(event["args"]["code"] != 0 for event in events)
        there = words_in(page.ids["timeline"])
        self.says(there, f"{len(events):,} event", f"{failed:,} of them failed", file, "Perfetto")
        longest = sorted((round(event["dur"] * 1000) for event in events), reverse=True)
        took = sorted((int(row[2][0]) for row in page.rows("events")), reverse=True)
        self.assertEqual(took[:20], longest[:20])

    def sound(self, page):
        """Nothing comes from elsewhere, nothing runs but the page's own script, tables are whole."""
        root = page.root
        tags = {one.tag for one in root.iter()}
        self.assertFalse(tags & {"img", "link", "iframe", "object", "svg", "canvas"})
        policy = next(one for one in root.iter("meta") if one.get("http-equiv")).get("content")
        for tag in ("script", "style"):
            (inside,) = [one.text for one in root.iter(tag)]
            hashed = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
            self.assertIn(f"{tag}-src 'sha256-{hashed}'", policy)
        ids = [one.get("id") for one in root.iter() if one.get("id")]
        self.assertEqual(sorted(ids), sorted(page.ids))
        known = {"class", "id", "href", "lang", "charset", "content", "http-equiv", "name"}
        known |= {"scope", "data-v", "aria-label"}
        for one in root.iter():
            self.assertLessEqual(set(one.keys()), known)
        for where in {one.get("href", "#") for one in root.iter()} - {"#"}:
            self.assertTrue(where == "https://ui.perfetto.dev" or where[:1] == "#" and where[1:] in ids, where)
        for table in root.iter("table"):
            heads = list(table.iter("th"))
            self.assertTrue(all(one.get("scope") == "col" for one in heads))
            for row in page.rows(table.get("id")):
                self.assertEqual(len(row), len(heads), table.get("id"))
