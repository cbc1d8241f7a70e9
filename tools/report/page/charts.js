// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Bars by name, and one number over all ranks.

// Cuts a text to so many letters; the whole is in the title beside it.
const short = (text, letters) =>
  text.length <= letters ? text : text.slice(0, Math.max(1, letters - 1)) + "…";

// Horizontal bars: entries are {name, short, value}, the largest first; `short` is what is written
// if the name doesn't fit. `name` names the number.
function barChart(container, entries, name, label) {
  const height = entries.length * 24 + 26;
  drawn(container, (width) => {
    const left = Math.min(width * 0.45, 320);
    const right = 70;
    const x = d3
      .scaleLinear()
      .domain([0, d3.max(entries, (e) => e.value) || 1])
      .range([left, width - right]);
    const y = d3
      .scaleBand()
      .domain(entries.map((_, i) => i))
      .range([0, height - 26])
      .padding(0.25);
    const svg = d3
      .create("svg")
      .attr("viewBox", [0, 0, width, height])
      .attr("role", "img")
      .attr("aria-label", label);
    const row = svg
      .selectAll("g")
      .data(entries)
      .join("g")
      .attr("transform", (_, i) => `translate(0,${y(i)})`);
    row.append("title").text((e) => e.name + ": " + shown(name, e.value));
    row
      .append("text")
      .attr("x", left - 8)
      .attr("y", y.bandwidth() / 2)
      .attr("dy", "0.35em")
      .attr("text-anchor", "end")
      .text((e) => (e.name.length <= left / 6.9 ? e.name : short(e.short, Math.floor(left / 6.9))));
    row
      .append("rect")
      .attr("class", "bar")
      .attr("x", left)
      .attr("rx", 2)
      .attr("height", y.bandwidth())
      .attr("width", (e) => Math.max(e.value > 0 ? 1 : 0, x(e.value) - left));
    row
      .append("text")
      .attr("class", "faint")
      .attr("x", (e) => x(e.value) + 6)
      .attr("y", y.bandwidth() / 2)
      .attr("dy", "0.35em")
      .text((e) => shown(name, e.value));
    svg
      .append("g")
      .attr("class", "axis")
      .attr("transform", `translate(0,${height - 22})`)
      .call(
        d3
          .axisBottom(x)
          .ticks(Math.max(2, Math.min(6, (width - left) / 110)))
          .tickSizeOuter(0)
          .tickFormat((v) => ticked(name, v)),
      );
    container.replaceChildren(svg.node());
  })();
}

// One number over all ranks: a dot for each, those that stand out in another color and by name.
function rankChart(container, ranks, values, spread, name) {
  const height = 230;
  const margin = { left: 66, right: 16, top: 14, bottom: 34 };
  const out = new Map(spread ? spread.outliers.map(([place, value]) => [place, value]) : []);
  const label =
    LABELS[name] +
    " of " +
    counted(ranks.length, "rank") +
    (spread
      ? ": from " +
        shown(name, spread.least) +
        " to " +
        shown(name, spread.most) +
        ", median " +
        shown(name, spread.median)
      : ": all " + shown(name, values[0]));
  drawn(container, (width) => {
    const x = d3
      .scaleLinear()
      .domain([d3.min(ranks) - 0.5, d3.max(ranks) + 0.5])
      .range([margin.left, width - margin.right]);
    const y = d3
      .scaleLinear()
      .domain([0, d3.max(values) || 1])
      .nice(4)
      .range([height - margin.bottom, margin.top]);
    const svg = d3
      .create("svg")
      .attr("viewBox", [0, 0, width, height])
      .attr("role", "img")
      .attr("aria-label", label);
    svg
      .append("g")
      .attr("class", "axis")
      .attr("transform", `translate(0,${height - margin.bottom})`)
      .call(
        d3
          .axisBottom(x)
          .ticks(Math.min(ranks.length, width / 70))
          .tickFormat((v) => (v % 1 ? "" : grouped(v)))
          .tickSizeOuter(0),
      );
    svg
      .append("g")
      .attr("class", "axis")
      .attr("transform", `translate(${margin.left},0)`)
      .call(
        d3
          .axisLeft(y)
          .ticks(4)
          .tickFormat((v) => ticked(name, v))
          .tickSizeOuter(0),
      );
    svg
      .append("text")
      .attr("class", "faint")
      .attr("x", width - margin.right)
      .attr("y", height - 3)
      .attr("text-anchor", "end")
      .text("rank");
    if (ranks.length <= 48) {
      const wide = Math.max(2, Math.min(46, (x(1) - x(0)) * 0.6));
      svg
        .append("g")
        .selectAll("rect")
        .data(values)
        .join("rect")
        .attr("class", (_, i) => (out.has(i) ? "dot out" : "dot"))
        .attr("x", (_, i) => x(ranks[i]) - wide / 2)
        .attr("width", wide)
        .attr("rx", 1)
        .attr("y", y)
        .attr("height", (v) => y(0) - y(v))
        .append("title")
        .text((v, i) => "rank " + ranks[i] + ": " + shown(name, v));
    } else {
      const radius = ranks.length > 500 ? 1.6 : 2.6;
      svg
        .append("path")
        .attr("class", "dot")
        .attr(
          "d",
          values
            .map((v, i) =>
              out.has(i)
                ? ""
                : `M${x(ranks[i]).toFixed(1)},${y(v).toFixed(1)}m${-radius},0` +
                  `a${radius},${radius} 0 1,0 ${2 * radius},0a${radius},${radius} 0 1,0 ${-2 * radius},0`,
            )
            .join(""),
        );
    }
    if (spread) {
      svg
        .append("line")
        .attr("class", "median")
        .attr("x1", margin.left)
        .attr("x2", width - margin.right)
        .attr("y1", y(spread.median))
        .attr("y2", y(spread.median));
      const named = svg
        .append("g")
        .selectAll("g")
        .data(ranks.length > 48 ? [...out] : [])
        .join("g");
      named
        .append("circle")
        .attr("class", "dot out")
        .attr("r", 4)
        .attr("cx", ([i]) => x(ranks[i]))
        .attr("cy", ([, v]) => y(v))
        .append("title")
        .text(([i, v]) => "rank " + ranks[i] + ": " + shown(name, v));
      const taken = []; // so that names don't lie upon one another
      named
        .filter(([i, v]) => {
          const here = [x(ranks[i]), y(v)];
          const free = taken.every(
            ([px, py]) => Math.abs(px - here[0]) > 64 || Math.abs(py - here[1]) > 13,
          );
          if (free) taken.push(here);
          return free;
        })
        .append("text")
        .attr("y", ([, v]) => y(v) - 7)
        .attr("x", ([i]) => x(ranks[i]))
        .attr("text-anchor", ([i]) =>
          x(ranks[i]) > width - 60 ? "end" : x(ranks[i]) < 110 ? "start" : "middle",
        )
        .text(([i]) => "rank " + ranks[i]);
    }
    container.replaceChildren(svg.node());
  })();
}
