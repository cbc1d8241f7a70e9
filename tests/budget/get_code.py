#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Reads the machine code of attrcache_get and attrcache_get_renumbered in the shared library (x86-64).

  get_code.py LIBRARY

In the function itself: no call, no push, and no store but through its fourth argument. In it and in all that
it may jump to or call: no locked instruction and no fence.
"""

import re
import subprocess
import sys

FENCE = re.compile(r"^(mfence|lfence|sfence|cpuid|serialize)\b")
LOCKED = re.compile(r"^(lock\b|xchg\b.*\()")
BRANCH = re.compile(r"^(call|jmp|j[a-z]+)\s+[0-9a-f]+ <([^>+@]+)(\+0x[0-9a-f]+)?(@plt)?>")
# Instructions whose last operand may be memory but isn't written.
READS_ONLY = re.compile(r"^((cs|data16) )*(cmp|test|bt[lqw]?\b|j|nop|prefetch|push|ucomis|comis|ptest|vptest)")
OUTPUT = "%rcx"


def output_of(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def disassemble(library):
    """{function: [instruction]}, without the padding that may follow a function."""
    text = output_of("objdump", "-d", "--no-show-raw-insn", library)
    if "file format elf64-x86-64" not in text:
        print("not x86-64: nothing is checked")
        sys.exit(0)
    ends = {name: int(start, 16) + int(size, 16) for start, size, name in
            re.findall(r"^([0-9a-f]+) ([0-9a-f]+) \S ([^@\n]+)", output_of("nm", "-S", library), re.M)}
    functions = {}
    for block in re.split(r"\n(?=[0-9a-f]+ <)", text):
        head = re.match(r"[0-9a-f]+ <([^>]+)>:\n", block)
        if head:
            instructions = re.findall(r"^ *([0-9a-f]+):\t([^#\n]*)", block, re.M)
            functions[head.group(1)] = [text.strip() for address, text in instructions
                                        if int(address, 16) < ends.get(head.group(1), float("inf"))]
    return functions


def reachable(functions, start):
    seen, todo = {}, [start]
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen[name] = functions.get(name, [])
        for instruction in seen[name]:
            branch = BRANCH.match(instruction)
            if branch and branch.group(4) is None:
                todo.append(branch.group(2))
    return seen


def stores(instruction):
    """The memory operand that an instruction writes, or None."""
    if READS_ONLY.match(instruction) or not instruction.endswith(")"):
        return None
    if len(instruction.split(None, 1)) < 2:
        return None
    operand = re.search(r"(?:^|[ ,])([-\w%:]*\([^()]*\))$", instruction)
    reads_it = "," not in re.sub(r"\([^()]*\)", "", instruction) and re.match(
        r"^(mul|imul|div|idiv)", instruction)
    return None if reads_it or operand is None else operand.group(1)


def what_is_wrong(functions, get):
    wrong = []
    for instruction in functions[get]:
        print("   ", instruction)
        if instruction.startswith(("call", "push", "enter")):
            wrong.append(f"{get}: {instruction}")
        stored = stores(instruction)
        if stored and stored not in (f"({OUTPUT})", f"0x0({OUTPUT})"):
            wrong.append(f"{get} stores: {instruction}")
    for name, body in reachable(functions, get).items():
        wrong += [f"{name}: {i}" for i in body if LOCKED.match(i) or FENCE.match(i)]
    print("reachable:", ", ".join(sorted(reachable(functions, get))))
    return wrong


def main(library):
    functions = disassemble(library)
    wrong = []
    for get in ("attrcache_get", "attrcache_get_renumbered"):
        wrong += what_is_wrong(functions, get) if get in functions else [f"no {get} in {library}"]
    for line in wrong:
        print("NOT ALLOWED", line)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
