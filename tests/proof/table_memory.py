# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The memory of a table, released and reused beside deletions in progress: step 4 of
lib/CONCURRENCY.md, free.cc.

Any number of replacing sets and of deletes, in successive lives of the memory. The owner frees or
abandons the object. It sees other threads by their claims in slots, by cells that say kDeletes, and
by tombs; it reads cells and tombs one by one, in any order. Meanwhile no thread begins a call on the
object, and each call that began before has taken its step on the slot.
"""

from z3 import And, BoolSort, BoolVal, DeclareSort, EnumSort, If, Implies, Not, Or

from prover import Protocol, any_of, put, put_all

CALL, BOOL = DeclareSort("Call"), BoolSort()
PLACE, PLACES = EnumSort("DeletionAt", (
    "idle", "said", "marked", "stepped", "running", "leaving", "opening", "opened", "ended", "done"))
IDLE, SAID, MARKED, STEPPED, RUNNING, LEAVING, OPENING, OPENED, ENDED, DONE = PLACES
TOMB, (OPEN, TAKEN, OWN, FREE) = EnumSort("Tomb", ("open", "taken", "own", "free"))
PHASE, (USED, CELLS, TOMBS, RELEASED) = EnumSort("Phase", ("used", "cells", "tombs", "released"))
SIZES = {CALL: 3}


def table_memory(broken=None, sizes=None):
    p = Protocol(broken, sizes)
    unless, every, now = p.unless, p.every, p.now
    # A set or a delete; and whether it runs further up the owner's stack, in its delete_fn.
    p.declare("is_set own", CALL, BOOL)
    # The owner's progress, and Table::marked().
    p.declare("phase", PHASE)
    p.declare("replaced", BOOL)
    # A call: its progress; its tomb, which is OWN while its delete_fn runs up the owner's stack; its
    # claim in the slot; what its cell says; and what the owner has seen of it.
    p.declare("at", CALL, PLACE)
    p.declare("tomb", CALL, TOMB)
    p.declare("claims says cell_seen tomb_seen", CALL, BOOL)
    d = p.some("d", CALL)

    p.initially += [now.phase == USED, Not(now.replaced), every(CALL, lambda a: And(
        now.at(a) == IDLE, now.tomb(a) == FREE, Not(Or(now.claims(a), now.says(a), now.cell_seen(a),
        now.tomb_seen(a)))))]

    # ---- A set or a delete
    at, used = now.at(d), Or(now.phase == USED, unless("calls begin while the object is freed", False, True))
    p.step("", "says kDeletes", And(at == IDLE, used, now.phase != RELEASED), put(now.at, d, to=SAID),
           put(now.says, d, to=unless("nobody says kDeletes", True, False)))
    p.step("S6", "first marks the table", And(at == SAID, now.is_set(d)), put(now.at, d, to=MARKED),
           put(now.replaced))
    p.step("S6", "exchange", And(now.is_set(d), at == unless("S6 comes before the mark", MARKED, SAID)),
           put(now.at, d, to=STEPPED))
    p.step("S8", "claim", And(at == SAID, Not(now.is_set(d))), put(now.at, d, to=STEPPED), put(now.claims, d))
    p.step("S11", "attach over, having marked the table", And(now.claims(d), now.phase == USED),
           put(now.claims, d, to=False), put(now.replaced,
           to=Or(now.replaced, unless("S11 doesn't mark", True, False))))
    p.step("L7", "nobody holds the value: delete_fn begins", at == STEPPED, put(now.at, d, to=RUNNING))
    p.step("S7, S9, S12", "touches the table for the last time", at == RUNNING, put(now.at, d, to=ENDED),
           put(now.claims, d, to=False))
    p.step("L7", "somebody holds the value: marks the table", at == STEPPED, put(now.at, d, to=LEAVING),
           put(now.replaced, to=Or(now.replaced, unless("what is left doesn't mark", True, False))))
    p.step("S12", "detach a value that is left", at == LEAVING, put(now.at, d, to=OPENING),
           put(now.claims, d, to=False))
    p.step("L8", "opens the tomb", at == OPENING, put(now.at, d, to=OPENED), put(now.tomb, d, to=OPEN))
    p.step("", "a call says kDeletes no longer", Or(any_of(now, d, OPENED, ENDED), unless(
        "kDeletes ends before L8", False, at == OPENING)), put(now.says, d, to=False),
            put(now.at, d, to=If(at == OPENING, at, DONE)))
    p.step("L6", "somebody takes the tomb", now.tomb(d) == OPEN, put(now.tomb, d, to=TAKEN))
    p.step("L6", "the owner takes the tomb", now.tomb(d) == OPEN, put(now.tomb, d, to=OWN))
    p.step("", "delete_fn has ended, and the tomb is free", Or(now.tomb(d) == TAKEN, now.tomb(d) == OWN),
           put(now.tomb, d, to=FREE))

    # ---- The owner
    def needs(s, x):  # the table or the object
        return Or(any_of(s, x, SAID, MARKED, STEPPED, RUNNING, LEAVING, OPENING), s.tomb(x) == OPEN,
            s.tomb(x) == TAKEN)

    def up_the_stack(s, x):
        return And(s.own(x), s.at(x) == RUNNING)

    released = [put(now.phase, to=RELEASED),  # and calls up the stack know: Frame::table_died
                put_all(now.at, lambda x: If(up_the_stack(now, x), ENDED, now.at(x))),
                put_all(now.claims, lambda x: And(now.claims(x), Not(up_the_stack(now, x)))),
                put_all(now.tomb, lambda x: If(now.tomb(x) == OWN, FREE, now.tomb(x)))]
    no_claims = And(now.phase == USED, every(CALL, lambda x: Not(any_of(now, x, SAID, MARKED))),
                    every(CALL, lambda x: unless("claims aren't looked for",
                        Or(Not(now.claims(x)), up_the_stack(now, x)))))
    p.step("", "the owner sees no claims and no mark, and releases the memory",
           And(no_claims, Not(now.replaced)), *released)
    p.step("", "the owner sees no claims, but the mark", And(no_claims, now.replaced), put(now.phase, to=CELLS))
    p.step("", "the owner looks at a cell", And(now.phase == CELLS,
           Or(Not(now.says(d)), up_the_stack(now, d))), put(now.cell_seen, d))
    p.step("", "the owner has looked at all cells", And(now.phase == CELLS, unless(
        "cells aren't looked at", every(CALL, lambda x: now.cell_seen(x)))), put(now.phase, to=TOMBS))
    p.step("", "the owner looks at a tomb", And(
        Or(now.phase == TOMBS, unless("tombs are looked at before cells", False, now.phase == CELLS)),
        now.tomb(d) != OPEN, unless("a taken tomb doesn't matter", now.tomb(d) != TAKEN)),
        put(now.tomb_seen, d))
    p.step("", "the owner has looked at all tombs, and releases the memory", And(now.phase == TOMBS, unless(
        "tombs aren't looked at", every(CALL, lambda x: now.tomb_seen(x)))), *released)
    forget = [put_all(now.cell_seen, lambda x: BoolVal(False)),
        put_all(now.tomb_seen, lambda x: BoolVal(False))]
    p.step("", "the owner gives up: BUSY", Or(now.phase == CELLS, now.phase == TOMBS),
           put(now.phase, to=USED), *forget)
    p.step("", "the memory is used for another table", now.phase == RELEASED, put(now.phase, to=USED),
           put(now.replaced, to=False), *forget)

    # ---- Invariants
    @p.invariant("calls take their steps in order", "kDeletes ends before L8")
    def _(s):
        return every(CALL, lambda a: And(
            Implies(s.claims(a), And(Not(s.is_set(a)), any_of(s, a, STEPPED, RUNNING, LEAVING))),
            Implies(any_of(s, a, SAID, MARKED, STEPPED, RUNNING, LEAVING, OPENING, OPENED, ENDED), s.says(a)),
            Implies(Or(s.tomb(a) == OPEN, s.tomb(a) == TAKEN, s.tomb(a) == OWN), any_of(s, a, OPENED, DONE)),
            Implies(any_of(s, a, SAID, MARKED, STEPPED, LEAVING, OPENING), s.tomb(a) == FREE)))

    @p.invariant("a thread that needs the table says so in a cell, or its tomb is open or taken",
        "nobody says kDeletes")
    def _(s):
        return every(CALL, lambda a: Implies(needs(s, a), Or(s.says(a), s.tomb(a) == OPEN, s.tomb(a) == TAKEN)))

    @p.invariant("without a mark, a thread that needs the table has a claim there", "S6 comes before the mark",
                 "S11 doesn't mark", "what is left doesn't mark")
    def _(s):
        return every(CALL, lambda a: Implies(needs(s, a), Or(
            s.replaced, s.at(a) == SAID, And(s.claims(a), s.at(a) != LEAVING))))

    @p.invariant("while the object is freed, nobody begins a call on it",
        "calls begin while the object is freed")
    def _(s):
        return Implies(s.phase != USED, every(CALL, lambda a: Not(any_of(s, a, SAID, MARKED))))

    @p.invariant("the owner has seen that nobody claims anything", "claims aren't looked for")
    def _(s):
        return Implies(s.phase != USED, every(CALL, lambda a: Or(Not(s.claims(a)), up_the_stack(s, a))))

    @p.invariant("the owner has seen that nobody is within a deletion", "cells aren't looked at")
    def _(s):
        return every(CALL, lambda a: And(
            Implies(s.cell_seen(a), s.phase != USED),
            Implies(Or(And(s.phase == CELLS, s.cell_seen(a)), s.phase == TOMBS),
                    Or(Not(s.says(a)), s.at(a) == ENDED, up_the_stack(s, a)))))

    @p.invariant("the owner has seen that nothing is left", "tombs are looked at before cells",
        "a taken tomb doesn't matter")
    def _(s):
        return every(CALL, lambda a: Implies(s.tomb_seen(a), And(
            Or(s.phase == TOMBS, s.phase == RELEASED), s.tomb(a) != OPEN, s.tomb(a) != TAKEN)))

    @p.invariant("SAFE: no thread needs a table whose memory was released",
        "tombs aren't looked at")
    def _(s):
        return Implies(s.phase == RELEASED, every(CALL, lambda a: Not(needs(s, a))))

    return p
