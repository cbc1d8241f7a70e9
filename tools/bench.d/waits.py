# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How long a set waits for borrows: runs bench/waits.cc, which explains the measurement, and prints what it found."""

import subprocess

import contenders

PROGRAM = "attrcache_waits"
OF = "attrcache_shared"  # the contender that the program measures
TIMEOUT = 60


def measure():
    """The program's lines, each as a list of words."""
    done = subprocess.run([contenders.built(f"bench/{PROGRAM}")], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=TIMEOUT)
    if done.returncode != 0:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr[-500:]}")
    return [line.split() for line in done.stdout.splitlines()]


def table(found):
    if not found:
        return
    yield ""
    yield f"waiting for borrows ({OF})"
    yield ""
    for name, *words in found:
        if name == "go_on":
            operation, low, median, high, samples = words
            yield (f"  {operation + ' that waited for a borrow, from give_back to its return':64}{median:>8} us"
                   f"     ({low} to {high}: half of {samples})")
        elif name == "beside_borrowers":
            hold, median, longest, samples = words
            what = f"set beside 4 threads that borrow for {hold} us, again and again"
            yield f"  {what:64}{median:>8} holds  (longest of {samples}: {longest})"
