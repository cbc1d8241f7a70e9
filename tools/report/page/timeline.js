// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The timeline: a lane for each thread of each rank, with callbacks and slow operations; above it,
// if there are many ranks, how much of the time groups of ranks spent in them. To zoom, to search,
// and the same as a table.

const FEW_LANES = 24;
const MOST_LANES = 200;

function timelineSection() {
  const t = data.timeline;
  const part = section(
    "timeline",
    "Timeline",
    t ? "Callbacks and slow operations, by rank and thread." : "",
  );
  if (!t) {
    part.append(
      element(
        "p",
        {},
        "There is no timeline: no callback ran and no operation was slow, or the run was not traced.",
      ),
    );
    return;
  }
  const { events, lanes } = unpackedEvents(t);
  const view = {
    length: t.length_ns || 1,
    summary: t.overview,
    many: t.overview.groups > FEW_LANES || lanes.length > FEW_LANES,
    visible: [],
    tops: new Map(),
    transform: d3.zoomIdentity,
    matching: null,
    chosen: null,
    width: 0,
    left: 120,
    axis: element("div"),
    overview: element("canvas", {
      role: "img",
      "aria-label":
        "How much of the time ranks spent in callbacks and slow operations: ranks from top to bottom, time from left to right",
    }),
    canvas: element("canvas", {
      tabindex: 0,
      role: "application",
      "aria-label": "Timeline of events",
      "aria-describedby": "timeline-keys",
    }),
  };
  const zoom = makeZoom(view);
  const frame = element(
    "div.chart",
    { id: "timeline-chart" },
    element("div.box", { hidden: !view.many }, view.overview),
    view.axis,
    element("div.lanes", {}, element("div.box", {}, view.canvas)),
  );
  const about = element("p.chosen", { id: "chosen", "aria-live": "polite" });
  const lanesNote = element("p.small");
  const result = element("p.small", { id: "matches", "aria-live": "polite" });
  let wantedRanks = "";
  let wantedText = "";

  function choose(one) {
    view.chosen = one;
    about.textContent = one ? eventText(one).replace("\n", " · ") : "";
    if (one && !view.visible.includes(one.lane)) chooseLanes();
    drawTimeline(view);
  }
  function chooseLanes() {
    const has = rankFilter(wantedRanks);
    const named = wantedRanks.trim() !== "";
    const some = named
      ? lanes.filter((lane) => has(lane.rank))
      : view.many
        ? lanes
            .slice()
            .sort((a, b) => b.busy - a.busy)
            .slice(0, FEW_LANES)
        : lanes;
    view.visible = some.slice(0, MOST_LANES).sort((a, b) => a.rank - b.rank || a.order - b.order);
    if (view.chosen && !view.visible.includes(view.chosen.lane))
      view.visible.push(view.chosen.lane);
    lanesNote.textContent =
      named && !some.length
        ? "No event of these ranks is in the page."
        : some.length > MOST_LANES
          ? `The first ${MOST_LANES} lanes of ${grouped(some.length)}.`
          : !named && some.length < lanes.length
            ? `The ${FEW_LANES} lanes with the most time in events, of ${grouped(lanes.length)}. ` +
              "Name ranks to see others, or click on the overview."
            : "";
  }
  function search() {
    const words = wantedText.toLowerCase().split(/\s+/).filter(Boolean);
    const has = rankFilter(wantedRanks);
    const matches = (e, word) =>
      word === "failed"
        ? e.code !== 0
        : `${e.name} ${e.what} ${e.keyval}`.toLowerCase().includes(word);
    const found = events.filter((e) => has(e.lane.rank) && words.every((word) => matches(e, word)));
    view.matching = words.length ? new Set(found) : null;
    result.textContent = words.length
      ? `${counted(found.length, "event")} match${found.length === 1 ? "es" : ""}, ` +
        `${duration(d3.sum(found, (e) => e.duration))} together.`
      : "";
    table.update(found);
    drawTimeline(view);
    return found;
  }
  function step(direction) {
    const list = view.visible
      .flatMap((lane) => lane.events)
      .filter((e) => !view.matching || view.matching.has(e))
      .sort((a, b) => a.start - b.start);
    if (!list.length) return;
    const now = list.indexOf(view.chosen);
    const next =
      now < 0
        ? direction > 0
          ? 0
          : list.length - 1
        : Math.max(0, Math.min(list.length - 1, now + direction));
    choose(list[next]);
    zoom.show(list[next]);
  }
  const table = eventTable(t, (one) => {
    choose(one);
    zoom.to(one);
    view.canvas.focus({ preventScroll: true });
    frame.scrollIntoView({ block: "center" });
  });

  // ---- What people do ----

  const KEYS = {
    ArrowLeft: () => zoom.pan(-0.2),
    ArrowRight: () => zoom.pan(0.2),
    "+": () => zoom.by(2),
    "=": () => zoom.by(2),
    "-": () => zoom.by(0.5),
    0: zoom.whole,
    n: () => step(1),
    p: () => step(-1),
    Enter: () => view.chosen && zoom.to(view.chosen),
    Escape: () => choose(null),
  };
  view.canvas.addEventListener("keydown", (event) => {
    const action = KEYS[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  });
  view.canvas.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch") return;
    const one = eventUnder(view, event);
    showTip(one ? eventText(one) : "", event.clientX, event.clientY);
  });
  view.canvas.addEventListener("pointerleave", () => showTip(""));
  view.canvas.addEventListener("click", (event) => choose(eventUnder(view, event)));
  view.overview.addEventListener("click", (event) => {
    const { groups, ranks_each: each } = t.overview;
    const box = view.overview.getBoundingClientRect();
    const group = Math.max(
      0,
      Math.min(groups - 1, Math.floor(((event.clientY - box.top) / (box.height - 4)) * groups)),
    );
    wantedRanks = `${group * each}-${(group + 1) * each - 1}`;
    ranksField.querySelector("input").value = wantedRanks;
    chooseLanes();
    search();
  });
  const ranksField = field("Ranks", "all; or 7, 16-31", (value) => {
    wantedRanks = value;
    chooseLanes();
    search();
  });
  const textField = field("Find events", "function, dup, failed, ...", (value) => {
    wantedText = value;
    search();
  });
  textField.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    const [longest] = search().sort((a, b) => b.duration - a.duration);
    if (!longest) return;
    choose(longest);
    zoom.to(longest);
  });

  // ---- The page ----

  const button = (text, label, action) =>
    element(
      "button.button",
      { type: "button", "aria-label": label, title: label, onclick: action },
      text,
    );
  const colors = [
    ["copy", "copy_fn"],
    ["delete", "delete_fn"],
    ["operation", "slow operation"],
    ["failed", "callback that failed"],
  ];
  part.append(
    element("p.under", { id: "timeline-facts" }, timelineFacts(t, events)),
    element(
      "div.tools",
      {},
      textField,
      ranksField,
      button("−", "zoom out", () => zoom.by(0.5)),
      button("+", "zoom in", () => zoom.by(2)),
      button("◂", "earlier", () => zoom.pan(-0.3)),
      button("▸", "later", () => zoom.pan(0.3)),
      button("whole run", "show the whole run", zoom.whole),
    ),
    element(
      "p.legend",
      {},
      ...colors.map(([style, text]) =>
        element("span", {}, element("i.l-" + style, { "aria-hidden": "true" }), text),
      ),
    ),
    lanesNote,
    frame,
    about,
    element(
      "p.small.screen-only",
      { id: "timeline-keys" },
      "Drag to move; zoom with two fingers, with Ctrl and the wheel, or with the buttons. " +
        "With the keyboard: arrows move, + and − zoom, 0 shows the whole run, n and p go to the next and previous event, Enter zooms to it.",
    ),
    element("h3", {}, "Events"),
    result,
    table.element,
  );
  chooseLanes();
  drawn(frame, (width) => {
    view.width = width - 20;
    const pen = view.canvas.getContext("2d");
    pen.font = FONT;
    const longest = d3.max(view.visible, (lane) => pen.measureText(lane.label).width) || 0;
    view.left = Math.max(60, Math.min(view.width * 0.3, 14 + longest));
    zoom.resized();
    drawTimeline(view);
  });
  search();
}

