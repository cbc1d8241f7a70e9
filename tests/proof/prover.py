# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Proves invariants of a protocol for any number of threads.

A protocol's state consists of functions over sorts (threads, cells, values) of any size. An invariant
that holds initially, and that no step breaks, always holds, with any number of threads. For each step
and each invariant, Z3 looks for a state that satisfies all invariants, and from which the step leads
to a state that violates this one.

Where a state must exist (one that permits a step, or from which a broken protocol's step breaks an
invariant), Z3 looks among states of a few elements, with quantifiers written out.
"""

import itertools
import time

from z3 import And, BoolSort, BoolVal, Const, ForAll, Function, If, Not, Or, SimpleSolver, sat, unsat

STEPS = 200_000_000  # that Z3 may take for one question, in its own count; none takes a hundredth of that


def put(function, *at, to=True):
    """A change: function(at) becomes `to`; without `at`, the constant does."""
    return function, at, to


def put_all(function, to):
    """A change: function(...) becomes to(...) everywhere."""
    return function, None, to


def any_of(state, x, *places):
    return Or(*[state.at(x) == place for place in places])


class State:
    """The state now, or after some changes."""

    def __init__(self, symbols, changed):
        self.symbols, self.changed = symbols, changed

    def __getattr__(self, name):
        return self.changed[name] if name in self.changed else self.symbols[name]


class Protocol:
    """`broken` names a control: what the protocol leaves out or does wrong. `sizes`: the number of
    elements of each sort; None stands for any number."""

    def __init__(self, broken, sizes):
        self.elements = {sort: [Const(f"{sort}{i}", sort) for i in range(size)] for sort, size in (sizes or {}).items()}
        self.broken, self.controls = broken, set()
        self.symbols, self.steps, self.invariants = {}, [], {}
        self.assumed, self.initially, self.all_hold = [], [], []
        self.now = State(self.symbols, {})
        self.depth = 0  # of nested quantifiers; it numbers their variables

    def declare(self, names, *sorts):
        """Functions of the state; the last sort is that of their results."""
        for name in names.split():
            self.symbols[name] = Function(name, *sorts) if len(sorts) > 1 else Const(name, *sorts)
            at = itertools.product(*[self.elements.get(sort, ()) for sort in sorts[:-1]])
            self.stays_small(*[self.symbols[name](*x) if x else self.symbols[name] for x in at])

    def some(self, names, sort):
        """A step's participants: there is one step for each of their values."""
        chosen = [Const(name, sort) for name in names.split()]
        self.stays_small(*chosen)
        return chosen if len(chosen) > 1 else chosen[0]

    def stays_small(self, *terms):
        self.assumed += [Or(*[term == e for e in self.elements[term.sort()]]) for term in terms
                         if term.sort() in self.elements]

    def every(self, sorts, body):
        """body(...) holds for all elements of one sort, or of one sort for each parameter."""
        count = body.__code__.co_argcount
        sorts = sorts if isinstance(sorts, tuple) else (sorts,) * count
        if self.elements:
            return And(*[body(*chosen) for chosen in itertools.product(*[self.elements[s] for s in sorts])])
        variables = [Const(f"every{self.depth}.{i}", sort) for i, sort in enumerate(sorts)]
        self.depth += 1
        result = ForAll(variables, body(*variables))
        self.depth -= 1
        return result

    def unless(self, control, right, wrong=True):
        self.controls.add(control)
        return wrong if self.broken == control else right

    def step(self, label, what, guard, *changes):
        """`label` has the step's labels in slot.h and tomb.h, and is empty if they don't list it."""
        changed = {}
        for function, at, to in changes:
            name = function.decl().name() if hasattr(function, "decl") else function.name()
            old = changed.get(name, self.symbols[name])
            if at is None:
                changed[name] = to
            elif not at:
                changed[name] = BoolVal(to) if isinstance(to, bool) else to
            else:
                changed[name] = lambda *x, old=old, at=at, to=to: If(
                    And(*[a == b for a, b in zip(x, at)]), to, old(*x))
        self.steps.append((label, f"{label} {what}".strip(), And(guard), changed))

    def invariant(self, name, *controls):
        """Each of the controls must break the invariant."""
        return lambda holds: self.invariants.update({name: (holds, controls)})

    def solve(self, *facts):
        solver = SimpleSolver()  # newer Z3s' Solver() leaves most questions open
        solver.set("rlimit", STEPS)
        # E-matching would instantiate quantifiers for ever, so Z3 uses model-based instantiation alone.
        solver.set("smt.ematching", False)
        solver.add(*self.assumed, *facts)
        return solver.check()

    def hold(self):
        if not self.all_hold:
            self.all_hold += [holds(self.now) for holds, _ in self.invariants.values()]
        return self.all_hold

    def may_break(self, name, step):
        """None if a step is proved to keep an invariant, else Z3's answer."""
        before, after = self.invariants[name][0](self.now), self.after(name, step)
        answer = unsat if after.eq(before) else self.solve(*self.hold(), self.steps[step][2], Not(after))
        return None if answer == unsat else answer

    def after(self, name, step):
        return self.invariants[name][0](State(self.symbols, self.steps[step][3]))

    def differs(self, name, step, other):
        return not (self.steps[step][2].eq(other.steps[step][2]) and self.after(name, step).eq(other.after(name, step)))


def check(title, make, sizes):
    """Proves make(None), and checks that each step is possible and each control breaks its invariants.
    Returns the number of failures, and the labels of the steps."""
    began, wrong = time.monotonic(), 0

    def fail(*words):
        nonlocal wrong
        wrong += 1
        print(f"{title}: FAILED:", *words, flush=True)

    right = make(None)
    for name, (holds, _) in right.invariants.items():
        if right.solve(*right.initially, Not(holds(right.now))) != unsat:
            fail(f"'{name}' may not hold initially")
        for step in range(len(right.steps)):
            answer = right.may_break(name, step)
            if answer:
                fail(f"'{right.steps[step][1]}' may break '{name}' ({answer})")
    few = make(None, sizes)
    for _, what, guard, _ in few.steps:
        if few.solve(*few.hold(), guard) != sat:
            fail(f"'{what}' is possible in no state that satisfies the invariants")
    controls = {control for _, broken_by in right.invariants.values() for control in broken_by}
    for control in sorted(right.controls ^ controls):
        fail(f"the control '{control}' has no invariant, or is nowhere in the protocol")
    for control in sorted(controls):
        broken, few = make(control), make(control, sizes)
        for name, (_, broken_by) in broken.invariants.items():
            if control not in broken_by:
                continue
            step = next((step for step in range(len(broken.steps)) if broken.differs(name, step, right)
                         and few.may_break(name, step) == sat), None)
            if step is None:
                fail(f"'{name}' isn't broken by: {control}")
            else:
                print(f"{title}: control: {control}. Then '{broken.steps[step][1]}' breaks '{name}'", flush=True)
    print(f"{title}: {len(right.steps)} steps keep {len(right.invariants)} invariants, {len(controls)} controls, "
          f"{wrong} failed, {time.monotonic() - began:.1f} s", flush=True)
    return wrong, [label for labels, *_ in right.steps for label in labels.split(", ") if label]
