#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Weakens the library one small step at a time and sees whether the models notice.

  orders      Every memory order that a model reaches, by one step, at run time (see
              explorer/sites.h): acq_rel to acquire or release, those to relaxed.
  protocol    The patches of mutants/*.txt: a recheck, claim, pin, reference or pairing left out. Each begins
              with its name, and changes the file that was last named by "file: FILE", by a line or more of

                TEXT  =>  REPLACEMENT

              of which one that begins deeper goes on with the line before it. TEXT, whatever white space and
              comments are between its words, must be in one place of the file.

Prints a table (mutant, caught by). It is an error if a mutant survives, and if an argument or a patch no longer fits
the source. Orders that argued.txt argues about aren't run. A test that runs out of time catches
nothing, because a weaker order may just mean more to explore. If no other test fails, the mutant is UNDECIDED,
and that is an error, too.

  tests/model/mutate.py [--fits] [--only TEXT] [--jobs N] [--results FILE]

With --results, a run that was interrupted goes on where it was; and after a change of the sources, each mutant
is first shown to the test that caught it before.
"""

import argparse
import atexit
import concurrent.futures
import glob
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LAYERS = ["c_api", "callback", "domain", "epoch", "keyval", "readers", "table"]
HEADERS = ["lib/platform", "tests/model/explorer"]  # memory orders are in these, too
COMPILE = ["g++", "-std=c++20", "-O1", "-DATTRCACHE_MODEL",
           '-DATTRCACHE_ATOMIC_HEADER="tests/model/explorer/atomic.h"',
           '-DATTRCACHE_PAIR_HEADER="tests/model/explorer/pair.h"', "-I.", "-Ilib", "-Ilib/include"]
NO_END = "does not end"
ANY_PAIR = "any Pair"  # stands for the line of an access to a Pair
LIBRARY = "library.cc"  # in each copy of the sources: includes those of all layers
WEAKER = {"acq_rel": ["acquire", "release"], "acquire": ["relaxed"], "release": ["relaxed"]}


def sources(root):
    """The translation units: the library, which is one, the explorer, the models, and the fuzzer's replay."""
    found = [LIBRARY]
    for folder in ["tests/fuzz", "tests/model/explorer", "tests/model"]:
        for name in sorted(os.listdir(os.path.join(root, folder))):
            test = name.endswith("_test.cc")
            # The handle map's model is of lib/mpi, which has no mutants here.
            model = name.endswith("_model_test.cc") and not name.startswith("handle_map")
            if name.endswith(".cc") and (not test or model or name == "replay_test.cc"):
                found.append(folder + "/" + name)
    return found


class Build:
    """A copy of the sources, and programs of the models made of it."""

    def __init__(self, root, parent=None):
        self.root = root
        self.parent = parent
        self.objects = {}
        os.makedirs(root + "/o", exist_ok=True)
        if parent is None:
            for folder in ["lib", "tests/fuzz", "tests/model", "tests/support"]:
                shutil.copytree(ROOT + "/" + folder, root + "/" + folder)
            # Half of a model's compilation is GoogleTest's header: compiled once for all.
            self.common = root + "/o/common.h"
            with open(self.common, "w") as f:
                f.write("#include <gtest/gtest.h>\n")
            subprocess.run(COMPILE + ["-x", "c++-header", self.common, "-o", self.common + ".gch"],
                           cwd=root, check=True)
        else:
            self.common = parent.common
            os.symlink(parent.root + "/tests", root + "/tests")
            shutil.copytree(parent.root + "/lib", root + "/lib")
        with open(root + "/" + LIBRARY, "w") as f:
            for layer in LAYERS:
                for path in sorted(glob.glob("%s/lib/%s/*.cc" % (ROOT, layer))):
                    if not path.endswith("_test.cc"):
                        f.write('#include "%s"\n' % os.path.relpath(path, ROOT))

    def object_of(self, source):
        return self.root + "/o/" + source.replace("/", "_") + ".o"

    def compile(self, source):
        common = ["-include", self.common] if source.endswith("_test.cc") else []
        command = COMPILE + common + ["-MMD", "-c", source, "-o", self.object_of(source)]
        subprocess.run(command, cwd=self.root, check=True, capture_output=True, text=True)
        self.objects[source] = self.object_of(source)

    def depends(self, source, on):
        with open(self.object_of(source)[:-2] + ".d") as f:
            return any(os.path.normpath(word) == on for word in f.read().split())

    def make(self, changed, model=None):
        """A program of all models, or of the one in that source. Compiles what depends on the changed file."""
        used = [s for s in self.parent.objects if model in (None, s) or not s.endswith("_test.cc")]
        for source in used:
            if source not in self.objects and self.parent.depends(source, changed):
                self.compile(source)
        return self.link({s: self.objects.get(s, self.parent.objects[s]) for s in used})

    def link(self, objects):
        command = ["g++", "-o", self.root + "/models"] + sorted(objects.values())
        subprocess.run(command + ["-lgtest", "-lgtest_main", "-lpthread"], check=True)
        return self.root + "/models"


class Models:
    """The models as they are: what each test costs, and which accesses it reaches."""

    def __init__(self, program, scratch, jobs):
        self.program = program
        self.cost = {}
        self.reaching = {}
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            list(pool.map(lambda share: self.measure(scratch, share, jobs), range(jobs)))

    def measure(self, scratch, share, shares):
        """Runs a share of the tests, and takes the milliseconds and the accesses of each."""
        sites = "%s/sites%d" % (scratch, share)
        log = subprocess.run([self.program], capture_output=True, text=True, cwd=ROOT,
                             env=dict(os.environ, ATTRCACHE_MODEL_SITES=sites, GTEST_SHARD_INDEX=str(share),
                                      GTEST_TOTAL_SHARDS=str(shares)))
        if log.returncode != 0:
            sys.exit("the models fail without any mutation:\n" + log.stdout + log.stderr)
        self.cost.update((test, int(ms)) for test, ms in re.findall(r"\[ +OK \] (\S+) \((\d+) ms\)", log.stdout))
        with open(sites) as f:
            for line in f:
                test, place, kind, order, failure = line.split()
                if "_model_test.cc" in place:
                    continue
                self.reaching.setdefault((place, kind, order), set()).add(test)
                if failure != "-":
                    self.reaching.setdefault((place, "fail", failure), set()).add(test)

    def likely(self, entry, changed):
        """The test to try first on a patch: the cheapest that reaches the access nearest to it."""
        with open(ROOT + "/" + entry["file"]) as f:
            before = f.read().split("\n")
        after = changed.split("\n")
        at = next((i for i, (a, b) in enumerate(zip(before, after)) if a != b), 0)
        distances = {}
        for (place, _, _), tests in self.reaching.items():
            name, _, line = place.partition(":")
            if name == os.path.basename(entry["file"]) and line.isdigit():
                distance = abs(int(line) - 1 - at)
                distances[distance] = distances.get(distance, set()) | tests
        if not distances:
            return None
        return min(distances[min(distances)], key=lambda test: (self.cost[test], test))

    def run(self, program, tests, weaken, first=None):
        """The first test that fails and what it says; else one that doesn't end, or None. Cheap tests go first."""
        env = dict(os.environ)
        if weaken is not None:
            env["ATTRCACHE_MODEL_WEAKEN"] = weaken
        cheap = [t for t in tests if self.cost[t] < 300]
        dear = sorted((t for t in tests if self.cost[t] >= 300), key=lambda t: self.cost[t])
        undecided = None
        for batch in [[first] if first in tests else [], cheap] + [[t] for t in dear]:
            if not batch:
                continue
            seconds = min(300, 60 + 20 * sum(self.cost[t] for t in batch) / 1000)
            command = ["prlimit", "--cpu=%d:" % seconds, program, "--gtest_fail_fast", "--gtest_filter=" + ":".join(batch)]
            log = subprocess.run(command, env=env, capture_output=True, text=True, cwd=ROOT)
            if log.returncode == -signal.SIGXCPU:
                undecided = batch[0], NO_END
                continue
            if log.returncode == 0:
                continue
            ran = (re.findall(r"\[ +FAILED +\] (\S+?),? ", log.stdout)[:1] or
                   re.findall(r"\[ RUN +\] (\S+)", log.stdout)[-1:] or batch[:1])
            said = re.search(r"^model: (.*), in execution", log.stderr, re.M)
            what = said.group(1) if said else "stops with status %d" % log.returncode
            return ran[0], what
        return undecided


class Results:
    """What is known of mutants: one list in a line, [sources, mutant, caught by, what it said]."""

    def __init__(self, path):
        self.path = path
        self.sources = self.digest()
        self.known = {}
        if path is not None and os.path.exists(path):
            with open(path) as f:
                for line in f:
                    sources, mutant, *rest = json.loads(line)
                    self.known[mutant] = (sources, *rest)

    @staticmethod
    def digest():
        whole = hashlib.sha256()
        for folder in ["lib/" + layer for layer in LAYERS + ["platform"]] + ["tests/model/explorer", "tests/model"]:
            for name in sorted(glob.glob("%s/%s/*.[ch]*" % (ROOT, folder))):
                with open(name, encoding="utf-8") as f:
                    code = re.sub(r"^\s+|\s*//.*", "", f.read(), flags=re.M)  # a comment changes no result
                whole.update((name[len(ROOT):] + "\0" + code).encode())
        return whole.hexdigest()[:16]

    def of(self, mutant, run):
        """run(the test to begin with), unless it is known; and remembers it."""
        sources, test, said = self.known.get(mutant, (None, None, None))
        if sources == self.sources and said != NO_END:
            return test and (test, said)
        caught = run(test)
        if self.path is not None:
            line = json.dumps([self.sources, mutant, *(caught or (None, None))])
            with open(self.path, "a") as f:
                f.write(line + "\n")
        return caught


