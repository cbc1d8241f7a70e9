#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Makes a report and a trace as the interposer writes them, of as many ranks as wanted: what no test machine can run.

usage: made.py RANKS REPORT.json TRACE [--hostile]

Most ranks do the same; rank 1717 leaves hundreds of communicators behind, rank 2222 gets ten times as much as others,
and a dozen ranks are slow. (With few ranks, those are other ranks.) --hostile names things so that a page which takes
names for anything else than text breaks.
"""

import json
import random
import sys

HOSTILE = [
    '</script><script>document.title="broken"</script>',
    "<img src=x onerror='document.title=\"broken\"'>",
    "std::map<std::string, \"quoted\" & 'this'>::operator[](\\u003c)",
    "--><!--",
    "\u2028line\u2029\u202eend",
    "@@DATA@@",
    "__proto__",
    "constructor",
    "${data}",
    "a" * 5000,
    "\x00\x1f\x7f",
    "]]>",
    "&lt;b&gt;",
    "\u00e9\U0001f642",
]
NUMBERS = [
    "created",
    "freed",
    "leaked",
    "sets",
    "gets",
    "absent",
    "deletes",
    "copies",
    "deleted_with_object",
    "attached",
    "copy_calls",
    "delete_calls",
    "failed",
    "callback_ns",
    "callback_own_ns",
]


class Names:
    def __init__(self, hostile):
        self.hostile = iter(HOSTILE * 100) if hostile else None

    def __call__(self, name):
        return next(self.hostile) if self.hostile else name


def makers(name):
    """kind, library, function, named_by, made_at, and per rank: created, freed, sets, gets, absent, deletes, copies,
    deleted_with_object, attached, ns per callback."""
    rows = [
        (
            "communicator",
            "libpetsc_real.so.3.18",
            "Petsc_Counter_Attr_Delete_Fn",
            "callback",
            1,
            1,
            16,
            532,
            80,
            0,
            0,
            16,
            0,
            130,
        ),
        (
            "communicator",
            "libpetsc_real.so.3.18",
            "+0x72549e",
            "caller",
            1,
            1,
            176,
            176,
            0,
            0,
            0,
            176,
            0,
            0,
        ),
        (
            "communicator",
            "libpetsc_real.so.3.18",
            "Petsc_InnerComm_Attr_Delete_Fn",
            "callback",
            1,
            1,
            16,
            77,
            20,
            13,
            0,
            3,
            0,
            280,
        ),
        (
            "communicator",
            "libsolver.so",
            "multigrid::Level<3, double>::cached_halo(MPI_Comm, int, void*, void*)",
            "callback",
            2,
            1,
            40,
            80000,
            400,
            8,
            24,
            30,
            2,
            900,
        ),
        ("datatype", "libio.so", "view_deleted", "callback", 3, 3, 12, 4000, 12, 6, 0, 6, 0, 450),
        (
            "window",
            "libshmem_over_mpi.so.1",
            "heap_of_window",
            "callback",
            1,
            1,
            1,
            250000,
            0,
            0,
            0,
            1,
            0,
            12000,
        ),
        (
            "communicator",
            "libcoupler.so",
            "forget_partner",
            "callback",
            4,
            4,
            64,
            640,
            64,
            32,
            16,
            48,
            0,
            2100,
        ),
    ]
    result = []
    for kind, library, function, named_by, *numbers in rows:
        place = "%s: %s+0x%x" % (name(library), name("initialize"), 0x1A0 + len(result))
        result.append((kind, name(library), name(function), named_by, place, numbers))
    return result


def line_of(maker, factor, leaks, random_):
    kind, library, function, named_by, made_at, numbers = maker
    created, freed, sets, gets, absent, deletes, copies, ends, attached, ns = numbers
    calls = deletes + ends if ns else 0
    copy_calls = copies if ns else 0
    time = int((calls + copy_calls) * ns * factor * random_.uniform(0.8, 1.25))
    values = [
        created,
        freed,
        created - freed,
        sets,
        gets,
        absent,
        deletes,
        copies,
        ends,
        attached + leaks,
        copy_calls,
        calls,
        1 if leaks else 0,
        time,
        time,
    ]
    return dict(
        zip(
            ["kind", "library", "function", "named_by", "made_at"],
            [kind, library, function, named_by, made_at],
        ),
        **dict(zip(NUMBERS, values)),
        last_failure=16 if leaks else 0,
    )


def make(ranks, hostile):
    random_ = random.Random(4000)
    name = Names(hostile)
    all_makers = makers(name)
    leaker, getter = min(1717, ranks - 1), min(2222, ranks // 2)
    slow = set(random_.sample(range(ranks), min(12, ranks // 8)))
    names = {
        key: name(key)
        for key in (
            "communicators without a name",
            "level 3",
            "MPI_COMM_WORLD",
            "place",
            "dup",
            "host",
        )
    }
    misuse_text = {
        "what": "a keyval is used that was freed and is gone",
        "rule": "MPI-3.1 6.7.2: erroneous if there is no key with that value",
    }
    per_rank = []
    for rank in range(ranks):
        lines = []
        for i, maker in enumerate(all_makers):
            line = line_of(
                maker, 12 if rank in slow else 1, 300 if rank == leaker and i == 3 else 0, random_
            )
            if rank == getter:
                line["gets"] *= 10
            lines.append(line)
        attached = [
            {
                "kind": "communicator",
                "object": names["level 3"],
                "library": all_makers[3][1],
                "function": all_makers[3][2],
                "attributes": lines[3]["attached"],
                "predefined": False,
                "deleted_by_finalize": False,
            }
        ]
        objects = [
            {
                "kind": "communicator",
                "object": names["level 3"],
                "from": "dup",
                "place": "libsolver.so: " + names["dup"] + "+0x9c",
                "count": lines[3]["attached"],
            }
        ]
        if rank % 100 == 0:
            objects.append(
                {
                    "kind": "window",
                    "object": "windows without a name",
                    "from": "use",
                    "place": "",
                    "count": 1,
                }
            )
        misuse = {}
        if rank in slow:
            places = {
                "libsolver.so: %s+0x3f" % names["place"]: 3,
                "libsolver.so: other+0x%x" % (rank % 7): 1,
            }
            misuse["stale-keyval"] = dict({"times": 4, "places": places}, **misuse_text)
        per_rank.append(
            {
                "rank": rank,
                "host": "%s%03d" % (names["host"] if hostile else "node", rank // 64),
                "pid": 1000 + rank % 64,
                "seconds": round(20 + random_.random() / 10, 6),
                "keyvals": lines,
                "attached": attached,
                "objects": objects,
                "misuse": misuse,
                "not_served": {"communicator": 0, "datatype": 0, "window": 0},
            }
        )
    return {
        "format": 1,
        "attrcache": "0.1.0",
        "mpi": "Open MPI",
        "ranks": ranks,
        "ranks_heard_of": ranks,
        "finalized": True,
        "checked": False,
        "sum": summed(per_rank),
        "per_rank": per_rank,
    }, slow


def summed(per_rank):
    """Not by the code that is tested."""
    lines = [dict(line) for line in per_rank[0]["keyvals"]]
    for number in NUMBERS:
        for i, line in enumerate(lines):
            line[number] = sum(part["keyvals"][i][number] for part in per_rank)
    for i, line in enumerate(lines):
        line["last_failure"] = max(part["keyvals"][i]["last_failure"] for part in per_rank)
    attached = [
        dict(
            per_rank[0]["attached"][0],
            attributes=sum(part["attached"][0]["attributes"] for part in per_rank),
        )
    ]
    objects = [
        dict(
            per_rank[0]["objects"][i],
            count=sum(part["objects"][i]["count"] for part in per_rank if len(part["objects"]) > i),
        )
        for i in range(2)
    ]
    misuse = {}
    for part in per_rank:
        for sort, one in part["misuse"].items():
            there = misuse.setdefault(sort, dict(one, times=0, places={}))
            there["times"] += one["times"]
            for place, times in one["places"].items():
                there["places"][place] = there["places"].get(place, 0) + times
    return {
        "seconds": max(part["seconds"] for part in per_rank),
        "keyvals": lines,
        "attached": attached,
        "objects": objects,
        "misuse": misuse,
        "not_served": {"communicator": 0, "datatype": 0, "window": 0},
    }


def write_trace(path, report, slow, each):
    """For each rank so many rounds of a dup with copies in it, a free with deletes, and sets, in two threads."""
    random_ = random.Random(17)
    functions = [line["function"] for line in report["per_rank"][0]["keyvals"]]
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"displayTimeUnit": "ns", "traceEvents": [')
        separator = "\n"

        def put(entry):
            nonlocal separator
            file.write(separator + json.dumps(entry))
            separator = ",\n"

        for part in report["per_rank"]:
            rank, main = part["rank"], part["pid"]
            put(
                {
                    "ph": "M",
                    "name": "process_name",
                    "pid": rank,
                    "args": {"name": "rank %d" % rank, "dropped_events": 5 if rank == 3 else 0},
                }
            )
            for thread, called in ((main, "main"), (main + 1, "thread")):
                put(
                    {
                        "ph": "M",
                        "name": "thread_name",
                        "pid": rank,
                        "tid": thread,
                        "args": {"name": called},
                    }
                )
            long = 12 if rank in slow else 1
            for n in range(each // 5):
                thread = main + n % 2
                at = n * (20e6 / max(1, each // 5)) + random_.random() * 2e4
                inner = 900 * long * random_.uniform(0.5, 2)

                def event(name, start, took, **args):
                    put(
                        {
                            "ph": "X",
                            "cat": "callback" if "called_as" in args else "operation",
                            "name": name,
                            "pid": rank,
                            "tid": thread,
                            "ts": round(start, 3),
                            "dur": round(took, 3),
                            "args": dict(args, kind="communicator"),
                        }
                    )

                event("dup", at, inner * 2.5)
                event(
                    functions[3],
                    at + 1,
                    inner,
                    keyval=1073741824 + 16 * (n % 9),
                    called_as="copy_fn",
                    code=0,
                )
                event(
                    functions[6],
                    at + 2 + inner,
                    inner,
                    keyval=1073741840,
                    called_as="copy_fn",
                    code=0,
                )
                event("set", at + 5 * inner, 15 * long, keyval=1073741824, keyval_of=functions[0])
                event(
                    functions[3],
                    at + 6 * inner,
                    inner / 2,
                    keyval=1073741824,
                    called_as="delete_fn",
                    code=16 if rank == 7 and n == 1 else 0,
                )
        file.write("\n]}\n")


def main():
    ranks, report_path, trace_path = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    report, slow = make(ranks, "--hostile" in sys.argv)
    with open(report_path, "w", encoding="utf-8") as file:
        json.dump(report, file)
    write_trace(trace_path, report, slow, max(10, min(200, 200_000 // ranks)))


if __name__ == "__main__":
    main()
