#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Edits of another project's sources: an edit whose place isn't found, or is found too often, leaves all files as they are."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, "tools/embed.d")
from source_tree import EditError, Tree

SOURCE = """\
int first(void);

static int
first(void)
{
    int a = 1;
    return a;
}

#ifdef THREADS
int start(int n)
{
    return n;
}
#else
int start(int n)
{
    return 0;
}
#endif
"""


class EditsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        self.path = os.path.join(self.root, "a.c")
        with open(self.path, "w", encoding="utf-8") as out:
            out.write(SOURCE)
        self.tree = Tree(self.root)
        self.file = self.tree.file("a.c")

    def text(self):
        with open(self.path, encoding="utf-8") as source:
            return source.read()

    def test_a_function_without_its_declaration(self):
        part = self.file.function("first")
        part.replace(r"return a;", "    a++;\n    return a;")
        part.after(r"a\+\+;", "    a++;")  # within the code just inserted
        self.tree.write()
        self.assertEqual(self.text(), SOURCE.replace("    return a;", "    a++;\n    a++;\n    return a;"))

    def test_the_first_of_two_definitions(self):
        with self.assertRaisesRegex(EditError, "expected 1 definition"):
            self.file.function("start")
        self.file.function("start", count=2).substitute(r"return n", "return n + 1")
        self.tree.write()
        self.assertEqual(self.text(), SOURCE.replace("return n;", "return n + 1;"))

    def test_nothing_by_guess(self):
        edits = [
            lambda: self.file.delete(r"not there"),
            lambda: self.file.replace(r"return ", "", count=2),
            lambda: self.file.replace_block(r"^#else", r"^#elif", ""),
            lambda: self.file.function("first").delete(r"return n"),
            lambda: self.tree.file("b.c"),
            lambda: self.tree.add("c.c", os.path.join(self.root, "missing")),
        ]
        self.file.delete(r"int a = 1;")
        for edit in edits:
            with self.assertRaises(EditError):
                edit()
        self.assertEqual(self.text(), SOURCE, "before write()")

    def test_a_source_that_is_refused(self):
        self.file.refuse(r"PROCESSES", "it has processes")
        with self.assertRaisesRegex(EditError, "^a.c: it has threads$"):
            self.file.refuse(r"^#ifdef THREADS$", "it has threads")

    def test_has(self):
        self.assertTrue(self.file.has(r"^#ifdef THREADS$"))
        self.assertFalse(self.file.has(r"ifdef PROCESSES"))
        self.assertFalse(self.file.function("first").has(r"return n"))

    def test_what_a_block_becomes(self):
        self.file.replace_block(r"^#ifdef", r"^#else", "/* one */")
        self.file.before(r"^#endif", "/* end */")
        self.tree.write()
        self.assertIn("}\n\n/* one */\nint start", self.text())
        self.assertIn("}\n/* end */\n#endif\n", self.text())


if __name__ == "__main__":
    unittest.main()
