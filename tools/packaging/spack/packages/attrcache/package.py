# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# A Spack recipe, in a repository of its own (package API v1, Spack 0.23 or later):
#
#   spack repo add tools/packaging/spack
#   spack install attrcache ^mpich            # or ^openmpi; ~mpi for the library alone
#
# Spack 0.22 (with C added as a language by hand) has installed it with MPICH, by its original concretizer.
# Today's concretizer has never run it, and no test does.

import os

from spack.package import *


class Attrcache(CMakePackage):
    """Lock-free concurrent attribute cache for MPI runtimes, with interposers that serve the
    attribute functions of unmodified MPI programs."""

    # The repository that has this recipe. If the recipe is elsewhere, change this to the sources' repository.
    git = "file://" + os.path.realpath(os.path.join(os.path.dirname(__file__), "..", "..", "..", "..", ".."))

    license("Apache-2.0 OR MIT")

    version("main", branch="main")

    variant("mpi", default=True, description="Build the interposers for the MPI (Open MPI or MPICH) and for the standard ABI")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.16:", type="build")
    depends_on("python@3:", type="build")  # writes the man pages
    depends_on("googletest", type="test")
    depends_on("mpi", when="+mpi")

    requires("platform=linux", msg="only Linux is supported")
    requires("target=x86_64:", "target=aarch64:", policy="one_of", msg="needs 16-byte atomics")
    requires("^openmpi", "^mpich", policy="one_of", when="+mpi", msg="there are interposers for these two")
    conflicts("%gcc@:10", msg="needs C++20")
    conflicts("%clang@:12", msg="needs C++20")

    def cmake_args(self):
        # Explicitly, because CMake by itself might find another MPI than the one asked for.
        headers = {"OPENMPI": "OFF", "MPICH": "OFF"}
        if self.spec.satisfies("+mpi"):
            mpi = self.spec["mpi"]
            headers[mpi.name.upper()] = mpi.prefix.include
        arguments = [self.define("ATTRCACHE_%s_INCLUDE" % name, value) for name, value in headers.items()]
        arguments.append(self.define("ATTRCACHE_MPI_ABI", self.spec.satisfies("+mpi")))
        return arguments + [self.define("BUILD_TESTING", self.run_tests)]  # by spack install --test=root
