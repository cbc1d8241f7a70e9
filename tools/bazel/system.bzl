# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# What this machine has that no Bazel module brings: @system//:NAME for each name below. tools/setup installs all of it.
#
# A target that needs one of them depends on it (deps, or data of a test). Where the machine lacks it, Bazel skips the target
# and all that depend on it.

# NAME: a command with which it is found, and what it is for. Commands are on the caller's PATH.
_FOUND_BY = {
    "abidiff": (["abidiff", "--version"], "compares binary interfaces"),
    "binutils": (["objdump", "--version"], "looks at compiled code"),
    "chromium": (["chromium-headless-shell", "--version"], "shows pages"),
    "clang": (["clang++", "--version"], "the second compiler"),
    "cmake": (["cmake", "--version"], "the build without Bazel"),
    "fortran": (["gfortran", "--version"], "Fortran programs"),
    "git": (["git", "--version"], "releases"),
    "gpg": (["gpg", "--version"], "signs releases"),
    "gdb": (["gdb", "--version"], "pretty-printers"),
    "hdf5_mpich": (["ls", "/usr/include/hdf5/mpich/hdf5.h"], "MPI programs"),
    "hdf5_openmpi": (["ls", "/usr/include/hdf5/openmpi/hdf5.h"], "MPI programs"),
    "man": (["man", "--version"], "man pages"),
    "mpi4py": (["/usr/bin/python3", "-c", "import mpi4py"], "MPI programs in Python"),
    "petsc": (["/bin/sh", "-c", "ls /usr/lib/petscdir/petsc*/*-real/include/petsc.h"], "MPI programs"),
    "qemu": (["qemu-x86_64", "--version"], "processors without AVX"),
    "sphinx": (["/usr/bin/python3", "-c", "import sphinx, myst_parser"], "the site of documents"),
    "urcu": (["/bin/sh", "-c", "echo '#include <urcu.h>' | ${CC:-cc} -E -x c - >/dev/null"], "a peer in benchmarks"),
    "valgrind": (["valgrind", "--version"], "counts instructions"),
    "z3": (["/usr/bin/python3", "-c", "import z3"], "proofs"),
}

# What programs that use one of them are compiled and linked with. The reader's part of liburcu is inlined, as its
# documentation advises.
_ATTRIBUTES = {
    "urcu": {"defines": ["_LGPL_SOURCE", "RCU_MEMBARRIER"], "linkopts": ["-lurcu-memb"]},
}

# Each MPI under the names of Debian's alternatives (mpicc.openmpi, mpicc.mpich), since tests run both, and what programs that
# use it directly link with. From 6 on, Open MPI is in two libraries. libmpi.so is whichever is the machine's default.
_MPIS = {
    "mpich": ["libmpich.so"],
    "openmpi": ["libmpi.so.40", "libopen_mpi.so.40"],
}

_HEAD = """
load("@rules_cc//cc:defs.bzl", "cc_library")

package(default_visibility = ["//visibility:public"])

constraint_setting(name = "found")

# No platform has this.
constraint_value(
    name = "missing",
    constraint_setting = ":found",
)
"""

def _run(context, command):
    """What a command prints, or None if it fails or isn't there."""
    program = context.which(command[0]) if "/" not in command[0] else command[0]
    if not program:
        return None
    done = context.execute([program] + command[1:], environment = {"HOME": "/tmp"})  # Open MPI's compilers need one
    return done.stdout if done.return_code == 0 else None

def _library(name, found, **attributes):
    attributes["target_compatible_with"] = [] if found else [":missing"]
    return "\ncc_library(name = %r, %s)\n" % (name, ", ".join(["%s = %r" % item for item in attributes.items()]))

def _headers_of(context, mpi):
    """Links the folder of an MPI's mpi.h into this repository."""
    shown = _run(context, ["mpicc." + mpi, "-show"])
    if shown == None:
        return False
    for folder in [word[2:] for word in shown.split(" ") if word.startswith("-I")] + ["/usr/include"]:
        header = context.path(folder + "/mpi.h")
        if header.exists:
            context.symlink(header.dirname, mpi)
            return True
    return False

def _system_impl(context):
    build = _HEAD
    missing = {}
    for name, (command, purpose) in _FOUND_BY.items():
        found = _run(context, command) != None
        build += _library(name, found, **_ATTRIBUTES.get(name, {}))
        if not found:
            missing[name] = purpose
    for mpi, libraries in _MPIS.items():
        found = _headers_of(context, mpi)
        there = [name for name in libraries if "/" in (_run(context, ["/bin/sh", "-c", "${CC:-cc} -print-file-name=" + name]) or "")]
        build += "\ncc_library(name = %r, hdrs = glob([%r], allow_empty = True), includes = [%r], target_compatible_with = %r)\n" % (
            mpi + "_headers",
            mpi + "/**/*.h",
            mpi,
            [] if found else [":missing"],
        )
        build += _library(mpi, found, linkopts = ["-l:" + name for name in there], deps = [":%s_headers" % mpi])
        if not found:
            missing[mpi] = "mpicc." + mpi
    context.file("BUILD", build)
    context.file("WORKSPACE", "")
    if missing:
        # buildifier: disable=print
        print("Bazel skips what needs these, which this machine lacks (tools/setup installs them on Debian): " +
              ", ".join(["%s (%s)" % item for item in sorted(missing.items())]))

system = repository_rule(
    doc = "The repository @system, looked for again whenever Bazel's server starts.",
    implementation = _system_impl,
    configure = True,
    environ = ["CC", "PATH"],
    local = True,
)
