#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests what makes reports: bad input, sums and spreads, traces, texts, comparisons; and pages, also in
a headless browser.

usage: report_test.py [TEST...]
"""

import copy
import html
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
here = os.path.dirname(os.path.abspath(__file__))
tools = os.path.join(here, "../../tools/report")
sys.path[:0] = [tools, here]
import comparing
import documents
import findings
import left
import made
import page
import places
import reading
import text
import trace
import words
from page_check import Checks, Page, every, words_in
from ranks import spread
from words import duration

EVIL = (
    '</script><script>document.title="broken"</script><img src=x onerror=\'document.title="broken"\'>'
    "--><!--]]>@@DATA@@${data}&lt;b&gt;\u00e9\U0001f642\x00\x1f\x7f"
    "\x1b]0;owned\x07\nattrcache-run: served \u202e\u2066\x9b2J\r\u2028 \ud800" + "a" * 500
)
PROGRAM = [sys.executable, "-B", os.path.join(tools, "report.py")]


def run(*arguments):
    return subprocess.run([*PROGRAM, *arguments], capture_output=True, text=True, timeout=300)


class Base(unittest.TestCase):
    maxDiff = 2000

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="attrcache-page.")
        os.chdir(cls.folder.name)
        cls.made("good", 9)

    @classmethod
    def tearDownClass(cls):
        os.chdir("/")
        cls.folder.cleanup()

    @staticmethod
    def made(name, ranks):
        made.write(ranks, name + ".ranks", "")
        known = json.dumps({"command": "mpirun ./solver", "job": "4711", "exit_code": 3})
        files = ["--json", name + ".json", "--trace", name + ".trace"]
        run("--from", name + ".ranks", *files, "--run", known)

    def setUp(self):
        self.good = reading.read("good.json")

    def document(self, rank, ranks=9, partial=False):
        """What that rank has handed over."""
        with open(f"good.ranks/{rank:05}.json", encoding="utf-8") as file:
            part = json.load(file)
        part.update(ranks=ranks, partial=partial, finalized=not partial)
        event = [1000, 2500, 7, trace.WHATS.index("delete_fn"), 0, 2, 9, 16]
        part["trace"] = {"dropped": 4 * partial, "epoch_ns": 10**18, "names": ["f"]}
        part["trace"]["events"] = [event] if partial else []
        return part

    def hand_over(self, folder, ranks=range(9), partial=()):
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        for rank in ranks:
            part = self.document(rank, partial=rank in partial)
            self.write(f"{folder}/host.{rank}.json", json.dumps(part))

    def write(self, name, content):
        with open(name, "w" if isinstance(content, str) else "wb") as file:
            file.write(content)

    def refuses(self, said, *arguments):
        done = run(*arguments, "--page", "out.html")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, f"^attrcache-run: .*{re.escape(said)}.*\n$")
        self.assertFalse(os.path.exists("out.html"))


class BadInput(Base):
    def test_files(self):
        self.refuses("none.json can't be read: No such file or directory", "--from", "none.json")
        for content, said in [
            (b"", "is no JSON"),
            (b"{", "is no JSON"),
            (b"\xff\xfe{}", "is no JSON: Expecting value"),
            (b"[" * 200_000, "is no JSON: "),  # the reason differs by Python
            (b"[]", "is no report"),
            (b"null", "is no report"),
            (b'{"format": 2, "sum": {}}', "is a report of format 2, but"),
            (b'{"format": [[]], "sum": {}}', "of format [[]]"),
            (b'{"format": 1, "sum": {}}', "is a damaged report: there is no"),
            (b'{"traceEvents": []}', "is no report"),
        ]:
            with self.subTest(content[:40]):
                self.write("bad.json", content)
                self.refuses(said, "--from", "bad.json")
                self.refuses(said, "--from", "good.json", "--compare", "bad.json")

    def test_any_member_of_a_wrong_type(self):
        """It is either refused in a sentence or does no harm; there is no traceback."""
        random_ = random.Random(3)
        odd = [None, -1, 2**70, 1e300, float("nan"), float("inf"), "x", "", [], {}, [1], {"a": 1}]
        odd += [True, [[]], 1.5]

        def members(part):
            for key in part if isinstance(part, dict) else range(len(part)):
                yield part, key
                if isinstance(part[key], (dict, list)):
                    yield from members(part[key])

        refused = 0
        for _ in range(1000):
            report = copy.deepcopy(self.good)
            del report["per_rank"][1:]
            parent, key = random_.choice([*members(report)])
            parent[key] = random_.choice(odd)
            if random_.random() < 0.3 and isinstance(parent, dict):
                del parent[key]
            self.write("bad.json", json.dumps(report))
            try:
                read = reading.read("bad.json")
            except reading.Bad as error:
                refused += 1
                self.assertTrue(str(error).startswith("bad.json is "), error)
                continue
            page.written(read, trace.NOTHING, None, comparing.text(read, read, ""))
            text.text(read, None)
        self.assertTrue(500 < refused < 980, refused)

    def test_traces(self):
        event = trace.event(0, 0, 1000, 0, "set", "", "window", 1, 0)
        bad = [dict(event, ts=-1), dict(event, name=3), dict(event, dur=float("inf")), {"ph": "X"}]
        bad = [json.dumps({"traceEvents": [one]}) for one in bad]
        for content in [*bad, '{"traceEvents": [{"ph": "M", "name": "process_name"}]}', "{}", b"\xff"]:
            with self.subTest(content):
                self.write("bad.trace", content)
                with self.assertRaisesRegex(reading.Bad, "bad.trace is no (trace|JSON)"):
                    trace.read("bad.trace")
        done = run("--from", "good.json", "--trace", "bad.trace", "--page", "out.html")
        self.assertIn("the page has no timeline: bad.trace is no JSON", done.stderr)
        self.assertEqual(done.returncode, 0)
        os.unlink("out.html")

    def test_damaged_documents(self):
        self.hand_over("left", ranks=(0,))
        for content in ("", "[]", '{"document": 1}', '{"document": 2}'):
            self.write("left/bad.json", content)
            done = run("--from", "left", "--text", "-")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("what a rank has handed over is ", done.stderr)
            self.assertIn("Heard of 1 rank only", done.stderr)

    def test_what_others_have_put_there(self):
        """Links aren't followed, pipes aren't waited for, and what is there besides is reported."""
        self.hand_over("left", ranks=(0,))
        self.write("secret", "{}")
        os.symlink(os.path.abspath("secret"), "left/host.1.json")
        os.mkfifo("left/host.2.json")
        done = run("--from", "left", "--text", "-")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("left/host.1.json can't be read: Too many levels of symbolic links", done.stderr)
        self.assertIn("Heard of 1 rank only", done.stderr)

    def test_a_folder_that_cannot_be_read(self):
        os.makedirs("closed/inner", exist_ok=True)
        user = os.geteuid()
        os.chmod("closed/inner", 0)
        os.chmod(".", 0o755)
        os.seteuid(user or 65534)  # root may read it
        try:
            with self.assertRaisesRegex(reading.Bad, "^closed/inner can't be read: Permission denied$"):
                left.files("closed")
        finally:
            os.seteuid(user)
            os.chmod("closed/inner", 0o755)

    def test_columns(self):
        """Wide letters and combining marks don't break a table."""
        rows = [["n", "1", "e"], ["\u4e2d\u6587", "22", "e"], ["a\u0301\u0301\u0301", "3", "e"]]
        lines = ["n      1  e", "\u4e2d\u6587  22  e", "a\u0301\u0301\u0301      3  e"]
        self.assertEqual(words.aligned(rows), lines)


