#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Makes reports of what ranks have handed over, and compares them with earlier ones.

usage: report.py WHAT... --from WHERE [--word=WORD]...

attrcache-run starts this. What is to be made:

  --text FILE       write the report as text there; - is standard error
  --json FILE       for tools
  --page FILE       for browsers
  --trace FILE      its timeline
  --compare FILE    say what changed since the report in that file, in pages and texts, or else on
                    standard error

and of what:

  --from WHERE      a report as JSON (--trace says where its timeline is, then), or a folder of
                    documents that ranks have handed over
  --word=WORD       the words of the user's command
"""

import argparse
import os
import shlex
import sys

import comparing
import dataset
import documents
import left
import page
import reading
import text
import timeline


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


def write_all(wanted, report, trace, chrome, old):
    """Writes all that is wanted; says whether it could. `trace` makes the timeline of pages, and
    `chrome` is that for --trace."""
    changes, compared = None, ""
    if old:
        changes = comparing.difference(old, report)
        changes["old_name"] = wanted.compare
        compared = comparing.text(changes, wanted.compare)
    done = True
    for path in wanted.text:
        told = text.text(report) + compared
        done &= write(path, [told]) if path != "-" else bool(sys.stderr.write(told))
    if compared and not wanted.text:
        sys.stderr.write(compared)
    for path in wanted.json:
        done &= write(path, [documents.as_json(report)])
    if wanted.trace and chrome:
        done &= write(wanted.trace, chrome)
    if wanted.page:
        events = trace()
        content = page.fitting(
            lambda share: dataset.made(
                report, lambda most: timeline.made(events, most), changes, share
            )
        )
        for path in wanted.page:
            done &= write(path, [content.decode()])
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
    report, traces = documents.merged(parts, shlex.join(wanted.word))
    chrome = timeline.chrome(traces) if wanted.trace else None
    return write_all(wanted, report, lambda: timeline.joined(traces), chrome, old) and whole


def from_report(wanted, old):
    def trace():
        try:
            return timeline.traced(wanted.trace) if wanted.trace else ({}, [], 0)
        except reading.Bad as error:
            say(f"the page has no timeline: {error}")
            return {}, [], 0

    return write_all(wanted, reading.read(wanted.from_), trace, None, old)


def parsed(arguments=None):
    parser = argparse.ArgumentParser(add_help=False)
    for name in ("--text", "--json", "--page", "--word"):
        parser.add_argument(name, action="append", default=[])
    for name in ("--trace", "--compare"):
        parser.add_argument(name)
    parser.add_argument("--from", dest="from_", required=True)
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
