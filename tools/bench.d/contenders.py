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
    "attrcache_full_fences": "attrcache_full_fences",
    "raw_array": "raw_array",
    "urcu_array": "urcu_array",
    "locked_object": "locked_object",
    "mutex_map": "mutex_map",
    "tbb_hash_map": "tbb_concurrent_hash_map",
    "hazard_pointer": "hazard_pointer",
    "shared_ptr": "atomic_shared_ptr",
}
MPIS = ("openmpi", "mpich")

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
    """Where optimized builds are. Not bazel-bin, which links to the last build of any kind."""
    done = subprocess.run(["bazel", "info", "-c", "opt", "bazel-bin"], cwd=ROOT, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise BuildError(done.stderr[-2000:])
    return done.stdout.strip()


class Contender:
    def __init__(self, name, program, arguments=(), preload=None):
        self.name, self.program, self.arguments, self.preload = name, program, list(arguments), preload

    def path(self, suffix=""):
        return os.path.join(_folder(), "bench", self.program + suffix)

    def environment(self):
        env = {**os.environ, **MPI_ENVIRONMENT}
        if self.preload:
            env["LD_PRELOAD"] = os.path.join(_folder(), "lib/mpi", f"libattrcache_{self.preload}.so")
        return env


def every():
    """All contenders; the MPIs come last, natively and served by attrcache, at each thread level."""
    return [Contender(name, program) for program, name in CORE.items()] + [
        Contender(f"{mpi}_{how}_{level}", f"mpi_{mpi}", [f"--level={level}"], mpi if how == "served" else None)
        for mpi in MPIS for level in ("single", "multiple") for how in ("native", "served")]


def build(contenders, suffixes):
    """Builds //bench:PROGRAM with each suffix, and what the contenders preload."""
    targets = {f"//bench:{c.program}{suffix}" for c in contenders for suffix in suffixes}
    targets |= {f"//lib/mpi:attrcache_{c.preload}" for c in contenders if c.preload}
    done = subprocess.run(["bazel", "build", "-c", "opt", *sorted(targets)], cwd=ROOT,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode != 0:
        raise BuildError(done.stdout[-4000:])
