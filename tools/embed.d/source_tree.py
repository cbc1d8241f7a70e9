# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Edits another project's source files, at places rather than by quoting passages.

A place is a line that matches a regular expression, within a file or within one of its functions. Every edit
expects a number of matches (default: one), and fails with the file's name and the expression if there are more
or fewer: a source that has changed is never edited by guess. Nothing is written until all edits have found their
places (Tree.write).
"""

import os
import re
import shutil
import sys


class EditError(Exception):
    """A place that isn't found, or is found too often."""


class Part:
    """Some lines of a file: all of them, or those of one function, whose end moves with its edits."""

    def __init__(self, lines, first, last, what):
        self.lines, self._first, self._last, self._what = lines, first, last, what

    def _find(self, place, count=1):
        found = [i for i in range(self._first, self._end()) if re.search(place, self.lines[i])]
        if len(found) != count:
            raise EditError("%s: expected %d line%s with /%s/, found %d" % (
                self._what, count, "" if count == 1 else "s", place, len(found)))
        return found

    def has(self, place):
        """Whether a line matches, which tells versions apart."""
        return any(re.search(place, line) for line in self.lines[self._first:self._end()])

    def refuse(self, place, why):
        """Fails if a line matches."""
        if self.has(place):
            raise EditError("%s: %s" % (self._what, why))

    def _end(self):
        return len(self.lines) if self._last is None else self._last

    def _splice(self, start, end, text):
        new = text.splitlines()
        self.lines[start:end] = new
        if self._last is not None:
            self._last += len(new) - (end - start)

    def substitute(self, place, new, count=1):
        """Replaces what the expression finds in a line; `new` may name its groups."""
        for i in self._find(place, count):
            self.lines[i] = re.sub(place, new, self.lines[i], count=1)

    def replace(self, place, text, count=1):
        """Replaces whole lines."""
        for i in reversed(self._find(place, count)):
            self._splice(i, i + 1, text)

    def delete(self, place, count=1):
        self.replace(place, "", count)

    def before(self, place, text, count=1):
        for i in reversed(self._find(place, count)):
            self._splice(i, i, text)

    def after(self, place, text, count=1):
        for i in reversed(self._find(place, count)):
            self._splice(i + 1, i + 1, text)

    def replace_block(self, first, last, text):
        """Replaces the lines from one place up to the first line, itself or below it, that matches `last`."""
        start = self._find(first)[0]
        for end in range(start, self._end()):
            if re.search(last, self.lines[end]):
                self._splice(start, end + 1, text)
                return
        raise EditError("%s: no line with /%s/ after /%s/" % (self._what, last, first))

    def delete_block(self, first, last):
        self.replace_block(first, last, "")


class File(Part):
    def __init__(self, path, name):
        if not os.path.isfile(path):
            raise EditError("%s: no such file" % name)
        with open(path, encoding="utf-8", errors="surrogateescape") as source:
            super().__init__(source.read().split("\n"), 0, None, name)
        self._path, self._name = path, name

    def _function(self, name, count=1):
        """The lines of a function's definition in C: from the first of its head to its closing brace, which
        is in the first column in all sources edited here."""
        heads = [i for i, line in enumerate(self.lines)
                 if re.search(r"(^|[\s*])%s\s*\(" % re.escape(name), line) and not line.startswith((" ", "\t", "#"))
                 and not self._is_declaration(i)]
        if len(heads) != count:
            raise EditError("%s: expected %d definition%s of %s(), found %d" % (
                self._name, count, "" if count == 1 else "s", name, len(heads)))
        first = heads[0]
        while first > 0 and re.match(r"[A-Za-z_]", self.lines[first - 1]) and not self.lines[first - 1].rstrip().endswith((";", "}", ":")):
            first -= 1  # the result's type on a line of its own
        for last in range(heads[0], len(self.lines)):
            if self.lines[last].startswith("}"):
                return first, last + 1
        raise EditError("%s: no end of %s()" % (self._name, name))

    def _is_declaration(self, i):
        for line in self.lines[i:]:
            if "{" in line:
                return False
            if ";" in line:
                return True
        return True

    def function(self, name, count=1):
        """One function of the file; if it has `count` definitions (#ifdef, #else), the first. Edit it before anything
        above it changes the number of lines."""
        first, last = self._function(name, count)
        return Part(self.lines, first, last, "%s: %s()" % (self._name, name))

    def delete_function(self, name):
        first, last = self._function(name)
        self._splice(first, last, "")

    def write(self):
        with open(self._path, "w", encoding="utf-8", errors="surrogateescape") as out:
            out.write("\n".join(self.lines))


class Tree:
    """The source tree of another project."""

    def __init__(self, root):
        self._root = root
        self._files = {}
        self._added = []

    def file(self, name):
        if name not in self._files:
            self._files[name] = File(os.path.join(self._root, name), name)
        return self._files[name]

    def has(self, name):
        """Whether a file exists, which tells versions apart."""
        return os.path.isfile(os.path.join(self._root, name))

    def add(self, name, source):
        """Adds a file, or replaces one."""
        if not os.path.isfile(source):
            raise EditError("%s: no such file" % source)
        self._added.append((name, source))

    def write(self):
        for file in self._files.values():
            file.write()
        for name, source in self._added:
            path = os.path.join(self._root, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            shutil.copyfile(source, path)


def edit(header, parts):
    """For the edits.py of an MPI, whose argument is the source: makes all edits, or none. `header` becomes its mpi.h."""
    tree = Tree(sys.argv[1])
    tree.file(header).refuse(
        r"\bMPI_WIN_NOTIFICATION_", "it has MPI 5.1's MPI_WIN_NOTIFICATION_*, whose values attrcache doesn't know where to find")
    for part in parts:
        part(tree)
    tree.write()
