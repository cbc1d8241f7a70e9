# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The interposer in a source tree: the newest that CMake or Bazel has left there; CMake builds one if there is none."""

import fcntl
import glob
import os
import shutil
import subprocess
import sys

from which_mpi import clean_environment
from words import die, say

OURS = "build/run"  # the folder that we build in


def find(root, target, tools):
    """The library of an MPI in the source tree `root`; `tools` is a folder in which that MPI's mpicc may be, or None."""
    name = "libattrcache_%s.so" % target
    builds = glob.glob(glob.escape(root) + "/*/CMakeCache.txt") + glob.glob(glob.escape(root) + "/*/*/CMakeCache.txt")
    made = [os.path.join(os.path.dirname(cache), name) for cache in builds]
    # What ships: neither a sanitizer's build, nor one that isn't optimized.
    made += glob.glob(glob.escape(root) + "/bazel-out/*-opt/bin/lib/mpi/" + name)
    library = max(filter(os.path.isfile, made), key=os.path.getmtime, default=os.path.join(root, OURS, name))
    source = changed_since(root, target, library)
    if not source:
        return library
    folder = os.path.relpath(os.path.dirname(library), root)
    if folder == OURS:
        return build(root, target, library, tools)
    again = "bazel build -c opt //lib/mpi:attrcache_" + target
    if not folder.startswith("bazel-out/"):
        again = "cmake --build %s --parallel --target attrcache_%s" % (folder, target)
    say("%s/%s is older than %s; this renews it: %s" % (folder, name, os.path.relpath(source, root), again))
    return library


def changed_since(root, target, library):
    """A source of the library that is newer, or a name for all of them if there is no library; None if it is up to date."""
    try:
        built = os.path.getmtime(library)
    except OSError:
        return root
    for folder, folders, files in os.walk(root + "/lib"):
        if folder == root + "/lib/runtimes":
            folders.clear()
        used = (".h", ".def", ".map", ".cc")
        if os.path.basename(folder) in {"openmpi", "mpich", "mpi_abi"} - {target}:
            used = used[:1]  # interposers know each other's headers
        for file in files:
            path = os.path.join(folder, file)
            if file.endswith(used) and os.path.getmtime(path) > built:
                return path
    return None


def build(root, target, library, tools):
    folder = os.path.dirname(library)
    name = os.path.basename(library)
    if not shutil.which("cmake"):
        die("%s isn't built, which needs CMake and a compiler for C++20, and there is no cmake on the PATH" % name)
    environment = clean_environment()
    environment.pop("MAKEFLAGS", None)  # if make runs us
    if tools:
        environment["PATH"] = tools + ":" + environment.get("PATH", os.defpath)
    try:
        os.makedirs(folder, exist_ok=True)
        lock = open(folder + "/lock", "w")
        fcntl.flock(lock, fcntl.LOCK_EX)  # each rank may have an attrcache-run of its own
    except OSError as error:
        die(
            "%s isn't built, and can't be built in %s (%s): build in another folder, and set ATTRCACHE_LIBDIR to it"
            % (name, folder, error.strerror)
        )
    with lock:
        if not changed_since(root, target, library):
            return library
        say("building %s by CMake in %s, which takes a minute or two" % (name, folder))
        # What CMake has remembered of MPIs may be gone, or have come since.
        configure = ["-S", root, "-B", folder, "-U", "ATTRCACHE_*_INCLUDE", "-U", "wrapper_*", "-DCMAKE_UNITY_BUILD=ON"]
        said = run(["cmake", *configure, "-DCMAKE_UNITY_BUILD_BATCH_SIZE=0"], environment, name)
        if "No %s, so no interposer for it" % target in said:
            die("building %s needs the headers of that MPI, and there is no mpicc.%s or mpicc of it" % (name, target))
        run(["cmake", "--build", folder, "--parallel", "--target", "attrcache_" + target], environment, name)
        os.utime(library)  # a source that is newer may be none of its own
    return library


def run(command, environment, name):
    made = subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
        errors="replace",
    )
    if made.returncode != 0:
        print("\n".join(made.stdout.strip().split("\n")[-30:]), file=sys.stderr)
        die("building %s failed" % name)
    return made.stdout
