# SPDX-License-Identifier: Apache-2.0
#
# A Spack recipe: copy it to packages/attrcache/package.py of a repository of yours, set `git` to where
# the sources are, and spack install attrcache.

from spack.package import *


class Attrcache(CMakePackage):
    """Lock-free concurrent attribute cache for MPI runtimes, with interposers that serve the
    attribute functions of unmodified MPI programs."""

    git = "file:///path/to/attrcache"

    license("Apache-2.0")

    version("main", branch="main")

    variant("mpi", default=True, description="Build the interposer for the MPI (Open MPI or MPICH)")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.16:", type="build")
    depends_on("python@3:", type="build")
    depends_on("mpi", when="+mpi")

    requires("target=x86_64:", "target=aarch64:", policy="one_of", msg="needs 16-byte atomics")
    conflicts("%gcc@:11", msg="needs C++20")
    conflicts("%clang@:13", msg="needs C++20")

    def cmake_args(self):
        # By name: what CMake would find by itself may be another MPI than the one asked for.
        headers = {"OPENMPI": "OFF", "MPICH": "OFF"}
        if self.spec.satisfies("+mpi"):
            mpi = self.spec["mpi"]
            name = "OPENMPI" if mpi.name == "openmpi" else "MPICH"
            headers[name] = mpi.prefix.include
        return [self.define("ATTRCACHE_%s_INCLUDE" % name, value) for name, value in headers.items()]

    def setup_run_environment(self, env):
        env.set("ATTRCACHE_LIBDIR", self.prefix.lib.attrcache)
