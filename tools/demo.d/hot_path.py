# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Reads lines of OPERATION CONTENDER INSTRUCTIONS and prints them as two small tables with ratios."""

import sys

NAMES = {
    "get_hit": "get, attached",
    "get_first_of_64": "get, oldest of 64",
    "get_last_of_64": "get, newest of 64",
    "get_of_1000": "get, 1,000 keyvals",
    "get_of_100000": "get, 100,000 keyvals",
    "get_absent": "get, absent",
    "get_predefined": "get MPI_TAG_UB",
    "borrow": "borrow + give back",
    "set": "set, replacing",
    "set_delete": "set + delete",
    "create_free": "create + free keyval",
}


def table(title, counts, columns):
    """Yields the lines of a table. columns: (heading, function of an operation's counts)."""
    yield title
    yield "  " + " " * 22 + "".join(f"{heading:>18}" for heading, _ in columns)
    for operation, name in NAMES.items():
        row = counts.get(operation, {})
        cells = []
        for _, cell in columns:
            try:
                cells.append(cell(row))
            except KeyError:
                cells.append("-")
        if any(c != "-" for c in cells):
            yield f"  {name:22}" + "".join(f"{cell:>18}" for cell in cells)


def of(contender):
    return lambda row: str(row[contender])


def native_and_served(mpi):
    def cell(row):
        native, served = row[f"{mpi}_native_multiple"], row[f"{mpi}_served_multiple"]
        return f"{native} -> {served} ({native / served:.1f}x)"
    return cell


def embedded(counts):
    return table("Embedded in a runtime, and what one might use instead:", counts,
                 [("attrcache inlined", of("attrcache_inlined")), ("C API, library", of("attrcache_shared")),
                  ("array, library", of("raw_array_shared")), ("mutex + map", of("mutex_map"))])


def through_mpi(counts):
    return table("Through the MPI API, MPI_THREAD_MULTIPLE, native -> served:", counts,
                 [("Open MPI", native_and_served("openmpi")), ("MPICH", native_and_served("mpich"))])


def main():
    counts = {}
    for line in sys.stdin:
        words = line.split()
        if len(words) == 3:
            counts.setdefault(words[0], {})[words[1]] = int(words[2])
    for lines in (through_mpi(counts), embedded(counts)):
        print("\n".join(lines), end="\n\n")


if __name__ == "__main__":
    main()
