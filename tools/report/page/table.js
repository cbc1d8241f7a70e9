// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Tables: sorted by their headings, which are buttons; with a few rows first, and more if asked
// for; with rows that can be opened.

const FIRST_ROWS = 50;

// columns: {key, label, unit, value: row => number or string, show: row => text or node, text,
// minor, wide, name}: minor and wide ones are left out where there is little room, or least
// options: {columns, rows, sort: [key, descending], opened: row => node, foot: [...], caption,
// limit, id} Returns {element, update(rows)}.
function makeTable(options) {
  const { columns, opened } = options;
  let rows = options.rows;
  let [key, descending] = options.sort || [null, true];
  let limit = options.limit || FIRST_ROWS;
  const headings = {};
  const body = element("tbody");
  const head = element(
    "tr",
    {},
    ...columns.map((column) => {
      const arrow = element("span.arrow", { "aria-hidden": "true" });
      const button = element(
        "button",
        { type: "button", onclick: () => sortBy(column) },
        column.label,
        arrow,
        column.unit ? element("span.unit", {}, column.unit) : null,
      );
      const made = element(
        "th" + classes(column),
        { scope: "col", "data-key": column.key },
        button,
      );
      headings[column.key] = { made, arrow };
      return made;
    }),
  );
  const more = element("button.button.screen-only", {
    type: "button",
    onclick: () => {
      limit = Infinity;
      fill();
    },
  });
  const table = element(
    "table",
    { id: options.id },
    options.caption ? element("caption", {}, options.caption) : null,
    element("thead", {}, head),
    body,
    options.foot ? element("tfoot", {}, options.foot) : null,
  );

  function classes(column) {
    return (
      (column.text ? ".text" : "") +
      (column.minor ? ".minor" : "") +
      (column.wide ? ".wide" : "") +
      (column.name ? ".name" : "")
    );
  }
  function sortBy(column) {
    descending = key === column.key ? !descending : !column.text;
    key = column.key;
    fill();
  }
  function ordered() {
    const column = columns.find((one) => one.key === key);
    if (!column) return rows;
    const sign = descending ? -1 : 1;
    return rows
      .map((row, i) => [column.value(row), i, row])
      .sort(
        (a, b) =>
          sign * (typeof a[0] === "string" ? a[0].localeCompare(b[0]) : a[0] - b[0]) || a[1] - b[1],
      )
      .map((entry) => entry[2]);
  }
  function cell(column, row) {
    const value = column.value(row);
    const content = column.show ? column.show(row) : column.text ? value : grouped(value);
    const made = element(
      "td" + classes(column),
      typeof value === "number" ? { "data-value": value } : {},
      content,
    );
    if (value === 0 && !column.text && !column.plain) {
      made.classList.add("zero");
      made.replaceChildren("–");
    }
    if (column.bad && value > 0) made.classList.add("failed");
    return made;
  }
  function rowOf(row) {
    const made = element("tr", {}, ...columns.map((column) => cell(column, row)));
    if (!opened) return [made];
    const under = element("tr.more", { hidden: true }, element("td", { colspan: columns.length }));
    const first = made.firstChild;
    const button = element(
      "button.expander",
      {
        type: "button",
        "aria-expanded": "false",
        onclick: () => {
          const open = under.hidden;
          if (open && !under.firstChild.firstChild) under.firstChild.append(opened(row));
          under.hidden = !open;
          made.classList.toggle("opened", open);
          button.setAttribute("aria-expanded", String(open));
        },
      },
      element("span", {}, ...first.childNodes),
    );
    first.replaceChildren(button);
    return [made, under];
  }
  function fill() {
    for (const [name, { made, arrow }] of Object.entries(headings)) {
      made.removeAttribute("aria-sort");
      arrow.textContent = "";
      if (name === key) {
        made.setAttribute("aria-sort", descending ? "descending" : "ascending");
        arrow.textContent = descending ? "▾" : "▴";
      }
    }
    const sorted = ordered();
    const visible = sorted.slice(0, limit);
    body.replaceChildren(...visible.flatMap(rowOf));
    more.hidden = visible.length === sorted.length;
    more.textContent = "Show all " + grouped(sorted.length) + " rows";
    note.hidden = more.hidden;
    note.textContent = grouped(sorted.length - visible.length) + " more rows are not shown.";
    if (!sorted.length) {
      body.append(
        element(
          "tr",
          {},
          element("td.text", { colspan: columns.length }, options.empty || "Nothing matches."),
        ),
      );
    }
  }
  const note = element("p.small");
  fill();
  return {
    element: element(
      "div.table",
      {},
      element("div.scroll" + (opened ? "" : ".plain"), {}, table),
      note,
      more,
    ),
    update(now) {
      rows = now;
      fill();
    },
  };
}
