// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The timeline: a lane for each thread of each rank, with callbacks and slow operations; above it, if there are many
// ranks, how much of the time groups of ranks spent in them. To zoom, to search, and the same as a table.

const FEW_LANES = 24;
const MOST_LANES = 200;
const ROW = 11;
const GAP = 7;
const AXIS = 26;
const FONT = "11px system-ui, sans-serif";

// The events as objects, and the lanes with how deep events are nested in them.
function unpackedEvents(t) {
  const codes = new Map(t.codes);
  const lanes = t.lanes.map(([rank, thread, name, busy], i) => ({ i, rank, thread, busy, events: [], depth: 0,
    label: `rank ${rank}` + (name === "main" ? "" : ` · thread ${thread}`) }));
  let start = 0;
  const events = t.lane.map((lane, i) => {
    start = (i > 0 && t.lane[i - 1] === lane ? start : 0) + t.start[i];
    const what = t.whats[t.what[i]];
    const name = t.names[t.name[i]];
    const code = codes.get(i) || 0;
    const callback = what === "copy_fn" || what === "delete_fn";
    const one = { i, lane: lanes[lane], start, duration: t.duration[i], end: start + t.duration[i], what, name, code,
      keyval: t.keyvals[t.keyval[i]], depth: 0, color: code ? "failed" : what === "copy_fn" ? "copy" : callback ? "delete" : "operation" };
    lanes[lane].events.push(one);
    return one;
  });
  for (const lane of lanes) {
    const open = [];
    for (const one of lane.events) {
      while (open.length && open[open.length - 1].end <= one.start) open.pop();
      one.depth = Math.min(open.length, 5);
      lane.depth = Math.max(lane.depth, one.depth);
      open.push(one);
    }
  }
  return { events, lanes };
}

const eventText = (e) => `${e.what}${e.name ? " " + e.name : ""}: ${duration(e.duration)}${e.code ? ", failed with code " + e.code : ""}`
  + `\n${e.lane.label}, ${duration(e.start)} after the first event${e.keyval ? `, keyval ${e.keyval}` : ""}`;

