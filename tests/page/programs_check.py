#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Looks at the page of a real program in a browser, and uses it.

usage: programs_check.py PAGE REPORT.json TRACE OLD.json [COMMAND...]    (what the page is to name)
"""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser as chromium
from page_check import Check

page, report, trace, old, *command = sys.argv[1:]
if not chromium.program():
    sys.exit(
        "FAILED: there is no headless browser (chromium-headless-shell or chromium); tools/setup installs one"
    )
with chromium.Browser() as browser:
    browser.size(1180, 900)
    browser.media("light")
    check = Check(browser, page, report, trace)
    check.opened()
    check.says_right()
    check.changes(old)
    check.works()
    check.quiet()
    if command:
        check.ok(
            " ".join(command) in browser.ask("document.getElementById('command').textContent"),
            "the command is not named",
        )
    size = os.path.getsize(page)
    check.ok(size < 3_000_000, f"{size} bytes")
for failure in check.failures[:20]:
    print("FAILED:", failure)
print(
    f"{page}: {check.checks} checks, {len(check.failures)} failed; {size:,} bytes, drawn after {check.ready} ms"
)
sys.exit(1 if check.failures else 0)
