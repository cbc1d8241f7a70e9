# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Where reports go, and what makes pages and comparisons of them (tools/report)."""

import os
import sys

from words import die


def maker(here):
    """The command that makes pages and comparisons, from the report as JSON."""
    for folder in (here + "/report", here + "/../share/attrcache/report"):
        file = os.path.realpath(os.path.join(folder, "report_page.py"))
        if os.path.isfile(file):
            return [sys.executable, "-E", "-s", "-B", file]
    die("there is no report/report_page.py beside %s, which makes pages and comparisons" % here)


def is_page(name):
    return name.endswith(".html")


def from_file(here, wanted):
    if wanted.command:
        die("--from runs nothing, but there is a command: " + " ".join(wanted.command))
    if not all(map(is_page, wanted.report)):
        die("--from makes pages (--report=FILE.html) and comparisons only")
    if not wanted.report and not wanted.compare_:
        die("--from wants --report=FILE.html or --compare OLD.json")
    if wanted.trace_ and not os.path.isfile(wanted.trace_):
        die("--trace=%s: there is no such file" % wanted.trace_)
    command = maker(here) + options(wanted.report, wanted.compare_) + ["--data", wanted.from_]
    if wanted.trace_:
        command += ["--trace", wanted.trace_]
    os.environ["LD_PRELOAD"] = ""
    os.execv(command[0], command)


def options(pages, compare):
    made = []
    for name in pages:
        made += ["--page", name]
    return made + (["--compare", compare] if compare else [])


# What runs the command and makes pages and comparisons of its report; empty if none are wanted.
around_ = []


def tell_ranks(here, wanted):
    """Sets where the ranks write. The data of pages and comparisons are written beside what is made of them, since ranks
    may run elsewhere; the maker takes them away again."""
    pages = [os.path.abspath(name) for name in wanted.report if is_page(name)]
    files = [name for name in wanted.report if not is_page(name)]
    if pages or wanted.compare_:
        beside = pages[0] if pages else os.path.join(os.getcwd(), "attrcache")
        data = "%s/.%s.%d" % (os.path.dirname(beside), os.path.basename(beside), os.getpid())
        around_.extend(maker(here) + options(pages, wanted.compare_) + ["--data", data + ".json"])
        for name in files:
            around_.extend([] if name.endswith(".json") else ["--text", name])
        if pages:
            around_.extend((["--keep-trace"] if wanted.trace_ else []) + ["--trace", wanted.trace_ or data + ".trace"])
            wanted.trace_ = wanted.trace_ or data + ".trace"
        files.append(data + ".json")
    if files:
        os.environ["ATTRCACHE_REPORT"] = ":".join(files)
    if wanted.trace_:
        os.environ["ATTRCACHE_TRACE"] = wanted.trace_


def around(words, preload):
    """The command to run, and what to preload into it."""
    if not around_:
        return words, preload
    return around_ + (["--preload", preload] if preload else []) + ["--run"] + words, None
