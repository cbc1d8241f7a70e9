#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What makes pages, without a browser: bad input, sums and spreads, what commands and signals end as, what is kept.

usage: generator_test.py TOOLS MADE    (tools/report and made.py)
"""

import copy
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
tools, made = (os.path.abspath(path) for path in sys.argv[1:3])
sys.path.insert(0, tools)
import comparing
import page
import reading
import timeline
from spread import spread

PROGRAM = [sys.executable, "-B", os.path.join(tools, "report_page.py")]


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
        subprocess.run([sys.executable, "-B", made, "9", "good.json", "good.trace"], check=True)
        with open("good.json", encoding="utf-8") as file:
            cls.good = json.load(file)

    @classmethod
    def tearDownClass(cls):
        os.chdir("/")
        cls.folder.cleanup()

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
        self.refuses("none.json can't be read: No such file or directory", "--data", "none.json")
        self.refuses("/ can't be read", "--data", "/")
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
                self.refuses(said, "--data", "bad.json")
                self.refuses(said, "--data", "good.json", "--compare", "bad.json")

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
                dataset.made(read, lambda most: None, comparing.difference(read, read), "", 1),
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
                done = run("--data", "good.json", "--trace", "bad.trace", "--page", "out.html")
                self.assertEqual(done.returncode, 0, done.stderr)
                if content != b"x":
                    self.assertIn("the page has no timeline: bad.trace is no trace", done.stderr)
                os.unlink("out.html")

    def test_what_cannot_be_written(self):
        done = run("--data", "good.json", "--page", "/no/such/folder/out.html")
        self.assertEqual(done.returncode, 1)
        self.assertIn(
            "can't write /no/such/folder/out.html: No such file or directory", done.stderr
        )


class Data(Base):
    def test_sums(self):
        report = reading.read("good.json")
        sums = reading.added(report["per_rank"])
        order = lambda lines: sorted(lines, key=lambda line: json.dumps(line, sort_keys=True))
        for name in ("keyvals", "attached", "objects"):
            self.assertEqual(order(sums[name]), order(report["sum"][name]), name)
        self.assertEqual(sums["misuse"], report["sum"]["misuse"])
        self.assertEqual(sums["seconds"], report["sum"]["seconds"])

    def test_reports_of_ranks_by_themselves(self):
        """What ranks wrote without MPI_Finalize is one page."""
        for rank in (0, 3):
            part = self.good["per_rank"][rank]
            one = dict(
                self.good,
                finalized=False,
                ranks_heard_of=1,
                per_rank=[part],
                sum={k: v for k, v in part.items() if k not in ("rank", "host", "pid")},
            )
            self.write(f"alone.rank{rank}.json", json.dumps(one))
        done = run(
            "--data", "alone.json", "--page", "out.html", "--compare", "good.json", "--run", "true"
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("ranks heard of: 9 then, 2 now", done.stderr)
        with open("out.html", encoding="utf-8") as file:
            data = json.loads(file.read().split('id="data">')[1].split("</script>")[0])
        self.assertEqual(
            (data["ranks"], data["ranks_heard_of"], data["finalized"], data["per_rank"]["rank"]),
            (9, 2, False, [0, 3]),
        )
        self.assertEqual([name for name in os.listdir() if name.startswith("alone")], [])

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
        whole = timeline.made(timeline.traced(["good.trace"]), 10**6)
        some = timeline.made(timeline.traced(["good.trace"]), 20)
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
            "--data",
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
            run("--data", "good.json", "--trace", "good.trace", "--page", "out.html")
            with open("out.html", encoding="utf-8") as file:
                pages.append(__import__("re").sub(r'"written":"[^"]*"', "", file.read()))
        self.assertEqual(*pages)

    def test_text_of_changes(self):
        new = copy.deepcopy(self.good)
        new["sum"]["keyvals"][0].update(
            sets=200, callback_own_ns=new["sum"]["keyvals"][0]["callback_own_ns"] + 10**8
        )
        new["sum"]["keyvals"][4]["function"] = "renamed"
        new["sum"]["objects"][0]["count"] += 5
        new["sum"]["misuse"]["stale-keyval"] = {"times": 9, "places": {"libx.so: f+0x1": 7}}
        self.write("new.json", json.dumps(new))
        done = run("--data", "new.json", "--compare", "good.json")
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
        same = run("--data", "good.json", "--compare", "good.json").stderr
        self.assertIn("Nothing changed, but for the time it took.", same)


class Commands(Base):
    COPY = 'cp good.json "$0"; '

    def kept(self):
        return [name for name in os.listdir() if name.startswith(".out")]

    def test_exit_codes(self):
        for command, code in (
            ("exit 0", 0),
            ("exit 7", 7),
            ("kill -SEGV $$", -signal.SIGSEGV),
            ("kill -TERM $$", -signal.SIGTERM),
        ):
            done = run(
                "--data",
                ".out.json",
                "--page",
                "out.html",
                "--run",
                "sh",
                "-c",
                self.COPY + command,
                ".out.json",
            )
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertTrue(os.path.exists("out.html"))
            os.unlink("out.html")
            self.assertEqual(self.kept(), [])
        self.assertEqual(
            run(
                "--data", ".out.json", "--page", "out.html", "--run", "/no/such/program"
            ).returncode,
            127,
        )

    def test_input_output_and_preload(self):
        done = run("--data", ".out.json", "--preload", "", "--run", "cat", input="text")
        self.assertEqual(done.stdout, "text")
        done = run(
            "--data", ".out.json", "--preload", "libc.so.6", "--run", "sh", "-c", "echo $LD_PRELOAD"
        )
        self.assertEqual(done.stdout, "libc.so.6\n")

    def test_no_report(self):
        done = run("--data", ".out.json", "--page", "out.html", "--run", "true")
        self.assertEqual(done.returncode, 0)
        self.assertIn("no rank wrote a report", done.stderr)
        self.assertFalse(os.path.exists("out.html"))

    def test_nothing_is_lost(self):
        """If the page can't be made, its data stay."""
        done = run(
            "--data",
            ".out.json",
            "--page",
            "/no/such/out.html",
            "--run",
            "sh",
            "-c",
            self.COPY + "exit 3",
            ".out.json",
        )
        self.assertEqual(done.returncode, 3)
        self.assertIn("the report's data are kept: .out.json", done.stderr)
        self.assertEqual(reading.read(".out.json")["ranks"], 9)
        os.unlink(".out.json")
        done = run(
            "--data", ".out.json", "--page", "out.html", "--run", "sh", "-c", "echo '{' > .out.json"
        )
        self.assertIn(".out.json is no JSON", done.stderr)
        self.assertEqual(self.kept(), [".out.json"])
        os.unlink(".out.json")
        # What is compared with is looked at before anything runs; later it may even be overwritten.
        done = run(
            "--data",
            ".out.json",
            "--page",
            "out.html",
            "--compare",
            "none.json",
            "--run",
            "touch",
            "ran",
        )
        self.assertEqual(done.returncode, 2)
        self.assertFalse(os.path.exists("ran"))
        self.write("old.json", json.dumps(self.good))
        done = run(
            "--data",
            ".out.json",
            "--compare",
            "old.json",
            "--run",
            "sh",
            "-c",
            self.COPY + "echo x > old.json",
            ".out.json",
        )
        self.assertIn("Nothing changed", done.stderr)

    def test_signals_are_passed_on(self):
        """And the page is made nevertheless."""
        script = self.COPY + 'trap "echo got it; exit 5" TERM; echo ready; while :; do read x; done'
        process = subprocess.Popen(
            [
                *PROGRAM,
                "--data",
                ".out.json",
                "--page",
                "out.html",
                "--run",
                "sh",
                "-c",
                script,
                ".out.json",
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGTERM)
        process.stdin.write("\n")
        process.stdin.close()
        self.assertEqual(process.stdout.read(), "got it\n")
        self.assertEqual(process.wait(), 5)
        self.assertTrue(os.path.exists("out.html"))
        process.stdout.close()
        os.unlink("out.html")


unittest.main(argv=sys.argv[:1], verbosity=1)
