#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What makes reports, without a browser: bad input, sums and spreads, timelines.

usage: generator_test.py TOOLS MADE    (tools/report and made.py)
"""

import copy
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
tools, made = (os.path.abspath(path) for path in sys.argv[1:3])
sys.path.insert(0, tools)
import comparing
import documents
import left
import page
import places
import reading
import timeline
from spread import spread

PROGRAM = [sys.executable, "-B", os.path.join(tools, "report.py")]


def run(*arguments, **more):
    return subprocess.run(
        [*PROGRAM, *arguments], capture_output=True, text=True, timeout=300, **more
    )


class Base(unittest.TestCase):
    maxDiff = 2000

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="attrcache-page.")
        os.chdir(cls.folder.name)
        subprocess.run([sys.executable, "-B", made, "9", "good.ranks"], check=True)
        run("--from", "good.ranks", "--json", "good.json", "--trace", "good.trace")
        with open("good.json", encoding="utf-8") as file:
            cls.good = json.load(file)

    @classmethod
    def tearDownClass(cls):
        os.chdir("/")
        cls.folder.cleanup()

    def document(self, rank, ranks=9, partial=False):
        """What that rank has handed over."""
        with open(f"good.ranks/{rank:05}.json", encoding="utf-8") as file:
            part = json.load(file)
        part.update(ranks=ranks, partial=partial, finalized=not partial)
        events = (
            [[1000, 2500, 7, timeline.WHATS.index("delete_fn"), 0, 2, 9, 16]] if partial else []
        )
        part["trace"] = {
            "dropped": 4 * partial,
            "epoch_ns": 10**18,
            "names": ["f"],
            "events": events,
        }
        return part

    def hand_over(self, folder, ranks=range(9), partial=()):
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        for rank in ranks:
            self.write(
                f"{folder}/host.{rank}.json",
                json.dumps(self.document(rank, partial=rank in partial)),
            )

    def write(self, name, content):
        with open(name, "w" if isinstance(content, str) else "wb") as file:
            file.write(content)

    def refuses(self, said, *arguments):
        done = run(*arguments, "--page", "out.html")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(said, done.stderr)
        self.assertTrue(
            done.stderr.startswith("attrcache-run: ") and done.stderr.count("\n") == 1, done.stderr
        )
        self.assertFalse(os.path.exists("out.html"))


class BadInput(Base):
    def test_files(self):
        self.refuses("none.json can't be read: No such file or directory", "--from", "none.json")
        for content, said in [
            (b"", "is no JSON"),
            (b"{", "is no JSON"),
            (b"\xff\xfe{}", "not in UTF-8"),
            (b"[" * 200_000, "nested too deeply"),
            (b"[]", "is no report"),
            (b"{}", "is no report"),
            (b"3", "is no report"),
            (b"null", "is no report"),
            (b'{"format": 2, "sum": {}}', "is a report of format 2, but"),
            (b'{"format": "1", "sum": {}}', "is a report of format 1, but"),
            (b'{"format": [[]], "sum": {}}', "of format [[]]"),
            (b'{"format": 1, "sum": {}}', "is a damaged report: there is no"),
            (b'{"traceEvents": []}', "is no report"),
        ]:
            with self.subTest(content[:40]):
                self.write("bad.json", content)
                self.refuses(said, "--from", "bad.json")
                self.refuses(said, "--from", "good.json", "--compare", "bad.json")

    def test_any_member_of_a_wrong_type(self):
        """Whatever is wrong with whatever is in a report, it is told in a sentence or is no harm; there is no traceback."""
        random_ = random.Random(3)
        refused = 0
        for _ in range(400):
            report = copy.deepcopy(self.good)
            part, path = report, []
            while isinstance(part, (dict, list)) and len(part):
                key = random_.choice(list(part) if isinstance(part, dict) else range(len(part)))
                path.append((part, key))
                part = part[key]
                if random_.random() < 0.15:
                    break
            parent, key = path[-1]
            if random_.random() < 0.3 and isinstance(parent, dict):
                del parent[key]
            else:
                parent[key] = random_.choice(
                    [
                        None,
                        -1,
                        2**70,
                        1e300,
                        float("nan"),
                        float("inf"),
                        "x",
                        "",
                        [],
                        {},
                        [1],
                        {"a": 1},
                        True,
                        [[]],
                        1.5,
                    ]
                )
            self.write("bad.json", json.dumps(report))
            try:
                read = reading.read("bad.json")
            except reading.Bad as error:
                refused += 1
                self.assertTrue(str(error).startswith("bad.json is "), error)
                continue
            import dataset

            json.dumps(
                dataset.made(read, lambda most: None, comparing.difference(read, read), 1),
                allow_nan=False,
            )
        self.assertGreater(refused, 100)

    def test_traces(self):
        for content in (
            b"x",
            b'{"ph": "X"\n',
            b'{"ph": "X", "name": 3}\n',
            b'{"ph": "X", "name": "set", "pid": 0, "tid": 0, "ts": -1, "dur": 1, "args": {}}\n',
            b'{"ph": "X", "name": "set", "pid": 0, "tid": 0, "ts": 1e999, "dur": 1, "args": {}}\n',
            b'{"ph": "M", "name": "process_name"}\n',
            b"\xff",
        ):
            with self.subTest(content):
                self.write("bad.trace", content)
                done = run("--from", "good.json", "--trace", "bad.trace", "--page", "out.html")
                self.assertEqual(done.returncode, 0, done.stderr)
                if content != b"x":
                    self.assertIn("the page has no timeline: bad.trace is no trace", done.stderr)
                os.unlink("out.html")

    def test_what_cannot_be_written(self):
        done = run("--from", "good.json", "--page", "/no/such/folder/out.html")
        self.assertEqual(done.returncode, 1)
        self.assertIn(
            "can't write /no/such/folder/out.html: No such file or directory", done.stderr
        )


class Data(Base):
    def test_documents(self):
        """JSON, text, page and trace of what ranks have handed over; one of them partial, and some never heard of."""
        self.hand_over("left", ranks=(0, 3, 5), partial=(3,))
        done = run(
            "--from",
            "left",
            "--text",
            "-",
            "--json",
            "out.json",
            "--page",
            "out.html",
            "--trace",
            "out:1.trace",
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in (
            "attrcache: the attributes of 9 ranks of MPICH, from MPI_Init to the end",
            "MPI_Finalize was not called on 1 rank: 3.",
            "Partial, for they were ended from outside or aborted: 1 rank, 3.",
            "Heard of 3 ranks only: others are not served by attrcache, or were killed.",
        ):
            self.assertIn(line.replace("MPICH", self.good["mpi"]), done.stderr)
        report = reading.read("out.json")
        self.assertEqual([part["rank"] for part in report["per_rank"]], [0, 3, 5])
        self.assertEqual([part["partial"] for part in report["per_rank"]], [False, True, False])
        parts = [self.good["per_rank"][rank] for rank in (0, 3, 5)]
        gets = sum(line["gets"] for part in parts for line in part["keyvals"])
        self.assertEqual(sum(line["gets"] for line in report["sum"]["keyvals"]), gets)
        threads, events, dropped = timeline.traced("out:1.trace")
        self.assertEqual(events, [(3, 7, 0, 2500, "delete_fn", "f", 9, 16, "window")])
        self.assertEqual((threads, dropped), ({(3, 7): "thread"}, 4))
        # What is made later of the JSON and the trace is the same.
        self.assertEqual(report, reading.read("out.json"))

    def test_several_worlds(self):
        """Ranks that come again are those of another MPI_COMM_WORLD, and are told apart."""
        self.hand_over("left", ranks=(0, 1))
        for i, name in enumerate(sorted(os.listdir("left"))):
            part = self.document(i % 2, ranks=2)
            self.write(f"left/{name}", json.dumps(part))
            self.write(f"left/spawned.{i}.json", json.dumps(dict(part, pid=part["pid"] + 10**6)))
        found = [documents.read(data) for data in left.documents("left")]
        report, _ = documents.merged(found, "")
        self.assertEqual(
            (report["ranks"], [part["rank"] for part in report["per_rank"]]), (4, [0, 1, 2, 3])
        )

    def test_damaged_documents(self):
        self.hand_over("left", ranks=(0,))
        for content in (
            "",
            "{",
            "[]",
            '{"document": 1}',
            '{"document": 2}',
            '{"document": 1, "trace": {}}',
        ):
            self.write("left/bad.json", content)
            done = run("--from", "left", "--text", "-")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("what a rank has handed over is ", done.stderr)
            self.assertIn("Heard of 1 rank only", done.stderr)

    def test_lines(self):
        self.write("p.c", "int f(void);\nint g(void) {\n  return f() + 1;\n}\n")
        subprocess.run(["gcc", "-g", "-c", "p.c"], check=True)
        self.assertEqual(
            places.lines({"p: g+0x9": [os.path.abspath("p.o"), 4]}), {"p: g+0x9": "p: g (p.c:3)"}
        )
        self.assertEqual(places.lines({"p: g+0x9": ["/no/such/file", 4]}), {})

    def test_spread(self):
        same = spread([5] * 100)
        self.assertEqual(
            (same["least"], same["median"], same["most"], same["outliers"]), (5, 5, 5, [])
        )
        one = spread([5] * 50 + [6] + [5] * 49)
        self.assertEqual(
            (one["most"], one["most_at"], one["outliers"], one["outliers_in_all"]),
            (6, 50, [[50, 6]], 1),
        )
        self.assertEqual(spread([1, 2, 3, 900])["outliers"], [])  # too few to say what is usual
        self.assertEqual(spread(list(range(100)))["outliers"], [])
        self.assertEqual(
            spread([100 + i % 7 for i in range(99)] + [4000])["outliers"], [[99, 4000]]
        )
        self.assertEqual(spread([0] * 50 + [1] * 50)["outliers"], [])  # two halves
        many = spread([7] * 300 + list(range(100, 120)))
        self.assertEqual(
            (many["outliers_in_all"], many["outliers"][0], len(many["outliers"])),
            (20, [319, 119], 8),
        )

    def test_timeline(self):
        whole = timeline.made(timeline.traced("good.trace"), 10**6)
        some = timeline.made(timeline.traced("good.trace"), 20)
        with open("good.trace", encoding="utf-8") as file:
            events = [e for e in json.load(file)["traceEvents"] if e["ph"] == "X"]
        self.assertEqual(
            (whole["events"], len(whole["lane"]), len(some["lane"]), some["events"]),
            (len(events), len(events), 20, len(events)),
        )
        starts, last = [], None
        for lane, start in zip(whole["lane"], whole["start"]):
            starts.append(start + (starts[-1] if lane == last else 0))
            last = lane
        found = sorted(
            (whole["lanes"][lane][0], whole["lanes"][lane][1], start, duration)
            for lane, start, duration in zip(whole["lane"], starts, whole["duration"])
        )
        self.assertEqual(
            found,
            sorted(
                (e["pid"], e["tid"], round(e["ts"] * 1000), round(e["dur"] * 1000)) for e in events
            ),
        )
        # The failed one is kept, then the longest.
        self.assertEqual(len(some["codes"]), 1)
        durations = sorted((round(e["dur"] * 1000) for e in events), reverse=True)
        self.assertEqual(sorted(some["duration"], reverse=True)[:19], durations[:19])
        # Of the overview's cells, none is above its whole, and their sum is the time of outermost
        # events.
        cells = whole["overview"]["cells"]
        outermost = sum(
            round(e["dur"] * 1000)
            for e in events
            if e["name"] in ("dup", "set") or e["args"].get("called_as") == "delete_fn"
        )
        self.assertEqual(whole["overview"]["ranks_each"], 1)
        total = sum(cells[2::3]) * whole["overview"]["bin_ns"] / 1000
        self.assertAlmostEqual(
            total,
            outermost,
            delta=outermost * 0.02 + len(cells) / 3 * whole["overview"]["bin_ns"] / 1000,
        )

    def test_json_within_html(self):
        for text in ("</script>", "<!--", "]]>", "&amp;", "\u2028"):
            made_json = page.as_json({text: text})
            self.assertFalse(set("<>&\u2028") & set(made_json))
            self.assertEqual(json.loads(made_json), {text: text})

    def test_too_much_for_a_page(self):
        """The page keeps its weight, and says what it leaves out."""
        heavy = copy.deepcopy(self.good)
        for part in [heavy["sum"]] + heavy["per_rank"]:
            rank = part.get("rank", 100)
            line = part["keyvals"][0]
            part["keyvals"] = [
                dict(line, function=f"{i}" + "long" * 60, gets=i + rank, sets=7 * i + rank)
                for i in range(4000)
            ]
            part["misuse"] = {
                f"sort{s}": {
                    "times": 1000,
                    "places": {f"libx.so: {i}{'name' * 60}+0x1": 1 for i in range(1000)},
                }
                for s in range(20)
            }
            part["objects"] = [
                {
                    "kind": "window",
                    "object": f"{i}",
                    "from": "use",
                    "place": f"{i}" + "place" * 60,
                    "count": 2,
                }
                for i in range(3000)
            ]
        self.write("heavy.json", json.dumps(heavy))
        old = copy.deepcopy(heavy)
        for line in old["sum"]["keyvals"]:
            line["created"] += 1
        self.write("old.json", json.dumps(old))
        done = run(
            "--from",
            "heavy.json",
            "--trace",
            "good.trace",
            "--page",
            "out.html",
            "--compare",
            "old.json",
        )
        self.assertEqual(done.returncode, 0)
        self.assertLess(os.path.getsize("out.html"), 3_000_001)
        with open("out.html", encoding="utf-8") as file:
            data = json.loads(file.read().split('id="data">')[1].split("</script>")[0])
        self.assertEqual(len(data["keyvals"]) + data["keyvals_more"], 4000)
        self.assertEqual(len(data["changes"]["lines"]) + data["changes"]["lines_more"], 4000)
        self.assertEqual(
            sum(one["count"] for one in data["objects"]["items"]) + data["objects"]["more_sum"],
            6000,
        )
        self.assertEqual(
            data["totals"][reading.NUMBERS.index("gets")], sum(i + 100 for i in range(4000))
        )
        self.assertGreater(data["keyvals_more"], 0)
        for sort in data["misuse"]:
            self.assertEqual(len(sort["places"]["items"]) + sort["places"]["more"], 1000)

    def test_same_page_from_same_data(self):
        """But for the time at which it was written."""
        pages = []
        for _ in range(2):
            run("--from", "good.json", "--trace", "good.trace", "--page", "out.html")
            with open("out.html", encoding="utf-8") as file:
                pages.append(__import__("re").sub(r'"written":"[^"]*"', "", file.read()))
        self.assertEqual(*pages)

    def test_text_of_changes(self):
        new = copy.deepcopy(self.good)
        by_name = {line["function"]: line for line in new["sum"]["keyvals"]}
        counter = by_name["Petsc_Counter_Attr_Delete_Fn"]
        counter.update(sets=200, callback_own_ns=counter["callback_own_ns"] + 10**8)
        by_name["view_deleted"]["function"] = "renamed"
        new["sum"]["objects"][0]["count"] += 5
        new["sum"]["misuse"]["stale-keyval"] = {"times": 9, "places": {"libx.so: f+0x1": 7}}
        self.write("new.json", json.dumps(new))
        done = run("--from", "new.json", "--compare", "good.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [" ".join(line.split()) for line in done.stderr.splitlines()]
        for line in (
            "sets 144 200 +38.9 %",
            "libpetsc_real.so.3.18: Petsc_Counter_Attr_Delete_Fn",
            "objects never freed",
        ):
            self.assertIn(line, lines)
        self.assertIn("stale-keyval, at libx.so: f+0x1 0 7 new", lines)
        self.assertIn("stale-keyval 0 2 new", lines)
        self.assertTrue(
            any(
                line.startswith("new: libio.so: renamed [datatype]: 27 keyvals made; ")
                for line in lines
            ),
            done.stderr,
        )
        self.assertTrue(
            any(line.startswith("gone: libio.so: view_deleted [datatype]: ") for line in lines),
            done.stderr,
        )
        same = run("--from", "good.json", "--compare", "good.json").stderr
        self.assertIn("Nothing changed, but for the time it took.", same)


unittest.main(argv=sys.argv[:1], verbosity=1)
