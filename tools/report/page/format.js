// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Numbers and names as people read them; elements. Text comes into the page as text only, never as
// HTML.

const data = JSON.parse(document.getElementById("data").textContent);
const NAMES = data.names;
const at = Object.fromEntries(NAMES.map((name, i) => [name, i]));
const LABELS = {
  created: "keyvals made",
  freed: "keyvals freed",
  leaked: "keyvals never freed",
  sets: "sets",
  gets: "gets, found",
  absent: "gets, absent",
  deletes: "deletes",
  copies: "copied by dup",
  deleted_with_object: "deleted with their object",
  attached: "attributes left",
  copy_calls: "calls of copy_fn",
  delete_calls: "calls of delete_fn",
  failed: "callbacks that failed",
  callback_ns: "time in callbacks, with those they cause",
  callback_own_ns: "time in callbacks",
  misuse: "misuse",
  objects: "objects never freed",
  seconds: "MPI_Init to the end",
};
const isTime = (name) => name === "callback_ns" || name === "callback_own_ns" || name === "seconds";

const grouped = d3.format(",");
// Nanoseconds with a unit, to three digits.
function duration(ns) {
  if (ns === 0) return "0";
  const [unit, size] =
    ns < 999.5 ? ["ns", 1] : ns < 999.5e3 ? ["µs", 1e3] : ns < 999.5e6 ? ["ms", 1e6] : ["s", 1e9];
  const value = ns / size;
  return (
    (unit === "ns"
      ? grouped(Math.round(value))
      : value < 9.995
        ? value.toFixed(2)
        : value < 99.95
          ? value.toFixed(1)
          : grouped(Math.round(value))) +
    "\u00a0" +
    unit
  );
}
// A number by its name, with its unit where it has one.
const shown = (name, value) =>
  name === "seconds" ? duration(value * 1e9) : isTime(name) ? duration(value) : grouped(value);
// Likewise at an axis, where the ticks are round numbers.
const ticked = (name, value) =>
  isTime(name)
    ? shown(name, value).replace(/\.?0+(?=\u00a0)/, (zeros) => (zeros.startsWith(".") ? "" : zeros))
    : d3.format(",.3~s")(value);
const counted = (n, noun) => grouped(n) + "\u00a0" + noun + (n === 1 ? "" : "s");

// Library and function as people write them.
function origin(line) {
  if (!line.function) return line.library || "(unknown)";
  return line.library + (line.function.startsWith("+") ? "" : ": ") + line.function;
}

// A map from what `of` says of an item to the list of those items.
function groupedBy(items, of) {
  const groups = new Map();
  for (const item of items) {
    const key = of(item);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(item);
  }
  return groups;
}

// element("td.name", {title: "x"}, child or text, ...)
function element(what, attributes, ...children) {
  const [tag, ...classes] = what.split(".");
  const made = document.createElement(tag);
  if (classes.length) made.className = classes.join(" ");
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null && value !== undefined)
      made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

// A name that may be broken where people would, and is shown as a whole if it is pointed at or its
// row is opened.
function name(text, more = "", whole = text) {
  const made = element("span.cut" + more, { title: whole });
  for (const piece of text.split(/(?<=[_,:./])/)) made.append(piece, document.createElement("wbr"));
  return made;
}

// A section of the page, with its entry in the navigation.
function section(id, title, about) {
  const made = element(
    "section",
    { id, "aria-labelledby": id + "-title" },
    element("h2", { id: id + "-title" }, title),
  );
  if (about) made.append(element("p", {}, about));
  document.getElementById("content").append(made);
  document
    .getElementById("sections")
    .append(element("li", {}, element("a", { href: "#" + id }, title)));
  return made;
}

// A field with its label; `change` is called with its value.
function choice(label, options, value, change) {
  const select = element(
    "select",
    { onchange: () => change(select.value) },
    ...options.map(([name, text]) =>
      element("option", { value: name, selected: name === value }, text),
    ),
  );
  return element("label", {}, label, select);
}
function field(label, hint, change) {
  const input = element("input", {
    type: "search",
    placeholder: hint,
    spellcheck: "false",
    autocomplete: "off",
    oninput: () => change(input.value),
  });
  return element("label", {}, label, input);
}

const tip = document.getElementById("tip");
function showTip(text, x, y) {
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 4)) + "px";
  tip.style.top =
    (y + 18 + box.height > innerHeight ? Math.max(4, y - box.height - 10) : y + 18) + "px";
}

// Draws now, and again whenever the width or what the colors are has changed.
const redraws = [];
function drawn(container, draw) {
  let width = 0;
  const again = () => {
    const now = Math.floor(container.clientWidth);
    if (now > 0) draw((width = now));
  };
  new ResizeObserver(() => {
    if (Math.floor(container.clientWidth) !== width) again();
  }).observe(container);
  redraws.push(again);
  return again;
}
for (const query of ["print", "(prefers-color-scheme: dark)"]) {
  matchMedia(query).addEventListener("change", () => redraws.forEach((again) => again()));
}
addEventListener("beforeprint", () => redraws.forEach((again) => again()));
