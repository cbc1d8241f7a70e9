# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Makes the litmus tests of a scenario, and asks herd."""

import collections
import os
import re
import subprocess

from scenarios import Author
from slicing import Inexpressible, Memory, Thread
from trace import Failed

# verdict: Never, Sometimes or Always; or an error's text
Verdict = collections.namedtuple("Verdict", "verdict states seconds")


def make(arch, program, scenario, weakened, title):
    """(text of the litmus test, notes)"""
    memory = Memory(program, scenario.begins)
    columns, initial, results, notes = [], [], {}, set()
    for number, code in enumerate(scenario.threads):
        thread = Thread(arch, memory, number)
        code(Author(arch, program, thread))
        lines, registers, found = thread.finish()
        results.update(found)
        notes |= thread.notes
        column = []
        for tag, text in lines:
            kind = weakened.get(tag)
            column += [text] if kind is None else weaken(arch, text, kind)
        columns.append(column + [thread.exit + ":"])
        initial += registers
        initial += [arch.initial(number, name.split(":")[1], "0") for name in found.values()]
    declarations = memory.declarations()
    height = max(len(c) for c in columns)
    for column in columns:
        column += [""] * (height - len(column))
    widths = [max(len(line) for line in c) for c in columns]
    rows = [" | ".join(line.ljust(w) for line, w in zip(row, widths)) + " ;"
            for row in [[f"P{n}" for n in range(len(columns))]] + [list(r) for r in zip(*columns)]]
    text = [f"{arch.herd} {title}", "{"] + [" " + d for d in declarations] + [" " + i for i in dict.fromkeys(initial)] + ["}"]
    start = {region.name: region.start for region in program.regions}
    results["data2"] = start["data2"]
    results["held"] = memory.before.get(start["cell"], 0)  # what the cell says at the beginning
    text += rows + [f"exists ({scenario.forbidden.format(**results)})"]
    return "\n".join(text) + "\n", notes


def weaken(arch, text, kinds):
    """The instructions, one, several or none, that are left of one when the control weakens it."""
    if kinds == "everything":
        return []
    if text.endswith(":"):
        return [text]
    texts = [text]
    for kind in kinds.split():
        weaker = [arch.weaken(t, kind) for t in texts]
        texts = [t for w in weaker if w is not None for t in (w if isinstance(w, list) else [w])]
    return texts


def ask(path, arch, seconds):
    command = ["herd7", "-model", arch.model, "-optace", "true", path]
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


def check(arch, program, scenario, folder, seconds):
    """Yields (what was removed or "", Verdict, notes), first for the code as it is."""
    for number, (removed, weakened) in enumerate([("", {})] + scenario.controls):
        title = re.sub(r"[^a-z0-9]+", "_", f"{arch.name} {scenario.name}".lower()) + (f"_without{number}" if removed else "")
        path = os.path.join(folder, title + ".litmus")
        try:
            text, notes = make(arch, program, scenario, weakened, title)
        except Inexpressible as why:
            yield removed, Verdict(f"not expressible: {why}", 0, 0), set()
            continue
        except Failed as why:
            yield removed, Verdict(str(why), 0, 0), set()
            continue
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        yield removed, ask(path, arch, seconds), notes
