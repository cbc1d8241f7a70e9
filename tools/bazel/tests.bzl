# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# How tests are declared. Most are found by their name and need no declaration; the others need one line.
#
#   tests/unit/FOLDER/NAME_test.cc   found by its name; tests //lib:FOLDER
#   tests/stress/NAME_test.cc        found by its name; is linked with all of lib and has two processors
#   elsewhere                        attrcache_gtest(name = "NAME_test", deps = [...])
#
# Tags: "no-sanitizer" leaves a test out of the tsan and asan builds (tests of MPI programs, of
# instruction counts, and of models), "no-tsan" out of the tsan build alone, which finds nothing in tests
# with one thread. "cpu:2" reserves two processors.

load("@rules_cc//cc:defs.bzl", "cc_library", "cc_test")
load("@rules_shell//shell:sh_test.bzl", "sh_test")
load("//tools/bazel:copts.bzl", "COPTS", "CORE_COPTS")

# glibc fills memory that it allocates and frees, so that uninitialized memory isn't zero by chance.
TEST_ENVIRONMENT = {"MALLOC_PERTURB_": "165"}

def attrcache_gtest(name, srcs = None, deps = [], size = "small", **kwargs):
    """A GoogleTest of NAME.cc, linked with gtest_main and deps.

    Args:
      name: the test.
      srcs: its files, if not NAME.cc alone.
      deps: what it tests; "//lib:table" and so on.
      size: small takes at most some ten seconds in any build on an idle machine, medium a minute, large
        three. (.bazelrc has the limits, which are far beyond.)
      **kwargs: for cc_test.
    """
    cc_test(
        name = name,
        srcs = srcs or [name + ".cc"],
        copts = COPTS,
        env = TEST_ENVIRONMENT,
        linkstatic = True,
        size = size,
        deps = deps + ["@googletest//:gtest_main"],
        **kwargs
    )

def attrcache_script_test(name, script = None, size = "small", tags = [], **kwargs):
    """A test that is a script. What is compiled for it isn't sanitized.

    Args:
      name: the test.
      script: if it isn't NAME.sh.
      size: as usual.
      tags: besides "no-sanitizer".
      **kwargs: for sh_test.
    """
    sh_test(
        name = name,
        size = size,
        srcs = [script or name + ".sh"],
        tags = tags + ["no-sanitizer"],
        **kwargs
    )

def attrcache_sources(files):
    """`sources`: what CMake and tests/platforms compile of this folder."""
    native.filegroup(
        name = "sources",
        srcs = files,
        visibility = ["//tests:__subpackages__"],
    )

def attrcache_variant(name, defines, srcs = None, deps = [], **kwargs):
    """The library once more, compiled with other defines.

    Headers depend on the defines too, so a program must link either this or //lib:*, never both.

    Args:
      name: the cc_library.
      defines: ["ATTRCACHE_MODEL"], say; dependents get them as well.
      srcs: the sources, if not all; "//lib:core_sources" are those that stand on platform.
      deps: what the define brings in.
      **kwargs: for cc_library.
    """
    cc_library(
        name = name,
        testonly = True,
        srcs = srcs or ["//lib:sources"],
        hdrs = ["//lib:headers"],
        copts = CORE_COPTS,
        defines = defines,
        linkstatic = True,
        strip_include_prefix = "/lib",
        deps = deps + ["//lib:api"],
        **kwargs
    )
