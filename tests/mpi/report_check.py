# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compares a report in JSON with what report.c did, number by number, and checks traces.

  report_check.py everything|nothing|exit|now|handed REPORT.json RANKS
  report_check.py trace TRACE RANKS

REPORT_ON_WORLD=kept in the environment: this MPI does not delete the attributes of MPI_COMM_WORLD.
"""

import collections
import json
import os
import re
import sys

NUMBERS = ["created", "freed", "leaked", "sets", "gets", "absent", "deletes", "copies",
           "deleted_with_object", "attached", "copy_calls", "delete_calls", "failed",
           "left_by_set", "left_by_delete"]
failures = []
deleted_on_world = os.environ.get("REPORT_ON_WORLD") != "kept"


def check(condition, what):
    if not condition:
        failures.append(what)


def equal(actual, expected, what):
    check(actual == expected, f"{what} is {actual!r}, not {expected!r}")


PLAIN = dict(created=1, freed=1, sets=4, gets=10, absent=4, deletes=1, copies=1,
             deleted_with_object=2, copy_calls=1, delete_calls=5)
HANDED = dict(created=1, freed=1, sets=2, deletes=1, copies=2, deleted_with_object=2, copy_calls=2,
              delete_calls=4, left_by_set=1, left_by_delete=1)


def expected_of(rank, program):
    """{(kind, library, function): numbers}, of those that aren't 0."""
    n = rank + 1
    functions = {
        "delete_plain": PLAIN,
        "make_without_callbacks": dict(created=1, freed=1, sets=n, copies=1,
                                       deleted_with_object=2),
        "delete_reused": dict(created=500, freed=500, sets=500, gets=1000, deletes=500,
                              delete_calls=500),
        "delete_read_by_threads": dict(created=1, freed=1, sets=1, gets=8000,
                                       deleted_with_object=1, delete_calls=1),
        "delete_type": dict(created=1, freed=1, sets=1, gets=1, copies=1, deleted_with_object=2,
                            delete_calls=2),
        "delete_slowly": dict(created=1, freed=1, sets=1, deletes=1, delete_calls=1),
        "delete_causing_another": dict(created=1, freed=1, sets=1, deletes=1, delete_calls=1),
        "delete_failing_once": dict(created=1, freed=1, sets=1, deletes=2, delete_calls=2,
                                    failed=1),
        "delete_stale": dict(created=120, freed=120, sets=1, deletes=1, delete_calls=1),
        "delete_in_its_place": dict(created=400, freed=400),
        "delete_left": dict(created=2, leaked=2, sets=1, gets=3, copies=n, attached=n + 1),
        "delete_on_self": dict(created=1, freed=1, sets=1, deleted_with_object=1, delete_calls=1),
        "delete_on_world": dict(created=1, freed=1, sets=1, attached=1),
        "delete_of_file": dict(created=1, freed=1, sets=2, gets=1, absent=1, deleted_with_object=1,
                               delete_calls=2),
    }
    kinds = {"delete_type": "datatype", "delete_of_file": "file"}
    return {(kinds.get(function, "communicator"), program, function): counts
            for function, counts in functions.items()}


def compare_keyvals(part, expected, where):
    found = {(k["kind"], k["library"], k["function"]): k for k in part["keyvals"]}
    equal(len(found), len(part["keyvals"]), f"{where}: different keyvals")
    equal(sorted(found), sorted(expected), f"{where}: keyvals")
    for key, numbers in expected.items():
        for number in NUMBERS:
            equal(found.get(key, {}).get(number), numbers.get(number, 0),
                  f"{where}: {key[2]}: {number}")
        named_by = "caller" if key[2].startswith("make_") else "callback"
        equal(found.get(key, {}).get("named_by"), named_by, f"{where}: {key[2]}: named_by")
    return found


