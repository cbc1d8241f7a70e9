#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Pages of made reports: what they say, and, in a headless browser, that they sort and fit a phone.

usage: page_test.py REPORT MADE    (tools/report/report.py and made.py)
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from page_check import Check, Parsed

MOST_BYTES = 3_000_000
report, made = (os.path.abspath(path) for path in sys.argv[1:3])


def run(*words):
    done = subprocess.run([sys.executable, "-B", *words], stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="attrcache-page.")
        os.chdir(cls.folder.name)
        cls.made("few", 4)

    @classmethod
    def tearDownClass(cls):
        os.chdir("/")
        cls.folder.cleanup()

    @staticmethod
    def made(name, ranks, *more):
        run(made, str(ranks), name + ".ranks", *more)
        files = ["--json", name + ".json", "--trace", name + ".trace"]
        known = json.dumps({"command": "mpirun ./solver", "job": "4711", "exit_code": 3})
        run(report, "--from", name + ".ranks", *files, "--run", known)

    def page_of(self, name, *more, trace="few.trace"):
        """The page of a report, which is checked."""
        files = ["--page", name + ".html", *(["--trace", trace] if trace else [])]
        run(report, "--from", name + ".json", *files, *more)
        check = Check(name + ".html", name + ".json", trace).all(trace or "")
        self.assertEqual(check.failures[:5], [], f"{len(check.failures)} of {check.checks}")
        self.assertLessEqual(os.path.getsize(name + ".html"), MOST_BYTES)
        return check

    def test_few_ranks(self):
        self.page_of("few")

    def test_thousands_of_ranks(self):
        self.made("big", 4000)
        check = self.page_of("big", trace="big.trace")
        # The ranks that made.py has made odd.
        first = check.page.rows("by-rank")[:40]
        for rank in ("1717", "2000"):
            self.assertIn(f"rank {rank}", [row[0][1] for row in first])
        self.assertIn("stand out.", check.page.ids["ranks"].words())

    def test_hostile_names(self):
        """Names that are HTML, scripts and worse are nothing but text."""
        self.made("hostile", 12, "--hostile")
        check = self.page_of("hostile", "--compare", "few.json", trace="hostile.trace")
        self.assertEqual(len(list(check.root.all("script"))), 1)

    def test_changes(self):
        with open("few.json", encoding="utf-8") as file:
            new = json.load(file)
        for part in [new["sum"]] + new["per_rank"]:
            part["keyvals"][0]["sets"] += 3
            part["keyvals"][1]["function"] = "+0x999"
            part["misuse"] = {"null-handle": {"times": 2, "places": {"libnew.so: f+0x2": 2}}}
        with open("changed.json", "w", encoding="utf-8") as file:
            json.dump(new, file)
        page = self.page_of("changed", "--compare", "few.json").page
        lines = [[text for _, text in row] for row in page.rows("changes-by-function")]
        was = new["sum"]["keyvals"][0]["sets"] - 3
        self.assertIn(
            [f"{was:,}", f"{was + 3:,}"], [line[2:4] for line in lines if line[1] == "sets"]
        )
        self.assertTrue(any(line[0].endswith("+0x999 new") for line in lines), lines)
        self.assertTrue(any(line[0].endswith(" gone") for line in lines), lines)
        misuse = [[text for _, text in row] for row in page.rows("changes-misuse")]
        self.assertEqual(misuse, [["null-handle, at libnew.so: f", "0", "2", "new"]])
        same = self.page_of("few", "--compare", "few.json").page
        self.assertIn("No function did anything else", same.ids["changes"].words())

    def test_incomplete(self):
        """One rank of three, without any keyval; and nothing wrong, but not on all ranks."""
        part = dict(seconds=0.5, keyvals=[], attached=[], misuse={}, not_served={"communicator": 1})
        rank = dict(part, rank=0, host="here", pid=4, finalized=False)
        empty = dict(format=1, attrcache="0.1.0", mpi="MPICH", ranks=3, ranks_heard_of=1)
        empty.update(finalized=False, sum=part, per_rank=[rank])
        empty["missing"] = [{"rank": 1, "host": "nodeb"}, {"rank": 2, "host": ""}]
        used = dict(kind="window", library="l", function="f", created=1, freed=1)
        clean = "Nothing is left behind, no callback failed, no misuse on the 1 rank heard of."
        for keyvals, more in (([], "No keyval was made"), ([used], clean)):
            part["keyvals"] = keyvals
            with open("empty.json", "w", encoding="utf-8") as file:
                json.dump(empty, file)
            run(report, "--from", "empty.json", "--page", "empty.html")
            check = Check("empty.html", "empty.json")
            check.sound()
            check.says(
                check.root.words(),
                more,
                "Heard of 1 rank only, of 3. Killed, or ended without MPI_Finalize: 1 on nodeb. "
                "Not served by attrcache, or killed: 2.",
                "MPI_Finalize was not called on 1 rank: 0.",
                "Not counted: communicators, on 1 rank",
                "There is no timeline",
            )
            self.assertEqual(check.failures, [])
            self.assertFalse(
                list(check.root.all("p", "good")), "in green, though ranks are missing"
            )

    def browser(self, page, script, width):
        """What a headless browser makes of a page, after a script of ours."""
        with open(page, encoding="utf-8") as file:
            text = re.sub("<meta http-equiv[^>]*>", "", file.read())
        with open("used.html", "w", encoding="utf-8") as file:
            file.write(text.replace("</body>", f"<script>{script}</script></body>"))
        words = [
            "chromium-headless-shell",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--dump-dom",
        ]
        words += [f"--window-size={width},800", f"--user-data-dir={os.getcwd()}/profile"]
        words.append(f"file://{os.getcwd()}/used.html")
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=240)
        with open("dumped.html", "wb") as file:
            file.write(done.stdout)
        return Parsed("dumped.html")

    def test_in_a_browser(self):
        """Headings sort, both ways, rows with details too; and nothing is wider than a phone."""
        self.page_of("few")
        sort = """
          const click = (id, n) => document.querySelector(`#${id} th:nth-child(${n}) button`).click();
          click("by-function", 4), click("by-library", 1), click("by-library", 1);
          const root = document.documentElement;
          document.title = `${root.scrollWidth} ${innerWidth} ` +
            [...document.querySelectorAll("td *, h4 *, p *")].filter((one) =>
              one.getBoundingClientRect().right > innerWidth).length;
        """
        page = self.browser("few.html", sort, 360)
        sets = [int(row[3][0]) for row in page.rows("by-function")]
        self.assertEqual((sets, len(sets)), (sorted(sets, reverse=True), 7))
        libraries = [row[0][1] for row in page.rows("by-library")]
        self.assertEqual(libraries, sorted(libraries, reverse=True))
        headings = [one.attributes.get("aria-sort") for one in page.ids["by-function"].all("th")]
        self.assertEqual(headings, [None] * 3 + ["descending"] + [None] * 6)
        wide, window, outside = next(page.open[0].all("title")).text().split()
        self.assertEqual((wide, window, outside), ("360", "360", "0"))


unittest.main(argv=sys.argv[:1], verbosity=1)
