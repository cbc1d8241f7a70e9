# SPDX-License-Identifier: Apache-2.0 OR MIT
"""mpi4py: attributes of communicators, datatypes and windows with Python callbacks, also in threads."""

import sys
import threading

from mpi4py import MPI

checks = 0
failures = 0
rank = MPI.COMM_WORLD.Get_rank()


def check(condition, what):
    global checks, failures
    checks += 1
    if not condition:
        failures += 1
        print(f"rank {rank}: FAILED {what}", flush=True)


def objects_with_attributes():
    win = MPI.Win.Allocate(16, 1, MPI.INFO_NULL, MPI.COMM_SELF)
    return [
        (MPI.Comm, MPI.COMM_SELF.Dup(), lambda c: c.Dup()),
        (MPI.Datatype, MPI.INT.Create_contiguous(3), lambda t: t.Dup()),
        (MPI.Win, win, None),
    ]


def callbacks():
    for kind, thing, dup in objects_with_attributes():
        did = []

        def copy_fn(obj, keyval, value):
            did.append(("copy", value))
            return value + ["copied"]

        def delete_fn(obj, keyval, value):
            did.append(("delete", value))

        keyval = kind.Create_keyval(copy_fn, delete_fn)
        check(thing.Get_attr(keyval) is None, f"{kind} absent")
        thing.Set_attr(keyval, ["first"])
        check(thing.Get_attr(keyval) == ["first"], f"{kind} get")
        thing.Set_attr(keyval, ["second"])
        check(did == [("delete", ["first"])], f"{kind} replace: {did}")
        did.clear()
        if dup is not None:
            other = dup(thing)
            check(other.Get_attr(keyval) == ["second", "copied"], f"{kind} dup")
            other.Free()
            check(
                did == [("copy", ["second"]), ("delete", ["second", "copied"])],
                f"{kind} dup and free: {did}",
            )
            did.clear()
        thing.Delete_attr(keyval)
        check(did == [("delete", ["second"])], f"{kind} delete: {did}")
        did.clear()
        thing.Set_attr(keyval, ["last"])
        thing.Free()
        check(did == [("delete", ["last"])], f"{kind} free: {did}")
        kind.Free_keyval(keyval)


def without_python_objects():
    keyval = MPI.Comm.Create_keyval(nopython=True)
    comm = MPI.COMM_SELF.Dup()
    comm.Set_attr(keyval, 4711)
    check(comm.Get_attr(keyval) == 4711, "nopython")
    comm.Free()
    MPI.Comm.Free_keyval(keyval)


def threads():
    keyval = MPI.Comm.Create_keyval(lambda c, k, v: v, lambda c, k, v: None)
    wrong = []

    def work(number):
        for i in range(200):
            comm = MPI.COMM_SELF.Dup()
            comm.Set_attr(keyval, (number, i))
            copy = comm.Dup()
            if copy.Get_attr(keyval) != (number, i):
                wrong.append((number, i))
            copy.Free()
            comm.Free()

    workers = [threading.Thread(target=work, args=(n,)) for n in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    check(not wrong, f"threads: {wrong}")
    MPI.Comm.Free_keyval(keyval)


callbacks()
without_python_objects()
threads()
if failures == 0:
    print(f"rank {rank}: {checks} checks passed", flush=True)
sys.exit(failures != 0)
