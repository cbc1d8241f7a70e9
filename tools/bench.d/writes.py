# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Counts the cache lines that an operation writes: runs a *_writes program of bench/ under valgrind's lackey.

A line that one thread writes is shared if another thread that does the same operation reads or writes it, too. Otherwise
it is the thread's own. The stack and what the measuring loop itself writes don't count.
"""

import os
import statistics
import subprocess
import tempfile

LINE = 64
STACK = 1 << 16  # an operation's stack is within this many bytes of the caller's frame
BEGIN_USE, END_USE, BEGIN_OPERATION, END_OPERATION = range(4)


class WritesError(Exception):
    pass


def count(program, operations=(), timeout=600):
    """Returns {(operation, "own" or "same" object): (shared lines, own lines)}, each the median of some turns.

    For all operations, or only the given ones.
    """
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace")
        command = ["valgrind", "--tool=lackey", "--trace-mem=yes", f"--log-file={trace}", program, *operations]
        done = subprocess.run(command, timeout=timeout, stdout=subprocess.PIPE, text=True)
        lines = done.stdout.splitlines()
        if done.returncode != 0 or not lines or not lines[0].startswith("marks "):
            raise WritesError(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout[-2000:]}")
        with open(trace) as file:
            sections = list(_sections(file, int(lines[0].split()[1], 16)))
    operations = [line.split() for line in lines[1:] if line.startswith("operation ")]
    if len(sections) != len(operations):
        raise WritesError(f"{program}: {len(operations)} operations, {len(sections)} in the trace")
    return {(name, sharing): _tally(*section, *(int(a, 16) for a in addresses))
            for (_, name, sharing, *addresses), section in zip(operations, sections)}


def _sections(trace, marks):
    """Yields, for each operation, the lines that the other thread uses and a list of the lines written in each turn."""
    used, turns, collecting = set(), [], None
    for text in trace:
        kind = text[:2]
        if kind not in (" L", " S", " M"):
            continue
        address, size = text[3:].split(",")
        address = int(address, 16)
        mark = address - marks
        if 0 <= mark <= END_OPERATION:
            if mark == BEGIN_USE:
                if turns:
                    yield used, turns
                used, turns = set(), []
                collecting = used
            elif mark == BEGIN_OPERATION:
                turns.append(set())
                collecting = turns[-1]
            else:
                collecting = None
        elif collecting is not None and (collecting is used or kind != " L"):
            collecting.update(range(address // LINE, (address + int(size) - 1) // LINE + 1))
    if turns:
        yield used, turns


def _tally(used, turns, scratch, end, stack):
    def counts(line):
        at = line * LINE
        return not (scratch - LINE < at < end or stack - STACK < at < stack + STACK)

    # The median, because the other thread sometimes runs in between, when it wakes up or goes to sleep.
    written = [set(filter(counts, turn)) for turn in turns]
    shared = statistics.median(len(turn & used) for turn in written)
    return shared, statistics.median(map(len, written)) - shared
