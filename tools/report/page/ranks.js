// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// How ranks differ: one number over all of them, the quartiles of each number, and the ranks that
// stand out.

// A number of the rank at a place; columns that are the same on all ranks have one value.
const ofRank = (name, place) => {
  const column = data.per_rank.numbers[name];
  return Array.isArray(column) ? column[place] : column;
};

const RANK_COLUMNS = [
  "created",
  "leaked",
  "sets",
  "gets",
  "absent",
  "deletes",
  "copies",
  "attached",
  "copy_calls",
  "delete_calls",
  "failed",
  "callback_own_ns",
  "misuse",
  "objects",
  "seconds",
];

function ranksSection() {
  const { rank, hosts, host, pid, spread } = data.per_rank;
  if (rank.length < 2) return;
  const part = section("ranks", "Differences between ranks");
  const counts = RANK_COLUMNS.filter((name) => spread[name] && !isTime(name));
  const outliers = outlierRows();
  const differ = RANK_COLUMNS.filter((name) => spread[name]);
  part.append(
    element(
      "p",
      {},
      counts.length
        ? `The ranks differ in: ${counts.map((name) => LABELS[name]).join(", ")}. ` +
            (rank.length < 8
              ? ""
              : outliers.length
                ? `${counted(outliers.length, "rank")} stand${outliers.length === 1 ? "s" : ""} out.`
                : "No rank stands out.")
        : "All ranks did the same, but for the time it took." +
            (outliers.length
              ? ` ${counted(outliers.length, "rank")} stand${outliers.length === 1 ? "s" : ""} out by time.`
              : ""),
    ),
  );
  if (differ.length) {
    let shownName =
      counts.find((name) => spread[name].outliers_in_all) ||
      (spread.callback_own_ns ? "callback_own_ns" : differ[0]);
    const chart = element("div.chart", { id: "ranks-chart" });
    const draw = () =>
      rankChart(
        replaceChart(chart),
        rank,
        rank.map((_, i) => ofRank(shownName, i)),
        spread[shownName],
        shownName,
      );
    part.append(
      element(
        "div.tools",
        {},
        choice(
          "Number",
          differ.map((name) => [name, LABELS[name]]),
          shownName,
          (value) => {
            shownName = value;
            draw();
          },
        ),
      ),
      chart,
    );
    draw();
  }
  if (rank.length > 8 && differ.length)
    part.append(element("h3", {}, "Each number over the ranks"), spreadTable(differ));
  part.append(
    element("h3", {}, outliers.length ? "Ranks, those that stand out first" : "Ranks"),
    rankTable(outliers),
  );

  function outlierRows() {
    const found = new Map();
    for (const name of RANK_COLUMNS) {
      if (!spread[name]) continue;
      for (const [place] of spread[name].outliers) {
        if (!found.has(place)) found.set(place, []);
        found.get(place).push(name);
      }
    }
    return [...found];
  }
  function spreadTable(names) {
    const named = (name, value, place) =>
      shown(name, value) + (place === undefined ? "" : ` (rank ${rank[place]})`);
    return element(
      "div.scroll.plain",
      {},
      element(
        "table",
        { id: "spread-table" },
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            ...[
              "number",
              "least",
              "lower quartile",
              "median",
              "upper quartile",
              "most",
              "outliers",
            ].map((text, i) =>
              element(
                "th" + (i === 0 || i === 6 ? ".text" : i === 2 || i === 4 ? ".minor" : ""),
                { scope: "col" },
                text,
              ),
            ),
          ),
        ),
        element(
          "tbody",
          {},
          ...names.map((name) => {
            const s = spread[name];
            return element(
              "tr",
              { "data-name": name },
              element("th.text", { scope: "row" }, LABELS[name]),
              element("td", { "data-value": s.least }, named(name, s.least, s.least_at)),
              element("td.minor", { "data-value": s.low }, named(name, s.low)),
              element("td", { "data-value": s.median }, named(name, s.median)),
              element("td.minor", { "data-value": s.high }, named(name, s.high)),
              element("td", { "data-value": s.most }, named(name, s.most, s.most_at)),
              element("td.text.name", {}, outliersText(name, s)),
            );
          }),
        ),
      ),
    );
  }
  function rankTable(out) {
    const stands = new Map(out);
    const rows = rank.map((_, place) => place);
    const differing = IN_RANK_TABLE.filter((name) => spread[name] || rank.length <= 8);
    const main = differing.filter(
      (name) => ["gets", "callback_own_ns"].includes(name) || differing.length < 4,
    );
    const columns = [
      {
        key: "rank",
        label: "rank",
        plain: true,
        value: (p) => rank[p],
        show: (p) => element("span", {}, grouped(rank[p])),
      },
      {
        key: "out",
        label: "stands out by",
        text: true,
        name: true,
        value: (p) =>
          (stands.get(p) || []).length
            ? stands
                .get(p)
                .map((n) => LABELS[n])
                .join(", ")
            : "",
      },
      ...differing.map((name) => ({
        key: name,
        label: RANK_HEADS[name][0],
        unit: RANK_HEADS[name][1],
        value: (p) => ofRank(name, p),
        show: (p) => shown(name, ofRank(name, p)),
        minor: !main.includes(name),
        bad: ["leaked", "failed"].includes(name),
      })),
      {
        key: "host",
        label: "host",
        text: true,
        minor: true,
        value: (p) => hosts[Array.isArray(host) ? host[p] : host],
      },
      {
        key: "pid",
        label: "process",
        minor: true,
        plain: true,
        value: (p) => pid[p],
        show: (p) => String(pid[p]),
      },
    ].filter((column) => column.key !== "out" || out.length);
    let wanted = "";
    const first = rows
      .slice()
      .sort((a, b) => (stands.get(b) || []).length - (stands.get(a) || []).length || a - b);
    const table = makeTable({
      id: "ranks-table",
      columns,
      rows: first,
      sort: [out.length ? null : "rank", false],
      limit: rank.length <= 64 ? 64 : 20,
    });
    const find = field("Find", "ranks (7, 16-31) or a host", (value) => {
      wanted = value.trim();
      const has = rankFilter(wanted);
      table.update(
        first.filter(
          (p) =>
            has(rank[p]) ||
            (wanted && hosts[Array.isArray(host) ? host[p] : host].includes(wanted)),
        ),
      );
    });
    const same = IN_RANK_TABLE.filter((name) => !differing.includes(name) && ofRank(name, 0));
    return element(
      "div",
      {},
      same.length
        ? element(
            "p.small",
            {},
            "The same on all ranks: " +
              same.map((name) => `${LABELS[name]} ${shown(name, ofRank(name, 0))}`).join("; ") +
              ".",
          )
        : null,
      rank.length > 16 ? element("div.tools", {}, find) : null,
      table.element,
    );
  }
}

const IN_RANK_TABLE = [
  "created",
  "leaked",
  "sets",
  "gets",
  "absent",
  "deletes",
  "copies",
  "attached",
  "failed",
  "callback_own_ns",
];
const RANK_HEADS = {
  created: ["keyvals", "made"],
  leaked: ["keyvals", "never freed"],
  sets: ["sets", "calls"],
  gets: ["gets", "found"],
  absent: ["gets", "absent"],
  deletes: ["deletes", "calls"],
  copies: ["copied", "by dup"],
  attached: ["attributes", "left"],
  failed: ["callbacks", "failed"],
  callback_own_ns: ["callbacks", "time"],
};

// "7, 16-31" as a function of a rank; everything if it is empty.
function rankFilter(text) {
  const ranges = text
    .split(",")
    .map((piece) => /^\s*(\d+)\s*(?:[-–]\s*(\d+))?\s*$/.exec(piece))
    .filter(Boolean)
    .map(([, from, to]) => [Number(from), Number(to === undefined ? from : to)]);
  return (rank) => !text.trim() || ranges.some(([from, to]) => rank >= from && rank <= to);
}
