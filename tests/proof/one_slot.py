# SPDX-License-Identifier: Apache-2.0 OR MIT
"""One slot under any number of sets, deletes, frees and holds: table/slot.h.

A step of a slot is one exchange. A look at all announcements is one step, alone or together with
opening a tomb or taking a turn; leaving.py shows that looks of several threads, which read cell by
cell, have the same result. A call that retries after a failed exchange is several calls.

A number is {sequence number, count of take-backs}, and none is used twice.
"""

from z3 import And, BoolSort, DeclareSort, EnumSort, If, Implies, Not, Or

from prover import Protocol, any_of, put, put_all

CALL, NUMBER, BOOL = DeclareSort("Call"), DeclareSort("Number"), BoolSort()
KIND, (SET, DELETE, FREE, HOLD) = EnumSort("Kind", ("set", "delete", "free", "hold"))
STATE, (EMPTY, ATTACHED, CLAIMED) = EnumSort("State", ("EMPTY", "ATTACHED", "CLAIMED"))
PLACE, PLACES = EnumSort("CallAt", (
    "idle", "owning", "deleting", "deleted", "failed", "busy", "leaving", "detached",
    "found", "announced", "looked", "holding", "changed", "over", "done", "refused"))
(IDLE, OWNING, DELETING, DELETED, FAILED, BUSY, LEAVING, DETACHED,
 FOUND, ANNOUNCED, LOOKED, HOLDING, CHANGED, OVER, DONE, REFUSED) = PLACES

SIZES = {CALL: 4, NUMBER: 8}


