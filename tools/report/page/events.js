// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The events of the timeline as objects, and the lanes that they are in: one for each thread of a
// rank.

function unpackedEvents(t) {
  const codes = new Map(t.codes);
  const lanes = t.lanes.map(([rank, thread, name, busy]) => ({
    rank,
    thread: name === "main" ? "main" : String(thread),
    busy,
    events: [],
    depth: 0,
    label: `rank ${rank}` + (name === "main" ? "" : ` · thread ${thread}`),
    order: thread,
  }));
  let start = 0;
  const events = t.lane.map((lane, i) => {
    start = (i > 0 && t.lane[i - 1] === lane ? start : 0) + t.start[i];
    const what = t.whats[t.what[i]];
    const code = codes.get(i) || 0;
    const one = {
      lane: lanes[lane],
      start,
      duration: t.duration[i],
      end: start + t.duration[i],
      what,
      name: t.names[t.name[i]],
      code,
      keyval: t.keyvals[t.keyval[i]],
      depth: 0,
      color: code ? "failed" : { copy_fn: "copy", delete_fn: "delete" }[what] || "operation",
    };
    lanes[lane].events.push(one);
    return one;
  });
  lanes.forEach(nest);
  return { events, lanes };
}

// Says how deep each event of a lane lies within others.
function nest(lane) {
  const open = [];
  for (const one of lane.events) {
    while (open.length && open[open.length - 1].end <= one.start) open.pop();
    one.depth = Math.min(open.length, 5);
    lane.depth = Math.max(lane.depth, one.depth);
    open.push(one);
  }
}

const eventText = (e) =>
  [
    `${e.what}${e.name ? " " + e.name : ""}: ${duration(e.duration)}`,
    e.code ? `, failed with code ${e.code}` : "",
    `\n${e.lane.label}, ${duration(e.start)} after the first event`,
    e.keyval ? `, keyval ${e.keyval}` : "",
  ].join("");
