# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How the deletion of one attachment is handed off to its holders: readers/tomb.h.

Any number of attempts to hold something in one slot, announced in any number of reused cells, beside
one deletion. An attempt announces the attachment being deleted, or another one. Each is a light or a
full reader (asymmetric_fence.h), as the meta says that it has read; and so the deleter's fence.

A thread sees no more of another's stores than C++ guarantees: a store that nothing orders before a
load may be seen at once or never; one that the fence or a turn orders must be seen. A thread that
looks for holders reads the cells one by one, in any order: of each first `what`, then `meta`, which
may belong to another attempt by then. (Attempts in other slots, whose `meta` may be the same, aren't
in this proof: for them a holder that was found is made sure of by F4's exchange.)
"""

from z3 import And, BoolSort, DeclareSort, EnumSort, If, Implies, Not, Or

from prover import Protocol, any_of, put, put_all

LOOK, CELL, BOOL = DeclareSort("Look"), DeclareSort("Cell"), BoolSort()
PLACE, PLACES = EnumSort("LookAt", (
    "idle", "found", "stored", "announced", "holding", "failed", "over", "checking", "ended", "looking"))
IDLE, FOUND, STORED, ANNOUNCED, HOLDING, FAILED, OVER, CHECKING, ENDED, LOOKING = PLACES

SIZES = {LOOK: 5, CELL: 2}


def leaving(broken=None, sizes=None):
    p = Protocol(broken, sizes)
    unless, every, now = p.unless, p.every, p.now
    # A Look is an attempt to hold, with the look for other holders that may follow; or the deleter's
    # first or second look, at L7 or L9.
    p.declare("first second", LOOK)
    p.declare("cell", LOOK, CELL)
    p.declare("before", LOOK, LOOK, BOOL)  # both in one cell, the first one earlier
    p.declare("same full", LOOK, BOOL)  # announces this attachment; is a full reader
    # An attempt: its progress; whether it held the value (the first of all by S4), executed its full
    # fences, and is ordered behind the deleter's first fence, and behind its second; and whether looks
    # behind the first must see its L1, and looks behind the second its L3.
    p.declare("at", LOOK, PLACE)
    # `told`: the deleter's first look has found it, and told it so.
    p.declare("held first_hold fence1 fence2 behind behind2 shown ended told", LOOK, BOOL)
    # What the slot says of the attachment; and the deletion. `kernel`: its fences are the kernel's.
    # `alone`: the first look has found only one holder, `sole`.
    p.declare("unheld light", BOOL)
    p.declare("stepped kernel fenced opened fenced2 turned taken alone", BOOL)
    p.declare("sole", LOOK)
    # A look: whose turns it has acquired, whose `what` it has read, whose use of the value it has
    # acquired; which cells it is through with; whether it is behind the second fence, the deleter's turn
    # having come before its own; whether it has found a holder, or taken the tomb.
    p.declare("acquired saw handed", LOOK, LOOK, BOOL)
    p.declare("through", LOOK, CELL, BOOL)
    p.declare("after gave_up took", LOOK, BOOL)
    # Ghost state: the last look that took a turn on the tomb; the holder that this look has found; and
    # the look that has taken the tomb.
    p.declare("last found taker", LOOK)
    h, later, look = p.some("h later look", LOOK)  # a step's participants
    c = p.some("c", CELL)

    def over(s, x):
        return any_of(s, x, OVER, CHECKING, ENDED, LOOKING)

    def announced(s, x):
        return Or(any_of(s, x, ANNOUNCED, HOLDING, FAILED), over(s, x))

    def turned(s, x):
        return s.at(x) == LOOKING

    def is_deleter(x):
        return Or(x == now.first, x == now.second)

    p.assumed += [
        now.first != now.second,
        every(LOOK, lambda a, b: Implies(now.before(a, b),
            And(now.cell(a) == now.cell(b), Not(now.before(b, a))))),
        every(LOOK, lambda a, b, x: Implies(And(now.before(a, b), now.before(b, x)), now.before(a, x))),
        every(LOOK, lambda a, b: Implies(now.cell(a) == now.cell(b),
            Or(a == b, now.before(a, b), now.before(b, a))))]
    p.initially += [now.unheld] + [Not(flag) for flag in (
        now.light, now.stepped, now.kernel, now.fenced, now.opened, now.fenced2, now.turned, now.taken, now.alone)]
    p.initially.append(every((LOOK, LOOK, CELL), lambda a, b, c: And(now.at(a) == IDLE, Not(Or(
        now.held(a), now.first_hold(a), now.fence1(a), now.fence2(a), now.behind(a), now.behind2(a),
        now.shown(a), now.ended(a), now.told(a), now.after(a), now.gave_up(a), now.took(a), now.acquired(a, b), now.saw(a, b), now.handed(a, b), now.through(a, c))))))

    # ---- A holder
    # Until a holder is behind the deleter's first fence, it may read an old state of the slot; until it
    # is behind the second, also of tombs.
    old, old2 = Not(now.behind(h)), Not(now.behind2(h))
    may_find = Implies(now.same(h), Or(Not(now.stepped), old))
    p.step("", "a holder finds an attachment", And(
        now.at(h) == IDLE, Not(is_deleter(h)), may_find,
        unless("a light reader of what isn't light", Implies(And(now.same(h), Not(now.full(h))), now.light))),
           put(now.at, h, to=FOUND))
    p.step("L1", "stores meta", And(now.at(h) == FOUND, every(LOOK, lambda x: And(
        Implies(now.before(h, x), any_of(now, x, IDLE, FOUND)),
        Implies(now.before(x, h), unless("a cell is reused while in use",
                                         Or(any_of(now, x, IDLE, FOUND), over(now, x))))))),
           put(now.at, h, to=STORED))
    p.step("L1", "stores what", now.at(h) == STORED, put(now.at, h, to=ANNOUNCED))
    untouched = And(now.same(h), Not(now.stepped))  # as an exchange of the slot finds it
    p.step("S4", "holds what nobody has held", And(now.at(h) == ANNOUNCED, untouched, now.unheld),
           put(now.at, h, to=HOLDING), put(now.held, h), put(now.first_hold, h), put(now.unheld, to=False))
    p.step("", "a full fence between L1 and L2", And(now.full(h), now.at(h) == ANNOUNCED),
           put(now.fence1, h), put(now.behind, h, to=Or(now.behind(h), now.fenced)))
    fence1 = Implies(now.full(h), unless("no full fence between L1 and L2", now.fence1(h)))
    p.step("L2", "holds", And(now.at(h) == ANNOUNCED, fence1, Implies(now.same(h), Not(now.unheld)),
           unless("no L2", may_find)), put(now.at, h, to=HOLDING), put(now.held, h))
    p.step("L2", "finds a change", now.at(h) == ANNOUNCED, put(now.at, h, to=FAILED))
    p.step("S5", "lightens", And(now.at(h) == HOLDING, unless("S5 lightens what is claimed or replaced",
           untouched, now.same(h))), put(now.light))
    p.step("L3", "retracts", any_of(now, h, HOLDING, FAILED), put(now.at, h, to=OVER))
    p.step("", "a full fence between L3 and L4", And(now.full(h), now.at(h) == OVER),
           put(now.fence2, h), put(now.behind, h, to=Or(now.behind(h), now.fenced)),
           put(now.behind2, h, to=Or(now.behind2(h), now.fenced2)))
    fence2 = Implies(now.full(h), unless("no full fence between L3 and L4", now.fence2(h)))
    none = unless("a holder that lets go doesn't look for tombs", Or(Not(now.opened), old2, now.taken))
    p.step("L4", "wasn't told", And(now.at(h) == OVER, fence2, unless("an attempt that has failed doesn't look for a tomb",
        now.held(h)), unless("a holder that lets go doesn't look whether it was told", Or(Not(now.told(h)), old2))),
           put(now.at, h, to=ENDED))
    p.step("L4", "was told, or had failed", And(now.at(h) == OVER, fence2), put(now.at, h, to=CHECKING))
    p.step("L5", "finds no tomb of its attachment", And(now.at(h) == CHECKING, Or(Not(now.same(h)), none)),
           put(now.at, h, to=ENDED))
    own = unless("a turn on the tomb of another attachment", now.same(h))
    p.step("L5", "takes a turn on the tomb", And(now.at(h) == CHECKING, own, now.opened, Not(now.taken)),
           put(now.at, h, to=LOOKING), put(now.last, to=h), put(now.after, h, to=now.turned),
           put_all(now.acquired, lambda y, x: Or(now.acquired(y, x), And(y == h, turned(now, x),
               unless("a turn acquires nothing", True, False)))))

    # The thread announces nothing else in the cell before.
    in_order = every(LOOK, lambda x: Implies(now.before(h, x), any_of(now, x, IDLE, FOUND)))
    p.step("L6", "takes the tomb, since it is the only holder", And(
        now.at(h) == CHECKING, own, now.opened, Not(now.taken), now.alone, in_order,
        unless("another than the only holder takes the tomb without a look", now.cell(h) == now.cell(now.sole))),
           put(now.at, h, to=ENDED), put(now.taken), put(now.took, h), put(now.taker, to=h), put_all(now.handed, lambda y, x: Or(now.handed(y, x), And(y == h, Or(
               x == h, now.before(x, h), now.handed(now.first, x))))))

    # ---- The deleter
    p.step("S6, S8", "takes its step on the slot", And(Not(now.stepped), Not(now.unheld)),
           put(now.stepped), put(now.kernel, to=unless(
               "light readers are taken for full ones", now.light, now.kernel)),
           put_all(now.shown, lambda x: Or(now.shown(x), unless(
               "what S4 wrote isn't acquired", now.first_hold(x), False))))
    p.step("", "the kernel's first fence reaches a holder", And(now.kernel, Not(now.behind(h))),
           put(now.behind, h), put(now.shown, h, to=announced(now, h)))
    p.step("L7", "ends its first fence", And(
        now.stepped, Not(now.fenced), Or(Not(now.kernel), unless("no heavy fence",
        every(LOOK, lambda x: now.behind(x))))),
           put(now.fenced), put_all(now.shown, lambda x: Or(
               now.shown(x), And(Not(now.kernel), Or(now.fence1(x), now.fence2(x))))))
    # When the first look is through, it has told each attempt that it had to see, or knows that it is over.
    def passed(x):
        return And(over(now, x), now.handed(now.first, x))

    def seen(x):
        return And(now.same(x), now.shown(x))

    all_told = unless("a holder isn't told", every(LOOK, lambda x: Implies(seen(x), Or(now.told(x), passed(x)))))
    opens = And(all_told, now.fenced, Not(now.opened), Not(now.taken))
    opening = put(now.opened), put(now.gave_up, now.first), put_all(now.ended, lambda x: Or(now.ended(x), passed(x)))
    p.step("L8", "opens the tomb", opens, *opening)
    p.step("L8", "opens the tomb for the only holder", And(opens, announced(now, h), unless("one of several passes for the only holder",
        every(LOOK, lambda x: Implies(And(seen(x), x != h), passed(x))))), *opening, put(now.alone), put(now.sole, to=h))
    p.step("", "the kernel's second fence reaches a holder", And(now.kernel, now.opened, Not(now.behind2(h))),
           put(now.behind2, h), put(now.ended, h, to=over(now, h)))
    p.step("L9", "ends its second fence", And(
        now.opened, Not(now.fenced2), Or(Not(now.kernel), unless("no second heavy fence",
        every(LOOK, lambda x: now.behind2(x))))),
           put(now.fenced2),
           put_all(now.ended, lambda x: Or(now.ended(x), And(Not(now.kernel), now.fence2(x)))))
    p.step("L9", "takes its turn on the tomb", And(
        unless("the deleter's turn comes before its second fence", now.fenced2, now.opened),
        Not(now.turned), Not(now.taken)),
           put(now.turned), put(now.after, now.second), put(now.last, to=now.second),
           put_all(now.acquired, lambda y, x: Or(now.acquired(y, x), And(y == now.second, turned(now, x),
               unless("the deleter's turn acquires nothing", True, False)))))

    # ---- Threads that look for holders
    def is_look(s, x):
        return Or(And(x == s.first, s.fenced), And(x == s.second, s.turned), s.at(x) == LOOKING)

    def gone(s, x, y):  # the look x must see that y is over
        return Or(And(s.after(x), s.ended(y)), s.acquired(x, y), x == y)

    def nothing_later(s, x, y):  # that must be seen in the cell
        return every(LOOK, lambda z: Implies(s.before(y, z), Not(Or(s.shown(z), gone(s, x, z)))))

    going_on = And(is_look(now, look), Not(now.gave_up(look)), Not(now.took(look)))

    def is_through(with_cell, acquires):
        return put(now.through, look, with_cell), put_all(now.handed, lambda y, x: Or(
            now.handed(y, x), And(y == look, acquires(x))))

    def finds_holder(x):  # the first look goes on to the others, and tells each
        first = look == now.first
        return (put(now.gave_up, look, to=Not(first)), put(now.told, x, to=Or(now.told(x), first)),
                put(now.found, to=If(look == now.last, x, now.found)),
                put_all(now.handed, lambda y, z: Or(now.handed(y, z), And(y == look, now.before(z, x)))))

    looks = "L5, L7, L9"
    p.step(looks, "reads a `what` that isn't of the slot", And(going_on, every(LOOK, lambda x: Implies(
        And(now.cell(x) == c, now.shown(x)), over(now, x)))),
           *is_through(c, lambda x: And(now.cell(x) == c, now.shown(x))))
    p.step(looks, "reads a `what` of the slot", And(
        going_on, announced(now, h), nothing_later(now, look, h),
        unless("what is over may be seen for ever", Not(gone(now, look, h)))),
           put(now.saw, look, h))
    p.step(looks, "reads its `meta`: a holder", And(going_on, now.saw(look, h), now.same(h)),
           *finds_holder(h))
    p.step(looks, "reads its `meta`: of another attachment", And(
        going_on, now.saw(look, h), unless("`meta` isn't looked at", Not(now.same(h)))),
           *is_through(now.cell(h), lambda x: now.before(x, h)))
    moved_on = And(going_on, now.saw(look, h), now.before(h, later),
                   Or(now.at(later) == STORED, announced(now, later)))
    p.step(looks, "reads the next `meta`: a holder", And(moved_on, now.same(later)), *finds_holder(later))
    p.step(looks, "reads the next `meta`: of another attachment", And(moved_on, Not(now.same(later))),
           *is_through(now.cell(h), lambda x: unless(
               "`meta` is stored without release", now.before(x, later), now.before(x, h))))
    p.step("L6, L7", "takes the tomb, since nobody holds the attachment", And(
        going_on, unless("two may take the tomb", Not(now.taken)),
        unless("the tomb is taken without a look", every(CELL, lambda c: now.through(look, c)))),
           put(now.taken), put(now.took, look), put(now.taker, to=look))

    # ---- Invariants
    @p.invariant("holders take their steps in order", "no full fence between L3 and L4")
    def _(s):
        return every(LOOK, lambda a: And(
            Implies(s.at(a) == HOLDING, s.held(a)), Implies(s.held(a), Or(s.at(a) == HOLDING, over(s, a))),
            Implies(s.first_hold(a), And(s.same(a), s.held(a))),
            Implies(And(s.full(a), s.held(a)), Or(s.fence1(a), s.first_hold(a))),
            Implies(And(s.full(a), any_of(s, a, CHECKING, ENDED, LOOKING)), s.fence2(a)),
            Implies(s.fence1(a), announced(s, a)), Implies(s.fence2(a), over(s, a)),
            Implies(s.shown(a), announced(s, a)), Implies(s.ended(a), over(s, a))))

    @p.invariant("light readers hold only what is light", "a light reader of what isn't light")
    def _(s):
        return every(LOOK, lambda a: Implies(And(s.same(a), s.at(a) != IDLE, Not(s.full(a))), s.light))

    @p.invariant("against light readers, the deleter has the kernel's fence",
        "light readers are taken for full ones", "S5 lightens what is claimed or replaced")
    def _(s):
        return And(Implies(And(s.stepped, s.light), s.kernel), Implies(s.kernel, s.stepped))

    @p.invariant("the deleter takes its steps in order, and holds nothing",
        "the deleter's turn comes before its second fence")
    def _(s):
        return And(Implies(s.fenced, s.stepped), Implies(s.opened, s.fenced), Implies(s.fenced2, s.opened),
                   Implies(s.turned, s.fenced2), Implies(s.taken, s.fenced),
                   s.at(s.first) == IDLE, s.at(s.second) == IDLE)

    @p.invariant("a cell announces one attempt after the other", "a cell is reused while in use")
    def _(s):
        return every(LOOK, lambda a, b: Implies(And(s.before(a, b), Or(s.at(b) == STORED, announced(s, b))),
                                      Or(any_of(s, a, IDLE, FOUND), over(s, a))))

    @p.invariant("only the deleter looks before the tomb is open")
    def _(s):
        return And(every((LOOK, LOOK, CELL), lambda a, b, c: Implies(
            Or(s.saw(a, b), s.through(a, c), s.gave_up(a)), is_look(s, a))),
            every(LOOK, lambda a: Implies(s.took(a), Or(is_look(s, a), And(s.alone, s.at(a) == ENDED)))),
            every(LOOK, lambda a: Implies(s.at(a) == LOOKING, s.opened)), Implies(s.opened, s.gave_up(s.first)),
            every(LOOK, lambda a: Not(And(s.gave_up(a), s.took(a)))))

    @p.invariant("looks are behind the second fence if the deleter's turn was before theirs")
    def _(s):
        return And(Implies(s.turned, And(s.after(s.second), s.after(s.last))), Not(s.after(s.first)),
            every(LOOK, lambda a: Implies(s.after(a), s.turned)))

    @p.invariant("what the first fence orders", "no heavy fence")
    def _(s):
        return every(LOOK, lambda a: And(
            Implies(s.behind(a), If(s.kernel, s.stepped, s.fenced)),
            Implies(s.shown(a), Or(And(s.stepped, s.first_hold(a)), If(s.kernel, s.behind(a), s.fenced))),
            Implies(And(s.fenced, s.kernel), s.behind(a)),
            Implies(And(s.fenced, Or(s.fence1(a), s.fence2(a))), Or(s.shown(a), s.behind(a)))))

    @p.invariant("what the second fence orders", "no second heavy fence")
    def _(s):
        return every(LOOK, lambda a: And(
            Implies(Or(s.behind2(a), s.ended(a)), s.opened),
            Implies(And(s.fenced2, s.kernel), s.behind2(a)),
            Implies(And(s.fenced2, s.fence2(a)), Or(s.ended(a), s.behind2(a)))))

    @p.invariant("the deleter sees the first holder", "what S4 wrote isn't acquired")
    def _(s):
        return every(LOOK, lambda a: Implies(And(s.stepped, s.first_hold(a)), s.shown(a)))

    @p.invariant("looks behind the fence must see each holder", "no L2", "no full fence between L1 and L2")
    def _(s):
        return every(LOOK, lambda a: Implies(And(s.same(a), s.held(a), Or(s.fenced, s.behind(a))), s.shown(a)))

    @p.invariant("a look sees no attempt that it knows to be over", "what is over may be seen for ever")
    def _(s):
        return every(LOOK, lambda a, b: And(
            Implies(s.acquired(a, b), turned(s, b)),
            Implies(s.saw(a, b), And(announced(s, b), Not(gone(s, a, b)), nothing_later(s, a, b)))))

    @p.invariant("when the tomb is open, each holder was told, or the deleter knows that it is over", "a holder isn't told")
    def _(s):
        return every(LOOK, lambda a: Implies(And(s.opened, s.same(a), s.shown(a)), Or(s.told(a), s.ended(a))))

    @p.invariant("there is no holder but the only one", "one of several passes for the only holder")
    def _(s):
        return And(Implies(s.alone, And(s.opened, announced(s, s.sole))), every(LOOK, lambda a: And(
            Implies(And(s.alone, s.same(a), s.shown(a)), Or(a == s.sole, And(over(s, a), s.handed(s.first, a)))),
            Implies(And(s.took(a), s.at(a) == ENDED), over(s, s.sole)))))

    @p.invariant("SAFE: a look is through with a cell only after the holds there are over",
        "`meta` isn't looked at")
    def _(s):
        return every(LOOK, lambda a, b: Implies(And(s.through(a, s.cell(b)), s.same(b), s.shown(b)),
            over(s, b)))

    @p.invariant("SAFE: and after it has acquired what the holders did", "`meta` is stored without release")
    def _(s):
        return every(LOOK, lambda a, b: Implies(And(s.through(a, s.cell(b)), s.same(b), s.shown(b)),
            s.handed(a, b)))

    @p.invariant("SAFE: a thread that takes the tomb knows that nobody holds the value",
        "the tomb is taken without a look", "another than the only holder takes the tomb without a look")
    def _(s):
        return every(LOOK, lambda a, b: Implies(s.took(a), And(
            Or(s.at(a) == ENDED, s.through(a, s.cell(b))),
            Implies(And(s.same(b), s.held(b)), And(over(s, b), s.handed(a, b))))))

    @p.invariant("ONCE: one look takes the tomb", "two may take the tomb")
    def _(s):
        return And(every(LOOK, lambda a: Implies(s.took(a), And(s.taken, s.taker == a))),
            Implies(s.taken, s.took(s.taker)))

    @p.invariant("OWN: a holder takes turns on its own attachment's tomb, and takes that alone",
        "a turn on the tomb of another attachment")
    def _(s):
        return every(LOOK, lambda a: And(
            Implies(turned(s, a), s.same(a)), Implies(s.took(a), Or(is_deleter(a), s.same(a)))))

    @p.invariant("the last look has acquired all other turns", "a turn acquires nothing",
        "the deleter's turn acquires nothing")
    def _(s):
        return Implies(s.turned, And(is_look(s, s.last), s.last != s.first, every(LOOK, lambda a: Implies(
            turned(s, a), Or(a == s.last, s.acquired(s.last, a))))))

    @p.invariant("attempts that end without a turn do so before the second fence",
        "an attempt that has failed doesn't look for a tomb")
    def _(s):
        return every(LOOK, lambda a: Implies(And(s.at(a) == ENDED, s.same(a), Not(s.taken),
            If(s.kernel, s.behind2(a), s.fenced2)), s.ended(a)))

    @p.invariant("DELETED: if the last look gave up, the holder that it found has yet to take a turn",
                 "a holder that lets go doesn't look for tombs", "a holder that lets go doesn't look whether it was told")
    def _(s):
        return Implies(And(s.turned, s.gave_up(s.last), Not(s.taken)), And(
            s.same(s.found), Or(s.at(s.found) == STORED, announced(s, s.found)), s.at(s.found) != ENDED,
            Not(Or(turned(s, s.found), s.ended(s.found), s.acquired(s.last, s.found), s.found == s.last))))

    return p
