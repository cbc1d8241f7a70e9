# SPDX-License-Identifier: Apache-2.0 OR MIT
"""mpi4py: attributes of communicators, datatypes and windows with Python callbacks, also in threads."""

import sys
import threading

from mpi4py import MPI

checks = 0
failures = 0
rank = MPI.COMM_WORLD.Get_rank()


def equal(found, expected, what):
    global checks, failures
    checks += 1
    if found != expected:
        failures += 1
        print(f"rank {rank}: FAILED {what}: {found}, not {expected}", flush=True)


def callbacks(kind, thing, duplicates):
    did = []

    def copy_fn(obj, keyval, value):
        did.append("copy " + value)
        return value + "'s copy"

    def delete_fn(obj, keyval, value):
        did.append("delete " + value)

    keyval = kind.Create_keyval(copy_fn, delete_fn)
    equal(thing.Get_attr(keyval), None, f"{kind}, at first")
    thing.Set_attr(keyval, "first")
    thing.Set_attr(keyval, "second")
    equal(thing.Get_attr(keyval), "second", f"{kind}, set")
    if duplicates:
        other = thing.Dup()
        equal(other.Get_attr(keyval), "second's copy", f"{kind}, copied")
        other.Free()
    thing.Delete_attr(keyval)
    thing.Set_attr(keyval, "last")
    thing.Free()
    copied = ["copy second", "delete second's copy"] if duplicates else []
    equal(did, ["delete first", *copied, "delete second", "delete last"], f"{kind}, called back")
    kind.Free_keyval(keyval)


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
    equal(wrong, [], "threads")
    MPI.Comm.Free_keyval(keyval)


callbacks(MPI.Comm, MPI.COMM_SELF.Dup(), True)
callbacks(MPI.Datatype, MPI.INT.Create_contiguous(3), True)
callbacks(MPI.Win, MPI.Win.Allocate(16, 1, MPI.INFO_NULL, MPI.COMM_SELF), False)
threads()
if failures == 0:
    print(f"rank {rank}: {checks} checks passed", flush=True)
sys.exit(failures != 0)
