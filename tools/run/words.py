# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What is said to the user, on standard error."""

import sys


def say(text):
    print("attrcache-run: " + text, file=sys.stderr, flush=True)


def die(text):
    say(text)
    sys.exit(2)
