// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What is wrong: what was left behind, by who made it; callbacks that failed; misuse.

const freeOf = (kind) => `MPI_${data.kinds[kind]}_free`;
// data.ends has the kinds for which MPI itself has no keyvals.
const freeKeyvalOf = (kind) => `MPI${kind in data.ends ? "X" : ""}_${data.kinds[kind]}_free_keyval`;

// A list that shows its first entries, and the others if asked for.
function longList(items, first, make, style = "") {
  const list = element("ul.list" + style, {}, ...items.slice(0, first).map(make));
  if (items.length <= first) return list;
  const button = element(
    "button.button.screen-only",
    {
      type: "button",
      onclick: () => {
        list.append(...items.slice(first).map(make));
        button.remove();
      },
    },
    "Show all " + grouped(items.length),
  );
  return element("div", {}, list, button);
}

// What each maker left behind.
function makers() {
  const all = new Map();
  const of = (one) => {
    const key = [one.kind, one.library, one.function].join("\n");
    if (!all.has(key))
      all.set(key, {
        kind: one.kind,
        library: one.library,
        function: one.function,
        line: null,
        objects: [],
      });
    return all.get(key);
  };
  for (const line of data.keyvals) if (line.numbers[at.leaked]) of(line).line = line;
  for (const one of data.attached.items) of(one).objects.push(one);
  for (const line of data.keyvals) {
    const maker = all.get([line.kind, line.library, line.function].join("\n"));
    if (maker && !maker.line) maker.line = line;
  }
  const bad = (m) =>
    (m.line ? m.line.numbers[at.leaked] : 0) +
    d3.sum(
      m.objects.filter((o) => !o.deleted_by_finalize),
      (o) => o.attributes,
    );
  return [...all.values()].sort((a, b) => bad(b) - bad(a));
}

function makerCard(maker) {
  const entries = [];
  const leaked = maker.line ? maker.line.numbers[at.leaked] : 0;
  if (leaked) {
    entries.push(
      element(
        "li",
        {},
        element("b.count", { "data-value": leaked }, counted(leaked, "keyval")),
        ` never freed: no ${freeKeyvalOf(maker.kind)}`,
      ),
    );
  }
  for (const objects of groupedBy(maker.objects, fate).values()) {
    const sum = d3.sum(objects, (one) => one.attributes);
    const one = objects[0];
    entries.push(
      element(
        "li",
        {},
        element("b.count", { "data-value": sum }, counted(sum, "attribute")),
        one.deleted_by_finalize
          ? " that MPI_Finalize will delete"
          : one.predefined
            ? ` that ${data.mpi} never deletes`
            : ` whose delete_fn never ran: no ${data.ends[maker.kind] ?? freeOf(maker.kind)}`,
        longList(objects, 5, (o) =>
          element(
            "li",
            {},
            `on ${o.object}: `,
            element("span", { "data-value": o.attributes }, grouped(o.attributes)),
          ),
        ),
      ),
    );
  }
  const mild = !leaked && maker.objects.every((one) => one.deleted_by_finalize);
  return element(
    "div.card" + (mild ? ".mild" : ""),
    {},
    element(
      "h3",
      {},
      origin(maker),
      kindTag(maker.kind) ? element("span.tag", {}, kindTag(maker.kind)) : null,
    ),
    maker.line && maker.line.made_at
      ? element("p.under", {}, "made at ", element("span.code", {}, maker.line.made_at))
      : null,
    element("ul.list", {}, ...entries),
  );
}
const fate = (one) => (one.deleted_by_finalize ? "later" : one.predefined ? "never" : "lost");

