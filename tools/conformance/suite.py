# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Reads the checks from the sources beside this file, and makes programs of them.

A source has a section's checks one after the other, each below a comment that describes it:

    /*@ NAME
     * KIND, SECTION[, threads][, after][, ranks: N][, since: VERSION][, needs: FEATURE][, init: none][, kinds: ...]
     * The rule, in a sentence or two.
     */

Then come functions of its own; check(), which runs between MPI_Init and MPI_Finalize (with "init: none", it initializes
MPI itself); and, with "after", after(), which runs after MPI_Finalize. A NAME with xxx in it stands for a check of each
kind of object (see check.h), or of each word behind "kinds".
"""

import functools
import os
import re
import textwrap

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "checks")

# The order of sections in reports, by their files.
FILES = ["keyvals.c", "values.c", "copying.c", "freeing.c", "finalize.c", "predefined.c", "errors.c", "sessions.c",
         "deprecated.c", "languages.c", "bindings.cc", "reentrance.c", "threads.c", "waits.c",
         "proposed.c"]

KINDS = {
    "comm": ("MPI_Comm", "7.7.2"),
    "win": ("MPI_Win", "7.7.3"),
    "type": ("MPI_Datatype", "7.7.4"),
}

# Kinds that have attributes only in proposals, by functions with other names (proposed.c): MPI_Xxx_set_attr stands for
# MPIX_Session_set_attr there, and MPI_Xxx_free for finish_session (check.h).
PROPOSED = {
    "session": ("MPI_Session", ""),
    "file": ("MPI_File", ""),
}

# The Fortran interfaces for the checks of languages.c: {the end of their names: (FACE, interface)}.
FACES = {"mpifh": (1, "mpif.h"), "usempi": (2, "use mpi"), "f08": (3, "use mpi_f08")}


def for_kind(text, kind):
    """The text of a template for a kind of object, or for another of the words that "kinds" lists."""
    handle, section = {**KINDS, **PROPOSED}.get(kind, ("", ""))
    if kind in PROPOSED:
        text = re.sub(r"\bMPI_Xxx_(?=\w*(attr|keyval)\b)", "MPIX_Xxx_", text)
        text = re.sub(r"\bMPI_Xxx_free\b", "finish_xxx", text)
    text = re.sub(r"MPI_XXX_NULL\b", handle.upper() + "_NULL", text)
    text = re.sub(r"\b(MPIX?)_Xxx_", r"\1_%s_" % kind.capitalize(), text)
    text = re.sub(r"MPI_Xxx\b", handle, text)
    text = text.replace("XXX", kind.upper().replace("-", "_")).replace("xxx", kind)
    return text.replace("7.7.N", section)


def kinds_of(text, usual):
    """The kinds of objects that a template is for; [None] for other text."""
    if not re.search("xxx|Xxx|XXX", text):
        return [None]
    asked = re.search(r"kinds: ([\w -]+)", text)
    return asked.group(1).split() if asked else list(usual)


def names_defined(text):
    """What a piece of C defines at its outermost level."""
    names = set(re.findall(r"^(?:#define|\}) (\w+)", text, re.M))
    names.update(re.findall(r"^(?:void|int) ((?:f|MPIX)_\w+)\(", text, re.M))
    for line in re.findall(r"^(?:static|typedef|extern) [^\n]*", text, re.M):
        function = re.match(r"static [\w\s*]*?(?:\(\*)?(\w+)\)?\(", line)
        declared = re.sub(r"\{.*?\}|\[.*?\]|= ?[^,;]*", "", line)
        names.update([function[1]] if function else re.findall(r"(\w+)\s*(?:[,;]|$)", declared))
    return names


class Check:
    """One check: what it is about, and its source."""

    def __init__(self, section, name, header, rule, body, file, face):
        self.section, self.name, self.rule, self.body, self.file = section, name, rule, body, file
        self.face = face
        words = [word.strip() for word in header.split(",")]
        self.kind, self.number = words[0], words[1]
        if self.kind not in ("demanded", "implied", "open", "proposed"):
            raise ValueError("%s: unknown kind %r" % (name, self.kind))
        options = dict((w.split(":", 1)[0].strip(), w.partition(":")[2].strip()) for w in words[2:])
        self.threads = "threads" in options
        self.after = "after" in options
        self.ranks = int(options.get("ranks", 1))
        self.since = tuple(int(n) for n in options["since"].split(".")) if "since" in options else (2, 0)
        self.needs = options.get("needs", "").split()
        self.init = options.get("init", "MPI_Init_thread" if self.threads else "MPI_Init")
        unknown = set(options) - {"threads", "after", "ranks", "since", "needs", "init", "kinds"}
        if unknown:
            raise ValueError("%s: unknown %s" % (name, ", ".join(unknown)))

    @property
    def language(self):
        return "c++" if self.file.endswith(".cc") else "fortran" if self.face else "c"


class Section:
    def __init__(self, name, title):
        self.name, self.title, self.checks = name, title, []


def read_sections():
    """All sections with their checks."""
    sections = []
    for file in FILES:
        path = os.path.join(SOURCES, file)
        with open(path, encoding="utf-8") as source:
            text = source.read()
        head = re.search(r"/\*@section (\w+): (.*?) \*/\n", text)
        section = Section(head.group(1), head.group(2))
        pattern = re.compile(r"/\*@ ([\w-]+)\n \* (.*)\n((?: \* .*\n)+) \*/\n")
        found = list(pattern.finditer(text))
        for i, match in enumerate(found):
            end = found[i + 1].start() if i + 1 < len(found) else len(text)
            body = text[match.end():end].strip() + "\n"
            rule = " ".join(l[3:].strip() for l in match.group(3).splitlines())
            name, header = match.group(1), match.group(2)
            for kind in kinds_of(name + header, KINDS):
                for face in FACES if file == "languages.c" else [None]:
                    def fit(template):
                        return for_kind(template, kind) if kind else template
                    full = fit(name) + ("-" + face if face else "")
                    section.checks.append(Check(section.name, full, fit(header), fit(rule), fit(body), file, face))
        sections.append(section)
    names = [check.name for section in sections for check in section.checks]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError("two checks have the name %s" % ", ".join(sorted(twice)))
    return sections


def words_of(text):
    """The words of code, without those of its comments and strings."""
    return set(re.findall(r"\w+", re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', "", text, flags=re.S)))


@functools.lru_cache(maxsize=None)
def blocks():
    """The blocks of check.h and storm.h, with the names that they define and use; those for each kind of object."""
    read = []
    for file in ("check.h", "storm.h"):
        with open(os.path.join(SOURCES, file), encoding="utf-8") as source:
            templates = source.read().strip().split("\n\n")
        for template in templates[1:]:  # the first one is about the file
            for kind in kinds_of(template, [*KINDS, *PROPOSED]):
                text = for_kind(template, kind) if kind else template
                read.append((text, names_defined(text), words_of(text)))
    return read


def blocks_used_by(text):
    """The blocks that text needs, in their order, always with the first one, the system's headers."""
    chosen = {0}
    words = words_of(text)
    changed = True
    while changed:
        changed = False
        for i, (_, defined, used) in enumerate(blocks()):
            if i not in chosen and defined & words:
                chosen.add(i)
                words |= used
                changed = True
    return "\n\n".join(blocks()[i][0] for i in sorted(chosen)) + "\n"


