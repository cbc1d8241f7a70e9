# SPDX-License-Identifier: Apache-2.0 OR MIT
"""File and line of places in programs with debug information, by addr2line (of binutils)."""

import functools
import os
import subprocess

from words import printable


@functools.lru_cache(maxsize=None)
def looked_up(path, addresses):
    """file:line of each address in an object file, or None."""
    nothing = (None,) * len(addresses)
    if not os.path.isfile(path):
        return nothing
    try:
        told = subprocess.run(
            ["addr2line", "-e", path] + [hex(address) for address in addresses],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=60,
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return nothing
    found = []
    for line in told.decode(errors="replace").split("\n")[: len(addresses)]:
        file, _, number = line.split(" (")[0].rpartition(":")
        known = file and not file.startswith("?") and number.isdigit() and number != "0"
        found.append(f"{os.path.basename(file)}:{number}" if known else None)
    return tuple(found) if len(found) == len(addresses) else nothing


def lines(addresses):
    """{name: name with file and line} of {name: [path, address]}, as far as they are known.

    "solver: restart+0x3f" becomes "solver: restart (solver.c:120)".
    """
    by_file = {}
    for name, (path, address) in addresses.items():
        if not isinstance(path, str) or not isinstance(address, int):
            raise ValueError('"addresses"')
        by_file.setdefault(path, []).append((address, name))
    result = {}
    for path, entries in by_file.items():
        entries.sort()
        for (_, name), line in zip(entries, looked_up(path, tuple(a for a, _ in entries))):
            if line:
                result[name] = printable(f"{name.rpartition('+')[0] or name} ({line})")
    return result
