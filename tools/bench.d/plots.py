# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Plots as SVG, by matplotlib: bars with labels, and lines over a logarithmic axis.

The same figures give the same bytes: no date is written, and ids are hashed with a fixed salt. Text stays text,
which keeps the files small; the viewer's sans-serif font shows it.
"""

import collections.abc
import dataclasses
import io
import itertools

import matplotlib
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

# attrcache has warm colours, its peers have cold ones.
OURS = ("#c2410c", "#f97316", "#dc2626", "#fbbf24")
OTHERS = ("#1d4ed8", "#047857", "#7c3aed", "#0e7490", "#475569", "#4d7c0f", "#60a5fa", "#a78bfa",
          "#10b981", "#94a3b8", "#1e3a8a", "#14532d")
OTHER_BAR, INK, PALE_INK, GRID = "#94a3b8", "#111111", "#64748b", "#e2e8f0"

PIXELS_PER_INCH = 72  # one unit of the SVG is one pixel, and one point of a font
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "attrcache",
    "font.family": "sans-serif",
    "font.size": 12,
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


def is_ours(contender):
    return contender.startswith("attrcache") or "_served" in contender


def number(value):
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def _figure(width, height):
    figure = Figure(figsize=(width / PIXELS_PER_INCH, height / PIXELS_PER_INCH), dpi=PIXELS_PER_INCH)
    FigureCanvasSVG(figure)
    return figure


def _axes(figure, left, top, width, height):
    """Axes without a frame; the arguments are in pixels from the upper left corner."""
    whole_width, whole_height = figure.get_size_inches() * PIXELS_PER_INCH
    axes = figure.add_axes((left / whole_width, 1 - (top + height) / whole_height,
                            width / whole_width, height / whole_height))
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0)
    return axes


def _svg(figure, title):
    """The <svg> element alone, so that it also goes inside an HTML page."""
    written = io.StringIO()
    figure.savefig(written, format="svg",
                   metadata={"Title": title, "Date": None, "Creator": None, "Format": None, "Type": None})
    text = written.getvalue().replace('pt" height', '" height', 1).replace('pt" viewBox', '" viewBox', 1)
    return "\n".join(line.rstrip() for line in text[text.index("<svg"):].splitlines()) + "\n"


@dataclasses.dataclass(frozen=True)
class Bar:
    """One row of a bar chart. values has a number, or None, for each panel."""
    label: str
    values: tuple
    ours: bool = False
    ranges: tuple = ()  # (low, high) for each panel, drawn as a line over the bar


@dataclasses.dataclass(frozen=True)
class Heading:
    """A row that has a text only."""
    label: str


@dataclasses.dataclass(frozen=True)
class Panel:
    """One column of bars, all to one scale."""
    title: str = ""
    subtitle: str = ""
    format_value: collections.abc.Callable = number
    at_least: float = 0  # the scale reaches this far, even if no bar does


@matplotlib.rc_context(STYLE)
def bars(title, rows, panels, label_width=230, panel_width=440, row_height=18, caption=""):
    """Horizontal bars from top to bottom: a label for each row, and a bar in each of the panels."""
    bar_height, gap, top = 12, 60, 42 if any(p.title for p in panels) else 4
    space_before_heading = 6
    places, y = [], 0
    for row in rows:
        if isinstance(row, Heading) and places:
            y += space_before_heading
        places.append(y + row_height / 2)
        y += row_height
    width = label_width + len(panels) * (panel_width + gap)
    figure = _figure(width, top + y + (30 if caption else 4))
    for at, panel in enumerate(panels):
        axes = _axes(figure, label_width + at * (panel_width + gap), top, panel_width, y)
        axes.set_ylim(y, 0)
        axes.set_axis_off()
        found = [(row, place) for row, place in zip(rows, places)
                 if isinstance(row, Bar) and row.values[at] is not None]
        ends = [max(row.values[at], row.ranges[at][1] if row.ranges else 0) for row, _ in found]
        longest = max([panel.at_least, *ends]) or 1
        axes.set_xlim(0, longest)
        shortest = longest / panel_width  # a pixel: a bar that is measured is always seen
        axes.barh([place for _, place in found],
                  [max(row.values[at], shortest) for row, _ in found], height=bar_height, clip_on=False,
                  color=[OURS[0] if row.ours else OTHER_BAR for row, _ in found])
        for (row, place), end in zip(found, ends):
            if row.ranges:
                axes.hlines(place, *row.ranges[at], colors=INK, linewidth=1, clip_on=False)
            axes.annotate(panel.format_value(row.values[at]), (end, place), (5, 0),
                          textcoords="offset pixels", va="center_baseline")
        axes.annotate(panel.title, (0, 0), (0, top - 16), textcoords="offset pixels")
        axes.annotate(panel.subtitle, (0, 0), (0, top - 31), textcoords="offset pixels", color=PALE_INK)
        if at != 0:
            continue
        for row, place in zip(rows, places):
            heading = isinstance(row, Heading)
            axes.annotate(row.label, (0, place), (4 - label_width if heading else -8, 0),
                          textcoords="offset pixels", va="center_baseline",
                          ha="left" if heading else "right",
                          color=PALE_INK if heading else OURS[0] if row.ours else INK)
        axes.annotate(caption, (0, y), (4 - label_width, -20), textcoords="offset pixels", color=PALE_INK)
    return _svg(figure, title)


@dataclasses.dataclass(frozen=True)
class Line:
    """One line of a plot. Lines of one label have one colour."""
    label: str
    points: tuple  # ((x, y), ...)
    ours: bool = False
    dashed: bool = False  # for what the solid line of the same label is compared with


@matplotlib.rc_context(STYLE)
def lines(title, plotted, x_label, y_label, log_y=True):
    """Lines over a logarithmic x axis; labels beside the plot, highest line first. "" if nothing has two points."""
    plotted = sorted((line for line in plotted if len(line.points) > 1), key=lambda line: -line.points[-1][1])
    if not plotted:
        return ""
    left, top, width, height, row = 64, 10, 462, 300, 17
    figure = _figure(left + width + 250, max(top + height + 48, top + 20 + row * len(plotted)))
    axes = _axes(figure, left, top, width, height)
    axes.set_xscale("log")
    axes.set_yscale("log" if log_y else "linear")
    warm, cold, colours = itertools.cycle(OURS), itertools.cycle(OTHERS), {}
    for at, line in enumerate(plotted):
        if line.label not in colours:
            colours[line.label] = next(warm if line.ours else cold)
        colour = colours[line.label]
        axes.plot(*zip(*sorted(line.points)), color=colour, linewidth=3 if line.ours else 1.5,
                  linestyle="--" if line.dashed else "-", clip_on=False)
        axes.annotate(line.label, (1, 1), (12, -10 - at * row), xycoords="axes fraction",
                      textcoords="offset pixels", color=colour)
    xs = sorted({x for line in plotted for x, _ in line.points})
    axes.set_xlim(xs[0], xs[-1])
    axes.set_xticks(xs, [number(x) for x in xs])
    axes.minorticks_off()
    if log_y:
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    else:
        axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(lambda y, _: number(y))
    axes.grid(axis="y", color=GRID)
    axes.set_axisbelow(True)
    axes.tick_params(axis="x", pad=8)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    return _svg(figure, title)
