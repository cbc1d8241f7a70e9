// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Sorts tables by their headings, which become buttons. A row that has details is a tbody of its own.
"use strict";

const valueOf = (item, column) => {
  const cell = (item.rows ? item.rows[0] : item).cells[column];
  return cell.dataset.v ?? cell.textContent;
};

function sort(heading) {
  const table = heading.closest("table");
  const column = heading.cellIndex;
  const items = table.tBodies.length > 1 ? [...table.tBodies] : [...table.tBodies[0].rows];
  const isText = heading.classList.contains("t");
  const falls = heading.ariaSort ? heading.ariaSort === "ascending" : !isText;
  const sorted = items.sort((a, b) => {
    const [first, second] = [valueOf(a, column), valueOf(b, column)];
    const order = isText ? first.localeCompare(second, undefined, { numeric: true }) : first - second;
    return falls ? -order : order;
  });
  for (const item of sorted) {
    if (item.rows) table.insertBefore(item, table.tFoot);
    else table.tBodies[0].append(item);
  }
  for (const other of heading.parentNode.cells) other.removeAttribute("aria-sort");
  heading.ariaSort = falls ? "descending" : "ascending";
}

for (const heading of document.querySelectorAll("thead th")) {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...heading.childNodes);
  heading.append(button);
  button.addEventListener("click", () => sort(heading));
}
