# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Pieces of HTML: names, numbers, lists, and tables whose bars are CSS (page/style.css)."""

import html
import re
from typing import NamedTuple

from words import duration


def escaped(words):
    return html.escape(str(words))


def name(words, style="name"):
    """A name, which may be broken where people would break it."""
    broken = re.sub("([_,/]|::)", r"\1<wbr/>", escaped(words))
    return f'<span class="{style}">{broken}</span>'


def tag(words, style="tag"):
    return f' <span class="{style}">{escaped(words)}</span>' if words else ""


def small(words):
    return f'<p class="small">{words}</p>' if words else ""


def list_of(items, few=6, style=""):
    """A list, of which only the first entries are seen until it is opened."""
    begin = f'<ul class="{style}">'
    entries = [item if item.startswith("<li") else f"<li>{item}</li>\n" for item in items]
    few = few if len(entries) > few + 1 else len(entries)
    made = f"{begin}{''.join(entries[:few])}</ul>" if entries else ""
    if entries[few:]:
        more = f"{begin}{''.join(entries[few:])}</ul>"
        made += f"<details><summary>{len(entries) - few:,} more</summary>{more}</details>"
    return made


class Column(NamedTuple):
    """Kinds: "number" and "time" have bars, "text" is HTML, "plain" is (what it is sorted by, HTML)."""

    label: str
    kind: str = "number"
    unit: str = ""

    def head(self):
        unit = f' <span class="unit">{self.unit}</span>' if self.unit else ""
        style = ' class="t"' * (self.kind == "text")
        return f'<th scope="col"{style}>{self.label}{unit}</th>'

    def cell(self, value, most):
        if self.kind == "text":
            return f'<td class="t">{value}</td>'
        if self.kind == "plain":
            return f'<td data-v="{value[0]}">{value[1]}</td>'
        if not value:
            return '<td class="z" data-v="0">–</td>'
        bar = f' class="p{max(1, round(100 * value / most))}"' if most else ""
        shown = duration(value) if self.kind == "time" else f"{value:,}"
        return f'<td{bar} data-v="{value}">{shown}</td>'


LONG = 60  # rows; such a table scrolls within a box of its own


def table(id_, columns, rows, total=None, more=""):
    """A table of lists of values, with a note below it."""
    most = [
        max((row[i] for row in rows), default=0) if one.kind in ("number", "time") else 0
        for i, one in enumerate(columns)
    ]

    def row_of(values, most):
        cells = [one.cell(value, of) for one, value, of in zip(columns, values, most)]
        return f"<tr>{''.join(cells)}</tr>\n"

    inner = f"<tbody>{''.join(row_of(row, most) for row in rows)}</tbody>"
    inner += f"<tfoot>{row_of(total, [0] * len(columns))}</tfoot>" if total else ""
    heads = "".join(one.head() for one in columns)
    return (
        f'<div class="{"long" if len(rows) > LONG else "table"}"><table id="{id_}">'
        f"<thead><tr>{heads}</tr></thead>{inner}</table></div>{more}"
    )
