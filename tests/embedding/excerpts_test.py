#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Checks that the code that documents quote is still in the examples.

  excerpts_test.py DOCUMENT... -- SOURCE...

The lines of a ```c or ```cpp block, or of a header's "A first example", must follow each other in one of the sources,
whatever their indentation; a line "..." in the block stands for anything. Code in `backquotes` that calls a function of
attrcache, or declares something of a type of attrcache, must be in one of the sources, too.
"""

import re
import sys

CODE = re.compile(r"^( *)```(?:c|cpp)\n(.*?)^\1```$", re.M | re.S)
EXAMPLE = re.compile(r"^ \* A first example\n((?: \*(?:   .*)?\n)+)", re.M)
SPAN = re.compile(r"`(attrcache_\w+(?:\([^`]*|[^`()]*;))`")


def lines(text):
    return [line.strip() for line in text.splitlines() if line.strip()]


def follows(fragment, text):
    """Whether the lines of the fragment follow each other in the text."""
    return any(text[i:i + len(fragment)] == fragment for i in range(len(text) - len(fragment) + 1))


def fragments(document):
    for example in EXAMPLE.finditer(document):
        yield lines(re.sub(r"^ \*", "", example.group(1), flags=re.M))
    for block in CODE.finditer(document):
        for part in re.split(r"^ *\.\.\.$", block.group(2), flags=re.M):
            yield lines(part)


def main(arguments):
    middle = arguments.index("--")
    documents, sources = arguments[:middle], arguments[middle + 1:]
    texts = {path: open(path).read() for path in sources}
    split = {path: lines(text) for path, text in texts.items()}
    checked, wrong = 0, []
    for path in documents:
        document = open(path).read()
        for fragment in fragments(document):
            checked += 1
            if not fragment or not any(follows(fragment, text) for text in split.values()):
                wrong.append(f"{path}: no source has these lines:\n  " + "\n  ".join(fragment))
        for span in SPAN.findall(document) if path.endswith(".md") else []:
            checked += 1
            if not any(" ".join(span.split()) in " ".join(text.split()) for text in texts.values()):
                wrong.append(f"{path}: no source has `{span}`")
    for text in wrong:
        print("FAILED:", text)
    print(f"{checked} excerpts of {len(sources)} sources")
    if checked < 6:
        print("FAILED: too few; are the documents still read?")
    return bool(wrong) or checked < 6


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
