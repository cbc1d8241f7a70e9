// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Who uses attributes: a chart and a table, by function or by library.

// Most keyvals are of the first kind, which goes without saying.
const kindTag = (kind) => (kind === Object.keys(data.kinds)[0] ? "" : kind);

// The rows of the table: one for each line of keyvals, or one for each library.
function userRows(by) {
  const rows = data.keyvals.map((line) => ({
    line,
    name: origin(line),
    kind: line.kind,
    numbers: line.numbers,
  }));
  if (by === "function") return rows;
  const libraries = new Map();
  for (const row of rows) {
    const name = row.line.library || "(unknown)";
    if (!libraries.has(name))
      libraries.set(name, { name, kind: Object.keys(data.kinds)[0], lines: [], numbers: NAMES.map(() => 0) });
    const library = libraries.get(name);
    library.lines.push(row.line);
    library.numbers = library.numbers.map((n, i) => n + row.numbers[i]);
  }
  return [...libraries.values()];
}

function userName(row) {
  if (!row.line) {
    return element(
      "span",
      {},
      name(row.name),
      element("span.library", {}, counted(row.lines.length, "function")),
    );
  }
  const { line } = row;
  const place = !line.function || line.function.startsWith("+");
  return element(
    "span",
    {},
    name(
      place ? origin(line) : line.function,
      "",
      origin(line) + (line.named_by === "caller" ? " (made there)" : ""),
    ),
    place ? null : element("span.library", {}, line.library),
    line.named_by === "caller" ? element("span.tag", {}, "made there") : null,
    kindTag(line.kind) ? element("span.tag", {}, kindTag(line.kind)) : null,
  );
}

// What a row says when it is opened: every number, and how it differs between ranks.
function userDetails(row) {
  const facts = [];
  if (row.line) {
    facts.push(["library", row.line.library || "unknown"]);
    facts.push([
      row.line.named_by === "caller" ? "made by" : "function",
      row.line.function || "unknown",
    ]);
    if (row.line.made_at) facts.push(["first made at", row.line.made_at]);
    facts.push(["of", row.line.kind + "s"]);
    facts.push(["on", counted(row.line.on_ranks, "rank")]);
    if (row.numbers[at.failed]) facts.push(["last failure", "code " + row.line.last_failure]);
  } else {
    facts.push(["functions", row.lines.map((line) => line.function || "(unknown)").join(", ")]);
  }
  const spreads = row.line ? row.line.spread : {};
  const several = data.per_rank.rank.length > 1 && row.line;
  const rank = (place) => data.per_rank.rank[place];
  const body = NAMES.map((name, i) => {
    const s = spreads[name];
    const cells = [
      element("th.text", { scope: "row" }, LABELS[name]),
      element(
        "td",
        { "data-value": row.numbers[i], "data-name": name },
        shown(name, row.numbers[i]),
      ),
    ];
    if (several) {
      cells.push(
        element(
          "td.text",
          {},
          s
            ? `${shown(name, s.least)} (rank ${rank(s.least_at)}) – ${shown(name, s.median)} – ${shown(name, s.most)} (rank ${rank(s.most_at)})`
            : "the same everywhere",
        ),
      );
      cells.push(element("td.text", {}, s ? outliersText(name, s) : ""));
    }
    return element("tr", {}, ...cells);
  });
  return element(
    "div",
    {},
    element(
      "dl",
      {},
      ...facts.flatMap(([name, value]) => [element("dt", {}, name), element("dd.code", {}, value)]),
    ),
    element(
      "div.scroll.plain",
      {},
      element(
        "table",
        {},
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            element("th.text", { scope: "col" }, "number"),
            element("th", { scope: "col" }, "all ranks"),
            ...(several
              ? [
                  element("th.text", { scope: "col" }, "least – median – most"),
                  element("th.text", { scope: "col" }, "outliers"),
                ]
              : []),
          ),
        ),
        element("tbody", {}, ...body),
      ),
    ),
  );
}

function outliersText(name, s) {
  if (!s.outliers_in_all) return "";
  const named = s.outliers
    .slice(0, 4)
    .map(([place, value]) => `rank ${data.per_rank.rank[place]}: ${shown(name, value)}`);
  const rest = s.outliers_in_all - named.length;
  return named.join(", ") + (rest > 0 ? ` and ${grouped(rest)} more` : "");
}

