#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Makes reports of what ranks have handed over, and compares them with earlier ones.

usage: report.py WHAT... --from WHERE [--run JSON]

attrcache-run starts this. It makes:

  --text FILE       write the report as text there; - is standard error
  --json FILE       for tools
  --page FILE       for browsers
  --trace FILE      its timeline, for Perfetto
  --compare FILE    say what changed since the report in that file, in pages and texts, or else on
                    standard error

from:

  --from WHERE      a report as JSON (--trace says where its timeline is, then), or a folder of
                    documents that ranks have handed over
  --run JSON        what is known of the run: documents.merged has the members
"""

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


def say(words):
    print(f"attrcache-run: {words}", file=sys.stderr, flush=True)


def write(path, pieces):
    """As a whole or not at all, but for devices and pipes; says whether it could."""
    temporary = (
        path if os.path.exists(path) and not os.path.isfile(path) else f"{path}.{os.getpid()}"
    )
    try:
        with open(
            temporary, "w" if temporary == path else "x", encoding="utf-8", errors="replace"
        ) as file:
            file.writelines(pieces)
        if temporary != path:
            os.replace(temporary, path)
        return True
    except OSError as error:
        say(f"can't write {path}: {error.strerror}")
        try:
            if temporary != path:
                os.unlink(temporary)
        except OSError:
            pass
        return False


def write_all(wanted, report, events, kept, old):
    """Writes all that is wanted; says whether it could. `events` makes the trace for pages, and `kept`
    is the file that has it, or None."""
    compared = ""
    if old:
        compared = comparing.text(comparing.difference(old, report), wanted.compare)
    done = True
    for path in wanted.text:
        words = text.text(report, kept) + compared
        done &= write(path, [words]) if path != "-" else bool(sys.stderr.write(words))
    if compared and not wanted.text:
        sys.stderr.write(compared)
    for path in wanted.json:
        done &= write(path, [documents.as_json(report)])
    if wanted.page:
        content = page.fitting(report, events(), kept, compared).decode()
        for path in wanted.page:
            done &= write(path, [content])
    return done


def from_documents(wanted, found, old):
    """Writes all that is wanted of these documents."""
    parts, whole = [], True
    for data in found:
        try:
            parts.append(documents.read(data))
        except reading.Bad as error:
            whole = False
            say(str(error))
    if not parts:
        say("no report: no rank was served. Was MPI never initialized, or was it killed at once?")
        return False
    report, traces = documents.merged(parts, json.loads(wanted.run))
    if wanted.trace:
        whole &= write(wanted.trace, trace.chrome(report, traces))
    return write_all(wanted, report, lambda: trace.joined(traces), wanted.trace, old) and whole


def from_report(wanted, old):
    def events():
        try:
            return trace.read(wanted.trace) if wanted.trace else trace.NOTHING
        except reading.Bad as error:
            say(f"the page has no timeline: {error}")
            return trace.NOTHING

    return write_all(wanted, reading.read(wanted.from_), events, wanted.trace, old)


def parsed(arguments=None):
    parser = argparse.ArgumentParser(add_help=False)
    for name in ("--text", "--json", "--page"):
        parser.add_argument(name, action="append", default=[])
    for name in ("--trace", "--compare"):
        parser.add_argument(name)
    parser.add_argument("--from", dest="from_", required=True)
    parser.add_argument("--run", default="{}")
    return parser.parse_args(arguments)


def main():
    wanted = parsed()
    try:
        old = reading.read(wanted.compare) if wanted.compare else None
        if os.path.isdir(wanted.from_):
            return 0 if from_documents(wanted, left.documents(wanted.from_), old) else 1
        return 0 if from_report(wanted, old) else 1
    except reading.Bad as error:
        say(str(error))
        return 2


if __name__ == "__main__":
    sys.exit(main())
