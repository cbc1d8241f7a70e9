# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The results, for people (text, a page) and for programs (JSON)."""

import html

import mpi as mpi_module
import suite

SAYS = {"demanded": "the standard demands", "implied": "implied", "proposed": "proposed", "open": "left open"}


def to_data(an_mpi, results, arguments, date):
    """The whole run as plain data, from which everything else is made."""
    return {
        "format": 1,
        "date": date,
        "mpi": an_mpi.library,
        "standard_abi": "standard_abi" in an_mpi.features,
        "mpi_version": "%d.%d" % an_mpi.version,
        "thread_level": mpi_module.LEVELS[an_mpi.level],
        "ranks": an_mpi.ranks,
        "served": arguments.served,
        "called": arguments.called or ("served" if arguments.served else "native"),
        "counts": counts(results),
        "results": [{
            "check": r.check.name, "section": r.check.section, "kind": r.check.kind, "standard": r.check.number,
            "rule": r.check.rule, "result": r.result, "expected": r.expected, "seen": r.seen, "detail": r.detail,
            "seconds": round(r.seconds, 2),
        } for r in results],
    }


def counts(results):
    found = {kind: {"pass": 0, "fail": 0, "not applicable": 0, "open": 0} for kind in SAYS}
    for r in results:
        found[r.check.kind][r.result] += 1
    return found


def headline(data):
    return "%s (MPI-%s%s), %s, %d rank%s, %s, %s" % (
        data["mpi"], data["mpi_version"], ", standard ABI" if data["standard_abi"] else "", data["thread_level"],
        data["ranks"], "" if data["ranks"] == 1 else "s",
        how(data), data["date"])


def how(data):
    """Native, served by attrcache, or what the user called it."""
    return "served by attrcache" if data["called"] == "served" else data["called"]


def totals(data):
    lines = []
    for kind in ("demanded", "implied", "proposed"):
        c = data["counts"][kind]
        lines.append("%s: %d of %d pass, %d fail, %d not applicable" % (
            SAYS[kind], c["pass"], c["pass"] + c["fail"], c["fail"], c["not applicable"]))
    lines.append("left open: %d looked at" % data["counts"]["open"]["open"])
    return lines


def by_section(data, sections):
    for section in sections:
        results = [r for r in data["results"] if r["section"] == section.name]
        if results:
            yield section, results


def to_text(data, sections, tool):
    """The report that is printed."""
    lines = []
    for section, results in by_section(data, sections):
        judged = [r for r in results if r["result"] in ("pass", "fail")]
        lines.append("%-11s %-48s %3d of %d" % (
            section.name, section.title, sum(r["result"] == "pass" for r in judged), len(judged)))
        for r in results:
            if r["result"] == "fail":
                lines += ["  FAIL  %s (%s, %s)" % (r["check"], suite.cite(r["standard"]), SAYS[r["kind"]]),
                          "        " + r["rule"],
                          "        expected %s; seen %s" % (r["expected"], r["seen"]),
                          "        %s --reproducer %s" % (tool, r["check"])]
        for r in results:
            if r["result"] == "open":
                lines.append("  open  %s: %s" % (r["check"], r["detail"]))
        reasons = {}
        for r in results:
            if r["result"] == "not applicable":
                reasons.setdefault(r["detail"], []).append(r["check"])
        for reason, names in reasons.items():
            lines.append("  n/a   %s: %s" % (
                ", ".join(names) if len(names) < 4 else "%s ... %s (%d)" % (names[0], names[-1], len(names)), reason))
    return "\n".join(lines + [""] + totals(data)) + "\n"


PAGE = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Attributes: %(title)s</title>
<style>
:root { color-scheme: light dark; }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 70rem; margin: 1.5rem auto; padding: 0 1rem; }
th, td { text-align: left; vertical-align: top; padding: .25rem .5rem; overflow-wrap: anywhere; }
article { border-left: 3px solid red; padding-left: .8rem; margin: 1rem 0; overflow-wrap: anywhere; }
article h3, article p { margin: .2rem 0; } .rule { opacity: .7; }
pre { overflow-x: auto; font-size: 12px; line-height: 1.35; }
</style>
<h1>Attributes of %(title)s</h1>
<p>%(headline)s</p>
<ul>%(totals)s</ul>
<h2>What fails</h2>
%(fails)s
<h2>What the standard leaves open: what this MPI does</h2>
%(open)s
<h2>What could not be checked</h2>
%(not_applicable)s
<h2>What passes</h2>
%(passes)s
</html>
"""


def rows_of(results, text):
    """A table of checks, with text(result) above each rule."""
    return "<table><thead><tr><th>check<th>standard<th></thead>\n%s\n</table>" % "\n".join(
        "<tr><td><code>%s</code><td>%s<td>%s<div class=\"rule\">%s</div>" % (
            html.escape(r["check"]), html.escape(suite.cite(r["standard"])), html.escape(text(r)), html.escape(r["rule"]))
        for r in results)


def failure(r, check):
    """What failed, with the program that shows it by itself."""
    return ("<article><h3><code>%s</code></h3>\n<p>%s (%s, %s)\n<p>Expected %s; <strong>seen %s</strong>\n"
            "<details><summary>a program that shows it</summary><pre>%s</pre></details></article>" % tuple(
                html.escape(text) for text in (r["check"], r["rule"], suite.cite(r["standard"]), SAYS[r["kind"]],
                                               r["expected"], r["seen"], suite.reproducer(check))))


def to_html(data, sections):
    """One page that needs nothing else: first what fails, last what passes, folded."""
    checks = {check.name: check for section in sections for check in section.checks}

    def of(result):
        return [r for r in data["results"] if r["result"] == result]

    fails = sorted(of("fail"), key=lambda r: list(SAYS).index(r["kind"]))
    passes = []
    for section, results in by_section(data, sections):
        passed = [r for r in results if r["result"] == "pass"]
        if passed:
            passes.append("<details><summary>%s: %d pass</summary>\n%s</details>" % (
                html.escape(section.title), len(passed), rows_of(passed, lambda r: "")))
    return PAGE % {
        "title": html.escape(data["mpi"] + ("" if how(data) == "native" else ", " + how(data))),
        "headline": html.escape(headline(data)),
        "totals": "".join("<li>%s" % html.escape(line) for line in totals(data)),
        "fails": "\n".join(failure(r, checks[r["check"]]) for r in fails) or "<p>Nothing.",
        "open": rows_of(of("open"), lambda r: r["detail"]),
        "not_applicable": rows_of(of("not applicable"), lambda r: r["detail"]),
        "passes": "\n".join(passes),
    }
