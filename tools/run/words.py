# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Messages to the user, on standard error; and the words in a file."""

import sys


def printable(text):
    """The text on one line that controls no terminal: what isn't printable, such as a newline, an escape code or a mark that
    turns the direction, as \\n, \\x1b, \\u202e."""
    return text if text.isprintable() else "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


def say(text):
    try:
        if sys.stderr:  # else print would take standard output
            print("attrcache-run: " + printable(text), file=sys.stderr, flush=True)
    except OSError:
        pass  # that messages aren't read must not change what the command does


def die(text, code=2):
    say(text)
    sys.exit(code)


def contents(path):
    """What is in a file, as text; "" if it can't be read."""
    try:
        with open(path, errors="surrogateescape") as file:
            return file.read()
    except OSError:
        return ""
