// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What changed since an earlier run (--compare).

// What is worse if there is more of it. The rest is neither good nor bad.
const BAD = ["leaked", "attached", "failed", "callback_own_ns", "seconds", "objects", "misuse"];

// Then and now, for each rank if there were more or fewer of them; the time of the run is nobody's
// share.
const perRank = (name, was, now) =>
  name === "seconds" ? [was, now] : [was / data.changes.ranks[0], now / data.changes.ranks[1]];
function changeClass(name, then, now) {
  const [was, is] = perRank(name, then, now);
  return was === is || !BAD.includes(name) ? "" : is > was ? ".rise" : ".fall";
}
function changeText(name, then, now) {
  const [was, is] = perRank(name, then, now);
  if (was === is) return "the same";
  if (!was) return "new";
  if (!is) return "gone";
  return is >= 2 * was
    ? "× " + d3.format(".3~r")(is / was)
    : d3.format("+.1f")((100 * (is - was)) / was) + " %";
}

function changesSection() {
  const { changes } = data;
  if (!changes) return;
  const part = section("changes", "Changes", "Compared with " + changes.old_name + ".");
  const { facts } = changes;
  const other = Object.keys(facts).filter((name) => facts[name][0] !== facts[name][1]);
  if (other.length) {
    part.append(
      element(
        "ul.notes",
        {},
        ...other.map((name) =>
          element("li", {}, `${name}: ${facts[name][0]} then, ${facts[name][1]} now`),
        ),
        changes.ranks[0] === changes.ranks[1]
          ? null
          : element(
              "li",
              {},
              "Numbers are sums over ranks; changes are those of a rank on the average.",
            ),
      ),
    );
  }
  const cells = (name, was, now) => [
    element("td", { "data-value": was }, shown(name, was)),
    element("td", { "data-value": now }, shown(name, now)),
    element("td" + changeClass(name, was, now), {}, changeText(name, was, now)),
  ];
  const head = (first) =>
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        element("th.text", { scope: "col" }, first),
        ...["then", "now", "change"].map((text) => element("th", { scope: "col" }, text)),
      ),
    );
  part.append(
    element("h3", {}, "All together"),
    element(
      "div.scroll.plain",
      {},
      element(
        "table",
        { id: "changes-totals" },
        head("number"),
        element(
          "tbody",
          {},
          ...changes.totals.map(([name, was, now]) =>
            element(
              "tr",
              { "data-name": name },
              element("th.text", { scope: "row" }, LABELS[name]),
              ...cells(name, was, now),
            ),
          ),
        ),
      ),
    ),
  );
  const lines = changes.lines.filter(
    (line) => line.state !== "changed" || line.numbers.some(([name]) => !isTime(name)),
  );
  const times = changes.lines.length - lines.length;
  part.append(element("h3", {}, "By function"));
  if (!lines.length)
    part.append(element("p.good", {}, "No function did anything else than before."));
  const rows = lines.flatMap((line) => {
    const numbers = line.numbers.length ? line.numbers : [["created", 0, 0]];
    return numbers.map(([name, was, now]) => ({ line, name, was, now }));
  });
  if (rows.length) {
    part.append(
      makeTable({
        id: "changes-table",
        rows,
        sort: [null, true],
        columns: [
          {
            key: "title",
            label: "function",
            text: true,
            name: true,
            value: (r) => r.line.title,
            show: (r) =>
              element(
                "span",
                {},
                name(r.line.title),
                r.line.state === "changed"
                  ? null
                  : element("span.tag" + (r.line.state === "new" ? ".bad" : ""), {}, r.line.state),
              ),
          },
          { key: "what", label: "number", text: true, value: (r) => LABELS[r.name] },
          { key: "was", label: "then", value: (r) => r.was, show: (r) => shown(r.name, r.was) },
          { key: "now", label: "now", value: (r) => r.now, show: (r) => shown(r.name, r.now) },
          {
            key: "change",
            label: "change",
            value: (r) => r.now - r.was,
            show: (r) =>
              element(
                "span" + changeClass(r.name, r.was, r.now),
                {},
                changeText(r.name, r.was, r.now),
              ),
          },
        ],
      }).element,
    );
  }
  if (changes.lines_more)
    part.append(element("p.small", {}, counted(changes.lines_more, "function") + " more changed."));
  if (times)
    part.append(
      element(
        "p.small",
        {},
        counted(times, "function") + " took another time, and did the same otherwise.",
      ),
    );
  for (const [name, title] of [
    ["objects", "Objects never freed"],
    ["misuse", "Misuse"],
  ]) {
    if (!changes[name].length) continue;
    part.append(
      element("h3", {}, title),
      element(
        "div.scroll.plain",
        {},
        element(
          "table",
          {},
          head("what"),
          element(
            "tbody",
            {},
            ...changes[name]
              .slice(0, 200)
              .map(([what, was, now]) =>
                element("tr", {}, element("td.text.name", {}, what), ...cells(name, was, now)),
              ),
          ),
        ),
      ),
    );
  }
}
