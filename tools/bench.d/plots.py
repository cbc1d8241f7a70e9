# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Plots as SVG, by matplotlib: bars with labels, and lines over a logarithmic axis.

The same figures give the same bytes: no date is written, and ids are hashed with a fixed salt. Text stays text,
which keeps the files small; the viewer's sans-serif font shows it.
"""

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
OTHER_BAR, INK, GRID = "#94a3b8", "#111111", "#e2e8f0"

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
    label: str
    value: float
    ours: bool
    span: tuple  # (low, high), drawn as a line over the bar


@matplotlib.rc_context(STYLE)
def bars(title, rows, unit):
    """Horizontal bars from top to bottom: a label and a value for each."""
    left, right, width, row_height, bar_height = 230, 60, 440, 18, 12
    places = [(at + 0.5) * row_height for at in range(len(rows))]
    height = len(rows) * row_height
    figure = _figure(left + width + right, height + 8)
    axes = _axes(figure, left, 4, width, height)
    axes.set_ylim(height, 0)
    axes.set_axis_off()
    longest = max(max(row.value, row.span[1]) for row in rows) or 1
    axes.set_xlim(0, longest)
    shortest = longest / width  # a pixel: a bar that is measured is always seen
    axes.barh(places, [max(row.value, shortest) for row in rows], height=bar_height, clip_on=False,
              color=[OURS[0] if row.ours else OTHER_BAR for row in rows])
    beside = {"textcoords": "offset pixels", "va": "center_baseline"}
    for row, place in zip(rows, places):
        axes.hlines(place, *row.span, colors=INK, linewidth=1, clip_on=False)
        axes.annotate(f"{number(row.value)} {unit}", (max(row.value, row.span[1]), place), (5, 0), **beside)
        axes.annotate(row.label, (0, place), (-8, 0), ha="right", color=OURS[0] if row.ours else INK, **beside)
    return _svg(figure, title)


@dataclasses.dataclass(frozen=True)
class Line:
    label: str
    points: tuple  # ((x, y), ...)
    ours: bool


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
    warm, cold = itertools.cycle(OURS), itertools.cycle(OTHERS)
    for at, line in enumerate(plotted):
        colour = next(warm if line.ours else cold)
        axes.plot(*zip(*sorted(line.points)), color=colour, linewidth=3 if line.ours else 1.5, clip_on=False)
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
