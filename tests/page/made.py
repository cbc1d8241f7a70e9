# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Makes what ranks hand over, of as many ranks as wanted: more than a test machine can run.

Most ranks do the same; rank 1717 leaves hundreds of communicators behind, rank 2222 gets ten times
as much as others, and a dozen ranks are slow. (With few ranks, those are other ranks.)
"""

import json
import os
import random

# kind; library; function; named_by; and for a rank: created, freed, sets, gets, absent, deletes, copies,
# deleted_with_object, attached, ns per callback
MAKERS = """
communicator; libpetsc_real.so.3.18; Petsc_Counter_Attr_Delete_Fn; callback; 1 1 16 532 80 0 0 16 0 130
communicator; libpetsc_real.so.3.18; +0x72549e; caller; 1 1 176 176 0 0 0 176 0 0
communicator; libpetsc_real.so.3.18; Petsc_InnerComm_Attr_Delete_Fn; callback; 1 1 16 77 20 13 0 3 0 280
communicator; libsolver.so; multigrid::Level<3, double>::cached_halo(MPI_Comm, int, void*, void*); callback; \
2 1 40 80000 400 8 24 30 2 900
datatype; libio.so; view_deleted; callback; 3 3 12 4000 12 6 0 6 0 450
window; libshmem_over_mpi.so.1; heap_of_window; callback; 1 1 1 250000 0 0 0 1 0 12000
communicator; libcoupler.so; forget_partner; callback; 4 4 64 640 64 32 16 48 0 2100
"""
LEAKY = 3  # the one with attributes left
MISUSE = {
    "what": "a freed keyval is used after it is gone",
    "rule": "MPI-4.1 7.7.2: erroneous if there is no key with that value",
}
# As the interposer numbers them.
KINDS = {"communicator": "Comm", "datatype": "Type", "window": "Win"}
SET, DUP, COPY_FN, DELETE_FN = 0, 3, 5, 6


def makers(suffix):
    result = []
    for row in MAKERS.strip().split("\n"):
        kind, library, function, named_by, numbers = row.split("; ")
        place = "%s%s: initialize%s+0x%x" % (library, suffix, suffix, 0x1A0 + len(result))
        names = dict(kind=kind, library=library + suffix, function=function + suffix)
        names.update(named_by=named_by, made_at=place)
        result.append((names, [int(number) for number in numbers.split()]))
    return result


def line_of(maker, factor, leaks, random_):
    names, (created, freed, sets, gets, absent, deletes, copies, ends, attached, ns) = maker
    calls = deletes + ends if ns else 0
    copy_calls = copies if ns else 0
    time = int((calls + copy_calls) * ns * factor * random_.uniform(0.8, 1.25))
    line = dict(names, created=created, freed=freed, leaked=created - freed, sets=sets, gets=gets)
    line.update(absent=absent, deletes=deletes, copies=copies, deleted_with_object=ends)
    line.update(attached=attached + leaks, copy_calls=copy_calls, delete_calls=calls)
    line.update(failed=int(leaks > 0), last_failure=16 * (leaks > 0))
    line.update(left_by_set=copies // 16, left_by_delete=copies // 8, has_delete_fn=ns > 0)
    leaked_at = {names["made_at"] + "0": created - freed} if line["leaked"] else {}
    return dict(line, leaked_at=leaked_at, callback_ns=time, callback_own_ns=time)


def trace(rank, pid, long, rounds, random_):
    """So many rounds of a dup with copies in it, a free with deletes, and sets, in two threads."""
    events = []
    for n in range(rounds):
        at = n * (20e6 / rounds) + random_.random() * 2e4
        inner = 900 * long * random_.uniform(0.5, 2)

        def event(start, took, what, maker, keyval=0, code=0):
            one = [start * 1000, took * 1000, pid + n % 2, what, maker, 0, keyval, code]
            events.append([int(number) for number in one])

        event(at, inner * 2.5, DUP, 0)
        event(at + 1, inner, COPY_FN, 1 + LEAKY, 1073741824 + 16 * (n % 9))
        event(at + 2 + inner, inner, COPY_FN, 1 + 6, 1073741840)
        event(at + 5 * inner, 15 * long, SET, 1, 1073741824)
        failed = 16 if rank == 7 and n == 1 else 0
        event(at + 6 * inner, inner / 2, DELETE_FN, 1 + LEAKY, 1073741824, failed)
    return {"dropped": 5 if rank == 3 else 0, "epoch_ns": 1_700_000_000 * 10**9, "events": events}


def documents(ranks, suffix):
    random_ = random.Random(4000)
    all_makers = makers(suffix)
    leaker, getter = min(1717, ranks - 1), min(2222, ranks // 2)
    slow = set(random_.sample(range(ranks), min(12, ranks // 8)))
    level, place, dup, host = (name + suffix for name in ("level 3", "place", "dup", "node"))
    rounds = max(10, min(200, 200_000 // ranks)) // 5
    for rank in range(ranks):
        long = 12 if rank in slow else 1
        lines = [
            line_of(maker, long, 300 if rank == leaker and i == LEAKY else 0, random_)
            for i, maker in enumerate(all_makers)
        ]
        if rank == getter:
            for line in lines:
                line["gets"] *= 10
        left = lines[LEAKY]["attached"]
        attached = {key: lines[LEAKY][key] for key in ("kind", "library", "function")}
        attached.update(object=level, attributes=left, predefined=False, deleted_by_finalize=False)
        places = {f"libsolver.so: {place}+0x3f": 3, "libsolver.so: other+0x%x" % (rank % 7): 1}
        events = trace(rank, 1000 + rank % 64, long, rounds, random_)
        events["names"] = [""] + [maker["function"] for maker, _ in all_makers]
        document = dict(document=1, attrcache="1.0.0", mpi="Open MPI", kinds=KINDS, world="4711")
        document.update(rank=rank, ranks=ranks, host="%s%03d" % (host, rank // 64))
        document.update(pid=1000 + rank % 64, ns=int(20e9 + random_.random() * 1e8))
        document.update(begun=1_700_000_000 * 10**9 - 10**6, finalized=True, partial=False)
        document.update(checked=False, not_served=dict.fromkeys(KINDS, 0), keyvals=lines)
        freed = 9 - (rank == leaker)
        sites = [dict(kind="window", place=f"libshmem.so: {place}+0x77", made=9, freed=freed)]
        sites += [dict(kind="communicator", place=f"libsolver.so: {dup}+0x9c", made=left + 3, freed=3)]
        document.update(attached=[attached], made=sites, most_alive={"window": 4})
        document.update(addresses={}, trace=events)
        misuse = {"stale-keyval" + suffix: dict(MISUSE, times=4, places=places)}
        yield dict(document, misuse=misuse if rank in slow else {})


def write(ranks, folder, suffix):
    """`suffix` is the end of each name that programs and hosts give."""
    os.makedirs(folder, exist_ok=True)
    for document in documents(ranks, suffix):
        path = os.path.join(folder, f"{document['rank']:05}.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
