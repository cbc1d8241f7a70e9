# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Messages to the user, on standard error."""

import sys


def say(text):
    try:
        if sys.stderr:  # else print would take standard output
            print("attrcache-run: " + text, file=sys.stderr, flush=True)
    except OSError:
        pass  # that messages aren't read must not change what the command does


def die(text):
    say(text)
    sys.exit(2)
