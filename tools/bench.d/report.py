# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Writes the results as JSON, table and page. Returns them sorted."""

import json
import os

import page
import series
import table


def write(results, folder, progress, costs_counted):
    sorted_out = series.Series(results)
    text = table.text(results, sorted_out)
    os.makedirs(folder, exist_ok=True)
    _write(folder, "bench.json",
           json.dumps({"context": results.context, "benchmarks": results.benchmarks},
                      indent=1))
    _write(folder, "bench.txt", text)
    _write(folder, "bench.html", page.page(results, sorted_out, text, costs_counted))
    print(text)
    for name in ("bench.json", "bench.txt", "bench.html"):
        progress(f"wrote {os.path.join(folder, name)}")
    return sorted_out


def _write(folder, name, text):
    with open(os.path.join(folder, name), "w") as file:
        file.write(text)