class Table:
    """mutants/*.txt and argued.txt."""

    def __init__(self, folder):
        self.patches = []
        self.arguments = []
        file = None
        lines = []
        for name in [*sorted(glob.glob(folder + "/mutants/*.txt")), folder + "/argued.txt"]:
            with open(name) as f:
                lines += f.read().split("\n")
        for line in lines:
            if line.startswith("file: "):
                file = line[6:]
            elif line.startswith("argued "):
                place, text, change, why = [p.strip().replace("\0", "|") for p in
                                            line[7:].replace("\\|", "\0").split("|", 3)]
                self.arguments.append({"file": place, "text": text, "change": change, "why": why,
                                       "used": False})
            elif line.startswith("    "):
                self.patches[-1]["changes"][-1] += " " + line.strip()
            elif line.startswith("  "):
                self.patches[-1]["changes"].append(line.strip())
            elif line and not line.startswith("#"):
                self.patches.append({"name": line, "file": file, "changes": []})

    def argument(self, name, line, change):
        """Why the order on a line need not be caught, or None."""
        for a in self.arguments:
            if a["file"] == name and a["text"] in line and a["change"] == change:
                a["used"] = True
                return a["why"]
        return None


def order_mutants(models, build, table):
    """(name, tests, ATTRCACHE_MODEL_WEAKEN, argument) for every order, one step weaker."""
    text = {}
    for folder in ["lib/" + layer for layer in LAYERS] + HEADERS:
        for path in glob.glob("%s/%s/*.[ch]*" % (build.root, folder)):
            with open(path) as f:
                text.setdefault(os.path.basename(path), []).append(f.read().split("\n"))
    mutants = []
    for (place, kind, order), tests in sorted(models.reaching.items()):
        name, line = place.rsplit(":", 1)
        if len(text.get(name, [])) > 1:
            sys.exit("atomic accesses in two files of one name: " + name)
        source = ANY_PAIR if name == "pair" else text[name][0][int(line) - 1].strip()
        for weaker in WEAKER.get(order, []):
            change = "%s %s -> %s" % (kind, order, weaker)
            label = "%-18s %-24s %s" % (place, change, source[:60])
            argued = table.argument(name, source, change)
            mutants.append((label, tests, "%s:%s:%s" % (place, kind, weaker), argued))
    return mutants