def one_slot(broken=None, sizes=None):
    p = Protocol(broken, sizes)
    unless, every, now = p.unless, p.every, p.now
    # Calls. A set also stands for its value. A value is `plain` if its keyval has no delete_fn, and
    # `once` if its keyval deletes once.
    p.declare("kind", CALL, KIND)
    p.declare("plain once inherits", CALL, BOOL)
    p.declare("new again", CALL, NUMBER)  # the numbers that a call may give out
    # The slot.
    p.declare("state", STATE)
    p.declare("value", CALL)
    p.declare("number", NUMBER)
    p.declare("unheld light hidden", BOOL)
    # What a call knows: its progress; what it has taken out or claimed; what it has announced and
    # read; and which tombs, open when it let go, it has yet to look at.
    p.declare("at", CALL, PLACE)
    p.declare("old hval", CALL, CALL)
    p.declare("old_number hnumber", CALL, NUMBER)
    p.declare("old_held old_light hlight", CALL, BOOL)
    p.declare("pending", CALL, CALL, BOOL)
    # What became of a value. `held`: by anybody, ever. `tried`: its delete_fn has begun. `left`: its
    # tomb is open.
    p.declare("attached held tried gone left refused reference", CALL, BOOL)
    # Ghost state: the claimer of the value in the slot; the last owner of a value, and of an
    # attachment; a thread that must look at a value that was left; and of each number whether it was
    # given out, and to which value.
    p.declare("claimer", CALL)
    p.declare("owner witness", CALL, CALL)
    p.declare("owner_of", NUMBER, CALL)
    p.declare("used", NUMBER, BOOL)
    p.declare("value_of", NUMBER, CALL)
    o, h, g, v = p.some("o h g v", CALL)  # a step's participants

    def is_set(x):
        return now.kind(x) == SET

    def deletes(x):
        return Or(now.kind(x) == DELETE, now.kind(x) == FREE)

    def announced(s, x):
        return any_of(s, x, ANNOUNCED, LOOKED, HOLDING, CHANGED)

    def holds(s, x, n):  # as a look sees it
        return And(announced(s, x), s.hnumber(x) == n)

    def nobody_holds(n):
        return every(CALL, lambda x: Not(holds(now, x, n)))

    p.assumed += [every(CALL, lambda a, b: And(
        Implies(Or(now.new(a) == now.new(b), now.again(a) == now.again(b)), a == b),
        now.new(a) != now.again(b)))]
    p.initially += [now.state == EMPTY, Not(now.unheld), Not(now.light), Not(now.hidden),
                    every(NUMBER, lambda n: Not(now.used(n))),
                    every(CALL, lambda a, b: And(now.at(a) == IDLE, Not(Or(
                        now.attached(a), now.held(a), now.tried(a), now.gone(a), now.left(a), now.refused(a),
                        now.reference(a), now.pending(a, b)))))]

    def attach(value, number, light=False):
        return [put(now.state, to=ATTACHED), put(now.value, to=value), put(now.number, to=number),
                put(now.unheld, to=Not(now.plain(value))), put(now.light, to=light),
                put(now.hidden, to=False), put(now.used, number), put(now.value_of, number, to=value)]

    def new_value(number):
        return attach(o, number) + [put(now.attached, o), put(now.reference, o, to=unless(
            "a set's value has no reference of its own", True, False))]

    def own():
        return [put(now.old, o, to=now.value), put(now.old_number, o, to=now.number),
                put(now.old_held, o, to=Not(now.unheld)), put(now.old_light, o, to=unless(
                    "who takes a value out doesn't see that it is light", now.light, False)),
                put(now.owner, now.value, to=o),
                put(now.owner_of, now.number, to=o), put(now.at, o, to=OWNING)]

    def empty():
        return [put(part, to=value) for part, value in (
            (now.state, EMPTY), (now.unheld, False), (now.light, False), (now.hidden, False))]

    def end(value):
        return [put(now.gone, value), put(now.reference, value, to=False)]

    ready = And(is_set(o), now.at(o) == IDLE)
    has = now.state == ATTACHED
    of_plain, plain = And(has, now.plain(now.value)), now.plain(o)
    of_other = And(has, Not(now.plain(now.value)))
    done = put(now.at, o, to=DONE)
    old, mine = now.old(o), And(now.state == CLAIMED, now.number == now.old_number(o))

    # ---- Sets and deletes
    p.step("S1", "attach", And(ready, now.state == EMPTY), *new_value(now.new(o)), done)
    inherited = now.inherits(o)
    p.step("S2", "replace", And(ready, plain, unless("S2 replaces a value with a delete_fn", of_plain, has)),
           *end(now.value), put(now.attached, o), put(now.reference, o),
           *attach(o, If(inherited, now.number, now.new(o))), done)
    p.step("S3", "detach", And(deletes(o), now.at(o) == IDLE, of_plain), *end(now.value), *empty(), done)
    p.step("S6", "exchange", And(ready, Not(plain), of_other), *own(),
           *new_value(unless("a value with a delete_fn inherits a number", now.new(o), now.number)))
    p.step("S8", "claim", And(deletes(o), now.at(o) == IDLE, of_other), *own(),
           put(now.state, to=CLAIMED), put(now.claimer, to=o))
    p.step("S10", "hide", And(now.kind(o) == DELETE, now.at(o) == IDLE, now.state == CLAIMED),
           put(now.hidden), done)
    p.step("S11", "attach over", And(ready, Not(plain), now.state == CLAIMED), *new_value(now.new(o)), done)
    p.step("L7", "somebody holds the old value", And(
        now.at(o) == OWNING, now.old_held(o), holds(now, h, now.old_number(o))),
           *unless("a delete opens the tomb while its claim stands", [],
           [put(now.left, old), put(now.witness, old, to=h)]),
           put(now.at, o, to=If(is_set(o), DETACHED, If(now.kind(o) == FREE, BUSY, unless(
               "a delete leaves out S12", LEAVING, DETACHED)))))
    p.step("L7", "nobody holds the old value: delete_fn begins", And(
        now.at(o) == OWNING, unless("nobody looks for holders", Or(
            Not(now.old_held(o)), nobody_holds(now.old_number(o))))),
           put(now.at, o, to=DELETING), put(now.tried, old))
    p.step("L8, L9", "opens the tomb, and finds that somebody still holds the old value", And(
        now.at(o) == DETACHED, holds(now, h, now.old_number(o))),
           put(now.left, old), put(now.witness, old, to=h), done)
    p.step("L8, L9, L6", "nobody holds the old value any more",
           And(now.at(o) == DETACHED, nobody_holds(now.old_number(o))),
           put(now.tried, old), *end(old), done)
    p.step("", "a set's delete_fn has succeeded", And(is_set(o), now.at(o) == DELETING), *end(old), done)
    p.step("", "a delete's delete_fn has ended, and the value is gone", And(deletes(o), now.at(o) == DELETING),
           put(now.gone, old), put(now.at, o, to=DELETED))
    p.step("", "delete_fn has failed", now.at(o) == DELETING, put(now.at, o, to=FAILED))
    untouched = And(Or(has, unless("S7 takes back a claimed value", False, now.state == CLAIMED)),
                    unless("S7 takes back whatever is there", now.number == now.new(o)),
                    unless("S7 takes back a value that was held", now.unheld))
    failed_set, refuse = And(is_set(o), now.at(o) == FAILED), [
        put(now.attached, o, to=False), put(now.refused, o), put(now.reference, o, to=False),
        put(now.at, o, to=REFUSED)]
    number = unless("S7 attaches under the old number", now.again(o), now.old_number(o))
    p.step("S7", "take back", And(failed_set, untouched, Not(now.once(old))), *attach(old, number, unless(
        "S7 attaches it as light as before", False, now.old_light(o))), *refuse)
    p.step("S7", "take back, of a keyval that deletes once", And(failed_set, untouched, now.once(old)),
           *empty(), *end(old), *refuse)
    p.step("S7", "finds the new value taken up", And(failed_set, Not(untouched)), *end(old), done)
    p.step("S9", "restore", And(deletes(o), any_of(now, o, FAILED, BUSY), Not(now.hidden),
                             unless("S9 restores what another has claimed", mine, now.state == CLAIMED)),
           put(now.state, to=ATTACHED), put(now.unheld, to=unless("S9 leaves it unheld", False, now.unheld)),
           done)
    p.step("S9", "finds it attached over", And(deletes(o), now.at(o) == FAILED, Not(mine)), *end(old), done)
    p.step("S9, S12", "finds it hidden", And(deletes(o), now.at(o) == FAILED, mine, now.hidden),
           *end(old), *empty(), done)
    may_detach = And(deletes(o), any_of(now, o, DELETED, LEAVING))
    ends = [put(now.at, o, to=If(now.at(o) == LEAVING, DETACHED, DONE)),
            put(now.reference, old, to=now.at(o) == LEAVING)]
    p.step("S12", "detach", And(may_detach, mine), *unless("S12 does nothing", empty(), []), *ends)
    p.step("S12", "finds it attached over", And(may_detach,
           unless("S12 detaches whatever is there", Not(mine))),
           *unless("S12 detaches whatever is there", [], empty()), *ends)
    # ---- Holders
    is_hold = now.kind(h) == HOLD
    p.step("", "a holder finds an attachment", And(is_hold, now.at(h) == IDLE, has),
           put(now.hnumber, h, to=now.number), put(now.hlight, h, to=now.light), put(now.at, h, to=FOUND))
    p.step("L1", "announces it", now.at(h) == FOUND, put(now.at, h, to=ANNOUNCED))
    p.step("S4", "hold", And(now.at(h) == ANNOUNCED, of_other, now.number == now.hnumber(h),
                                  now.light == now.hlight(h), now.unheld),
           put(now.unheld, to=False), put(now.hval, h, to=now.value),
           put(now.held, now.value), put(now.at, h, to=HOLDING))
    p.step("S5", "lighten", And(now.at(h) == HOLDING, of_other, Not(now.plain(now.hval(h))), Not(now.hlight(h)), unless(
        "S5 lightens what the caller doesn't hold", now.number == now.hnumber(h))), put(now.light))
    p.step("L2", "reads the value", now.at(h) == ANNOUNCED, put(now.hval, h, to=now.value),
           put(now.at, h, to=LOOKED))
    p.step("L2", "finds the meta unchanged, so holds it", And(
        now.at(h) == LOOKED, now.number == now.hnumber(h), now.light == now.hlight(h),
        unless("what is claimed can be held", has, now.state != EMPTY),
        unless("S4 is left out", Or(now.hlight(h), Not(now.unheld)))), put(now.at, h, to=HOLDING),
           put(now.held, now.hval(h), to=Or(now.held(now.hval(h)), Not(now.plain(now.hval(h))))))
    p.step("L2", "finds a change", any_of(now, h, ANNOUNCED, LOOKED), put(now.at, h, to=CHANGED))
    p.step("L3", "retracts", any_of(now, h, HOLDING, CHANGED), put(now.at, h, to=OVER),
           put_all(now.pending, lambda x, y: If(x == h, now.left(y), now.pending(x, y))))
    p.step("L4, L5", "has looked at the tomb of its attachment, if it was open", And(
        now.at(h) == OVER, unless("a holder that lets go doesn't look", every(CALL, lambda x: Not(
            And(now.left(x), now.pending(h, x), now.hnumber(h) == now.old_number(now.owner(x))))))),
           put(now.at, h, to=DONE))
    number_of_v = now.old_number(now.owner(v))
    to_look = And(now.at(h) == OVER, now.left(v), now.hnumber(h) == number_of_v)
    p.step("L5", "another holds what was left", And(to_look, now.pending(h, v), holds(now, g, number_of_v)),
           put(now.pending, h, v, to=False), put(now.witness, v, to=g))
    p.step("L6", "nobody holds what was left", And(to_look, nobody_holds(number_of_v)),
           put(now.left, v, to=False), put(now.tried, v), *end(v))

    # ---- Invariants
    def owning(s, x):
        return any_of(s, x, OWNING, DELETING, FAILED, BUSY, LEAVING, DETACHED)

    def occupied(s):
        return s.state != EMPTY

    def here(s, x):  # what x has taken or claimed is in the slot
        return Or(s.value == s.old(x), s.number == s.old_number(x))

    @p.invariant("calls take the steps of their kind", "a delete leaves out S12")
    def _(s):
        return every(CALL, lambda a: And(
            Implies(any_of(s, a, OWNING, DELETING, FAILED, DETACHED), Or(is_set(a), deletes(a))),
            Implies(any_of(s, a, DELETED, LEAVING), deletes(a)), Implies(s.at(a) == BUSY, now.kind(a) == FREE),
            Implies(any_of(s, a, FOUND, ANNOUNCED, LOOKED, HOLDING, CHANGED, OVER), now.kind(a) == HOLD),
            Implies(s.at(a) == REFUSED, is_set(a)), Implies(And(is_set(a), owning(s, a)), Not(s.plain(a))),
            Implies(s.at(a) == DETACHED, Not(And(s.state == CLAIMED, s.claimer == a)))))

    @p.invariant("a number is given out once", "a value with a delete_fn inherits a number")
    def _(s):
        return And(every(CALL, lambda a: And(
            Implies(s.used(s.new(a)), And(is_set(a), s.at(a) != IDLE)),
            Implies(And(is_set(a), s.at(a) != IDLE, Not(s.plain(a))), s.used(s.new(a))),
            Implies(s.used(s.again(a)), s.at(a) == REFUSED),
            Implies(And(s.used(s.new(a)), is_set(a), Not(s.plain(a))),
                    s.value_of(s.new(a)) == a),
            Implies(Or(s.at(a) == FOUND, announced(s, a)), s.used(s.hnumber(a))))),
            Implies(occupied(s), And(s.used(s.number), s.value_of(s.number) == s.value)))

    @p.invariant("what is light was held, and has a delete_fn", "S7 attaches it as light as before",
        "S5 lightens what the caller doesn't hold")
    def _(s):
        return Implies(s.light, And(occupied(s), Not(s.unheld), Not(s.plain(s.value))))

    @p.invariant("the value in the slot isn't left or gone", "S12 does nothing")
    def _(s):
        return Implies(occupied(s), And(
            is_set(s.value), s.attached(s.value), Not(s.left(s.value)), Not(s.refused(s.value)),
            s.gone(s.value) == And(s.state == CLAIMED, s.at(s.claimer) == DELETED),
            Implies(Or(s.unheld, s.state == CLAIMED), Not(s.plain(s.value)))))

    @p.invariant("the claimer of the value in the slot", "S12 does nothing")
    def _(s):
        return Implies(s.state == CLAIMED, And(
            deletes(s.claimer), Or(owning(s, s.claimer), s.at(s.claimer) == DELETED),
                s.old(s.claimer) == s.value,
            s.old_number(s.claimer) == s.number, s.owner(s.value) == s.claimer,
            s.owner_of(s.number) == s.claimer, s.old_held(s.claimer) == Not(s.unheld)))

    def not_attached(s, x):  # what x has, or had, to delete
        return And(Not(And(s.state == ATTACHED, here(s, x))),
                   Implies(And(s.state == CLAIMED, here(s, x)), s.claimer == x))

    def known(s, x):
        return And(s.old(x) != x, is_set(s.old(x)), Not(s.plain(s.old(x))), s.attached(s.old(x)),
            s.used(s.old_number(x)),
                   s.value_of(s.old_number(x)) == s.old(x), not_attached(s, x))

    @p.invariant("ONCE: a value has one owner, and while owned isn't left, gone or refused",
        "S7 takes back a claimed value")
    def _(s):
        return every(CALL, lambda a: Implies(owning(s, a), And(
            known(s, a), s.owner(s.old(a)) == a, s.owner_of(s.old_number(a)) == a,
            Not(s.gone(s.old(a))), Not(s.left(s.old(a))), Not(s.refused(s.old(a))))))

    @p.invariant("a deleted value is attached nowhere", "S9 restores what another has claimed")
    def _(s):
        return every(CALL, lambda a: Implies(s.at(a) == DELETED, And(
            known(s, a), s.gone(s.old(a)), s.owner(s.old(a)) == a)))

    @p.invariant("a value that was left is neither in the slot nor gone",
        "a delete opens the tomb while its claim stands")
    def _(s):
        return every(CALL, lambda a: Implies(s.left(a), And(
            known(s, s.owner(a)), s.old(s.owner(a)) == a, s.at(s.owner(a)) == DONE,
            s.owner_of(s.old_number(s.owner(a))) == s.owner(a), Not(s.gone(a)),
            Not(And(occupied(s), here(s, s.owner(a)))))))

    @p.invariant("DELETED: some thread holds what was left, or is about to look at it",
        "a holder that lets go doesn't look")
    def _(s):
        return every(CALL, lambda a: Implies(s.left(a), Or(
            holds(s, s.witness(a), s.old_number(s.owner(a))),
            And(s.at(s.witness(a)) == OVER, s.pending(s.witness(a), a),
                s.hnumber(s.witness(a)) == s.old_number(s.owner(a))))))

    @p.invariant("DELETED: a value that was set is attached, owned, left or gone",
        "S12 detaches whatever is there")
    def _(s):
        return every(CALL, lambda a: Implies(s.attached(a), Or(
            And(s.state == ATTACHED, s.value == a), And(owning(s, s.owner(a)), s.old(s.owner(a)) == a),
            s.left(a), s.gone(a))))

    @p.invariant("the history of a value", "S7 takes back whatever is there")
    def _(s):
        return every(CALL, lambda a: And(
            Implies(Or(s.gone(a), s.left(a), s.tried(a)), Or(s.attached(a))),
            Implies(s.attached(a), And(is_set(a), s.at(a) != IDLE, Not(s.refused(a)))),
            Implies(And(is_set(a), s.at(a) != IDLE, s.at(a) != REFUSED), s.attached(a)),
            s.refused(a) == (s.at(a) == REFUSED)))

    @p.invariant("REFUSED: a value that a set takes back was never held, nor did a delete_fn run on it",
                 "S7 takes back a value that was held", "S9 leaves it unheld")
    def _(s):
        return And(every(CALL, lambda a: Implies(Or(s.refused(a), And(is_set(a), s.at(a) == IDLE)),
                                                 Not(Or(s.held(a), s.tried(a))))),
                   Implies(And(s.state == ATTACHED, s.unheld, s.number == s.new(s.value)),
                           Not(Or(s.held(s.value), s.tried(s.value)))))

    @p.invariant("REFERENCES: each value that isn't gone has a reference on its keyval",
        "a set's value has no reference of its own")
    def _(s):
        return every(CALL, lambda a: s.reference(a) == And(s.attached(a), Or(
            Not(s.gone(a)), And(s.at(s.owner(a)) == DELETED, s.old(s.owner(a)) == a))))

    @p.invariant("a holder has the value of the attachment that it has announced",
        "S7 attaches under the old number", "S2 replaces a value with a delete_fn")
    def _(s):
        return every(CALL, lambda a: And(
            Implies(And(s.at(a) == LOOKED, occupied(s), s.number == s.hnumber(a)), And(
                s.plain(s.hval(a)) == s.plain(s.value), Or(s.plain(s.value), s.hval(a) == s.value))),
            Implies(And(s.at(a) == HOLDING, Not(s.plain(s.hval(a)))),
                    And(s.hval(a) == s.value_of(s.hnumber(a)), is_set(s.hval(a))))))

    def holding(s, x):
        return And(s.at(x) == HOLDING, Not(s.plain(s.hval(x))))

    @p.invariant("SAFE: a held value is attached, or left, or its owner hasn't looked yet or will leave it",
                 "S4 is left out")
    def _(s):
        def owner(a):
            return s.owner_of(s.hnumber(a))
        return every(CALL, lambda a: Implies(holding(s, a), And(
            s.attached(s.hval(a)), Not(s.gone(s.hval(a))), Or(
                And(s.state == ATTACHED, s.value == s.hval(a), s.number == s.hnumber(a), Not(s.unheld)),
                And(any_of(s, owner(a), OWNING, BUSY, LEAVING, DETACHED), s.old(owner(a)) == s.hval(a),
                s.old_held(owner(a)),
                    s.old_number(owner(a)) == s.hnumber(a)),
                And(s.left(s.hval(a)), s.old_number(s.owner(s.hval(a))) == s.hnumber(a))))))

    @p.invariant("a value that light readers hold is light, and its owner knows that",
        "who takes a value out doesn't see that it is light")
    def _(s):
        return And(every(CALL, lambda a: Implies(And(holding(s, a), s.hlight(a)), And(
                Implies(And(s.state == ATTACHED, s.number == s.hnumber(a)), s.light),
                Implies(And(any_of(s, s.owner_of(s.hnumber(a)), OWNING, BUSY, LEAVING, DETACHED),
                            s.old_number(s.owner_of(s.hnumber(a))) == s.hnumber(a)),
                        s.old_light(s.owner_of(s.hnumber(a))))))),
            Implies(s.state == CLAIMED, s.light == s.old_light(s.claimer)))

    @p.invariant("SAFE: nobody holds a value while its delete_fn runs", "nobody looks for holders",
        "what is claimed can be held")
    def _(s):
        return every(CALL, lambda a, b: Implies(And(holding(s, a), any_of(s, b, DELETING, FAILED, DELETED)),
                                                s.old(b) != s.hval(a)))

    return p
