// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Draws the timeline. What it draws is in a "view": `visible` are the lanes, `transform` is d3's
// zoom, `matching` are the events that are looked for (null: all), `chosen` is one of them, and
// `left` and `width` are where time begins and ends.

const ROW = 11;
const GAP = 7;
const AXIS = 26;
const FONT = "11px system-ui, sans-serif";
const RIGHT = 8;

const laneHeight = (lane) => (lane.depth + 1) * ROW + GAP;
const wholeScale = (view) =>
  d3
    .scaleLinear()
    .domain([0, view.length])
    .range([view.left, view.width - RIGHT]);
const zoomedScale = (view) => view.transform.rescaleX(wholeScale(view));

function drawTimeline(view) {
  if (view.width <= 0) return;
  view.colors = themeColors();
  const x = zoomedScale(view);
  drawAxis(view, x);
  drawLanes(view, x);
  if (view.many) drawOverview(view, x);
}

function themeColors() {
  const style = getComputedStyle(document.documentElement);
  const names = ["text", "faint", "stripe", "panel", "copy", "delete", "operation", "failed"];
  return Object.fromEntries(
    names.map((name) => [name, style.getPropertyValue("--" + name).trim()]),
  );
}

// A pen for a canvas of that height, with the screen's own pixels.
function preparedPen(view, canvas, height) {
  const ratio = Math.max(1, window.devicePixelRatio || 1);
  canvas.width = Math.round(view.width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = height + "px";
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  pen.font = FONT;
  pen.textBaseline = "middle";
  return pen;
}

function fittedText(pen, text, room) {
  if (pen.measureText(text).width <= room) return text;
  let n = text.length;
  while (n > 1 && pen.measureText(text.slice(0, n) + "…").width > room) --n;
  return text.slice(0, n) + "…";
}

function drawAxis(view, x) {
  const ticks = Math.max(2, (view.width - view.left) / 120);
  const [from, to] = x.domain();
  const span = to - from;
  const [size, unit] =
    span > 2e9 ? [1e9, "s"] : span > 2e6 ? [1e6, "ms"] : span > 2e3 ? [1e3, "µs"] : [1, "ns"];
  // As many digits as tell ticks apart, however deep one has zoomed.
  const digits = Math.max(0, -Math.floor(Math.log10(d3.tickStep(from, to, ticks) / size) + 1e-9));
  const format = d3.format(`,.${digits}f`);
  const svg = d3
    .create("svg")
    .attr("viewBox", [0, 0, view.width, AXIS])
    .attr("aria-hidden", "true");
  svg
    .append("g")
    .attr("class", "axis")
    .attr("transform", `translate(0,${AXIS - 1})`)
    .call(
      d3
        .axisTop(x)
        .ticks(ticks)
        .tickSizeOuter(0)
        .tickFormat((v) => (v === 0 ? "0" : format(v / size) + " " + unit)),
    );
  view.axis.replaceChildren(svg.node());
}

function drawLanes(view, x) {
  const pen = preparedPen(view, view.canvas, Math.max(ROW, d3.sum(view.visible, laneHeight)));
  view.tops.clear();
  let top = 0;
  view.visible.forEach((lane, n) => {
    view.tops.set(lane, top);
    const tall = laneHeight(lane);
    if (n % 2) {
      pen.fillStyle = view.colors.stripe;
      pen.fillRect(0, top, view.width, tall);
    }
    pen.fillStyle = view.colors.text;
    pen.fillText(fittedText(pen, lane.label, view.left - 12), 4, top + tall / 2);
    drawEvents(view, pen, x, lane, top);
    top += tall;
  });
  const [from, to] = x.domain();
  view.canvas.setAttribute(
    "aria-label",
    `Timeline of ${counted(view.visible.length, "lane")}, from ${duration(Math.max(0, from))} to ${duration(to)}`,
  );
}

function drawEvents(view, pen, x, lane, top) {
  const [from, to] = x.domain();
  const box = (one) => {
    const x0 = Math.max(view.left, x(one.start));
    return [
      x0,
      Math.min(view.width, Math.max(x(one.end), x0 + 1.2)),
      top + GAP / 2 + one.depth * ROW,
    ];
  };
  let last = { x: -1 };
  for (const [dim, one] of matchesLast(view, lane.events)) {
    if (one.end < from || one.start > to) continue;
    const [x0, x1, y] = box(one);
    // What would lie upon the one drawn before is left out, unless it failed.
    const same = Math.abs(x1 - last.x) < 0.3 && one.depth === last.depth && dim === last.dim;
    if (same && !one.code) continue;
    pen.globalAlpha = dim ? 0.15 : 1;
    pen.fillStyle = view.colors[one.color];
    pen.fillRect(x0, y, x1 - x0, ROW - 2);
    last = { x: x1, depth: one.depth, dim };
  }
  pen.globalAlpha = 1;
  const { chosen } = view;
  if (chosen && chosen.lane === lane && chosen.end >= from && chosen.start <= to) {
    const [x0, x1, y] = box(chosen);
    pen.strokeStyle = view.colors.text;
    pen.lineWidth = 2;
    pen.strokeRect(x0 - 2, y - 2, x1 - x0 + 4, ROW + 2);
  }
}

// First the events that are not looked for, so that they hide nothing; with whether they are dim.
function matchesLast(view, events) {
  if (!view.matching) return events.map((one) => [false, one]);
  const [dim, bright] = [
    events.filter((e) => !view.matching.has(e)),
    events.filter((e) => view.matching.has(e)),
  ];
  return [...dim.map((one) => [true, one]), ...bright.map((one) => [false, one])];
}

// How much of the time groups of ranks spent in events.
function drawOverview(view, x) {
  const { groups, cells, bin_ns: bin, ranks_each: each } = view.summary;
  const row = Math.max(2, Math.min(12, Math.floor(260 / groups)));
  const pen = preparedPen(view, view.overview, groups * row + 4);
  const color = d3.interpolateRgb(view.colors.panel, view.colors.delete);
  const most = d3.max(cells.filter((_, i) => i % 3 === 2)) || 1;
  pen.fillStyle = view.colors.stripe;
  pen.fillRect(view.left, 0, view.width - view.left - RIGHT, groups * row);
  for (let i = 0; i < cells.length; i += 3) {
    const x0 = Math.max(view.left, x(cells[i + 1] * bin));
    const x1 = Math.min(view.width - RIGHT, x((cells[i + 1] + 1) * bin));
    if (x1 <= x0) continue;
    pen.fillStyle = color(0.15 + 0.85 * Math.sqrt(cells[i + 2] / most));
    pen.fillRect(x0, cells[i] * row, x1 - x0, row > 3 ? row - 1 : row);
  }
  pen.fillStyle = view.colors.faint;
  const step = Math.ceil(14 / row);
  const end = d3.max(data.per_rank.rank) + 1;
  for (let group = 0; group < groups; group += step) {
    const first = group * each;
    const last = Math.min((group + step) * each, end) - 1;
    const label = last > first ? `ranks ${first}–${last}` : `rank ${first}`;
    pen.fillText(fittedText(pen, label, view.left - 12), 4, (group + step / 2) * row);
  }
}

// The event at a point of the canvas; if it is drawn wider than it is, or not quite hit, the
// nearest.
function eventUnder(view, pointer) {
  const box = view.canvas.getBoundingClientRect();
  const [px, py] = [pointer.clientX - box.left, pointer.clientY - box.top];
  const x = zoomedScale(view);
  for (const [lane, top] of view.tops) {
    if (py < top || py >= top + laneHeight(lane)) continue;
    const depth = Math.floor((py - top - GAP / 2) / ROW);
    let [best, distance] = [null, 3];
    for (const one of lane.events) {
      if (one.depth !== depth) continue;
      const off = Math.max(0, x(one.start) - px, px - Math.max(x(one.end), x(one.start) + 1));
      if (off < distance) [best, distance] = [one, off];
    }
    return best;
  }
  return null;
}
