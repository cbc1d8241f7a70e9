# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The report for people: what was used most, then what is wrong, then how ranks differ."""

from reading import ENDS, NUMBERS, origin, title
from words import counted, duration, listed

# Up to this many ranks get a line each.
FEW_RANKS = 8
WIDTHS = (6, 6, 8, 9, 7, 7, 7, 6, 9)


def cell(number):
    """Zero is a dash, because most of the numbers are zero."""
    return f"{number:,}" if number else "-"


def row(cells, last):
    return "".join(f" {text:>{width}}" for text, width in zip(cells, WIDTHS)) + f"  {last}".rstrip()


def row_of(line, last):
    numbers = [
        line[name] for name in ("created", "freed", "sets", "gets", "absent", "deletes", "copies")
    ]
    numbers.append(line["copy_calls"] + line["delete_calls"])
    time = line["callback_own_ns"]
    return row([cell(n) for n in numbers] + [duration(time) if time else "-"], last)


def heading(last):
    return [
        "",
        row(("key-", "", "", "get:", "", "", "copied", "call-", "time in"), ""),
        row(
            ("vals", "freed", "set", "found", "absent", "delete", "by dup", "backs", "callbacks"),
            last,
        ),
    ]


def sums(lines):
    return {name: sum(line[name] for line in lines) for name in NUMBERS}


def head(report):
    end = "MPI_Finalize" if report["finalized"] else "the end"
    time = duration(report["sum"]["seconds"] * 1e9)
    out = [
        "",
        f"attrcache: the attributes of {counted(report['ranks'], 'rank')} of {report['mpi']}, "
        f"from MPI_Init to {end} ({time})",
    ]
    partial = [str(part["rank"]) for part in report["per_rank"] if part["partial"]]
    unfinished = [str(part["rank"]) for part in report["per_rank"] if not part["finalized"]]
    if unfinished:
        out.append(
            f"MPI_Finalize was not called on {counted(len(unfinished), 'rank')}: "
            f"{listed(unfinished, 8)}."
        )
    if partial:
        out.append(
            "Partial, for they were ended from outside or aborted: "
            f"{counted(len(partial), 'rank')}, "
            f"{listed(partial, 8)}."
        )
    if report["ranks_heard_of"] < report["ranks"]:
        out.append(
            f"Heard of {counted(report['ranks_heard_of'], 'rank')} only: "
            "others are not served by attrcache, "
            "or were killed."
        )
    out += [
        f"Not counted: {kind}s, on {counted(ranks, 'rank')}, "
        "because a tool in front wraps their functions."
        for kind, ranks in report["sum"]["not_served"].items()
        if ranks
    ]
    return out


def table(lines):
    if not lines:
        return ["", "No keyval was made."]
    out = heading("of keyvals with this delete_fn or copy_fn") + [
        row_of(line, title(line)) for line in lines
    ]
    return out + ([row_of(sums(lines), "all")] if len(lines) > 1 else [])


def end_of(report, kind):
    return ENDS.get(kind, f"MPI_{report['kinds'][kind]}_free")


def attributes_left(report):
    """What is alike but for its object is told together."""
    alike = {}
    for one in report["sum"]["attached"]:
        key = tuple(
            one[name]
            for name in ("kind", "library", "function", "predefined", "deleted_by_finalize")
        )
        alike.setdefault(key, []).append(one)
    for entries in alike.values():
        one, number = entries[0], sum(entry["attributes"] for entry in entries)
        them = "it" if number == 1 else "them"
        if one["deleted_by_finalize"]:
            fate = f"MPI_Finalize will delete {them}"
        elif one["predefined"]:
            fate = f"{report['mpi']} never deletes {them}"
        else:
            fate = f"no {end_of(report, one['kind'])}, so delete_fn never ran"
        names = listed([entry["object"] for entry in entries])
        yield f"{counted(number, 'attribute')} of {origin(one)}, on {names}: {fate}"


def objects_left(report):
    """By where they came from, whatever their names are."""
    places = {}
    for one in report["sum"]["objects"]:
        key = one["kind"], one["from"], one["place"]
        places[key] = places.get(key, 0) + one["count"]
    for (kind, how, place), number in places.items():
        at = (
            (", made by a dup at " if how == "dup" else ", first used at ") + place if place else ""
        )
        yield f"{counted(number, kind)}{at}: no {end_of(report, kind)}"


def left(report):
    out = [
        f"{counted(line['leaked'], 'keyval')} of {origin(line)}: "
        f"no MPI{'X' * (line['kind'] in ENDS)}_{report['kinds'][line['kind']]}_free_keyval"
        for line in report["sum"]["keyvals"]
        if line["leaked"]
    ]
    out += list(attributes_left(report)) + list(objects_left(report))
    return ["", "Left behind:"] + ["  " + text for text in out] if out else []


def failures(lines):
    out = [
        f"  {line['failed']:,} of {origin(line)}, the last with code {line['last_failure']}"
        for line in lines
        if line["failed"]
    ]
    return ["", "Callbacks that failed:"] + out if out else []


def misuse(sorts):
    out = []
    for name, one in sorts.items():
        out.append(f"  {one['times']:,} x {name}: {one['what']}")
        if one["places"]:
            out.append("    at " + listed(list(one["places"])))
    return ["", "Misuse (ATTRCACHE_CHECK=1 finds more):"] + out if out else []


OVER_RANKS = {
    "created": "keyvals made",
    "leaked": "keyvals not freed",
    "sets": "set",
    "gets": "get, found",
    "absent": "get, absent",
    "deletes": "delete",
    "copies": "copied by dup",
    "attached": "still attached",
    "failed": "failed callbacks",
    "callback_own_ns": "time in callbacks",
}


def ranks(parts):
    if len(parts) < 2:
        return []
    of = [(part["rank"], sums(part["keyvals"])) for part in parts]
    # Times are not compared, because they always differ.
    counts = [name for name in NUMBERS if not name.endswith("_ns")]
    if all(one[name] == of[0][1][name] for _, one in of for name in counts):
        return ["", "All ranks did the same, but for the time it took."]
    if len(of) <= FEW_RANKS:
        return heading("rank") + [row_of(one, rank) for rank, one in of]
    out = ["", "  over ranks                 least              median                most"]
    for name, label in OVER_RANKS.items():
        values = sorted((one[name], rank) for rank, one in of)
        if values[0][0] == values[-1][0]:
            continue
        shown = duration if name.endswith("_ns") else "{:,}".format
        ends = [f"{shown(value)} (rank {rank})" for value, rank in (values[0], values[-1])]
        out.append(
            f"  {label:17} {ends[0]:>19} {shown(values[len(values) // 2][0]):>19} {ends[1]:>19}"
        )
    return out


def text(report):
    total = report["sum"]
    wrong = left(report) + failures(total["keyvals"]) + misuse(total["misuse"])
    if total["keyvals"] and not wrong:
        wrong = ["", "Nothing is left behind, no callback failed, no misuse."]
    return (
        "\n".join(head(report) + table(total["keyvals"]) + wrong + ranks(report["per_rank"]))
        + "\n\n"
    )
