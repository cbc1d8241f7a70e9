# SPDX-License-Identifier: Apache-2.0
"""Reads lines of OPERATION CONTENDER INSTRUCTIONS and prints them as two small tables with ratios."""

import sys

NAMES = {
    "get_hit": "get, attached",
    "get_first_of_64": "get, oldest of 64",
    "get_last_of_64": "get, newest of 64",
    "get_absent": "get, absent",
    "get_predefined": "get MPI_TAG_UB",
    "set": "set, replacing",
    "set_delete": "set + delete",
    "create_free": "create + free keyval",
}


def table(title, counts, columns):
    """Columns: (heading, function of an operation's counts)."""
    print(title)
    print("  " + " " * 22 + "".join(f"{heading:>18}" for heading, _ in columns))
    for operation, name in NAMES.items():
        row = counts.get(operation, {})
        cells = []
        for _, cell in columns:
            try:
                cells.append(cell(row))
            except KeyError:
                cells.append("-")
        if any(c != "-" for c in cells):
            print(f"  {name:22}" + "".join(f"{cell:>18}" for cell in cells))
    print()


def of(contender):
    return lambda row: str(row[contender])


def native_and_served(mpi):
    def cell(row):
        native, served = row[f"{mpi}_native_multiple"], row[f"{mpi}_served_multiple"]
        return f"{native} -> {served} ({native / served:.1f}x)"
    return cell


def main():
    counts = {}
    for line in sys.stdin:
        words = line.split()
        if len(words) == 3:
            counts.setdefault(words[0], {})[words[1]] = int(words[2])
    table("Through the MPI API, MPI_THREAD_MULTIPLE, native -> served:", counts,
          [("Open MPI", native_and_served("openmpi")), ("MPICH", native_and_served("mpich"))])
    table("Embedded in a runtime, and what one might use instead:", counts,
          [("attrcache inlined", of("attrcache_inlined")), ("C API, library", of("attrcache_shared")),
           ("array, library", of("raw_array_shared")), ("mutex + map", of("mutex_map"))])


if __name__ == "__main__":
    main()