const number = (name, label, unit, more) => ({
  key: name,
  label,
  unit,
  value: (row) => row.numbers[at[name]],
  show: (row) => shown(name, row.numbers[at[name]]),
  ...more,
});

function usersSection() {
  const part = section(
    "users",
    "Who uses attributes",
    "By the library and function of each keyval's callbacks, summed over all ranks. Open a row for the rest.",
  );
  if (!data.keyvals.length) {
    part.append(element("p.good", {}, "No keyval was made."));
    return;
  }
  let by = "function";
  let measure = data.totals[at.callback_own_ns] ? "callback_own_ns" : "gets";
  let wanted = "";
  const chart = element("div.chart", { id: "users-chart" });
  const columns = [
    {
      key: "name",
      label: "function",
      text: true,
      name: true,
      value: (row) => row.name,
      show: userName,
    },
    number("created", "keyvals", "made", { minor: true }),
    number("freed", "freed", "keyvals", { minor: true }),
    number("sets", "sets", "calls", { wide: true }),
    number("gets", "gets", "found"),
    number("absent", "gets", "absent", { minor: true }),
    number("deletes", "deletes", "calls", { minor: true }),
    number("copies", "copied", "by dup", { minor: true }),
    {
      key: "callbacks",
      label: "callbacks",
      unit: "calls",
      minor: true,
      value: (row) => row.numbers[at.copy_calls] + row.numbers[at.delete_calls],
    },
    number("callback_own_ns", "callbacks", "time"),
  ];
  const totals = { numbers: data.totals };
  const foot = element(
    "tr",
    {},
    element("th.text", { scope: "row" }, "all"),
    ...columns.slice(1).map((column) => {
      const value = column.value(totals);
      return element(
        "td" + (column.minor ? ".minor" : "") + (column.wide ? ".wide" : ""),
        { "data-value": value, "data-name": column.key },
        column.show ? column.show(totals) : grouped(value),
      );
    }),
  );
  const table = makeTable({
    id: "users-table",
    columns,
    rows: userRows(by),
    sort: ["callback_own_ns", true],
    opened: userDetails,
    foot,
  });
  function update() {
    const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = userRows(by).filter((row) =>
      words.every((word) => (row.name + " " + row.kind).toLowerCase().includes(word)),
    );
    table.update(rows);
    const entries = rows
      .map((row) => ({
        name: row.name,
        short:
          row.line && row.line.function && !row.line.function.startsWith("+")
            ? row.line.function
            : row.name,
        value: row.numbers[at[measure]],
      }))
      .filter((entry) => entry.value > 0)
      .sort((a, b) => b.value - a.value)
      .slice(0, 10);
    chart.hidden = !entries.length;
    if (entries.length)
      barChart(
        replaceChart(chart),
        entries,
        measure,
        LABELS[measure] + ", the first " + entries.length,
      );
  }
  part.append(
    element(
      "div.tools",
      {},
      choice(
        "Rows",
        [
          ["function", "by function"],
          ["library", "by library"],
        ],
        by,
        (value) => {
          by = value;
          update();
        },
      ),
      choice(
        "Chart",
        [
          "callback_own_ns",
          "gets",
          "absent",
          "sets",
          "deletes",
          "copies",
          "delete_calls",
          "copy_calls",
          "created",
        ].map((name) => [name, LABELS[name]]),
        measure,
        (value) => {
          measure = value;
          update();
        },
      ),
      field("Find", "library or function", (value) => {
        wanted = value;
        update();
      }),
    ),
    chart,
    table.element,
  );
  if (data.keyvals_more) {
    part.append(
      element(
        "p.small",
        {},
        counted(data.keyvals_more, "line") +
          " with the least use are only in the JSON report, " +
          "and in the sums here.",
      ),
    );
  }
  update();
}

// A fresh element within a chart's frame, so that what watched the old one ends with it.
function replaceChart(frame) {
  const inner = element("div");
  frame.replaceChildren(inner);
  return inner;
}
