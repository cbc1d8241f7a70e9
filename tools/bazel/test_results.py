#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Reads the events of a `bazel test` (--build_event_json_file) and prints a line for each test.

  test_results.py EVENTS EXIT-CODE

"passed LABEL" or "failed LABEL". A test that never ran counts as failed. If Bazel returned an
error that no test accounts for (a library that did not build, a BUILD file that did not load,
nothing to run), one more line says so. Then "note TEXT" for each different line that begins with "peer bug: "
in the tests' output: it names checks that a test left out because the MPI itself fails them.
"""

import json
import sys
import urllib.parse


def read_events(path):
    try:
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)
    except (OSError, json.JSONDecodeError):
        return  # Bazel ended before it wrote any; its exit code says that it failed


def peer_bugs(summary):
    for log in summary.get("passed", []) + summary.get("failed", []):
        path = urllib.parse.unquote(urllib.parse.urlparse(log["uri"]).path)
        try:
            with open(path, encoding="utf-8", errors="replace") as lines:
                yield from (line.rstrip() for line in lines if line.startswith("peer bug: "))
        except OSError:
            pass  # it only says what was left out


def main(path, exit_code):
    verdicts = {}
    notes = set()
    for event in read_events(path):
        for kind, identity in event["id"].items():
            label = identity.get("label", "")
            if kind == "targetConfigured" and "testSize" in event.get("configured", {}):
                verdicts.setdefault(label, "failed")  # the summary, if it comes, corrects this
            elif kind == "targetCompleted" and "aborted" in event:
                verdicts.setdefault(label, "failed")  # it could not even be analyzed
            elif kind == "testSummary" and "testSummary" in event:
                status = event["testSummary"]["overallStatus"]
                # A FLAKY test, which passed at a second attempt, counts as failed.
                verdicts[label] = "passed" if status == "PASSED" else "failed"
                notes.update(peer_bugs(event["testSummary"]))
    for label, verdict in sorted(verdicts.items()):
        print(verdict, label)
    if exit_code != 0 and "failed" not in verdicts.values():
        print(f"failed (bazel returned {exit_code})")
    for note in sorted(notes):
        print("note", note)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
