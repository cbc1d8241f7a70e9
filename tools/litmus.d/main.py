# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What tools/litmus runs: every scenario for every processor, and the table of herd's verdicts."""

import argparse
import os
import sys
import tempfile

import aarch64
import tests
import trace
from scenarios import SCENARIOS


def options():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep")
    parser.add_argument("--seconds", type=int, default=900)
    return parser.parse_args()


class Count:
    def __init__(self):
        self.passed, self.failed, self.not_expressible, self.notes = 0, [], [], set()

    def add(self, arch, scenario, removed, verdict, notes):
        """One test; `removed` is empty for the code as it is."""
        self.notes |= {f"{arch.name}: {note}" for note in notes}
        name = f"{arch.name}: {scenario.name}" + (f", without {removed}" if removed else "")
        wanted = "Sometimes" if removed else "Never"
        if verdict.verdict.startswith("not expressible"):
            self.not_expressible.append(f"{name}: {verdict.verdict}")
            mark = "not expressible"
        elif verdict.verdict == wanted or (removed and verdict.verdict == "Always"):
            self.passed += 1
            mark = "passed"
        else:
            self.failed.append(f"{name}: {verdict.verdict}, and not {wanted}")
            mark = "FAILED"
        row = (arch.name, scenario.name, f"without {removed}" if removed else "as compiled", verdict.verdict.split(":")[0],
               f"{verdict.states} states", f"{verdict.seconds:.1f} s", mark)
        print("%-20s %-24s %-38s %-16s %10s %8s  %s" % row, flush=True)


def main():
    chosen = options()
    count = Count()
    with tempfile.TemporaryDirectory() as scratch:
        folder = chosen.keep or scratch
        os.makedirs(folder, exist_ok=True)
        print("herd7 " + trace.run(["herd7", "-version"]).strip())
        for arch in aarch64.ARCHES:
            wanted = [s for s in SCENARIOS if chosen.only in s.name or chosen.only in arch.name]
            if not wanted:
                continue
            try:
                program = trace.Program(arch, scratch)
            except (trace.Failed, OSError) as why:
                count.failed.append(f"{arch.name}: {why}")
                continue
            print(f"{arch.name}: {program.compiler}", flush=True)
            for scenario in wanted:
                for found in tests.check(program, scenario, folder, chosen.seconds):
                    count.add(arch, scenario, *found)
    print()
    for scenario in SCENARIOS:
        print(f"{scenario.name}: that {scenario.never}")
    print()
    for line in sorted(count.notes):
        print("replaced, " + line)
    for line in count.not_expressible:
        print("NOT EXPRESSIBLE " + line)
    for line in count.failed:
        print("FAILED " + line)
    print(f"{count.passed} passed, {len(count.failed)} failed")
    return 0 if count.passed and not count.failed else 1


if __name__ == "__main__":
    sys.exit(main())
