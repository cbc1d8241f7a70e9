# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What changed between two reports, as text."""

import re

import findings
from reading import LABELS, NUMBERS, key_of, sums, title
from words import TIMES, aligned, counted, duration, shown

# Which numbers are compared; those left out follow from others.
COMPARED = [name for name in NUMBERS if name not in ("freed", "callback_ns")]
# Times are never the same twice: smaller differences are left out.
LEAST_NS = 100_000
LEAST_FACTOR = 1.25


class Average:
    """Compares numbers of two reports. If these have different numbers of ranks, all sums differ, so
    what a rank does on average is compared."""

    def __init__(self, *reports):
        self.ranks = [max(1, report["ranks_heard_of"]) for report in reports]

    def differs(self, name, was, now):
        """Whether a difference is worth a line."""
        if name not in TIMES:
            return was * self.ranks[1] != now * self.ranks[0]
        low, high = sorted((was * self.ranks[1] / self.ranks[0], now))
        return high - low >= LEAST_NS and high > LEAST_FACTOR * low

    def change(self, was, now):
        """How a number changed, for each rank."""
        was, now = was / self.ranks[0], now / self.ranks[1]
        if was == now:
            return "the same"
        if was == 0 or now == 0:
            return "gone" if was else "new"
        return f"x {now / was:.1f}" if now >= 2 * was else f"{100 * (now - was) / was:+.1f} %"


# ---- The same program under another name ----


def renamed(old, new):
    """{library then: library now}: a program's file has another name, but the same functions."""

    def functions(report):
        found = {}
        for line in report["sum"]["keyvals"]:
            found.setdefault(line["library"], set()).add((line["kind"], line["function"]))
        return found

    before, after = functions(old), functions(new)
    found = {}
    for library in before.keys() - after.keys():
        alike = [one for one in after.keys() - before.keys() if before[library] & after[one]]
        if len(alike) == 1 and alike[0] not in found.values():
            found[library] = alike[0]
    return found


def with_names(report, names):
    """The report's sums with other names of libraries, in places, too."""

    def place(words):
        library, of, where = words.partition(":" if ":" in words else "+")
        return names.get(library, library) + of + where

    total = report["sum"]
    misuses = {
        sort: dict(one, places={place(where): times for where, times in one["places"].items()})
        for sort, one in total["misuse"].items()
    }
    lines = [dict(one, library=names.get(one["library"], one["library"])) for one in total["keyvals"]]
    made = [dict(one, place=place(one["place"])) for one in total["made"]]
    return dict(report, sum=dict(total, keyvals=lines, made=made, misuse=misuses))


# ---- What differs, in blocks: (title, [(what, then, now)]) ----


def keyvals(old, new, average):
    """All together, then the lines of keyvals: the changed, the new, and those that are gone."""
    before, after = ({key_of(line): line for line in one["sum"]["keyvals"]} for one in (old, new))
    none = dict.fromkeys(NUMBERS, 0)
    pairs = [("all together", sums(before.values()), sums(after.values()))]
    pairs += [(title(after[key]), before[key], after[key]) for key in after if key in before]
    pairs += [(title(after[key]) + " (new)", none, after[key]) for key in after if key not in before]
    pairs += [(title(one) + " (gone)", one, none) for key, one in before.items() if key not in after]
    for name, was, now in pairs:
        numbers = [(what, was[what], now[what]) for what in COMPARED]
        numbers = [one for one in numbers if average.differs(*one)]
        if numbers or was is none or now is none:
            yield name, numbers


def add(found, what, place, times):
    """Adds what happened at a place to {what happened, with its function: {line: times}}: an edit
    above moves all lines, so functions are compared, and lines only within one that differs."""
    # "solver: restart (solver.c:120)", or with +0x3f.
    parts = re.fullmatch(r"(.*?)(?: \(([^()]*:\d+)\)|(\+0x[0-9a-f]+))?", place, re.S)
    function, line = parts.group(1), parts.group(2) or parts.group(3) or ""
    there = found.setdefault(what + function, {})
    there[line] = there.get(line, 0) + times


def objects_left(report):
    found = {}
    for (kind, place), number in findings.still_alive(report["sum"]):
        add(found, f"{kind}s, made at ", place, number)
    return found


def misused(report):
    found = {}
    for name, one in report["sum"]["misuse"].items():
        for place, times in one["places"].items():
            add(found, f"{name}, at ", place, times)
        elsewhere = one["times"] - sum(one["places"].values())
        if elsewhere > 0:
            add(found, name, "", elsewhere)
    return found


def places(old, new, average):
    for name in {**new, **old}:
        was, now = old.get(name, {}), new.get(name, {})
        sums_ = sum(was.values()), sum(now.values())
        if not average.differs("places", *sums_):
            continue
        yield (name, *sums_)
        # Lines are the same ones if all are.
        if len(now) > 1 and was.keys() == now.keys():
            for line in now:
                if average.differs("places", was[line], now[line]):
                    yield f"{name}, line {line}", was[line], now[line]


# ---- As text ----


def text(old, new, old_name):
    """The comparison for people: below the report's own text, and on its page."""
    average = Average(old, new)
    names = renamed(old, new)
    old = with_names(old, names)
    blocks = [*keyvals(old, new, average)]
    # Ranks that were killed don't say how many were alive.
    counted_ones = all(one["sum"]["most_alive"] for one in (old, new))
    kinds = [("objects never freed", objects_left)] * counted_ones + [("misuse", misused)]
    for name, of in kinds:
        numbers = [*places(of(old), of(new), average)]
        blocks += [(name, numbers)] if numbers else []
    then, now = (duration(one["sum"]["seconds"] * 1e9) for one in (old, new))
    whose = f"{counted(average.ranks[0], 'rank')} of {old['mpi']}"
    out = ["", f"attrcache: compared with {old_name}, {whose}: {then} then, {now} now"]
    facts = ("attrcache", "attrcache"), ("MPI", "mpi"), ("ranks", "ranks")
    for label, name in (*facts, ("ranks heard of", "ranks_heard_of")):
        if old[name] != new[name]:
            out.append(f"  {label}: {old[name]} then, {new[name]} now")
    out += [f"  {was} then is {now} now: it has the same functions." for was, now in names.items()]
    if average.ranks[0] != average.ranks[1]:
        out.append("  The numbers are sums over ranks; the changes are those of an average rank.")
    if any(part["partial"] for one in (old, new) for part in one["per_rank"]):
        out.append("  What partial ranks have left behind isn't known, and may differ.")
    rows = [["", "then", "now", ""]] + [
        [LABELS.get(what, what), shown(what, was), shown(what, now), average.change(was, now)]
        for _, numbers in blocks
        for what, was, now in numbers
    ]
    lines = iter(aligned(rows))
    head = "    " + next(lines)
    out += ["", head if blocks else "Nothing changed, but for the time it took."]
    for name, numbers in blocks:
        out.append("  " + name)
        out += ["    " + next(lines) for _ in numbers]
    return "\n".join(out) + "\n\n"
