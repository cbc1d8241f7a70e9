# SPDX-License-Identifier: Apache-2.0
"""Plots as SVG text: bars, and lines over a logarithmic axis."""

import html
import itertools
import math

# attrcache is warm, everybody else cold.
OURS = ("#c2410c", "#f97316", "#dc2626", "#fbbf24")
OTHERS = ("#1d4ed8", "#047857", "#7c3aed", "#0e7490", "#475569", "#4d7c0f", "#60a5fa", "#a78bfa",
          "#10b981", "#94a3b8", "#1e3a8a", "#14532d")
FONT = 'font-family="sans-serif" font-size="12"'


def is_ours(contender):
    return contender.startswith("attrcache") or "_served" in contender


def _number(value):
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def svg(width, height, parts, title):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" role="img" aria-label="{html.escape(title)}" {FONT}>'
            + "".join(parts) + "</svg>")


def text(x, y, words, anchor="start", fill="#111"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}">'
            f"{html.escape(str(words))}</text>")


def bars(title, values, unit):
    """Horizontal bars, the shortest first. values: [(name, value, low, high)]"""
    values = sorted(values, key=lambda v: v[1])
    left, width, row = 230, 760, 19
    longest = max(v[3] for v in values)
    scale = (width - left - 90) / longest if longest else 0
    parts = []
    for at, (name, value, low, high) in enumerate(values):
        y = at * row
        fill, ink = (OURS[0], OURS[0]) if is_ours(name) else ("#94a3b8", "#111")
        parts.append(text(left - 8, y + 14, name, "end", ink))
        parts.append(f'<rect x="{left}" y="{y + 3}" width="{max(value * scale, 1):.1f}" height="13" '
                     f'fill="{fill}"/>')
        parts.append(f'<path d="M{left + low * scale:.1f} {y + 9.5}H{left + high * scale:.1f}" '
                     'stroke="#111"/>')
        parts.append(text(left + high * scale + 6, y + 14, f"{_number(value)} {unit}"))
    return svg(width, len(values) * row + 6, parts, title)


def _ticks(low, high):
    return [10.0 ** e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]


def lines(title, series, x_label, y_label, log_y=True):
    """series: {name: [(x, y)]}; x is logarithmic."""
    series = {name: points for name, points in series.items() if len(points) > 1}
    if not series:
        return ""
    left, top, width, height = 56, 10, 470, 300
    names = sorted(series, key=lambda n: -series[n][-1][1])
    xs = [x for points in series.values() for x, _ in points]
    ys = [y for points in series.values() for _, y in points]
    x_low, x_high = math.log10(min(xs)), math.log10(max(xs))
    y_ticks = _ticks(min(ys), max(ys)) if log_y else _steps(max(ys))

    def place_x(x):
        return left + (math.log10(x) - x_low) / ((x_high - x_low) or 1) * width

    def place_y(y):
        first, last = y_ticks[0], y_ticks[-1]
        part = (math.log10(y / first) / math.log10(last / first) if log_y
                else (y - first) / (last - first))
        return top + (1 - part) * height

    parts = []
    for tick in y_ticks:
        y = place_y(tick)
        parts.append(f'<path d="M{left} {y:.1f}h{width}" stroke="#e2e8f0"/>')
        parts.append(text(left - 6, y + 4, _number(tick), "end"))
    for x in sorted(set(xs)):
        parts.append(text(place_x(x), top + height + 18, _number(x), "middle"))
    parts.append(text(left + width / 2, top + height + 36, x_label, "middle"))
    parts.append(text(left, top + height + 36, y_label))
    warm, cold = itertools.cycle(OURS), itertools.cycle(OTHERS)
    for at, name in enumerate(names):
        colour = next(warm if is_ours(name) else cold)
        path = " ".join(f"{place_x(x):.1f},{place_y(y):.1f}" for x, y in sorted(series[name]))
        thick = 3 if is_ours(name) else 1.5
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" '
                     f'stroke-width="{thick}"/>')
        parts.append(text(left + width + 12, top + 10 + at * 17, f"{name}", fill=colour))
    return svg(left + width + 250, max(top + height + 44, top + 20 + 17 * len(names)), parts, title)


def _steps(high):
    step = 10 ** math.floor(math.log10(high))
    while high / step < 4:
        step /= 2
    return [i * step for i in range(math.ceil(high / step) + 1)]
