# SPDX-License-Identifier: Apache-2.0 OR MIT

load("@rules_shell//shell:sh_test.bzl", "sh_test")

TAGS = ["no-sanitizer"]

# What the scripts import.
_MODULES = [
    "budget.py",
    "//tools:bench.d/instructions.py",
    "//tools:bench.d/writes.py",
]

def budget_test(name, files, programs, data = [], size = "medium", tags = []):
    """A test that runs a script of this folder.

    Args:
      name: of the test.
      files: the script, in Python, and what it reads, which is its first argument.
      programs: its other arguments: each LABEL[,ARGUMENT...][@LABEL], as budget.py knows them, if with files for labels.
      data: further files that the test needs.
      size: as usual.
      tags: more than TAGS.
    """
    args, labels = [], []
    for program in programs:
        parts = []
        for part in program.split("@"):
            label = part.split(",")[0]
            labels.append(label)
            parts.append("$(location %s)%s" % (label, part[len(label):]))
        args.append("@".join(parts))
    sh_test(
        name = name,
        size = size,
        srcs = files[:1],
        args = ["$(location %s)" % file for file in files[1:]] + args,
        data = {label: None for label in files + labels + data + _MODULES}.keys(),
        # The budgets are of its instructions.
        target_compatible_with = ["@platforms//cpu:x86_64"],
        tags = TAGS + tags,
    )
