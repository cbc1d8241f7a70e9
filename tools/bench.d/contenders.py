# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The contenders: their names, their programs, how to build and how to run them."""

import functools
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# {PROGRAM in //bench: the name that it prints}
CORE = {
    "attrcache_inlined": "attrcache_inlined",
    "attrcache_shared": "attrcache_shared",
    "raw_array_inlined": "raw_array_inlined",
    "raw_array_shared": "raw_array_shared",
    "pthread_key": "pthread_getspecific",
    "urcu_array": "urcu_qsbr_array",
    "urcu_lfht": "urcu_qsbr_lfht",
    "mutex_map": "mutex_map",
    "shared_mutex_map": "shared_mutex_map",
    "tbb_hash_map": "tbb_concurrent_hash_map",
    "tbb_unordered_map": "tbb_concurrent_unordered_map",
    "libcds_feldman": "libcds_feldman_map",
    "glib_qdata": "glib_qdata",
}
MPIS = ("openmpi", "mpich")
LEVELS = ("single", "multiple")

# Open MPI needs this when root runs it, on few cores, in one process without a launcher.
MPI_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_btl": "self,vader",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}


class BuildError(Exception):
    pass


@functools.lru_cache(maxsize=None)
def _folder():
    """Where optimized builds are. Not bazel-bin, which is a link to whatever was built last."""
    done = subprocess.run(["bazel", "info", "-c", "opt", "bazel-bin"], cwd=ROOT, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise BuildError(done.stderr[-2000:])
    return done.stdout.strip()


def built(path):
    return os.path.join(_folder(), path)


class Contender:
    def __init__(self, name, program, arguments=(), preload=None):
        self.name = name
        self.program = program
        self.arguments = list(arguments)
        self.preload = preload

    def path(self, suffix=""):
        return built(f"bench/{self.program}{suffix}")

    def environment(self):
        env = {**os.environ, **MPI_ENVIRONMENT}
        if self.preload:
            env["LD_PRELOAD"] = built(self.preload)
        return env


def core():
    return [Contender(name, program) for program, name in CORE.items()]


def mpi(served=True, levels=LEVELS):
    """The MPIs, natively and served by attrcache, at each thread level."""
    found = []
    for name in MPIS:
        libraries = {"native": None}
        if served:
            libraries["served"] = f"lib/mpi/libattrcache_{name}.so"
        for level in levels:
            for how, library in libraries.items():
                found.append(Contender(f"{name}_{how}_{level}", f"mpi_{name}",
                                       [f"--level={level}"], library))
    return found


def build(contenders, suffix="", others=()):
    """Builds //bench:PROGRAM+suffix of all contenders, what they preload, and other programs of //bench."""
    targets = sorted({f"//bench:{c.program}{suffix}" for c in contenders} |
                     {f"//bench:{name}" for name in others} |
                     {f"//lib/mpi:attrcache_{n}" for n in MPIS for c in contenders
                      if c.preload and c.name.startswith(n)})
    done = subprocess.run(["bazel", "build", "-c", "opt", *targets], cwd=ROOT,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace")
    if done.returncode != 0:
        raise BuildError(done.stdout[-4000:])