def check_times(part, times, where):
    by = {k["function"]: k for k in part["keyvals"]}
    slow, outer = by["delete_slowly"], by["delete_causing_another"]
    nap = 5_000_000 * times
    check(slow["callback_own_ns"] >= nap, f"{where}: the slow one's own time")
    check(outer["callback_ns"] >= slow["callback_ns"], f"{where}: the outer one's time")
    check(outer["callback_own_ns"] <= outer["callback_ns"] - nap, f"{where}: the outer one's own")
    equal(by["delete_plain"]["last_failure"], 0, f"{where}: no failure")
    check(by["delete_failing_once"]["last_failure"] in (15, 16), f"{where}: MPI_ERR_OTHER")


def check_attached(part, ranks, where):
    """`ranks`: those in the report."""
    attached = {(a["object"], a["function"]): a for a in part["attached"]}
    equal(len(attached), len(part["attached"]), f"{where}: attached")
    expected = {
        ("MPI_COMM_WORLD", "delete_on_world"): (len(ranks), deleted_on_world),
        ("the one that is left", "delete_left"): (len(ranks), False),
        ("duplicates of the one that is left", "delete_left"): (sum(r + 1 for r in ranks), False),
    }
    equal({key: (a["attributes"], a["deleted_by_finalize"]) for key, a in attached.items()},
          expected, f"{where}: attached")


def check_objects(part, program, ranks, where):
    """`ranks`: those in the report. Left are one communicator and its rank + 1 duplicates, made at different places."""
    alive = {(one["kind"], one["place"]): one["made"] - one["freed"] for one in part["made"]}
    left = sorted(n for n in alive.values() if n)
    equal(left, sorted([len(ranks), sum(r + 1 for r in ranks)]), f"{where}: alive: {alive}")
    for (kind, place), n in alive.items():
        check(place.startswith(f"{program}: "), f"{where}: {place}")
        check(n == 0 or kind == "communicator", f"{where}: {kind}s are alive")


def check_places(part, program, where):
    for k in part["keyvals"]:
        function = "make_without_callbacks" if k["named_by"] == "caller" else ""
        # With debug information: "report: main (report.c:12)", else "report: main+0x12".
        made = list(k["leaked_at"])
        if k["leaked"]:  # in two functions
            equal(sum(k["leaked_at"].values()), k["leaked"], f"{where}: leaked at")
            check(len(made) == 2 and "create" in "".join(made), f"{where}: leaked at {made}")
        check(re.fullmatch(f"{program}: {function}.*([+]0x[0-9a-f]+|[(]report[.]c:[0-9]+[)])", k["made_at"]), f"{where}: {k['function']} made at {k['made_at']!r}")


def check_misuse(part, times, where):
    equal(list(part["misuse"]), ["stale-keyval"], where)
    stale = part["misuse"]["stale-keyval"]
    equal(stale["times"], times, where)
    check("freed keyval" in stale["what"] and stale["rule"].startswith("MPI-"), f"{where}: {stale}")
    equal(sum(stale["places"].values()), times, f"{where}: at all places")
    equal([re.split("[+ ]", place.split(": ")[1])[0] for place in stale["places"]], ["get"], f"{where}: where")


def check_everything(report, ranks, program):
    """The sum, and each rank's part."""
    parts = [(report["sum"], range(ranks), "sum")]
    parts += [(part, [rank], f"rank {rank}") for rank, part in enumerate(report["per_rank"])]
    for part, members, where in parts:
        total = {}
        for rank in members:
            for key, numbers in expected_of(rank, program).items():
                total.setdefault(key, collections.Counter()).update(numbers)
        compare_keyvals(part, total, where)
        check_times(part, len(members), where)
        check_attached(part, members, where)
        check_objects(part, program, members, where)
        check_places(part, program, where)
        check_misuse(part, 840 * len(members), f"{where}: misuse")
    for rank, part in enumerate(report["per_rank"]):
        equal(part["rank"], rank, f"rank {rank}")
        check(part["seconds"] > 0.005, f"rank {rank}: seconds")


