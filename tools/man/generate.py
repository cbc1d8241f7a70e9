#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Writes the man pages, from:

  man3  one page for each function of attrcache.h, from the comment before it
  man7  attrcache(7), from the comment at the top of attrcache.h, with all functions and results
  man7  attrcache-clusters(7), from tools/run/README.md
  man7  attrcache-misuse(7), from lib/mpi/native/misuse.def
  man1  one page for each installed tool, from what its --help prints

usage: generate.py TARGET    (TARGET/man1, TARGET/man3, TARGET/man7)
"""

import collections
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
HEADER = os.path.join(ROOT, "lib", "include", "attrcache", "attrcache.h")
# Each tool's name in tools/, and what it is for.
TOOLS = {
    "attrcache-check-mpi": ("check-mpi", "checks how an MPI caches attributes"),
    "attrcache-run": ("attrcache-run", "runs an MPI program with its attributes served by attrcache"),
}

# Abbreviations in the header's comments, which pages spell out.
SOURCES = {
    "C": "MPI-4.1, section 7.7",
    "L": "MPI-4.1, section 19.3.7",
    "F": "MPI-4.1, section 11.2.4",
}

# KEYVAL_* stands for all such errors, but only these functions return the one about predefined keyvals.
REFUSED_IF_PREDEFINED = (
    "attrcache_set", "attrcache_set_as", "attrcache_set_if_absent", "attrcache_delete", "attrcache_keyval_free")


Function = collections.namedtuple("Function", "name prototype comment section")


class Header:
    """attrcache.h, taken apart."""

    def __init__(self, text):
        self.version = subprocess.check_output(os.path.join(ROOT, "tools", "version"), universal_newlines=True).strip()
        self.overview = uncommented(re.search(r"/\*\n(.*?)\*/", text, re.S).group(1))
        # A result's meaning follows it, or is on the line before.
        self.results = [
            (name, before or behind) for before, name, behind in re.findall(
                r"^(?:  /\* (.*?) \*/\n)?  (ATTRCACHE_(?:OK|ABSENT|ERR_\w+))[^/\n]*(?:/\* (.*?) \*/)?$", text, re.M)]
        self.types = {
            m.group("name"): m.group(0)
            for m in re.finditer(
                r"^typedef (?:struct|enum) (?P<name>attrcache_\w+)(?: \{.*?^\} (?P=name)| (?P=name));",
                text, re.M | re.S)
        }
        self.functions = list(self.find_functions(text))

    @staticmethod
    def find_functions(text):
        section = ""
        pattern = re.compile(
            r"/\* ---- (?P<section>.*?) -+ \*/"
            r"|/\*(?P<comment>(?:(?!\*/).)*)\*/\s*(?:ATTRCACHE_API|static inline) (?P<prototype>[^;{]*?)"
            r"\s*ATTRCACHE_NOEXCEPT(?:;| \{)", re.S)
        for match in pattern.finditer(text):
            if match.group("section"):
                section = match.group("section")
                continue
            prototype = re.sub(r"\s+", " ", match.group("prototype"))
            name = re.search(r"(attrcache_\w+)\(", prototype).group(1)
            yield Function(name, prototype, uncommented(match.group("comment")), section)

    def errors(self, function, comment):
        """The results that "Errors: NULL, KEYVAL_*, ARGUMENT (mode)." names, with what they mean."""
        listed = re.search(r"Errors:\s(.*?)\.(?:\s|$)", comment, re.S)
        for word, note in re.findall(r"([A-Z_]+\*?)(?: \((.*?)\))?", listed.group(1) if listed else ""):
            for result, meaning in self.results:
                short = result[len("ATTRCACHE_ERR_"):]
                if short == "KEYVAL_PREDEFINED" and function not in REFUSED_IF_PREDEFINED:
                    continue
                if short == word or (word.endswith("*") and short.startswith(word[:-1])):
                    yield result, meaning + (": " + note if note else "")

    def types_of(self, prototype):
        return [t for name, t in self.types.items() if re.search(r"\b%s\b" % name, prototype)
                and "{" in t]


def uncommented(text):
    return "\n".join(re.sub(r"^ ?\* ?", "", line).rstrip() for line in text.strip("\n").split("\n"))


def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^(['.])", r"\\&\1", text, flags=re.M)


def prose(text):
    """Escaped, with the library's own names in bold."""
    text = re.sub(r"[ \t]+", " ", text.strip())
    return re.sub(r"\b(attrcache_\w+|ATTRCACHE_\w+)", r"\\fB\1\\fP", escaped(text))


