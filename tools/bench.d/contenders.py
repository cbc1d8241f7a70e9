# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The contenders: their names, their programs, how to build and how to run them."""

import atexit
import functools
import os
import re
import shutil
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# {PROGRAM in //bench: the name that it prints}
CORE = {
    "attrcache_inlined": "attrcache_inlined",
    "attrcache_shared": "attrcache_shared",
    "raw_array_shared": "raw_array_shared",
    "urcu_array": "urcu_qsbr_array",
    "urcu_memb_array": "urcu_memb_array",
    "urcu_lfht": "urcu_qsbr_lfht",
    "mutex_map": "mutex_map",
    "tbb_hash_map": "tbb_concurrent_hash_map",
    "glib_qdata": "glib_qdata",
    "openssl_ex_data": "openssl_ex_data",
    "hazard_pointer": "hazard_pointer",
    "xenium_hazard_pointer": "xenium_hazard_pointer",
    "ck_epoch": "ck_epoch",
    "shared_mutex": "shared_mutex",
    "shared_ptr": "atomic_shared_ptr",
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
# The MPI library that the programs of //bench are linked with, as they look for it.
MPI_LIBRARIES = {"openmpi": "libmpi.so.40", "mpich": "libmpich.so.12"}


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


class Installation:
    """An MPI that isn't the system's, whose library can take the place of the system's when a program is run."""

    def __init__(self, mpi, prefix):
        self.prefix = os.path.abspath(prefix)
        wanted = MPI_LIBRARIES[mpi]
        # A release of MPICH calls its library libmpi.so.12, Debian's package libmpich.so.12.
        names = (wanted, wanted.replace("mpich", "mpi"))
        found = [p for p in (os.path.join(self.prefix, "lib", name) for name in names) if os.path.exists(p)]
        if not found:
            raise BuildError(f"{prefix} has no lib/{names[1]}: is {mpi} installed there?")
        self.folder = tempfile.mkdtemp(prefix="attrcache-bench.")
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
        os.symlink(found[0], os.path.join(self.folder, wanted))

    def environment(self):
        return {"LD_LIBRARY_PATH": f"{self.folder}:{self.prefix}/lib",
                "OPAL_PREFIX": self.prefix, "PATH": f"{self.prefix}/bin:{os.environ['PATH']}"}


class Contender:
    def __init__(self, name, program, arguments=(), preload=None, installation=None):
        self.name = name
        self.program = program
        self.arguments = list(arguments)
        self.preload = preload
        self.installation = installation

    def path(self, suffix=""):
        return built(f"bench/{self.program}{suffix}")

    def environment(self):
        env = {**os.environ, **MPI_ENVIRONMENT}
        if self.installation:
            env.update(self.installation.environment())
        if self.preload:
            env["LD_PRELOAD"] = built(self.preload)
        return env


def core():
    return [Contender(name, program) for program, name in CORE.items()]


def inside(argument):
    """(MPI, {"embedded": where that is installed with attrcache inside, "native": and where without}) of --inside."""
    match = re.fullmatch(r"(openmpi|mpich)=([^,]+)(?:,([^,]+))?", argument)
    if not match:
        raise BuildError(f"--inside {argument}: it wants openmpi=PREFIX or mpich=PREFIX, and perhaps ,NATIVE")
    name, embedded, native = match.groups()
    return name, {how: Installation(name, prefix)
                  for how, prefix in (("embedded", embedded), ("native", native)) if prefix}


def mpi(served=True, levels=LEVELS, installations=None):
    """The MPIs, natively and served by attrcache, at each thread level; and with it inside, where that is installed."""
    found = []
    for name in MPIS:
        installed = (installations or {}).get(name, {})
        libraries = {"native": None}
        if served:
            libraries["served"] = f"lib/mpi/libattrcache_{name}.so"
        for level in levels:
            for how, library in libraries.items():
                found.append(Contender(f"{name}_{how}_{level}", f"mpi_{name}", [f"--level={level}"], library,
                                       installed.get("native")))
            if "embedded" in installed:
                found.append(Contender(f"{name}_embedded_{level}", f"mpi_{name}", [f"--level={level}", "--embedded"],
                                       None, installed["embedded"]))
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
