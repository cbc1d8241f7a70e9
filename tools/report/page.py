# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Puts data, style, scripts and the chart library into one page that needs nothing else."""

import base64
import hashlib
import html
import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))
# In the order in which they need each other.
SCRIPTS = [
    "format.js",
    "table.js",
    "charts.js",
    "users.js",
    "findings.js",
    "ranks.js",
    "events.js",
    "drawing.js",
    "zooming.js",
    "timeline.js",
    "changes.js",
    "main.js",
]
# So heavy a page may be. What counts is the file, in bytes.
MOST_BYTES = 3_000_000


def source(*path):
    with open(os.path.join(HERE, *path), encoding="utf-8") as file:
        return file.read()


def as_json(data):
    """JSON that can stand within a script element, whatever names are in it: no < ends it."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def hash_of(text):
    """For the page's content security policy: nothing runs in it but what was put there here."""
    return "'sha256-%s'" % base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def written(data):
    """The page."""
    library = source("third_party", "d3", "d3.min.js")
    script = '"use strict";\n(() => {\n%s})();\n' % "".join(
        source("page", name) for name in SCRIPTS
    )
    style = source("page", "style.css")
    parts = {
        "TITLE": html.escape(
            "attrcache: " + (data["command"] or "%s ranks of %s" % (data["ranks"], data["mpi"]))
        ),
        "POLICY": "default-src 'none'; style-src %s; script-src %s %s"
        % (hash_of(style), hash_of(library), hash_of(script)),
        "STYLE": style,
        "LIBRARY": library,
        "SCRIPT": script,
        "LICENSE": html.escape(source("third_party", "d3", "LICENSE")),
        "DATA": as_json(data),
    }
    pieces = source("page", "template.html").split("@@")
    # Text, name, text, name, ..., text: so that nothing which is put in is looked through for names
    # again.
    return "".join(parts[piece] if i % 2 else piece for i, piece in enumerate(pieces))


def fitting(make):
    """The page of make(share), of as large a share as lets it stay below MOST_BYTES; as bytes."""
    for share in (1, 0.5, 0.25, 0.1, 0.02):
        page = written(make(share)).encode()
        if len(page) <= MOST_BYTES:
            break
    return page
