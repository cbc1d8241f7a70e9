# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Makes the litmus tests of a scenario, and asks herd."""

import collections
import os
import re
import subprocess

import aarch64
from scenarios import Author
from slicing import Inexpressible, Memory, Thread
from trace import Failed

# verdict: Never, Sometimes or Always; or an error's text
Verdict = collections.namedtuple("Verdict", "verdict states seconds")


def make(program, scenario, weakened, title):
    """(text of the litmus test, notes)"""
    memory = Memory(program, scenario.begins)
    columns, initial, results, notes = [], [], {}, set()
    for number, (code, *how) in enumerate(scenario.threads):
        thread = Thread(memory, number)
        code(Author(program, thread), *how)
        lines, registers, found = thread.finish()
        results.update(found)
        notes |= thread.notes
        column = []
        for tag, text in lines:
            column += weaken(text, weakened.get(tag, ""))
        columns.append(column + [thread.exit + ":"])
        initial += registers
        initial += [aarch64.initial(number, name.split(":")[1], "0") for name in found.values()]
    declarations = memory.declarations()
    height = max(len(c) for c in columns)
    for column in columns:
        column += [""] * (height - len(column))
    widths = [max(len(line) for line in c) for c in columns]
    rows = [" | ".join(line.ljust(w) for line, w in zip(row, widths)) + " ;"
            for row in [[f"P{n}" for n in range(len(columns))]] + [list(r) for r in zip(*columns)]]
    text = [f"AArch64 {title}", "{"] + [" " + d for d in declarations] + [" " + i for i in dict.fromkeys(initial)] + ["}"]
    start = {region.name: region.start for region in program.regions}
    results["data2"] = start["data2"]
    results["held"] = memory.before.get(start["cell"], 0)  # what the cell says at the beginning
    text += rows + [f"exists ({scenario.forbidden.format(**results)})"]
    return "\n".join(text) + "\n", notes


def weaken(text, kinds):
    """The instructions, one, several or none, that are left of one when the control weakens it."""
    texts = [text]
    for kind in kinds.split():
        texts = [weaker for text in texts for weaker in aarch64.weaken(text, kind)]
    return texts


def ask(path, seconds):
    command = ["herd7", "-model", "aarch64.cat", "-optace", "true", path]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return Verdict(f"no answer in {seconds} s", 0, seconds)
    found = re.search(r"^Observation .* (Never|Sometimes|Always) (\d+) (\d+)$", done.stdout, re.M)
    if not found or "Warning" in done.stderr:
        return Verdict("error: " + (done.stderr.strip() or done.stdout.strip() or "herd7 said nothing").splitlines()[0], 0, 0)
    states = re.search(r"^States (\d+)$", done.stdout, re.M)
    took = re.search(r"^Time .* ([\d.]+)$", done.stdout, re.M)
    return Verdict(found.group(1), int(states.group(1)), float(took.group(1)))


def check(program, scenario, folder, seconds):
    """Yields (what was removed or "", Verdict, notes), first for the code as it is."""
    for number, (removed, weakened) in enumerate([("", {})] + scenario.controls):
        title = re.sub(r"[^a-z0-9]+", "_", f"{program.arch.name} {scenario.name}".lower())
        title += f"_without{number}" if removed else ""
        path = os.path.join(folder, title + ".litmus")
        try:
            text, notes = make(program, scenario, weakened, title)
        except Inexpressible as why:
            yield removed, Verdict(f"not expressible: {why}", 0, 0), set()
            continue
        except Failed as why:
            yield removed, Verdict(str(why), 0, 0), set()
            continue
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        yield removed, ask(path, seconds), notes
