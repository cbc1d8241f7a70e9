# SPDX-License-Identifier: Apache-2.0

load("//tools/bazel:copts.bzl", "COPTS")

# Times and counts of sanitized code say nothing.
TAGS = ["no-sanitizer"]

def contender(name, source = None, copts = [], deps = [], linkopts = []):
    """A contender as programs: NAME takes times, NAME_count counts instructions, NAME_writes tells what is written.

    Args:
      name: the contender.
      source: its file, if not contenders/NAME.cc.
      copts: added to the library's own.
      deps: what it is made of.
      linkopts: for what Bazel doesn't know.
    """
    native.cc_library(
        name = name + "_contender",
        srcs = [source or "contenders/%s.cc" % name],
        alwayslink = True,
        copts = COPTS + copts,
        linkopts = linkopts,
        tags = TAGS,
        deps = deps + [":harness"],
    )
    for program, main in [
        (name, ":time_main"),
        (name + "_count", ":count_main"),
        (name + "_writes", ":writes_main"),
    ]:
        native.cc_binary(
            name = program,
            tags = TAGS,
            deps = [
                ":%s_contender" % name,
                main,
            ],
        )

def mpi_contender(name, **kwargs):
    contender(name, source = "contenders/mpi.cc", **kwargs)

def run_all(name, programs):
    """A program that runs all these, with its own arguments."""
    native.sh_binary(
        name = name,
        srcs = ["run_all.sh"],
        args = ["$(location :%s)" % program for program in programs] + ["--"],
        data = [":" + program for program in programs],
        tags = TAGS,
    )