function timelineFacts(t, events) {
  const said = [
    `${counted(t.events, "event")}${t.failed ? `, ${grouped(t.failed)} of them failed` : ""}.`,
  ];
  if (events.length < t.events) {
    said.push(
      `The page has the ${grouped(events.length)} longest, and those that failed first; the file of --trace has all.`,
    );
  }
  if (t.dropped)
    said.push(
      `${counted(t.dropped, "event")} more came when the memory for them was full (ATTRCACHE_TRACE_EVENTS).`,
    );
  return said.join(" ");
}

// The events as a table. `go` shows one on the timeline.
function eventTable(t, go) {
  return makeTable({
    id: "events-table",
    rows: [],
    sort: ["duration", true],
    limit: 10,
    columns: [
      {
        key: "start",
        label: "start",
        unit: "zooms there",
        plain: true,
        value: (e) => e.start,
        show: (e) =>
          element("button.go", { type: "button", onclick: () => go(e) }, duration(e.start)),
      },
      {
        key: "duration",
        label: "took",
        unit: "time",
        value: (e) => e.duration,
        show: (e) => duration(e.duration),
      },
      {
        key: "what",
        label: "what",
        text: true,
        name: true,
        value: (e) => e.what + " " + e.name,
        show: (e) => element("span", {}, e.what, e.name ? name(e.name, ".library") : null),
      },
      {
        key: "rank",
        label: "rank",
        plain: true,
        value: (e) => e.lane.rank,
        show: (e) => grouped(e.lane.rank),
      },
      { key: "thread", label: "thread", text: true, minor: true, value: (e) => e.lane.thread },
      { key: "code", label: "code", minor: true, bad: true, value: (e) => e.code },
    ],
  });
}
