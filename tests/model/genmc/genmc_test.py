#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs the harnesses of this folder in GenMC (https://github.com/MPI-SWS/genmc), an independent model checker,
if it is on the PATH. Otherwise says so, and only checks that the harnesses compile and the mutants fit. Needs the
clang and opt of the LLVM that GenMC was built with.

  tests/model/genmc/genmc_test.py [TEXT]      only the scenarios and mutants whose line contains TEXT

Prints a line for each scenario: how many executions of RC11 there are, and what was found. Then it breaks a copy of
the library in several places, and GenMC must find each.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
SCENARIOS = {
    "pair_two_words": ["claim", "peeks", "replacements", "same_meta", "two_of_the_same"],
    "tombs": ["one_holder", "two_holders"],
}
# Scenario, file of lib/, the text that is there once, and its replacement.
MUTANTS = [
    ("tombs one_holder", "platform/asymmetric_fence.h",
     "kernel_fence();\n    } else {\n      full_fence();", "kernel_fence();\n    } else {"),
    ("tombs one_holder", "platform/asymmetric_fence.h",
     "cell.store(what, kRelease);", "cell.store(what, kRelaxed);"),
    ("tombs one_holder", "platform/asymmetric_fence.h",
     "return cell.load(kAcquire);", "return cell.load(kRelaxed);"),
    ("pair_two_words replacements", "platform/two_step_load.h",
     "value.load(kAcquire)", "value.load(kRelaxed)"),
    ("pair_two_words two_of_the_same", "platform/pair_two_words.h",
     "if (same) value_.store(desired.value, kRelease);", "if (same) value_.store(desired.value, kRelaxed);"),
    ("pair_two_words same_meta", "platform/pair_two_words.h",
     "const bool same = value_.load(kRelaxed) == expected.value;", "const bool same = true;"),
    ("tombs two_holders", "readers/tomb.h",
     "return state.compare_exchange_strong(now, with(now, kTaken), kRelaxed, kRelaxed);",
     "state.store(with(now, kTaken), kRelaxed); return true;"),
]


def compile_harness(compiler, harness, scenario, lib, options):
    subprocess.run([compiler, "-std=c++20", "-DATTRCACHE_MODEL", "-DSCENARIO=" + scenario,
                    "-I" + ROOT, "-I" + lib, "-I" + lib + "/include"] + options +
                   ["%s/%s.cc" % (HERE, harness)], check=True)


def mutated(path, old, new, name):
    with open(ROOT + "/lib/" + path) as f:
        text = f.read()
    if text.count(old) != 1:
        sys.exit("a mutant fits in %d places: %s" % (text.count(old), name))
    return text.replace(old, new)


class Checker:
    def __init__(self, genmc, scratch):
        self.genmc = genmc
        self.scratch = scratch
        version = subprocess.run([genmc, "--version"], capture_output=True, text=True).stdout
        self.llvm = re.search(r"LLVM (\d+)", version).group(1)

    def library(self, changed=None, text=None):
        """A copy of lib/, in which the changed file has this text."""
        lib = self.scratch + "/lib"
        shutil.rmtree(lib, ignore_errors=True)
        shutil.copytree(ROOT + "/lib", lib)
        if changed is not None:
            with open(lib + "/" + changed, "w") as f:
                f.write(text)
        return lib

    def check(self, harness, scenario, lib):
        """(executions explored, what was found or "")"""
        code, inlined = self.scratch + "/code.ll", self.scratch + "/inlined.ll"
        compile_harness("clang++-" + self.llvm, harness, scenario, lib,
                        ["-O1", "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm", "-o", code])
        # GenMC supports no structures, so passes must remove them; but other passes may add reads, which would be races.
        passes = "function(sroa,early-cse,simplifycfg)"
        subprocess.run(["opt-" + self.llvm, "-S", "-inline-threshold=100000", "-o", inlined, code,
                        "-passes=cgscc(inline,%s),%s" % (passes, passes)], check=True)
        # With in-place revisiting (IPR), GenMC stops at atomic writes that are merely unordered, before it finds an error.
        log = subprocess.run([self.genmc, "--disable-estimation", "--disable-ipr", "--input-from-bitcode-file", inlined],
                             capture_output=True, text=True)
        said = log.stdout + log.stderr
        found = re.search(r"^Error: (.*)", said, re.M)
        if ("Verification unsuccessful" if found else "Verification complete") not in said:
            sys.exit("%s %s: GenMC stops:\n%s" % (harness, scenario, said[-2000:]))
        return int(re.search(r"complete executions explored: (\d+)", said).group(1)), found and found.group(1)


def main():
    genmc = shutil.which("genmc")
    only = sys.argv[1] if len(sys.argv) > 1 else ""
    mutants = [(mutant[0], mutant[1], mutated(*mutant[1:], line), line) for mutant in MUTANTS
               for line in ["%s, %s: %s" % (mutant[0], mutant[1], " ".join(mutant[3].split()) or "without " + mutant[2])]
               if only in line]
    if genmc is None:
        for harness, scenarios in SCENARIOS.items():
            compile_harness(os.environ.get("CXX", "g++"), harness, scenarios[0], ROOT + "/lib", ["-fsyntax-only"])
        print("genmc isn't on the PATH: the harnesses compile and the mutants fit, no execution was explored")
        return 0
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        checker = Checker(genmc, scratch)
        for harness, scenarios in SCENARIOS.items():
            for scenario in scenarios:
                name = harness + " " + scenario
                if only not in name:
                    continue
                executions, found = checker.check(harness, scenario, checker.library())
                wrong += found is not None
                print("%-42s %7d executions, %s" % (name, executions, found or "nothing found"), flush=True)
        for scenario, path, text, line in mutants:
            _, found = checker.check(*scenario.split(), checker.library(path, text))
            wrong += found is None
            print("%-9s %s%s" % ("caught" if found else "SURVIVES", line, found and " (%s)" % found or ""), flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