def verbatim(text):
    return ".nf\n%s\n.fi" % escaped(text)


def folded(prototype):
    """A prototype, one parameter a line if it doesn't fit into one."""
    if len(prototype) < 72:
        return prototype + ";"
    head, parameters = prototype.split("(", 1)
    # Not the commas of a parameter that is a function.
    return head + "(\n    " + re.sub(r", (?![^(]*\))", ",\n    ", parameters[:-1]) + ");"


def page(name, section, version, parts):
    lines = ['.\\" SPDX-License-Identifier: Apache-2.0 OR MIT',
             '.TH %s %s "" "attrcache %s" "attrcache"' % (name, section, version)]
    for title, body in parts:
        if body:
            lines += [".SH " + title, body]
    return "\n".join(lines) + "\n"


def summary(comment):
    """The first sentence, without a full stop, fit for whatis."""
    first = re.split(r"(?<=[.;])\s", re.sub(r"\s+", " ", comment.strip()))[0]
    head = first.split(":")[0]
    return head if len(head) > 12 else first.rstrip(".;")


def function_page(header, function):
    comment = re.sub(r"^/?\s*", "", function.comment).strip()
    sources = re.search(r"\s*\[((?:C|L|F)\b[^\]]*)\]$", comment)
    described = comment[:sources.start()] if sources else comment
    errors = "\n".join(".TP\n.B %s\n%s" % (result, prose(meaning))
                       for result, meaning in header.errors(function.name, described))
    conforms = "; ".join(
        re.sub(r"^(C|L|F)\b,?", lambda m: SOURCES[m.group(1)] + ":", source.strip()).rstrip(":")
        for source in sources.group(1).replace("\n", " ").split(";")) if sources else ""
    siblings = [f.name for f in header.functions
                if f.section == function.section and f is not function]
    related = ["%s (3)" % name for name in siblings] + ["attrcache (7)"]
    return page(function.name, 3, header.version, [
        ("NAME", "%s \\- %s" % (function.name, escaped(summary(described)))),
        ("LIBRARY", "attrcache (libattrcache, \\fI\\-lattrcache\\fP)"),
        ("SYNOPSIS", verbatim("#include <attrcache/attrcache.h>\n\n" + folded(function.prototype))),
        ("TYPES", "\n.PP\n".join(verbatim(t) for t in header.types_of(function.prototype))),
        ("DESCRIPTION", prose(described)),
        ("ERRORS", errors),
        ("CONFORMING TO", prose(conforms)),
        ("SEE ALSO", " ,\n".join(".BR " + page for page in related)),
    ])


def overview_page(header):
    intro, sources, description = header.overview.split("\n\n", 2)
    sections = {}
    for function in header.functions:
        sections.setdefault(function.section, []).append(function)
    functions = []
    for title, members in sections.items():
        functions.append(".SS " + escaped(title))
        for f in members:
            functions.append(".TP\n.BR %s (3)\n%s" % (f.name, prose(summary(f.comment.lstrip("/ ")))))
    return page("attrcache", 7, header.version, [
        ("NAME", "attrcache \\- " + escaped(re.sub(r"^attrcache: |\. The C API\.?$", "",
                                                   re.sub(r"\s+", " ", intro.strip())))),
        ("SYNOPSIS", verbatim("#include <attrcache/attrcache.h>    /* C */\n"
                              "#include <attrcache/attrcache.hpp>  // C++20\n\n"
                              "cc ... $(pkg-config --cflags --libs attrcache)")),
        ("DESCRIPTION", verbatim(description + "\n\n" + sources)),
        ("FUNCTIONS", "\n".join(functions)),
        ("RESULTS", "\n".join(".TP\n.B %s\n%s" % (r, prose(m or "Success."))
                              for r, m in header.results)),
        ("SEE ALSO", ".BR attrcache\\-run (1) ,\n.BR attrcache\\-check\\-mpi (1)"),
    ])


