# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The scenarios: which operations run concurrently, which outcome is forbidden, and which weaker code allows it.

A scenario begins with the memory that driver.c had before one of its operations. A control weakens the code
(aarch64.weaken); then the forbidden outcome must be possible, which shows that the test can fail.
"""

import dataclasses

from trace import Failed, calls_kernel


@dataclasses.dataclass
class Scenario:
    name: str
    never: str  # what must never happen
    begins: str
    threads: list  # of (function of an Author, further arguments)
    forbidden: str  # herd's condition; {name} stands for a thread's result
    controls: list  # [(what is taken away, {tag: kind of weakening})]


def is_of_exchange(what):
    return what.is_store or what.reserves


class Author:
    """Writes a thread: operations of the library, and what its caller does before and after."""

    def __init__(self, program, thread):
        self.program, self.thread = program, thread

    def at(self, name):
        if name == "slot0":
            return self.at("table") + 16
        return next(r.start for r in self.program.regions if r.name == name)

    def _result(self, name):
        temp = self.thread.temp(self.thread.temporary())
        self.thread.results[name] = temp
        return temp

    def _store(self, where, release=False):
        store = "STLR" if release else "STR"
        self.thread.emit(f"{store} {self.thread.constant(1)},[{self.thread.address(self.at(where))}]")

    def _load(self, temp, where, acquire):
        self.thread.emit(f"{'LDAR' if acquire else 'LDR'} {temp},[{self.thread.address(self.at(where))}]")

    def writes(self, where, tag="caller", release=False):
        self.thread.tag = tag
        self._store(where, release)

    def reads(self, where, name, tag="caller", acquire=False):
        self.thread.tag = tag
        temp = self._result(name)
        self._load(temp, where, acquire)
        return temp

    def _begin(self, operation):
        return self.thread.begin(self.program.operations[operation], operation)

    def does(self, operation, kept=lambda what: True, interrupted=""):
        """`interrupted`: where the kernel's fence falls: before the cell is written, after the operation, or between."""
        was_written = False
        for step, what in self._begin(operation):
            writes = what.is_store and what.accesses[0].address == self.at("cell")
            if writes and interrupted == "before" or was_written and interrupted == "between":
                self._kernel("ipi", "ack")
            was_written = writes
            self.thread.follow(step, what, kept(what))
        if interrupted == "after":
            self._kernel("ipi", "ack")

    def claims(self, operation, interrupts=False, looked=None):
        """A delete of a value that was held before. Of its looks at the cell only the last is kept, and finds the cell free; or,
        if `looked` names the result, the delete ends there, whatever it finds. What it then does to the slot is left out.
        """
        steps = self._begin(operation)
        looks = [at for at, (_, what) in enumerate(steps)
                 if what.accesses and not is_of_exchange(what) and what.accesses[0].address == self.at("cell")]
        fences = [at for at, (step, _) in enumerate(steps[:looks[-1]] if looks else []) if calls_kernel(step)]
        if not looks or interrupts and not fences:
            raise Failed(f"{operation}: it doesn't look at the cell, or doesn't ask the kernel for a fence before")
        for at, (step, what) in enumerate(steps):
            if interrupts and at == fences[-1]:  # an earlier one is left out, too
                self._kernel("ack", "ipi")
            self.thread.follow(step, what, at == looks[-1] or at < looks[-1] and is_of_exchange(what))
            if looked and at == looks[-1]:
                self.thread.move(self._result(looked), self.thread.own(what.accesses[0].register))
                return

    def _kernel(self, awaited, told):
        """The kernel's fence (membarrier): its caller interrupts the other thread, and awaits the answer."""
        tag, self.thread.tag = self.thread.tag, "kernel"
        asks = told == "ipi"
        if asks:
            self.thread.emit("DMB ISH")
            self._store(told)
        temp = self.thread.temp(self.thread.temporary())
        self._load(temp, awaited, not asks)
        self.leaves_if_zero(temp)
        self.thread.emit("DMB ISH")
        if not asks:
            self._store(told)
        self.thread.tag = tag

    def got(self, name):
        """The value that get has stored for its caller; if it found none, the thread ends."""
        temp = self.reads("result", name)
        self.leaves_if_zero(temp)
        return temp

    def reads_through(self, pointer, where, name):
        """Reads `where`, whose address depends on the pointer, as if it were the pointer itself."""
        temp = self._result(name)
        self.thread.emit(f"EOR {temp},{pointer},{pointer}")
        self.thread.emit(f"LDR {temp},[{self.thread.address(self.at(where))},{temp}]")

    def leaves_if_zero(self, temp):
        self.thread.emit(f"CBZ {temp},{self.thread.exit}")

    def done(self, name):
        self.thread.tag = "end"
        self.thread.emit(f"MOV {self._result(name)},#1")


