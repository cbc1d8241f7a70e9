# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The report as one HTML page that needs nothing else: findings first, then tables. It works without
JavaScript, but for sorting the tables (page/sort.js)."""

import base64
import collections
import datetime
import hashlib
import os

import findings
import text
from markup import Column, escaped, list_of, name, small, table, tag
from ranks import COMPARED, Differences
from reading import USUAL_KIND, origin, sums
from words import TIMES, counted, duration, on_ranks

# How heavy a page may be, in bytes. One that would be heavier has a share of its entries only.
MOST_BYTES = 3_000_000
MOST_LINES, MOST_FINDINGS, MOST_PARTS, MOST_EVENTS, MOST_RANKS = 2000, 1500, 400, 1000, 20_000


def source(file):
    there = os.path.join(os.path.dirname(os.path.abspath(__file__)), "page", file)
    with open(there, encoding="utf-8") as opened:
        return opened.read()


class Page:
    """A page that is being made. Sections are added one after the other."""

    def __init__(self, report, share):
        self.report, self.share = report, share
        self.sections, self.links = [], []

    def section(self, id_, title, *pieces):
        self.links.append(f'<li><a href="#{id_}">{title}</a></li>')
        inner = "\n".join(filter(None, pieces))
        self.sections.append(f'<section id="{id_}">\n<h2>{title}</h2>\n{inner}\n</section>\n')

    def kept(self, items, most, noun, where="JSON"):
        """As many items as the page has, and a note on the others."""
        most = int(most * self.share)
        more = len(items) - most
        note = f"{counted(more, noun)} more {'is' if more == 1 else 'are'} in the {where} report."
        return items[:most], small(note if more > 0 else "")


# ---- Findings ----


def card(finding, page):
    report = page.report
    parts, more = page.kept(finding.parts, MOST_PARTS, "place")
    entries = [
        name(part.text)
        + (f": <b>{part.count:,}</b>" if part.count != finding.count else "")
        + tag(on_ranks(part.ranks, report, "{}") if part.ranks != finding.ranks else "")
        for part in parts
    ]
    return (
        f'<li class="{"bad" if finding.is_fault else "mild"}">'
        f"<h4>{name(finding.what)}{tag(on_ranks(finding.ranks, report, '{}'))}</h4>"
        f"<p>{name(finding.why)}</p>{list_of(entries)}{more}</li>\n"
    )


def findings_section(page):
    report = page.report
    found, pieces = findings.of(report), []
    quiet = text.nothing_found(report, found)
    if quiet:
        is_complete = report["ranks_heard_of"] >= report["ranks"] and quiet.startswith("Nothing")
        pieces.append(f'<p class="{"good" if is_complete else "warning"}">{quiet}</p>')
    elif not found:
        pieces.append(small("No keyval was made."))
    for sort, some in found.items():
        kept, more = page.kept(some, MOST_FINDINGS, "finding")
        cards = [card(one, page) for one in kept]
        pieces.append(f"<h3>{sort}</h3>{list_of(cards, 24, 'cards')}{more}")
    if not report["checked"]:
        pieces.append(small("ATTRCACHE_CHECK=1 looks for more kinds of misuse."))
    page.section("findings", "What is wrong", *pieces)


# ---- Who uses attributes ----

USES = [
    Column(label, "time" if unit == "time" else "number", unit) for label, unit, _ in text.USES
]


def maker(line):
    """What a line of keyvals is named by, and where the first was made."""
    is_place = not line["function"] or line["function"].startswith("+")
    cell = name(origin(line) if is_place else line["function"])
    cell += tag("made there" if line["named_by"] == "caller" else "")
    cell += tag("" if line["kind"] == USUAL_KIND else line["kind"])
    made = f", first made at {name(line['made_at'])}" if line["made_at"] else ""
    return f"{cell}<br/><small>{name(line['library'] or 'unknown', 'lib')}{made}</small>"


def users_section(page):
    report, title = page.report, "Who uses attributes"
    lines = report["sum"]["keyvals"]
    if not lines:
        page.section("users", title, f"<p>{text.no_keyval(report)}</p>")
        return
    by_library = collections.defaultdict(list)
    for line in lines:
        by_library[line["library"] or "(unknown)"].append(line)
    kept, more = page.kept(lines, MOST_LINES, "line")
    rows = [[maker(line), *text.uses(line)] for line in kept]
    kept = sorted(by_library.items(), key=lambda one: -sums(one[1])["callback_own_ns"])
    kept, more_libraries = page.kept(kept, MOST_LINES, "library")
    libraries = [
        [name(library) + tag(counted(len(of), "function")), *text.uses(sums(of))] for library, of in kept
    ]
    functions, total = [Column("function", "text"), *USES], ["all", *text.uses(sums(lines))]
    page.section(
        "users",
        title,
        "<p>By the library and function of each keyval's callbacks, summed over all ranks.</p>",
        table("by-function", functions, rows, total, more),
        "<h3>By library</h3>",
        table("by-library", [Column("library", "text"), *USES], libraries, more=more_libraries),
    )


# ---- Ranks ----


def state_of(part):
    return "partial" if part["partial"] else "" if part["finalized"] else "no MPI_Finalize"


def ranks_section(page):
    parts = page.report["per_rank"]
    if len(parts) < 2:
        return
    found = Differences(parts)
    out = found.outliers
    spreads = [one.cells() for one in found.spreads]
    labels = ("number", "least", "median", "most", "outliers")
    columns = [Column(label, "text") for label in labels[: 5 if out else 4]]
    order = sorted(parts, key=lambda part: (-len(out.get(part["rank"], ())), part["rank"]))
    order, more = page.kept(order, MOST_RANKS, "rank")
    rows = [
        [f"rank {part['rank']}" + tag(state_of(part))]
        + ([", ".join(out.get(part["rank"], ()))] if out else [])
        + [name(part["host"]), (part["pid"],) * 2]
        + [found.numbers[part["rank"]][one.what] for one in found.spreads]
        for part in order
    ]
    heads = [Column("rank", "text")] + ([Column("stands out by", "text")] if out else [])
    heads += [Column("host", "text"), Column("process", "plain")]
    for one in found.spreads:
        heads.append(Column(COMPARED[one.what], "time" if one.what in TIMES else "number"))
    page.section(
        "ranks",
        "Differences between ranks",
        f"<p>{found.said}</p>",
        table("spread", columns, spreads) if spreads else "",
        f"<h3>Ranks{', those that stand out first' if out else ''}</h3>",
        table("by-rank", heads, rows, more=more),
    )


# ---- Timeline ----

PERFETTO = '<a href="https://ui.perfetto.dev">Perfetto</a>'
NO_TIMELINE = "<p>There is no timeline: no callback ran and no operation was slow, or the run was not traced.</p>"
NOT_KEPT = (
    f"<p><code>attrcache-run --trace FILE</code> keeps all of them, for {PERFETTO} or "
    "<code>chrome://tracing</code>, with the findings as markers.</p>"
)
KEPT = (
    "<p>All of them are in {}. Open it in " + PERFETTO + " (“Open trace file”: your browser reads it, "
    "and sends it nowhere), or in Chrome's <code>chrome://tracing</code>, which needs no network.</p>"
)


def timeline_section(page, trace, file):
    if not trace.events:
        page.section("timeline", "Timeline", NO_TIMELINE)
        return
    failed = sum(one["args"]["code"] != 0 for one in trace.events)
    length = max(one["ts"] + one["dur"] for one in trace.events)
    said = f"{counted(len(trace.events), 'event')} in {duration(1000 * length)}: callbacks and slow operations"
    said += f"; {failed:,} of them failed." if failed else "."
    dropped = sum(trace.dropped.values())
    if dropped:
        said += f" {counted(dropped, 'event')} more came when the memory for them was full "
        said += "(ATTRCACHE_TRACE_EVENTS)."
    main = {part["rank"]: part["pid"] for part in page.report["per_rank"]}
    events = sorted(trace.events, key=lambda one: (one["args"]["code"] == 0, -one["dur"]))
    events = events[: int(MOST_EVENTS * page.share)]
    rows = []
    for one in events:
        args, rank, thread = one["args"], one["pid"], one["tid"]
        failure = f"failed with code {args['code']}" if args["code"] else ""
        what = name(f"{args['what']} {args['function']}".strip()) + tag(failure, "tag bad")
        times = [round(1000 * one["ts"]), round(1000 * one["dur"])]
        where = [(rank, rank), "main" if thread == main.get(rank) else str(thread)]
        rows.append([what, *times, *where, (args["keyval"], args["keyval"] or "")])
    of_events = [Column("what", "text"), Column("start", "time"), Column("took", "time")]
    of_events += [Column("rank", "plain"), Column("thread", "text"), Column("keyval", "plain")]
    which = ""
    if len(events) < len(trace.events):
        most = f"{len(events):,} of {len(trace.events):,}"
        which = small(f"Those that failed, then the longest: {most}.")
    page.section(
        "timeline",
        "Timeline",
        f"<p>{said}</p>",
        KEPT.format(name(file)) if file else NOT_KEPT,
        table("events", of_events, rows, more=which),
    )


# ---- The page ----


def hash_of(words):
    """For the page's content security policy: nothing runs in it but what was put there here."""
    return "'sha256-%s'" % base64.b64encode(hashlib.sha256(words.encode()).digest()).decode()


