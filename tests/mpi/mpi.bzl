# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# MPI programs, compiled by an MPI's own compilers, and tests that run them natively and served.

MPIS = [
    "openmpi",
    "mpich",
]

# By the ending of a file. Programs are written for warnings, but the MPIs' headers aren't.
_COMPILERS = {
    "c": "mpicc.%s -std=gnu11 -O1 -g -Wall -Wextra -Werror -Wno-deprecated-declarations",
    "cc": "mpicxx.%s -O1 -g",
    "F90": "mpif90.%s -cpp -ffree-line-length-none -fallow-argument-mismatch -O1 -g",
}

def mpi_program(name, srcs, hdrs = [], flags = "", libs = "", shared = False, mpis = MPIS):
    """A program for each of mpis: MPI_NAME.

    Args:
      name: of the program.
      srcs: in C, C++ and Fortran; the last one's language decides who links.
      hdrs: what they include, from their own folder.
      flags: for the compilers.
      libs: for the linker.
      shared: a shared library instead.
      mpis: which MPIs.
    """
    for mpi in mpis:
        lines = [
            "set -e",
            # gcc wants to find its linker.
            "export PATH=/usr/bin:/bin",
            "scratch=$$(mktemp -d)",
            # Open MPI's wrappers want one.
            "export HOME=$$scratch",
        ]
        for i, source in enumerate(srcs):
            compiler = _COMPILERS[source.split(".")[-1]] % mpi
            module_folder = " -J$$scratch" if source.endswith(".F90") else ""
            if i < len(srcs) - 1:
                lines.append("%s %s%s -fPIC -c $(location %s) -o $$scratch/%d.o" %
                             (compiler, flags, module_folder, source, i))
            else:
                lines.append("%s %s%s %s $(location %s) %s -o $@ %s -lpthread -ldl" % (
                    compiler,
                    flags,
                    module_folder,
                    "-shared -fPIC" if shared else "",
                    source,
                    " ".join(["$$scratch/%d.o" % n for n in range(i)]),
                    libs,
                ))
        lines.append("rm -rf $$scratch")
        native.genrule(
            name = mpi + "_" + name,
            testonly = True,
            srcs = srcs + hdrs,
            outs = [mpi + "/" + name],
            cmd = "\n".join(lines),
            executable = not shared,
            # Bazel's own toolchain isn't used, so there is nothing to sanitize.
            tags = ["no-sanitizer"],
        )

def mpi_sh_test(name, script, args, data, size = "medium"):
    """A test that is a shell script and runs MPI programs.

    Args:
      name: of the test.
      script: the script; it begins with `source tests/mpi/environment.sh`.
      args: for it.
      data: what they name.
      size: as usual.
    """
    native.sh_test(
        name = name,
        size = size,
        srcs = [script],
        args = args,
        data = data + ["//tests/mpi:environment.sh"],
        tags = [
            "cpu:2",
            "local",
            "no-sanitizer",
        ],
    )

def mpi_test(name, program = None, mode = "control", np = "1 2", arguments = [], data = [], mpis = MPIS, size = "medium"):
    """A test for each of mpis, MPI_NAME_test, of MPI_PROGRAM; see run.sh.

    Args:
      name: of the test.
      program: if it isn't called as the test is; with a slash, a command.
      mode: control, served or same.
      np: on how many ranks, one after the other.
      arguments: for the program; "{mpi}" stands for the MPI.
      data: what they name.
      mpis: which MPIs.
      size: as usual.
    """
    for mpi in mpis:
        library = "//lib/mpi:libattrcache_%s.so" % mpi
        run = program or name
        local = [] if "/" in run else [":%s_%s" % (mpi, run)]
        files = [d.format(mpi = mpi) for d in data]
        mpi_sh_test(
            name = "%s_%s_test" % (mpi, name),
            size = size,
            script = "//tests/mpi:run.sh",
            args = [
                mpi,
                mode,
                "'%s'" % np,
                "$(location //lib/mpi:run)",
                "$(location %s)" % library,
                "$(location %s)" % local[0] if local else run,
            ] + [a.format(mpi = mpi) for a in arguments],
            data = local + files + [
                library,
                "//lib/mpi:run",
            ],
        )