NOTICE = "/* %s\n *\n%s\n *\n * The standard: %s. %s */\n"


def cite(number):
    """A section of the standard as people write it: of MPI-4.1 unless it says which."""
    return number if number.lower().startswith("mpi") else "MPI-4.1 " + number


# The main functions of programs, and their parts by Check.init.
MAIN = """int main(int argc, char** argv) {
  alarm(%(seconds)d); /* if it hangs, it ends by SIGALRM */
%(begin)s  catch_signals();
  check();
%(end)s  return failures != 0;
}
"""
BEGIN = {"none": "", "MPI_Init": "  MPI_Init(&argc, &argv);\n  set_up();\n", "MPI_Init_thread": """  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  set_up();
  if (provided < MPI_THREAD_MULTIPLE) {
    NOT_APPLICABLE("it does not provide MPI_THREAD_MULTIPLE");
    MPI_Finalize();
    return 0;
  }
"""}
END = "  tell_verdict();\n"


def program(check, seconds=60):
    """A program of that check alone. After so many seconds it hangs."""
    end = END if check.init == "none" else END + "  MPI_Finalize();\n"
    if check.after:
        end = "  MPI_Finalize();\n  if (!skipped) after();\n" + END
    main = MAIN % {"seconds": seconds, "begin": BEGIN[check.init], "end": end}
    kind = {"demanded": "It says so.", "implied": "It implies this.", "open": "It leaves this open.",
            "proposed": "This is a proposal."}[check.kind]
    rule = textwrap.fill(check.rule, 93, initial_indent=" * ", subsequent_indent=" * ")
    notice = NOTICE % (check.name, rule, cite(check.number), kind)
    return notice + blocks_used_by(check.body + main) + "\n" + check.body + "\n" + main


def fortran():
    """fortran.F90, for all kinds of objects."""
    with open(os.path.join(SOURCES, "fortran.F90"), encoding="utf-8") as source:
        parts = source.read().split("!@\n")
    return parts[0] + "".join(for_kind(part, kind) if kind else part for part in parts[1:] for kind in kinds_of(part, KINDS))


SCRIPT = """#!/bin/sh
# %(name)s: compiles a program in C and Fortran (%(face)s), and runs it.
# The compilers are $MPICC and $MPIF90, the launcher is $MPIRUN ("mpirun -np 2").
set -e
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/fortran.F90" <<'END_OF_FORTRAN'
%(fortran)sEND_OF_FORTRAN
cat >"$folder/check.c" <<'END_OF_C'
%(c)sEND_OF_C
cd "$folder"
${MPIF90:-mpif90} -DFACE=%(number)d -c fortran.F90 -o fortran.o
${MPICC:-mpicc} -c check.c -o check.o
${MPIF90:-mpif90} check.o fortran.o -o check -lpthread
${MPIRUN-mpirun} ./check
"""


def reproducer(check):
    """A stand-alone program of that check: in C or C++, or a script that compiles C and Fortran."""
    if not check.face:
        return program(check)
    number, name = FACES[check.face]
    return SCRIPT % {"name": check.name, "face": name, "number": number, "fortran": fortran(), "c": program(check)}