def written(report, trace, file, changes, share=1):
    """The page. `file` is where the trace is kept, or None; `changes` is comparing.text(), or
    empty. `share` is the share of the entries that it has where there are many."""
    page = Page(report, share)
    findings_section(page)
    if changes:
        lines, more = page.kept(changes.strip().split("\n"), 5 * MOST_LINES, "line", "text")
        page.section("changes", "Changes", f"<pre>{escaped(chr(10).join(lines))}</pre>", more)
    users_section(page)
    ranks_section(page)
    timeline_section(page, trace, file)
    style = source("style.css") + "".join(f".p{i}{{--p:{i}%}}" for i in range(1, 101))
    script = source("sort.js")
    headline = text.headline(report)
    parts = {
        "TITLE": escaped("attrcache: " + (report["command"] or headline)),
        "POLICY": "default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"style-src {hash_of(style)}; script-src {hash_of(script)}",
        "STYLE": style,
        "SCRIPT": script,
        "HEADLINE": escaped(headline[0].upper() + headline[1:]),
        "COMMAND": f'<p class="command">{name(report["command"])}</p>' if report["command"] else "",
        "FACTS": "".join(f"<li>{name(one)}</li>" for one in [text.span(report), *text.facts(report)]),
        "NOTES": "".join(f"<li>{name(one)}</li>" for one in text.notes(report)),
        "LINKS": "".join(page.links),
        "SECTIONS": "".join(page.sections),
        "WRITTEN": datetime.datetime.now().strftime("%Y-%m-%d %H:%M"),
    }
    pieces = source("template.html").split("@@")
    # Text, name, text, name, ..., text: what is put in isn't searched for names again.
    return "".join(parts[piece] if i % 2 else piece for i, piece in enumerate(pieces))


def fitting(*data):
    """The page with as large a share of the entries as lets it stay below MOST_BYTES; as bytes."""
    for share in (1, 0.5, 0.25, 0.1, 0.02):
        page = written(*data, share).encode(errors="replace")
        if len(page) <= MOST_BYTES:
            break
    return page
