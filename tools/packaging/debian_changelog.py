#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Writes debian/changelog, from CHANGELOG.md: tools/package calls this.

usage: debian_changelog.py CHANGELOG.md VERSION SUFFIX DATE MAINTAINER

VERSION must be the newest one in CHANGELOG.md. What isn't released yet is of DATE (as of RFC 5322), and its version
has SUFFIX, so that packages of later commits replace it, and the release's packages all of them.
"""

import datetime
import email.utils
import re
import sys
import textwrap


# Bullets, and paragraphs outside of them. Of a link stays its text.
def entries(section):
    for text in re.split(r"\n\s*\n|\n(?=\* )", section.strip()):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
        words = " ".join(re.sub(r"^\* ", "", text).split())
        yield textwrap.fill(words, width=76, initial_indent="  * ", subsequent_indent="    ", break_on_hyphens=False)


def main(path, newest, suffix, now, maintainer):
    with open(path, encoding="utf-8") as file:
        sections = re.split(r"^## ", file.read(), flags=re.M)[1:]
    for number, section in enumerate(sections):
        heading, text = section.split("\n", 1)
        match = re.fullmatch(r"(\d+\.\d+\.\d+) \((unreleased|\d{4}-\d\d-\d\d)\)", heading)
        if not match:
            sys.exit("CHANGELOG.md: '## %s' should be '## VERSION (YYYY-MM-DD)' or '## VERSION (unreleased)'" % heading)
        version, date = match.groups()
        if number == 0 and version != newest:
            sys.exit("CHANGELOG.md begins with %s, but attrcache.h says %s" % (version, newest))
        if date == "unreleased":
            version, date = version + suffix, now
        else:
            noon = datetime.datetime.fromisoformat(date + "T12:00:00+00:00")
            date = email.utils.format_datetime(noon)
        print("attrcache (%s) unstable; urgency=medium\n\n%s\n\n -- %s  %s\n" %
              (version, "\n".join(entries(text)), maintainer, date))


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__.strip())
    main(*sys.argv[1:])