def tool_page(tool, file, whatis, version):
    """From the output of --help: paragraphs, headings, and below these entries, which continue on lines that are further indented."""
    said = subprocess.run([os.path.join(ROOT, "tools", file), "--help"], check=True, env=dict(os.environ, COLUMNS="100"),
                          stdout=subprocess.PIPE, encoding="utf-8").stdout
    usage, _, rest = re.sub(r"(?<![\w/-])%s\b" % file, tool, said).partition("\n\n")
    for words, title in (("exit code: ", "Exit status:\n  "), ("example: ", "Examples:\n  ")):  # argparse's
        rest = re.sub("^" + words, title, rest, flags=re.M)

    def entry(line):
        name, _, what = line.strip().partition("  ")
        return ".TP\n.B %s\n%s" % (escaped(name), prose(what)) if what else escaped(name) or ".PP"

    _, description, *sections = re.split(r"^([A-Za-z ]+):\n", "Description:\n" + rest, flags=re.M)
    parts = [("NAME", "%s \\- %s" % (escaped(tool), whatis)), ("SYNOPSIS", verbatim(re.sub(r"^(usage|   or): ", "", usage, flags=re.I | re.M)))]
    for title, body in zip([description, *sections[1::2]], sections[::2]):
        lines = re.sub(r"\n {3,}(?=\S)", "  ", body.strip("\n")).split("\n")
        parts.append((title.upper(), "\n".join(map(entry, lines))))
    related = ".BR attrcache (7) ,\n.BR attrcache\\-misuse (7) ,\n.BR attrcache\\-clusters (7)"
    return page(tool.upper(), 1, version, parts + [("SEE ALSO", related)])


def misuse_page(version):
    """From misuse.def, a row for each sort."""
    with open(os.path.join(ROOT, "lib/mpi/native/misuse.def"), encoding="utf-8") as f:
        rows = re.findall(r"^ATTRCACHE_MISUSE\(\w+,(.*?)\)$", f.read(), re.S | re.M)
    sorts = []
    for row in rows:
        name, what, rule, openmpi, mpich = (
            escaped("".join(re.findall('"([^"]*)"', text))) for text in re.findall(r'(?:"[^"]*"\s*)+', row))
        sorts.append(".TP\n.B %s\n%s.\n%s. By itself Open MPI %s; MPICH %s." %
                     (name, what[:1].upper() + what[1:], rule, openmpi, mpich))
    return page("attrcache-misuse", 7, version, [
        ("NAME", "attrcache\\-misuse \\- what attrcache warns of in MPI programs"),
        ("SYNOPSIS", verbatim("ATTRCACHE_CHECK=1 attrcache-run mpirun -np 4 ./program")),
        ("DESCRIPTION", prose(
            "Uses of attributes that the MPI standard calls erroneous, or leaves so open that MPIs differ, but that MPIs "
            "let pass. With ATTRCACHE_CHECK=1 each rank warns of them on standard error, once for each place in the "
            "program. The name in brackets at the end of a warning is one of those below. Reports count the first "
            "eight even without ATTRCACHE_CHECK.")),
        ("SORTS", "\n".join(sorts)),
        ("SEE ALSO", ".BR attrcache\\-run (1)"),
    ])


def guide_page(name, file, whatis, synopsis, version):
    """From Markdown with headings, paragraphs, lists, and lines of code."""
    with open(os.path.join(ROOT, file), encoding="utf-8") as f:
        text = re.sub(r"<!--.*?-->", "", f.read(), flags=re.S)
    parts = [("NAME", "%s \\- %s" % (escaped(name), escaped(whatis))), ("SYNOPSIS", verbatim(synopsis))]
    for section in re.split(r"^##? ", text, flags=re.M)[1:]:
        title, _, body = section.partition("\n")
        blocks = []
        for block in re.split(r"\n\n+", body.strip("\n")):
            if block.startswith("    "):
                blocks.append(verbatim(re.sub(r"^", "  ", block, flags=re.M)))
                continue
            for item in re.split(r"^\* ", block, flags=re.M):
                item = prose(re.sub(r"\s+", " ", item.replace("`", "")))
                if item:
                    blocks.append((".IP \\(bu 2\n" if block.startswith("* ") else ".PP\n") + item)
        parts.append(("DESCRIPTION" if title == "On clusters" else title.upper(), "\n".join(blocks)))
    return page(name, 7, version, parts + [("SEE ALSO", ".BR attrcache\\-run (1)")])


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    with open(HEADER, encoding="utf-8") as f:
        header = Header(f.read())
    pages = {"man7/attrcache.7": overview_page(header)}
    pages["man7/attrcache-clusters.7"] = guide_page(
        "attrcache-clusters", "tools/run/README.md", "MPI programs served by attrcache on many hosts",
        "attrcache-run srun -n 64 ./program\nsrun -n 64 attrcache-run ./program", header.version)
    for function in header.functions:
        pages["man3/%s.3" % function.name] = function_page(header, function)
    pages["man7/attrcache-misuse.7"] = misuse_page(header.version)
    for tool, (file, whatis) in TOOLS.items():
        pages["man1/%s.1" % tool] = tool_page(tool, file, whatis, header.version)
    for name, text in pages.items():
        path = os.path.join(sys.argv[1], name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)


if __name__ == "__main__":
    main()
