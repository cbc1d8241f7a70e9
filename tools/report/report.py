#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Makes reports of what ranks have handed over, and compares them with earlier ones; attrcache-run
starts this."""

import argparse
import json
import os
import sys

import comparing
import documents
import left
import page
import reading
import text
import trace
from words import printable


def say(words):
    print("attrcache-run: " + printable(words), file=sys.stderr, flush=True)


def is_special(path):
    """Whether it is a device or pipe. Another user's, or one to which another user's link leads, isn't
    taken for one: it would be written over, or keep us waiting."""
    if not os.path.exists(path) or os.path.isfile(path):
        return False
    return {os.stat(path).st_uid, os.lstat(path).st_uid} <= {0, os.geteuid()}


def write(path, pieces):
    """Writes a file as a whole or not at all, but for devices and pipes; says whether it could."""
    special = is_special(path)
    new = path if special else f"{path}.{os.getpid()}"
    try:
        with open(new, "w" if special else "x", encoding="utf-8", errors="replace") as file:
            file.writelines(pieces)
        if not special:
            os.replace(new, path)
        return True
    except OSError as error:
        say(f"can't write {path}: {error.strerror}")
        if not special and os.path.exists(new):
            os.unlink(new)
        return False


def of_documents(wanted):
    """The report and the trace of the documents in a folder, and whether these are whole."""
    parts, whole = [], True
    for path in left.files(wanted.from_):
        try:
            data = left.read(path)
            # No debug information is read that another user's document names: it may be any file.
            ours = os.lstat(path).st_uid in (0, os.geteuid())
            parts += [documents.read(data, ours)] if data is not None else []
        except reading.Bad as error:
            whole = False
            say(str(error))
    if not parts:
        say("no report: no rank was served. Was MPI never initialized, or was it killed at once?")
        return None, None, False
    report, events = documents.merged(parts, json.loads(wanted.run))
    if wanted.trace:
        whole &= write(wanted.trace, trace.chrome(report, events))
    return report, events, whole


def of_report(wanted):
    """The same of a report in JSON."""
    report, events = reading.read(wanted.from_), trace.NOTHING
    try:
        if wanted.trace and wanted.page:
            events = trace.read(wanted.trace)
    except reading.Bad as error:
        say(f"the page has no timeline: {error}")
    return report, events, True


def make(wanted):
    """Makes all that is wanted; says whether that succeeded."""
    old = reading.read(wanted.compare) if wanted.compare else None
    report, events, done = (of_documents if os.path.isdir(wanted.from_) else of_report)(wanted)
    if report is None:
        return False
    compared = comparing.text(old, report, printable(wanted.compare)) if old else ""
    for path in wanted.text:
        words = text.text(report, printable(wanted.trace or "")) + compared
        done &= write(path, [words]) if path != "-" else bool(sys.stderr.write(words))
    if not wanted.text:
        sys.stderr.write(compared)
    for path in wanted.json:
        done &= write(path, [json.dumps(report, ensure_ascii=False), "\n"])
    if wanted.page:
        content = page.fitting(report, events, printable(wanted.trace or ""), compared).decode()
        for path in wanted.page:
            done &= write(path, [content])
    return done


def parsed():
    parser = argparse.ArgumentParser(description=__doc__)
    options = {
        "--text": "write the report as text; - is standard error",
        "--json": "write it for tools",
        "--page": "write it for browsers",
        "--trace": "write its timeline, for Perfetto; with a report in JSON: where that was written",
        "--compare": "say what has changed since this report, in pages and texts, or else on stderr",
    }
    for name, what in options.items():
        many = dict(action="append", default=[]) if name in ("--text", "--json", "--page") else {}
        parser.add_argument(name, metavar="FILE", help=what, **many)
    what = "a report as JSON, or a folder of documents that ranks have handed over"
    parser.add_argument("--from", dest="from_", metavar="WHERE", required=True, help=what)
    what = "what is known of the run, as JSON: documents.merged lists the members"
    parser.add_argument("--run", default="{}", help=what)
    return parser.parse_args()


def main():
    try:
        return 0 if make(parsed()) else 1
    except reading.Bad as error:
        say(str(error))
        return 2


if __name__ == "__main__":
    sys.exit(main())
