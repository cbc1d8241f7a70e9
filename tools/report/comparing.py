# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What changed between two reports, as data for the page and as text."""

from reading import TIMES, key_of, title
from words import counted, duration

# What is compared, in this order, and what people call it.
LABELS = {
    "created": "keyvals made",
    "leaked": "keyvals never freed",
    "sets": "sets",
    "gets": "gets, found",
    "absent": "gets, absent",
    "deletes": "deletes",
    "copies": "copied by dup",
    "deleted_with_object": "deleted with their object",
    "attached": "attributes left",
    "copy_calls": "copy callbacks",
    "delete_calls": "delete callbacks",
    "failed": "callbacks that failed",
    "callback_own_ns": "time in callbacks",
}
# Times are never the same twice. What is smaller than this is not told in the text.
LEAST_NS = 100_000
LEAST_FACTOR = 1.25


def difference(old, new):
    """The data of a comparison: what differs, as [what, then, now].

    If the numbers of ranks differ, so do all sums. What differs then is what a rank does on the
    average.
    """
    ranks = [max(1, old["ranks_heard_of"]), max(1, new["ranks_heard_of"])]

    def differs(was, now):
        return was * ranks[1] != now * ranks[0]

    before = {key_of(line): line for line in old["sum"]["keyvals"]}
    after = {key_of(line): line for line in new["sum"]["keyvals"]}
    lines = []
    for key in list(after) + [key for key in before if key not in after]:
        was, now = before.get(key), after.get(key)
        numbers = [[name, was[name] if was else 0, now[name] if now else 0] for name in LABELS]
        numbers = [one for one in numbers if differs(*one[1:])]
        if numbers or not was or not now:
            lines.append(
                {
                    "title": title(now or was),
                    "state": "new" if not was else "gone" if not now else "changed",
                    "numbers": numbers,
                }
            )

    def counts(was, now):
        names = list(now) + [name for name in was if name not in now]
        both = [[name, was.get(name, 0), now.get(name, 0)] for name in names]
        return [one for one in both if differs(*one[1:])]

    return {
        "facts": {
            "attrcache": [old["attrcache"], new["attrcache"]],
            "MPI": [old["mpi"], new["mpi"]],
            "ranks": [old["ranks"], new["ranks"]],
            "ranks heard of": [old["ranks_heard_of"], new["ranks_heard_of"]],
        },
        "ranks": ranks,
        "totals": [["seconds", old["sum"]["seconds"], new["sum"]["seconds"]]]
        + [
            [
                name,
                sum(line[name] for line in before.values()),
                sum(line[name] for line in after.values()),
            ]
            for name in LABELS
        ],
        "lines": lines,
        "objects": counts(objects_left(old), objects_left(new)),
        "misuse": counts(misused(old), misused(new)),
    }


def objects_left(report):
    result = {}
    for one in report["sum"]["objects"]:
        how = "made by a dup" if one["from"] == "dup" else "first used"
        name = f"{one['kind']}s" + (f", {how} at {one['place']}" if one["place"] else "")
        result[name] = result.get(name, 0) + one["count"]
    return result


def misused(report):
    result = {}
    for name, one in report["sum"]["misuse"].items():
        for place, times in one["places"].items():
            result[f"{name}, at {place}"] = times
        known = sum(one["places"].values())
        if one["times"] > known:
            result[name] = one["times"] - known
    return result


# ---- As text ----


def shown(name, value):
    return duration(value) if name in TIMES else f"{value:,}"


def change(was, now, ranks):
    """How a number changed, for each rank."""
    was, now = was / ranks[0], now / ranks[1]
    if was == 0:
        return "new"
    if now == 0:
        return "gone"
    if now >= 2 * was:
        return f"x {now / was:.1f}"
    return f"{100 * (now - was) / was:+.1f} %"


def matters(name, was, now, ranks):
    """Whether a difference is worth a line of text."""
    if name not in TIMES:
        return True
    low, high = sorted((was * ranks[1] / ranks[0], now))
    return high - low >= LEAST_NS and high > LEAST_FACTOR * low


def told(line, ranks):
    """The numbers of a line that are worth it."""
    return [one for one in line["numbers"] if matters(*one, ranks)]


def text(found, old_name):
    """The comparison for people, to be read below the report's own text."""
    facts, ranks, (_, was, now) = found["facts"], found["ranks"], found["totals"][0]
    out = [
        "",
        f"attrcache: compared with {old_name}, {counted(facts['ranks'][0], 'rank')} of {facts['MPI'][0]}: "
        f"{duration(was * 1e9)} then, {duration(now * 1e9)} now",
    ]
    out += [f"  {name}: {was} then, {now} now" for name, (was, now) in facts.items() if was != now]
    if ranks[0] != ranks[1]:
        out.append(
            "  The numbers are sums over ranks; the changes are those of a rank on the average."
        )
    blocks = [
        (line["title"], told(line, ranks))
        for line in found["lines"]
        if line["state"] == "changed" and told(line, ranks)
    ]
    blocks += [
        (name, found[key])
        for key, name in (("objects", "objects never freed"), ("misuse", "misuse"))
        if found[key]
    ]
    rows = [
        [LABELS.get(name, name), shown(name, was), shown(name, now), change(was, now, ranks)]
        for _, numbers in blocks
        for name, was, now in numbers
    ]
    ends = [
        (line["state"], line)
        for state in ("new", "gone")
        for line in found["lines"]
        if line["state"] == state
    ]
    if not rows and not ends:
        out += ["", "Nothing changed, but for the time it took."]
    widths = [max([len(row[i]) for row in rows], default=0) for i in range(4)]
    if rows:
        out += ["", f"    {'':{widths[0]}}  {'then':>{widths[1]}}  {'now':>{widths[2]}}"]
    left = iter(rows)
    for name, numbers in blocks:
        out.append("  " + name)
        for _, row in zip(numbers, left):
            out.append(
                f"    {row[0]:{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]:>{widths[3]}}"
            )
    out += [""] * bool(ends)
    for state, line in ends:
        numbers = "; ".join(
            f"{shown(name, was or now)} {LABELS[name]}" for name, was, now in told(line, ranks)
        )
        out.append(f"  {state}: {line['title']}" + (": " + numbers if numbers else ""))
    return "\n".join(out) + "\n\n"