function timelineSection() {
  const t = data.timeline;
  const part = section("timeline", "Timeline", t ? "Callbacks and slow operations, by rank and thread." : "");
  if (!t) {
    part.append(element("p", {}, "There is no timeline: no callback ran and no operation was slow, or the run was not traced."));
    return;
  }
  const { events, lanes } = unpackedEvents(t);
  const length = t.length_ns || 1;
  const many = t.overview.groups > FEW_LANES || lanes.length > FEW_LANES;
  const busiest = lanes.slice().sort((a, b) => b.busy - a.busy);
  let visible = [];
  let transform = d3.zoomIdentity;
  let matching = null; // null: all
  let chosen = null;
  let wantedRanks = "";
  let wantedText = "";
  let width = 0;
  let left = 120;

  const said = [`${counted(t.events, "event")}${t.failed ? `, ${grouped(t.failed)} of them failed` : ""}.`];
  if (events.length < t.events) said.push(`The page has the ${grouped(events.length)} longest, and those that failed first; the file of --trace has all.`);
  if (t.dropped) said.push(`${counted(t.dropped, "event")} more came when the memory for them was full (ATTRCACHE_TRACE_EVENTS).`);
  part.append(element("p.under", { id: "timeline-facts" }, said.join(" ")));

  // ---- What is drawn ----

  const overview = element("canvas", { role: "img", "aria-label":
    "How much of the time ranks spent in callbacks and slow operations: ranks from top to bottom, time from left to right" });
  const canvas = element("canvas", { tabindex: 0, role: "application", "aria-label": "Timeline of events", "aria-describedby": "timeline-keys" });
  const axis = element("div");
  const about = element("p.chosen", { id: "chosen", "aria-live": "polite" });
  const overviewBox = element("div.box", { hidden: !many }, overview);
  const frame = element("div.chart", { id: "timeline-chart" }, overviewBox, axis, element("div.lanes", {}, element("div.box", {}, canvas)));

  const scale = () => transform.rescaleX(d3.scaleLinear().domain([0, length]).range([left, width - 8]));
  const colors = {};
  function readColors() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["text", "faint", "line", "stripe", "panel", "accent", "copy", "delete", "operation", "failed"]) {
      colors[name] = style.getPropertyValue("--" + name).trim();
    }
  }
  function prepared(target, height) {
    const ratio = Math.max(1, window.devicePixelRatio || 1);
    target.width = Math.round(width * ratio);
    target.height = Math.round(height * ratio);
    target.style.height = height + "px";
    const pen = target.getContext("2d");
    pen.scale(ratio, ratio);
    pen.font = FONT;
    pen.textBaseline = "middle";
    return pen;
  }
  const heightOf = (lane) => (lane.depth + 1) * ROW + GAP;
  const tops = new Map();

  function draw() {
    if (width <= 0) return;
    readColors();
    const x = scale();
    drawAxis(x);
    drawLanes(x);
    if (many) drawOverview(x);
  }
  function drawAxis(x) {
    const svg = d3.create("svg").attr("viewBox", [0, 0, width, AXIS]).attr("aria-hidden", "true");
    svg.append("g").attr("class", "axis").attr("transform", `translate(0,${AXIS - 1})`)
      .call(d3.axisTop(x).ticks(Math.max(2, (width - left) / 120)).tickSizeOuter(0).tickFormat((v) => tickText(v, x)));
    axis.replaceChildren(svg.node());
  }
  // As many digits as tell ticks apart, however deep one has zoomed.
  function tickText(v, x) {
    const [from, to] = x.domain();
    const unit = to - from > 2e9 ? [1e9, "s"] : to - from > 2e6 ? [1e6, "ms"] : to - from > 2e3 ? [1e3, "µs"] : [1, "ns"];
    const step = d3.tickStep(from, to, Math.max(2, (width - left) / 120)) / unit[0];
    return v === 0 ? "0" : d3.format(`,.${Math.max(0, -Math.floor(Math.log10(step) + 1e-9))}f`)(v / unit[0]) + " " + unit[1];
  }
  function drawLanes(x) {
    const height = Math.max(ROW, d3.sum(visible, heightOf));
    const pen = prepared(canvas, height);
    const [from, to] = x.domain();
    tops.clear();
    let top = 0;
    visible.forEach((lane, n) => {
      tops.set(lane, top);
      const tall = heightOf(lane);
      if (n % 2) {
        pen.fillStyle = colors.stripe;
        pen.fillRect(0, top, width, tall);
      }
      pen.fillStyle = colors.text;
      pen.fillText(fitted(pen, lane.label, left - 12), 4, top + tall / 2);
      // What would lie upon the one drawn before is left out, unless it failed.
      let lastX = -1, lastDepth = -1, lastDim = false;
      for (const [dim, one] of inOrder(lane.events)) {
        if (one.end < from || one.start > to) continue;
        const x0 = Math.max(left, x(one.start));
        const x1 = Math.min(width, Math.max(x(one.end), x0 + 1.2));
        if (Math.abs(x1 - lastX) < 0.3 && one.depth === lastDepth && !one.code && dim === lastDim) continue;
        pen.globalAlpha = dim ? 0.15 : 1;
        pen.fillStyle = colors[one.color];
        pen.fillRect(x0, top + GAP / 2 + one.depth * ROW, x1 - x0, ROW - 2);
        [lastX, lastDepth, lastDim] = [x1, one.depth, dim];
      }
      pen.globalAlpha = 1;
      if (chosen && chosen.lane === lane && chosen.end >= from && chosen.start <= to) {
        const x0 = Math.max(left, x(chosen.start));
        pen.strokeStyle = colors.text;
        pen.lineWidth = 2;
        pen.strokeRect(x0 - 2, top + GAP / 2 + chosen.depth * ROW - 2, Math.max(x(chosen.end) - x0, 1.2) + 4, ROW + 2);
      }
      top += tall;
    });
    canvas.setAttribute("aria-label", `Timeline of ${counted(visible.length, "lane")}, from ${duration(Math.max(0, from))} to ${duration(to)}`);
  }
  // First those that are not looked for, so that they hide nothing.
  function inOrder(list) {
    if (!matching) return list.map((one) => [false, one]);
    return [...list.filter((one) => !matching.has(one)).map((one) => [true, one]), ...list.filter((one) => matching.has(one)).map((one) => [false, one])];
  }
  function fitted(pen, text, room) {
    if (pen.measureText(text).width <= room) return text;
    let n = text.length;
    while (n > 1 && pen.measureText(text.slice(0, n) + "…").width > room) --n;
    return text.slice(0, n) + "…";
  }
  function drawOverview(x) {
    const o = t.overview;
    const row = Math.max(2, Math.min(12, Math.floor(260 / o.groups)));
    const pen = prepared(overview, o.groups * row + 4);
    const color = d3.scaleSequential(d3.interpolateRgb(colors.panel, colors.delete)).domain([0, 1]);
    const most = d3.max(o.cells.filter((_, i) => i % 3 === 2)) || 1;
    pen.fillStyle = colors.stripe;
    pen.fillRect(left, 0, width - left - 8, o.groups * row);
    for (let i = 0; i < o.cells.length; i += 3) {
      const x0 = Math.max(left, x(o.cells[i + 1] * o.bin_ns));
      const x1 = Math.min(width - 8, x((o.cells[i + 1] + 1) * o.bin_ns));
      if (x1 <= x0) continue;
      pen.fillStyle = color(0.15 + 0.85 * Math.sqrt(o.cells[i + 2] / most));
      pen.fillRect(x0, o.cells[i] * row, x1 - x0, row > 3 ? row - 1 : row);
    }
    pen.fillStyle = colors.faint;
    const step = Math.ceil(14 / row);
    for (let group = 0; group < o.groups; group += step) {
      const last = Math.min((group + step) * o.ranks_each, o.groups * o.ranks_each, d3.max(data.per_rank.rank) + 1) - 1;
      const first = group * o.ranks_each;
      pen.fillText(fitted(pen, last > first ? `ranks ${first}–${last}` : `rank ${first}`, left - 12), 4, (group + step / 2) * row);
    }
  }

  // ---- Which lanes, and which events ----

  const lanesNote = element("p.small");
  function chooseLanes() {
    const has = rankFilter(wantedRanks);
    let some = wantedRanks.trim() ? lanes.filter((lane) => has(lane.rank)) : many ? busiest.slice(0, FEW_LANES) : lanes;
    const all = some.length;
    some = some.slice(0, MOST_LANES);
    visible = some.slice().sort((a, b) => a.rank - b.rank || a.thread - b.thread);
    if (chosen && !visible.includes(chosen.lane)) visible.push(chosen.lane);
    lanesNote.textContent = wantedRanks.trim() ? (all ? "" : "No event of these ranks is in the page.") + (all > some.length ? `The first ${MOST_LANES} lanes of ${grouped(all)}.` : "")
      : visible.length < lanes.length ? `The ${FEW_LANES} lanes with the most time in events, of ${grouped(lanes.length)}. Name ranks to see others, or click on the overview.` : "";
  }
  const result = element("p.small", { id: "matches", "aria-live": "polite" });
  const table = makeTable({
    id: "events-table", rows: [], sort: ["duration", true], limit: 10,
    columns: [
      { key: "start", label: "start", unit: "zooms there", plain: true, value: (e) => e.start,
        show: (e) => element("button.go", { type: "button", onclick: () => { choose(e); zoomTo(e); canvas.focus({ preventScroll: true }); frame.scrollIntoView({ block: "center" }); } }, duration(e.start)) },
      { key: "duration", label: "took", unit: "time", value: (e) => e.duration, show: (e) => duration(e.duration) },
      { key: "what", label: "what", text: true, name: true, value: (e) => e.what + " " + e.name,
        show: (e) => element("span", {}, e.what, e.name ? name(e.name, ".library") : null) },
      { key: "rank", label: "rank", plain: true, value: (e) => e.lane.rank, show: (e) => grouped(e.lane.rank) },
      { key: "thread", label: "thread", text: true, minor: true, value: (e) => t.lanes[e.lane.i][2] === "main" ? "main" : String(e.lane.thread) },
      { key: "code", label: "code", minor: true, bad: true, value: (e) => e.code },
    ],
  });
  function search() {
    const words = wantedText.toLowerCase().split(/\s+/).filter(Boolean);
    const has = rankFilter(wantedRanks);
    const found = words.length || wantedRanks.trim() ? events.filter((e) => has(e.lane.rank) && words.every((word) =>
      word === "failed" ? e.code !== 0 : (e.name + " " + e.what + " " + e.keyval).toLowerCase().includes(word))) : events;
    matching = words.length ? new Set(found) : null;
    result.textContent = words.length ? `${counted(found.length, "event")} match${found.length === 1 ? "es" : ""}, ${duration(d3.sum(found, (e) => e.duration))} together.` : "";
    table.update(found);
    draw();
    return found;
  }
  function choose(one) {
    chosen = one;
    about.textContent = one ? eventText(one).replace("\n", " · ") : "";
    if (one && !visible.includes(one.lane)) chooseLanes();
    draw();
  }

  // ---- Zooming ----

  const zoom = d3.zoom().scaleExtent([1, Math.max(8, length / 50)])
    .filter(() => {
      const event = d3.event;
      return event.type === "wheel" ? event.ctrlKey || event.metaKey || document.activeElement === canvas : !event.button;
    })
    .on("zoom", () => {
      transform = d3.event.transform;
      requestAnimationFrame(draw);
    });
  const zoomed = d3.select(canvas);
  function zoomTo(one) {
    const span = Math.max(one.duration * 4, 200);
    const scaled = Math.min(zoom.scaleExtent()[1], length / span);
    const base = d3.scaleLinear().domain([0, length]).range([left, width - 8]);
    zoomed.call(zoom.transform, d3.zoomIdentity.translate((left + width - 8) / 2, 0).scale(scaled)
      .translate(-base(one.start + one.duration / 2), 0));
  }
  const pan = (share) => zoomed.call(zoom.translateBy, -share * (width - left) / transform.k, 0);
  const by = (factor) => zoomed.call(zoom.scaleBy, factor, [(left + width) / 2, 0]);
  const whole = () => zoomed.call(zoom.transform, d3.zoomIdentity);
  function step(direction) {
    const list = visible.flatMap((lane) => lane.events).filter((e) => !matching || matching.has(e)).sort((a, b) => a.start - b.start);
    if (!list.length) return;
    const now = chosen ? list.indexOf(chosen) : -1;
    const one = list[now < 0 ? (direction > 0 ? 0 : list.length - 1) : Math.max(0, Math.min(list.length - 1, now + direction))];
    choose(one);
    const [from, to] = scale().domain();
    if (one.end < from || one.start > to) zoomed.call(zoom.translateTo, d3.scaleLinear().domain([0, length]).range([left, width - 8])(one.start), 0);
  }
  const KEYS = { ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), "+": () => by(2), "=": () => by(2), "-": () => by(0.5), "0": whole,
    n: () => step(1), p: () => step(-1), Enter: () => { if (chosen) zoomTo(chosen); }, Escape: () => choose(null) };
  canvas.addEventListener("keydown", (event) => {
    const action = KEYS[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  });
  // The event at a point of the canvas: the innermost, and if it is drawn wider than it is, the nearest.
  function under(event) {
    const box = canvas.getBoundingClientRect();
    const px = event.clientX - box.left, py = event.clientY - box.top;
    const x = scale();
    for (const [lane, top] of tops) {
      if (py < top || py >= top + heightOf(lane)) continue;
      const depth = Math.floor((py - top - GAP / 2) / ROW);
      let best = null, distance = 3;
      for (const one of lane.events) {
        if (one.depth !== depth) continue;
        const off = Math.max(0, x(one.start) - px, px - Math.max(x(one.end), x(one.start) + 1));
        if (off < distance) [best, distance] = [one, off];
      }
      return best;
    }
    return null;
  }
  canvas.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch") return;
    const one = under(event);
    showTip(one ? eventText(one) : "", event.clientX, event.clientY);
  });
  canvas.addEventListener("pointerleave", () => showTip(""));
  canvas.addEventListener("click", (event) => choose(under(event)));
  overview.addEventListener("click", (event) => {
    const o = t.overview;
    const box = overview.getBoundingClientRect();
    const group = Math.min(o.groups - 1, Math.floor((event.clientY - box.top) / (box.height - 4) * o.groups));
    ranksField.querySelector("input").value = wantedRanks = `${group * o.ranks_each}-${(group + 1) * o.ranks_each - 1}`;
    chooseLanes();
    search();
  });

  const button = (text, label, action) => element("button.button", { type: "button", "aria-label": label, title: label, onclick: action }, text);
  const ranksField = field("Ranks", "all; or 7, 16-31", (value) => { wantedRanks = value; chooseLanes(); search(); });
  const textField = field("Find events", "function, dup, failed, ...", (value) => { wantedText = value; search(); });
  textField.querySelector("input").addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    const found = search().slice().sort((a, b) => b.duration - a.duration);
    if (!found.length) return;
    choose(found[0]);
    zoomTo(found[0]);
  });
  part.append(
    element("div.tools", {}, textField, ranksField,
      button("−", "zoom out", () => by(0.5)), button("+", "zoom in", () => by(2)),
      button("◂", "earlier", () => pan(-0.3)), button("▸", "later", () => pan(0.3)), button("whole run", "show the whole run", whole)),
    element("p.legend", {}, ...[["copy", "copy_fn"], ["delete", "delete_fn"], ["operation", "slow operation"], ["failed", "callback that failed"]]
      .map(([name, text]) => element("span", {}, element("i.l-" + name, { "aria-hidden": "true" }), text))),
    lanesNote, frame, about,
    element("p.small.screen-only", { id: "timeline-keys" }, "Drag to move; zoom with two fingers, with Ctrl and the wheel, or with the buttons. "
      + "With the keyboard: arrows move, + and − zoom, 0 shows the whole run, n and p go to the next and previous event, Enter zooms to it."),
    element("h3", {}, "Events"), result, table.element);

  drawn(frame, (now) => {
    const inner = now - 20;
    const pen = canvas.getContext("2d");
    pen.font = FONT;
    left = Math.max(60, Math.min(inner * 0.3, 14 + (d3.max(visible, (lane) => pen.measureText(lane.label).width) || 0)));
    width = inner;
    zoom.extent([[left, 0], [width - 8, 100]]).translateExtent([[left, 0], [width - 8, 100]]);
    draw();
  });
  zoomed.call(zoom).on("dblclick.zoom", null);
  chooseLanes();
  search();
}
