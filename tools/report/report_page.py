#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Writes reports as pages and compares them with earlier ones; attrcache-run starts this.

usage: report_page.py [--page FILE]... [--compare OLD.json] [--text FILE]... --data FILE
                      [--trace FILE] [--keep-trace] [--preload WHAT] [--run COMMAND...]

  --data FILE     the report as JSON: with --run, where the ranks write it, else where it is
  --trace FILE    likewise its trace; taken away afterwards unless --keep-trace says otherwise
  --page FILE     write the page there
  --compare FILE  say what changed since the report in that file, in the pages and as text
  --text FILE     to which files to append that text; - is standard error, which is the default
  --run COMMAND   run this first, and return its exit code
  --preload WHAT  its LD_PRELOAD
"""

import argparse
import glob
import os
import shlex
import sys

import comparing
import dataset
import page
import reading
import supervising
import timeline


def say(text):
    print(f"attrcache-run: {text}", file=sys.stderr, flush=True)


def written_files(path):
    """Where the ranks were told to write, or that with .rankN or .processPID before the ending."""
    if os.path.exists(path):
        return [path]
    root, ending = os.path.splitext(path)
    return sorted(
        glob.glob(glob.escape(root) + ".rank*" + glob.escape(ending))
        + glob.glob(glob.escape(root) + ".process*" + glob.escape(ending))
    )


def read_trace(path):
    """What is in the trace; nothing if it can't be read, which is told."""
    try:
        return timeline.traced(written_files(path) if path else [])
    except reading.Bad as error:
        say(f"the page has no timeline: {error}")
        return timeline.traced([])


def write(path, content):
    """As a whole or not at all."""
    temporary = f"{path}.{os.getpid()}"
    try:
        with open(temporary, "xb") as file:
            file.write(content)
        os.replace(temporary, path)
        return True
    except OSError as error:
        say(f"can't write {path}: {error.strerror}")
        try:
            os.unlink(temporary)
        except OSError:
            pass
        return False


def tell_changes(changes, old_name, files):
    text = comparing.text(changes, old_name)
    for path in files or ["-"]:
        if path == "-":
            sys.stderr.write(text)
            continue
        try:
            with open(path, "a", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            say(f"can't write {path}: {error.strerror}")


def make(wanted, old):
    """Writes all that is wanted; says whether it could."""
    files = written_files(wanted.data) if wanted.run else [wanted.data]
    if not files:
        say("no rank wrote a report: was MPI never initialized, or ended by MPI_Abort or a signal?")
        return True
    report = reading.merged([reading.read(path) for path in files])
    changes = None
    if old:
        changes = comparing.difference(old, report)
        changes["old_name"] = wanted.compare
        tell_changes(changes, wanted.compare, wanted.text)
    if not wanted.page:
        return True
    trace = read_trace(wanted.trace)
    content = page.fitting(
        lambda share: dataset.made(
            report,
            lambda most: timeline.made(trace, most),
            changes,
            shlex.join(wanted.run or []),
            share,
        )
    )
    return all([write(path, content) for path in wanted.page])


def take_away(wanted, done):
    """The data that were only for the pages; if those could not be made, the data are kept."""
    if not done:
        say(f"the report's data are kept: {' '.join(written_files(wanted.data))}")
        return
    for path in written_files(wanted.data) + (
        [] if wanted.keep_trace else written_files(wanted.trace or "")
    ):
        os.unlink(path)


def main():
    parser = argparse.ArgumentParser(add_help=False)
    for name in ("--page", "--text"):
        parser.add_argument(name, action="append", default=[])
    for name in ("--compare", "--data", "--trace", "--preload"):
        parser.add_argument(name)
    parser.add_argument("--keep-trace", action="store_true")
    parser.add_argument("--run", nargs=argparse.REMAINDER)
    wanted = parser.parse_args()
    old = None
    try:
        # Before anything runs, so that a mistyped name costs no run.
        if wanted.compare:
            old = reading.read(wanted.compare)
        if wanted.run is None:
            return 0 if make(wanted, old) else 1
    except reading.Bad as error:
        say(str(error))
        return 2
    ended = supervising.run(wanted.run, wanted.preload)
    done = False
    try:
        done = make(wanted, old)
    except reading.Bad as error:
        say(str(error))
    finally:
        take_away(wanted, done)
        ended.pass_on()


if __name__ == "__main__":
    sys.exit(main())