def stored(t, writer):
    t.writes("data1" if writer == "attach" else "data2")
    t.does(writer)
    t.done("wrote")


def reads_what_it_got(t, where, operation="get"):
    t.does(operation)
    t.reads_through(t.got("pointer"), where, "seen")
    t.done("read")


def reads_beside(t, where, operation="get"):
    t.does(operation)
    t.got("pointer")
    t.reads(where, "seen")
    t.done("read")


def only(t, operation, done, interrupted=""):
    t.does(operation, interrupted=interrupted)
    t.done(done)


def exchanges(t, operation, done):
    """Only exchanges and stores: with the loads before them, there are more executions than herd can go through."""
    t.does(operation, is_of_exchange)
    t.done(done)


def gets(t):
    t.does("get")
    t.got("pointer")
    t.done("read")


def claims(t, operation, interrupts=False):
    t.claims(operation, interrupts)
    t.done("deletes")


def looks(t, delete, interrupts):
    t.claims(delete, interrupts=interrupts, looked="looked")


def uses_and_gives_back(t):
    t.reads("data2", "seen")
    t.does("give_back")


def deletes_and_overwrites(t):
    t.claims("delete_read")
    t.writes("data2")
    t.done("deletes")


def deletes_and_tells(t):
    t.does("delete")
    t.writes("flag", "flag", release=True)


def is_told_and_gets(t):
    t.leaves_if_zero(t.reads("flag", "told", "flag", acquire=True))
    gets(t)


BORROWED = "a borrow holds the value, and the delete has seen no holder"
LEFT = "a deletion is handed off to a borrower, which gives back and doesn't find that it was told"

