# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Makes what ranks hand over, of as many ranks as wanted: more than a test machine can run.

Most ranks do the same; rank 1717 leaves hundreds of communicators behind, rank 2222 gets ten times
as much as others, and a dozen ranks are slow. (With few ranks, those are other ranks.)
"""

import json
import os

# kind, library, function; and for a rank: created, freed, sets, gets, absent, deletes, copies,
# deleted_with_object, attached, ns per callback
MAKERS = (
    ("communicator", "libpetsc_real.so.3.18", "Petsc_Counter_Attr_Delete_Fn", 1, 1, 16, 532, 80, 0, 0, 16, 0, 130),
    ("communicator", "libpetsc_real.so.3.18", "+0x72549e", 1, 1, 176, 176, 0, 0, 0, 176, 0, 0),
    ("communicator", "libpetsc_real.so.3.18", "Petsc_InnerComm_Attr_Delete_Fn", 1, 1, 16, 77, 20, 13, 0, 3, 0, 280),
    ("communicator", "libsolver.so", "Level<3, double>::halo(MPI_Comm, void*)", 2, 1, 40, 80000, 400, 8, 24, 30, 2, 900),
    ("datatype", "libio.so", "view_deleted", 3, 3, 12, 4000, 12, 6, 0, 6, 0, 450),
    ("window", "libshmem_over_mpi.so.1", "heap_of_window", 1, 1, 1, 250000, 0, 0, 0, 1, 0, 12000),
    ("communicator", "libcoupler.so", "forget_partner", 4, 4, 64, 640, 64, 32, 16, 48, 0, 2100),
)
LEAKY = 3  # the one with attributes left
MISUSE = {
    "what": "a freed keyval is used after it is gone",
    "rule": "MPI-4.1 7.7.2: erroneous if there is no key with that value",
}
# As the interposer numbers them.
KINDS = {"communicator": "Comm", "datatype": "Type", "window": "Win"}
SET, DUP, COPY_FN, DELETE_FN = 0, 3, 5, 6


def keyval(maker, suffix, long, leaks):
    kind, library, function, created, freed, sets, gets, absent, deletes, copies, ends, attached, ns = maker
    calls, copy_calls = (deletes + ends, copies) if ns else (0, 0)
    place = f"{library}{suffix}: initialize{suffix}+0x1a0"
    line = dict(kind=kind, library=library + suffix, function=function + suffix, made_at=place)
    line.update(named_by="caller" if function[0] == "+" else "callback", has_delete_fn=ns > 0)
    line.update(created=created, freed=freed, leaked=created - freed, sets=sets, gets=gets)
    line.update(absent=absent, deletes=deletes, copies=copies, deleted_with_object=ends)
    line.update(attached=attached + leaks, copy_calls=copy_calls, delete_calls=calls)
    line.update(failed=int(leaks > 0), last_failure=16 * (leaks > 0))
    line.update(left_by_set=copies // 16, left_by_delete=copies // 8)
    line.update(leaked_at={place + "0": created - freed} if created > freed else {})
    return dict.fromkeys(("callback_ns", "callback_own_ns"), (calls + copy_calls) * ns * long) | line


def trace(rank, pid, long, rounds):
    """So many rounds of a dup with copies in it, a free with deletes, and sets, in two threads."""
    events = []
    for n in range(rounds):
        at, took, thread = n * (20 * 10**9 // rounds), 900_000 * long, pid + n % 2
        failed = 16 if (rank, n) == (7, 1) else 0
        events += [
            [at, 5 * took // 2, thread, DUP, 0, 0, 0, 0],
            [at + 1000, took, thread, COPY_FN, 1 + LEAKY, 0, 1073741824 + 16 * (n % 9), 0],
            [at + 2000 + took, took, thread, COPY_FN, 1 + 6, 0, 1073741840, 0],
            [at + 5 * took, 15_000 * long, thread, SET, 1, 0, 1073741824, 0],
            [at + 6 * took, took // 2, thread, DELETE_FN, 1 + LEAKY, 0, 1073741824, failed],
        ]
    return {"dropped": 5 if rank == 3 else 0, "epoch_ns": 1_700_000_000 * 10**9, "events": events}


def document(rank, ranks, suffix):
    is_leaky, is_slow, pid = rank == min(1717, ranks - 1), rank % 333 == 5, 1000 + rank % 64
    long = 12 if is_slow else 1
    lines = [keyval(maker, suffix, long, 0) for maker in MAKERS]
    if is_leaky:
        lines[LEAKY] = keyval(MAKERS[LEAKY], suffix, long, 300)
    if rank == min(2222, ranks // 2):
        for line in lines:
            line["gets"] *= 10
    left = lines[LEAKY]["attached"]
    attached = {key: lines[LEAKY][key] for key in ("kind", "library", "function")}
    attached.update(object="level 3" + suffix, attributes=left, predefined=False, deleted_by_finalize=False)
    places = {f"libsolver.so: place{suffix}+0x3f": 3, "libsolver.so: other+0x%x" % (rank % 7): 1}
    sites = [dict(kind="window", place=f"libshmem.so: place{suffix}+0x77", made=9, freed=9 - is_leaky)]
    sites += [dict(kind="communicator", place=f"libsolver.so: dup{suffix}+0x9c", made=left + 3, freed=3)]
    events = trace(rank, pid, long, 10 if ranks > 100 else 40)
    events["names"] = ["", *(line["function"] for line in lines)]
    made = dict(document=1, attrcache="1.0.0", mpi="Open MPI", kinds=KINDS, world="4711")
    made.update(rank=rank, ranks=ranks, host="node%s%03d" % (suffix, rank // 64), pid=pid)
    made.update(begun=1_700_000_000 * 10**9 - 10**6, ns=20 * 10**9 + rank * 10**4, finalized=True)
    made.update(partial=False, checked=False, not_served=dict.fromkeys(KINDS, 0), keyvals=lines)
    made.update(attached=[attached], made=sites, most_alive={"window": 4}, addresses={}, trace=events)
    made.update(misuse={"stale-keyval" + suffix: dict(MISUSE, times=4, places=places)} if is_slow else {})
    return made


def write(ranks, folder, suffix):
    """`suffix` is the end of each name that programs and hosts give."""
    os.makedirs(folder, exist_ok=True)
    for rank in range(ranks):
        with open(os.path.join(folder, f"{rank:05}.json"), "w", encoding="utf-8") as file:
            json.dump(document(rank, ranks, suffix), file)
