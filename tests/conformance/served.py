#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compares what tools/check-mpi found of an MPI served with what it found natively; what is found later counts."""

import argparse
import json
import re
import sys

sys.path.insert(0, "tools/conformance")
import table

ERROR = "returns MPI_ERR_(KEYVAL|OTHER)"
# Where the standard leaves it open and attrcache does the same on every MPI, whatever that does by itself.
ON_EVERY_MPI = {
    "c-dup-fn-f-set-.*": "the same integer",
    "delete-absent-.*": "delete succeeds",
    "delete-beside-dup-.*": "it runs after the copy, and the delete has returned before",
    "delete-itself-in-delete": "the callback runs 1 times; inner delete succeeds;",
    "delete-linked": "0;1; by delete; 1;0; by free",
    "failed-copy-comm": "dup returns .*, and these callbacks ran: copy;copy;copy;delete;delete;",
    "failed-free-(win|type)": ".*: delete 2;delete 13;delete 0;(; that it crashes, by signal 6)?",  # MPICH 5, natively too
    "finalize-order-after-overwrite": ".*at the end: delete 3;delete 2;",
    "get-in-delete-callback-.*": "in delete the value, in set another value, in free the value",
    "free-order-.*": ".*: delete 4;delete 3;delete 2;delete 1;",
    "freed-keyval": "get %s; set %s; delete %s" % (ERROR, ERROR, ERROR),
    "freed-twice": "set succeeds; free_keyval succeeds",
    "freed-twice-in-delete": "free_keyval succeeds; delete succeeds",
    "keyval-of-other-kind": "get %s; set %s; delete %s" % (ERROR, ERROR, ERROR),
    "session-keyval-kept": "set succeeds; the free of the communicator: delete 1;",
    "session-predefined-type": "get succeeds, and finds (it; the callback was not|nothing; the callback was) called",
    "set-in-free-.*": "free succeeds; set succeeds;delete 2;",
    "set-itself-in-delete": "delete 1;set succeeds; then 2 is attached",
}


def same_end(served, native):
    """Whether both ended alike. When ranks end early, the launcher's words depend on which rank it saw first."""
    ends = [re.match(r"that it ends with exit code (\d+)", text) for text in (served, native)]
    return served == native or (all(ends) and (ends[0].group(1) == "0") == (ends[1].group(1) == "0"))


def named(pattern_of, name):
    return next((value for pattern, value in pattern_of.items() if re.fullmatch(pattern, name)), None)


def read(name):
    with open(name, encoding="utf-8") as file:
        return json.load(file)


def last_results(runs):
    return {r["check"]: r for run in runs for r in run["results"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", action="store_true", help="print the checks that differ, or weren't run natively yet")
    parser.add_argument("runs", nargs="+", help="JSON of runs: served, native, served, native, ...")
    arguments = parser.parse_args()
    runs = [read(name) for name in arguments.runs]
    served, native = last_results(runs[::2]), last_results(runs[1::2])
    problems, peer_bugs = [], []
    for name, r in served.items():
        result = r["result"]
        if result == "pass":
            continue
        says, same = r.get("detail", ""), native.get(name, {"result": "not run", "detail": "not run"})
        if result == "fail" and r["kind"] == "demanded" and same["result"] == "fail":
            peer_bugs.append(name)
        elif result == "open" and named(ON_EVERY_MPI, name) and re.fullmatch(named(ON_EVERY_MPI, name), says):
            continue
        elif result == "open" and not named(ON_EVERY_MPI, name) and same_end(says, same.get("detail", "")):
            continue
        elif result == "not applicable" and same["result"] == "not applicable":
            continue
        else:
            problems.append(name)
            print(name if arguments.names else "PROBLEM: %s, %s: served: %s; natively: %s" % (
                name, r["kind"], says or "expected %s; seen %s" % (r.get("expected"), r.get("seen")),
                same.get("detail") or same["result"]))
    if arguments.names:
        return 0
    passes = sum(r["result"] == "pass" for r in served.values())
    if peer_bugs:
        print("peer bug: %s: checks of tools/check-mpi: %s" % (table.short_name(runs[0]), ", ".join(table.grouped(peer_bugs))))
    if not problems:
        print("passed: %s, %d pass, %d are as expected" % (
            table.short_name(runs[0]), passes, len(served) - passes - len(peer_bugs)))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