SCENARIOS = [
    Scenario("attach, read through", "a get returns a value, and its target is as it was before",
             "attach", [(stored, "attach"), (reads_what_it_got, "data1")], "{read}=1 /\\ {seen}=0",
             [("set's release", {"attach": "release"})]),
    Scenario("attach, read beside", "the same of data that the value doesn't point to, an index's for example",
             "attach", [(stored, "attach"), (reads_beside, "data1")], "{read}=1 /\\ {seen}=0",
             [("set's release", {"attach": "release"}), ("get's acquire", {"get": "acquire"})]),
    Scenario("replace, read through", "the same of a value that replaces another",
             "replace", [(stored, "replace"), (reads_what_it_got, "data2")], "{read}=1 /\\ {pointer}={data2} /\\ {seen}=0",
             [("set's release", {"replace": "release"})]),
    Scenario("replace, read beside", "the same of data beside it",
             "replace", [(stored, "replace"), (reads_beside, "data2")], "{read}=1 /\\ {pointer}={data2} /\\ {seen}=0",
             [("set's release", {"replace": "release"}), ("get's acquire", {"get": "acquire"})]),
    Scenario("whole, the old tag", "a get beside a set of an Aint takes the Aint for the pointer that was there",
             "replace_by_aint", [(only, "replace_by_aint", "wrote"), (gets,)], "{read}=1 /\\ {pointer}=7",
             [("get's acquire, or one step", {"get": "acquire atomicity"})]),
    Scenario("whole, the new tag", "a get that finds an Aint gives an address where the old pointer still is",
             "replace_by_aint", [(only, "replace_by_aint", "wrote"), (reads_what_it_got, "slot0", "get_aint")],
             "{read}=1 /\\ {seen}={data2}",
             [("get's acquire, or one step", {"get_aint": "acquire atomicity"})]),
    Scenario("delete, then tell", "a get returns a value whose delete has happened before",
             "delete", [(deletes_and_tells,), (is_told_and_gets,)], "{read}=1",
             [("the reader's acquires", {"flag": "acquire", "get": "acquire"})]),
    Scenario("attach, attach", "both take effect",
             "attach", [(exchanges, "attach", "first"), (exchanges, "attach", "second")], "{first}=1 /\\ {second}=1",
             [("one set's atomicity", {"attach": "atomicity"})]),
    Scenario("delete, delete", "both detach the value",
             "delete", [(exchanges, "delete", "first"), (exchanges, "delete", "second")], "{first}=1 /\\ {second}=1",
             [("the deletes' atomicity", {"delete": "atomicity"})]),
    Scenario("replace, delete", "both take effect, and a value is left",
             "replace_again", [(exchanges, "replace_again", "first"), (exchanges, "delete", "second")],
             "{first}=1 /\\ {second}=1 /\\ ~(slot0[1]=0)",
             [("set's atomicity", {"replace_again": "atomicity"})]),
    Scenario("set if absent, twice", "both attach their value",
             "attach_if_absent", [(exchanges, "attach_if_absent", "first"), (exchanges, "attach_if_absent", "second")],
             "{first}=1 /\\ {second}=1",
             [("one set's atomicity", {"attach_if_absent": "atomicity"})]),
    Scenario("set if absent, get", "a get returns the value that it attached, and data beside it is as it was before",
             "attach_if_absent", [(stored, "attach_if_absent"), (reads_beside, "data2")], "{read}=1 /\\ {seen}=0",
             [("set's release", {"attach_if_absent": "release"}), ("get's acquire", {"get": "acquire"})]),
    Scenario("attach, set if absent", "it finds the value present, and data beside it is as it was before",
             "attach", [(stored, "attach"), (reads_beside, "data1", "find_present")], "{read}=1 /\\ {seen}=0",
             [("set's release", {"attach": "release"}), ("its acquire", {"find_present": "acquire"})]),
    Scenario("first borrow, delete", BORROWED,
             "first_borrow", [(exchanges, "first_borrow", "borrowed"), (claims, "full_delete_read")],
             "{borrowed}=1 /\\ {deletes}=1",
             [("the borrow's release", {"first_borrow": "release"})]),
    Scenario("full borrow, delete", BORROWED,
             "full_borrow", [(only, "full_borrow", "borrowed"), (claims, "full_delete_read")], "{borrowed}=1 /\\ {deletes}=1",
             [("the borrow's full fence", {"full_borrow": "fence"}), ("the delete's full fence", {"full_delete_read": "fence"})]),
    Scenario("full give back, leave", LEFT,
             "full_give_back_of_left", [(only, "full_give_back_of_left", "silent"), (looks, "full_leave", False)],
             "{silent}=1 /\\ {looked}={held}",
             [("the borrower's full fence", {"full_give_back_of_left": "fence"})]),
] + [
    Scenario(f"borrow, delete, {interrupted}", BORROWED,
             "borrow", [(only, "borrow", "borrowed", interrupted), (claims, "delete_read", True)],
             "{borrowed}=1 /\\ {deletes}=1",
             [("the kernel's fence", {"kernel": "everything", "borrow": "fence"})])
    for interrupted in ("before", "between", "after")
] + [
    Scenario(f"give back, leave, {interrupted}", LEFT,
             "give_back_of_left", [(only, "give_back_of_left", "silent", interrupted), (looks, "leave", True)],
             "{silent}=1 /\\ {looked}={held}",
             [("the kernel's fence", {"kernel": "everything"})])
    for interrupted in ("before", "between", "after")
] + [
    Scenario("give back, delete", "a borrower has read what was written after the value's delete",
             "give_back", [(uses_and_gives_back,), (deletes_and_overwrites,)], "{deletes}=1 /\\ {seen}=1",
             [("every order of giving back", {"give_back": "acquire release"})]),
]
