// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The head of the page, and its sections in their order.

function head() {
  const set = (id, text) => {
    document.getElementById(id).textContent = text;
  };
  const several = data.ranks !== 1;
  set("title", `The attributes of ${counted(data.ranks, "rank")} of ${data.mpi}`);
  if (data.command) {
    set("command", data.command);
    document.getElementById("command").hidden = false;
  }
  const hosts = data.per_rank.hosts.length;
  set(
    "facts",
    [
      `MPI_Init to ${data.finalized ? "MPI_Finalize" : "the end"}: ${duration(data.seconds * 1e9)}`,
      hosts > 1
        ? counted(hosts, "host")
        : data.per_rank.hosts[0]
          ? "host " + data.per_rank.hosts[0]
          : "",
      data.written,
    ]
      .filter(Boolean)
      .join(" · "),
  );
  set(
    "written",
    `Written by attrcache ${data.attrcache} on ${data.written}. Nothing in this page comes from elsewhere.`,
  );
  const notes = [];
  if (!data.finalized) notes.push("MPI_Finalize was not called on all ranks.");
  if (data.partial.length) {
    const named = data.partial.slice(0, 8).join(", ") + (data.partial.length > 8 ? ", ..." : "");
    notes.push(`Partial, for they were ended from outside or aborted: ranks ${named}.`);
  }
  if (data.ranks_heard_of < data.ranks) {
    notes.push(
      `Heard of ${counted(data.ranks_heard_of, "rank")} only${data.finalized ? ": others are not served by attrcache, or were killed." : "."}`,
    );
  }
  for (const [kind, ranks] of Object.entries(data.not_served)) {
    if (ranks)
      notes.push(
        `Not counted: ${kind}s, on ${counted(ranks, "rank")}, because a tool in front wraps their functions.`,
      );
  }
  document.getElementById("notes").append(...notes.map((text) => element("li", {}, text)));
  const total = (name) => data.totals[at[name]];
  const left = total("leaked") + total("attached");
  const misused = d3.sum(data.misuse, (sort) => sort.times);
  const figures = [
    ["created", "keyvals made", grouped(total("created")), total("created")],
    ["sets", "sets", grouped(total("sets")), total("sets")],
    ["gets", "gets, found", grouped(total("gets")), total("gets")],
    ["absent", "gets, absent", grouped(total("absent")), total("absent")],
    ["copies", "copied by dup", grouped(total("copies")), total("copies")],
    [
      "callbacks",
      "callbacks",
      grouped(total("copy_calls") + total("delete_calls")),
      total("copy_calls") + total("delete_calls"),
    ],
    [
      "callback_own_ns",
      "in callbacks" + (several ? ", all ranks" : ""),
      duration(total("callback_own_ns")),
      total("callback_own_ns"),
    ],
    ["left", "keyvals and attributes left", grouped(left), left, true],
    ["failed", "callbacks failed", grouped(total("failed")), total("failed"), true],
    ["misuse", "times misuse", grouped(misused), misused, true],
  ];
  document
    .getElementById("figures")
    .append(
      ...figures.map(([name, label, text, value, bad]) =>
        element(
          "div.figure" + (bad && value ? ".bad" : ""),
          { "data-name": name, "data-value": value },
          element("b", {}, text),
          element("span", {}, label),
        ),
      ),
    );
}

head();
changesSection();
findingsSection();
usersSection();
ranksSection();
timelineSection();
document.documentElement.dataset.ready = String(Math.round(performance.now()));
