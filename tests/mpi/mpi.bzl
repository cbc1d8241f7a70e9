# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# MPI programs, compiled by an MPI's own compilers, and tests that run them natively and served.

load("@rules_shell//shell:sh_test.bzl", "sh_test")

MPIS = [
    "openmpi",
    "mpich",
]

_HEADERS = [
    "//lib:include/attrcache/mpix.h",
    "//tests/mpi:check.h",
]

# By the ending of a file. C++ and Fortran are compiled without warnings, because of the MPIs' headers.
_COMPILERS = {
    "c": "mpicc.%s -std=gnu11 -Ilib/include -O1 -g -Wall -Wextra -Werror -Wno-deprecated-declarations",
    "cc": "mpicxx.%s -O1 -g",
    "F90": "mpif90.%s -cpp -ffree-line-length-none -fallow-argument-mismatch -O1 -g",
}

def mpi_program(name, srcs = [], hdrs = [], flags = "", libs = "", shared = False, mpis = MPIS, needs = []):
    """A program for each of mpis: MPI_NAME.

    Args:
      name: of the program.
      srcs: one file, in C, C++ or Fortran, if that is not NAME.c.
      hdrs: what it includes, but for check.h and mpix.h.
      flags: for the compiler.
      libs: for the linker.
      shared: a shared library instead.
      mpis: which MPIs.
      needs: of @system, besides the MPI.
    """
    srcs = srcs or [name + ".c"]
    for mpi in mpis:
        compiler = _COMPILERS[srcs[0].split(".")[-1]] % mpi
        lines = [
            "set -e",
            # gcc must find its linker.
            "export PATH=/usr/bin:/bin",
            "scratch=$$(mktemp -d)",
            # Open MPI's wrappers need one.
            "export HOME=$$scratch",
            "%s %s %s $(location %s) -o $@ %s -lpthread -ldl" % (
                compiler + (" -J$$scratch" if srcs[0].endswith(".F90") else ""),
                flags,
                "-shared -fPIC" if shared else "",
                srcs[0],
                libs,
            ),
            "rm -rf $$scratch",
        ]
        native.genrule(
            name = mpi + "_" + name,
            testonly = True,
            srcs = srcs + hdrs + _HEADERS + ["@system//:" + need for need in [mpi] + needs + (["fortran"] if srcs[0].endswith(".F90") else [])],
            outs = [mpi + "/" + name],
            cmd = "\n".join(lines),
            executable = not shared,
            # Bazel's own toolchain isn't used, so there is nothing to sanitize.
            tags = ["no-sanitizer"],
        )

def mpi_sh_test(name, args, script = None, more = {}, data = [], size = "medium", mpis = MPIS):
    """A test that is a shell script and runs MPI programs: NAME, or MPI_NAME for each of mpis.

    Args:
      name: of the test.
      args: the script's arguments. A word that begins with ":" or "//" is a label, and stands for that file. "{mpi}" stands for the
        MPI.
      script: if it isn't NAME.sh. It begins with `source tests/mpi/environment.sh`.
      more: further arguments, {MPI: [...]}.
      data: further files that the test needs.
      size: as usual.
      mpis: which MPIs; [None] for one test of its own.
    """
    for mpi in mpis:
        lines, labels = [], []
        for arg in args + more.get(mpi, []):
            words = []
            for word in arg.format(mpi = mpi).split(" "):
                if word.startswith(":") or word.startswith("//"):
                    labels.append(word)
                    word = "$(location %s)" % word
                words.append(word)
            lines.append(" ".join(words) if len(words) == 1 or arg.startswith("'") else "'%s'" % " ".join(words))
        labels += [d.format(mpi = mpi) for d in data]
        sh_test(
            name = "%s_%s" % (mpi, name) if mpi else name,
            size = size,
            srcs = [script or name + ".sh"],
            args = lines,
            data = {label: None for label in labels + ["//tests/mpi:environment.sh"]}.keys(),
            tags = [
                "cpu:2",
                "local",
                "no-sanitizer",
            ],
        )

RUN = "//lib/mpi:run"
LIBRARY = "//lib/mpi:libattrcache_{mpi}.so"

INTERPOSERS = ["//lib/mpi:libattrcache_%s.so" % mpi for mpi in MPIS + ["mpi_abi"]]

# The first arguments of most scripts.
SERVED = [
    "{mpi}",
    RUN,
    LIBRARY,
]

def mpi_test(name, program = None, mode = "control", np = "1 2", arguments = [], data = [], mpis = MPIS, **options):
    """A test for each of mpis, MPI_NAME_test, of a program; see run.sh.

    Args:
      name: of the test.
      program: its name, if it is declared elsewhere; with a slash, a command.
      mode: see run.sh.
      np: on how many ranks, one after the other.
      arguments: the program's, like args of mpi_sh_test.
      data: further files that the test needs.
      mpis: which MPIs.
      **options: for mpi_program.
    """
    if not program:
        program = name
        mpi_program(name = program, mpis = mpis, **options)
    mpi_sh_test(
        name = name + "_test",
        script = "//tests/mpi:run.sh",
        args = [
            "{mpi}",
            mode,
            np,
            RUN,
            LIBRARY,
            program if "/" in program else ":{mpi}_" + program,
        ] + arguments,
        data = data,
        mpis = mpis,
    )