class Data(Base):
    def test_documents(self):
        """JSON, text, page and trace; one rank is partial, and some are missing."""
        self.hand_over("left", ranks=(0, 3, 5), partial=(3,))
        files = ["--text", "-", "--json", "out.json", "--page", "out.html", "--trace", "out:1.trace"]
        known = {"command": "./p 'a b'", "job": "77", "exit_code": -15, "heard": [[4, 9, "nodeb"]]}
        done = run("--from", "left", *files, "--run", json.dumps(known))
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in (
            f"attrcache: the attributes of 9 ranks of {self.good['mpi']}, from MPI_Init to the end",
            "./p 'a b'",
            "job 77, 2 hosts: node000, nodeb, ended by SIGTERM, attrcache 1.0.0",
            "MPI_Finalize was not called on 1 rank: 3.",
            "Partial, since they were still running, ended from outside, or aborted: 1 rank, 3.",
            "Heard of 3 ranks only, of 9. Killed, or ended without MPI_Finalize: 4 on nodeb. "
            "Not served by attrcache, or killed: 1, 2, 6, 7, 8.",
            "The timeline is in out:1.trace: open it in https://ui.perfetto.dev, or chrome://tracing.",
        ):
            self.assertIn(line, done.stderr)
        report = reading.read("out.json")
        self.assertEqual([part["rank"] for part in report["per_rank"]], [0, 3, 5])
        self.assertEqual([part["partial"] for part in report["per_rank"]], [False, True, False])
        self.assertRegex(report["started"], r"^2023-11-1[45] \d\d:\d\d:\d\d[+-]\d\d:\d\d$")
        self.assertEqual((report["exit_code"], report["job"], report["worlds"]), (-15, "77", [9]))
        parts = [self.good["per_rank"][rank] for rank in (0, 3, 5)]
        gets = sum(line["gets"] for part in parts for line in part["keyvals"])
        self.assertEqual(sum(line["gets"] for line in report["sum"]["keyvals"]), gets)
        read = trace.read("out:1.trace")
        self.assertEqual(read.events, [trace.event(3, 0, 2500, 7, "delete_fn", "f", "window", 9, 16)])
        self.assertEqual(read.dropped, {0: 0, 3: 4, 5: 0})

    def test_several_worlds(self):
        """Ranks that come again are those of another MPI_COMM_WORLD."""
        self.hand_over("left", ranks=())
        for i in range(6):
            part = dict(self.document(i % 2, ranks=2), world="third" if i > 3 else "", pid=i)
            self.write(f"left/host.{i}.json", json.dumps(dict(part, begun=part["begun"] + 10 * i)))
        os.unlink("left/host.5.json")
        report, _ = documents.merged([documents.read(left.read(path)) for path in left.files("left")], {})
        self.assertEqual([part["pid"] for part in report["per_rank"]], [0, 1, 2, 3, 4])
        self.assertEqual([part["rank"] for part in report["per_rank"]], [0, 1, 2, 3, 4])
        self.assertEqual((report["ranks"], report["worlds"]), (6, [2, 2, 2]))
        self.assertEqual(report["missing"], [{"rank": 5, "host": ""}])
        self.assertIn("There were 3 MPI_COMM_WORLDs, of 2, 2, 2 ranks", text.text(report, None))

    def test_lines(self):
        self.write("p.c", "int f(void);\nint g(void) {\n  return f() + 1;\n}\n")
        subprocess.run(["gcc", "-g", "-c", "p.c"], check=True)
        found = places.lines({"p: g+0x9": [os.path.abspath("p.o"), 4]})
        self.assertEqual(found, {"p: g+0x9": "p: g (p.c:3)"})
        self.assertEqual(places.lines({"p: g+0x9": ["/no/such/file", 4]}), {})

    def test_durations(self):
        shown = [duration(n) for n in (0, 7, 1500, 2 * 10**6, 3 * 10**9)]
        self.assertEqual(shown, ["0", "7 ns", "1.5 us", "2.0 ms", "3.00 s"])

    def test_spread(self):
        def of(values):
            return spread("sets", [(value, rank) for rank, value in enumerate(values)])

        steady = [100 + i % 7 for i in range(99)]
        one, many = of([5] * 50 + [6] + [5] * 49), of([7] * 300 + list(range(100, 120)))
        self.assertEqual((one.least, one.median, one.most), ((5, 0), 5, (6, 50)))
        self.assertEqual(one.outliers, [(6, 50)])
        self.assertEqual(of(steady + [4000]).outliers, [(4000, 99)])
        self.assertEqual((len(many.outliers), many.outliers[0]), (20, (119, 319)))
        few, two_halves = [1, 2, 3, 900], [0] * 50 + [1] * 50
        for usual in ([5] * 100, few, list(range(100)), two_halves):
            self.assertEqual(of(usual).outliers, [])

    def test_findings(self):
        """Each place has a line of its own; the words agree with what happened."""
        part = self.good["per_rank"][0]
        line = next(line for line in part["keyvals"] if line["leaked"])
        line.update(leaked=3, leaked_at={"l: f (a.c:1)": 1, "l: g (b.c:2)": 2}, failed=0)
        one = dict(self.good, per_rank=[part], sum=part, checked=True)
        said = text.text(one, None)
        self.assertIn("1 made at l: f (a.c:1)\n", said)
        self.assertIn("2 made at l: g (b.c:2)\n", said)
        self.assertIn("no successful MPI_Comm_free, so delete_fn never ran", said)
        line["failed"] = 1
        part["misuse"] = {"odd": {"times": 1, "places": {}, "what": "what", "rule": ""}}
        said = text.text(one, None)
        self.assertIn("no successful MPI_Comm_free; a callback of it failed, see below", said)
        self.assertIn("Misuse:\n  1 x odd: what", said)
        line.update(failed=0, has_delete_fn=False)
        one["checked"] = False
        said = text.text(one, None)
        self.assertNotIn("delete_fn never ran", said)
        self.assertIn("Misuse (ATTRCACHE_CHECK=1 finds more):", said)

    def test_what_finalize_may_still_do(self):
        """Where delete callbacks come after a rank has handed over, no object is said to be never freed."""
        part = self.good["per_rank"][0]
        line = next(line for line in part["keyvals"] if line["leaked"])
        line.update(failed=0)
        names = {name: line[name] for name in ("kind", "library", "function")}
        part["made"] = [dict(kind="communicator", place="l: f (a.c:1)", made=3, freed=1)]
        part["attached"] = [
            dict(names, object=object_, attributes=1, predefined=last, deleted_by_finalize=last)
            for object_, last in (("inner", False), ("MPI_COMM_WORLD", True))
        ]
        one = dict(self.good, per_rank=[part], sum=part)
        said = text.text(one, None)
        self.assertIn("on inner: no successful MPI_Comm_free so far, and MPI_Finalize has callbacks yet to run\n", said)
        self.assertIn("made at l: f (a.c:1): no MPI_Comm_free so far, and MPI_Finalize", said)
        del part["attached"][1]
        said = text.text(one, None)
        self.assertIn("on inner: no successful MPI_Comm_free, so delete_fn never ran\n", said)
        self.assertIn("made at l: f (a.c:1): no MPI_Comm_free\n", said)

    def test_markers(self):
        """Findings in the trace: each failed callback where it ended, the others where its rank did."""
        with open("good.trace", encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        ends = [(e["pid"], e["ts"] + e["dur"], e) for e in events if e["ph"] == "X"]
        markers = [event for event in events if event["ph"] == "i"]
        at = [(m["pid"], m["tid"], round(m["ts"], 2)) for m in markers if m["s"] == "t"]
        failed = [(rank, e["tid"], round(end, 2)) for rank, end, e in ends if e["args"].get("code")]
        self.assertEqual((at, len(at)), (failed, 1))
        for part in self.good["per_rank"]:
            mine = [m for m in markers if m["pid"] == part["rank"] and m["s"] == "p"]
            found = findings.of_rank(self.good, part).items()
            names = [f"{sort}: {one.what}" for sort, some in found for one in some]
            self.assertEqual([m["name"] for m in mine], names)
            last = max(end for rank, end, _ in ends if rank == part["rank"])
            self.assertTrue(all(m["ts"] + 0.001 >= last for m in mine))
            self.assertTrue(any(m["args"].get("where") for m in mine))

    def test_too_much_for_a_page(self):
        """The page keeps its weight, and says what it leaves out."""
        heavy = copy.deepcopy(self.good)
        names = [f"{i}" + "long" * 60 for i in range(4000)]
        places_ = dict.fromkeys(names[:1000], 1)
        for part in [heavy["sum"]] + heavy["per_rank"]:
            line = part["keyvals"][0]
            part["keyvals"] = [dict(line, function=name) for name in names]
            odd = dict(times=1000, places=places_, what="", rule="")
            part["misuse"] = {f"sort{n}": odd for n in range(20)}
        changes = comparing.text(self.good, heavy, "old")
        content = page.fitting(heavy, trace.NOTHING, None, changes)
        self.assertLessEqual(len(content), page.MOST_BYTES)
        kept = content.count(b'class="lib"')
        self.assertGreater(kept, 0)
        self.assertIn(f"{4000 - kept:,} lines more are in the JSON report.".encode(), content)

    def changes(self, new):
        """The lines of a comparison, with single spaces."""
        said = comparing.text(self.good, new, "good.json")
        return [" ".join(line.split()) for line in said.splitlines()]

    def test_comparison(self):
        new = copy.deepcopy(self.good)
        by_name = {line["function"]: line for line in new["sum"]["keyvals"]}
        counter = by_name["Petsc_Counter_Attr_Delete_Fn"]
        counter.update(sets=200, callback_own_ns=counter["callback_own_ns"] + 10**8)
        by_name["view_deleted"]["function"] = "renamed"
        new["sum"]["made"][0]["made"] += 5
        new["sum"]["misuse"]["stale-keyval"].update(times=9, places={"libx.so: f+0x1": 7})
        lines = self.changes(new)
        for line in (
            "sets 144 200 +38.9 %",
            "libpetsc_real.so.3.18: Petsc_Counter_Attr_Delete_Fn",
            "libio.so: renamed [datatype] (new)",
            "keyvals made 0 27 new",
            "libio.so: view_deleted [datatype] (gone)",
            "keyvals made 27 0 gone",
            "objects never freed",
            "stale-keyval, at libx.so: f 0 7 new",
            "stale-keyval 0 2 new",
        ):
            self.assertIn(line, lines)

    def test_comparison_when_the_program_has_another_name(self):
        new = json.loads(json.dumps(self.good).replace("libsolver.so", "libsolver2.so"))
        lines = self.changes(new)
        self.assertIn("libsolver.so then is libsolver2.so now: it has the same functions.", lines)
        self.assertIn("Nothing changed, but for the time it took.", lines)

    def test_comparison_when_lines_move(self):
        """A comment on top moves all lines, and changes nothing; what changes has its function's name."""
        new = copy.deepcopy(self.good)

        def give(report, up, second):
            there = {f"l: f (a.c:{10 + up})": 3, f"l: f (a.c:{20 + up})": second, f"l: g+0x{up:x}": 1}
            report["sum"]["misuse"] = {
                "odd": dict(times=4 + second, places=there, what="", rule="")
            }
            for one in report["sum"]["made"]:
                one["place"] = f"l: f (a.c:{5 + up})"

        give(self.good, 0, 1)
        give(new, 7, 1)
        self.assertIn("Nothing changed, but for the time it took.", self.changes(new))
        changed = ["misuse", "odd, at l: f 4 7 +75.0 %"]
        give(new, 7, 4)
        self.assertEqual(self.changes(new)[4:-1], changed)
        give(new, 0, 4)
        self.assertEqual(self.changes(new)[4:-1], [*changed, "odd, at l: f, line a.c:20 1 4 x 4.0"])


class Pages(Base, Checks):
    def page_of(self, name, *more):
        """The page of a report, which is checked."""
        done = run("--from", name + ".json", "--trace", name + ".trace", "--page", name + ".html", *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLessEqual(os.path.getsize(name + ".html"), page.MOST_BYTES)
        return self.checked(name)

    def test_thousands_of_ranks(self):
        self.made("big", 4000)
        made_page = self.page_of("big")
        # The ranks that made.py has made odd.
        first = [row[0][1] for row in made_page.rows("by-rank")[:40]]
        self.assertLessEqual({"rank 1717", "rank 2000"}, set(first))
        self.assertRegex(words_in(made_page.ids["ranks"]), r"\d+ ranks stand out: \d+, \d+, ")

    def test_hostile_names(self):
        """Names that are HTML or scripts, or control a terminal, are only text on one line, wherever shown."""
        made.write(12, "evil.ranks", EVIL)
        self.write("evil.ranks/bad.json", "{")
        known = {"command": EVIL, "job": EVIL, "exit_code": 0, "heard": []}
        names = ["evil.txt", "evil.json", "evil.trace", "made.html"]
        options = ["--text", "--json", "--trace", "--page"]
        files = [word for one in zip(options, names) for word in one] + ["--compare", "good.json"]
        done = run("--from", "evil.ranks", "--text", "-", *files, "--run", json.dumps(known))
        shown = {"stderr": done.stderr}
        for name in names:
            with open(name, encoding="utf-8") as file:
                shown[name] = file.read()
        for name, content in shown.items():
            self.assertIn("owned", content)
            odd = {one for one in content if not one.isprintable()} - {"\n"}
            self.assertEqual(odd, set(), name)
            self.assertNotIn("\nattrcache-run: served", content, name)
        for name in ("evil.json", "evil.trace"):
            values = [json.loads(shown[name])]
            for value in values:  # grows
                if isinstance(value, (dict, list)):
                    values += [*value, *(value.values() if isinstance(value, dict) else ())]
                self.assertTrue(not isinstance(value, str) or value.isprintable(), value)
        self.assertIn("\\x1b]0;owned\\x07\\nattrcache-run: served \\u202e", shown["evil.txt"])
        made_page = self.page_of("evil", "--compare", "good.json")
        self.assertEqual(len(list(made_page.root.iter("script"))), 1)
        self.assertIn("all together gets, found", words_in(made_page.ids["changes"]))

    def test_nothing_wrong(self):
        """The page says that nothing is wrong, in green only if no rank is missing."""
        part = self.good["per_rank"][0]
        part.update(keyvals=[dict(part["keyvals"][1], failed=0)], attached=[], made=[], misuse={})
        report = dict(self.good, ranks_heard_of=1, sum=part, per_rank=[part])
        for ranks, style in ((1, "good"), (3, "warning")):
            self.write("clean.json", json.dumps(dict(report, ranks=ranks)))
            self.assertEqual(run("--from", "clean.json", "--page", "clean.html").returncode, 0)
            made_page = Page("clean.html")
            self.sound(made_page)
            said = words_in(every(made_page.ids["findings"], "p", style)[0])
            self.assertIn("Nothing is left behind, no callback failed, no misuse", said)
        # What a rank that was killed has left behind isn't known.
        part.update(partial=True, finalized=False)
        report.update(ranks=1, finalized=False)
        self.write("clean.json", json.dumps(report))
        done = run("--from", "clean.json", "--page", "clean.html", "--text", "-", "--compare", "good.json")
        said = words_in(every(Page("clean.html").root, "p", "warning")[0])
        self.assertEqual(said, "No callback failed, no misuse.")
        self.assertNotIn("Nothing is left behind", done.stderr)
        self.assertIn("What they have left behind isn't known for certain.", done.stderr)
        self.assertIn("What partial ranks have left behind isn't known, and may differ.", done.stderr)

    def in_browser(self, path, script):
        """What a script of ours yields on a page in a headless browser, on a telephone's screen."""
        with open(path, encoding="utf-8") as file:
            text = re.sub("<meta http-equiv[^>]*>", "", file.read())
        script = f"<script>document.title = JSON.stringify({script})</script>"
        self.write("used.html", text.replace("</body>", script + "</body>"))
        words = ["chromium-headless-shell", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--dump-dom"]
        words += ["--window-size=360,800", f"--user-data-dir={os.getcwd()}/profile"]
        words.append(f"file://{os.getcwd()}/used.html")
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=240)
        return json.loads(html.unescape(re.search("<title>(.*?)</title>", done.stdout.decode()).group(1)))

    def test_in_a_browser(self):
        """Headings sort, both ways; and nothing but tables is wider than a phone."""
        self.page_of("good")
        self.test_hostile_names()
        self.page_of("evil")
        script = """(() => {
          const click = (id, n) => document.querySelector(`#${id} th:nth-child(${n}) button`).click();
          click("by-function", 4), click("by-library", 1), click("by-library", 1);
          const root = document.documentElement;
          const all = (path) => [...document.querySelectorAll(path)];
          for (const one of all("details")) one.open = true;
          return {
            sets: all("#by-function tbody td:nth-child(4)").map((cell) => +cell.dataset.v),
            libraries: all("#by-library tbody td:first-child").map((cell) => cell.textContent),
            sorted: all("#by-function th").map((heading) => heading.ariaSort),
            widths: [root.scrollWidth, innerWidth],
            outside: all("main *, header *, footer *").filter((one) =>
              !one.closest(".table, .long") &&
              (one.getBoundingClientRect().right > innerWidth || one.clientWidth < one.scrollWidth)).length,
          };
        })()"""
        for name in ("good.html", "evil.html"):
            found = self.in_browser(name, script)
            self.assertEqual((found["widths"], found["outside"]), ([360, 360], 0))
            self.assertEqual(found["sets"], sorted(found["sets"], reverse=True))
            self.assertEqual(found["sorted"], [None] * 3 + ["descending"] + [None] * 6)
            if name == "good.html":
                self.assertEqual(len(found["sets"]), 7)
                self.assertEqual(found["libraries"], sorted(found["libraries"], reverse=True))


unittest.main(verbosity=1)
