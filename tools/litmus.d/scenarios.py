# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What is asked of the model: who does what beside whom, what must never come of it, and what makes the test fail.

A scenario begins with the memory that driver.c had before one of its operations. A control takes something away from the
code (arch.weaken), and then the forbidden outcome must be possible: so each test is seen to fail.
"""

import dataclasses


@dataclasses.dataclass
class Scenario:
    name: str
    never: str  # what must never happen
    begins: str
    threads: list  # of functions of an Author
    forbidden: str  # herd's condition; {name} stands for a thread's result
    controls: list  # [(what is taken away, {tag: kind of weakening})]


class Author:
    """Writes a thread: operations of the library, and what its caller does before and after."""

    def __init__(self, arch, program, thread):
        self.arch, self.program, self.thread = arch, program, thread

    def at(self, name):
        if name == "slot0":
            return self.at("table") + 16
        return next(r.start for r in self.program.regions if r.name == name)

    def _result(self, name):
        temp = self.thread.temp(self.thread.temporary())
        self.thread.results[name] = temp
        return temp

    def writes(self, where, tag="caller", release=False):
        self.thread.tag = tag
        self.arch.store(self.thread, self.at(where), 1, release)

    def reads(self, where, name, tag="caller", acquire=False):
        self.thread.tag = tag
        temp = self._result(name)
        self.arch.load(self.thread, temp, self.at(where), acquire)
        return temp

    def does(self, operation, exchanges_only=False):
        self.thread.follow(self.program.operations[operation], operation, exchanges_only)

    def got(self, name):
        """What get has put into its caller's variable; without a value, the thread ends."""
        temp = self.reads("result", name)
        self.arch.leave_if_zero(self.thread, temp)
        return temp

    def reads_through(self, pointer, where, name):
        """Reads `where`, whose address depends on the pointer, as if it were the pointer itself."""
        self.arch.load_through(self.thread, self._result(name), pointer, self.at(where))

    def leaves_if_zero(self, temp):
        self.arch.leave_if_zero(self.thread, temp)

    def done(self, name):
        self.thread.tag = "end"
        self.arch.done(self.thread, self._result(name))


def stored(writer):
    def code(t):
        t.writes("data1" if writer == "attach" else "data2")
        t.does(writer)
        t.done("wrote")
    return code


def reads_what_it_got(where):
    def code(t):
        t.does("get")
        t.reads_through(t.got("pointer"), where, "seen")
        t.done("read")
    return code


def reads_beside(where):
    def code(t):
        t.does("get")
        t.got("pointer")
        t.reads(where, "seen")
        t.done("read")
    return code


def only(operation, done):
    def code(t):
        t.does(operation)
        t.done(done)
    return code


def exchanges(operation, done):
    """Only the exchange: with the loads before it, there are more executions than herd can go through."""
    def code(t):
        t.does(operation, exchanges_only=True)
        t.done(done)
    return code


def gets(operation="get"):
    def code(t):
        t.does(operation)
        t.got("pointer")
        t.done("read")
    return code


def gets_address(t):
    t.does("get_aint")
    t.reads_through(t.got("pointer"), "slot0", "seen")
    t.done("read")


def uses_and_gives_back(t):
    t.reads("data2", "seen")
    t.does("give_back")


def deletes_and_overwrites(t):
    t.does("delete")
    t.writes("data2")
    t.done("deleted")


def deletes_and_tells(t):
    t.does("delete")
    t.writes("flag", "flag", release=True)


def is_told_and_gets(t):
    t.leaves_if_zero(t.reads("flag", "told", "flag", acquire=True))
    t.does("get")
    t.got("pointer")
    t.done("read")


SCENARIOS = [
    Scenario("attach, read through", "a get returns a value, and what that points to is as it was before",
             "attach", [stored("attach"), reads_what_it_got("data1")], "{read}=1 /\\ {seen}=0",
             [("set's release", {"attach": "release"})]),
    Scenario("attach, read beside", "the same of data that the value doesn't point to, an index's for example",
             "attach", [stored("attach"), reads_beside("data1")], "{read}=1 /\\ {seen}=0",
             [("set's release", {"attach": "release"}), ("get's acquire", {"get": "acquire"})]),
    Scenario("replace, read through", "the same of a value that replaces another",
             "replace", [stored("replace"), reads_what_it_got("data2")], "{read}=1 /\\ {pointer}={data2} /\\ {seen}=0",
             [("set's release", {"replace": "release"})]),
    Scenario("replace, read beside", "the same of data beside it",
             "replace", [stored("replace"), reads_beside("data2")], "{read}=1 /\\ {pointer}={data2} /\\ {seen}=0",
             [("set's release", {"replace": "release"}), ("get's acquire", {"get": "acquire"})]),
    Scenario("whole, the old tag", "a get beside a set of an Aint takes the Aint for the pointer that was there",
             "replace_by_aint", [only("replace_by_aint", "wrote"), gets()], "{read}=1 /\\ {pointer}=7",
             [("get's acquire, or one step", {"get": "acquire atomicity"})]),
    Scenario("whole, the new tag", "a get that finds an Aint gives an address where the old pointer still is",
             "replace_by_aint", [only("replace_by_aint", "wrote"), gets_address], "{read}=1 /\\ {seen}={data2}",
             [("get's acquire, or one step", {"get_aint": "acquire atomicity"})]),
    Scenario("delete, then tell", "a get returns a value whose delete has happened before",
             "delete", [deletes_and_tells, is_told_and_gets], "{read}=1",
             [("the reader's acquires", {"flag": "acquire", "get": "acquire"})]),
    Scenario("attach, attach", "both take effect",
             "attach", [exchanges("attach", "first"), exchanges("attach", "second")], "{first}=1 /\\ {second}=1",
             [("one set's atomicity", {"attach": "atomicity"})]),
    Scenario("delete, delete", "both detach the value",
             "delete", [exchanges("delete", "first"), exchanges("delete", "second")], "{first}=1 /\\ {second}=1",
             [("the deletes' atomicity", {"delete": "atomicity"})]),
    Scenario("replace, delete", "both take effect, and a value is left",
             "replace_again", [exchanges("replace_again", "first"), exchanges("delete", "second")],
             "{first}=1 /\\ {second}=1 /\\ ~(slot0[1]=0)",
             [("set's atomicity", {"replace_again": "atomicity"})]),
    Scenario("borrow, delete", "a value that is deleted is borrowed",
             "borrow", [exchanges("borrow", "first"), exchanges("delete", "second")], "{first}=1 /\\ {second}=1",
             [("the borrow's atomicity", {"borrow": "atomicity"})]),
    Scenario("give back, delete", "a borrower has read what was written after the value's delete",
             "give_back", [uses_and_gives_back, deletes_and_overwrites], "{deleted}=1 /\\ {seen}=1",
             [("every order of giving back", {"give_back": "acquire release"})]),
]