// Objects that carried attributes at some time and were never freed, by where they came from.
function objectsPart() {
  const rows = data.objects.items;
  const sums = [...groupedBy(rows, (one) => one.kind)].map(([kind, list]) =>
    counted(
      d3.sum(list, (one) => one.count),
      kind,
    ),
  );
  const named = (o) =>
    o.names.join(", ") + (o.more_names ? ` and ${grouped(o.more_names)} more` : "");
  const table = makeTable({
    id: "objects-table",
    rows,
    sort: ["count", true],
    opened: (o) => element("p", {}, named(o)),
    columns: [
      {
        key: "place",
        label: "from",
        text: true,
        name: true,
        value: (o) => o.place || "unknown",
        show: (o) =>
          name(
            o.place ? (o.from === "dup" ? "dup at " : "used at ") + o.place : "unknown",
            ".code",
          ),
      },
      { key: "kind", label: "kind", text: true, value: (o) => o.kind },
      {
        key: "names",
        label: "names",
        text: true,
        name: true,
        minor: true,
        value: (o) => o.names.join("\n"),
        show: (o) => name(named(o)),
      },
      { key: "count", label: "objects", value: (o) => o.count },
    ],
  });
  return element(
    "div",
    {},
    element("h3", {}, "Objects never freed"),
    element(
      "p.under",
      {},
      sums.join(", ") +
        " whose attributes were used, and that were not freed before MPI_Finalize. The place is where a dup made them, or else " +
        "where their attributes were first used.",
    ),
    table.element,
    data.objects.more
      ? element(
          "p.small",
          {},
          `${counted(data.objects.more, "entry").replace("entrys", "entries")} more, with ${counted(data.objects.more_sum, "object")}.`,
        )
      : null,
  );
}

function misusePart() {
  return element(
    "div",
    {},
    element("h3", {}, "Misuse"),
    ...data.misuse.map((sort) => {
      const ranks = sort.on_ranks;
      return element(
        "div.card",
        {},
        element(
          "h3",
          {},
          element("b.count", { "data-value": sort.times }, grouped(sort.times)),
          " × " + sort.name,
          element("span.tag", {}, "on " + counted(ranks, "rank")),
        ),
        element(
          "p.under",
          {},
          sort.what + (sort.rule ? ". " + sort.rule : "") + (sort.what ? "." : ""),
        ),
        longList(sort.places.items, 6, (place) =>
          element(
            "li",
            {},
            "at ",
            element("span.code", {}, place.place),
            ": ",
            element("span", { "data-value": place.times }, grouped(place.times) + " times"),
            element(
              "span.tag",
              {},
              place.on_ranks === 1
                ? "rank " + place.ranks[0]
                : "on " + counted(place.on_ranks, "rank"),
            ),
          ),
        ),
        sort.places.more
          ? element("p.small", {}, `and ${grouped(sort.places.more)} more places`)
          : null,
      );
    }),
  );
}

function failuresPart(failing) {
  return element(
    "div",
    {},
    element("h3", {}, "Callbacks that failed"),
    element(
      "ul.list",
      {},
      ...failing.map((line) =>
        element(
          "li",
          {},
          element(
            "b.count",
            { "data-value": line.numbers[at.failed] },
            grouped(line.numbers[at.failed]),
          ),
          ` of ${grouped(line.numbers[at.copy_calls] + line.numbers[at.delete_calls])} calls of `,
          element("span.code", {}, origin(line)),
          `, the last with code ${line.last_failure}`,
        ),
      ),
    ),
  );
}

function findingsSection() {
  const part = section("findings", "What is wrong");
  const failing = data.keyvals.filter((line) => line.numbers[at.failed]);
  const left = makers();
  if (!left.length && !data.objects.items.length && !failing.length && !data.misuse.length) {
    part.append(
      element(
        "p.good",
        {},
        "Nothing is left behind, no callback failed, no misuse" +
          (data.checked ? "." : " was noticed. ATTRCACHE_CHECK=1 looks for more kinds of misuse."),
      ),
    );
    return;
  }
  if (left.length) {
    part.append(
      element("h3", {}, "Left behind, by who made it"),
      longList(left, 12, (maker) => element("li", {}, makerCard(maker)), ".cards"),
    );
    if (data.attached.more) {
      part.append(
        element(
          "p.small",
          {},
          `${grouped(data.attached.more)} more entries, with ${counted(data.attached.more_sum, "attribute")}, ` +
            "are in the JSON report.",
        ),
      );
    }
  }
  if (data.objects.items.length) part.append(objectsPart());
  if (failing.length) part.append(failuresPart(failing));
  if (data.misuse.length) part.append(misusePart());
  if (!data.checked)
    part.append(element("p.small", {}, "ATTRCACHE_CHECK=1 looks for more kinds of misuse."));
}