def check_one(report, makers, program, function, numbers):
    """One keyval alone, which each of the ranks `makers` has made."""
    key = ("communicator", program, function)
    for part in report["per_rank"]:
        expected = {key: numbers} if part["rank"] in makers else {}
        compare_keyvals(part, expected, f"rank {part['rank']}")
    total = {name: len(makers) * n for name, n in numbers.items()}
    compare_keyvals(report["sum"], {key: total}, "sum")


def check_exit(report, ranks, program):
    equal(report["finalized"], False, "finalized")
    check(1 <= len(report["per_rank"]) <= ranks, "ranks that report")
    for part in report["per_rank"]:
        if not part["partial"] or len(report["per_rank"]) == 1:
            compare_keyvals(part, {("communicator", program, "delete_plain"): PLAIN}, "rank")


def check_trace(trace, ranks):
    events = trace["traceEvents"]
    complete = [e for e in events if e["ph"] == "X"]
    named = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    equal(sorted(named), list(range(ranks)), "processes")
    for rank in range(ranks):
        mine = [e for e in complete if e["pid"] == rank]
        calls = {}
        for e in mine:
            calls.setdefault(e["name"], []).append(e)
        for function, times in [("copy_plain", 1), ("delete_plain", 5), ("delete_reused", 500),
                                ("delete_slowly", 1), ("delete_on_self", 1)]:
            equal(len(calls.get(function, [])), times, f"rank {rank}: events of {function}")
        check(all(e["cat"] == "callback" for e in calls["delete_reused"]), "cat")
        slow, outer = calls["delete_slowly"][0], calls["delete_causing_another"][0]
        check(slow["dur"] >= 5000, f"rank {rank}: delete_slowly took {slow['dur']} us")
        # Nested, as viewers show them.
        check(outer["ts"] <= slow["ts"] and
              slow["ts"] + slow["dur"] <= outer["ts"] + outer["dur"] + 0.01, "nesting")
        equal(outer["tid"], slow["tid"], "track")
        equal([e["args"]["code"] != 0 for e in calls["delete_failing_once"]], [True, False],
              "codes")
        # On a busy machine others may take as long.
        slow_ones = {e["args"]["function"] for e in calls["delete"] if e["dur"] >= 5000}
        equal({"delete_causing_another", "delete_slowly"} - slow_ones, set(),
              f"rank {rank}: slow operations that are missing")
        check(all(e["cat"] == "callback" or e["dur"] >= 10 for e in mine), "threshold")
        check(len({e["tid"] for e in mine}) == 1, "callbacks ran on one thread")
    check(min(e["ts"] for e in complete) == 0, "begins with 0")


def main(what, path, ranks, program="report"):
    ranks = int(ranks)
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    if what == "trace":
        check_trace(data, ranks)
    else:
        equal(data["format"], 1, "format")
        equal(data["ranks"], ranks, "ranks")
        if what != "exit":
            equal(data["ranks_heard_of"], ranks, "ranks_heard_of")
            equal(data["finalized"], what != "now", "finalized")
            equal((data["worlds"], data["missing"]), ([ranks], []), "worlds and missing ranks")
        equal(data["hosts"], sorted({part["host"] for part in data["per_rank"]}), "hosts")
        check(re.match("20[0-9-]+ [0-9:]+[+-]", data["started"]), f"started {data['started']}")
        if what == "everything":
            check_everything(data, ranks, program)
        elif what == "exit":
            check_exit(data, ranks, program)
        elif what == "handed":
            check_one(data, range(ranks), program, "delete_handed", HANDED)
        else:
            check_one(data, [ranks - 1], program, "delete_plain", PLAIN)
            partial = what == "now"  # the process still runs
            check(all(part["partial"] == partial for part in data["per_rank"]), "partial")
    for failure in failures:
        print(f"{path}: FAILED {failure}")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
