#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Opens pages of made reports in a headless browser, compares them with the reports, and uses them.

usage: page_test.py REPORT MADE    (tools/report/report.py and made.py)
"""

import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser as chromium
from page_check import Check

MOST_BYTES = 3_000_000
report, made = (os.path.abspath(path) for path in sys.argv[1:3])
failures = 0


def made_report(name, ranks, *more):
    subprocess.run([sys.executable, "-B", made, str(ranks), name + ".ranks", *more], check=True)
    files = ["--json", name + ".json", "--trace", name + ".trace"]
    subprocess.run([sys.executable, "-B", report, "--from", name + ".ranks", *files], check=True)


def page_of(name, *more, trace=True):
    subprocess.run(
        [
            sys.executable,
            "-B",
            report,
            "--from",
            name + ".json",
            "--page",
            name + ".html",
            *more,
            *(["--trace", name + ".trace"] if trace else []),
        ],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    return os.path.getsize(name + ".html")


def judge(check, name, more=""):
    global failures
    failures += len(check.failures)
    for failure in check.failures[:20]:
        print(f"FAILED: {name}: {failure}")
    print(f"{name}: {check.checks} checks, {len(check.failures)} failed{more}", flush=True)


def examine(browser, name, trace=True, kept_all=True, old=None, works=True):
    browser.said.clear()
    browser.size(1180, 900)
    browser.media("light")
    check = Check(browser, name + ".html", name + ".json", name + ".trace" if trace else None)
    check.opened()
    check.says_right()
    if old:
        check.changes(old)
    if works:
        check.works(kept_all)
    check.quiet()
    return check


def usual(browser):
    made_report("few", 4)
    made_report("others", 4)
    page_of("few")
    judge(examine(browser, "few"), "4 ranks")


def big(browser):
    made_report("big", 4000)
    size = page_of("big")
    check = examine(browser, "big", kept_all=False)
    check.ok(size <= MOST_BYTES, f"the page of 4,000 ranks has {size} bytes")
    # The ranks that made.py has made odd.
    text = browser.ask("document.querySelector('#ranks').textContent")
    for rank in (1717, 2000):
        check.ok(f"rank {rank}" in text, f"rank {rank} is not named")
    overview(browser, check)
    # How long it took is told, but is no reason to fail: this machine may be busy.
    judge(check, "4,000 ranks", f"; {size:,} bytes, drawn after {check.ready} ms")


def overview(browser, check):
    """A click on the overview of many ranks shows the ranks there."""
    x, y = browser.place("#timeline canvas[role=img]")
    browser.click_at(x, y)
    wanted = browser.ask("document.querySelectorAll('#timeline input')[1].value")
    check.ok(
        wanted.count("-") == 1 and int(wanted.split("-")[0]) > 1000,
        f"a click on the overview shows ranks {wanted!r}",
    )
    ranks = {row[3][0] for row in check.cells("#events-table")}
    first, last = map(int, wanted.split("-"))
    check.ok(
        ranks and all(first <= rank <= last for rank in ranks), f"events of ranks {sorted(ranks)}"
    )


def hostile(browser):
    """Names that are HTML, scripts and worse are nothing but text."""
    made_report("hostile", 12, "--hostile")
    page_of("hostile", "--compare", "few.json")
    check = examine(browser, "hostile")
    check.equal(browser.ask("document.title"), "attrcache: 12 ranks of Open MPI", "the title")
    check.equal(
        browser.ask(
            "[document.scripts.length, document.images.length, document.querySelectorAll('main b, main img, main script').length"
            "- document.querySelectorAll('main b.count, .figure b').length]"
        ),
        [3, 0, 0],
        "elements that names have made",
    )
    judge(check, "hostile names")


def compared(browser):
    """Something changed, something new, something gone; nothing changed; other ranks."""
    with open("few.json", encoding="utf-8") as file:
        report = json.load(file)
    for part in [report["sum"]] + report["per_rank"]:
        part["keyvals"][0]["sets"] += 3
        part["keyvals"][0]["callback_own_ns"] *= 7
        part["keyvals"][1]["function"] = "+0x999"
        part["misuse"] = {"null-handle": {"times": 2, "places": {"libnew.so: f+0x2": 2}}}
    with open("changed.json", "w", encoding="utf-8") as file:
        json.dump(report, file)
    os.symlink("few.trace", "changed.trace")
    page_of("changed", "--compare", "few.json")
    judge(examine(browser, "changed", old="few.json"), "compared")
    page_of("few", "--compare", "few.json")
    judge(examine(browser, "few", old="few.json", works=False), "compared with itself")
    page_of("few", "--compare", "big.json")
    judge(examine(browser, "few", old="big.json", works=False), "compared with more ranks")


def empty(browser):
    """No keyval, no event; one rank."""
    part = {
        "seconds": 0.5,
        "keyvals": [],
        "attached": [],
        "misuse": {},
        "not_served": {"communicator": 1, "datatype": 0, "window": 0},
    }
    report = {
        "format": 1,
        "attrcache": "0.1.0",
        "mpi": "MPICH",
        "ranks": 3,
        "ranks_heard_of": 1,
        "finalized": False,
        "sum": part,
        "per_rank": [dict(part, rank=0, host="here", pid=4)],
    }
    with open("empty.json", "w", encoding="utf-8") as file:
        json.dump(report, file)
    page_of("empty", trace=False)
    browser.said.clear()
    check = Check(browser, "empty.html", "empty.json")
    check.opened()
    check.figures()
    check.findings()
    check.timeline()
    text = browser.ask("document.body.textContent").replace("\u00a0", " ")
    for said in (
        "No keyval was made",
        "Heard of 1 rank only",
        "MPI_Finalize was not called",
        "Not counted: communicators, on 1 rank",
    ):
        check.ok(said in text, f"it doesn't say: {said}")
    check.accessible()
    check.forms()
    check.quiet()
    judge(check, "nothing")
    made_report("one", 1)
    page_of("one")
    judge(examine(browser, "one"), "1 rank")


def main():
    if not chromium.program():
        sys.exit(
            "FAILED: there is no headless browser (chromium-headless-shell or chromium); tools/setup installs one"
        )
    with tempfile.TemporaryDirectory(prefix="attrcache-page.") as folder:
        os.chdir(folder)
        with chromium.Browser() as browser:
            for part in (usual, big, hostile, compared, empty):
                part(browser)
        os.chdir("/")
    sys.exit(1 if failures else 0)


main()
