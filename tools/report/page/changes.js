// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What changed since an earlier run (--compare).

// For each rank, if there were more or fewer.
function changeText(then, now) {
  const [was, is] = [then / data.changes.ranks[0], now / data.changes.ranks[1]];
  if (was === is) return "the same";
  if (!was) return "new";
  if (!is) return "gone";
  return is >= 2 * was ? "× " + d3.format(".3~r")(is / was) : d3.format("+.1f")(100 * (is - was) / was) + " %";
}

function changesSection() {
  const { changes } = data;
  if (!changes) return;
  const part = section("changes", "Changes", "Compared with " + changes.old_name + ".");
  const { facts } = changes;
  const other = Object.keys(facts).filter((name) => facts[name][0] !== facts[name][1]);
  const rising = (was, now) => {
    const more = now * changes.ranks[0] - was * changes.ranks[1];
    return more > 0 ? ".rise" : more < 0 ? ".fall" : "";
  };
  if (other.length) {
    part.append(element("ul.notes", {}, ...other.map((name) => element("li", {},
      `${name}: ${facts[name][0]} then, ${facts[name][1]} now`)),
    changes.ranks[0] === changes.ranks[1] ? null : element("li", {}, "Numbers are sums over ranks; changes are those of a rank on the average.")));
  }
  const cells = (name, was, now, extra) => [
    element("td", { "data-value": was }, name === null ? grouped(was) : shown(name, was)),
    element("td", { "data-value": now }, name === null ? grouped(now) : shown(name, now)),
    element("td" + rising(was, now), {}, changeText(was, now)), ...(extra || [])];
  const head = (first) => element("thead", {}, element("tr", {}, element("th.text", { scope: "col" }, first),
    ...["then", "now", "change"].map((text) => element("th", { scope: "col" }, text))));
  part.append(element("h3", {}, "All together"), element("div.scroll.plain", {}, element("table", { id: "changes-totals" }, head("number"),
    element("tbody", {}, ...changes.totals.map(([name, was, now]) => element("tr", { "data-name": name },
      element("th.text", { scope: "row" }, LABELS[name]), ...cells(name, was, now)))))));
  const lines = changes.lines.filter((line) => line.state !== "changed" || line.numbers.some(([name]) => !isTime(name)));
  const times = changes.lines.length - lines.length;
  part.append(element("h3", {}, "By function"));
  if (!lines.length) part.append(element("p.good", {}, "No function did anything else than before."));
  const rows = lines.flatMap((line) => {
    const numbers = line.numbers.length ? line.numbers : [["created", 0, 0]];
    return numbers.map(([name, was, now]) => ({ line, name, was, now }));
  });
  if (rows.length) {
    part.append(makeTable({
      id: "changes-table", rows, sort: [null, true],
      columns: [
        { key: "title", label: "function", text: true, name: true, value: (r) => r.line.title,
          show: (r) => element("span", {}, name(r.line.title),
            r.line.state === "changed" ? null : element("span.tag" + (r.line.state === "new" ? ".bad" : ""), {}, r.line.state)) },
        { key: "what", label: "number", text: true, value: (r) => LABELS[r.name] },
        { key: "was", label: "then", value: (r) => r.was, show: (r) => shown(r.name, r.was) },
        { key: "now", label: "now", value: (r) => r.now, show: (r) => shown(r.name, r.now) },
        { key: "change", label: "change", value: (r) => r.now - r.was,
          show: (r) => element("span" + rising(r.was, r.now), {}, changeText(r.was, r.now)) },
      ],
    }).element);
  }
  if (times) part.append(element("p.small", {}, counted(times, "function") + " took another time, and did the same otherwise."));
  for (const [name, title] of [["objects", "Objects never freed"], ["misuse", "Misuse"]]) {
    if (!changes[name].length) continue;
    part.append(element("h3", {}, title), element("div.scroll.plain", {}, element("table", {}, head("what"), element("tbody", {},
      ...changes[name].slice(0, 200).map(([what, was, now]) => element("tr", {}, element("td.text.name", {}, what), ...cells(null, was, now)))))));
  }
}
