# SPDX-License-Identifier: Apache-2.0 OR MIT

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library")
load("//tools/bazel:copts.bzl", "COPTS")

# Times and counts of code with sanitizers have no meaning.
TAGS = ["no-sanitizer"]

def contender(name, source = None, deps = [], **kwargs):
    """Makes the programs of a contender: NAME takes times, NAME_count counts, NAME_writes finds cache lines written.

    Args:
      name: the contender.
      source: its source file, if that is not contenders/NAME.cc.
      deps: the libraries that it needs.
      **kwargs: for all its targets.
    """
    cc_library(
        name = name + "_contender",
        srcs = [source or "contenders/%s.cc" % name],
        alwayslink = True,
        copts = COPTS,
        tags = TAGS,
        deps = deps + [":harness"],
        **kwargs
    )
    for program, main in [
        (name, ":time_main"),
        (name + "_count", ":count_main"),
        (name + "_writes", ":writes_main"),
    ]:
        cc_binary(
            name = program,
            tags = TAGS,
            deps = [
                ":%s_contender" % name,
                main,
            ],
            **kwargs
        )
