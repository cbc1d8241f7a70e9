# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Uses a page as people do, with mouse and keyboard, on screens of all sizes, and in print."""

import json
import re

from page_says import Says, number, origin


class Check(Says):
    """Of what the page says, and of what is done with it."""

    def first_column(self, table, column):
        return [row[column][0] for row in self.cells(table)]

    def sorting(self):
        """By mouse and by keyboard, both ways."""
        head = "#users-table thead th:nth-child(4) button"
        self.browser.click(head)
        values = self.first_column("#users-table", 3)
        self.equal(values, sorted(values, reverse=True), "sorted by sets, by mouse")
        self.equal(
            self.ask(
                "document.querySelector('#users-table thead th:nth-child(4)').getAttribute('aria-sort')"
            ),
            "descending",
            "aria-sort",
        )
        self.browser.key("Enter")
        values = self.first_column("#users-table", 3)
        self.equal(values, sorted(values), "sorted by sets the other way, by keyboard")
        self.equal(
            self.ask(
                "document.querySelector('#users-table thead th:nth-child(4)').getAttribute('aria-sort')"
            ),
            "ascending",
            "aria-sort",
        )
        self.browser.key("Tab")
        self.browser.key(" ")
        values = self.first_column("#users-table", 4)
        self.equal(
            values, sorted(values, reverse=True), "sorted by gets, with Tab and the space bar"
        )

    def opening(self):
        """A row by keyboard, which shows its name as a whole."""
        self.ask("document.querySelector('#users-table .expander').focus()")
        self.browser.key("Enter")
        state = self.ask(
            "(b => [b.getAttribute('aria-expanded'), b.closest('tr').nextElementSibling.hidden,"
            "getComputedStyle(b.querySelector('.cut')).webkitLineClamp, b.querySelector('.cut').title, b.querySelector('.cut').textContent])"
            "(document.querySelector('#users-table .expander'))"
        )
        self.equal(state[:3], ["true", False, "none"], "an opened row")
        self.ok(state[4] in state[3], "a name's title is not the whole name")
        self.browser.key("Enter")
        self.equal(
            self.ask(
                "document.querySelector('#users-table .expander').getAttribute('aria-expanded')"
            ),
            "false",
            "a closed row",
        )

    def finding(self):
        """Rows by a word, and by library."""
        word = max(re.findall(r"\w+", origin(self.sum["keyvals"][0])), key=len)
        self.ask("document.querySelector('#users input').focus()")
        self.browser.write(word.upper())
        right = [
            line
            for line in self.sum["keyvals"]
            if word.lower() in (origin(line) + " " + line["kind"]).lower()
        ]
        self.equal(len(self.cells("#users-table")), len(right), f"rows with {word}")
        self.ask(
            "(i => { i.value = ''; i.dispatchEvent(new Event('input')); })(document.querySelector('#users input'))"
        )
        self.choose("#users select", "library")
        libraries = {line["library"] for line in self.sum["keyvals"]}
        rows = self.cells("#users-table")
        self.equal(len(rows), len(libraries), "rows by library")
        self.equal(sum(row[4][0] for row in rows), self.total("gets"), "gets by library")
        self.choose("#users select", "function")
        before = self.ask("document.querySelector('#users-chart svg').getAttribute('aria-label')")
        self.choose("#users label:nth-child(2) select", "sets")
        after = self.ask("document.querySelector('#users-chart svg').getAttribute('aria-label')")
        self.ok(before != after and after.startswith("sets"), f"the chart is still of {before}")
        bars = self.ask(
            "[...document.querySelectorAll('#users-chart title')].map(t => t.textContent)"
        )
        right = sorted(
            (line["sets"] for line in self.sum["keyvals"] if line["sets"]), reverse=True
        )[:10]
        self.equal([number(bar.rsplit(": ", 1)[1])[0] for bar in bars], right, "the bars of sets")

    def choose(self, select, value):
        self.ask(
            "(s => { s.value = %s; s.dispatchEvent(new Event('change')); })(document.querySelector(%s))"
            % (json.dumps(value), json.dumps(select))
        )
        self.browser.settle()

    def window(self):
        """What the timeline shows: from and to, in nanoseconds."""
        self.browser.settle()
        text = self.ask(
            "document.querySelector('#timeline canvas[tabindex]').getAttribute('aria-label')"
        )
        match = re.search(r"from (.*) to (.*)", text)
        return number(match.group(1))[0], number(match.group(2))[0]

    def zooming(self):
        canvas = "#timeline canvas[tabindex]"
        whole = self.window()
        self.equal(whole[0], 0, "the timeline begins at 0")
        self.shows_length(whole[1])
        width = lambda: (lambda w: w[1] - w[0])(self.window())
        self.browser.click("#timeline button[aria-label='zoom in']")
        self.ok(0.4 * whole[1] < width() < 0.6 * whole[1], "zoomed in by the button")
        self.browser.click("#timeline button[aria-label='show the whole run']")
        self.equal(self.window(), whole, "the whole run")
        x, y = self.browser.place(canvas)
        self.browser.wheel(x, y, -300, control=True)
        near = width()
        self.ok(near < 0.9 * whole[1], "zoomed in by Ctrl and the wheel")
        before = self.window()
        self.browser.drag(x, y, x - 100, y)
        self.ok(self.window()[0] > before[0], "dragged to later")
        self.ask("document.querySelector(%s).focus()" % json.dumps(canvas))
        self.browser.key("0")
        self.equal(self.window(), whole, "the whole run, by keyboard")
        self.browser.key("+")
        self.browser.key("+")
        self.ok(0.2 * whole[1] < width() < 0.3 * whole[1], "zoomed in by keyboard")
        before = self.window()
        self.browser.key("ArrowRight")
        self.ok(self.window()[0] > before[0], "moved by keyboard")
        self.browser.key("ArrowLeft")
        self.browser.key("-")
        self.ok(0.4 * whole[1] < width() < 0.6 * whole[1], "zoomed out by keyboard")
        self.browser.key("0")
        self.browser.key("n")
        first = self.ask("document.getElementById('chosen').textContent")
        self.browser.key("n")
        second = self.ask("document.getElementById('chosen').textContent")
        self.ok(
            first and second and first != second, f"n goes to the next event: {first!r}, {second!r}"
        )
        self.browser.key("p")
        self.equal(self.ask("document.getElementById('chosen').textContent"), first, "p goes back")
        self.browser.key("Enter")
        self.ok(width() < 0.9 * whole[1], "Enter zooms to the event")
        self.browser.key("0")

    def shows_length(self, shown):
        length = max(round(e["ts"] * 1000) + round(e["dur"] * 1000) for e in self.events)
        self.ok(abs(shown - length) < 0.006 * length, f"the timeline ends at {shown}, not {length}")

    def searching(self, kept_all):
        """Events by name."""
        names = [e["name"] for e in self.events if e["cat"] == "callback"] or [
            e["name"] for e in self.events
        ]
        name = max(set(names), key=names.count)
        self.ask("document.querySelector('#timeline input').focus()")
        self.browser.write(name)
        text = self.ask("document.getElementById('matches').textContent").replace("\u00a0", " ")
        count = int(text.split(" ")[0].replace(",", ""))
        right = sum(
            all(
                w
                in (
                    e["name"]
                    + " "
                    + e["args"].get("called_as", "")
                    + " "
                    + e["args"].get("keyval_of", "")
                ).lower()
                for w in name.lower().split()
            )
            for e in self.events
        )
        self.ok(
            count == right if kept_all else 0 < count <= right,
            f"{count} events match {name!r}, not {right}",
        )
        self.browser.key("Enter")
        self.ok(
            self.ask("document.getElementById('chosen').textContent").find(name) >= 0,
            "Enter goes to an event that matches",
        )
        self.ask(
            "(i => { i.value = ''; i.dispatchEvent(new Event('input')); })(document.querySelector('#timeline input'))"
        )
        self.browser.click("#events-table tbody .go")
        self.ok(
            self.window()[1] - self.window()[0] < 1e18
            and self.ask("document.activeElement.tagName") == "CANVAS",
            "an event of the table is shown",
        )
        self.browser.key("0")

    def accessible(self):
        """What has no name, and what is focused without being seen."""
        nameless = self.ask(
            "[...document.querySelectorAll('button, input, select, a, canvas, svg')].filter(e => !e.closest('[aria-hidden]') &&"
            "!((e.tagName !== 'SELECT' && e.textContent.trim()) || e.getAttribute('aria-label') || (e.labels && e.labels.length &&"
            "e.labels[0].firstChild.nodeType === 3 && e.labels[0].firstChild.textContent.trim()))).map(e => e.outerHTML)"
        )
        self.equal(nameless, [], "without a name")
        self.ask("(document.activeElement.blur(), window.scrollTo(0, 0), document.body.focus(), 1)")
        self.equal(
            self.ask("[...document.querySelectorAll('thead th')].filter(h => !h.scope).length"),
            0,
            "headings of tables without a scope",
        )
        self.equal(
            self.ask(
                "[...document.querySelectorAll('[id]')].map(e => e.id).filter((id, i, all) => all.indexOf(id) !== i)"
            ),
            [],
            "ids given twice",
        )
        self.equal(
            self.ask(
                "[...document.querySelectorAll('[tabindex]')].filter(e => e.tabIndex > 0).length"
            ),
            0,
            "odd tab order",
        )
        # By Tab, everything is reached and drawn with an outline.
        self.browser.key("Tab")
        self.ok(
            self.ask("getComputedStyle(document.activeElement).outlineStyle") != "none",
            "the focus is not seen",
        )

    CONTRASTS = [
        ("--text", "--ground", 7),
        ("--text", "--panel", 7),
        ("--text", "--stripe", 7),
        ("--faint", "--ground", 4.5),
        ("--faint", "--panel", 4.5),
        ("--faint", "--stripe", 4.5),
        ("--bad", "--panel", 4.5),
        ("--good", "--good-soft", 4.5),
        ("--accent", "--panel", 4.5),
        ("--delete", "--panel", 3),
        ("--failed", "--panel", 3),
        ("--operation", "--panel", 2.2),
        ("--copy", "--panel", 2.2),
    ]

    def contrast(self, where):
        def luminance(color):
            channels = (
                [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
                if len(color) == 7
                else [int(c * 2, 16) / 255 for c in color[1:]]
            )
            r, g, b = [
                c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
            ]
            return 0.2126 * r + 0.7152 * g + 0.0722 * b

        for front, back, least in self.CONTRASTS:
            a, b = (
                luminance(
                    self.ask(
                        "getComputedStyle(document.documentElement).getPropertyValue(%s).trim()"
                        % json.dumps(name)
                    )
                )
                for name in (front, back)
            )
            ratio = (max(a, b) + 0.05) / (min(a, b) + 0.05)
            self.ok(
                ratio >= least,
                f"{where}: contrast of {front} on {back} is {ratio:.1f}, less than {least}",
            )

    def forms(self):
        """Narrow, dark and printed."""
        background = lambda: self.ask("getComputedStyle(document.body).backgroundColor")
        for width in (320, 390):
            self.browser.size(width, 700, phone=True)
            self.ok(
                self.ask("document.documentElement.scrollWidth") <= width,
                f"wider than a phone of {width}",
            )
            self.ok(
                self.ask("parseFloat(getComputedStyle(document.body).fontSize)") >= 15,
                "small letters on a phone",
            )
        self.browser.size(1180, 900)
        light = background()
        self.contrast("light")
        self.browser.media("dark")
        self.ok(background() != light, "dark is as light as light")
        self.contrast("dark")
        self.browser.media("dark", "print")
        self.equal(background(), "rgb(255, 255, 255)", "printed")
        self.contrast("printed")
        self.equal(
            self.ask("getComputedStyle(document.querySelector('.sections')).display"),
            "none",
            "printed with navigation",
        )
        self.equal(
            self.ask(
                "[...document.querySelectorAll('.cut')].filter(e => e.scrollHeight > e.clientHeight + 2).length"
            ),
            0,
            "names that are cut in print",
        )
        self.browser.media("light")

    def quiet(self):
        """Nothing on the console, nothing from elsewhere."""
        self.equal(self.browser.said, [], "the console")
        self.equal(
            [url for url in self.browser.requests if not url.startswith(("file:", "about:"))],
            [],
            "requests",
        )
        self.equal(
            len([url for url in self.browser.requests if url.startswith("file:")]),
            1,
            "files that were read",
        )

    def works(self, kept_all=True):
        self.sorting()
        self.opening()
        self.finding()
        if self.events:
            self.zooming()
            self.searching(kept_all)
        self.accessible()
        self.forms()
