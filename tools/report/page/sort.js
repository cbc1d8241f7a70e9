// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Sorts tables by their headings, which become buttons.
"use strict";

function sort(heading) {
  const body = heading.closest("table").tBodies[0];
  const isText = heading.classList.contains("t");
  const falls = heading.ariaSort ? heading.ariaSort === "ascending" : !isText;
  const valueOf = (row) => {
    const cell = row.cells[heading.cellIndex];
    return cell.dataset.v ?? cell.textContent;
  };
  const sorted = [...body.rows].sort((a, b) => {
    const [first, second] = [valueOf(a), valueOf(b)];
    const order = isText ? first.localeCompare(second, undefined, { numeric: true }) : first - second;
    return falls ? -order : order;
  });
  body.append(...sorted);
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
