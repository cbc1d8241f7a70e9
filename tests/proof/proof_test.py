#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Proves the protocol of slots and tombs for any number of threads; the README here says what that means.

  tests/proof/proof_test.py [PART...]      leaving, one_slot, table_memory; else all
"""

import os
import re
import sys

from z3 import And, Not, Or, unsat

import leaving
import one_slot
import prover
import table_memory

LIB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib")
PARTS = {"leaving": (leaving.leaving, leaving.SIZES), "one_slot": (one_slot.one_slot, one_slot.SIZES),
         "table_memory": (table_memory.table_memory, table_memory.SIZES)}


def read(header):
    with open(os.path.join(LIB, header), encoding="utf-8") as file:
        return file.read()


def steps_of_slots():
    """{label: [(state, state afterwards)]}, as drawn at the top of slot.h."""
    drawn, state, label = {}, None, None
    text = read("table/slot.h").split("The states of a slot, and the steps")[1].split("// The thread that has taken a value")[0]
    for line in text.splitlines():
        state = (re.match(r"//   ([A-Z]+) ", line) or [None, state])[1]
        label = (re.search(r"\b(S\d+) +[a-z ]+ ->", line) or [None, label])[1]
        for after in re.findall(r"-> ([A-Z]+)", line):
            drawn.setdefault(label, []).append((state, after))
    return drawn


def leads_elsewhere(protocol, drawn):
    """The steps of slots that don't go from state to state as drawn."""
    states = {"EMPTY": one_slot.EMPTY, "ATTACHED": one_slot.ATTACHED, "CLAIMED": one_slot.CLAIMED}
    before = protocol.now
    for label, what, guard, changed in protocol.steps:
        after = prover.State(protocol.symbols, changed)
        same = And(*[getattr(before, part) == changed[part]
                     for part in ("state", "value", "number", "unheld", "light", "hidden") if part in changed])
        right = [And(before.state == states[a], after.state == states[b])
                 for l in label.split(", ") for a, b in drawn.get(l, ())]
        if protocol.solve(*protocol.hold(), guard, Not(Or(same, *right))) != unsat:
            yield what


def main():
    failed, proved = 0, set()
    parts = sys.argv[1:] or PARTS
    if not set(parts) <= set(PARTS):
        sys.exit(f"proof_test: the parts are {', '.join(PARTS)}")
    for part in parts:
        wrong, labels = prover.check(part, *PARTS[part])
        failed += wrong
        proved |= set(labels)
    if len(parts) < len(PARTS):
        return failed
    drawn = steps_of_slots()
    written = set(drawn) | set(re.findall(r"\(([SL]\d+)\)", read("table/slot.h") + read("readers/tomb.h")))
    written |= set(re.findall(r"\b(S\d+)\b", read("table/slot.h")))
    written |= set(re.findall(r"\b(L\d)\b", read("readers/tomb.h")))
    for label in sorted(written ^ proved):
        failed += 1
        print(f"FAILED: {label} is " + ("in no proof" if label in written else "in neither slot.h nor tomb.h"))
    for what in leads_elsewhere(one_slot.one_slot(), drawn):
        failed += 1
        print(f"FAILED: '{what}' leads to a state to which slot.h draws no arrow")
    print(f"{len(proved)} steps of slot.h and tomb.h, {failed} failed")
    return failed


if __name__ == "__main__":
    sys.exit(main() != 0)