def pattern(code):
    """Finds this code, whatever white space and comments are between its words."""
    words = [re.escape(word) for word in re.findall(r"\w+|\S", code)]
    return r"(?:\b|(?!\w))%s(?:\b|(?<!\w))" % r"(?:\s|//.*)*".join(words)


def patched(entry):
    """(the file's text with the patch, why it doesn't fit): one is None."""
    with open(ROOT + "/" + entry["file"]) as f:
        text = f.read()
    for change in entry["changes"]:
        old, _, new = (side.strip() for side in change.partition("=>"))
        places = list(re.finditer(pattern(old), text))
        if len(places) != 1:
            return None, "%s fits in %d places" % (old, len(places))
        text = text[:places[0].start()] + new + text[places[0].end():]
    return text, None


def source_of(test):
    """The source of a model's test, Suite.Name with what GoogleTest adds for its parameters, or None."""
    match = re.fullmatch(r"(?:\w+/)?(\w+)\.(\w+)(?:/.*)?", test or "")
    for path in sorted(glob.glob(HERE + "/*_model_test.cc")) if match else []:
        with open(path) as f:
            if re.search(r"TEST(_[FP])?\(%s, %s\)" % match.groups(), f.read()):
                return os.path.relpath(path, ROOT)
    return None


def misfits(table):
    """What doesn't fit the sources any more, found without building anything: a line each."""
    wrong = []
    for entry in table.patches:
        _, why = patched(entry)
        if why is not None:
            wrong.append("%s: %s: %s" % (entry["file"], entry["name"], why))
    for a in table.arguments:
        fits = 0
        for path in glob.glob("%s/lib/*/%s" % (ROOT, a["file"])):
            with open(path) as f:
                fits += sum(a["text"] in line for line in f)
        if fits != 1 and a["text"] != ANY_PAIR:
            wrong.append("%s: an argument on %s: it fits %d lines" % (a["file"], a["text"], fits))
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="mutants whose line contains one of these, comma-separated")
    parser.add_argument("--fits", action="store_true", help="only see whether all patches and arguments fit")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--results", metavar="FILE", help="where results are kept, and taken from")
    options = parser.parse_args()

    table = Table(HERE)
    if options.fits:
        wrong = misfits(table)
        print("\n".join(wrong + ["%d patches, %d misfits" % (len(table.patches), len(wrong))]))
        sys.exit(1 if wrong else 0)

    scratch = tempfile.mkdtemp(prefix="mutate-")
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    base = Build(scratch + "/base")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(base.compile, sources(base.root)))
    program = base.link(base.objects)
    models = Models(program, scratch, options.jobs)
    results = Results(options.results)
    orders = order_mutants(models, base, table)

    def run_order(mutant):
        label, tests, weaken, argued = mutant
        if not any(text in label for text in options.only.split(",")):
            return None
        caught = None
        if argued is None:
            caught = results.of(weaken, lambda first: models.run(program, tests, weaken, first))
        return label, caught, argued

    def run_patch(numbered):
        number, entry = numbered
        label = "%-18s %s" % (os.path.basename(entry["file"]), entry["name"])
        if not any(text in label for text in options.only.split(",")):
            return None
        text, wrong = patched(entry)
        if wrong is not None:
            return label, None, "ERROR: " + wrong
        build = Build("%s/%d" % (scratch, number), base)
        with open(build.root + "/" + entry["file"], "w") as f:
            f.write(text)

        # The test that most likely catches the patch runs before the other models are compiled.
        def run(first):
            first = first or models.likely(entry, text)
            model, caught = source_of(first), None
            if model is not None:
                caught = models.run(build.make(entry["file"], model), [first], None)
                if caught is not None and caught[1] != NO_END:
                    return caught
            others = [test for test in models.cost if model is None or test != first]
            return models.run(build.make(entry["file"]), others, None) or caught

        try:
            return label, results.of(json.dumps(entry["changes"]), run), None
        except subprocess.CalledProcessError as error:
            return label, None, "ERROR: " + (error.stderr or "")[:300]
        finally:
            shutil.rmtree(build.root)

    counts = {"caught": 0, "argued": 0, "SURVIVES": 0, "UNDECIDED": 0, "ERROR": 0}

    def report(outcomes):
        for result in outcomes:
            if result is None:
                continue
            label, caught, argued = result
            if caught is not None:
                verdict, note = "UNDECIDED" if caught[1] == NO_END else "caught", "%s: %s" % tuple(caught)
            elif argued is None:
                verdict, note = "SURVIVES", ""
            elif argued.startswith("ERROR"):
                verdict, note = "ERROR", argued[7:]
            else:
                verdict, note = "argued", argued
            counts[verdict] += 1
            print("%-8s  %s\n            %s" % (verdict, label, note), flush=True)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        report(pool.map(run_patch, enumerate(table.patches)))
        report(pool.map(run_order, orders))
    if not options.only:
        for a in table.arguments:
            if not a["used"]:
                counts["ERROR"] += 1
                print("ERROR     an argument that fits nothing: %(file)s | %(text)s" % a)
    print(", ".join("%d %s" % (n, what) for what, n in counts.items()))
    sys.exit(1 if counts["SURVIVES"] or counts["UNDECIDED"] or counts["ERROR"] else 0)


if __name__ == "__main__":
    main()
