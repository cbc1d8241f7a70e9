# SPDX-License-Identifier: Apache-2.0 OR MIT

load("@rules_cc//cc:defs.bzl", "cc_library")
load("//tools/bazel:copts.bzl", "CORE_COPTS")

def attrcache_layer(name, folder = None, deps = [], copts = [], **kwargs):
    """One folder of lib/ as one library, and as filegroups for targets that compile it differently.

    Headers are included relative to lib/. A file sees the headers of its own folder and of the
    layers in deps, and (in a sandbox) no others.

    Args:
      name: the layer; NAME_sources and NAME_headers are its files.
      folder: where its files are; by default the folder of the same name.
      deps: the layers below.
      copts: more compiler flags.
      **kwargs: for cc_library.
    """
    folder = folder or name
    headers = native.glob([folder + "/*.h", folder + "/*.hpp"])
    sources = native.glob([folder + "/*.cc"])
    cc_library(
        name = name,
        srcs = sources,
        hdrs = headers,
        copts = CORE_COPTS + copts,
        strip_include_prefix = "/lib",
        linkstatic = True,
        deps = deps,
        **kwargs
    )
    native.filegroup(name = name + "_headers", srcs = headers)
    native.filegroup(name = name + "_sources", srcs = sources)
