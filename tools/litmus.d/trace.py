# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compiles the library as it ships, runs driver.c under qemu-user, and returns the instructions of each operation.

An operation is a list of Steps: an instruction as objdump shows it, with the registers before and after it. So the tests
are made of the compiled code, and of the path that it takes.
"""

import bisect
import collections
import os
import re
import subprocess

import aarch64

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

TRIPLE = "aarch64-linux-gnu"
# The flags of tools/bazel/copts.bzl for the library.
FLAGS = ["-std=c++20", "-O2", "-fomit-frame-pointer", "-fvisibility=hidden", "-ftls-model=initial-exec",
         "-fno-exceptions", "-fno-rtti", "-funwind-tables"]

FUNCTIONS = ("attrcache_get", "attrcache_set", "attrcache_set_as", "attrcache_set_if_absent", "attrcache_delete",
             "attrcache_borrow", "attrcache_give_back")

# regs and after: {name: value}. `target`: where a branch or a call goes. `next`: the address that was executed next.
Step = collections.namedtuple("Step", "pc mnemonic operands target regs after next symbol")
Region = collections.namedtuple("Region", "name start size")
Operation = collections.namedtuple("Operation", "name function steps memory")  # memory: {address: word}


class Failed(Exception):
    pass


def calls_kernel(step):
    return bool(step.operands) and "<syscall" in step.operands[-1]


def run(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **options)
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}:\n{done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def build(arch, scratch):
    drop = os.path.join(scratch, "drop")
    if not os.path.exists(drop):
        run([os.path.join(ROOT, "tools/amalgamate"), drop])
    library = os.path.join(scratch, arch.name + ".o")
    program = os.path.join(scratch, arch.name)
    run([TRIPLE + "-g++"] + FLAGS + arch.options + ["-I" + drop, "-c", drop + "/attrcache.cc", "-o", library])
    run([TRIPLE + "-gcc"] + ["-O2", "-static", "-I" + drop, HERE + "/driver.c", library, "-lpthread", "-o", program])
    return library, program


def code_ranges(library, program):
    """The addresses of the library's code in the program, and of the compiler's functions for atomics."""
    mine = {line.split()[-1] for line in run([TRIPLE + "-nm", library]).splitlines() if re.search(r" [tTwW] ", line)}
    spans = []
    for line in run([TRIPLE + "-nm", "-S", program]).splitlines():
        fields = line.split()
        if len(fields) == 4 and fields[2] in "tTwW" and (fields[3] in mine or fields[3].startswith("__aarch64_")):
            spans.append((int(fields[0], 16), int(fields[0], 16) + int(fields[1], 16)))
    merged = []
    for start, end in sorted(spans):
        if merged and start - merged[-1][1] < 256:
            merged[-1][1] = max(end, merged[-1][1])
        else:
            merged.append([start, end])
    return merged


INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\s+(\S+)\s*(.*)$")
SYMBOL = re.compile(r"^([0-9a-f]+) <(.+)>:$")


def disassemble(program, ranges):
    """{address: (mnemonic, operands, target, symbol)}"""
    code = {}
    for start, end in ranges:
        symbol = "?"
        for line in run([TRIPLE + "-objdump", "-d", "--no-show-raw-insn",
                         f"--start-address={start}", f"--stop-address={end}", program]).splitlines():
            named = SYMBOL.match(line)
            if named:
                symbol = named.group(2)
            found = INSTRUCTION.match(line)
            if not found:
                continue
            text = re.sub(r"\s*(//|#|;) .*$", "", found.group(3)).strip()
            target = re.search(r"([0-9a-f]+) <[^>]*>$", text)
            operands = split_operands(re.sub(r"\s*<(?!syscall\b)[^>]*>$", "", text))  # calls_kernel() looks for syscall
            code[int(found.group(1), 16)] = (found.group(2), operands, int(target.group(1), 16) if target else None, symbol)
    return code


def split_operands(text):
    """Splits at the commas outside of brackets."""
    parts, depth, current = [], 0, ""
    for c in text:
        depth += (c in "[(") - (c in "])")
        if c == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += c
    return [p for p in parts + [current.strip()] if p]


class Program:
    def __init__(self, arch, scratch):
        self.arch = arch
        library, program = build(arch, scratch)
        ranges = code_ranges(library, program)
        code = disassemble(program, ranges)
        log = os.path.join(scratch, arch.name + ".log")
        one = "-one-insn-per-tb" if "-one-insn-per-tb" in run(["qemu-aarch64", "--help"]) else "-singlestep"
        filters = ",".join(f"0x{start:x}..0x{end - 1:x}" for start, end in ranges)
        output = run(["qemu-aarch64", "-cpu", arch.cpu, one, "-d", "cpu,nochain", "-dfilter", filters, "-D", log, program],
                     timeout=120)
        self.compiler = run([TRIPLE + "-g++", "--version"]).splitlines()[0]
        self.regions, self.operations = [], {}
        planned = []
        for line in output.splitlines():
            kind, *rest = line.split()
            if kind == "region":
                self.regions.append(Region(rest[0], int(rest[1], 16), int(rest[2])))
            elif kind == "op":
                planned.append((rest[0], rest[1], {}))
            elif kind == "word":
                planned[-1][2][int(rest[0], 16)] = int(rest[1], 16)
            elif kind != "end":
                raise Failed(f"the traced program says: {line}")
        self.regions.sort(key=lambda r: r.start)
        self._starts = [r.start for r in self.regions]
        self._cut(log, code, planned)
        os.remove(log)

    def region_of(self, address):
        """The innermost region with an address: a cell is within the memory of records."""
        before = self.regions[:bisect.bisect_right(self._starts, address)]
        return next((r for r in reversed(before) if address < r.start + r.size), None)

    def _cut(self, log, code, planned):
        """Finds the operations in the trace: the last calls of FUNCTIONS, in the order of the driver's output."""
        states = []
        with open(log, encoding="utf-8", errors="replace") as lines:
            for regs in aarch64.states(lines):
                if regs["pc"] in code:
                    states.append(regs)
        entries = {}
        for pc, (_, _, _, symbol) in sorted(code.items()):
            entries.setdefault(symbol, pc)
        inside = {entries[f] for f in FUNCTIONS}
        starts = [i for i, regs in enumerate(states) if regs["pc"] in inside]
        if len(starts) < len(planned):
            raise Failed(f"{len(planned)} operations were called, and {len(starts)} are in the trace")
        starts = starts[len(starts) - len(planned):]
        for number, (start, (name, function, memory)) in enumerate(zip(starts, planned)):
            if code[states[start]["pc"]][3] != function:
                raise Failed(f"{name} was not found in the trace")
            end = starts[number + 1] if number + 1 < len(starts) else len(states)
            steps = []
            for i in range(start, end):
                pc = states[i]["pc"]
                mnemonic, operands, target, symbol = code[pc]
                after = states[i + 1] if i + 1 < end else None
                steps.append(Step(pc, mnemonic, operands, target, states[i], after, after["pc"] if after else None, symbol))
            self.operations[name] = Operation(name, function, steps, memory)
